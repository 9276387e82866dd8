"""Which abstract comes next: in the project's order, in the order of a list, or along a saved queue."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Sequence

from sciextract.store.looking.queues import SavedQueue, present

_OPEN = "NOT (entities = 'done' AND relations = 'done' AND coreference = 'done')"
_ANY = "1"
_CHUNK = 500


class Route:
    """The way through the abstracts; those that went out of the project are passed over.

    Args:
        connection: The project's connection.
        numbers: The abstracts in the order in which they are worked on, ``None`` for the project's own.

    Attributes:
        numbers: The same.
    """

    def __init__(
        self, connection: sqlite3.Connection, numbers: Sequence[int] | None = None
    ) -> None:
        self._connection = connection
        self.numbers = numbers
        self._places = {number: place for place, number in enumerate(numbers or ())}

    @property
    def of(self) -> str:
        """What it leads through, for messages: empty for all abstracts."""
        return ""

    def visit(self, number: int) -> None:
        """The person has opened an abstract."""

    def beside(self, number: int, step: int) -> int | None:
        """The next (1) or previous (-1) abstract, ``None`` at the ends."""
        if number in self._places:
            return self._first_of(self._beyond(self._places[number], step), _ANY)
        sign, order = (">", "ASC") if step > 0 else ("<", "DESC")
        return self._first(f"document_id {sign} ?", order, number)

    def not_done_after(self, number: int) -> int | None:
        """The next abstract that is not done in every layer; at the end the first such one."""
        if number in self._places:
            found = self._not_done_beyond(self._places[number])
            if found is not None:
                return found
        later = self._first(f"document_id > ? AND {_OPEN}", "ASC", number)
        return later or self._first(f"document_id <> ? AND {_OPEN}", "ASC", number)

    def first(self) -> int | None:
        """Where to begin: the first abstract of the list, else the first that is not done, or at all."""
        if self.numbers and (found := self._first_of(self.numbers, _ANY)):
            return found
        return self._first(f"document_id > ? AND {_OPEN}", "ASC", 0) or self._first(
            "document_id > ?", "ASC", 0
        )

    def _not_done_beyond(self, place: int) -> int | None:
        behind = self._first_of(self._beyond(place, 1), _OPEN)
        return behind or self._first_of((self.numbers or ())[:place], _OPEN)

    def _beyond(self, place: int, step: int) -> Sequence[int]:
        numbers = self.numbers or ()
        return numbers[place + 1 :] if step > 0 else numbers[:place][::-1]

    def _first_of(self, numbers: Sequence[int], condition: str) -> int | None:
        for start in range(0, len(numbers), _CHUNK):
            row = self._connection.execute(
                f"""SELECT j.value FROM json_each(?) j JOIN progress ON document_id = j.value
                WHERE {condition} ORDER BY j.key LIMIT 1""",
                (json.dumps(numbers[start : start + _CHUNK]),),
            ).fetchone()
            if row is not None:
                return int(row[0])
        return None

    def _first(self, condition: str, order: str, number: int) -> int | None:
        row = self._connection.execute(
            f"SELECT document_id FROM progress WHERE {condition} ORDER BY document_id {order} LIMIT 1",
            (number,),
        ).fetchone()
        return None if row is None else int(row[0])


class QueueRoute(Route):
    """Along a saved queue: it goes on where the person stopped, and never leads out of it.

    From an abstract that is not in the queue the next one and the previous one are the one where they stopped.

    Args:
        connection: The project's connection.
        queue: The queue.
        stopped: The abstract of the queue that was open last, 0 for none.
    """

    def __init__(self, connection: sqlite3.Connection, queue: SavedQueue, stopped: int = 0) -> None:
        super().__init__(connection, queue.numbers)
        self.name = queue.name
        self._place = self._places.get(stopped, 0)
        self._living: list[int] = []
        self.refresh()

    @property
    def of(self) -> str:
        """The queue, by its name."""
        return f" of the queue {self.name}"

    @property
    def last(self) -> int:
        """The abstract of the queue that was open last, or where it begins."""
        return self.numbers[self._place] if self.numbers else 0

    @property
    def position(self) -> tuple[int, int]:
        """The place of :attr:`last`, from one, and how many abstracts of the queue are in the project."""
        behind = bisect_left(self._living, self._place)
        return min(behind + 1, len(self._living)), len(self._living)

    def refresh(self) -> None:
        """Look which abstracts of the queue are in the project now."""
        there = present(self._connection, tuple(self.numbers or ()))
        self._living = [self._places[each] for each in there]

    def visit(self, number: int) -> None:
        """The person has opened an abstract; one of the queue is where they stopped."""
        self._place = self._places.get(number, self._place)

    def beside(self, number: int, step: int) -> int | None:
        """The next (1) or previous (-1) abstract of the queue, ``None`` at its ends."""
        return super().beside(number, step) if number in self._places else self.first()

    def not_done_after(self, number: int) -> int | None:
        """The next abstract of the queue that is not done; at its end the first such one."""
        if number in self._places:
            return self._not_done_beyond(self._places[number])
        behind = self._first_of(self._all[self._place :], _OPEN)
        return behind or self._first_of(self._all[: self._place], _OPEN)

    def first(self) -> int | None:
        """Where the person stopped; when that is gone what comes after it, else what is left."""
        numbers = self._all
        behind = self._first_of(numbers[self._place :], _ANY)
        return behind or self._first_of(numbers[: self._place][::-1], _ANY)

    @property
    def _all(self) -> Sequence[int]:
        return self.numbers or ()
