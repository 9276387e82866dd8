"""Saved queues at the desk: which there are, which one is worked on, and how far the person is in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sciextract.store import queries, review
from sciextract.store.coverage import read_sought
from sciextract.store.quality_checks import Check, Finding
from sciextract.store.queries import SavedQueue
from sciextract.text.english import counted
from sciextract_app.review.model.document_order import CHECK, DocumentOrder, Listing
from sciextract_app.review.model.state import CheckFindings, ReviewState
from sciextract_app.shared.actions import key_of
from sciextract_app.shared.presenters import Guard, guarded
from sciextract_app.shared.view_models import Feedback, problem

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A saved queue, as it is offered.

    Attributes:
        name: Its name.
        place: Where the person is in it, from one.
        length: Abstracts of it that are in the project.
        done: Those of them that are done.
        active: Whether it is worked on now.
    """

    name: str
    place: int
    length: int
    done: int
    active: bool


class Queues:
    """The saved queues of a project.

    The lists lie in the project and travel with it. How far the person is in each, and which one they were
    working on, is theirs alone and lies with the place where they stopped.

    Args:
        state: The state of the desk.
        guard: Turns errors into words.
        places: The abstract that was open last, by queue.
    """

    def __init__(self, state: ReviewState, guard: Guard, places: Mapping[str, int]) -> None:
        self._state = state
        self._guard = guard
        self._places = dict(places)
        self._active: DocumentOrder | None = None

    @property
    def active(self) -> str:
        """The queue or check that is worked on, empty for none."""
        return self._active.name if self._active else ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The abstracts of the queue that is worked on."""
        return tuple(self._active.numbers or ()) if self._active else ()

    @property
    def places(self) -> dict[str, int]:
        """The abstract that was open last, by queue."""
        # A check has no name that would hold tomorrow: its place is not kept.
        if self._active is None or self._active.kind == CHECK:
            return dict(self._places)
        return self._places | {self._active.name: self._active.last}

    def recall(self, name: str) -> None:
        """Go on with a queue; nothing happens when it is not there any more."""
        queue = queries.read_queue(self._state.project, name) if name else None
        if queue is not None:
            self._take(queue)

    def lines(self) -> list[QueueLine]:
        """All queues by name."""
        project, lines = self._state.project, []
        for name in queries.queue_lengths(project):
            queue = queries.read_queue(project, name)
            if queue is not None:
                order = self._order(queue, self.places.get(name, 0))
                place, length = order.position
                done = review.count_done_of(project.connection, queue.numbers, order.sought)
                lines.append(QueueLine(name, place, length, done, name == self.active))
        return lines

    @guarded
    def save(self, name: str, listing: Listing, words: str = "") -> Feedback:
        """Keep the list as it is as a queue, and work on it.

        Args:
            name: What the person calls it.
            listing: The list.
            words: What was searched for, as it was typed.
        """
        queue = SavedQueue(name, tuple(listing.numbers), words, listing.sort.value)
        name = queries.save_queue(self._state.project, queue).name
        self._places.pop(name, None)
        if self._state.number in queue.numbers:
            self._places[name] = self._state.number
        return replace(self._start(name), changed=True)

    @guarded
    def start(self, name: str) -> Feedback:
        """Work on a queue, from where the person stopped in it."""
        return self._start(name)

    def leave(self) -> Feedback:
        """Go on in the project's own order; the place in the queue is kept."""
        if self._active is None:
            return problem("No queue is open")
        left, self._places = self._active, self.places
        self._active = None
        self._state.follow(DocumentOrder(self._state.project.connection))
        if left.kind == CHECK:
            return Feedback(f"left the check {left.progress}; {key_of('checks')} checks again")
        return Feedback(f"closed the queue {left.progress}; {key_of('app.queues')} continues it")

    def check(self, check: Check, found: Sequence[Finding]) -> None:
        """Work on the abstracts in which a check has found something, until the queue is left."""
        self._places = self.places
        numbers = tuple(dict.fromkeys(finding.number for finding in found))
        self._active = DocumentOrder(self._state.project.connection, numbers, CHECK, str(check))
        self._state.follow(self._active, CheckFindings(check, found))

    @guarded
    def forget(self, name: str) -> Feedback:
        """Remove a queue; its abstracts stay as they are."""
        queries.remove_queue(self._state.project, name)
        if name == self.active:
            self.leave()
        self._places.pop(name, None)
        return Feedback(f"the queue {name} is deleted; its abstracts are unchanged")

    def _start(self, name: str) -> Feedback:
        queue = queries.read_queue(self._state.project, name)
        if queue is None:
            return problem(f"There is no queue {name} (any more)")
        before = self._state.number
        self._places = self.places
        order = self._take(queue)
        first = order.first()
        if first is None:
            self.leave()
            return problem(f"No abstract of the queue {name} is in the project any more")
        if first != before:
            self._state.load(first)
        order.visit(first)
        keys = ", ".join(map(key_of, ("next-abstract", "previous-abstract", "done")))
        return Feedback(f"queue {order.progress}; followed by {keys}", moved=first != before)

    def _take(self, queue: SavedQueue) -> DocumentOrder:
        self._active = self._order(queue, self._places.get(queue.name, 0))
        self._state.follow(self._active)
        return self._active

    def _order(self, queue: SavedQueue, stopped: int) -> DocumentOrder:
        project = self._state.project
        sought = read_sought(queue.sort, project.schema)
        return DocumentOrder(
            project.connection, queue.numbers, "queue", queue.name, stopped, sought
        )


def suggested_name(listing: Listing, words: str) -> str:
    """What a queue of this list may be called."""
    parts = [words.strip(), "" if listing.is_plain else str(listing.sort)]
    name = ", ".join(filter(None, parts)) or "all"
    return f"{name[: _LONGEST_NAME - 10]} {counted(listing.count(), 'abstract')}"[:_LONGEST_NAME]
