"""Projects of invented abstracts with decisions, for correction rounds of the tiny model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

from sciextract.documents.annotations import Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.formats.exchange import encode
from sciextract.snapshot.documents import Split, split_of
from sciextract.store import create_project
from sciextract.workflows.import_files import import_files
from tests.trainer.corpus import gold

LAYERS = tuple(Layer)


def corrected(split: Split, number: int, topic: str = "otter") -> list[AnnotatedDocument]:
    """Imported gold abstracts of a split."""
    every = (_abstract(topic, index) for index in count())
    wanted = (text for text in every if split_of(_sha256(text)) is split)
    return list(islice(wanted, number))


def _abstract(topic: str, index: int) -> AnnotatedDocument:
    tail = "abcdefghij"[index % 10] * (1 + index // 10)
    document = gold(
        f"{topic}-{index}",
        f"We train a [river model|Method|a] for [{topic} counting|Task|b] {tail}. "
        "[It|Generic|c] beats the [pebble baseline|Method|d].",
        [("a", "USED-FOR", "b"), ("c", "COMPARE", "d")],
        [("a", "c")],
    )
    return with_state(document, State.IMPORTED)


def with_state(document: AnnotatedDocument, state: State) -> AnnotatedDocument:
    """The document with all items in a state."""
    items = document.annotations
    annotations = replace(
        items,
        entities=tuple(replace(entity, state=state) for entity in items.entities),
        relations=tuple(replace(relation, state=state) for relation in items.relations),
        clusters=tuple(replace(cluster, state=state) for cluster in items.clusters),
    )
    return replace(document, annotations=annotations)


def _sha256(document: AnnotatedDocument) -> str:
    return hashlib.sha256(document.document.text.encode()).hexdigest()


def write_gold(path: Path, documents: Iterable[AnnotatedDocument]) -> Path:
    """A file of gold in the exchange format."""
    path.write_text("".join(f"{encode(document)}\n" for document in documents), encoding="utf-8")
    return path


def new_project(
    path: Path,
    schema: LabelSchema,
    documents: Sequence[AnnotatedDocument],
    undecided: Sequence[str] = (),
    done: Sequence[Layer] = LAYERS,
) -> Path:
    """A project of gold abstracts with done layers, and of abstracts that nobody has looked at."""
    source = write_gold(path.with_suffix(".jsonl"), documents)
    plain = path.with_suffix(".txt")
    plain.write_text("\n".join(undecided), encoding="utf-8")
    with create_project(path, schema) as project:
        import_files(project, [str(source)], None)
        for number in project.numbers() if done else ():
            project.actions.mark_done(number, done)
        if undecided:
            import_files(project, [str(plain)], None)
    return path
