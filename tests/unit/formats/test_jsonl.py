"""Our exchange format and the input JSONL that it extends."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    Relation,
    Span,
    SpanCandidate,
    State,
)
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.formats import BadRecord, open_writer, read
from sciextract.formats.base import ReadItem
from sciextract.formats.exchange import encode
from sciextract.text.analyse import make_document
from tests.shared_data import ROOT

SCHEMA = json.loads((ROOT / "schemas" / "export.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TEXT = "Tree kernels rank proteins. They are fast [12]."


def annotated() -> AnnotatedDocument:
    entities = (
        Entity("E1", (Span(0, 12),), "Method", 0.9, State.ACCEPTED, "model:sci@1/7"),
        Entity("E2", (Span(18, 26),), "Material", 0.4, alternatives=(LabelScore("Task", 0.3),)),
        Entity("E3", (Span(28, 32),), "", None, State.IMPORTED, "import:α.jsonl"),
        Entity("E4", (Span(0, 4), Span(18, 26)), "Task", 0.2, State.REJECTED),
    )
    candidates = Candidates(
        (SpanCandidate(Span(0, 4), (LabelScore("Method", 0.2),)),),
        (PairCandidate(Span(0, 12), Span(18, 26), (LabelScore("Used-for", 0.1),)),),
        (LinkCandidate(Span(28, 32), Span(0, 12), 0.7),),
    )
    annotations = Annotations(
        entities,
        (Relation("R1", "E1", "E2", "Used-for", 0.5, alternatives=(LabelScore("Part-of", 0.1),)),),
        (Cluster("C1", ("E1", "E3"), 0.8, mention_scores=(0.9, 0.8)),),
        candidates,
    )
    document = make_document("d1", TEXT, {"year": 2020, "tokens": 3})
    return AnnotatedDocument(document, annotations, ModelId("sci", "a" * 64), ("looks French",))


def read_text(tmp_path: Path, *lines: str) -> list[ReadItem]:
    path = tmp_path / "made.jsonl"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    return list(read([path], "jsonl"))


def read_one(tmp_path: Path, record: Any) -> ReadItem:
    (item,) = read_text(tmp_path, json.dumps(record))
    return item


def good(item: ReadItem) -> AnnotatedDocument:
    assert isinstance(item, AnnotatedDocument), item
    return item


def error_of(item: ReadItem) -> str:
    assert isinstance(item, BadRecord)
    return item.error.message


def test_the_record_has_the_fields_of_the_contract() -> None:
    record = json.loads(encode(annotated(), candidates=True))
    assert record["ner"] == [[[0, 1, "Method"], [3, 3, "Material"]], []]
    assert record["relations"] == [[[0, 1, 3, 3, "Used-for"]], []]
    assert record["clusters"] == [[[0, 1], [5, 5]]]
    expected = {"ner": [[0.9, 0.4], []], "relations": [[0.5], []], "clusters": [[0.9, 0.8]]}
    assert record["scores"] == expected
    assert record["tokens"] == [token for sentence in record["sentences"] for token in sentence]
    assert [TEXT[a:b] for a, b in record["token_ranges"]] == record["tokens"]
    assert record["model"] == {"name": "sci", "hash": "a" * 64}
    assert record["entities"][3]["fragments"] == [[0, 4], [18, 26]]
    assert record["candidates"]["links"][0]["score"] == 0.7
    assert record["warnings"] == ["looks French"]
    assert (record["year"], record["input_tokens"]) == (2020, 3)


@pytest.mark.parametrize("candidates", [True, False])
def test_exports_fit_the_published_schema(candidates: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    record = json.loads(encode(annotated(), candidates))
    VALIDATOR.validate(record)
    assert ("candidates" in record) is candidates
    bare = AnnotatedDocument(make_document("d", ""))
    VALIDATOR.validate(json.loads(encode(bare)))


def test_the_schema_refuses_what_is_wrong() -> None:
    record = json.loads(encode(annotated(), True))
    record["entities"][0]["state"] = "maybe"
    record["candidates"]["spans"][0]["span"] = [1]
    record["ner"][0][0] = [0, 1]
    assert len(list(VALIDATOR.iter_errors(record))) == 3


def test_every_field_of_the_schema_is_described() -> None:
    for name, field in SCHEMA["properties"].items():
        assert field.get("description") or name == "schema_version", name


def test_the_reader_prefers_the_lossless_form(tmp_path: Path) -> None:
    (item,) = read_text(tmp_path, encode(annotated(), candidates=True))
    back = good(item)
    assert back == annotated()
    assert back.document.fields == {"year": 2020, "input_tokens": 3}


def test_items_say_their_texts() -> None:
    record = json.loads(encode(annotated()))
    texts = [entity["text"] for entity in record["entities"]]
    assert texts == ["Tree kernels", "proteins", "They", "Tree proteins"]
    [link] = record["links"]
    assert (link["head_text"], link["tail_text"]) == ("Tree kernels", "proteins")


@pytest.mark.parametrize("given", [None, "Other words", 5])
def test_texts_of_items_are_not_read(given: str | int | None, tmp_path: Path) -> None:
    record = json.loads(encode(annotated(), candidates=True))
    for name, derived in (("entities", ["text"]), ("links", ["head_text", "tail_text"])):
        for item, key in product(record[name], derived):
            item[key] = given
            if given is None:
                del item[key]
    assert given == 5 or VALIDATOR.is_valid(record)
    assert good(read_one(tmp_path, record)) == annotated()


def test_without_the_lossless_form_token_offsets_are_read(tmp_path: Path) -> None:
    record = json.loads(encode(annotated(), candidates=True))
    for name in ("entities", "links", "groups"):
        del record[name]
    back = good(read_one(tmp_path, record)).annotations
    assert [entity.label for entity in back.entities] == ["Method", "Material", ""]
    assert len(back.relations) == len(back.clusters) == 1
    assert back.candidates == annotated().annotations.candidates


def test_without_a_token_table_one_is_derived(tmp_path: Path) -> None:
    record = json.loads(encode(annotated()))
    for name in ("tokens", "sentences", "token_ranges"):
        del record[name]
    assert good(read_one(tmp_path, record)).document == annotated().document


@pytest.mark.parametrize(
    ("record", "key", "text", "fields"),
    [
        ({"text": "We parse."}, "made:1", "We parse.", {}),
        ({"id": 7, "text": "We parse."}, "7", "We parse.", {}),
        ({"id": 7, "doc_key": "k", "text": "We."}, "k", "We.", {"id": 7}),
        ({"id": "i", "title": "T", "abstract": "A."}, "i", "T\nA.", {"title": "T"}),
        ({"title": "T", "abstract": None}, "made:1", "T", {"title": "T"}),
        ({"title": None, "abstract": "A."}, "made:1", "A.", {"title": None}),
        ({"title": "T", "text": "Body."}, "made:1", "Body.", {"title": "T"}),
        ({"text": None, "abstract": "A."}, "made:1", "A.", {}),
        ({"text": "", "abstract": "A."}, "made:1", "A.", {}),
        ({"text": ""}, "made:1", "", {}),
        (
            {"text": "A.", "entities": ["x"], "year": 1},
            "made:1",
            "A.",
            {"entities": ["x"], "year": 1},
        ),
        ({"text": "A b", "sentences": ["A b"]}, "made:1", "A b", {"sentences": ["A b"]}),
        ({"text": "\x1b[31m\x00 [12]"}, "made:1", "\x1b[31m\x00 [12]", {}),
    ],
)
def test_input_records(
    record: dict[str, Any], key: str, text: str, fields: dict[str, Any], tmp_path: Path
) -> None:
    document = good(read_one(tmp_path, record)).document
    assert (document.doc_key, document.text, dict(document.fields)) == (key, text, fields)


def test_a_title_is_a_sentence_of_its_own(tmp_path: Path) -> None:
    document = good(read_one(tmp_path, {"title": "On Dr. Who", "abstract": "we parse."})).document
    first = document.tokens.char_span(document.tokens.sentences[0])
    assert first.of(document.text) == "On Dr. Who"


def test_scierc_records_and_tokens_beside_their_text(tmp_path: Path) -> None:
    layers: dict[str, Any] = {
        "sentences": [["(", "graphs", ")"], ["go"]],
        "ner": [[[1, 1, "T"]], []],
    }
    plain = good(read_one(tmp_path, layers))
    assert plain.document.text == "( graphs ) go"
    exact = good(read_one(tmp_path, {"text": " (graphs)\n go", **layers}))
    assert exact.document.tokens.slices(exact.document.text) == ("(", "graphs", ")", "go")
    assert exact.annotations.entities[0].fragments == (Span(2, 8),)
    escaped = {"text": "(a)", "sentences": [["-LRB-", "a", "-RRB-"]]}
    assert good(read_one(tmp_path, escaped)).document.tokens.forms == ("-LRB-", "a", "-RRB-")
    message = error_of(read_one(tmp_path, {"text": "(graph)", **layers}))
    assert "sentences[0][1]: 'graphs' found, but `text` continues with 'graph)'" in message


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema_version": 2}, "schema_version: 2 found, the newest known version is 1"),
        ({"schema_version": "1"}, "schema_version: '1' found; expected 1"),
        ({"text": "changed"}, "text_sha256: "),
        ({"text": None}, "no text"),
        ({"text": 5}, "text: 5 found; expected a string"),
        ({"token_ranges": [[0, 4]]}, "1 ranges found, but `sentences` hold 12 tokens"),
        ({"model": "sci"}, "model: the whole is 'sci'"),
        ({"entities": [5]}, "entities[0]: 5 found; expected an object"),
        ({"warnings": [5]}, "warnings: [0] is 5"),
    ],
)
def test_bad_exchange_records(change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    record = json.loads(encode(annotated(), True)) | change
    assert problem in error_of(read_one(tmp_path, record))


@pytest.mark.parametrize(
    "theirs", ["data", [{"id": "A1", "label": "negated"}], {"doi": "10.5555/1"}]
)
def test_a_field_of_others_called_attributes_is_kept(theirs: Any, tmp_path: Path) -> None:
    record = json.loads(encode(annotated())) | {"attributes": theirs}
    found = good(read_one(tmp_path, record))
    assert found.document.fields["attributes"] == theirs
    assert found.annotations.attributes == ()


def test_an_attribute_of_nothing(tmp_path: Path) -> None:
    item = {"id": "A1", "target": "E9", "label": "negated", "state": "accepted"}
    record = json.loads(encode(annotated())) | {"attributes": [item]}
    assert "attributes[0]: 'E9' found" in error_of(read_one(tmp_path, record))


@pytest.mark.parametrize(
    ("name", "index", "change", "problem"),
    [
        ("entities", 0, {"fragments": [[0, 99]]}, "within 0 to 47"),
        ("entities", 0, {"fragments": [[5, 5]]}, "[[5, 5]] found"),
        ("entities", 0, {"fragments": [[5, 8], [0, 4]]}, "ascending, apart"),
        ("entities", 0, {"fragments": []}, "[] found"),
        ("entities", 0, {"id": "E2"}, "entities[1].id: 'E2' found twice"),
        ("entities", 0, {"id": None}, "entities[0]: 'id' is missing"),
        ("entities", 0, {"label": None}, "entities[0]: 'label' is missing"),
        ("entities", 0, {"score": "high"}, "entities[0]: score is 'high'; expected float"),
        ("entities", 0, {"state": "maybe"}, "state: Invalid enum value 'maybe'"),
        ("entities", 0, {"score": "\ud800"}, "surrogates not allowed"),
        (
            "entities",
            0,
            {"alternatives": [["x"]]},
            "alternatives[0] is ['x']; expected array of length 2",
        ),
        ("links", 0, {"head": "E9"}, "links[0]: 'E9' found"),
        (
            "groups",
            0,
            {"mentions": ["E1", ["E2"]]},
            "groups[0]: mentions[1] is ['E2']; expected str",
        ),
        ("groups", 0, {"mention_scores": [1]}, "mention_scores: 1 values found; expected 2"),
        ("token_ranges", 0, [0, 99], "from 0 to 47"),
        ("token_ranges", 1, [0, 4], "token 1 has the range [0, 4)"),
    ],
)
def test_bad_items(name: str, index: int, change: Any, problem: str, tmp_path: Path) -> None:
    record = json.loads(encode(annotated()))
    items = record[name]
    items[index] = items[index] | change if isinstance(change, dict) else change
    assert problem in error_of(read_one(tmp_path, record))


@pytest.mark.parametrize("lone", ["\ud800", "\udfff \ud800", "a\ud83d b"])
def test_lone_surrogates_survive_and_lines_stay_valid_utf8(lone: str, tmp_path: Path) -> None:
    first = good(read_one(tmp_path, {"text": lone, "note": lone}))
    line = encode(first)
    assert line.encode("utf-8")
    (back,) = read_text(tmp_path, line)
    assert good(back).document.text == lone
    assert good(back).document.fields == {"note": lone}


def test_one_document_is_one_line_for_every_splitter() -> None:
    text = "a\u2028b\x85c\x9b31m\x7f\r\nd\x1b"
    line = encode(AnnotatedDocument(make_document("d", text)))
    assert len(line.splitlines()) == 1
    assert not {"\x9b", "\x7f", "\x1b"} & set(line)
    assert json.loads(line)["text"] == text


def test_the_writer(tmp_path: Path) -> None:
    writer = open_writer("jsonl", tmp_path / "out.jsonl", candidates=True)
    writer.write(annotated())
    writer.write(replace(annotated(), model=None))
    writer.close()
    assert writer.losses == {}
    assert [item == annotated() for item in read([tmp_path / "out.jsonl"])] == [True, False]
    stream = io.StringIO()
    writer = open_writer("jsonl", stream)
    writer.write(annotated())
    writer.close()
    assert stream.getvalue() == encode(annotated()) + "\n"
