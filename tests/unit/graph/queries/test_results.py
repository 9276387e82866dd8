from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.extraction import CountSettings
from sciextract.graph.queries.nodes import find_node
from sciextract.graph.queries.papers import Years
from sciextract.graph.queries.results import Result, results
from tests.graph_samples import abstract, build

METRICS = ("BLEU", "accuracy", "error rate", "TER")
MATERIALS = ("WMT14 En-De", "WMT14 En-Fr", "Tiny-Corpus", "French", "German", "seven languages")


def reported(tmp_path: Path, *sentences: str, **options: object) -> list[Result]:
    """What a graph of these sentences reports, an abstract a sentence."""
    documents = []
    for number, sentence in enumerate(sentences):
        mentions = {metric: "Metric" for metric in METRICS if metric in sentence}
        mentions |= {material: "Material" for material in MATERIALS if material in sentence}
        mentions |= {"our parser": "Method"} if "our parser" in sentence else {}
        links = [("BLEU", "EVALUATE-FOR", "our parser")] if "our parser" in sentence else []
        documents.append(abstract(f"d{number}", sentence, mentions, links, year=2000 + number))
    build(tmp_path / "r.graph", *documents)
    with open_graph(tmp_path / "r.graph") as connection:
        return results(connection, **options)  # type: ignore[arg-type]


def triples(found: list[Result]) -> set[tuple[str, str, str]]:
    return {(*result.board, f"{result.value:g}{result.unit}") for result in found}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We reach 28.4 BLEU on WMT14 En-De.", {("WMT14 En-De", "BLEU", "28.4")}),
        ("On WMT14 En-De we obtain a BLEU score of 28.4.", {("WMT14 En-De", "BLEU", "28.4")}),
        ("We report an accuracy of 94.2% on Tiny-Corpus.", {("Tiny-Corpus", "accuracy", "94.2%")}),
        ("It works on Tiny-Corpus (BLEU = 12.5).", {("Tiny-Corpus", "BLEU", "12.5")}),
        ("The tool moves BLEU from 20.1 to 23.4 on Tiny-Corpus.", {("Tiny-Corpus", "BLEU", "23.4")}),
        (
            "BLEU scores of 28.4 and 41.8 on WMT14 En-De and WMT14 En-Fr, respectively.",
            {("WMT14 En-De", "BLEU", "28.4"), ("WMT14 En-Fr", "BLEU", "41.8")},
        ),
        (
            "We get 28.4 BLEU on WMT14 En-De and 41.8 BLEU on WMT14 En-Fr.",
            {("WMT14 En-De", "BLEU", "28.4"), ("WMT14 En-Fr", "BLEU", "41.8")},
        ),
    ],
)  # fmt: skip
def test_numbers_with_their_metric_and_material(
    tmp_path: Path, sentence: str, expected: set[tuple[str, str, str]]
) -> None:
    assert triples(reported(tmp_path, sentence)) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "We reach 28.4 BLEU on WMT14 En-De and WMT14 En-Fr.",  # which of them?
        "BLEU scores of 28.4 and 41.8 on WMT14 En-De.",
        "We train on Tiny-Corpus, which has 40 texts, and look at BLEU in 2014.",
        "The BLEU of 3 systems on Tiny-Corpus is known.",
        "We gain 1.2 BLEU on WMT14 En-De.",
        "Our model is 1.2 BLEU points better on WMT14 En-De.",
        "BLEU grows by 1.2 on WMT14 En-De.",
        "We see +1.2 BLEU on WMT14 En-De.",
        "We decode 3.5 times faster with equal BLEU on Tiny-Corpus.",
        "BLEU lies in 20.1-23.4 on Tiny-Corpus.",
        "We see 20.1 - 23.4 BLEU on Tiny-Corpus.",
        "There are gains of 3 % in accuracy for WMT14 En-De and 1.5 BLEU on Tiny-Corpus.",
    ],
)
def test_what_is_ambiguous_or_no_value_is_left_out(tmp_path: Path, sentence: str) -> None:
    assert triples(reported(tmp_path, sentence)) == set()


