"""The review desk without its screen: keys go in, values to show come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sciextract.errors import SciextractError
from sciextract.store.actions.api import ItemRef
from sciextract.store.events import read_event
from sciextract.store.project import Project
from sciextract_app.presenters import key_dispatch, panes, session
from sciextract_app.presenters.actions import keymap, plain
from sciextract_app.presenters.bulk import Everywhere
from sciextract_app.presenters.document_order import Route
from sciextract_app.presenters.document_view import newest_model
from sciextract_app.presenters.key_dispatch import Pointing
from sciextract_app.presenters.queue import Order
from sciextract_app.presenters.saved_queues import Queues
from sciextract_app.presenters.session import Totals, totals
from sciextract_app.presenters.state import Clock, Situation
from sciextract_app.presenters.view_models import (
    ClusterLine,
    Feedback,
    Header,
    Hint,
    Inspector,
    Mode,
    Passage,
    RelationLine,
    problem,
)


class Desk:
    """One person at one project.

    Args:
        project: The open project.
        number: The abstract to open; without one where the person stopped, else the first that is not done.
        order: How undecided items follow each other; without one as when the person stopped.
        seed: Of the random order.
        threshold: The score from which ``A`` accepts.
        keys: Keys by action id that replace the default ones.
        clock: Seconds, for the time spent on a decision.

    Attributes:
        route: The way through the abstracts.
        queues: Saved queues; one of them may be the route.
        predicting: Abstracts predicted so far and all that need it; the app sets it while a model runs.
        totals: Numbers of the project for the header, as old as the last change of abstract.
        counts: How often they were counted; in large projects acceptance is counted elsewhere after that.
        pointing: What the mouse does.
        everywhere: What is told of a decision that goes through the whole project.
    """

    def __init__(
        self,
        project: Project,
        number: int | None = None,
        *,
        order: Order | None = None,
        seed: int | None = None,
        threshold: float = 0.8,
        keys: Mapping[str, str] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        before = session.recall(project.path)
        chosen = order or (_order(before.order) if before else Order.TEXT)
        drawn = seed if seed is not None else (before.seed if before else 0)
        self._now = Situation(project, chosen, drawn, threshold, clock)
        self._keys = keymap(keys)
        self.route = Route(project.connection)
        self.predicting: tuple[int, int] | None = None
        self.totals: Totals = totals(project.connection)
        self.counts = 1
        self.pointing = Pointing(self._now, self._guarded)
        self.everywhere = Everywhere(self._now)
        self.queues = Queues(
            *(self._now, self._guarded, self._take), before.places if before else {}
        )
        self.queues.recall(before.queue if before else "")
        self._model = newest_model(project.connection)
        self._begin(number, before)

    @property
    def number(self) -> int:
        """The open abstract, 0 for none."""
        return self._now.number

    @property
    def mode(self) -> Mode:
        """What the next key means."""
        return self._now.mode

    @property
    def focus(self) -> ItemRef | None:
        """The item that keys speak of."""
        return self._now.focus

    @property
    def waiting(self) -> int:
        """Undecided items of the open abstract."""
        return self._now.waiting()

    @property
    def situation(self) -> Situation:
        """The state, for panes that need more than the views."""
        return self._now

    def press(self, key: str) -> Feedback:
        """Do what a key means now; what is refused comes back as a problem, never as an exception."""
        return self._guarded(partial(self._press, plain(key)))

    def open(self, number: int) -> Feedback:
        """Open an abstract of the project."""
        return self._guarded(partial(self._open, number))

    def refresh(self) -> Feedback:
        """Read anew what other processes and model runs have changed; focus and mode stay."""
        return self._guarded(self._refresh)

    def is_stale(self) -> bool:
        """Whether another connection has written since the desk last read; cheap enough for every second."""
        return self._now.project.data_version() != self._now.seen

    def set_order(self, order: Order, seed: int = 0) -> Feedback:
        """Change how undecided items follow each other."""
        self._now.order, self._now.seed = order, seed
        return self.refresh()

    def follow(self, numbers: Sequence[int] | None) -> None:
        """Take abstracts in the order of a list; ``None`` for the project's own order.

        A queue that is worked on stays the way: it is left by :meth:`Queues.leave`.
        """
        if not self.queues.active:
            self.route = Route(self._now.project.connection, numbers)

    def _take(self, route: Route) -> None:
        self.route = route

    def set_note(self, text: str) -> Feedback:
        """Replace the abstract's note."""
        return self._guarded(partial(self._note, text))

    def remember(self) -> None:
        """Note where the person is, for the next time."""
        now = self._now
        if now.number:
            place = session.Stopped(
                *(now.number, session.told(now.focus), now.order, now.seed),
                *(self.queues.active, self.queues.places),
            )
            session.remember(now.project.path, place)

    def passage(self) -> Passage:
        """The text with everything that is drawn into it."""
        return panes.passage(self._now)

    def relations(self, *, everything: bool = False) -> tuple[RelationLine, ...]:
        """Relations of the focused mention, or of the abstract."""
        return panes.relation_lines(self._now, everything=everything)

    def clusters(self) -> tuple[ClusterLine, ...]:
        """Clusters of the abstract."""
        return panes.cluster_lines(self._now)

    def inspector(self) -> Inspector:
        """Everything about the focused item."""
        return panes.inspector(self._now)

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something now."""
        return key_dispatch.footer(self._now)

    def header(self) -> Header:
        """The project as a whole; its numbers are as old as :attr:`totals`."""
        known = self.totals
        numbers = (known.done, known.documents, known.acceptance)
        return Header(
            *(self._now.project.path.name, *numbers, self._model, self.predicting),
            self.queues.told,
        )

    def _begin(self, number: int | None, before: session.Stopped | None) -> None:
        if number is None and before and self._now.load(before.number, before.focus):
            return
        wanted = self.route.first() if number is None else number
        if wanted is not None:
            self._now.load(wanted)

    def _guarded(self, work: Callable[[], Feedback]) -> Feedback:
        number = self._now.number
        try:
            feedback = work()
        except SciextractError as error:
            self._now.leave_mode()
            feedback = problem(f"{error.message}. {error.hint}" if error.hint else error.message)
        if self._now.number != number:
            self.queues.visit(self._now.number)
            self.remember()
        return feedback

    def _press(self, key: str) -> Feedback:
        number, action = self._now.number, self._keys.get(key)
        feedback = key_dispatch.press(self._now, self.route, key, action)
        left = feedback.moved or self._now.number != number
        if feedback.changed and (left or (action is not None and action.id == "done")):
            self._count()
        return feedback

    def _count(self) -> None:
        self.totals = totals(self._now.project.connection, self.totals)
        self.counts += 1
        self.queues.refresh(self.totals.documents)

    def _open(self, number: int) -> Feedback:
        before = self._now.number
        if not self._now.load(number):
            self._now.load(before)
            return problem(f"The project has no abstract {number} (any more)")
        return Feedback(moved=number != before)

    def _note(self, text: str) -> Feedback:
        self._now.after_action(self._now.project.actions.note(self.number, text))
        return Feedback("note saved", changed=True)

    def _refresh(self) -> Feedback:
        now, before, focus = self._now, self._now.scene, self._now.focus
        connection = now.project.connection
        self._count()
        self._model = newest_model(connection)
        if not now.read():
            now.number = 0
            self._begin(None, None)
            gone = "The abstract is not in the project any more" if before else ""
            return Feedback(gone, moved=True)
        if focus is None or now.here.row(focus) is not None:
            return Feedback()
        now.settle()
        return Feedback(self._what_happened())

    def _what_happened(self) -> str:
        """Who took the focused item away: the newest event of the abstract."""
        connection = self._now.project.connection
        query = "SELECT max(event_id) FROM change WHERE document_id = ?"
        newest = connection.execute(query, (self.number,)).fetchone()[0]
        event = read_event(connection, newest) if newest else None
        return f"The item is gone: {event.kind} by {event.author}" if event else "The item is gone"


def _order(name: str) -> Order:
    return Order(name) if name in list(Order) else Order.TEXT
