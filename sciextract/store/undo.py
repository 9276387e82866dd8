"""Undo and redo as events, the state rebuilt from the log, and the rules that rows of a document keep."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sciextract.documents.annotations import State as consistency_State
from sciextract.errors import UndoRefusedError, as_command
from sciextract.store import documents, events, state_tables
from sciextract.store.context import Outcome
from sciextract.store.document_state import DocumentState
from sciextract.store.events import Change, decode, fits, replay
from sciextract.store.rows import (
    ROW_TYPES,
    Completeness,
    EntityRow,
    Key,
    Layer,
    LinkRow,
    ProgressRow,
    RelationRow,
    Values,
)
from sciextract.store.state_tables import TABLES, apply, current_values, load_rows, load_values

if TYPE_CHECKING:
    from sciextract.store.project import Project


State = dict[tuple[str, Key], Values]


def current_state(connection: sqlite3.Connection, number: int) -> State:
    """The state rows of a document, as column values by table and key."""
    return {
        (table, tuple(values[name] for name in ROW_TYPES[table].KEY)): values
        for table, values in load_values(connection, number)
    }


def logged_state(connection: sqlite3.Connection, number: int) -> State:
    """The state rows that the log gives for a document.

    Raises:
        KeyError: The log contradicts itself.
    """
    return replay(events.changes_of_document(connection, number))


def all_numbers(connection: sqlite3.Connection) -> list[int]:
    """Numbers of all documents that the file has ever had."""
    return [row[0] for row in connection.execute("SELECT id FROM document ORDER BY id")]


def differing(connection: sqlite3.Connection) -> list[int]:
    """Numbers of the documents whose state is not what the log says."""
    return [number for number in all_numbers(connection) if not agrees(connection, number)]


def agrees(connection: sqlite3.Connection, number: int) -> bool:
    """Whether the state of a document is what the log says."""
    try:
        return logged_state(connection, number) == current_state(connection, number)
    except KeyError:
        return False


def rebuild(project: Project, numbers: list[int]) -> None:
    """Replace the state of documents by what the log says, in one transaction.

    Raises:
        KeyError: The log contradicts itself; nothing was changed.
    """
    with project.writing() as connection:
        for number in numbers:
            rows = logged_state(connection, number)
            stored = documents.load(connection, number)
            for table in reversed(TABLES):
                connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (number,))
            made = [Change(table, key, None, values) for (table, key), values in rows.items()]
            made.sort(key=lambda change: TABLES.index(change.table))
            apply(connection, number, stored.text, made)
            state_tables.refresh(connection, DocumentState(stored, load_rows(connection, number)))


Place = tuple[str, Key]
_Item = TypeVar("_Item", EntityRow, RelationRow, LinkRow)


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that is broken.

    Attributes:
        what: The rule in words.
        places: Rows that have to do with it, by table and key, or by table and the beginning of the key.
        by_import: Whether imports may bring it about.
    """

    what: str
    places: frozenset[Place]
    by_import: bool = False

    def concerns(self, table: str, key: Key) -> bool:
        """Whether a row has to do with it."""
        return any(table == name and key[: len(start)] == start for name, start in self.places)


def problems(doc: DocumentState, symmetric: frozenset[str]) -> set[Problem]:
    """What in a document breaks a rule.

    Args:
        doc: The document.
        symmetric: Labels of the relations without direction.
    """
    return {*_dangling(doc), *_alone(doc), *_twice(doc, symmetric)}


def _dangling(doc: DocumentState) -> Iterator[Problem]:
    """Relations and links whose entity or cluster is not there, or is less certain than they are."""
    for relation in doc.relations:
        if not all(_carries(doc.entity(end), relation) for end in (relation.head, relation.tail)):
            place = (relation.TABLE, relation.key)
            yield Problem("a relation needs both its mentions", frozenset({place}))
    for link in doc.links:
        cluster, mention = doc.cluster(link.cluster_id), doc.entity(link.entity_id)
        if cluster is None or not _carries(mention, link):
            yield Problem("a cluster needs its mentions", frozenset({(link.TABLE, link.key)}))


def _carries(entity: EntityRow | None, item: RelationRow | LinkRow) -> bool:
    if entity is None or item.state is consistency_State.REJECTED:
        return entity is not None
    return entity.in_view or (not item.in_view and entity.state is consistency_State.UNDECIDED)


def _alone(doc: DocumentState) -> Iterator[Problem]:
    """Clusters of one mention, unless they were imported so."""
    members = Counter(link.cluster_id for link in _live(doc.links))
    for cluster in doc.clusters:
        if cluster.state is not consistency_State.IMPORTED and members[cluster.id] == 1:
            places = frozenset({(cluster.TABLE, cluster.key), (LinkRow.TABLE, cluster.key)})
            yield Problem("a cluster needs two mentions", places)


