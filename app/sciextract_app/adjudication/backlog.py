"""What waits for adjudication: the differences of an abstract in their order, and the abstracts that have some."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sciextract.documents.annotations import Layer
from sciextract.store import DocumentState, Project, review
from sciextract.workflows.adjudicate import compare, documents_of
from sciextract.workflows.disagreements import (
    Decisions,
    Dispute,
    DocumentComparison,
    OtherSource,
)
from sciextract.workflows.majority import propose

# Abstracts that one key compares at most: the person waits for it, and can press the key again.
AT_ONCE = 60
Place = tuple[int, int, int, str, str]
_LAYERS = list(Layer)


@dataclass(frozen=True, slots=True)
class OpenDifference:
    """A difference with the two sides that it is between.

    Attributes:
        dispute: The difference.
        both: The abstract as either side has it.
    """

    dispute: Dispute
    both: DocumentComparison

    @property
    def id(self) -> tuple[str, str]:
        """What identifies it, also when the abstract is read anew."""
        return self.dispute.source, self.dispute.key

    @property
    def place(self) -> Place:
        """Where it comes in the order of review: by the last of its mentions.

        So mentions are decided before what joins them.
        """
        one = self.dispute.difference
        items = [item for item in (one.first, one.second) if item is not None]
        places = [(at[0].char_start, at[-1].char_end) for item in items for at in item.fragments]
        return *max(places, default=(0, 0)), _LAYERS.index(one.layer), *self.id


class ComparedAbstract:
    """An abstract as it was last read.

    Args:
        document: The abstract.
        compared: It and the other sides that said something about it, by their numbers.
        decisions: What was decided.

    Attributes:
        waiting: The differences in the order of review.
    """

    def __init__(
        self,
        document: DocumentState,
        compared: Mapping[int, DocumentComparison],
        decisions: Decisions,
    ) -> None:
        self.document = document
        self.compared = [*compared.values()]
        decided = decisions.keys(document.number)
        merged = {
            source: compared[source] for source in compared.keys() & {*decisions.merged().values()}
        }
        most = propose(decisions.project, document.number, merged)
        found = [
            OpenDifference(replace(dispute, proposal=most.get(dispute.key)), both)
            for both in self.compared
            for dispute in both.waiting(decided)
        ]
        self.waiting = sorted(found, key=lambda difference: difference.place)

    def find(self, wanted: tuple[str, str]) -> OpenDifference | None:
        """The difference of that id, ``None`` when it does not wait (any more)."""
        return next((difference for difference in self.waiting if difference.id == wanted), None)

    def from_place(self, place: Place) -> OpenDifference | None:
        """The first difference at or behind a place; at the end the first of all."""
        behind = (difference for difference in self.waiting if difference.place >= place)
        return next(behind, None) or next(iter(self.waiting), None)

    def index(self, waiting: OpenDifference) -> int:
        """Its place among all, from 0."""
        return [difference.id for difference in self.waiting].index(waiting.id)


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
    sources = (side.source_in(project, number) for side in sides)
    compared = compare(project, document, [source for source in sources if source is not None])
    return ComparedAbstract(document, compared, decisions)


class ComparisonPending(Exception):
    """None of the abstracts compared so far has differences, and others are still to be compared."""


class Backlog:
    """The abstracts that the other sides have annotated; of all merged projects with the counts that are kept.

    Args:
        project: The open project.
        sides: The other sides.
        decisions: What was decided.

    Attributes:
        numbers: The abstracts, in the order of the project.
    """

    def __init__(
        self, project: Project, sides: Sequence[OtherSource], decisions: Decisions
    ) -> None:
        ids = {source_id for side in sides for source_id in side.source_ids}
        self.numbers = documents_of(project, sorted(ids))
        merged = ids == {*decisions.merged().values()}
        known = review.disagreements(project.connection) if merged else {}
        self._known = {number: known[number] for number in self.numbers if number in known}
        self._read = partial(read_abstract, project, sides=sides, decisions=decisions)
        self._all = frozenset(self.numbers)

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
        looked, place = 0, bisect_right(self.numbers, number)
        for following in (*self.numbers[place:], *self.numbers[:place]):
            if following not in self._known:
                if looked == AT_ONCE:
                    raise ComparisonPending
                looked += 1
            if self._known.get(following, 1):
                # Counted anew: what was noted may be older than the last corrections.
                found = self._read(following)
                self._known[following] = len(found.waiting) if found else 0
                if self._known[following]:
                    return following
        return None


def open_differences(project: Project) -> int:
    """Differences with merged projects, as the project noted them last; cheap enough for every opening."""
    return review.count_disagreements(project.connection)
