"""The list of abstracts: one list of numbers in order, rows by page."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from enum import StrEnum

from sciextract.store.file.failures import translated
from sciextract.store.file.sql_text import from_sql
from sciextract.store.looking import search
from sciextract.store.looking.queues import present
from sciextract.store.looking.search import Query
from sciextract.store.project import Project
from sciextract_app.presenter.shown import ListRow


class Sort(StrEnum):
    """The order of the list."""

    TEXT = "as they came"
    YEAR = "newest first"
    UNCERTAINTY = "most uncertain first"
    UNDECIDED = "most undecided first"
    DISAGREEMENT = "most disagreement first"
    STATUS = "least done first"
    RANDOM = "random"


_DONE = "(p.entities = 'done') + (p.relations = 'done') + (p.coreference = 'done')"
_BEGUN = (
    "(p.entities <> 'untouched') + (p.relations <> 'untouched') + (p.coreference <> 'untouched')"
)
_ORDERED = {
    Sort.TEXT: "SELECT document_id FROM progress ORDER BY document_id",
    Sort.YEAR: """SELECT p.document_id FROM progress p JOIN document d ON d.id = p.document_id
        ORDER BY d.year IS NULL, d.year DESC, p.document_id""",
    Sort.UNCERTAINTY: "SELECT document_id FROM summary ORDER BY uncertainty DESC, document_id",
    Sort.UNDECIDED: "SELECT document_id FROM summary ORDER BY undecided DESC, document_id",
    Sort.DISAGREEMENT: "SELECT document_id FROM summary ORDER BY disagreements DESC, document_id",
    Sort.RANDOM: "SELECT document_id FROM progress",
    Sort.STATUS: f"SELECT p.document_id FROM progress p ORDER BY {_DONE}, {_BEGUN}, p.document_id",
}
_PAGE = """SELECT d.id, d.title, d.year, p.entities, p.relations, p.coreference, s.undecided,
        s.entities + s.relations + s.clusters, s.uncertainty, p.flagged
    FROM json_each(?) j JOIN document d ON d.id = j.value JOIN progress p ON p.document_id = d.id
    JOIN summary s ON s.document_id = d.id ORDER BY j.key"""
EVERYTHING = Query()


class Listing:
    """Abstracts that fit a query, in an order that stays as it is until :meth:`load` is called again.

    The numbers of all rows are read once, since far pages by ``OFFSET`` take as long as everything before
    them; rows are read by page and always show the present state. With a connection of its own a listing
    can be loaded in another thread.

    Args:
        project: The open project.
        connection: Another connection to it, for the thread that the listing is used in.

    Attributes:
        sort: The order.
        query: What the abstracts fit.
        seed: Of the random order.
    """

    def __init__(self, project: Project, connection: sqlite3.Connection | None = None) -> None:
        self._path = project.path
        self._connection = connection or project.connection
        self._numbers: list[int] = []
        self._places: dict[int, int] = {}
        self._given: tuple[int, ...] | None = None
        self.sort = Sort.TEXT
        self.query = EVERYTHING
        self.seed = 0
        self.load()

    @property
    def numbers(self) -> list[int]:
        """All rows' abstracts in order: the route for :meth:`~sciextract_app.presenter.desk.Desk.follow`."""
        return self._numbers

    @property
    def is_plain(self) -> bool:
        """Whether it shows the whole project in its own order."""
        return self._given is None and self.sort is Sort.TEXT and self.query == EVERYTHING

    def load(
        self, sort: Sort | None = None, query: Query | None = None, seed: int | None = None
    ) -> None:
        """Read which abstracts there are, and their order; without arguments as it was.

        With words in the query and :attr:`Sort.TEXT` those that fit best come first. The random order of a
        seed is always the same, and abstracts that come later do not change that of the others.
        """
        if sort is not None or query is not None:
            self._given = None
        self.sort = sort or self.sort
        self.query = self.query if query is None else query
        self.seed = self.seed if seed is None else seed
        with translated(self._path):
            self._numbers = self._wanted()
        self._places = {}

    def show(self, numbers: Sequence[int]) -> None:
        """List these abstracts, such as those of a queue, until another order or query is wanted."""
        self._given = tuple(numbers)
        self.sort, self.query = Sort.TEXT, EVERYTHING
        self.load()

    def show_all(self) -> None:
        """List the whole project in its own order."""
        self.load(Sort.TEXT, EVERYTHING)

    def count(self) -> int:
        """How many rows there are."""
        return len(self._numbers)

    def place(self, number: int) -> int | None:
        """The row of an abstract, ``None`` when it is not in the list."""
        if len(self._places) != len(self._numbers):
            self._places = {each: place for place, each in enumerate(self._numbers)}
        return self._places.get(number)

    def page(self, offset: int, limit: int, current: int = 0) -> list[ListRow]:
        """Some rows, as the project is now.

        Args:
            offset: The first one.
            limit: At most so many; abstracts that went out of the project since are left out.
            current: The open abstract.
        """
        numbers = self._numbers[max(offset, 0) : max(offset, 0) + limit]
        with translated(self._path):
            rows = self._connection.execute(_PAGE, (json.dumps(numbers),)).fetchall()
        return [_row(row, current) for row in rows]

    def _wanted(self) -> list[int]:
        if self._given is not None:
            return list(present(self._connection, self._given))
        return self._ordered() if self.query == EVERYTHING else self._found()

    def _ordered(self) -> list[int]:
        numbers = [row[0] for row in self._connection.execute(_ORDERED[self.sort])]
        if self.sort is Sort.RANDOM:
            numbers.sort(key=self._chance)
        return numbers

    def _chance(self, number: int) -> bytes:
        return hashlib.blake2b(f"{self.seed} {number}".encode(), digest_size=8).digest()

    def _found(self) -> list[int]:
        hits = [hit.number for hit in search.find(self._connection, self.query, limit=-1)]
        if self.sort is Sort.TEXT:
            return hits
        wanted = set(hits)
        return [number for number in self._ordered() if number in wanted]


def _row(
    row: tuple[int, str | bytes, int | None, str, str, str, int, int, float, int], current: int
) -> ListRow:
    (
        number,
        title,
        year,
        entities,
        relations,
        coreference,
        undecided,
        items,
        uncertainty,
        flagged,
    ) = row
    layers = (entities, relations, coreference)
    return ListRow(
        *(number, from_sql(title), year, layers, undecided, items, uncertainty),
        *(bool(flagged), number == current),
    )
