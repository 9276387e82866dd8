"""Labels: how often the model was right, and how many items are in which state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sciextract.store.looking.distributions import LabelStates
from sciextract.store.looking.stats import LabelRow

KINDS = {"entity": "Entities", "relation": "Relations", "link": "Coreference"}
OUTCOMES = ("accepted", "edited", "rejected")
STATES = ("accepted", "edited", "added", "imported", "undecided", "rejected")


@dataclass(frozen=True, slots=True)
class LabelBar:
    """A label's numbers.

    Attributes:
        name: The label; a heading where there are no counts.
        counts: One number per part of the bar.
        after: Words behind the bar.
    """

    name: str
    counts: tuple[int, ...] = ()
    after: str = ""


def acceptance_bars(rows: Iterable[LabelRow]) -> list[LabelBar]:
    """Per label what became of the model's decided items: accepted, edited, rejected."""
    known = list(rows)
    return _by_kind([(row.kind, row.label, _outcome(row)) for row in known])


def state_bars(rows: Iterable[LabelStates]) -> list[LabelBar]:
    """Per label the items in each state, in the order of :data:`STATES`."""
    return _by_kind([(row.kind, row.label, _states(row)) for row in rows])


def _by_kind(rows: Sequence[tuple[str, str, LabelBar]]) -> list[LabelBar]:
    found: list[LabelBar] = []
    for kind, heading in KINDS.items():
        bars = [bar for each, _, bar in rows if each == kind]
        if bars:
            found += [LabelBar(heading), *bars]
    return found


def _outcome(row: LabelRow) -> LabelBar:
    decided = row.accepted + row.edited + row.rejected
    share = "  none" if row.acceptance is None else f"{row.acceptance * 100:4.0f} %"
    after = f"{share} of {decided:,}, {row.added:,} missed"
    return LabelBar(row.label or "links", (row.accepted, row.edited, row.rejected), after)


def _states(row: LabelStates) -> LabelBar:
    counts = tuple(row.states.get(state, 0) for state in STATES)
    waiting = row.states.get("undecided", 0)
    after = f"{sum(counts):,}, {waiting:,} undecided"
    return LabelBar(row.label or "links", counts, after)
