"""What a model predicted for documents, and saved queues of them."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations
from sciextract.errors import ActionRefusedError
from sciextract.store.events import UNDONE
from sciextract.store.project_settings import read_annotations
from sciextract.store.sqlite import first_value

if TYPE_CHECKING:
    from sciextract.store.project import Project


_PREDICTED = f"""FROM annotation_set a JOIN run r ON r.source_id = a.source_id
    JOIN event e ON e.id = a.event_id WHERE a.document_id = ? AND NOT {UNDONE}"""
_LATEST = "ORDER BY a.id DESC LIMIT 1"


def latest_predictions(
    connection: sqlite3.Connection, number: int, model: tuple[str, str] | None = None
) -> Annotations | None:
    """What a model predicted last for a document, candidates included; runs that were undone do not count.

    Args:
        connection: To the project.
        number: The document.
        model: The model's name and the hex SHA-256 of its manifest; any model without.
    """
    of_model = "AND r.model_name = ? AND r.model_hash = ?" if model else ""
    query = f"SELECT a.body {_PREDICTED} {of_model} {_LATEST}"
    body = first_value(connection, query, number, *(model or ()))
    return body and read_annotations(connection, body)


def newest_prediction(connection: sqlite3.Connection, number: int) -> tuple[int, int] | None:
    """Annotation set and source of the newest model run on a document that is not undone."""
    query = f"SELECT a.id, a.source_id {_PREDICTED} {_LATEST}"
    found: tuple[int, int] | None = connection.execute(query, (number,)).fetchone()
    return found


_PREFIX = "queue:"
_LONGEST_NAME = 60
_LIST = """SELECT substr(key, ?), iif(json_valid(value), json_array_length(value, '$.numbers'), 0)
    FROM meta WHERE substr(key, 1, ?) = ? ORDER BY key"""

_NEXT_VERSION = """WITH RECURSIVE version(id) AS (
        SELECT ? UNION SELECT d.id FROM version v JOIN document g ON g.id = v.id
        JOIN document d ON d.doc_key = g.doc_key AND d.id != g.id JOIN change c ON c.document_id = d.id
        WHERE c.event_id = (SELECT event_id FROM change WHERE document_id = g.id ORDER BY seq DESC LIMIT 1))
    SELECT v.id FROM version v JOIN progress p ON p.document_id = v.id LIMIT 1"""
"""The document in the project that took the place of one by the event with which that went, or of its successor."""


@dataclass(frozen=True, slots=True)
class SavedQueue:
    """A list of documents that stays as it was saved.

    Attributes:
        name: What the person calls it.
        numbers: The documents in order. Numbers are never used again, so that one of them means the same
            document for ever, or none when it went out of the project.
        words: What was searched for to find them, as it was typed.
        sort: The order of the list that it was made from.
        seed: Of a random order.
    """

    name: str
    numbers: tuple[int, ...]
    words: str = ""
    sort: str = ""
    seed: int = 0


def save_queue(project: Project, queue: SavedQueue) -> SavedQueue:
    """Keep a queue; its name is what is printable of it, in one line.

    Returns:
        The queue as it was kept.

    Raises:
        ActionRefusedError: It has no name or nothing in it, or there is one of that name.
        ProjectError: The project cannot be written.
    """
    queue = replace(queue, name=plain_name(queue.name))
    if not queue.name:
        raise ActionRefusedError("a queue needs a name")
    if not queue.numbers:
        raise ActionRefusedError("a queue needs at least one abstract, and the list is empty")
    body = json.dumps(asdict(queue))
    with project.writing() as connection:
        cursor = connection.execute(
            "INSERT OR IGNORE INTO meta VALUES (?, ?)", (_PREFIX + queue.name, body)
        )
        if not cursor.rowcount:
            raise ActionRefusedError(
                f"there is a queue {queue.name!r} already", "choose another name"
            )
    return queue


def remove_queue(project: Project, name: str) -> None:
    """Forget a queue; its documents stay as they are.

    Raises:
        ProjectError: The project cannot be written.
    """
    with project.writing() as connection:
        connection.execute("DELETE FROM meta WHERE key = ?", (_PREFIX + name,))


def read_queue(project: Project, name: str) -> SavedQueue | None:
    """The queue of that name; ``None`` when there is none, or it cannot be understood."""
    query = "SELECT value FROM meta WHERE key = ?"
    body = first_value(project.connection, query, _PREFIX + name)
    if body is None:
        return None
    try:
        values = json.loads(body)
        numbers = tuple(int(number) for number in values["numbers"])
        words, sort = str(values["words"]), str(values["sort"])
        return SavedQueue(name, numbers, words, sort, int(values["seed"]))
    except (ValueError, KeyError, TypeError):
        return None


def queue_lengths(project: Project) -> dict[str, int]:
    """Names of all queues with the number of documents that each was saved with, by name."""
    rows = project.connection.execute(_LIST, (len(_PREFIX) + 1, len(_PREFIX), _PREFIX))
    return {str(name): int(count or 0) for name, count in rows}


def present(connection: sqlite3.Connection, numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Those of some documents that are in the project now, in the same order; of earlier texts the present ones."""
    query = "SELECT p.document_id FROM json_each(?) j JOIN progress p ON p.document_id = j.value"
    there = {row[0]: row[0] for row in connection.execute(query, (json.dumps(numbers),))}
    for gone in {*numbers} - there.keys():
        if version := first_value(connection, _NEXT_VERSION, gone):
            there[gone] = version
    return tuple(dict.fromkeys(there[number] for number in numbers if number in there))


