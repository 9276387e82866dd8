"""What a project carries beside its documents, brought into another one: saved queues."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sciextract.store.file.failures import translated
from sciextract.store.looking.queues import carried, present, queue_lengths, read_queue

if TYPE_CHECKING:
    import sqlite3

    from sciextract.store.project import Project

_CHUNK = 500
_TEXTS = "SELECT d.id, d.sha256 FROM json_each(?) j JOIN document d ON d.id = j.value"
_NUMBERS = "SELECT d.sha256, d.id FROM json_each(?) j JOIN document d ON d.sha256 = j.value"


def bring_queues(project: Project, other: Project, origin: str) -> list[str]:
    """Bring the saved queues of another project, by the hashes of their texts; what is not here is left out.

    A queue that is here already is not doubled; one whose name another queue has gets ``origin`` behind it.

    Args:
        project: Open for writing; has the other's documents already.
        other: The other project.
        origin: What it is called.

    Returns:
        The names under which queues were added.

    Raises:
        ProjectError: One of the files cannot be used.
    """
    kept = []
    for name in queue_lengths(other):
        queue = read_queue(other, name)
        if queue is not None:
            numbers = _here(project, other, queue.numbers)
            kept.append(carried(project, replace(queue, numbers=numbers), origin))
    return [name for name in kept if name]


def _here(project: Project, other: Project, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers that documents of the other project have in this one, in the same order."""
    with translated(other.path):
        texts: dict[int, str] = dict(_mapped(other.connection, _TEXTS, numbers))
    with translated(project.path):
        own: dict[str, int] = dict(_mapped(project.connection, _NUMBERS, tuple(texts.values())))
        found = (own[texts[each]] for each in numbers if texts.get(each) in own)
        return present(project.connection, tuple(dict.fromkeys(found)))


def _mapped(
    connection: sqlite3.Connection, query: str, keys: tuple[object, ...]
) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(keys), _CHUNK):
        yield from connection.execute(query, (json.dumps(keys[start : start + _CHUNK]),)).fetchall()
