"""Undo and redo: the changes of an event applied backwards, as an event of its own."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Layer
from sciextract.errors import UndoRefusedError, as_command
from sciextract.store import events, state_tables
from sciextract.store.context import Outcome
from sciextract.store.document_state import DocumentState
from sciextract.store.events import Change, decode, fits
from sciextract.store.row_rules import Problem, problems
from sciextract.store.rows import (
    ClusterRow,
    Completeness,
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
)
from sciextract.store.state_tables import apply, current_values

if TYPE_CHECKING:
    from sciextract.store.project import Project


_HOLDS = f"""(e.target IS NULL AND NOT {events.UNDONE}
    OR e.target < :since
       AND (SELECT count(*) FROM event t WHERE t.target = e.target AND t.id > :since) % 2 = 1)"""
"""In SQL: event ``e`` is an action that is not undone, or has reversed one from before ``:since``."""

_BEGUN = {str(Completeness.UNTOUCHED), str(Completeness.IN_PROGRESS)}


def undo(project: Project, event_id: int | None = None) -> tuple[events.Event, Outcome]:
    """Take back the author's latest action, or a certain event.

    Returns:
        The event that was taken back, and what that changed.

    Raises:
        UndoRefusedError: There is none, or others have built on it; says who and how.
    """
    wanted = event_id
    if wanted is None:
        wanted = events.to_undo(project.connection, project.author_id)
    if wanted is None:
        raise UndoRefusedError(f"{project.author} has nothing to undo in this project")
    event = _event(project.connection, wanted)
    if event.undone:
        raise UndoRefusedError(
            f"event {wanted} ({event.kind}) is undone already", "redo brings it back"
        )
    return event, _reverse(project, event, events.UNDO)


def redo(project: Project) -> tuple[events.Event, Outcome]:
    """Do again what the author undid last.

    Returns:
        The event that was done again, and what that changed.

    Raises:
        UndoRefusedError: There is none, or others have changed the same since.
    """
    wanted = events.to_redo(project.connection, project.author_id)
    if wanted is None:
        raise UndoRefusedError(
            f"{project.author} has nothing to redo", "a new action clears what can be redone"
        )
    event = _event(project.connection, wanted)
    return event, _reverse(project, event, events.REDO)


def _event(connection: sqlite3.Connection, event_id: int) -> events.Event:
    event = events.read_event(connection, event_id)
    if event is None:
        raise UndoRefusedError(
            f"there is no action {event_id} in the log", "sciextract log lists them"
        )
    if event.kind in events.NO_ACTIONS:
        hint = f"it speaks of event {event.target}" if event.target else ""
        raise UndoRefusedError(f"event {event_id} ({event.kind}) cannot be undone", hint)
    return event


def _reverse(project: Project, event: events.Event, kind: str) -> Outcome:
    """Apply the changes of an event (undo) or of its last undo (redo) backwards, as an event of its own."""
    try:
        with project.writing() as connection:
            own = events.append(
                connection, project.author_id, kind, {"of": event.kind}, target=event.id
            )
            documents_touched, items = _apply_all(project, event, own, kind)
    except sqlite3.IntegrityError:
        raise UndoRefusedError(
            f"{kind} of event {event.id} ({event.kind}) is refused: later items depend on it",
            "undo those first; sciextract log lists them",
        ) from None
    return Outcome(own, documents_touched, items)


def _apply_all(project: Project, event: events.Event, own: int, kind: str) -> tuple[int, int]:
    """How many documents and rows were changed, inside the caller's transaction."""
    connection, symmetric = project.connection, project.schema.symmetric_labels
    reversing = event.id if kind == events.UNDO else events.last_undo(connection, event.id)
    first: dict[int, DocumentState] = {}
    items, latest = 0, None
    for number, changes in events.changes_of_event(connection, reversing, backwards=True):
        doc = project.document_state(number)
        first.setdefault(number, doc)
        reverse = [each.reverse for each in reversed(changes)]
        if event.is_suggestions:
            reverse = _still_suggested(connection, doc, reverse)
        if len(reverse) > 1:  # else the event is about the layer itself
            reverse = [kept for each in reverse if (kept := _lenient(event, doc, each))]
        _check(connection, event, doc, reverse)
        apply(connection, number, doc.text, reverse)
        events.append_changes(connection, own, number, reverse)
        items += len(reverse)
        doc.turn(reverse)
        latest = doc
    for number, earlier in first.items():
        doc = (
            latest if latest and latest.stored.number == number else project.document_state(number)
        )
        if broken := problems(doc, symmetric):  # nearly never: then what was broken before counts
            broken -= problems(DocumentState.of(earlier.stored, earlier.before), symmetric)
        _check_rules(connection, event, doc, broken)
        state_tables.refresh(connection, doc)
        project.note_saved(doc)
    return len(first), items