def copy_queue(project: Project, queue: SavedQueue, origin: str) -> str:
    """Keep a queue of another file: under its own name, or with its origin behind it where that is another queue.

    Args:
        project: The project, open for writing.
        queue: The queue, with the numbers that its documents have in this project.
        origin: Where it comes from, for the name.

    Returns:
        The name under which it was kept; empty where nothing of it is here, or it is here already.

    Raises:
        ProjectError: The project cannot be written.
    """
    if not queue.numbers or not plain_name(queue.name):
        return ""
    name = plain_name(queue.name)
    for count in itertools.count(1):
        there = read_queue(project, name)
        if there is not None and present(project.connection, there.numbers) == queue.numbers:
            return ""
        # Other processes may save a queue of that name meanwhile, so it is tried, not asked.
        with suppress(ActionRefusedError):  # there is one of that name
            return save_queue(project, replace(queue, name=name)).name
        after = plain_name(origin)[: _LONGEST_NAME // 2] + ("" if count == 1 else f" {count}")
        name = f"{plain_name(queue.name)[: _LONGEST_NAME - len(after) - 3].rstrip()} ({after})"
    return ""


_TEXTS = "SELECT d.id, d.sha256 FROM json_each(?) j JOIN document d ON d.id = j.value"
_NUMBERS = "SELECT d.sha256, d.id FROM json_each(?) j JOIN document d ON d.sha256 = j.value"


def bring_queues(
    project: Project, other: Project, origin: str, joined: Mapping[str, int]
) -> list[str]:
    """Bring the saved queues of another project, by the hashes of their texts; what is not here is left out.

    A queue that is here already is not doubled; one whose name another queue has gets ``origin`` behind it.

    Args:
        project: Open for writing; has the other's documents already.
        other: The other project.
        origin: What it is called.
        joined: By the hashes of texts of which there is another version here, the numbers of those.

    Returns:
        The names under which queues were added.

    Raises:
        ProjectError: One of the files cannot be used.
    """
    kept = []
    # Numbers of documents differ between projects, hashes of texts do not.
    for name in queue_lengths(other):
        queue = read_queue(other, name)
        if queue is None:
            continue
        wanted = (json.dumps(queue.numbers),)
        texts: dict[int, str] = dict(other.connection.execute(_TEXTS, wanted))
        hashes = (json.dumps([*texts.values()]),)
        own = {**joined} | dict(project.connection.execute(_NUMBERS, hashes).fetchall())
        found = (own[texts[number]] for number in queue.numbers if texts.get(number) in own)
        numbers = present(project.connection, tuple(dict.fromkeys(found)))
        kept.append(copy_queue(project, replace(queue, numbers=numbers), origin))
    return [name for name in kept if name]


def plain_name(name: str) -> str:
    """What is printable of a name, in one line of at most 60 characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[:_LONGEST_NAME]
