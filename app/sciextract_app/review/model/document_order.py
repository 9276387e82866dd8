"""Which abstract comes next: in the project's order, in the order of a list, of a search, or of a saved queue."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

from sciextract.store import Project, review, search
from sciextract.store.coverage import Type
from sciextract.store.queries import present
from sciextract.store.review import DocumentSummary, Sort, document_summaries, sorted_documents
from sciextract.store.search import Query
from sciextract.store.sqlite_errors import translated
from sciextract_app.shared.view_models import named

_SHOWN_NAME = 28
CHECK = "check"
"""The kind of a list of abstracts in which a check has found something."""


class DocumentOrder:
    """The way through the abstracts; those that went out of the project are passed over.

    A list is never left: from an abstract that is not in it the next one and the previous one are the one where
    the person was in it.

    Args:
        connection: The project's connection.
        numbers: The abstracts in the order in which they are worked on, ``None`` for the project's own.
        kind: What the list is, ``queue``, ``check`` or ``search``; empty for all abstracts.
        name: The queue's name, or what was searched for.
        stopped: The abstract of the list that was open last, 0 for none.
        sought: Of a queue whose abstracts lack types: those.

    Attributes:
        numbers: The same.
        kind: The same.
        name: The same.
        sought: The same.
        finding: Of a check: the place that is looked at, from one, and how many it found.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        numbers: Sequence[int] | None = None,
        kind: str = "",
        name: str = "",
        stopped: int = 0,
        sought: tuple[Type, ...] = (),
    ) -> None:
        self._connection = connection
        self.numbers = numbers
        self.kind = kind
        self.name = name
        self.sought = sought
        self.finding: tuple[int, int] | None = None
        self._places = {number: place for place, number in enumerate(numbers or ())}
        self._place = self._places.get(stopped, 0)
        self._living: list[int] | None = None

    @property
    def suffix(self) -> str:
        """What it leads through, for messages: empty for all abstracts."""
        return f" of the {self.kind} {self.name}" if self.kind else ""

    @property
    def last(self) -> int:
        """The abstract of the list that was open last, or where it begins."""
        return self.numbers[self._place] if self.numbers else 0

    @property
    def position(self) -> tuple[int, int]:
        """The place of :attr:`last`, from one, and how many abstracts of the list are in the project."""
        if self._living is None:
            there = present(self._connection, tuple(self._all))
            self._living = [self._places[number] for number in there]
        behind = bisect_left(self._living, self._place)
        return min(behind + 1, len(self._living)), len(self._living)

    @property
    def progress(self) -> str:
        """The list and the place in it, for the header; empty for all abstracts."""
        if not self.kind:
            return ""
        place, length = self.finding or self.position
        name = self.name if self.kind in ("queue", CHECK) else f"{self.kind} {named(self.name)}"
        short = name if len(name) <= _SHOWN_NAME else name[: _SHOWN_NAME - 1] + "…"
        return f"{short} {place:,} of {length:,}"

    def refresh(self) -> None:
        """Abstracts have come or gone."""
        self._living = None

    def visit(self, number: int) -> None:
        """The person has opened an abstract; one of the list is where they stopped."""
        self._place = self._places.get(number, self._place)

    def neighbour(self, number: int, step: int) -> int | None:
        """The next (1) or previous (-1) abstract, ``None`` at the ends."""
        if self.numbers is None:
            return review.next_to(self._connection, number, step)
        if number not in self._places:
            return self.first()
        place, numbers = self._places[number], self._all
        # Several at once, since abstracts of the list may have gone out of the project.
        beyond = numbers[place + 1 :] if step > 0 else numbers[:place][::-1]
        return review.first_of(self._connection, beyond)

    def place_of(self, number: int) -> tuple[int, int]:
        """The place of an abstract, from one, and how many there are; in a list that of :attr:`last`."""
        if self.numbers is None:
            return review.position(self._connection, number)
        return self.position

    def at(self, place: int) -> int | None:
        """The abstract at a place from one, ``None`` where there is none."""
        if self.numbers is None:
            return review.at_position(self._connection, place)
        there = present(self._connection, tuple(self._all)) if place > 0 else ()
        return there[place - 1] if 0 < place <= len(there) else None

    def not_done_after(self, number: int) -> int | None:
        """The next abstract that is not done, or lacks what is sought; at the end the first such one."""
        if self.numbers is not None:
            here = self._places.get(number)
            # From an abstract that is not in the list the way goes on where the person was in it.
            start, end = (self._place, self._place) if here is None else (here + 1, here)
            first = partial(review.first_of, self._connection, unfinished=True, sought=self.sought)
            return first(self._all[start:]) or first(self._all[:end])
        later = review.next_to(self._connection, number, unfinished=True)
        if later is None:
            later = review.next_to(self._connection, 0, unfinished=True)
        return None if later == number else later

    def first(self) -> int | None:
        """Where to begin: in a list where the person stopped, else the first that is not done, or at all.

        What comes after an abstract that is gone takes its place, else what is left of the list.
        """
        if self.numbers is not None:
            behind = review.first_of(self._connection, self._all[self._place :])
            return behind or review.first_of(self._connection, self._all[: self._place][::-1])
        unfinished = review.next_to(self._connection, 0, unfinished=True)
        return unfinished or review.next_to(self._connection, 0)

    @property
    def _all(self) -> Sequence[int]:
        return self.numbers or ()


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
    """

    def __init__(self, project: Project, connection: sqlite3.Connection | None = None) -> None:
        self._path = project.path
        self._connection = connection or project.connection
        self._numbers: list[int] = []
        self._places: dict[int, int] = {}
        self._given: tuple[int, ...] | None = None
        self.sort = Sort.TEXT
        self.query = EVERYTHING
        self.load()

    @property
    def numbers(self) -> list[int]:
        """All rows' abstracts in order: the order for :meth:`~sciextract_app.review.keys.desk.Desk.follow`."""
        return self._numbers

    @property
    def is_plain(self) -> bool:
        """Whether it shows the whole project in its own order."""
        return self._given is None and self.sort is Sort.TEXT and self.query == EVERYTHING

    def load(self, sort: Sort | None = None, query: Query | None = None) -> None:
        """Read which abstracts there are, and their order; without arguments as it was.

        With words in the query and :attr:`Sort.TEXT` those that fit best come first.
        """
        if sort is not None or query is not None:
            self._given = None
        self.sort = sort or self.sort
        self.query = self.query if query is None else query
        with translated(self._path):
            if self._given is not None:
                self._numbers = list(present(self._connection, self._given))
            elif self.query == EVERYTHING:
                self._numbers = sorted_documents(self._connection, self.sort)
            else:
                hits = [hit.number for hit in search.find(self._connection, self.query, limit=-1)]
                if self.sort is not Sort.TEXT:
                    wanted, every = set(hits), sorted_documents(self._connection, self.sort)
                    hits = [number for number in every if number in wanted]
                self._numbers = hits
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
            self._places = {listed: place for place, listed in enumerate(self._numbers)}
        return self._places.get(number)

    def page(self, offset: int, limit: int) -> list[DocumentSummary]:
        """Some rows, as the project is now.

        Args:
            offset: The first one.
            limit: At most so many; abstracts that went out of the project since are left out.
        """
        start = max(offset, 0)
        with translated(self._path):
            return document_summaries(self._connection, self._numbers[start : start + limit])
