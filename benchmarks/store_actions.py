"""One decision of a person, stored durably: how long it takes, beside what the disk takes for its own part."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.store_corpus import annotated, generated_record
from sciextract.documents.annotations import State
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ActionRefusedError
from sciextract.store import DocumentState, EntityRef, Project, create_project
from sciextract.store.ingest import Import
from sciextract.store.sqlite import connect

ENTITIES = 60
_ITEMS = 107  # of which 56 % are entities, 28 % relations
_PAGE = bytes(4096)
Seconds = dict[str, list[float]]


def small_project(path: Path, documents: int) -> Project:
    """A project whose abstracts have sixty entities each."""
    schema = load_schema("scierc")
    project = create_project(path, schema, "bench")
    made = [annotated(generated_record(number), _ITEMS, schema) for number in range(documents)]
    run = Import(project, "import:bench.jsonl", {"path": "bench.jsonl"})
    run.add(
        [(document, ()) for document in made if len(document.annotations.entities) >= ENTITIES - 1]
    )
    return project


def measure(project: Project, folder: Path, rounds: int) -> Seconds:
    """Seconds of each action, of a bare commit of one row, and of the disk's own fsync, in turns."""
    seconds: Seconds = {}
    chance = random.Random(5)
    file, bare = _Disk(folder / "fsync.bin"), _Bare(folder / "bare.db")
    with closing(file), closing(bare):
        for number in chance.choices(project.numbers(), k=rounds):
            for name, action in _actions(project, number, chance):
                for what, work in (("fsync", file.write), ("bare commit", bare.commit)):
                    seconds.setdefault(what, []).append(_time(work))
                try:
                    seconds.setdefault(name, []).append(_time(action))
                except ActionRefusedError:
                    continue
    return seconds


def disk(folder: Path, count: int) -> list[float]:
    """Seconds of the disk's own fsync."""
    with closing(_Disk(folder / "fsync.bin")) as file:
        return [_time(file.write) for _ in range(count)]


def percentile(seconds: list[float], share: float) -> float:
    """So many of a hundred are not longer, in milliseconds."""
    ranked = sorted(seconds)
    return 1000 * ranked[min(len(ranked) - 1, int(len(ranked) * share / 100))]


def _actions(
    project: Project, number: int, chance: random.Random
) -> Iterator[tuple[str, Callable[[], object]]]:
    """What a person does in one abstract; each looks at the state that the one before has left."""
    actions = project.actions
    doc = project.document_state(number)
    open_ = [entity for entity in doc.entities if entity.state is State.UNDECIDED]
    with_relation = [entity for entity in doc.entities if doc.relations_of(entity.id)]
    if len(open_) > 2 and with_relation:
        first, second = chance.sample(open_, 2)
        yield "accept", lambda: actions.accept(number, EntityRef(first.id))
        label = chance.choice([x for x in project.schema.entity_labels if x != second.label])
        yield "label", lambda: actions.set_label(number, EntityRef(second.id), label)
        relation = _free_relation(project, doc, chance)
        if relation:
            yield "add relation", lambda: actions.add_relation(number, *relation)
        victim = chance.choice(with_relation).id
        yield "reject with cascade", lambda: actions.reject(number, EntityRef(victim))
        yield "undo", project.undo


def _free_relation(
    project: Project, doc: DocumentState, chance: random.Random
) -> tuple[str, str, str] | None:
    taken = {(relation.head, relation.tail) for relation in doc.relations}
    entities = [entity for entity in doc.entities if entity.state is not State.REJECTED]
    for _ in range(50):
        head, tail = chance.sample(entities, 2)
        legal = project.schema.legal_relations(head.label, tail.label)
        if legal and (head.id, tail.id) not in taken and (tail.id, head.id) not in taken:
            return head.id, tail.id, legal[0]
    return None


def _time(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class _Disk:
    """Four kilobytes and an fsync, on the same file system."""

    def __init__(self, path: Path) -> None:
        self._stream = open(path, "wb", buffering=0)  # noqa: SIM115 - closed by the caller

    def write(self) -> None:
        self._stream.write(_PAGE)
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        self._stream.close()


class _Bare:
    """One row and a commit, with the same settings of SQLite."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._connection = connect(path, "write")
        self._connection.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, value TEXT)")

    def commit(self) -> None:
        self._connection.execute("INSERT INTO bare(value) VALUES ('accepted')")

    def close(self) -> None:
        self._connection.close()
