"""Letters over the text that lead to mentions and words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sciextract.store import EntityRow
from sciextract_app.shared.document_view import DocumentView

# The home row first: mentions have letters from there.
LETTERS = "asdfghjklqwertyuiopzxcvbnm"
MORE_LETTERS = LETTERS + LETTERS.upper()
# The others are left for mentions; with these, no word of an abstract needs Shift.
_LETTERS_OF_WORDS = 20
Target = int | str


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


class JumpLetters:
    """Letters that lead to the mentions and tokens of one abstract, the same ones at every press.

    A mention has one letter; a token has two, of which the first is no mention's. A mention for which no letter is left
    has those of its token.

    Args:
        tokens: How many tokens the abstract has.
    """

    def __init__(self, tokens: int) -> None:
        # From the end: letters of mentions come from the home row.
        firsts = LETTERS[::-1][:_LETTERS_OF_WORDS] + LETTERS.upper()[::-1]
        self._first = firsts[: -(-tokens // len(LETTERS))]
        self._free = [letter for letter in MORE_LETTERS if letter not in self._first]
        self._of: dict[str, str] = {}

    def over(
        self, view: DocumentView, mentions: Iterable[EntityRow], tokens: Iterable[int] = ()
    ) -> Hints:
        """Hints for some mentions and, where no mention begins, for tokens; none covers another one."""
        for row in view.entities:
            if row.id not in self._of and self._free:
                self._of[row.id] = self._free.pop(0)
        targets: dict[str, Target] = {}
        places: dict[str, int] = {}
        taken: set[int] = set()
        for row in mentions:
            own = range(view.token_at(row.char_start), view.token_at(row.char_end - 1) + 1)
            names = [self._of[row.id]] if row.id in self._of else map(self.of_token, own)
            name = next((offered for offered in names if offered not in targets), "")
            if name:
                place = row.char_start
                while place in taken:  # mentions may begin at the same character
                    place += 1
                taken.add(place)
                targets[name], places[name] = row.id, place
        for token in tokens:
            name, place = self.of_token(token), view.token_span(token).char_start
            if place not in taken and name not in targets:
                targets[name], places[name] = token, place
        return Hints(targets, places)

    def of_token(self, token: int) -> str:
        """Its two letters; in a text of more than 1,196 tokens they are those of others, far away, too."""
        first, second = divmod(token % self.most_tokens, len(LETTERS))
        return self._first[first] + LETTERS[second]

    @property
    def most_tokens(self) -> int:
        """How many tokens can be told apart."""
        return len(self._first) * len(LETTERS)
