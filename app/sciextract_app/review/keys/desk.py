"""The review desk without its screen: keys go in, values to show come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sciextract.documents.schema import EntityType, RelationType
from sciextract.errors import SciextractError
from sciextract.store import (
    AttributeRef,
    EntityRef,
    ItemRef,
    LinkRef,
    Outcome,
    Project,
    RelationRef,
    RelationRow,
    review,
)
from sciextract.store.quality_checks import Check, Finding
from sciextract.store.queries import present
from sciextract_app.review.keys import attributes, key_dispatch, linking, navigation, selecting
from sciextract_app.review.keys.bulk import BulkApply
from sciextract_app.review.model import panes
from sciextract_app.review.model.document_order import DocumentOrder
from sciextract_app.review.model.footer import footer, legend
from sciextract_app.review.model.modes import ChoosingType, Pointing, Relating, Selecting
from sciextract_app.review.model.queue import Order
from sciextract_app.review.model.saved_queues import Queues
from sciextract_app.review.model.state import ReviewState
from sciextract_app.shared import document_view, session
from sciextract_app.shared.actions import BY_ID, Bound, action_of, key_of, undo_hint
from sciextract_app.shared.presenters import Clock, guarded, plain, refusal
from sciextract_app.shared.session import Totals, totals
from sciextract_app.shared.view_models import (
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

_FOCUSED = {
    EntityRef: "mention",
    RelationRef: "relation",
    LinkRef: "link",
    AttributeRef: "attribute",
    type(None): "word",
}


class Desk:
    """One person at one project.

    Args:
        project: The open project.
        number: The abstract to open; without one where the person stopped, else the first that is not done.
        order: How undecided items follow each other; without one as when the person stopped.
        clock: Seconds, for the time spent on a decision.

    Attributes:
        queues: Saved queues; one of them may be the documents.
        totals: Numbers of the project for the header, as old as the last change of abstract.
        counts: How often they were counted.
        state: The state between two keys, for panes that need more than the views.
        bulk: Receives the progress of a decision that goes through the whole project.
    """

    def __init__(
        self,
        project: Project,
        number: int | None = None,
        *,
        order: Order | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        before = session.load(project.path)
        known = before is not None and before.order in list(Order)
        chosen = order or (Order(before.order) if before and known else Order.TEXT)
        project.actions.proposes = True
        self.state = ReviewState(project, chosen, clock)
        if before:
            self.state.promise(before.sure)
            self.state.accept_from(before.share, before.threshold)
        self.totals: Totals = totals(project)
        self.counts = 1
        self.bulk = BulkApply(self.state)
        self.queues = Queues(self.state, self._guard, before.places if before else {})
        self.queues.recall(before.queue if before else "")
        self._model = review.newest_model(project.connection)
        self._pressed: dict[int, tuple[int, int]] = {}
        self._placed: tuple[int, DocumentOrder, int] | None = None
        self._position: tuple[int, int] | None = None
        self._begin(number, before)

    @property
    def number(self) -> int:
        """The open abstract, 0 for none."""
        return self.state.number

    @property
    def mode(self) -> Mode:
        """What the next key means."""
        return self.state.mode

    @property
    def mode_words(self) -> str:
        """The mode; in review what has the focus."""
        if self.mode is not Mode.REVIEW or self.state.view is None:
            return self.mode
        return _FOCUSED[type(self.focus)]

    @property
    def focus(self) -> ItemRef | None:
        """The item that keys speak of."""
        return self.state.focus

    @property
    def focused_type(self) -> EntityType | RelationType | None:
        """The type of the focused relation or mention, ``None`` without one."""
        view = self.state.view
        row = view.row(self.focus) if view else None
        if view is None or row is None:
            return None
        if isinstance(row, RelationRow):
            return document_view.relation_type(view.schema, row.label)
        mention = view.by_id[view.mention_of(self.focus) or ""]
        return document_view.entity_type(view.schema, mention.label)

    @property
    def waiting(self) -> int:
        """Undecided items of the open abstract."""
        return self.state.undecided_count()

    @guarded
    def press(self, key: str, action: Bound = None) -> Feedback:
        """Do what a key means now; what is refused comes back as a problem, never as an exception.

        Args:
            key: The key's name.
            action: What is wanted of whatever key, ``None`` for what the key does.
        """
        number, name = self.state.number, plain(key)
        # A key decides what is on the screen: where somebody else has changed that, it decides nothing.
        if self.is_stale() and (view := self.state.view):
            if view.schema != self.state.project.schema:
                self.refresh()
                return problem("The types have changed elsewhere. Nothing was decided; look again")
            if self._is_changed_elsewhere():
                return self._refuse_older_view()
        action, project = action or action_of(name), self.state.project
        self.count_key(moves=key_dispatch.only_moves(self.state, action))
        project.pressed = self._pressed[number]
        was_finished = self._is_finished()
        feedback = key_dispatch.press(self.state, name, action)
        if project.pressed is None:
            del self._pressed[number]
        project.pressed = None
        left = feedback.moved or self.state.number != number
        if was_finished and not (left or feedback.recount or self._is_finished()):
            more = f"not finished any more, {key_of('done')} finishes it"
            message = ". ".join(filter(None, (feedback.message, more)))
            feedback = replace(feedback, message=message, recount=True)
        if feedback.recount or (feedback.changed and left):
            self._count()
        return feedback

    @guarded
    def click(self, char: int) -> Feedback:
        """Put cursor and focus on what is at a character; while relating, choose that mention.

        While a mention gets a further part, only the cursor moves.
        """
        state = self.state
        if state.view is None:
            return Feedback()
        if isinstance(state.doing, Relating | ChoosingType):
            head = state.doing.head
            tails = [row for row in state.view.covering(char) if row.id != head]
            if not tails:
                return problem("There is no other mention; Esc leaves")
            return linking.ask_type(state, head, tails[0].id)
        if isinstance(state.doing, Pointing):
            state.enter(replace(state.doing, start=None))
            state.point_at(state.view.token_at(char))
            return Feedback()
        state.leave_mode()
        state.decided(state.repeat)  # a and & speak of what was clicked
        selecting.focus_token(state, char)
        return Feedback()

    @guarded
    def focus_item(self, item: ItemRef) -> Feedback:
        """Make an item the focus: a row of a pane."""
        state = self.state
        if state.view is None or state.view.row(item) is None:
            return problem("The item no longer exists")
        state.leave_mode()
        state.decided(state.repeat)
        state.focus_on(item)
        return Feedback()

    @guarded
    def drag(self, char_start: int, char_end: int) -> Feedback:
        """Select the tokens under some characters."""
        state = self.state
        if state.view is None or not len(state.view.tokens):
            return Feedback()
        low, high = sorted((char_start, char_end))
        start, doing = state.view.token_at(low), state.doing
        mention = doing.mention if isinstance(doing, Pointing) else ""
        state.enter(Pointing(mention, start) if mention else Selecting(start))
        state.point_at(state.view.token_at(max(low, high - 1)))
        return Feedback()

    def count_key(self, *, moves: bool) -> None:
        """Count a key in the open abstract: it is recorded with the next decision there, so that a movement writes nothing."""
        deciding, moving = self._pressed.get(self.number, (0, 0))
        self._pressed[self.number] = deciding + (not moves), moving + moves

    def _is_finished(self) -> bool:
        view = self.state.view
        return view is not None and view.progress.is_finished(view.schema)

    def _is_changed_elsewhere(self) -> bool:
        """Whether the focused item, or the abstract, is no longer what is on the screen; scores of a model do not count."""
        project, view = self.state.project, self.state.open_view
        try:
            doc = project.document_state(self.state.number)
        except (KeyError, SciextractError):
            return False  # the key itself says what is wrong
        if doc.progress is None or doc.progress.done != view.progress.done:
            return True
        seen = view.row(self.state.focus)
        if seen is None:
            return False
        now = document_view.DocumentView(doc, view.schema, project.sources).row(self.state.focus)
        # Scores are left out: a model that predicts anew changes them, and not the item.
        fields = ("state", "label", "fragments", "head", "tail")
        return any(getattr(seen, field, None) != getattr(now, field, None) for field in fields)

    @guarded
    def _refuse_older_view(self) -> Feedback:
        number, by = self.number, self._last_change()
        feedback = self.refresh()
        what = f"The item has changed{by}" if self.number == number else feedback.message
        changed = problem(f"{what}. Nothing was decided here; look again")
        return replace(feedback, message=changed.message, problem=True)

    def _last_change(self) -> str:
        """Who changed the open abstract last, and by what, as the end of a message."""
        event = review.newest_event(self.state.project.connection, self.number)
        return f": {event.kind} by {event.author}" if event else ""

    @guarded
    def open(self, number: int) -> Feedback:
        """Open an abstract of the project."""
        before = self.state.number
        if not self.state.load(number):
            self.state.load(before)
            return problem(f"The project has no abstract {number} (any more)")
        return Feedback(moved=number != before)

    @guarded
    def take_back(self, event: int) -> Feedback:
        """Take back what one event did to the open abstract, whatever came after it."""
        taken, outcome = self.state.project.undo(event)
        self.state.after_action(outcome)
        return Feedback(f"{taken.kind} taken back", changed=True, recount=True)

    @guarded
    def refresh(self) -> Feedback:
        """Read anew what other processes and model runs have changed; focus and mode stay."""
        state, before, focus = self.state, self.state.view, self.state.focus
        number, by = self.number, self._last_change()
        self._count()
        self._model = review.newest_model(state.project.connection)
        if not state.read():
            versions = present(state.project.connection, (number,))
            self._begin(next(iter(versions), None), None)
            what = "is not in the project any more" if not versions else "has another text now"
            return Feedback(f"The abstract {what}{by}" if before else "", moved=True)
        if focus is None or state.open_view.row(focus) is not None:
            is_other = before is not None and before.schema != state.open_view.schema
            return Feedback("The types have changed" if is_other else "")
        state.focus_nearest()
        return Feedback(f"The item is gone{by}")

    def is_stale(self) -> bool:
        """Whether another connection has written since the desk last read; cheap enough for every second."""
        return self.state.project.data_version() != self.state.seen

    def set_order(self, order: Order) -> Feedback:
        """Change how undecided items follow each other."""
        self.state.walk(order)
        return self.refresh()

    @guarded
    def work_through(self, check: Check, found: Sequence[Finding]) -> Feedback:
        """Go to the first place that a check has found; its abstracts are the queue from now on."""
        if not found:
            return Feedback(f"{check}: nothing found")
        self.state.leave_mode()
        self.queues.check(check, found)
        return navigation.step_finding(self.state, BY_ID["next-finding"])

    def follow(self, numbers: Sequence[int] | None, searched: str = "") -> None:
        """Take abstracts in the order of a list; ``None`` for the project's own order.

        A queue that is worked on stays the way: it is left by :meth:`Queues.leave`.

        Args:
            numbers: The abstracts.
            searched: What was searched for, where the list holds only what fits.
        """
        # A search inside of a queue does not leave it.
        if not self.queues.active:
            kind = "search" if searched else ""
            connection = self.state.project.connection
            self.state.follow(DocumentOrder(connection, numbers, kind, searched, self.number))

    @guarded
    def change_labels(
        self, change: Callable[[Project], Outcome], words: str = "labels changed"
    ) -> Feedback:
        """Change the types of the schema, or the layers that are finished."""
        outcome = self.state.after_action(change(self.state.project))
        self._count()
        return Feedback(f"{words}; {undo_hint()}", changed=outcome.event_id is not None)

    @property
    def asked_value(self) -> tuple[str, str]:
        """The text to begin with of an attribute that is to be typed, and a title."""
        return attributes.asked_value(self.state)

    @guarded
    def say(self, text: str) -> Feedback:
        """Take what was typed as the value of the attribute."""
        return attributes.say_typed(self.state, text)

    @guarded
    def set_note(self, text: str) -> Feedback:
        """Replace the abstract's note."""
        self.state.after_action(self.state.project.actions.note(self.number, text))
        return Feedback("note saved", changed=True)

    def promise(self, sure: Mapping[str, float], unsure: str = "") -> None:
        """Take from which score on suggestions of a task are right as often as promised, also for the next time."""
        self.state.promise(sure, unsure)
        self.remember()

    @guarded
    def accept_from(self, share: float, threshold: float) -> Feedback:
        """Change what ``A`` accepts, also for the next time; what is sure by the new share is known once it is learned."""
        state, share_before = self.state, self.state.share
        state.accept_from(share, threshold)
        if share != share_before and state.sure is not None:
            state.promise({}, f"What is right in {share:.0%} of cases is not known yet")
        self.remember()
        key = key_of("accept-above")
        words = f"{key} accepts what is right in {share:.0%} of cases, else scores of {threshold:.2f} or more"
        return Feedback(words)

    def remember(self) -> None:
        """Note where the person is, for the next time."""
        state = self.state
        if state.number:
            place = session.Session(
                number=state.number,
                item=session.item_fields(state.focus),
                order=state.order,
                queue=self.queues.active,
                places=self.queues.places,
                sure=state.sure,
                share=state.share,
                threshold=state.threshold,
            )
            session.save(state.project.path, place)

    def passage(self, searched: str = "") -> Passage:
        """The text with everything that is drawn into it, and where the words of a search stand."""
        return panes.passage(self.state, searched)

    def coming_passage(self) -> Passage | None:
        """The abstract that most likely comes next, ``None`` for none: to lay it out before it is wanted."""
        with suppress(SciextractError):
            return panes.coming_passage(self.state)
        return None

    def most_relations(self, *, everything: bool) -> int:
        """The most relations that are listed at once while the focus moves."""
        view = self.state.open_view
        return (
            len(view.relations)
            if everything
            else max(map(len, view.relations_of.values()), default=0)
        )

    def relations(self, *, everything: bool = False) -> tuple[RelationLine, ...]:
        """Relations of the focused mention, or of the abstract."""
        return panes.relation_lines(self.state, everything=everything)

    def clusters(self) -> tuple[ClusterLine, ...]:
        """Clusters of the abstract."""
        return panes.cluster_lines(self.state)

    def inspector(self) -> Inspector:
        """Everything about the focused item."""
        return panes.inspector(self.state)

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something now."""
        return footer(self.state)

    def legend(self) -> tuple[Hint, ...]:
        """Which key means which label now."""
        return legend(self.state)

    def header(self) -> Header:
        """The project as a whole; its numbers are as old as :attr:`totals`."""
        # A place is looked up only when the abstract, or the order, is another one: every key draws the header.
        known = self.number, self.state.documents, self.counts
        if known != self._placed:
            self._placed = known
            self._position = self.state.documents.place_of(self.number) if self.number else None
        sought = [label or layer for layer, label in self.state.documents.sought]
        return Header(
            project=self.state.project.path.name,
            done=self.totals.done,
            documents=self.totals.documents,
            acceptance=self.totals.acceptance,
            model=self._model,
            queue=self.state.documents.progress,
            sought=", ".join(sought),
            place=self._position,
            missing=self.totals.missing,
        )

    def bibliography(self) -> str:
        """Authors, year, venue, DOI and key of the open abstract."""
        return panes.bibliography(self.state)

    def _begin(self, number: int | None, before: session.Session | None) -> None:
        if number is None and before and self.state.load(before.number, before.focus):
            return
        wanted = self.state.documents.first() if number is None else number
        if wanted is not None:
            self.state.load(wanted)

    def _guard(self, work: Callable[[], Feedback]) -> Feedback:
        number = self.state.number
        try:
            feedback = work()
        except SciextractError as error:
            self.state.leave_mode()
            feedback = refusal(error)
        if self.state.number != number:
            # At every change of abstract, since a terminal that is closed gives no time for it.
            self.state.documents.visit(self.state.number)
            self.remember()
        return feedback

    def _count(self) -> None:
        self.totals = totals(self.state.project)
        self.counts += 1
        self.state.documents.refresh()
