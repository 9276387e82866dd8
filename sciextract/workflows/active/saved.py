"""Saved queues by name: what is in one, and how it goes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sciextract.errors import UsageError
from sciextract.store.file.failures import translated
from sciextract.store.file.sql_text import from_sql
from sciextract.store.looking.queues import (
    SavedQueue,
    plain_name,
    queue_lengths,
    read_queue,
    remove_queue,
)

if TYPE_CHECKING:
    from sciextract.store.project import Project

_ROWS = """SELECT d.id, d.doc_key, d.title, s.undecided,
        p.entities = 'done' AND p.relations = 'done' AND p.coreference = 'done'
    FROM json_each(?) j JOIN document d ON d.id = j.value JOIN progress p ON p.document_id = d.id
    JOIN summary s ON s.document_id = d.id ORDER BY j.key"""


@dataclass(frozen=True, slots=True)
class QueuedAbstract:
    """An abstract of a queue.

    Attributes:
        number: Its number.
        doc_key: Its key.
        title: Its title, or how it begins.
        undecided: How many of its items wait for a decision.
        done: Whether all its layers are done.
    """

    number: int
    doc_key: str
    title: str
    undecided: int
    done: bool


def abstracts_of(project: Project, name: str) -> list[QueuedAbstract]:
    """The abstracts of a queue in their order; those that left the project are left out.

    Raises:
        UsageError: There is no queue of that name; lists the names that there are.
    """
    queue = _known(project, name)
    with translated(project.path):
        rows = project.connection.execute(_ROWS, (json.dumps(queue.numbers),)).fetchall()
    return [
        QueuedAbstract(number, from_sql(key), from_sql(title), undecided, bool(done))
        for number, key, title, undecided, done in rows
    ]


def drop_queue(project: Project, name: str) -> None:
    """Forget a queue.

    Raises:
        UsageError: There is no queue of that name; lists the names that there are.
        ProjectError: The project cannot be written.
    """
    if plain_name(name) not in queue_lengths(project):
        raise _unknown(project, name)
    remove_queue(project, plain_name(name))


def _known(project: Project, name: str) -> SavedQueue:
    found = read_queue(project, plain_name(name))
    if found is None:
        raise _unknown(project, name)
    return found


def _unknown(project: Project, name: str) -> UsageError:
    names = ", ".join(queue_lengths(project))
    hint = f"queues: {names}" if names else "no queue is saved; sciextract queue make makes one"
    return UsageError(f"no queue is called {name!r}", hint)
