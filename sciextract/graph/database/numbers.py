"""Numbers for strings that occur again and again: names, forms, labels, models."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

_MOST_REMEMBERED = 1 << 19
_AT_ONCE = 500


class Numbers:
    """The numbers of strings in one table, most of them remembered.

    Args:
        connection: The graph.
        table: ``name``, ``form``, ``label`` or ``model``.
        column: Where the string stands.
        beside: The column that :meth:`add` fills beside the string, if there is one.
    """

    def __init__(
        self, connection: sqlite3.Connection, table: str, column: str, beside: str = ""
    ) -> None:
        self._connection = connection
        columns, marks = (f"{column}, {beside}", "?, ?") if beside else (column, "?")
        self._insert = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"
        self._select = f"SELECT {column}, id FROM {table} WHERE {column} IN "
        self._known: dict[str, int] = {}

    def __getitem__(self, string: str) -> int:
        return self._known[string]

    def add(self, strings: Mapping[str, object | None]) -> None:
        """Give numbers to the strings (with what stands beside each), so that they can be asked for."""
        wanted = sorted(strings.keys() - self._known.keys())
        self._look_up(wanted)
        fresh = [each for each in wanted if each not in self._known]
        rows = [(each, strings[each]) if "?, ?" in self._insert else (each,) for each in fresh]
        self._connection.executemany(self._insert, rows)
        self._look_up(fresh)

    def trim(self) -> None:
        """Forget the strings where they have become too many; for the time between two batches."""
        if len(self._known) > _MOST_REMEMBERED:
            self._known.clear()

    def _look_up(self, strings: list[str]) -> None:
        for start in range(0, len(strings), _AT_ONCE):
            some = strings[start : start + _AT_ONCE]
            self._known.update(self._found(some))

    def _found(self, some: list[str]) -> Iterable[tuple[str, int]]:
        marks = ",".join("?" * len(some))
        return self._connection.execute(f"{self._select} ({marks})", some)
