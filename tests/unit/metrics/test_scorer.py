from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sciextract.metrics.scorer import score
from tests.unit.metrics.builders import entity, partition_of, relation, scored

A, B, C = entity(0, 1, "Method"), entity(2, 3, "Task"), entity(4, 5, "Metric")
SYMMETRIC = frozenset({"COMPARE"})
FIRST = scored([A, B, C], [relation(A, B), relation(B, C, "COMPARE")], "ab cd")
SECOND = scored([A, B], [relation(B, A)], "abc")


def test_counts_add_up_over_documents() -> None:
    report = score([FIRST, SECOND], [scored([A]), scored([A, B, C])], SYMMETRIC)
    assert (report.ner.all.correct, report.ner.all.predicted, report.ner.all.gold) == (3, 4, 5)
    assert report.ner.all.precision == pytest.approx(75)
    assert report.ner.all.recall == pytest.approx(60)
    assert report.ner.all.f1 == pytest.approx(2 * 75 * 60 / 135)
    assert list(report.ner.labels) == ["Method", "Metric", "Task"]


def test_coreference_is_summed_before_it_is_divided() -> None:
    predicted = [scored(clusters="ab"), scored(clusters="ab")]
    report = score([FIRST, SECOND], predicted)
    assert report.coreference.muc.recall == pytest.approx(100 * 2 / 4)
    assert report.coreference.b3.recall == pytest.approx(100 * (2 + 4 / 3) / 7)
    assert report.coreference.ceafe.recall == pytest.approx(100 * (1 + 4 / 5) / 3)
    assert report.coreference.lea.recall == pytest.approx(100 * (2 + 1) / 7)


def test_the_conll_average_is_the_mean_of_three() -> None:
    scores = score([FIRST], [scored(clusters="abc")]).coreference
    for number in ("precision", "recall", "f1"):
        three = [getattr(metric, number) for metric in (scores.muc, scores.b3, scores.ceafe)]
        assert getattr(scores.conll, number) == pytest.approx(sum(three) / 3)


def test_clusters_and_mentions_are_counted_without_singletons() -> None:
    conll = score([FIRST], [scored(clusters="ab cde f")]).coreference.conll
    assert (conll.gold, conll.predicted, conll.correct) == (2, 2, 1)
    assert (conll.gold_mentions, conll.predicted_mentions, conll.correct_mentions) == (4, 5, 4)


def test_predicted_singletons_change_nothing() -> None:
    plain = scored(clusters="ab cd")
    more = replace(plain, clusters=plain.clusters + partition_of("x y"))
    assert score([FIRST], [more]).coreference == score([FIRST], [plain]).coreference


def test_the_json_has_the_promised_places() -> None:
    values = score([FIRST], [FIRST], SYMMETRIC).to_json()
    assert json.loads(json.dumps(values)) == values | {"warnings": []}
    assert values["documents"] == 1
    assert values["counts"]["gold"] == {
        "entities": 3,
        "relations": 2,
        "clusters": 2,
        "mentions": 4,
    }
    assert list(values["ner"]) == ["all", "width8", "labels"]
    assert list(values["relation"]) == ["boundaries", "strict", "labels"]
    for kind in ("boundaries", "strict"):
        assert list(values["relation"][kind]) == ["ordered", "unordered", "doubled", "directed"]
    assert list(values["coreference"]) == ["muc", "b3", "ceafe", "lea", "conll"]
    counted = {"precision", "recall", "f1", "gold", "predicted", "correct"}
    assert set(values["ner"]["labels"]["Task"]) == counted
    assert counted < set(values["coreference"]["lea"])


def test_no_documents_and_empty_documents_score_zero() -> None:
    for documents in ([], [scored()]):
        report = score(documents, documents)
        assert (report.ner.all.f1, report.coreference.conll.f1) == (0, 0)


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        score([FIRST, SECOND], [FIRST])
