"""SciERC and DyGIE++ JSONL, in and out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import ReadItem
from sciextract.text.analyse import make_document


def record(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "doc_key": "P01",
        "sentences": [["We", "parse", "graphs", "-LRB-", "fast", "-RRB-"], ["It", "works", "."]],
        "ner": [[[2, 2, "Material"]], [[6, 6, "Generic"]]],
        "relations": [[], []],
        "clusters": [[[2, 2], [6, 6]]],
    }
    return {key: value for key, value in (made | changes).items() if value is not ...}


def items_of(tmp_path: Path, *records: Any) -> list[ReadItem]:
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return list(read([path], "scierc"))


def document_of(tmp_path: Path, **changes: Any) -> AnnotatedDocument:
    (item,) = items_of(tmp_path, record(**changes))
    assert isinstance(item, AnnotatedDocument), item
    return item


def written(*documents: AnnotatedDocument) -> tuple[list[dict[str, Any]], dict[str, int]]:
    stream = io.StringIO()
    writer = open_writer("scierc", stream)
    for document in documents:
        writer.write(document)
    writer.close()
    return [json.loads(line) for line in stream.getvalue().splitlines()], dict(writer.losses)


def test_offsets_become_characters_of_the_unescaped_text(tmp_path: Path) -> None:
    found = document_of(tmp_path)
    text = found.document.text
    assert text == "We parse graphs ( fast ) It works ."
    entities = found.annotations.entities
    assert [entity.text_of(text) for entity in entities] == ["graphs", "It"]
    assert {entity.state for entity in entities} == {State.IMPORTED}
    assert {entity.source for entity in entities} == {"import:made.jsonl"}
    assert found.document.tokens.strings(text)[3] == "-LRB-"


def test_a_record_comes_back_equal(tmp_path: Path) -> None:
    assert written(document_of(tmp_path)) == ([record()], {})


def test_only_the_dataset_field_comes_back(tmp_path: Path) -> None:
    found = document_of(tmp_path, dataset="made", year=2020)
    assert found.document.fields == {"dataset": "made", "year": 2020}
    assert written(found) == ([record(dataset="made")], {})


def test_equal_items_collapse(tmp_path: Path) -> None:
    found = document_of(
        tmp_path,
        ner=[[[2, 2, "Material"], [2, 2, "Material"], [2, 2, "Task"]], []],
        relations=[[[2, 2, 4, 4, "Used-for"], [2, 2, 4, 4, "Used-for"]], []],
        clusters=[[[2, 2], [2, 2], [6, 6]], [[6, 6], [2, 2]]],
    )
    counts = found.annotations
    assert [entity.label for entity in counts.entities] == ["Material", "Task", "", ""]
    assert len(counts.relations) == len(counts.clusters) == 1
    assert counts.relations[0].head == counts.clusters[0].mentions[0] == counts.entities[0].id


def test_predicted_fields_and_trailing_scores(tmp_path: Path) -> None:
    found = document_of(
        tmp_path,
        ner=...,
        relations=...,
        clusters=...,
        predicted_ner=[[[2, 2, "Material", 7.5, 0.93]], []],
        predicted_relations=[[[2, 2, 4, 4, "Used-for", 7.5, 0.5]], []],
        predicted_clusters=[[[2, 2], [6, 6]]],
    )
    assert found.annotations.entities[0].score == 0.93
    assert found.annotations.relations[0].score == 0.5
    assert found.document.fields == {}


def test_gold_is_preferred_and_predictions_are_kept(tmp_path: Path) -> None:
    predicted = [[[0, 0, "Task", 1.0, 0.4]], []]
    found = document_of(tmp_path, predicted_ner=predicted)
    assert [entity.label for entity in found.annotations.entities] == ["Material", "Generic"]
    assert found.document.fields == {"predicted_ner": predicted}


def test_gold_and_predictions_of_a_record_are_not_mixed(tmp_path: Path) -> None:
    predicted = [[[2, 2, 4, 4, "Used-for"]], []]
    found = document_of(tmp_path, relations=..., predicted_relations=predicted)
    assert found.annotations.relations == ()
    assert found.document.fields == {"predicted_relations": predicted}


def test_ids_do_not_change_between_runs(tmp_path: Path) -> None:
    assert document_of(tmp_path) == document_of(tmp_path)


def test_documents_without_sentences_or_with_empty_ones(tmp_path: Path) -> None:
    empty = document_of(tmp_path, sentences=[], ner=[], relations=[], clusters=[])
    assert empty.document.text == ""
    gap = document_of(
        tmp_path,
        sentences=[["a"], [], ["b"]],
        ner=[[], [], [[1, 1, "T"]]],
        relations=...,
        clusters=...,
    )
    assert gap.annotations.entities[0].text_of(gap.document.text) == "b"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"ner": [[[2, 6, "Task"]], []]}, r"ner\[0\]\[0\]: \[2, 6\] found.*from 0 to 5 \(sentence 0\)"),
    ({"ner": [[], [[2, 2, "Task"]]]}, r"ner\[1\]\[0\]: .*from 6 to 8 \(sentence 1\)"),
    ({"ner": [[[2, 1, "Task"]], []]}, r"\[2, 1\] found.*start <= end"),
    ({"ner": [[[-1, 1, "Task"]], []]}, r"\[-1, 1\]"),
    ({"ner": [[[1.0, 1, "Task"]], []]}, r"\[1\.0, 1\]"),
    ({"ner": [[[True, 1, "Task"]], []]}, r"\[True, 1\]"),
    ({"ner": [[["1", 1, "Task"]], []]}, r"\['1', 1\]"),
    ({"ner": [[[1, 1, None]], []]}, r"ner\[0\]\[0\]\[2\]: None found"),
    ({"ner": [[[1, 1]], []]}, r"ner\[0\]\[0\]: \[1, 1\] found; expected a list of 3 values"),
    ({"ner": [[]]}, r"ner: 1 lists found; expected 2"),
    ({"ner": {}}, r"ner: \{\} found; expected a list"),
    ({"ner": [{}, []]}, r"ner\[0\]: \{\} found"),
    ({"relations": [[[2, 2, 9, 9, "Used-for"]], []]}, r"tail: \[9, 9\].*0 to 8 \(the document\)"),
    ({"relations": [[[6, 6, 2, 2, "Used-for"]], []]}, r"relations\[0\]\[0\] head: \[6, 6\]"),
    ({"relations": [[[2, 2, 6]], []]}, r"a list of 5 values"),
    ({"clusters": [[[8, 9]]]}, r"clusters\[0\]\[0\]: \[8, 9\] found"),
    ({"clusters": [7]}, r"clusters\[0\]: 7 found"),
    ({"clusters": [[[1]]]}, r"clusters\[0\]\[0\]: \[1\] found"),
    ({"sentences": ["We parse"]}, r"sentences\[0\]: 'We parse' found; expected a list of tokens"),
    ({"sentences": [["a", ""]]}, r"sentences\[0\]\[1\]: '' found"),
    ({"sentences": [["a", 7]]}, r"sentences\[0\]\[1\]: 7 found"),
    ({"sentences": ...}, r"no text: the record has no `sentences`"),
    ({"sentences": None}, r"no text"),
    ({"sentences": []}, r"ner: 2 lists found; expected 0"),
    ({"sentences": [], "ner": [], "relations": []}, r"the document has no tokens"),
    ({"doc_key": ["x"]}, r"doc_key: \['x'\] found"),
]


@pytest.mark.parametrize(("changes", "problem"), BAD)
def test_a_bad_record_names_its_place_and_the_others_are_read(
    changes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    first, second, third = items_of(tmp_path, record(), record(**changes), record(doc_key="P03"))
    assert isinstance(second, BadRecord)
    assert second.error.line == 2 and second.error.path.endswith("made.jsonl")
    with pytest.raises(type(second.error), match=problem):
        raise second.error
    if isinstance(changes.get("doc_key", ""), str):
        assert "doc_key 'P01'" in second.error.message
    assert isinstance(first, AnnotatedDocument) and isinstance(third, AnnotatedDocument)


def entity(item_id: str, *fragments: tuple[int, int], label: str = "Task", **more: Any) -> Entity:
    return Entity(item_id, tuple(Span(*fragment) for fragment in fragments), label, **more)


TEXT = "Deep graph-parsing works. It is fast."


def made(*entities: Entity, **layers: Any) -> AnnotatedDocument:
    return AnnotatedDocument(make_document("d", TEXT), Annotations(entities, **layers))


def test_tokens_are_split_at_the_edges_of_spans() -> None:
    (line,), losses = written(made(entity("E", (0, 7))))
    assert line["sentences"][0][:3] == ["Deep", "gr", "aph-parsing"]
    assert line["ner"][0] == [[0, 1, "Task"]]
    assert losses == {}


def test_given_tokens_stay_and_entities_get_whole_ones(tmp_path: Path) -> None:
    sentences = [["Graph-based", "parsers", "work", "."]]
    given = document_of(tmp_path, sentences=sentences, ner=[[]], relations=[[]], clusters=[])
    model = "model:bio@5f1c/r1"
    predicted = Annotations(
        (entity("E", (0, 5), source=model), entity("F", (12, 19), source=model))
    )
    (line,), losses = written(AnnotatedDocument(given.document, predicted))
    assert line["sentences"] == sentences
    assert line["ner"] == [[[0, 0, "Task"], [1, 1, "Task"]]]
    assert losses == {"entity widened to whole given tokens": 1}
    by_hand = Annotations((entity("E", (0, 5), state=State.ADDED, source="person:anna"),))
    (line,), losses = written(AnnotatedDocument(given.document, by_hand))
    assert line["sentences"] == [["Graph", "-based", *sentences[0][1:]]]
    assert losses == {}


def test_predictions_beside_gold_share_its_tokens() -> None:
    gold = Annotations((entity("G", (5, 10)), entity("H", (19, 24))))
    predicted = made(entity("P", (0, 4)), entity("Q", (5, 18), label="Method"))
    stream = io.StringIO()
    writer = open_writer("scierc", stream, gold=lambda: gold)
    writer.write(predicted)
    writer.close()
    line = json.loads(stream.getvalue())
    assert line["sentences"][0] == ["Deep", "graph", "-parsing", "works", "."]
    assert line["ner"] == [[[1, 1, "Task"], [3, 3, "Task"]], []]
    assert line["predicted_ner"] == [[[0, 0, "Task"], [1, 2, "Method"]], []]
    assert (line["predicted_relations"], line["predicted_clusters"]) == ([[], []], [])


def test_rejected_items_are_not_exported() -> None:
    rejected = State.REJECTED
    (line,), losses = written(
        made(
            entity("A", (0, 4), state=rejected),
            entity("B", (19, 24)),
            entity("C", (26, 28)),
            relations=(
                Relation("R", "A", "B", "Used-for"),
                Relation("S", "B", "C", "X", state=rejected),
            ),
            clusters=(Cluster("K", ("A", "B")), Cluster("L", ("B", "C"), state=State.REJECTED)),
        )
    )
    assert [len(sentence) for sentence in line["ner"]] == [1, 1]
    assert line["relations"] == [[], []]
    assert [len(cluster) for cluster in line["clusters"]] == [1]
    assert losses == {}


def test_what_the_format_cannot_hold_is_counted() -> None:
    (line,), losses = written(
        made(
            entity("A", (0, 4), (19, 24)),
            entity("B", (19, 28)),
            entity("C", (0, 5)),
            entity("D", (4, 5)),
            entity("E", (0, 4)),
            entity("F", (33, 36), label=""),
            relations=(Relation("R", "A", "C", "X"), Relation("S", "B", "C", "X")),
            clusters=(Cluster("K", ("A", "C", "B")),),
        )
    )
    assert losses == {
        "discontinuous entity": 1,
        "entity across sentences": 1,
        "white space at the edge of an entity": 1,
        "entity without tokens": 1,
        "second entity in the same place": 1,
        "entity without a type": 1,
        "relation of an entity that does not fit": 2,
        "mention of an entity that does not fit": 1,
    }
    assert line["ner"] == [[[0, 0, "Task"]], []]
    assert len(line["clusters"][0]) == 2
