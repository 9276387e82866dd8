"""DocBins: our own come back whole, those of others give what they hold, broken ones say so."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

spacy = pytest.importorskip("spacy")

import srsly  # type: ignore[import-untyped]
from spacy.tokens import Doc, DocBin, Span

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, InputMissingError, OutputError
from sciextract.formats import BadRecord, open_writer, read
from sciextract.interop import docbin
from tests.unit.formats.tool_files import entity, made, mentions, problem_of
from tests.unit.interop.builders import sample

NLP = spacy.blank("en")


def written(path: Path, *documents: AnnotatedDocument) -> dict[str, int]:
    writer = open_writer("docbin", path)
    for document in documents:
        writer.write(document)
    writer.close()
    return dict(writer.losses)


def foreign(path: Path, *docs: Doc, **options: Any) -> Path:
    DocBin(docs=docs, **options).to_disk(path)
    return path


def documents_of(path: Path) -> list[AnnotatedDocument]:
    items = list(read([path]))
    assert all(isinstance(item, AnnotatedDocument) for item in items), items
    return [item for item in items if isinstance(item, AnnotatedDocument)]


def parsed() -> Doc:
    doc: Doc = NLP("Parsers need trees. They grow.")
    doc.ents = [Span(doc, 0, 1, label="Method"), Span(doc, 2, 3, label="Material")]
    return doc


def test_everything_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    assert written(path, sample(), sample()) == {}
    assert documents_of(path) == [sample(), sample()]
    assert [document.document.fields for document in documents_of(path)] == [{"year": 2020}] * 2
    assert [file.name for file in tmp_path.iterdir()] == ["made.spacy"]


def test_spacy_reads_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    written(path, sample())
    (doc,) = DocBin().from_disk(path).get_docs(NLP.vocab)
    assert doc.text == sample().document.text
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("Our parser for graph parsing", "Method"),
        ("It", "Generic"),
    ]
    assert len(doc.spans["sc"]) == 4 and len(list(doc.sents)) == 3


def test_edges_inside_tokens_cut_them(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    written(path, made(entity("A", (4, 17)), entity("B", (11, 14))))
    (found,) = documents_of(path)
    assert mentions(found) == [("Task", "arse 😀 graphs"), ("Task", "gra")]
    (doc,) = DocBin().from_disk(path).get_docs(NLP.vocab)
    assert [token.text for token in doc][:6] == ["We", "p", "arse", "😀", "gra", "phs"]


def test_entities_of_docs_that_others_made(tmp_path: Path) -> None:
    (found,) = documents_of(foreign(tmp_path / "theirs.spacy", parsed()))
    assert mentions(found) == [("Method", "Parsers"), ("Material", "trees")]
    assert found.document.doc_key == "theirs:1" and found.document.text == parsed().text
    assert [len(sentence) for sentence in found.document.tokens.sentences] == [4, 3]
    assert {entity.state for entity in found.annotations.entities} == {State.IMPORTED}
    assert {entity.source for entity in found.annotations.entities} == {"import:theirs.spacy"}
    assert found.warnings == ()


def test_derived_sentences_do_not_cut_entities(tmp_path: Path) -> None:
    doc = parsed()
    doc.ents = [Span(doc, 2, 5, label="Material")]
    (found,) = documents_of(foreign(tmp_path / "theirs.spacy", doc))
    assert [len(sentence) for sentence in found.document.tokens.sentences] == [7]


def test_the_only_span_group_of_a_doc_without_entities(tmp_path: Path) -> None:
    doc = NLP("Parsers need trees.")
    doc.spans["theirs"] = [Span(doc, 0, 3, label="Task"), Span(doc, 2, 3, label="Material")]
    (found,) = documents_of(foreign(tmp_path / "theirs.spacy", doc))
    assert mentions(found) == [("Task", "Parsers need trees"), ("Material", "trees")]
    assert found.warnings == ()


def test_what_is_not_read_is_counted(tmp_path: Path) -> None:
    doc = parsed()
    doc.ents = [Span(doc, 0, 1, label="Method", kb_id="Q1"), Span(doc, 2, 3, label="Material")]
    doc.spans["sc"] = [Span(doc, 0, 1, label="Method")]
    doc.spans["other"] = [Span(doc, 1, 2), Span(doc, 2, 3)]
    doc.spans["coref_clusters_1"] = [Span(doc, 0, 1)]
    doc.cats = {"good": 1.0}
    doc.user_data["mine"] = 7
    doc[0].tag_ = "NNS"
    path = foreign(tmp_path / "theirs.spacy", doc, store_user_data=True)
    (found,) = documents_of(path)
    assert mentions(found) == [("Method", "Parsers")]
    assert found.unread == {
        "span of the group 'other'": 2,
        "span of the group 'coref_clusters_1'": 1,
        "entity outside of the span group": 1,
        "category of a document": 1,
        "link of an entity to a knowledge base": 1,
        "entry of user data": 1,
        "token attribute tag": 1,
    }


def test_an_empty_docbin_has_no_documents(tmp_path: Path) -> None:
    assert written(tmp_path / "made.spacy") == {}
    assert documents_of(tmp_path / "made.spacy") == []


def message(*docs: Doc) -> dict[str, Any]:
    found: dict[str, Any] = srsly.msgpack_loads(zlib.decompress(DocBin(docs=docs).to_bytes()))
    return found


def packed(content: Any) -> bytes:
    return zlib.compress(srsly.msgpack_dumps(content))


GOOD = DocBin(docs=[parsed()]).to_bytes()
BROKEN = [
    (b"", "is empty"),
    (b"random bytes \xff\x00", "not compressed with zlib"),
    (GOOD[:-7], "cut off"),
    (GOOD[:20], "cut off"),
    (b"PK\x03\x04" + GOOD, "not compressed"),
    (zlib.compress(b"\xc1 no msgpack"), "this is not a DocBin"),
    (zlib.compress(b""), "this is not a DocBin"),
    (zlib.compress(parsed().to_bytes()), "not a DocBin: KeyError 'attrs'"),
    (packed([1, 2]), "not a DocBin: TypeError"),
    (packed(message(parsed()) | {"attrs": []}), "not a DocBin"),
    (packed(message(parsed()) | {"attrs": 7}), "not a DocBin"),
    (packed(message(parsed()) | {"tokens": "x"}), "not a DocBin"),
    (packed(message(parsed()) | {"lengths": b"\x01"}), "not a DocBin"),
    (packed(message(parsed()) | {"strings": 7}), "not a DocBin"),
    (packed(message(parsed()) | {"strings": [7, {}]}), "not a DocBin"),
]


@pytest.mark.parametrize(("content", "problem"), BROKEN, ids=range(len(BROKEN)))
def test_a_file_that_is_no_docbin_says_so(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.spacy"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=problem) as caught:
        list(read([path]))
    assert caught.value.path == str(path)


def test_a_bomb_is_noticed_before_it_goes_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.spacy"
    path.write_bytes(zlib.compress(bytes(30_000_000)))
    monkeypatch.setattr(docbin, "LARGEST_BYTES", 2_000_000)
    with pytest.raises(FormatError, match="unpacks to more than 2000000 bytes"):
        list(read([path]))


def broken_doc(**changes: Any) -> list[Any]:
    content = message(parsed(), parsed(), parsed())
    for name, value in changes.items():
        content[name] = [content[name][0], value, content[name][2]]
    return [packed(content)]


@pytest.mark.parametrize(
    "changes",
    [{"span_groups": b"\xc1"}, {"span_groups": 7}, {"flags": 7}, {"cats": 7}],
)
def test_the_docs_before_a_damaged_one_are_read(changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "broken.spacy"
    path.write_bytes(broken_doc(**changes)[0])
    items = list(read([path]))
    assert [isinstance(item, BadRecord) for item in items][:2] == [False, True]
    assert "doc_key 'broken:2': the Doc is damaged" in problem_of(items[1])


@pytest.mark.parametrize(
    "stored",
    [7, {"sc": {}}, {"sc": {"record": 7}}, {"sc": {"record": "{"}}, {"sc": {"record": "{}"}}],
)
def test_damaged_user_data_of_ours(stored: Any, tmp_path: Path) -> None:
    doc = parsed()
    doc.user_data["sciextract"] = stored
    path = foreign(tmp_path / "made.spacy", doc, parsed(), store_user_data=True)
    first, second = read([path])
    assert "doc_key 'made:1'" in problem_of(first)
    assert isinstance(second, AnnotatedDocument)


def test_unknown_words_are_a_damaged_doc(tmp_path: Path) -> None:
    path = tmp_path / "broken.spacy"
    path.write_bytes(packed(message(parsed()) | {"strings": []}))
    (item,) = read([path])
    assert "the Doc is damaged" in problem_of(item)


def test_texts_that_spacy_cannot_hold_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    assert written(path, made(text="\ud800 a"), sample()) == {"document with a lone surrogate": 1}
    assert documents_of(path) == [sample()]


def test_destinations_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError):
        read([tmp_path / "absent.spacy"])
    for wrong in (tmp_path, tmp_path / "absent" / "made.spacy"):
        with pytest.raises(OutputError, match="is not a file"):
            open_writer("docbin", wrong)
    writer = open_writer("docbin", tmp_path / "made.spacy")
    writer.close()
    writer.close()
    with pytest.raises(OutputError, match="closed"):
        writer.write(sample())
