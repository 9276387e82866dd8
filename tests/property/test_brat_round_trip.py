"""brat gives back every text, entity, relation and cluster; only mentions of line breaks alone are lost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer, read
from sciextract.formats.brat import join_pieces, pieces_of
from sciextract.formats.brat_writer import _REFUSED
from sciextract.formats.layers import LINE_BREAKS
from sciextract.formats.sink import FileNames
from tests.strategies import PIECES, annotated_documents, fragments, said_of, texts
from tests.tiers import examples

FEW = settings(max_examples=examples(50), deadline=None, suppress_health_check=list(HealthCheck))
HOSTILE = (*PIECES, "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\u2029")
LABELS = ("Task", "Mention", "Mention_2", "Ω-type", "a_b", "a b", "a\tb", "T1", "|")


def content(document: AnnotatedDocument) -> dict[str, Any]:
    """What must come back: everything that is not rejected, whatever the ids and the order."""
    kept = [e for e in document.annotations.entities if e.state is not State.REJECTED]
    items = {e.id: (e.fragments, e.label) for e in kept}
    relations = [
        (items[r.head], items[r.tail], r.label)
        for r in document.annotations.relations
        if r.state is not State.REJECTED and {r.head, r.tail} <= items.keys()
    ]
    clusters = [
        tuple(sorted(items[m] for m in c.mentions if m in items))
        for c in document.annotations.clusters
        if c.state is not State.REJECTED
    ]
    return {
        "doc_key": document.document.doc_key,
        "text": document.document.text,
        "entities": sorted(items.values()),
        "relations": set(relations),
        "clusters": {cluster for cluster in clusters if cluster},
    }


def without_breaks_only(document: AnnotatedDocument) -> tuple[dict[str, Any], dict[str, int]]:
    """The content that brat can hold, and what it cannot."""
    everything = content(document)
    text = everything["text"]

    def fits(item: Any) -> bool:
        return any(span.of(text).strip(LINE_BREAKS) for span in item[0])

    entities, relations = everything["entities"], everything["relations"]
    lost = [item for item in entities if not fits(item)]
    everything["entities"] = [item for item in entities if fits(item)]
    everything["relations"] = {r for r in relations if fits(r[0]) and fits(r[1])}
    clusters = (tuple(filter(fits, cluster)) for cluster in everything["clusters"])
    everything["clusters"] = {cluster for cluster in clusters if cluster}
    return everything, {"entity of line breaks only": len(lost)} if lost else {}


def written(documents: list[AnnotatedDocument], folder: Path) -> tuple[list[Any], dict[str, int]]:
    writer = open_writer("brat", folder)
    for document in documents:
        writer.write(document)
    writer.close()
    return list(read([folder])), dict(writer.losses)


@FEW
@given(document=annotated_documents(pieces=HOSTILE, labels=LABELS, attributes=True))
def test_everything_comes_back(document: AnnotatedDocument, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("brat") / "out"
    (back,), losses = written([document], folder)
    assert isinstance(back, AnnotatedDocument), back.error
    expected, lost = without_breaks_only(document)
    assert content(back) == expected
    said, found = said_of(document.annotations), said_of(back.annotations)
    lost_of_said = sum(losses[kind] for kind in losses if "attribute" in kind)
    assert found <= said and len(said) - len(found) <= lost_of_said
    assert {kind: losses[kind] for kind in lost} == lost
    assert {kind for kind in losses if not kind.startswith("second ")} <= {
        *lost,
        *(["relation of an entity that does not fit"] if lost else []),
        *(["mention of an entity that does not fit"] if lost else []),
        *(["attribute of an item without a place"] if lost else []),
    }
    assert back.document.tokens.problems(len(back.document.text)) == []


@FEW
@given(document=annotated_documents(pieces=HOSTILE, labels=LABELS, attributes=True))
def test_a_second_writing_is_the_same(document: AnnotatedDocument, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("brat")
    first, _ = written([document], folder / "one")
    second, losses = written(first, folder / "two")
    assert content(second[0]) == content(first[0])
    assert said_of(second[0].annotations) == said_of(first[0].annotations)
    assert losses == {}
    assert _files(folder / "one") == _files(folder / "two")


def _files(folder: Path) -> dict[str, bytes]:
    configuration = {"annotation.conf", "visual.conf"}
    return {f.name: f.read_bytes() for f in folder.iterdir() if f.name not in configuration}


@FEW
@given(document=annotated_documents(pieces=HOSTILE, labels=LABELS, attributes=True))
def test_lines_are_as_brat_wants_them(document: AnnotatedDocument, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("brat") / "out"
    written([document], folder)
    (ann,) = folder.glob("*.ann")
    text = ann.with_suffix(".txt").read_bytes().decode("utf-8")
    lines = ann.read_bytes().decode("utf-8").splitlines()
    for line in (line for line in lines if line.startswith("T")):
        match = re.fullmatch(r"T\d+\t[A-Za-z0-9_-]+ ([0-9 ;]+)\t(.+)", line)
        assert match, line
        pairs = [[*map(int, pair.split())] for pair in match[1].split(";")]
        assert match[2] == " ".join(text[start:end] for start, end in pairs)
        edges = [edge for pair in pairs for edge in pair]
        assert edges == sorted(edges)


@FEW
@given(st.data())
def test_fragments_are_cut_and_joined(data: st.DataObject) -> None:
    text = data.draw(texts(HOSTILE))
    pieces = pieces_of(text, data.draw(fragments(text)))
    assert not any(set(piece.of(text)) & set(LINE_BREAKS) for piece in pieces)
    if pieces:
        assert pieces_of(text, join_pieces(text, pieces)) == pieces


@FEW
@given(st.lists(st.text(max_size=12) | st.sampled_from(["..", "../../x", "/x", "a/..", "A", "a"])))
def test_paths_stay_below_the_folder_and_differ(keys: list[str]) -> None:
    paths = FileNames(_REFUSED, (".txt", ".ann"))
    names = [paths.name_of(key) for key in keys]
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        parts = name.split("/")
        assert all(part and not part.startswith(".") for part in parts)
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", name)