def _twice(doc: DocumentState, symmetric: frozenset[str]) -> Iterator[Problem]:
    """Mentions in two clusters, and items that say the same."""

    def ends(relation: RelationRow) -> object:
        both = (relation.head, relation.tail)
        return relation.label, frozenset(both) if relation.label in symmetric else both

    links, entities, relations = doc.links, doc.all_entities, doc.relations
    one_home, same, again = (
        "a mention belongs to one cluster",
        "the same mention is there",
        "the same relation is there",
    )
    yield from _several(one_home, [*_live(links)], lambda link: link.entity_id)
    yield from _several(same, [*_live(entities)], lambda entity: (entity.label, entity.fragments))
    yield from _several(again, [*_live(relations)], ends)


def _several(
    what: str, rows: Sequence[_Item], said: Callable[[_Item], object]
) -> Iterator[Problem]:
    """Rows that say the same; nearly always there are none."""
    keys = [said(row) for row in rows]
    for key in [key for key, count in Counter(keys).items() if count > 1]:
        group = (row for row, own in zip(rows, keys, strict=True) if own == key)
        places = frozenset((row.TABLE, row.key) for row in group)
        yield Problem(what, places, by_import=True)


def _live(rows: Iterable[_Item]) -> Iterator[_Item]:
    return (row for row in rows if row.state is not consistency_State.REJECTED)


_HOLDS = f"""(e.target IS NULL AND NOT {events.UNDONE}
    OR e.target < :since
       AND (SELECT count(*) FROM event t WHERE t.target = e.target AND t.id > :since) % 2 = 1)"""
"""In SQL: event ``e`` is an action that is not undone, or has turned around one from before ``:since``."""

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
    return event, _turn(project, event, events.UNDO)


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
            f"{project.author} has nothing to redo", "a new action ends what can be redone"
        )
    event = _event(project.connection, wanted)
    return event, _turn(project, event, events.REDO)


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


def _turn(project: Project, event: events.Event, kind: str) -> Outcome:
    """Apply the changes of an event (undo) or of its last undo (redo) backwards, as an event of its own."""
    try:
        with project.writing() as connection:
            told = {"of": event.kind}
            own = events.append(connection, project.author_id, kind, told, target=event.id)
            documents_touched, items = _apply_all(project, event, own, kind)
    except sqlite3.IntegrityError:
        raise UndoRefusedError(
            f"{kind} of event {event.id} ({event.kind}) is refused: later items need what it made",
            "take those back first; sciextract log shows them",
        ) from None
    return Outcome(own, documents_touched, items)


def _apply_all(project: Project, event: events.Event, own: int, kind: str) -> tuple[int, int]:
    """How many documents and rows were changed, inside the caller's transaction."""
    connection, symmetric = project.connection, project.schema.symmetric_labels
    reversing = event.id if kind == events.UNDO else events.last_undo(connection, event.id)
    before: dict[int, set[Problem]] = {}
    items, latest = 0, None
    for number, changes in events.changes_of_event(connection, reversing, backwards=True):
        doc = project.document_state(number)
        before.setdefault(number, problems(doc, symmetric))
        turned = [each.reverse for each in reversed(changes)]
        if len(turned) > 1:  # else it was said of the layer itself
            turned = [kept for each in turned if (kept := _lenient(event, doc, each))]
        _check(connection, event, doc, turned)
        apply(connection, number, doc.text, turned)
        events.append_changes(connection, own, number, turned)
        items += len(turned)
        doc.turn(turned)
        latest = doc
    for number, known in before.items():
        doc = (
            latest if latest and latest.stored.number == number else project.document_state(number)
        )
        _check_rules(connection, event, doc, problems(doc, symmetric) - known)
        state_tables.refresh(connection, doc)
        project.note_saved(doc)
    return len(before), items


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
        if not begun or _turns(event, doc, name, change):
            kept.append(name)
    if not kept:
        return None
    return replace(
        change,
        before={name: before[name] for name in kept},
        after={name: after[name] for name in kept},
    )


def _turns(event: events.Event, doc: DocumentState, layer: str, change: Change) -> bool:
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
    connection: sqlite3.Connection, event: events.Event, doc: DocumentState, found: set[Problem]
) -> None:
    """Refuse when a rule would be broken that was kept before; what an import brought may come back."""
    for problem in sorted(found, key=lambda each: each.what):
        later = _later(connection, event, doc, problem)
        if later is not None or not problem.by_import:
            raise _built_on(event, doc, later, f"what it needs to be ({problem.what})")


def _built_on(
    event: events.Event, doc: DocumentState, later: events.Event | None, what: str
) -> UndoRefusedError:
    who = f"{later.author} did {later.kind!r} (event {later.id})" if later else "something"
    return UndoRefusedError(
        f"event {event.id} ({event.kind}) cannot be turned around: since then {who} changed "
        f"{what} in {doc.stored.document.doc_key!r}",
        f"take that back first: {as_command('sciextract', 'undo', '--event', later.id)}"
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
    told = ", ".join(f"{key} {_short(value)}" for key, value in event.params.items())
    return f"{event.kind} ({told})" if told else event.kind


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
