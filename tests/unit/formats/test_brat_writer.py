"""brat standoff, written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bioc import brat

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import AttributeKind, AttributeType
from sciextract.documents.schema_file import load_schema
from sciextract.errors import OutputError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.text.analyse import make_document
from tests.shared_data import shared_path
from tests.strategies import said_of
from tests.unit.formats.brat_files import (
    EVENTS,
    TEXT,
    UNREAD,
    document_of,
    lines_of,
    mentions,
    only,
    pair,
    written,
)


def test_only_our_layers_come_back(tmp_path: Path) -> None:
    found = document_of(tmp_path / "in", EVENTS)
    assert written(found, tmp_path / "out") == dict.fromkeys(UNREAD, 1)
    assert lines_of(tmp_path / "out") == [
        "T1\tAction 13 17\trank",
        "T2\tMethod 0 12\tTree kernels",
        "T3\tMaterial 18 28\tβ-proteins",
        "R1\tSetting Arg1:T1 Arg2:T3",
        "*\tCOREF T2 T3",
        "N1\tReference T2 Wiki:Q1\tlink",
        "A1\tNegation T1",
    ]
    assert written(only(list(read([tmp_path / "out"]))), tmp_path / "again") == {}


def test_what_is_rejected_goes_with_its_relations(tmp_path: Path) -> None:
    found = document_of(tmp_path / "in", EVENTS)
    first, second, third = found.annotations.entities
    items = (replace(first, state=State.REJECTED), second, third)
    rejected = replace(found, annotations=replace(found.annotations, entities=items), unread={})
    assert written(rejected, tmp_path / "out") == {}
    assert lines_of(tmp_path / "out")[2:3] == ["*\tCOREF T1 T2"]


def hand_made(text: str = TEXT) -> AnnotatedDocument:
    entities = (
        Entity("a", (Span(0, 12),), "Method"),
        Entity("b", (Span(18, 34),), "Material"),
        Entity("c", (Span(0, 4), Span(18, 28)), ""),
        Entity("d", (Span(5, 12),), "Ω type", state=State.REJECTED),
    )
    relations = (Relation("r", "a", "b", "Used-for"), Relation("s", "d", "b", "Used-for"))
    clusters = (Cluster("k", ("a", "c", "d")),)
    return AnnotatedDocument(make_document("gk", text), Annotations(entities, relations, clusters))


def test_mentions_are_cut_at_line_breaks(tmp_path: Path) -> None:
    assert written(hand_made(), tmp_path / "out") == {}
    assert lines_of(tmp_path / "out") == [
        "T1\tMethod 0 12\tTree kernels",
        "T2\tMaterial 18 29;30 34\tβ-proteins. They",
        "T3\tMention 0 4;18 28\tTree β-proteins",
        "R1\tUsed-for Arg1:T1 Arg2:T2",
        "*\tCOREF T1 T3",
    ]


def test_another_library_reads_the_same(tmp_path: Path) -> None:
    written(hand_made(), tmp_path / "out")
    with open(tmp_path / "out" / "gk.txt") as text, open(tmp_path / "out" / "gk.ann") as ann:
        found = brat.load(text, ann)
    assert [(e.id, e.type, e.text) for e in found.entities] == [
        ("T1", "Method", "Tree kernels"),
        ("T2", "Material", "β-proteins. They"),
        ("T3", "Mention", "Tree β-proteins"),
    ]
    assert found.relations[0].arguments == {"Arg1": "T1", "Arg2": "T2"}
    assert found.equiv_relations[0].argids == {"T1", "T3"}


def test_attributes_are_lines_and_a_section_of_the_configuration(tmp_path: Path) -> None:
    schema = load_schema("scierc")
    kinds = (
        AttributeType("Negated", "n", ("Method", "relation:*")),
        AttributeType("Certainty", "c", ("*",), AttributeKind.CHOICE, ("very low", "high")),
        AttributeType("Design", "d", ("abstract",), AttributeKind.TEXT),
    )
    made = hand_made()
    said = (
        Attribute("1", "a", "Negated"),
        Attribute("2", "r", "Negated"),
        Attribute("3", "b", "Certainty", "very low"),
        Attribute("4", "", "Design", "a cohort, 2 arms"),
        Attribute("5", "d", "Negated"),
    )
    made = replace(made, annotations=replace(made.annotations, attributes=said))
    assert written(made, tmp_path / "out", schema=replace(schema, attributes=kinds)) == {}
    configuration = (tmp_path / "out" / "annotation.conf").read_text("utf-8")
    assert configuration.partition("[attributes]\n")[2].splitlines() == [
        "Negated\tArg:Method|<RELATION>",
        "Certainty\tArg:<ENTITY>, Value:very_low|high",
    ]
    with open(tmp_path / "out" / "gk.txt") as text, open(tmp_path / "out" / "gk.ann") as ann:
        theirs = brat.load(text, ann).attributes
    lines = [(one.type, one.refid, *one.attributes) for one in theirs]
    assert lines == [("Negated", "T1"), ("Negated", "R1"), ("Certainty", "T2", "very_low")]
    back = only(list(read([tmp_path / "out"]))).annotations
    assert said_of(back) == said_of(made.annotations)


def test_the_schema_becomes_the_configuration(tmp_path: Path) -> None:
    schema = load_schema("scierc")
    written(hand_made(), tmp_path / "out", schema=schema)
    configuration = (tmp_path / "out" / "annotation.conf").read_text("utf-8").splitlines()
    entities = configuration[1 : configuration.index("[relations]") - 1]
    assert entities[:2] == ["Task", "Method"]
    assert entities[-1] == "Mention"
    symmetric = {
        line.split("\t")[0] for line in configuration if line.endswith("<REL-TYPE>:symmetric")
    }
    assert symmetric == schema.symmetric_labels
    colours = (tmp_path / "out" / "visual.conf").read_text("utf-8").splitlines()
    assert "Task\tbgColor:#4c78d8" in colours
    assert "Mention | mention without a type" in colours


def test_the_configuration_allows_what_the_schema_allows_in_the_order_that_is_written(
    tmp_path: Path,
) -> None:
    schema = load_schema("scierc")
    written(hand_made(), tmp_path / "out", schema=schema)
    lines = (tmp_path / "out" / "annotation.conf").read_text("utf-8").splitlines()
    # As brat's verifier does: a line of the type holds Arg1 and Arg2, in this order.
    rows = [re.match(r"(\S+)\tArg1:([^,]+), Arg2:([^,]+)", line) for line in lines]
    held = {
        (row[1], head, tail)
        for row in rows
        if row
        for head in _types(row[2], schema.entity_labels)
        for tail in _types(row[3], schema.entity_labels)
    }
    allowed = {
        (relation.label, head, tail)
        for relation in schema.relations
        for head in schema.entity_labels
        for tail in schema.entity_labels
        if relation.allows(head, tail)
    }
    assert {item for item in held if item[0] in schema.relation_labels} == allowed


def _types(listed: str, labels: tuple[str, ...]) -> set[str]:
    return {*labels} if "<ENTITY>" in listed.split("|") else {*listed.split("|")}


def test_keys_never_leave_the_folder_and_come_back(tmp_path: Path) -> None:
    keys = ["../../etc/passwd", "/abs", "a/b", "A/B", "", ".hid", "con", "10.1/x y", "a.txt/b", "a"]
    writer = open_writer("brat", tmp_path / "out")
    for key in [*keys, "a"]:
        writer.write(AnnotatedDocument(make_document(key, "x")))
    writer.close()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    found = [
        item.document.doc_key
        for item in read([tmp_path / "out"])
        if not isinstance(item, BadRecord)
    ]
    assert sorted(found) == sorted([*keys, "a"])


def test_a_subfolder_of_an_export_knows_its_labels(tmp_path: Path) -> None:
    entity = Entity("e", (Span(0, 1),), "Ω type")
    document = AnnotatedDocument(make_document("part/1 2", "x"), Annotations((entity,)))
    written(document, tmp_path / "out")
    found = only(list(read([tmp_path / "out" / "part"], "brat")))
    assert found.document.doc_key == "part/1 2"
    assert mentions(found) == [("x", "Ω type")]


def test_a_damaged_notes_file_is_reported_and_the_rest_read(tmp_path: Path) -> None:
    written(replace(hand_made(), document=make_document("a b", TEXT)), tmp_path / "out")
    with open(tmp_path / "out" / "sciextract.jsonl", "a") as notes:
        notes.write('{"file": "a_b", "fragments": {"T1": [[0, "x"]]}}\n{broken\n')
    odd, bad, good = read([tmp_path / "out"])
    assert isinstance(odd, BadRecord) and "sciextract.jsonl:3: note: fragments" in str(odd.error)
    assert isinstance(bad, BadRecord) and "sciextract.jsonl:4:2: broken JSON" in str(bad.error)
    assert isinstance(good, AnnotatedDocument) and good.document.doc_key == "a b"


def test_lone_surrogates_are_replaced_and_counted(tmp_path: Path) -> None:
    document = AnnotatedDocument(make_document("gk", "a\ud800b"))
    assert written(document, tmp_path / "out") == {"text with lone surrogates": 1}
    assert only(list(read([tmp_path / "out"]))).document.text == "a\ufffdb"


def test_a_span_outside_the_text_stops_the_export(tmp_path: Path) -> None:
    document = AnnotatedDocument(
        make_document("gk", "x"), Annotations((Entity("e", (Span(0, 2),), "A"),))
    )
    with pytest.raises(OutputError, match=r"doc_key 'gk': entity e: \[0, 2\) found"):
        written(document, tmp_path / "out")


def test_a_folder_with_content_is_left_alone(tmp_path: Path) -> None:
    pair(tmp_path)
    with pytest.raises(OutputError, match="not empty"):
        open_writer("brat", tmp_path)


def items_of(document: AnnotatedDocument) -> tuple[Any, ...]:
    """All items in the terms of the text."""
    found = document.annotations
    by_id = {entity.id: (entity.fragments, entity.label) for entity in found.entities}
    return (
        document.document.text,
        sorted(by_id.values()),
        sorted(
            (by_id[relation.head], by_id[relation.tail], relation.label)
            for relation in found.relations
        ),
        sorted([by_id[mention] for mention in cluster.mentions] for cluster in found.clusters),
        document.document.fields,
    )


def test_real_files_come_back_equal(tmp_path: Path) -> None:
    source = shared_path("formats/brat")
    documents = [item for item in read([source]) if isinstance(item, AnnotatedDocument)]
    assert len(documents) == len(list(source.glob("*.txt"))) == 11
    writer = open_writer("brat", tmp_path / "out")
    for document in documents:
        writer.write(document)
    writer.close()
    assert all(kind.startswith("brat ") for kind in writer.losses)
    again = [item for item in read([tmp_path / "out"]) if isinstance(item, AnnotatedDocument)]
    assert [*map(items_of, again)] == [*map(items_of, documents)]
    for file in source.glob("*.ann"):
        before, after = (
            sorted(line.split("\t")[1:] for line in lines if line.startswith("T"))
            for lines in (
                file.read_text("utf-8").splitlines(),
                lines_of(tmp_path / "out", file.stem),
            )
        )
        expected = [[part.rstrip() for part in line] for line in before]
        for line in expected:
            line[1] = line[1].replace("protein1", "protein 1")
        assert expected == after
