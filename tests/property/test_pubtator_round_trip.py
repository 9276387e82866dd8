"""PubTator gives back all but discontinuous entities and further line breaks."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer
from sciextract.formats.base import Source
from sciextract.formats.pubtator import read_pubtator
from sciextract.text.analyse import make_document
from tests.strategies import PIECES, annotated_documents
from tests.tiers import examples

FEW = settings(max_examples=examples(50), deadline=None, suppress_health_check=list(HealthCheck))
HOSTILE = (*PIECES, "\x0b", "\ud800 ", "d|t|x", "M1")
LABELS = ("Task", "Mention", "12", "a b", "a\tb", "\n", "\ud800", "sciextract:label:")


def written(document: AnnotatedDocument) -> tuple[str, dict[str, int]]:
    stream = io.StringIO()
    writer = open_writer("pubtator", stream)
    writer.write(document)
    writer.close()
    return stream.getvalue(), dict(writer.losses)


def read_back(content: str, folder: Path) -> AnnotatedDocument:
    path = folder / "made.pubtator"
    path.write_bytes(content.encode("utf-8"))
    (item,) = read_pubtator(Source(str(path)))
    assert isinstance(item, AnnotatedDocument), item.error
    return item


def content_of(document: AnnotatedDocument) -> dict[str, Any]:
    """Everything that is not rejected and of one fragment, whatever the ids and the order."""
    kept = [e for e in document.annotations.entities if e.state is not State.REJECTED]
    items = {e.id: (e.fragments, e.label) for e in kept if len(e.fragments) == 1}
    relations = {
        (items[r.head], items[r.tail], r.label)
        for r in document.annotations.relations
        if r.state is not State.REJECTED and {r.head, r.tail} <= items.keys()
    }
    clusters = {
        tuple(sorted(items[m] for m in c.mentions if m in items))
        for c in document.annotations.clusters
        if c.state is not State.REJECTED
    }
    return {
        "entities": sorted(items.values()),
        "relations": relations,
        "clusters": clusters - {()},
    }


@FEW
@given(document=annotated_documents(pieces=HOSTILE, labels=LABELS))
def test_everything_that_is_not_counted_comes_back(
    document: AnnotatedDocument, tmp_path_factory: Any
) -> None:
    content, losses = written(document)
    back = read_back(content, tmp_path_factory.mktemp("pubtator"))
    before, after = document.document.text, back.document.text
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    breaks = sum(pair in (("\r", " "), ("\n", " ")) for pair in changed)
    surrogates = sum(pair[1] == "\ufffd" for pair in changed)
    assert len(changed) == breaks + surrogates
    assert losses.get("line break in the text", 0) == breaks
    assert losses.get("text with lone surrogates", 0) == bool(surrogates)
    assert content_of(back) == content_of(document)
    assert back.document.tokens.problems(len(after)) == []


@FEW
@example(document=AnnotatedDocument(make_document("d", "\r\ngraph")))  # a title of blanks only
@given(document=annotated_documents(pieces=HOSTILE, labels=LABELS))
def test_a_second_writing_is_the_same(document: AnnotatedDocument, tmp_path_factory: Any) -> None:
    content, _ = written(document)
    again, losses = written(read_back(content, tmp_path_factory.mktemp("pubtator")))
    assert again == content
    assert losses == {}
