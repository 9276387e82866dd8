"""Which abstract is predicted next: those behind the one that the person looks at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain


@dataclass(frozen=True, slots=True)
class _Aim:
    """Where the person is.

    Attributes:
        number: The open abstract, 0 for none.
        numbers: The way they go, ``None`` for the project's own order.
    """

    number: int = 0
    numbers: Sequence[int] | None = None


class Plan:
    """Told by the desk where the person goes, asked by the worker what to predict next.

    The one thread only puts a new value in place, the other one only reads it: there is nothing to lock.
    """

    def __init__(self) -> None:
        self._aim = _Aim()
        self._seen: _Aim | None = None

    def aim(self, number: int, numbers: Sequence[int] | None) -> None:
        """The person looks at this abstract, on this way."""
        aim = self._aim
        if number != aim.number or numbers is not aim.numbers:
            self._aim = _Aim(number, numbers)

    def is_new(self) -> bool:
        """Whether the person went elsewhere since this was asked last."""
        seen, self._seen = self._seen, self._aim
        return seen is not self._seen

    def over(self, needed: Sequence[int]) -> Iterator[int]:
        """Every one of the abstracts once: the open one, what is behind it on the way, what is before it.

        Where the person goes elsewhere it goes on from there.

        Args:
            needed: Numbers of abstracts, ascending.
        """
        left = set(needed)
        while left:
            aim = self._aim
            for number in _from(aim, needed):
                if number in left:
                    left.discard(number)
                    yield number
                if self._aim is not aim:
                    break


def _from(aim: _Aim, needed: Sequence[int]) -> Iterator[int]:
    own = _around(needed, bisect_left(needed, aim.number))
    if aim.numbers is None:
        return own
    try:
        place = aim.numbers.index(aim.number)
    except ValueError:
        place = 0
    return chain((aim.number,), _around(aim.numbers, place), own)


def _around(numbers: Sequence[int], place: int) -> Iterator[int]:
    """All of them, beginning at a place and going round."""
    for each in range(place, len(numbers)):
        yield numbers[each]
    for each in range(min(place, len(numbers))):
        yield numbers[each]
