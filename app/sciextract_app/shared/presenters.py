"""What presenters share: one name for each key, the time of decisions, and refusals as answers to a key."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from sciextract.errors import SciextractError
from sciextract_app.shared.view_models import Feedback, problem

# Textual has names for printable keys; in key maps people write the character.
_NAMES = {
    "semicolon": ";",
    "full_stop": ".",
    "ampersand": "&",
    "comma": ",",
    "plus": "+",
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "delete": "backspace",
    "return": "enter",
}


def plain(key: str) -> str:
    """A key by one name: Textual's names of printable keys become the character."""
    if key.startswith("upper_") and len(key) == len("upper_x"):
        return key[-1].upper()
    return _NAMES.get(key, key)


# Longer without a key is a break, not thinking: it would spoil the recorded times.
MOST_SECONDS = 120.0
Clock = Callable[[], float]


class Stopwatch:
    """The time that a decision takes.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock()

    def restart(self) -> None:
        """Count from now."""
        self._since = self._clock()

    def lap(self) -> float:
        """Seconds since the last restart or lap, without the time of a longer break; counts from now."""
        now = self._clock()
        spent, self._since = min(max(now - self._since, 0.0), MOST_SECONDS), now
        return round(spent, 1)


Guard = Callable[[Callable[[], Feedback]], Feedback]


class Guarded(Protocol):
    """A presenter whose refusals come back as problems."""

    @property
    def _guard(self) -> Guard: ...


_Method = TypeVar("_Method", bound=Callable[..., Feedback])


def guarded(method: _Method) -> _Method:
    """Runs a method through the presenter's guard, which turns errors into problems."""

    @wraps(method)
    def run(self: Guarded, /, *args: Any, **kwargs: Any) -> Feedback:
        return self._guard(lambda: method(self, *args, **kwargs))

    return cast(_Method, run)


def refusal(error: SciextractError) -> Feedback:
    """Why something was refused, with the next step."""
    return problem(f"{error.message}. {error.hint}" if error.hint else error.message)
