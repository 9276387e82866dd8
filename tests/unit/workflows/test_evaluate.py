from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sciextract import Extractor
from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.formats.exchange import encode
from sciextract.snapshot.documents import Origin
from sciextract.snapshot.gathering import survey
from sciextract.store import create_project
from sciextract.text.analyse import make_document
from sciextract.workflows.evaluate import DocumentMismatchError, evaluate, evaluate_file
from tests.shared_data import shared_path
from tests.unit.metrics.builders import annotated

NOTHING: frozenset[str] = frozenset()
PARSER = annotated("a parser for graphs", [("parser", "Method"), ("graphs", "Material")])
MODEL = annotated("the new model", [("model", "Method")], doc_key="e")


def test_documents_are_matched_by_key_in_any_order() -> None:
    report = evaluate([PARSER, MODEL], [MODEL, PARSER], NOTHING)
    assert (report.documents, report.ner.all.f1, report.warnings) == (2, 100, ())
    assert set(report.intervals) == {
        "ner.all",
        "relation.boundaries.ordered",
        "relation.strict.ordered",
        "relation.boundaries.directed",
        "relation.strict.directed",
        "coreference.conll",
    }


def test_intervals_can_be_left_out() -> None:
    assert evaluate([PARSER], [PARSER], NOTHING, bootstrap=False).intervals == {}


def test_a_missing_prediction_counts_as_empty_and_is_said() -> None:
    report = evaluate([PARSER, MODEL], [PARSER], NOTHING)
    assert report.ner.all.precision == 100
    assert report.ner.all.recall == pytest.approx(200 / 3)
    assert report.warnings == ("1 document without a prediction, counted as empty; first 'e'",)


def test_a_prediction_without_gold_is_refused() -> None:
    extra = replace(MODEL, document=replace(MODEL.document, doc_key="f"))
    with pytest.raises(
        DocumentMismatchError, match=r"2 documents predicted but not in gold, .*'e'"
    ):
        evaluate([PARSER], [PARSER, MODEL, extra], NOTHING)


def test_a_prediction_without_gold_is_left_out_where_that_is_allowed() -> None:
    report = evaluate([PARSER], [MODEL, PARSER], NOTHING, extra_allowed=True)
    assert (report.documents, report.ner.all.f1) == (1, 100)
    assert report.warnings == ("1 document predicted but not in gold, first 'e'; left out",)


def test_other_text_under_the_same_key_is_refused() -> None:
    other = annotated("a parser of graphs")
    with pytest.raises(DocumentMismatchError, match=r"document 'd'.* from character 9, gold 'for"):
        evaluate([PARSER], [other], NOTHING)


def test_text_that_goes_on_is_other_text() -> None:
    longer = annotated(PARSER.document.text + " and trees")
    with pytest.raises(DocumentMismatchError, match="from character 19, gold ''"):
        evaluate([PARSER], [longer], NOTHING)


@pytest.mark.parametrize("side", ["gold", "predicted"])
def test_a_key_may_occur_once(side: str) -> None:
    documents = {"gold": [PARSER], "predicted": [PARSER], side: [PARSER, PARSER]}
    with pytest.raises(DocumentMismatchError, match=f"two {side} documents have the doc_key 'd'"):
        evaluate(documents["gold"], documents["predicted"], NOTHING)


def test_no_gold_is_refused() -> None:
    with pytest.raises(DocumentMismatchError, match="no gold document"):
        evaluate([], [], NOTHING)


def test_predicted_widths_are_measured_with_gold_tokens() -> None:
    letters = "a b c d e f g h i j"
    gold = annotated(letters, [("a b c d e f g h i", "Task")])
    coarse = annotated(letters.replace(" ", "_"), [("a_b_c_d_e_f_g_h_i", "Task")])
    predicted = replace(coarse, document=replace(coarse.document, text=letters))
    report = evaluate([gold], [predicted], NOTHING)
    assert (report.ner.all.predicted, report.ner.width8.predicted) == (1, 0)


def test_gold_against_itself_is_perfect_on_scierc_dev() -> None:
    path = str(shared_path("scierc/dev.jsonl"))
    report, _ = evaluate_file(path, path, bootstrap=False)
    assert report.counts["gold"] == {
        "entities": 811,
        "relations": 455,
        "clusters": 100,
        "mentions": report.counts["predicted"]["mentions"],
    }
    assert (report.ner.width8.gold, report.relation.boundaries.doubled.gold) == (806, 543)
    relation, coreference = report.relation, report.coreference
    everything = [report.ner.all, report.ner.width8, *report.ner.labels.values()]
    for variants in (relation.boundaries, relation.strict):
        everything += [variants.ordered, variants.unordered, variants.doubled]
    everything += relation.labels.values()
    everything += [getattr(coreference, name) for name in ("muc", "b3", "ceafe", "lea", "conll")]
    assert {(score.precision, score.recall, score.f1) for score in everything} == {(100, 100, 100)}


def test_the_default_schema_knows_what_is_symmetric() -> None:
    assert load_schema("scierc").symmetric_labels == {"COMPARE", "CONJUNCTION"}


def test_two_texts_of_one_key_are_two_documents() -> None:
    first, second = (make_document("k", text) for text in ("We parse speech.", "We parse ships."))
    gold = [AnnotatedDocument(document) for document in (first, second)]
    assert evaluate(gold, gold[::-1], frozenset(), bootstrap=False).documents == 2


def test_gold_with_former_names_of_types_is_that_of_the_model(tmp_path: Path) -> None:
    """And it trains: what a file calls CPR:4 is INHIBITS."""
    bio, schema = Extractor.load("bio", threads=1), load_schema("bio")
    [found] = bio(["Ibuprofen inhibits COX-1 and is metabolised by CYP2C9."])
    codes = {relation.label: relation.formerly[0] for relation in schema.relations}
    gold = tmp_path / "gold.jsonl"
    said = found.renamed({}, codes).annotations
    decided = replace(
        said,
        entities=tuple([replace(entity, state=State.ACCEPTED) for entity in said.entities]),
        relations=tuple([replace(relation, state=State.ACCEPTED) for relation in said.relations]),
    )
    gold.write_text(encode(replace(found, annotations=decided, model=None)) + "\n")
    assert "CPR:4" in gold.read_text()
    report, _ = evaluate_file(str(gold), bio, bootstrap=False)
    assert report.warnings == () and report.relation.labels["INHIBITS"].f1 == 100
    with create_project(tmp_path / "p.sciextract", schema) as project:
        [document] = survey(gold, Origin.GATE, schema, project).documents()
    assert "INHIBITS" in {relation.label for relation in document.annotated.annotations.relations}
