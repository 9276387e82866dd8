"""One abstract with everything that waits between it and the other sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sciextract.metrics.differences import Layer
from sciextract.store.project import Project
from sciextract.store.state.draft import Draft
from sciextract.workflows.adjudicate import Verdict
from sciextract.workflows.decisions import Decisions
from sciextract.workflows.disputed import BothSides, Dispute, both_sides
from sciextract.workflows.other_sides import OtherSide

Place = tuple[int, int, int, str, str]
OTHER: Mapping[Verdict, Verdict] = {"mine": "theirs", "theirs": "mine"}
"""Of each side the other one."""
_LAYERS = list(Layer)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A difference with the two sides that it is between.

    Attributes:
        dispute: The difference.
        both: The abstract as either side has it.
        place: Where it comes in the order of review.
    """

    dispute: Dispute
    both: BothSides
    place: Place

    @property
    def id(self) -> tuple[str, str]:
        """What identifies it, also when the abstract is read anew."""
        return self.dispute.source, self.dispute.key


class Abstract:
    """An abstract as it was last read.

    Args:
        draft: The abstract.
        compared: It and the other sides that said something about it.
        decisions: What was decided.

    Attributes:
        waiting: The differences in the order of review: by the mention that comes last in each, so that
            mentions are decided before what joins them.
    """

    def __init__(self, draft: Draft, compared: Iterable[BothSides], decisions: Decisions) -> None:
        self.draft = draft
        self.compared = list(compared)
        decided = decisions.keys(draft.stored.number)
        found = (
            Waiting(each, both, _place(each))
            for both in self.compared
            for each in both.waiting(decided)
        )
        self.waiting = sorted(found, key=lambda each: each.place)

    def find(self, wanted: tuple[str, str] | None) -> Waiting | None:
        """The difference of that id, ``None`` when it does not wait (any more)."""
        return next((each for each in self.waiting if each.id == wanted), None)

    def from_place(self, place: Place) -> Waiting | None:
        """The first difference at or behind a place; at the end the first of all."""
        behind = (each for each in self.waiting if each.place >= place)
        return next(behind, None) or next(iter(self.waiting), None)

    def index(self, waiting: Waiting) -> int:
        """Its place among all, from 0."""
        return [each.id for each in self.waiting].index(waiting.id)


def read_abstract(
    project: Project, number: int, sides: Iterable[OtherSide], decisions: Decisions
) -> Abstract | None:
    """An abstract beside what others said about it; ``None`` when it is not in the project."""
    try:
        draft = project.draft(number)
    except KeyError:
        return None
    if draft.progress is None:
        return None
    sources = (each.source_in(project, number) for each in sides)
    compared = (both_sides(project, draft, each) for each in sources if each is not None)
    return Abstract(draft, [each for each in compared if each is not None], decisions)


def _place(dispute: Dispute) -> Place:
    one = dispute.difference
    said = [each for each in (one.first, one.second) if each is not None]
    places = [(each[0].char_start, each[-1].char_end) for side in said for each in side.fragments]
    start, end = max(places)
    return start, end, _LAYERS.index(one.layer), dispute.source, dispute.key
