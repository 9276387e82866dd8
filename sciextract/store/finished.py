"""Finished abstracts as the log has them: what was suggested before a person touched them, and the work on them."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations, Layer, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.store import documents, events, label_changes
from sciextract.store.document_state import WITH_UNDECIDED, DocumentState, annotated
from sciextract.store.documents import Stored
from sciextract.store.project_settings import read_annotations
from sciextract.store.rows import IN_VIEW, Completeness, ProgressRow, from_values, rename_covered
from sciextract.store.sqlite import first_value
from sciextract.store.sqlite_errors import decoded

if TYPE_CHECKING:
    from sciextract.store.project import Project

ADAPTER = "+adapter/"
"""In names of sources: ``model:NAME@HASH+adapter/N``."""

SUGGEST_TYPES = "suggest types"
"""Which of the types that a type is split into its mentions may have."""

FROM_OUTSIDE = frozenset(
    {"import", "predict", "merge project", SUGGEST_TYPES, events.SUGGEST_ALIKE}
    | {*events.NO_ACTIONS, *label_changes.KINDS}
)
"""Kinds of events that are not the work of a person on an abstract."""

_KEYS = {"add entity": 4, "add relation": 3, "join": 2, "new cluster": 2, "merge": 2}
"""Keys of actions that take more than one: hints and a label, or the key and the cluster."""

_CHANGES = f"""SELECT e.id, e.kind, e.at, e.seconds, json_extract(e.params, '$.{events.PRESSED}'), s.kind = 'person', {events.UNDONE}, c.body
    FROM change c JOIN event e ON e.id = c.event_id JOIN source s ON s.id = e.author_id
    WHERE c.document_id = ? ORDER BY c.seq"""
_SETS = """SELECT a.body, s.kind, s.name FROM annotation_set a JOIN source s ON s.id = a.source_id
    WHERE a.document_id = ? AND a.event_id < ? ORDER BY a.id DESC"""
_ANY_DONE = " OR ".join(f"{layer.value} = 'done'" for layer in Layer)


@dataclass(frozen=True, slots=True)
class Finished:
    """An abstract with a layer that a person finished.

    Attributes:
        number: Its number.
        doc_key: Its key.
        at: UTC time at which it was marked as done last.
        event_id: The event of that.
        layers: The layers that are done.
        gold: What holds now.
        shown: What stood there, undecided, before a person touched it.
        adapter: What an adapter had suggested by then; ``None`` for nothing.
        other: What models and imported suggestions had proposed without an adapter; ``None`` for nothing.
        model: Name of the model that had proposed ``other``; empty for none.
        keys: Keys pressed to decide; where the desk did not count them, the least that the action takes.
        travel: Keys pressed to move, ``None`` where they were never counted.
        seconds: Recorded time, ``None`` without any.
    """

    number: int
    doc_key: str
    at: str
    event_id: int
    layers: frozenset[Layer]
    gold: AnnotatedDocument
    shown: AnnotatedDocument
    adapter: AnnotatedDocument | None
    other: AnnotatedDocument | None
    model: str
    keys: int
    travel: int | None
    seconds: float | None


def finished_abstracts(project: Project) -> list[Finished]:
    """Abstracts that a person has finished in some layer, in the order in which they were finished.

    Those that came finished with a file are left out: nobody corrected suggestions there.
    """
    numbers = project.connection.execute(
        f"SELECT document_id FROM progress WHERE {_ANY_DONE} ORDER BY document_id"
    ).fetchall()
    found = [_read_finished(project, number) for (number,) in numbers]
    return sorted((doc for doc in found if doc), key=lambda doc: doc.event_id)


def count_keys(connection: sqlite3.Connection, number: int) -> int:
    """Keys that people pressed at the desk in an abstract, to decide and to move."""
    query = f"""SELECT coalesce(sum(json_extract(params, '$.{events.PRESSED}[0]')
        + json_extract(params, '$.{events.PRESSED}[1]')), 0) FROM event
        WHERE id IN (SELECT event_id FROM change WHERE document_id = ?)"""
    return int(first_value(connection, query, number))


def document_before(
    project: Project, number: int, event_id: int
) -> tuple[AnnotatedDocument, frozenset[str]]:
    """The current view of an abstract as it was before an event, and what somebody had looked for by then.

    Raises:
        ProjectDamagedError: The log does not fit together.
    """
    query = "SELECT body FROM change WHERE document_id = ? AND event_id < ? ORDER BY seq"
    connection, schema = project.connection, project.schema
    with decoded(connection, f"the changes of abstract {number}"):
        bodies = connection.execute(query, (number, event_id))
        changes = [change for (body,) in bodies for change in events.decode(body)]
        doc = _replay(documents.load(connection, number), changes)
    looked_for = (doc.progress or ProgressRow()).looked_for
    return _view(project, doc), frozenset(rename_covered(looked_for, *schema.names))


def _replay(stored: Stored, changes: list[events.Change]) -> DocumentState:
    """What the changes from the beginning made of an abstract."""
    rows = (from_values(key[0], row) for key, row in events.replay(changes).items())
    return DocumentState(stored, rows)


def _view(
    project: Project, doc: DocumentState, states: frozenset[State] = IN_VIEW
) -> AnnotatedDocument:
    found = annotated(doc, project.sources, states)
    schema = project.schema  # types may have had other names by then
    annotations = found.annotations.renamed(*schema.names)
    return replace(found, annotations=annotations)


def _read_finished(project: Project, number: int) -> Finished | None:
    connection = project.connection
    stored = documents.load(connection, number)
    changes: list[events.Change] = []
    before: AnnotatedDocument | None = None
    done, touched, keys = (0, ""), 0, 0
    travel: int | None = None
    seconds: float | None = None
    timed: set[int] = set()
    for event_id, kind, at, spent, pressed, by_person, undone, body in connection.execute(
        _CHANGES, (number,)
    ):
        with decoded(connection, f"a change of event {event_id}"):
            made = events.decode(body)
        if by_person and kind not in FROM_OUTSIDE:
            # Up to here nobody has touched it: what the log made of it is what the person was shown.
            if before is None and not undone:
                touched = event_id
                before = _view(project, _replay(stored, changes), WITH_UNDECIDED)
            # One event may have several changes of a document, but its time was noted once.
            if event_id not in timed:
                timed.add(event_id)
                if pressed is None:
                    keys += _KEYS.get(kind, 1)
                else:
                    deciding, moving = json.loads(pressed)
                    keys, travel = keys + deciding, (travel or 0) + moving
                seconds = seconds if spent is None else (seconds or 0.0) + spent
            finishes = any(
                Completeness.DONE in (change.after or {}).values()
                for change in made
                if change.table == ProgressRow.TABLE
            )
            if finishes and not undone:
                done = event_id, at
        changes += made
    doc = project.document_state(number)
    if before is None or not done[0] or doc.progress is None:
        return None
    layers = frozenset(doc.progress.done)
    adapter, other, name = _read_suggestions(project, number, touched)
    gold, document = annotated(doc, project.sources), stored.document
    event_id, at = done
    return Finished(
        *(number, document.doc_key, at, event_id, layers, gold, before),
        adapter=None if adapter is None else AnnotatedDocument(document, adapter),
        other=None if other is None else AnnotatedDocument(document, other),
        model=name,
        keys=keys,
        travel=travel,
        seconds=seconds,
    )


def _read_suggestions(
    project: Project, number: int, touched: int
) -> tuple[Annotations | None, Annotations | None, str]:
    """The latest suggestions of an adapter, and of a model or else an import, from before an event; the model's name."""
    adapter = model = imported = None
    by = ""
    connection = project.connection
    for body, kind, name in connection.execute(_SETS, (number, touched)).fetchall():
        if kind == "model" and ADAPTER in name:
            adapter = adapter or read_annotations(connection, body)
        elif kind == "model" and model is None:
            model = read_annotations(connection, body)
            by = name.removeprefix("model:").partition("/")[0]
        elif kind != "model" and imported is None:
            waiting = read_annotations(connection, body).in_states({State.UNDECIDED})
            imported = waiting if waiting.entities else None
    return adapter, model or imported, by