def _still_suggested(
    connection: sqlite3.Connection, doc: DocumentState, changes: list[Change]
) -> list[Change]:
    """The changes of rows that are as the suggestions left them, and that nothing from elsewhere stands on.

    What a person has decided since stays, and what a later prediction took away is gone already.
    """
    number = doc.stored.number
    kept = [
        each
        for each in changes
        if each.table == ProgressRow.TABLE
        or fits(each, current_values(connection, number, each.table, each.key))
    ]
    going = {(each.table, each.key) for each in kept if each.after is None}

    def is_free(change: Change) -> bool:
        if change.after is not None:
            return True
        if change.table == ClusterRow.TABLE:
            needed: list[RelationRow | LinkRow] = [
                link for link in doc.links if (link.cluster_id,) == change.key
            ]
        elif change.table == EntityRow.TABLE:
            needed = [*doc.relations_of(*change.key), *doc.links_of(*change.key)]
        else:
            return True
        return all((each.TABLE, each.key) in going for each in needed)

    return [each for each in kept if is_free(each)]


def _lenient(event: events.Event, doc: DocumentState, change: Change) -> Change | None:
    """The change without what follows from decisions anyway: whether a layer is untouched or in progress.

    Any first decision begins a layer, so that this is no reason to refuse; and a layer stays begun while
    later decisions in it hold.
    """
    if change.table != ProgressRow.TABLE or not change.before or not change.after:
        return change
    before, after = change.before, change.after
    kept = []
    for name in before:
        begun = name in set(Layer) and {before[name], after[name]} == _BEGUN
        if not begun or _is_reversible(event, doc, name, change):
            kept.append(name)
    if not kept:
        return None
    return replace(
        change,
        before={name: before[name] for name in kept},
        after={name: after[name] for name in kept},
    )


def _is_reversible(event: events.Event, doc: DocumentState, layer: str, change: Change) -> bool:
    """Whether the layer is as it was, and has no later decision that would be forgotten."""
    before, after = change.before or {}, change.after or {}
    begins = after[layer] == Completeness.IN_PROGRESS
    free = begins or not doc.decided_since(Layer(layer), event.id)
    return free and bool(getattr(doc.progress, layer) == before[layer])


def _check(
    connection: sqlite3.Connection, event: events.Event, doc: DocumentState, changes: list[Change]
) -> None:
    """Refuse when a row is not as the event left it."""
    for change in changes:
        current = current_values(connection, doc.stored.number, change.table, change.key)
        if not fits(change, current):
            why = f"the same {change.table}"
            place = Problem(why, frozenset({(change.table, change.key)}))
            raise _built_on(event, doc, _later(connection, event, doc, place), why)


def _check_rules(
    connection: sqlite3.Connection,
    event: events.Event,
    doc: DocumentState,
    broken: set[Problem],
) -> None:
    """Refuse when a rule would be broken that was kept before; what an import brought may come back."""
    for problem in sorted(broken, key=lambda each: each.what):
        later = _later(connection, event, doc, problem)
        if later is not None or not problem.by_import:
            raise _built_on(event, doc, later, f"what it needs to be ({problem.what})")


def _built_on(
    event: events.Event, doc: DocumentState, later: events.Event | None, what: str
) -> UndoRefusedError:
    who = f"{later.author} did {later.kind!r} (event {later.id})" if later else "something"
    return UndoRefusedError(
        f"event {event.id} ({event.kind}) cannot be undone: since then {who} changed "
        f"{what} in {doc.stored.document.doc_key!r}",
        f"undo that first: {as_command('sciextract', 'undo', '--event', later.id)}"
        if later
        else "",
    )


def _later(
    connection: sqlite3.Connection, event: events.Event, doc: DocumentState, problem: Problem
) -> events.Event | None:
    """The newest event since then that touched such a row and whose effect holds."""
    rows = connection.execute(
        f"""SELECT c.event_id, c.body FROM change c JOIN event e ON e.id = c.event_id
        WHERE c.document_id = :number AND e.id > :since AND {_HOLDS} ORDER BY c.seq DESC""",
        {"number": doc.stored.number, "since": event.id},
    )
    for later, body in rows:
        if any(problem.concerns(each.table, each.key) for each in decode(body)):
            return events.read_event(connection, later)
    return None


def describe(event: events.Event) -> str:
    """An event in one line."""
    params = ", ".join(f"{key} {_short(value)}" for key, value in event.params.items())
    return f"{event.kind} ({params})" if params else event.kind


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
