"""DocBins: spaCy reads them, and what was annotated comes back from their Docs."""

from __future__ import annotations

from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc, DocBin

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, OutputError
from sciextract.formats import open_writer, read
from sciextract.interop.spacy_docs import from_doc
from tests.unit.formats.tool_files import entity, made, mentions
from tests.unit.interop.builders import sample

NLP = spacy.blank("en")


def write(path: Path, *documents: AnnotatedDocument) -> dict[str, int]:
    writer = open_writer("docbin", path)
    for document in documents:
        writer.write(document)
    writer.close()
    return dict(writer.losses)


def docs_of(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(NLP.vocab))


def test_everything_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    assert write(path, sample(), sample()) == {}
    assert [from_doc(doc) for doc in docs_of(path)] == [sample(), sample()]
    assert [file.name for file in tmp_path.iterdir()] == ["made.spacy"]


def test_spacy_shows_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    write(path, sample())
    (doc,) = docs_of(path)
    assert doc.text == sample().document.text
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("Our parser for graph parsing", "Method"),
        ("It", "Generic"),
    ]
    assert len(doc.spans["sc"]) == 4 and len(list(doc.sents)) == 3


def test_edges_inside_tokens_cut_them(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    write(path, made(entity("A", (4, 17)), entity("B", (11, 14))))
    (doc,) = docs_of(path)
    assert mentions(from_doc(doc)) == [("Task", "arse 😀 graphs"), ("Task", "gra")]
    assert [token.text for token in doc][:6] == ["We", "p", "arse", "😀", "gra", "phs"]


def test_texts_that_spacy_cannot_hold_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    assert write(path, made(text="\ud800 a"), sample()) == {"document with a lone surrogate": 1}
    assert [from_doc(doc) for doc in docs_of(path)] == [sample()]


def test_one_as_input_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "made.spacy"
    write(path, sample())
    with pytest.raises(FormatError, match="not supported") as caught:
        list(read([path]))
    assert "spacy-json" in caught.value.hint


def test_destinations_that_cannot_be(tmp_path: Path) -> None:
    for wrong in (tmp_path, tmp_path / "absent" / "made.spacy"):
        with pytest.raises(OutputError, match="is not a file"):
            open_writer("docbin", wrong)
    writer = open_writer("docbin", tmp_path / "made.spacy")
    writer.close()
    writer.close()
    with pytest.raises(OutputError, match="closed"):
        writer.write(sample())
