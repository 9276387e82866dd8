"""Small brat folders for the tests of the reader and the writer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats import open_writer, read
from sciextract.formats.base import ReadItem

TEXT = "Tree kernels rank β-proteins.\nThey are fast."
ANN = "T1\tMethod 0 12\tTree kernels\nT2\tMaterial 18 28\tβ-proteins\n"
EVENTS = """\
T1\tAction 13 17\trank
T2\tMethod 0 12\tTree kernels
T3\tMaterial 18 28\tβ-proteins
E1\tAction:T1 Agent:T2 Theme:T3
A1\tNegation E1
N1\tReference T2 Wiki:Q1\ttree kernel
#1\tAnnotatorNotes E1\tcheck this
R1\tSetting Arg1:E1 Arg2:T3\t
*\tEquiv T2 T3
"""
UNREAD = ("brat event", "brat note")


def pair(folder: Path, ann: str | None = ANN, text: str = TEXT, name: str = "gk") -> Path:
    path = folder / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    if ann is not None:
        path.with_suffix(".ann").write_bytes(ann.encode("utf-8"))
    return path


def only(items: list[ReadItem]) -> AnnotatedDocument:
    (item,) = items
    assert isinstance(item, AnnotatedDocument), item.error
    return item


def document_of(folder: Path, ann: str, text: str = TEXT) -> AnnotatedDocument:
    pair(folder, ann, text)
    return only(list(read([folder], "brat")))


def written(document: AnnotatedDocument, folder: Path, **options: Any) -> Mapping[str, int]:
    writer = open_writer("brat", folder, **options)
    writer.write(document)
    writer.close()
    return dict(writer.losses)


def lines_of(folder: Path, name: str = "gk") -> list[str]:
    return (folder / f"{name}.ann").read_text("utf-8").splitlines()


def mentions(document: AnnotatedDocument) -> list[tuple[str, str]]:
    text = document.document.text
    return [(entity.text_of(text), entity.label) for entity in document.annotations.entities]
