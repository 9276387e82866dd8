"""What must hold for any two annotators, and what independent libraries say of the same documents."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Layer,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.metrics.agreement import agreement, kappa
from sciextract.metrics.counts import Mention, partition, scorable, without_singletons
from sciextract.metrics.differences import (
    Difference,
    DifferenceKind,
    count_matches,
    differences,
    shared_length,
)
from tests.tiers import examples
from tests.unit.metrics.builders import words

TEXT = "a b c d e f g h i j k l"
LABELS = ("Task", "Method", "Metric")
SYMMETRIC = frozenset({"Compare"})
FEW = settings(max_examples=examples(50), deadline=None)
MIRROR = {
    DifferenceKind.ONLY_FIRST: DifferenceKind.ONLY_SECOND,
    DifferenceKind.ONLY_SECOND: DifferenceKind.ONLY_FIRST,
}
states = st.sampled_from([State.IMPORTED, State.IMPORTED, State.REJECTED])


@st.composite
def fragments(draw: st.DrawFn) -> tuple[Span, ...]:
    cuts = sorted(draw(st.sets(st.integers(0, 12), min_size=2, max_size=4)))
    cuts = cuts[: len(cuts) // 2 * 2]
    return tuple([Span(2 * a, 2 * b - 1) for a, b in zip(cuts[::2], cuts[1::2], strict=True)])


@st.composite
def documents(draw: st.DrawFn) -> AnnotatedDocument:
    """Entities of every shape over twelve tokens, relations and clusters between them."""
    labels = st.sampled_from((*LABELS, ""))
    entities = [
        Entity(f"E{index}", spans, draw(labels), state=draw(states))
        for index, spans in enumerate(draw(st.lists(fragments(), max_size=6)))
    ]
    relations, clusters = [], []
    if entities:
        ids = st.sampled_from([entity.id for entity in entities])
        names = st.sampled_from(["Compare", "Used-for"])
        for index, pair in enumerate(draw(st.lists(st.tuples(ids, ids), max_size=5))):
            relations.append(Relation(f"R{index}", *pair, draw(names), state=draw(states)))
        for index, group in enumerate(draw(st.lists(st.lists(ids, max_size=4), max_size=3))):
            clusters.append(Cluster(f"C{index}", tuple(group), state=draw(states)))
    annotations = Annotations(tuple(entities), tuple(relations), tuple(clusters))
    return AnnotatedDocument(Document("d", TEXT, words(TEXT)), annotations)


pairs = st.lists(st.tuples(documents(), documents()), min_size=1, max_size=3)


def leaves(values: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(values, dict):
        return {path: values}
    return {
        name: leaf
        for key, value in values.items()
        for name, leaf in leaves(value, f"{path}.{key}").items()
    }


def numbers(report: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pytest.approx(value) if isinstance(value, float) else value
        for name, value in leaves(report).items()
    }


@FEW
@given(pairs)
def test_agreement_is_the_same_in_both_directions(
    documents: list[tuple[AnnotatedDocument, AnnotatedDocument]],
) -> None:
    first, second = (list(side) for side in zip(*documents, strict=True))
    there = agreement(first, second, SYMMETRIC, resamples=20).to_json()
    back = agreement(second, first, SYMMETRIC, resamples=20).to_json()
    turned = {
        name.replace("first", "*").replace("second", "first").replace("*", "second"): value
        for name, value in leaves(back).items()
    }
    assert turned == numbers(there)
    json.dumps(there, allow_nan=False)


@FEW
@given(documents())
def test_everyone_agrees_with_themselves(document: AnnotatedDocument) -> None:
    report = agreement([document], [document], SYMMETRIC).to_json()
    for name, value in leaves(report).items():
        if name.endswith(".f1"):
            assert value is None or value == pytest.approx(100), name
        if name.endswith(".kappa"):
            assert value is None or value == pytest.approx(1), name
    assert [*differences(document, document, SYMMETRIC)] == []


@FEW
@given(documents(), documents())
def test_scores_stay_in_their_range_and_know_their_order(
    first: AnnotatedDocument, second: AnnotatedDocument
) -> None:
    report = agreement([first], [second], SYMMETRIC)
    for name, value in leaves(report.to_json()).items():
        if value is not None and name.endswith((".f1", ".kappa", ".observed", ".expected")):
            low, high = (0, 100) if name.endswith(".f1") else (-1, 1)
            assert low - 1e-9 <= value <= high + 1e-9
    assert report.spans.exact.both <= report.spans.overlap.both
    assert report.relations.shared_spans.both == report.relations.boundaries.both
    by_label = [label.overlap.both for label in report.spans.labels.values()]
    assert sum(by_label) == report.spans.overlap.both


mentions = st.lists(fragments().map(lambda spans: flat(spans)), max_size=6)


def flat(spans: tuple[Span, ...]) -> Mention:
    return tuple([edge for span in spans for edge in (span.char_start, span.char_end)])


@FEW
@given(mentions, mentions)
def test_the_matching_is_as_large_as_scipys(first: list[Mention], second: list[Mention]) -> None:
    graph = pytest.importorskip("scipy.sparse.csgraph")
    sparse = pytest.importorskip("scipy.sparse")
    edges = [[bool(shared_length(one, other)) for other in second] for one in first]
    expected = 0
    if first and second:
        columns = graph.maximum_bipartite_matching(sparse.csr_matrix(edges), perm_type="column")
        expected = int((columns >= 0).sum())
    assert count_matches(first, second) == count_matches(second, first) == expected


@FEW
@given(
    st.lists(st.lists(st.tuples(*[st.sampled_from("OAB")] * 2), max_size=8), min_size=1, max_size=4)
)
def test_kappa_equals_scikit_learns(tokens: list[list[tuple[str, str]]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    sides = [([one for one, _ in token], [other for _, other in token]) for token in tokens]
    found = kappa(sides, resamples=0).kappa
    first, second = ([label for side in sides for label in side[index]] for index in (0, 1))
    if not first or len({*first, *second}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(metrics.cohen_kappa_score(first, second))


@FEW
@given(documents(), documents())
def test_tokens_equal_scikit_learns(first: AnnotatedDocument, second: AnnotatedDocument) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found = agreement([first], [second]).tokens.all
    sides = [token_labels(first), token_labels(second)]
    if found.kappa is None:
        assert len({*sides[0], *sides[1]}) == 1
    else:
        assert found.kappa == pytest.approx(metrics.cohen_kappa_score(*sides))


def token_labels(document: AnnotatedDocument) -> list[str]:
    labels: list[set[str]] = [set() for _ in range(12)]
    for entity in document.annotations.entities:
        if entity.state is not State.REJECTED and entity.label:
            for span in entity.fragments:
                for position in range(span.char_start, span.char_end, 2):
                    labels[position // 2].add(entity.label)
    return ["+".join(sorted(label)) or "O" for label in labels]


@st.composite
def flat_documents(draw: st.DrawFn) -> AnnotatedDocument:
    """Entities that do not overlap."""
    cuts = draw(st.lists(st.integers(0, 12), unique=True, max_size=8).map(sorted))
    labels = st.sampled_from((*LABELS, ""))
    entities = [
        Entity(f"E{start}", (Span(2 * start, 2 * end - 1),), draw(labels))
        for start, end in pairwise(cuts)
    ]
    typed = tuple([entity for entity in entities if entity.label])
    return AnnotatedDocument(Document("d", TEXT, words(TEXT)), Annotations(typed))


@settings(max_examples=examples(30), deadline=None)
@given(flat_documents(), flat_documents())
def test_spans_equal_nervaluates(first: AnnotatedDocument, second: AnnotatedDocument) -> None:
    nervaluate = pytest.importorskip("nervaluate")
    spans = agreement([first], [second]).spans
    sides = [[nervaluate_spans(document)] for document in (first, second)]
    overall = nervaluate.Evaluator(*sides, tags=[*LABELS], loader="dict").evaluate()["overall"]
    for score, name in ((spans.exact, "strict"), (spans.boundaries, "exact")):
        if score.f1 is not None:
            assert score.f1 == pytest.approx(100 * overall[name].f1)
            assert score.both == overall[name].correct


def nervaluate_spans(document: AnnotatedDocument) -> list[dict[str, Any]]:
    return [
        {"label": entity.label, "start": entity.span.char_start, "end": entity.span.char_end}
        for entity in document.annotations.entities
    ]


@settings(max_examples=examples(30), deadline=None)
@given(documents(), documents())
def test_coreference_equals_scorchs(first: AnnotatedDocument, second: AnnotatedDocument) -> None:
    scores = pytest.importorskip("scorch.scores")
    found = agreement([first], [second]).coreference
    sides = [
        without_singletons(partition(scorable(document).clusters)) for document in (first, second)
    ]
    mentions = [{mention for cluster in side for mention in cluster} for side in sides]
    for mine, name in ((found.muc, "muc"), (found.b3, "b_cubed"), (found.ceafe, "ceaf_e")):
        if mine.f1 is None:
            assert sides == [(), ()]
        elif mentions[0] & mentions[1]:
            *_, f1 = getattr(scores, name)(*[list(side) for side in sides])
            assert mine.f1 == pytest.approx(100 * f1)
        else:
            assert mine.f1 == 0


@FEW
@given(documents(), documents())
def test_differences_mirror_each_other(first: AnnotatedDocument, second: AnnotatedDocument) -> None:
    there = [*differences(first, second, SYMMETRIC)]
    back = [*differences(second, first, SYMMETRIC)]
    assert there == [mirrored(difference) for difference in back]


def mirrored(found: Difference) -> Difference:
    kind = MIRROR.get(found.kind, found.kind)
    return replace(found, kind=kind, first=found.second, second=found.first)


@FEW
@given(documents(), documents())
def test_differences_account_for_all_that_is_not_shared(
    first: AnnotatedDocument, second: AnnotatedDocument
) -> None:
    found = [*differences(first, second, SYMMETRIC)]
    report = agreement([first], [second], SYMMETRIC)
    for layer, score in (
        (Layer.ENTITIES, report.spans.exact),
        (Layer.RELATIONS, report.relations.boundaries),
    ):
        sides = Counter(
            [
                side
                for difference in found
                if difference.layer is layer
                for side in ("first", "second")
                if getattr(difference, side) is not None
            ]
        )
        assert sides["first"] == score.first - score.both
        assert sides["second"] == score.second - score.both
    links = [difference for difference in found if difference.layer is Layer.COREFERENCE]
    clusters = [
        without_singletons(partition(scorable(document).clusters)) for document in (first, second)
    ]
    assert (links == []) == (set(clusters[0]) == set(clusters[1]))


@FEW
@given(documents(), documents())
def test_differences_come_in_text_order(
    first: AnnotatedDocument, second: AnnotatedDocument
) -> None:
    starts = [
        min(
            fragments[0].char_start
            for side in (difference.first, difference.second)
            if side is not None
            for fragments in side.fragments
        )
        for difference in [*differences(first, second, SYMMETRIC)]
    ]
    assert starts == sorted(starts)
