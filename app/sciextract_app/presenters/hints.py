"""Jump hints: one or two letters over tokens or mentions, which lead there when they are typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
MORE_LETTERS = LETTERS + LETTERS.upper()
Target = int | str
_T = TypeVar("_T", int, str)


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints on the screen.

    Attributes:
        targets: What each hint leads to: a token, or a mention's id.
        places: The character over which each hint is drawn.
        typed: What has been typed of a hint of two letters.
    """

    targets: dict[str, Target]
    places: dict[str, int]
    typed: str = ""

    def remaining(self) -> dict[int, str]:
        """The letters that are still to type, by character."""
        cut = len(self.typed)
        return {
            place: hint[cut:]
            for hint, place in self.places.items()
            if hint.startswith(self.typed) and len(hint) > cut
        }

    def press(self, letter: str) -> Hints | Target | None:
        """The target when the hint is whole, hints when more is to come, ``None`` when there is none."""
        typed = self.typed + letter
        if typed in self.targets:
            return self.targets[typed]
        if any(hint.startswith(typed) for hint in self.targets):
            return Hints(self.targets, self.places, typed)
        return None


def assign_hints(places: Iterable[tuple[_T, int]]) -> Hints:
    """Hints for targets with their characters; the first ones get the shortest."""
    listed = list(places)
    hints = letters_for(len(listed))
    taken: set[int] = set()
    targets: dict[str, Target] = {}
    drawn: dict[str, int] = {}
    for hint, (target, place) in zip(hints, listed, strict=False):
        targets[hint] = target
        drawn[hint] = _free(place, taken)
    return Hints(targets, drawn)


def nearest_first(tokens: Sequence[str], cursor: int) -> list[int]:
    """Tokens by their distance from the cursor; those without letter or digit come last."""
    others = [place for place in range(len(tokens)) if place != cursor]
    return sorted(
        others, key=lambda place: (not any(map(str.isalnum, tokens[place])), abs(place - cursor))
    )


def letters_for(count: int) -> list[str]:
    """So many hints of one or two letters, of which none begins another one; the shortest first.

    Beyond 2,704 places there are none: two letters name no more.
    """
    alphabet = LETTERS if count <= len(LETTERS) ** 2 else MORE_LETTERS
    singles = _singles(count, len(alphabet))
    pairs = (first + second for first in alphabet[singles:] for second in alphabet)
    hints = [*alphabet[:singles], *pairs]
    return hints[:count]


def _singles(count: int, size: int) -> int:
    """How many hints can have one letter when the others need two."""
    return max((n for n in range(size + 1) if n + (size - n) * size >= count), default=0)


def _free(place: int, taken: set[int]) -> int:
    """A character that has no hint yet: mentions may begin at the same one."""
    while place in taken:
        place += 1
    taken.add(place)
    return place
