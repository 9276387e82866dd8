"""XMI, BioC, Parquet and Hugging Face folders give back what was written, for every text."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import bioc
import cassis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import NOT_REJECTED, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import AttributeKind, AttributeType
from sciextract.documents.schema_file import load_schema
from sciextract.formats import open_writer, read
from sciextract.formats.safe_xml import LOSS, xml_safe
from tests.shared_data import shared_path
from tests.strategies import PIECES, annotated_documents, said_of
from tests.tiers import examples

FEW = settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
HOSTILE = (*PIECES, "\ud800", "\x0b")
ANNOTATED = annotated_documents(pieces=HOSTILE)
DOCUMENTS = st.lists(ANNOTATED, min_size=1, max_size=3)
WITH_ATTRIBUTES = st.lists(
    annotated_documents(pieces=HOSTILE, attributes=True), min_size=1, max_size=3
)
FILES = {"bioc": "made.xml", "bioc-json": "made.json", "parquet": "made.parquet"}


def written(format_id: str, documents: list[AnnotatedDocument], folder: Path) -> Counter[str]:
    writer = open_writer(format_id, folder / FILES.get(format_id, "made"))
    for document in documents:
        writer.write(document)
    writer.close()
    return writer.losses


def read_back(format_id: str, folder: Path) -> list[AnnotatedDocument]:
    items = list(read([folder / FILES.get(format_id, "made")], format_id))
    assert all(isinstance(item, AnnotatedDocument) for item in items), items
    return [item for item in items if isinstance(item, AnnotatedDocument)]


def round_trip(
    format_id: str, documents: list[AnnotatedDocument]
) -> tuple[list[AnnotatedDocument], Counter[str]]:
    with tempfile.TemporaryDirectory() as name:
        losses = written(format_id, documents, Path(name))
        return read_back(format_id, Path(name)), losses


Mentions = Counter[tuple[tuple[Span, ...], str]]
Content = tuple[str, Mentions, set[object], set[object]]


def content(document: AnnotatedDocument, *, discontinuous: bool = True) -> Content:
    """What a round trip keeps, without ids; equal relations and equal clusters are one."""
    found = document.annotations
    entities = {
        entity.id: entity
        for entity in found.entities
        if entity.state is not State.REJECTED and (discontinuous or len(entity.fragments) == 1)
    }
    relations = [r for r in found.relations if r.state is not State.REJECTED]
    clusters = [c for c in found.clusters if c.state is not State.REJECTED]
    ends = [(r.head, r.tail, r.label) for r in relations if {r.head, r.tail} <= {*entities}]
    groups = [frozenset(m for m in c.mentions if m in entities) for c in clusters]
    return (
        document.document.text,
        Counter((entity.fragments, entity.label) for entity in entities.values()),
        {(entities[head].fragments, entities[tail].fragments, label) for head, tail, label in ends},
        {frozenset(entities[m].fragments for m in group) for group in groups if group},
    )


def in_any_order(
    documents: list[AnnotatedDocument], *, discontinuous: bool = True
) -> list[Content]:
    return sorted(
        (content(document, discontinuous=discontinuous) for document in documents), key=str
    )


def safe(document: AnnotatedDocument, *, discontinuous: bool = True) -> Content:
    """The content with the characters that XML cannot hold made visible."""
    text, entities, relations, clusters = content(document, discontinuous=discontinuous)
    return xml_safe(text, Counter()), entities, relations, clusters


@FEW
@given(WITH_ATTRIBUTES)
def test_bioc_json_gives_back_everything(documents: list[AnnotatedDocument]) -> None:
    back, losses = round_trip("bioc-json", documents)
    assert [content(item) for item in back] == [content(item) for item in documents]
    assert [item.document.doc_key for item in back] == [e.document.doc_key for e in documents]
    assert not losses
    assert_attributes_come_back(documents, back)


def assert_attributes_come_back(
    documents: list[AnnotatedDocument], back: list[AnnotatedDocument]
) -> None:
    """All of them, but where equal relations, which are one when they are read, have several values."""
    for document, again in zip(documents, back, strict=True):
        lost = sum(again.unread.values())
        said, found = said_of(document.annotations), said_of(again.annotations)
        assert found <= said and len(said) - len(found) <= lost


@FEW
@given(WITH_ATTRIBUTES)
def test_bioc_xml_gives_back_all_that_xml_can_hold(documents: list[AnnotatedDocument]) -> None:
    back, losses = round_trip("bioc", documents)
    assert [content(item) for item in back] == [safe(item) for item in documents]
    assert_attributes_come_back(documents, back)
    assert set(losses) <= {LOSS}
    dirty = any(content(document) != safe(document) for document in documents)
    assert not dirty or losses[LOSS]


@FEW
@given(DOCUMENTS)
def test_xmi_gives_back_all_but_discontinuous_entities(
    documents: list[AnnotatedDocument],
) -> None:
    back, losses = round_trip("xmi", documents)
    expected = [safe(document, discontinuous=False) for document in documents]
    assert in_any_order(back) == sorted(expected, key=str)
    live = [e for d in documents for e in d.annotations.entities if e.state is not State.REJECTED]
    assert losses["discontinuous entity"] == sum(len(entity.fragments) > 1 for entity in live)
    kinds = {LOSS, "discontinuous entity", "relation of an entity that does not fit"}
    assert set(losses) <= kinds | {"mention of an entity that does not fit"}


@FEW
@given(ANNOTATED)
def test_tokens_and_sentences_survive_xmi(document: AnnotatedDocument) -> None:
    (back,), _ = round_trip("xmi", [document])
    assert back.document.tokens.problems(len(back.document.text)) == []
    if len(document.document.tokens):
        assert back.document.tokens == document.document.tokens


@FEW
@given(
    documents=st.lists(annotated_documents(states=tuple(State)), min_size=1, max_size=3),
    fields=st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=3)),
)
def test_arrow_rows_are_lossless(
    documents: list[AnnotatedDocument], fields: dict[str, object]
) -> None:
    held = [
        replace(document, document=replace(document.document, fields=fields), warnings=("a",))
        for document in documents
    ]
    back, losses = round_trip("parquet", held)
    assert back == held
    assert [item.document.fields for item in back] == [fields for _ in held]
    assert not losses


@FEW
@given(annotated_documents(pieces=HOSTILE, attributes=True))
def test_xmi_gives_back_attributes_that_have_a_feature(document: AnnotatedDocument) -> None:
    flag = AttributeType("Negated", "n", ("*", "relation:*"))
    said = AttributeType("a_b", "a", ("*", "relation:*"), AttributeKind.TEXT)
    schema = replace(load_schema("scierc"), attributes=(flag, said))
    with tempfile.TemporaryDirectory() as name:
        writer = open_writer("xmi", Path(name, "made"), schema=schema)
        writer.write(document)
        writer.close()
        (back,) = read_back("xmi", Path(name))
    given, found = said_of(document.annotations), said_of(back.annotations)
    kinds = ("attribute", "second")
    lost = sum(writer.losses[kind] for kind in writer.losses if kind.startswith(kinds))
    assert found <= given and len(given) - len(found) <= lost + sum(back.unread.values())
    assert all((label == "Negated") == (not value) for _, label, value in found)


@FEW
@given(ANNOTATED)
def test_cassis_sees_the_same_spans_in_our_xmi(document: AnnotatedDocument) -> None:
    with tempfile.TemporaryDirectory() as name:
        written("xmi", [document], Path(name))
        folder = Path(name, "made")
        types = cassis.load_typesystem(folder / "TypeSystem.xml")
        (path,) = folder.glob("*.xmi")
        cas = cassis.load_cas_from_xmi(path, typesystem=types)
    text = xml_safe(document.document.text, Counter())
    assert (cas.sofa_string or "") == text
    expected = content(document, discontinuous=False)[1]
    found = Counter((span.begin, span.end, span.label or "") for span in cas.select("custom.Span"))
    assert found == Counter(
        {(s[0].char_start, s[0].char_end, label): n for (s, label), n in expected.items()}
    )


@FEW
@given(WITH_ATTRIBUTES)
def test_the_bioc_library_reads_our_files(documents: list[AnnotatedDocument]) -> None:
    with tempfile.TemporaryDirectory() as name:
        written("bioc", documents, Path(name))
        written("bioc-json", documents, Path(name))
        found = bioc.biocxml.loads(Path(name, "made.xml").read_text("utf-8").partition("\n")[2])
        from_json = bioc.biocjson.loads(Path(name, "made.json").read_text("utf-8"))
    for library_documents in (found.documents, from_json.documents):
        assert [len(_mentions(document)) for document in library_documents] == [
            content(document)[1].total() for document in documents
        ]
    for library, ours in zip(from_json.documents, documents, strict=True):
        text = ours.document.text
        for item in ours.annotations.in_states(NOT_REJECTED).attributes:
            key = f"attribute:{item.label}" if item.value else f"flag:{item.label}"
            assert item.target or library.infons[key] == (item.value or "true")
        for mention in _mentions(library):
            parts = [text[loc.offset : loc.end] for loc in mention.locations]
            assert mention.text == " ".join(parts)


def _mentions(document: bioc.BioCDocument) -> list[bioc.BioCAnnotation]:
    return [mention for passage in document.passages for mention in passage.annotations]


BIOC_SAMPLES = ["CDR_sample-1.xml", "everything.xml", "everything.json"]


@pytest.mark.parametrize("sample", BIOC_SAMPLES)
@pytest.mark.parametrize("format_id", ["bioc", "bioc-json", "xmi", "parquet"])
def test_real_bioc_samples_survive(sample: str, format_id: str) -> None:
    items = list(read([shared_path(f"formats/bioc/{sample}")]))
    documents = [item for item in items if isinstance(item, AnnotatedDocument)]
    assert documents
    back, losses = round_trip(format_id, documents)
    for document in documents:
        losses.subtract(document.unread)
    everything = format_id != "xmi"
    expected = in_any_order(documents, discontinuous=everything)
    assert in_any_order(back) == expected
    assert not everything or not +losses


def test_real_xmi_samples_survive_and_agree_with_cassis() -> None:
    folder = shared_path("formats/uima-xmi")
    for path in sorted(folder.rglob("*.xmi")):
        (item,) = read([path])
        assert isinstance(item, AnnotatedDocument)
        (back,), losses = round_trip("xmi", [item])
        assert content(back) == content(item)
        assert back.document.tokens == item.document.tokens
        assert losses == item.unread
