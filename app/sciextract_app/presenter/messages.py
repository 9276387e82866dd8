"""What the desk says: answers to keys, news of what works beside, and what was said before."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sciextract_app.presenter.shown import Feedback

NEWS_SECONDS = 8.0
"""News that were to be seen for so long go with the next key; nobody has to be at the desk to read them."""
MOST_KEPT = 200


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the past.

    Attributes:
        at: The time of the day.
        message: Its words.
        problem: Whether it said why something was not done.
    """

    at: str
    message: str
    problem: bool


class Messages:
    """Two places, so that news never take the place of the answer to a key.

    Args:
        clock: Seconds, for the age of news.
        now: The time of the day.

    Attributes:
        answer: What came of the last key.
        news: What a worker told last, until it has been seen.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._clock = clock
        self._now = now
        self._told = clock()
        self._said: deque[Said] = deque(maxlen=MOST_KEPT)
        self.answer = Feedback()
        self.news = Feedback()

    @property
    def said(self) -> list[Said]:
        """What was said, the latest first."""
        return list(reversed(self._said))

    def reply(self, feedback: Feedback) -> None:
        """Answer a key; an empty answer clears the last one."""
        self.answer = feedback
        if self._clock() - self._told >= NEWS_SECONDS:
            self.news = Feedback()
        self._keep(feedback)

    def inform(self, feedback: Feedback, *, passing: bool = False) -> None:
        """Tell what no key asked for; an empty message changes nothing.

        Args:
            feedback: The message.
            passing: Whether it only says how far something is: such a one is not kept.
        """
        if not feedback.message:
            return
        self.news, self._told = feedback, self._clock()
        if not passing:
            self._keep(feedback)

    def over(self) -> None:
        """What the news spoke of is over."""
        self.news = Feedback()

    def _keep(self, feedback: Feedback) -> None:
        last = self._said[-1].message if self._said else ""
        if feedback.message and feedback.message != last:
            at = self._now().strftime("%H:%M:%S")
            self._said.append(Said(at, feedback.message, feedback.problem))
