"""One abstract with everything that waits between it and the other sides."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sciextract.documents.annotations import Layer
from sciextract.store import DocumentState, Project, review
from sciextract.store.sqlite import translated
from sciextract.workflows.adjudicate import Verdict, documents_of
from sciextract.workflows.disagreements import (
    Decisions,
    Dispute,
    DocumentComparison,
    OtherSource,
    compare_with_source,
)

Place = tuple[int, int, int, str, str]
OTHER: Mapping[Verdict, Verdict] = {"mine": "theirs", "theirs": "mine"}
"""Of each side the other one."""
_LAYERS = list(Layer)


@dataclass(frozen=True, slots=True)
class OpenDifference:
    """A difference with the two sides that it is between.

    Attributes:
        dispute: The difference.
        both: The abstract as either side has it.
        place: Where it comes in the order of review.
    """

    dispute: Dispute
    both: DocumentComparison
    place: Place

    @property
    def id(self) -> tuple[str, str]:
        """What identifies it, also when the abstract is read anew."""
        return self.dispute.source, self.dispute.key


class ComparedAbstract:
    """An abstract as it was last read.

    Args:
        document: The abstract.
        compared: It and the other sides that said something about it.
        decisions: What was decided.

    Attributes:
        waiting: The differences in the order of review: by the mention that comes last in each, so that
            mentions are decided before what joins them.
    """

    def __init__(
        self, document: DocumentState, compared: Iterable[DocumentComparison], decisions: Decisions
    ) -> None:
        self.document = document
        self.compared = list(compared)
        decided = decisions.keys(document.stored.number)
        found = (
            OpenDifference(each, both, _place(each))
            for both in self.compared
            for each in both.waiting(decided)
        )
        self.waiting = sorted(found, key=lambda each: each.place)

    def find(self, wanted: tuple[str, str] | None) -> OpenDifference | None:
        """The difference of that id, ``None`` when it does not wait (any more)."""
        return next((each for each in self.waiting if each.id == wanted), None)

    def from_place(self, place: Place) -> OpenDifference | None:
        """The first difference at or behind a place; at the end the first of all."""
        behind = (each for each in self.waiting if each.place >= place)
        return next(behind, None) or next(iter(self.waiting), None)

    def index(self, waiting: OpenDifference) -> int:
        """Its place among all, from 0."""
        return [each.id for each in self.waiting].index(waiting.id)


def read_abstract(
    project: Project, number: int, sides: Iterable[OtherSource], decisions: Decisions
) -> ComparedAbstract | None:
    """An abstract and the annotations of others; ``None`` when it is not in the project."""
    try:
        document = project.document_state(number)
    except KeyError:
        return None
    if document.progress is None:
        return None
    sources = (each.source_in(project, number) for each in sides)
    compared = (
        compare_with_source(project, document, each) for each in sources if each is not None
    )
    return ComparedAbstract(document, [each for each in compared if each is not None], decisions)


def _place(dispute: Dispute) -> Place:
    one = dispute.difference
    said = [each for each in (one.first, one.second) if each is not None]
    places = [(each[0].char_start, each[-1].char_end) for side in said for each in side.fragments]
    start, end = max(places)
    return start, end, _LAYERS.index(one.layer), dispute.source, dispute.key


AT_ONCE = 60
"""Abstracts that one key compares at most: a person waits for it."""


class ComparisonPending(Exception):
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

    def neighbour(self, number: int, step: int) -> int | None:
        """The next (1) or previous (-1) abstract, ``None`` at the ends."""
        place = bisect_right(self.numbers, number)
        if step < 0:
            place -= 1 + (place > 0 and self.numbers[place - 1] == number)
        return self.numbers[place] if 0 <= place < len(self.numbers) else None

    def next_waiting(self, number: int) -> int | None:
        """The next abstract with differences behind one, at the end the first such one.

        Raises:
            ComparisonPending: None of those compared has any, and others are still to be compared.
        """
        looked = 0
        for each in self._around(number):
            if each not in self._known:
                if looked == AT_ONCE:
                    raise ComparisonPending
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


def backlog_of(project: Project, sides: Sequence[OtherSource], decisions: Decisions) -> Backlog:
    """The abstracts of some sides; for all merged projects with the counts that the project keeps."""

    def count(number: int) -> int:
        found = read_abstract(project, number, sides, decisions)
        return len(found.waiting) if found else 0

    ids = [source_id for each in sides for source_id in each.source_ids]
    numbers = documents_of(project, ids)
    known = (
        review.disagreements(project.connection)
        if set(ids) == {*decisions.merged().values()}
        else {}
    )
    return Backlog(numbers, known, count)


def open_differences(project: Project) -> int:
    """Differences with merged projects, as the project noted them last; cheap enough for every opening."""
    with translated(project.path):
        return review.count_disagreements(project.connection)
