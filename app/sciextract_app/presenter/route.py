"""Which abstract comes next: in the project's order, or in the order of a list."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

_OPEN = "NOT (entities = 'done' AND relations = 'done' AND coreference = 'done')"


class Route:
    """The way through the abstracts.

    Args:
        connection: The project's connection.
        numbers: The abstracts in the order in which they are worked on, ``None`` for the project's own.
    """

    def __init__(
        self, connection: sqlite3.Connection, numbers: Sequence[int] | None = None
    ) -> None:
        self._connection = connection
        self._numbers = numbers
        self._places = {number: place for place, number in enumerate(numbers or ())}

    def beside(self, number: int, step: int) -> int | None:
        """The next (1) or previous (-1) abstract, ``None`` at the ends."""
        if self._numbers is not None and number in self._places:
            place = self._places[number] + step
            return self._numbers[place] if 0 <= place < len(self._numbers) else None
        sign, order = (">", "ASC") if step > 0 else ("<", "DESC")
        return self._first(f"document_id {sign} ?", order, number)

    def not_done_after(self, number: int) -> int | None:
        """The next abstract that is not done in every layer; at the end the first such one."""
        if self._numbers is not None and number in self._places:
            found = self._not_done_in_list(number)
            if found is not None:
                return found
        later = self._first(f"document_id > ? AND {_OPEN}", "ASC", number)
        return later or self._first(f"document_id <> ? AND {_OPEN}", "ASC", number)

    def first(self) -> int | None:
        """Where to begin: the first abstract that is not done, else the first one."""
        if self._numbers:
            return self._numbers[0]
        return self._first(f"document_id > ? AND {_OPEN}", "ASC", 0) or self.beside(0, 1)

    def _not_done_in_list(self, number: int) -> int | None:
        numbers, place = self._numbers or (), self._places[number]
        for each in [*numbers[place + 1 :], *numbers[:place]]:
            if self._first(f"document_id = ? AND {_OPEN}", "ASC", each):
                return each
        return None

    def _first(self, condition: str, order: str, number: int) -> int | None:
        row = self._connection.execute(
            f"SELECT document_id FROM progress WHERE {condition} ORDER BY document_id {order} LIMIT 1",
            (number,),
        ).fetchone()
        return None if row is None else int(row[0])
