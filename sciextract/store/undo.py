"""Undo and redo: the changes of an event applied backwards, as an event of its own."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Layer, State
from sciextract.errors import UndoRefusedError, as_command
from sciextract.store import events, label_changes, state_tables
from sciextract.store.document_state import DocumentState, Outcome, Problem, find_broken_rules
from sciextract.store.events import Change, decode, fits
from sciextract.store.rows import Completeness, ProgressRow
from sciextract.store.sqlite import first_value
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
            params = {"of": event.kind}
            own = events.append(connection, project.author_id, kind, params, target=event.id)
            reversing = event.id
            if kind == events.REDO:
                last = "SELECT max(id) FROM event WHERE target = ? AND kind = 'undo'"
                reversing = first_value(connection, last, event.id)
            documents = items = 0
            if event.kind != label_changes.RENAME:
                documents, items = _apply_backwards(project, event, reversing, own)
            if event.kind in label_changes.KINDS:
                back = kind == events.UNDO
                turned = label_changes.turn(connection, event, own, back=back)
                documents, items = documents + turned[0], items + turned[1]
    except sqlite3.IntegrityError:
        raise UndoRefusedError(
            f"{kind} of event {event.id} ({event.kind}) is refused: later items depend on it",
            "undo those first; sciextract log lists them",
        ) from None
    return Outcome(own, documents, items)


def _apply_backwards(
    project: Project, event: events.Event, reversing: int, own: int
) -> tuple[int, int]:
    """How many documents and rows were changed, inside the caller's transaction."""
    connection, symmetric = project.connection, project.schema.symmetric_labels
    first: dict[int, DocumentState] = {}
    latest: DocumentState | None = None
    items = 0
    for number, changes in events.changes_of_event(connection, reversing, backwards=True):
        latest = project.document_state(number)
        reverse = [change.reverse for change in reversed(changes)]
        # Suggestions are taken back although some were decided: those stay.
        if event.is_suggestions:
            reverse = _keep_suggested(connection, latest, reverse)
        if len(reverse) > 1:  # else the event is about the layer itself
            lenient = (_without_begun_layers(event, latest, change) for change in reverse)
            reverse = [change for change in lenient if change is not None]
        if not reverse:
            continue
        first.setdefault(number, latest)
        for change in reverse:
            current = current_values(connection, number, change.table, change.key)
            if not fits(change, current):
                why = f"the same {change.table}"
                changed = Problem(why, frozenset({(change.table, change.key)}))
                raise _built_on(connection, event, latest, changed, why)
        apply(connection, number, latest.text, reverse)
        events.append_changes(connection, own, number, reverse)
        items += len(reverse)
        # Also in memory: the next part of the event may change the same document.
        latest.turn(reverse)
    for number, earlier in first.items():
        known = latest is not None and latest.number == number
        doc = latest if latest and known else project.document_state(number)
        if broken := find_broken_rules(
            doc, symmetric
        ):  # nearly never: then what was broken before counts
            broken -= find_broken_rules(DocumentState.of(earlier.stored, earlier.before), symmetric)
        for problem in sorted(broken, key=lambda broken_rule: broken_rule.what):
            # What an import brought may come back, unless a person has touched it since.
            if not problem.by_import or _later(connection, event, doc, problem):
                needed = f"what it needs to be ({problem.what})"
                raise _built_on(connection, event, doc, problem, needed)
        state_tables.refresh(connection, doc)
        project.note_saved(doc)
    return len(first), items


def _keep_suggested(
    connection: sqlite3.Connection, doc: DocumentState, changes: list[Change]
) -> list[Change]:
    """The changes of rows that are as the suggestions left them, and that nothing from elsewhere stands on.

    What a person has decided since stays, and what a later prediction took away is gone already.
    """
    number = doc.stored.number
    kept = [
        change
        for change in changes
        if change.table == ProgressRow.TABLE
        or fits(change, current_values(connection, number, change.table, change.key))
    ]
    going = {(change.table, change.key) for change in kept if change.after is None}
    free = []
    for change in kept:
        upon = doc.standing_on(change.table, change.key) if change.after is None else []
        if all((row.TABLE, row.key) in going for row in upon):
            free.append(change)
    return free


def _without_begun_layers(event: events.Event, doc: DocumentState, change: Change) -> Change | None:
    """The change without what follows from decisions anyway: whether a layer is untouched or in progress.

    Any first decision begins a layer, so that this is no reason to refuse; and a layer stays begun while
    later decisions in it hold.
    """
    if change.table != ProgressRow.TABLE or not change.before or not change.after:
        return change
    before, after = change.before, change.after
    kept = []
    for name in before:
        if name in set(Layer) and {before[name], after[name]} == _BEGUN:
            begins = after[name] == Completeness.IN_PROGRESS
            later = (row for row in doc.items_of(Layer(name)) if row.event_id > event.id)
            free = begins or all(row.state is State.UNDECIDED for row in later)
            if not free or getattr(doc.progress, name) != before[name]:
                continue
        kept.append(name)
    if not kept:
        return None
    return replace(
        change,
        before={name: before[name] for name in kept},
        after={name: after[name] for name in kept},
    )


def _built_on(
    connection: sqlite3.Connection,
    event: events.Event,
    doc: DocumentState,
    problem: Problem,
    what: str,
) -> UndoRefusedError:
    later = _later(connection, event, doc, problem)
    who = f"{later.author} did {later.kind!r} (event {later.id})" if later else "something"
    hint = as_command("sciextract", "undo", "--event", later.id) if later else ""
    return UndoRefusedError(
        f"event {event.id} ({event.kind}) cannot be undone: since then {who} changed "
        f"{what} in {doc.stored.document.doc_key!r}",
        f"undo that first: {hint}" if hint else "",
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
        if any(problem.concerns(change.table, change.key) for change in decode(body)):
            return events.read_event(connection, later)
    return None


def describe(event: events.Event) -> str:
    """An event in one line; long values are cut, and counted keys are left out."""
    params = []
    for key, value in event.params.items():
        if key == events.PRESSED:
            continue  # a count for statistics says nothing about what was done
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        params.append(f"{key} {text if len(text) <= 60 else text[:59] + '…'}")
    return f"{event.kind} ({', '.join(params)})" if params else event.kind
