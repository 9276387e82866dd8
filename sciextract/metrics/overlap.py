"""Mentions that share characters, and how many of them can be matched one to one."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from sciextract.metrics.scorable import Mention

#: First and last offset, end exclusive.
Extent: TypeAlias = tuple[int, int]


def extent_of(mentions: Iterable[Mention]) -> Extent:
    """The range from the first to the last offset of mentions."""
    edges = [edge for mention in mentions for edge in (mention[0], mention[-1])]
    return min(edges), max(edges)


def crossing(first: Sequence[Extent], second: Sequence[Extent]) -> Iterator[tuple[int, int]]:
    """Index pairs of ranges that share an offset, ``first`` in order."""
    order = sorted(range(len(second)), key=second.__getitem__)
    starts = [second[index][0] for index in order]
    longest = max((end - start for start, end in second), default=0)
    for index, (start, end) in enumerate(first):
        low, high = bisect_left(starts, start - longest), bisect_left(starts, end)
        yield from ((index, other) for other in order[low:high] if second[other][1] > start)


def shared_length(first: Mention, second: Mention) -> int:
    """How many offsets two mentions share, fragment by fragment.

    >>> shared_length((0, 4, 6, 9), (3, 7))
    2
    """
    return sum(
        [
            max(0, min(end, other_end) - max(start, other_start))
            for start, end in zip(first[::2], first[1::2], strict=True)
            for other_start, other_end in zip(second[::2], second[1::2], strict=True)
        ]
    )


def closeness(first: Mention, second: Mention) -> float:
    """Shared offsets over all, 0 to 1 (Dice 1945, "Measures of the Amount of Ecologic Association").

    >>> closeness((0, 4), (2, 6))
    0.5
    """
    both = _length(first) + _length(second)
    return 2 * shared_length(first, second) / both if both else 0.0


def matched(first: Sequence[Mention], second: Sequence[Mention]) -> int:
    """The greatest number of overlapping mentions that can be paired, each at most once.

    A maximum bipartite matching by augmenting paths (Kuhn 1955, "The Hungarian Method for the
    Assignment Problem"). The number does not depend on the order of the mentions, nor of the sides.
    """
    neighbours: list[list[int]] = [[] for _ in first]
    extents = [[extent_of([mention]) for mention in side] for side in (first, second)]
    for one, other in crossing(*extents):
        if shared_length(first[one], second[other]):
            neighbours[one].append(other)
    partner: dict[int, int] = {}
    return sum([_augment(start, neighbours, partner) for start in range(len(first))])


def _augment(start: int, neighbours: Sequence[Sequence[int]], partner: dict[int, int]) -> bool:
    """Pair ``start``, moving earlier pairs where that is needed; whether it could be done.

    Args:
        start: Index of a mention of the first side.
        neighbours: For each of the first side the ones of the second that it overlaps.
        partner: Who of the first side each one of the second is paired with; changed in place.
    """
    reached_from: dict[int, int] = {}
    paired_with: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        one = waiting.popleft()
        for other in neighbours[one]:
            if other in reached_from:
                continue
            reached_from[other] = one
            if other not in partner:
                _shift(other, reached_from, paired_with, partner)
                return True
            paired_with[partner[other]] = other
            waiting.append(partner[other])
    return False


def _shift(
    free: int, reached_from: dict[int, int], paired_with: dict[int, int], partner: dict[int, int]
) -> None:
    """Move every pair by one on the path that led to ``free``; the path starts with one unpaired."""
    other: int | None = free
    while other is not None:
        one = reached_from[other]
        partner[other] = one
        other = paired_with.get(one)


def _length(mention: Mention) -> int:
    return sum(mention[1::2]) - sum(mention[::2])
