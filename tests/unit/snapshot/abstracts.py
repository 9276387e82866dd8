"""Abstracts for the tests of snapshots: of a wanted split, gold or not, in projects and in files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import count, islice
from pathlib import Path

from sciextract.documents.annotations import Annotations, Cluster, Entity, Layer, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.exchange import encode
from sciextract.snapshot.documents import Split, TrainingDocument, split_of
from sciextract.snapshot.files import Snapshot
from sciextract.store import Project
from tests.unit.store.projects import (
    cluster,
    document,
    entity,
    place,
    put,
    relation,
    said,
)

LAYERS = tuple(Layer)


def sha256(text: str) -> str:
    """The hash that decides about a text's split."""
    return hashlib.sha256(text.encode()).hexdigest()


def texts(split: Split, number: int = 1, topic: str = "otters") -> list[str]:
    """Abstracts of a split, each with a net, a graph and another net."""
    numbered = (
        f"A net of {topic} number {index} learns a graph. The net swims." for index in count()
    )
    return list(islice((text for text in numbered if split_of(sha256(text)) is split), number))


def gold(text: str, state: State = State.IMPORTED) -> Annotations:
    """Two methods that mean the same thing, and a task that the first one uses."""
    return said(
        entity("E0", place("net", 0, text), "Method", state=state),
        entity("E1", place("graph", 0, text), "Task", state=state),
        entity("E2", place("net", 1, text), "Method", state=state),
        relation("R0", "E0", "E1", "Uses", state=state),
        cluster("C0", "E0", "E2", state=state),
    )


def put_gold(project: Project, text: str, done: Sequence[Layer] = LAYERS) -> int:
    """Import a gold abstract, and mark layers of it as done; returns its number."""
    said_of_it = gold(text)
    items: list[Entity | Relation | Cluster] = [*said_of_it.entities]
    items += [*said_of_it.relations, *said_of_it.clusters]
    put(project, *items, text=text)
    number = project.numbers()[-1]
    if done:
        project.actions.mark_done(number, done)
    return number


def gold_file(path: Path, *given: str, state: State = State.IMPORTED) -> Path:
    """A file of gold abstracts in the exchange format."""
    lines = [encode(AnnotatedDocument(document(text), gold(text, state))) for text in given]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def texts_of(documents: Sequence[TrainingDocument]) -> list[str]:
    """The texts of some training documents."""
    return [document.annotated.document.text for document in documents]


def placed(snapshot: Snapshot) -> dict[str, Split]:
    """By text its split."""
    splits = {Split.TRAIN: snapshot.train, Split.DEV: snapshot.dev, Split.GATE: snapshot.gate}
    return {text: split for split, found in splits.items() for text in texts_of(found)}
