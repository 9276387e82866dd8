"""Some of a project's abstracts: by a saved queue, by keys, by when and by whom they were worked on."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sciextract.errors import UsageError, as_command
from sciextract.store.events import MERGED, REDO, UNDO
from sciextract.store.finished import FROM_OUTSIDE
from sciextract.store.queries import present, queue_lengths, read_queue
from sciextract.store.statistics import DECIDED

if TYPE_CHECKING:
    from sciextract.store.project import Project

# Undo is work; what came by a merge or in an export of another project is that of its author.
_NO_WORK = ", ".join(f"'{kind}'" for kind in FROM_OUTSIDE - {UNDO, REDO, MERGED})
_WORKED_ON = f"""SELECT DISTINCT w.document_id
    FROM (SELECT document_id, event_id FROM change UNION ALL SELECT document_id, event_id FROM ({DECIDED})) w
    JOIN event e ON e.id = w.event_id JOIN source s ON s.id = e.author_id
    WHERE s.kind = 'person' AND e.kind NOT IN ({_NO_WORK}) AND (?2 IS NULL OR s.name = ?2)
      AND (?1 IS NULL OR coalesce(json_extract(e.params, '$.last'), e.at) >= ?1)"""
_WITH_KEYS = """SELECT d.id, d.doc_key FROM json_each(?1) j JOIN document d ON d.doc_key = j.value
    UNION SELECT r.document_id, r.doc_key FROM json_each(?1) j JOIN record r ON r.doc_key = j.value"""


@dataclass(frozen=True, slots=True)
class Selection:
    """What abstracts have to fulfil, all of it at once; nothing asks for all abstracts.

    Attributes:
        queue: Name of a saved queue that they are in.
        keys: Keys that they have; ``None`` for any.
        since: ISO date or time (local where it names no zone) from which on a person worked on them.
        author: Name of the person who worked on them.
    """

    queue: str | None = None
    keys: Collection[str] | None = None
    since: str | None = None
    author: str | None = None

    @property
    def is_all(self) -> bool:
        """Whether nothing is asked for."""
        return self == Selection()

    def numbers(self, project: Project) -> list[int]:
        """The numbers of the abstracts, in the order of the queue, else in that of import.

        Raises:
            UsageError: There is no such queue, key or author, or the date is none.
        """
        chosen = self._of_queue(project) if self.queue is not None else project.numbers()
        if self.keys is not None:
            kept = self._of_keys(project)
            chosen = [number for number in chosen if number in kept]
        if self.since is not None or self.author is not None:
            worked = self._worked_on(project)
            chosen = [number for number in chosen if number in worked]
        return chosen

    def _of_queue(self, project: Project) -> list[int]:
        queue = read_queue(project, str(self.queue))
        if queue is None:
            known = ", ".join(map(repr, queue_lengths(project))) or "none"
            raise UsageError(f"there is no queue {self.queue!r}", f"saved queues: {known}")
        return [*present(project.connection, queue.numbers)]

    def _of_keys(self, project: Project) -> set[int]:
        wanted = {*(self.keys or ())}
        rows = project.connection.execute(_WITH_KEYS, (json.dumps(sorted(wanted)),)).fetchall()
        missing = sorted(wanted - {key for _, key in rows})
        if missing:
            listed = ", ".join(map(repr, missing[:5])) + (" ..." if len(missing) > 5 else "")
            raise UsageError(
                f"{len(missing):,} of {len(wanted):,} keys are not in the project: {listed}",
                as_command("sciextract", "search", "WORDS", "--project", project.path)
                + " shows keys",
            )
        return {number for number, _ in rows}

    def _worked_on(self, project: Project) -> set[int]:
        since = None if self.since is None else _utc(self.since)
        author = None if self.author is None else f"person:{self.author.removeprefix('person:')}"
        found = {number for (number,) in project.connection.execute(_WORKED_ON, (since, author))}
        if author is not None and not found:
            people = (name for name in project.sources.values() if name.startswith("person:"))
            known = ", ".join(name.removeprefix("person:") for name in people) or "nobody"
            done = f"{self.author!r} has done nothing in the project"
            raise UsageError(f"{done} since {self.since}" if since else done, f"authors: {known}")
        return found


def _utc(text: str) -> str:
    """A date or time as the log has it."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is no date", "for example 2026-11-28 or 2026-11-28T14:30"
        ) from None
    return at.astimezone(UTC).isoformat(timespec="microseconds")
