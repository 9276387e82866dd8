"""One decision for all identical strings of the whole project, step by step and in short transactions.

What :meth:`~sciextract.store.actions.api.Actions.apply_to_identical` does in one transaction, for a person who
goes on working meanwhile: whoever else writes waits for a few documents only. It is one event all the same,
as an import is, so that undo takes all of it back, also what had been done when it was stopped or killed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sciextract.errors import ActionRefusedError
from sciextract.store.actions import bulk, guard
from sciextract.store.incoming.context import Context, Outcome
from sciextract.store.log import events
from sciextract.store.state.draft import Draft

if TYPE_CHECKING:
    from sciextract.store.project import Project

KIND = "all identical in the project"
AT_A_TIME = 4
"""Documents a transaction: a key that decides something waits for it, so it is short."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about a mention.

    Attributes:
        surface: Its string.
        label: Its type.
        rejected: Whether it is none.
    """

    surface: str
    label: str
    rejected: bool

    def spread(self, draft: Draft, context: Context) -> None:
        """Decide the same for all identical strings of a document."""
        work = bulk.reject_identical if self.rejected else bulk.label_identical
        work(draft, context, self.surface, self.label)


@dataclass(frozen=True, slots=True)
class Count:
    """What spreading a decision would change, as far as it has been looked at.

    Attributes:
        decided: The decision.
        looked: Documents that were looked at.
        total: Documents that have the string.
        numbers: Those of them that would change.
        items: Items that would change.
    """

    decided: Decided
    looked: int
    total: int
    numbers: tuple[int, ...] = ()
    items: int = 0


def decided_about(project: Project, number: int, entity_id: str) -> Decided:
    """What holds for a mention now.

    Raises:
        ActionRefusedError: It is not there (any more).
    """
    draft = project.draft(number)
    row = guard.entity_of(draft, entity_id)
    return Decided(row.surface(draft.text), row.label, row.state == "rejected")


def counting(project: Project, number: int, entity_id: str) -> Iterator[Count]:
    """Look at one document after the other; nothing is written. The last count is the whole one.

    Raises:
        ActionRefusedError: The mention is not there (any more).
        KeyError: The document is not.
    """
    decided = decided_about(project, number, entity_id)
    wanted = project.documents_with(decided.surface)
    context = Context(0, project.author_id, project.schema, lambda name: 0)
    found: list[int] = []
    yield Count(decided, 0, len(wanted))
    for looked, each in enumerate(wanted, start=1):
        draft = project.draft(each)
        decided.spread(draft, context)
        if draft.changes():
            found.append(each)
        last = looked == len(wanted)
        yield Count(decided, looked, len(wanted), tuple(found) if last else (), context.items)


def spreading(project: Project, number: int, entity_id: str, count: Count) -> Iterator[Outcome]:
    """Do what was counted; gives what is done so far after every few documents.

    A dated backup comes first.

    Raises:
        ActionRefusedError: Something else has been decided about the mention since it was counted, or what was
            done already has been taken back; then the rest is not done.
        ProjectError: The project cannot be written; what was done before is in it.
    """
    if decided_about(project, number, entity_id) != count.decided:
        raise ActionRefusedError(
            f"{count.decided.surface!r} is not as it was when this was counted", "count it again"
        )
    project.backup(KIND)
    done = Outcome(None, 0, 0)
    for start in range(0, len(count.numbers), AT_A_TIME):
        done = _some(project, count.decided, count.numbers[start : start + AT_A_TIME], done)
        yield done


def _some(project: Project, decided: Decided, numbers: tuple[int, ...], done: Outcome) -> Outcome:
    """Some more documents in one transaction."""
    try:
        with project.writing() as connection:
            event_id = done.event_id or _begin(project, connection, decided)
            if _taken_back(connection, event_id):
                raise ActionRefusedError("it was taken back on the way, so the rest is not done")
            context = project.context(event_id)
            changed = sum(_one(project, number, decided, context) for number in numbers)
            if not changed and done.event_id is None:
                raise _NothingChanged
    except _NothingChanged:
        return done
    return Outcome(event_id, done.documents + changed, done.items + context.items)


def _one(project: Project, number: int, decided: Decided, context: Context) -> bool:
    draft = project.draft(number)
    if draft.progress is None:
        return False
    decided.spread(draft, context)
    return project.save(draft, context)


def _begin(project: Project, connection: sqlite3.Connection, decided: Decided) -> int:
    told = {"text": decided.surface, "label": decided.label, "rejected": decided.rejected}
    return events.append(connection, project.author_id, KIND, told)


def _taken_back(connection: sqlite3.Connection, event_id: int) -> bool:
    """Whether somebody has turned the event around, be it once or to and fro."""
    row = connection.execute("SELECT 1 FROM event WHERE target = ? LIMIT 1", (event_id,)).fetchone()
    return row is not None


class _NothingChanged(Exception):
    """The event would be one that changes nothing."""
