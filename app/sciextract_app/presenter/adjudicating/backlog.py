"""How many differences wait in which abstracts: counted when needed, and by a worker meanwhile."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence

from sciextract.store.project import Project
from sciextract.workflows.adjudicate import documents_of
from sciextract.workflows.decisions import Decisions
from sciextract.workflows.other_sides import OtherSide
from sciextract_app.presenter.adjudicating.abstract import read_abstract

AT_ONCE = 60
"""Abstracts that one key compares at most: a person waits for it."""


class StillComparing(Exception):
    """None of the abstracts compared so far has differences, and others are still to be compared."""


class Backlog:
    """The abstracts that the other sides have spoken about.

    Args:
        numbers: The abstracts, in the order of the project.
        known: How much waits in some of them, as it was noted last.
        count: Counts anew in one of them.
    """

    def __init__(
        self, numbers: Sequence[int], known: Mapping[int, int], count: Callable[[int], int]
    ) -> None:
        self.numbers = numbers
        self._known = {number: known[number] for number in numbers if number in known}
        self._count = count
        self._looked_at: set[int] = set()
        self._all = frozenset(numbers)

    @property
    def total(self) -> int:
        """Differences, as far as abstracts are counted."""
        return sum(self._known.values())

    @property
    def abstracts(self) -> int:
        """Abstracts that have some."""
        return sum(count > 0 for count in self._known.values())

    @property
    def counted(self) -> int:
        """Abstracts that are counted."""
        return len(self._known)

    def note(self, number: int, count: int) -> None:
        """How much waits in an abstract that the person looks at."""
        if number in self._all:
            self._known[number] = count
            self._looked_at.add(number)

    def learn(self, counts: Mapping[int, int]) -> None:
        """Take what a worker counted; abstracts that were looked at since are known better here."""
        for number in counts.keys() & self._all - self._looked_at:
            self._known[number] = counts[number]

    def beside(self, number: int, step: int) -> int | None:
        """The next (1) or previous (-1) abstract, ``None`` at the ends."""
        place = bisect_right(self.numbers, number)
        if step < 0:
            place -= 1 + (place > 0 and self.numbers[place - 1] == number)
        return self.numbers[place] if 0 <= place < len(self.numbers) else None

    def next_waiting(self, number: int) -> int | None:
        """The next abstract with differences behind one, at the end the first such one.

        Raises:
            StillComparing: None of those compared has any, and others are still to be compared.
        """
        looked = 0
        for each in self._around(number):
            if each not in self._known:
                if looked == AT_ONCE:
                    raise StillComparing
                looked += 1
            if self._known.get(each, 1) and self._counted_anew(each):
                return each
        return None

    def _counted_anew(self, number: int) -> int:
        """What was noted may be older than the last corrections."""
        self._known[number] = self._count(number)
        return self._known[number]

    def _around(self, number: int) -> Iterator[int]:
        place = bisect_right(self.numbers, number)
        yield from self.numbers[place:]
        yield from self.numbers[:place]


def backlog_of(project: Project, sides: Sequence[OtherSide], decisions: Decisions) -> Backlog:
    """The abstracts of some sides; for all merged projects with the counts that the project keeps."""

    def count(number: int) -> int:
        found = read_abstract(project, number, sides, decisions)
        return len(found.waiting) if found else 0

    ids = [source_id for each in sides for source_id in each.source_ids]
    numbers = documents_of(project, ids)
    known = _noted(project) if set(ids) == {*decisions.merged().values()} else {}
    return Backlog(numbers, known, count)


def _noted(project: Project) -> dict[int, int]:
    return dict(project.connection.execute("SELECT document_id, disagreements FROM summary"))
