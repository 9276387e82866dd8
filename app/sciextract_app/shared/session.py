"""What the desk keeps of a session: where the person stopped, totals and messages."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from sciextract import atomic
from sciextract.inference.settings import SURE
from sciextract.store import AttributeRef, EntityRef, ItemRef, LinkRef, Project, RelationRef, review
from sciextract.store.coverage import find_missing
from sciextract_app.settings import user_folder
from sciextract_app.shared.view_models import Feedback

THRESHOLD = 0.8
"""The score from which ``A`` accepts where nothing is promised, unless the person changes it."""


@dataclass(frozen=True, slots=True)
class Session:
    """A place in a project.

    Attributes:
        number: The abstract.
        item: The focused item: its kind and ids, empty for none.
        order: How undecided items follow each other.
        queue: The saved queue that is worked on, empty for none.
        places: The abstract that was open last in each saved queue.
        sure: The least score by task of suggestions that are right as often as promised, ``None`` before that is known.
        share: How often that is.
        threshold: The score from which ``A`` accepts where nothing is promised.
    """

    number: int
    item: tuple[str, ...] = ()
    order: str = "text"
    queue: str = ""
    places: Mapping[str, int] = field(default_factory=dict)
    sure: Mapping[str, float] | None = None
    share: float = SURE["entity"]
    threshold: float = THRESHOLD

    @property
    def focus(self) -> ItemRef | None:
        """The focused item."""
        return item_of(self.item)


_KINDS: Mapping[str, type[EntityRef | RelationRef | LinkRef | AttributeRef]] = {
    "entity": EntityRef,
    "relation": RelationRef,
    "link": LinkRef,
    "attribute": AttributeRef,
}


def item_of(fields: tuple[str, ...]) -> ItemRef | None:
    """The item that plain strings name, ``None`` for none."""
    kind, *ids = fields or ("",)
    try:
        return _KINDS[kind](*ids)
    except (KeyError, TypeError):  # written by another version
        return None


def item_fields(item: ItemRef | None) -> tuple[str, ...]:
    """An item as plain strings."""
    kinds = (kind for kind, class_ in _KINDS.items() if isinstance(item, class_))
    return () if item is None else (next(kinds), *astuple(item))


def save(project: Path, session: Session) -> None:
    """Note a place. It is a convenience: a folder that takes no files is not an error."""
    file = _file(project)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(file, json.dumps({"project": str(project), **asdict(session)}))


def load(project: Path) -> Session | None:
    """The place that was noted last; ``None`` when there is none, or it cannot be read."""
    try:
        return msgspec.json.decode(_file(project).read_bytes(), type=Session)
    except (OSError, msgspec.MsgspecError):
        return None


def _file(project: Path) -> Path:
    # A hash, since a path may be longer than the name of a file may be.
    digest = hashlib.blake2b(os.fsencode(project.resolve()), digest_size=8).hexdigest()
    return user_folder("state") / "stopped" / f"{digest}.json"


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of a project.

    Attributes:
        documents: Abstracts.
        done: Those that are done.
        acceptance: Share of decided items of the model that were right as they stood, ``None`` without any or in a large project.
        missing: How many were done before a type or a layer came, the one that most lack; empty for none.
    """

    documents: int
    done: int
    acceptance: float | None
    missing: str = ""


MANY = 5_000
"""Abstracts from which on the decisions are not counted: that takes a quarter of a second at 100,000."""


def totals(project: Project) -> Totals:
    """Count the abstracts, and in small projects the decisions, too."""
    connection = project.connection
    documents, done = review.count_done(connection)
    acceptance = review.acceptance(connection) if documents < MANY else None
    lacking, words = find_missing(connection, project.schema) if done else {}, ""
    if lacking:
        layer, label = max(lacking, key=lambda type_: len(lacking[type_]))
        words = f"{len(lacking[layer, label]):,} finished before {label or layer}"
        words += f" (+{len(lacking) - 1})" if len(lacking) > 1 else ""
    return Totals(documents, done, acceptance, words)


NEWS_SECONDS = 8.0
"""News that were to be seen for so long go with the next key; nobody has to be at the desk to read them."""
MOST_KEPT = 200


@dataclass(frozen=True, slots=True)
class PastMessage:
    """A message of the past.

    Attributes:
        at: The time of the day.
        message: Its words.
        problem: Whether it explains why something was not done.
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
        answer: The message of the last key.
        news: The last message of a worker, until it has been seen.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._clock = clock
        self._now = now
        self._news_at = clock()
        self._history: deque[PastMessage] = deque(maxlen=MOST_KEPT)
        self.answer = Feedback()
        self.news = Feedback()

    @property
    def history(self) -> list[PastMessage]:
        """Past messages, the latest first."""
        return list(reversed(self._history))

    def reply(self, feedback: Feedback) -> None:
        """Answer a key; an empty answer clears the last one."""
        self.answer = feedback
        if self._clock() - self._news_at >= NEWS_SECONDS:
            self.news = Feedback()
        self._keep(feedback)

    def inform(self, feedback: Feedback, *, passing: bool = False) -> None:
        """Show a message that no key asked for; an empty message changes nothing.

        Args:
            feedback: The message.
            passing: Whether it only says how far something is: such a one is not kept.
        """
        if not feedback.message:
            return
        self.news, self._news_at = feedback, self._clock()
        if not passing:
            self._keep(feedback)

    def over(self) -> None:
        """What the news spoke of is over."""
        self.news = Feedback()

    def _keep(self, feedback: Feedback) -> None:
        last = self._history[-1].message if self._history else ""
        # A key that is held down would fill the history with one message.
        if feedback.message and feedback.message != last:
            at = self._now().strftime("%H:%M:%S")
            self._history.append(PastMessage(at, feedback.message, feedback.problem))