def test_differences_are_asked_for(tmp_path: Path) -> None:
    found = reported(
        tmp_path, "We gain 1.2 BLEU on WMT14 En-De.", "We reach 28.4 BLEU on WMT14 En-De.",
        differences=True,
    )  # fmt: skip
    assert triples(found) == {("WMT14 En-De", "BLEU", "1.2")}


def test_a_board_has_the_best_first_and_its_sentences(tmp_path: Path) -> None:
    found = reported(
        tmp_path,
        "We reach 28.4 BLEU on WMT14 En-De.",
        "With our parser we reach 30.1 BLEU on WMT14 En-De.",
        "An error rate of 3.5% on Tiny-Corpus is seen.",
        "An error rate of 2.5% on Tiny-Corpus, too.",
        "An accuracy of 80% on Tiny-Corpus.",
    )
    assert [(result.metric.name, result.value) for result in found] == [
        ("error rate", 2.5), ("error rate", 3.5), ("BLEU", 30.1), ("BLEU", 28.4), ("accuracy", 80),
    ]  # fmt: skip
    best = found[2]
    assert best.system is not None
    assert (best.system.name, best.paper.doc_key) == ("parser", "d1")
    text = "With our parser we reach 30.1 BLEU on WMT14 En-De."
    assert [text[start:end] for start, end in best.sentence.mentions] == [
        "30.1", "BLEU", "WMT14 En-De",
    ]  # fmt: skip


def test_boards_of_one_metric_material_and_years(tmp_path: Path) -> None:
    found = reported(
        tmp_path, "We reach 28.4 BLEU on WMT14 En-De.", "We reach 41.8 BLEU on WMT14 En-Fr.",
        "We reach 50.5 TER on WMT14 En-Fr.",
    )  # fmt: skip
    assert len(found) == 3
    with open_graph(tmp_path / "r.graph") as connection:
        bleu, french = find_node(connection, "BLEU"), find_node(connection, "WMT14 En-Fr")
        of_both = results(connection, metric=bleu, material=french)
        assert triples(of_both) == {("WMT14 En-Fr", "BLEU", "41.8")}
        late = results(connection, years=Years(2002))
        assert triples(late) == {("WMT14 En-Fr", "TER", "50.5")}


def test_another_type_may_be_what_is_measured(tmp_path: Path) -> None:
    text = "The flow reaches a porosity of 28.4 % on sandstone."
    sample = abstract("a", text, {"porosity": "Property", "sandstone": "Rock"})
    build(tmp_path / "g.graph", sample, counted=CountSettings(measurements=frozenset({"Property"})))
    with open_graph(tmp_path / "g.graph") as connection:
        (found,) = results(connection)
    assert (found.metric.name, found.amount) == ("porosity", "28.4%")


def test_a_graph_without_metrics_is_refused(tmp_path: Path, field_graph: Path) -> None:
    build(tmp_path / "g.graph", abstract("a", "Only trees.", {"trees": "Method"}))
    with open_graph(tmp_path / "g.graph") as connection, pytest.raises(UsageError, match="Metric"):
        results(connection)


def test_kinds_of_a_material_count_on_request(tmp_path: Path) -> None:
    documents = [
        abstract(name, f"We reach {value} BLEU on {name}.", {"BLEU": "Metric", name: "Material"})
        for name, value in (("Tiny-Corpus", 20), ("New Tiny-Corpus", 30.5), ("Old-Corpus", 40))
    ]
    build(tmp_path / "r.graph", *documents)
    with open_graph(tmp_path / "r.graph") as connection:
        tiny = find_node(connection, "Tiny-Corpus")
        assert [result.value for result in results(connection, material=tiny)] == [20]
        found = results(connection, material=tiny, with_narrower=True)
        assert sorted(result.value for result in found) == [20, 30.5]
        assert [result.value for result in results(connection, named=find_node(connection, "Old-Corpus"))] == [40]  # fmt: skip
