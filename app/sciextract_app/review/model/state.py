"""The state of a review between two keys: the open abstract, the focus, the cursor and the mode."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf

from sciextract.documents.annotations import Candidates, Layer
from sciextract.errors import SciextractError
from sciextract.inference.settings import SURE
from sciextract.store import EntityRef, ItemRef, Outcome, Project, RelationRef
from sciextract.store.quality_checks import Check, Finding
from sciextract_app.review.model.bulk_decision import BulkDecision
from sciextract_app.review.model.document_order import DocumentOrder
from sciextract_app.review.model.hints import Hints, JumpLetters, Target
from sciextract_app.review.model.modes import AttributeValue, Doing, Hinted, Review
from sciextract_app.review.model.queue import Key, Order, Queue, is_undecided
from sciextract_app.shared.candidates import CandidateCache, other_edges
from sciextract_app.shared.document_view import DocumentView
from sciextract_app.shared.marks import ClusterLetters, MarkCache
from sciextract_app.shared.presenters import Clock, Stopwatch
from sciextract_app.shared.session import THRESHOLD
from sciextract_app.shared.view_models import Feedback, Mode, problem

Repeat = Callable[["ReviewState"], Feedback]

Refused = tuple[str, ...]
"""An illegal relation that was refused: what was to be done with it, its ids, its type."""


@dataclass(slots=True)
class CheckFindings:
    """What a check has found, and which of it is looked at.

    Attributes:
        check: What was looked for.
        found: The places.
        place: Which of them is looked at, -1 for none yet.
    """

    check: Check
    found: Sequence[Finding]
    place: int = -1


class ReviewState:
    """The desk's state; handlers of keys change it through the methods here.

    Args:
        project: The open project.
        order: How undecided items follow each other.
        clock: Seconds, for the time spent on a decision.

    Attributes:
        documents: The order of the abstracts.
        share: How often what ``A`` accepts shall be right.
        threshold: The score from which it accepts where nothing is promised.
        sure: From which score on suggestions of a task are right as often as promised; ``None`` until that is known.
        unsure: Why nothing is promised, empty where something is.
        asked: The attribute whose value is to be typed.
        done_at: When ``D`` was the last key, else long ago.
        clock: Seconds.
        rest_by_uncertainty: Whether the open abstract is walked by uncertainty, whatever the order: what is sure was accepted.
    """

    def __init__(
        self,
        project: Project,
        order: Order = Order.TEXT,
        clock: Clock = time.monotonic,
    ) -> None:
        self.project = project
        self.order = order
        self.share, self.threshold = SURE["entity"], THRESHOLD
        self.documents = DocumentOrder(project.connection)
        self.number = 0
        self.view: DocumentView | None = None
        self.queue: Queue | None = None
        self.candidates: Candidates | None = None
        self.focus: ItemRef | None = None
        self.cursor = 0
        self.doing: Doing = Review()
        self.letters = ClusterLetters()
        self._letters_of: dict[int, ClusterLetters] = {}
        self._jumps_of: dict[int, JumpLetters] = {}
        self.marks = MarkCache()
        self.last_cluster = ""
        self.repeat: Repeat | None = None
        self.alike: str | None = None
        self.bulk: BulkDecision | None = None
        self.sure: Mapping[str, float] | None = None
        self.unsure = ""
        self.done_at = -inf
        self.rest_by_uncertainty = False
        self.findings: CheckFindings | None = None
        self.refused: Refused | None = None
        self.asked: AttributeValue | None = None
        self.seen = -1
        self._told: tuple[str, ...] = ()
        self.other_edges = frozenset[str]()
        self._candidate_cache = CandidateCache()
        self.clock = clock
        self._stopwatch = Stopwatch(clock)

    @property
    def open_view(self) -> DocumentView:
        """The view, where handlers know that an abstract is open."""
        if self.view is None:
            raise LookupError("no abstract is open")
        return self.view

    @property
    def open_queue(self) -> Queue:
        """The queue, where handlers know that an abstract is open."""
        if self.queue is None:
            raise LookupError("no abstract is open")
        return self.queue

    @property
    def jumps(self) -> JumpLetters:
        """Letters that lead to mentions and tokens: in an abstract they stay for the whole session."""
        if self.number not in self._jumps_of:
            self._jumps_of[self.number] = JumpLetters(len(self.open_view.tokens))
        return self._jumps_of[self.number]

    def load(self, number: int, focus: ItemRef | None = None) -> bool:
        """Open an abstract at an item, at its first undecided one without; says whether it is there."""
        self.leave_mode()
        self.rest_by_uncertainty = False
        self.letters = self.letters_of(number)
        self.last_cluster, self.cursor = "", 0
        self.number, self.focus, self.repeat, self.alike = number, None, None, None
        with suppress(KeyError, SciextractError):  # what cannot be written is only not proposed
            self.project.actions.propose_alike(number)
        if not self.read():
            return False
        first = (
            focus if self.open_view.row(focus) else self.open_queue.after(self.open_queue.key_at(0))
        )
        self.focus_on(first or next(iter(self.open_queue.items), None))
        self._stopwatch.restart()
        return True

    def read(self) -> bool:
        """Read the open abstract anew; focus and mode stay. Returns whether it still is in the project."""
        # Before the rows: what is written in between is noticed as new at the next key.
        self.seen = self.project.data_version()
        try:
            document = self.project.document_state(self.number)
        except KeyError:
            document = None
        if document is None or document.progress is None:
            self.view = self.queue = self.candidates = None
            self.number = 0
            self.leave_mode()
            return False
        project, schema = self.project, self.project.schema
        # A layer that is not finished is to be done as a whole; one that is sought follows finished entities.
        sought = tuple(
            (layer, label)
            for layer, label in self.documents.sought
            if (layer if label else Layer.ENTITIES) in document.progress.done
        )
        self.view = DocumentView(document, schema, project.sources, sought)
        self.candidates = self._candidate_cache.of(self.project.connection, self.number)
        order = Order.UNCERTAINTY if self.rest_by_uncertainty else self.order
        self.queue = Queue(self.view, order)
        self.letters.give(self.view)
        self.other_edges = other_edges(self.view, self.candidates)
        return True

    def peek(self, number: int) -> DocumentView | None:
        """Another abstract as it is now, with the letters that its clusters will have; ``None`` where it is gone."""
        with suppress(KeyError):
            document = self.project.document_state(number)
            view = DocumentView(document, self.project.schema, self.project.sources)
            self.letters_of(number).give(view)
            return view
        return None

    def letters_of(self, number: int) -> ClusterLetters:
        """The letters of an abstract's clusters, which stay for the whole session: the person may remember them."""
        return self._letters_of.setdefault(number, ClusterLetters())

    def focus_on(self, item: ItemRef | None, *, cursor: bool = True) -> None:
        """Make an item the focus, with the cursor on its first token."""
        if item != self.focus:
            self.focus = item
            self._stopwatch.restart()
        anchor = self.open_view.anchor(item) if item and cursor else None
        if anchor:
            self.cursor = self.open_view.token_at(self.open_view.place(anchor)[0])

    def take_mention(self) -> str | None:
        """The focused mention; of a focused relation the end at the cursor, which becomes the focus."""
        if isinstance(self.focus, RelationRef):
            self.focus_on(EntityRef(self.open_view.anchor(self.focus) or ""))
        return self.open_view.mention_of(self.focus)

    def move_cursor(self, token: int) -> None:
        """Put the cursor on a token; the mention there, the shortest one, becomes the focus."""
        view = self.open_view
        self.point_at(token)
        under = view.touching(view.token_span(self.cursor))
        # A mention within the focused one does not take the focus away while the cursor moves in both.
        stays = any(row.id == view.mention_of(self.focus) for row in under)
        if not stays or not under:
            self.focus_on(EntityRef(under[0].id) if under else None, cursor=False)

    def point_at(self, token: int) -> None:
        """Put the cursor on a token; the focus stays."""
        self.cursor = max(0, min(token, len(self.open_view.tokens) - 1))

    def position(self) -> Key:
        """Where the focus is in the order of review."""
        if self.focus is not None and self.open_view.row(self.focus) is not None:
            return self.open_queue.key(self.focus)
        return self.open_queue.key_at(self.open_view.token_span(self.cursor).char_start)

    def advance(self, position: Key) -> bool:
        """Go to the next undecided item behind a place; says whether there is one."""
        following = self.open_queue.after(position)
        if following is not None:
            self.focus_on(following)
        elif self.open_view.row(self.focus) is None:
            self.focus_nearest()
        return following is not None

    def focus_nearest(self) -> None:
        """Find a focus near the cursor when the item is gone."""
        self.focus = None
        if self.open_queue.items:
            place: Key = (self.open_view.token_span(self.cursor).char_start, float("-inf"))
            found = self.open_queue.neighbour(place, 1) or self.open_queue.neighbour(place, -1)
            self.focus_on(found)

    def seconds(self) -> float:
        """Time since the focus came to the item, or since the last action on it."""
        return self._stopwatch.lap()

    def after_action(self, outcome: Outcome) -> Outcome:
        """Read what an action of the desk has changed."""
        self.read()
        return outcome

    def is_undecided(self, item: ItemRef | None) -> bool:
        """Whether an item waits for a decision."""
        return item is not None and is_undecided(self.open_view, item)

    def undecided_count(self) -> int:
        """How many items of the abstract are undecided, as the list of abstracts counts them."""
        return self.view.undecided if self.view else 0

    def press_hint(self, doing: Hinted, key: str, kind: str) -> Target | Feedback:
        """The target of a hint once its letters are typed; else feedback, with the hints that are left kept."""
        found = doing.hints.press(key) if doing.hints else None
        if found is None:
            # A key with a name, such as "tab", is no letter that was mistyped.
            if len(key) > 1:
                return problem(f"Type the letters shown at a {kind}; Esc leaves")
            return problem(f"No {kind} has the letter {key}; Esc leaves")
        if isinstance(found, Hints):
            self.enter(replace(doing, hints=found))
            return Feedback()
        return found

    def insists(self, relation: Refused) -> bool:
        """Whether the last key wanted the same illegal relation; else it is remembered for the next key."""
        again = self.refused == relation
        self.refused = None if again else relation
        return again

    def is_news(self, told: tuple[str, ...]) -> bool:
        """Whether something else was told last time, in a session."""
        before, self._told = self._told, told
        return before != told

    def end_key(self, refused: Refused | None, is_done: bool) -> None:
        """Forget what only the very next key may insist on, unless this one was refused; and when ``D`` was pressed."""
        if self.refused is refused:
            self.refused = None
        self.done_at = self.clock() if is_done else -inf

    def decided(self, repeat: Repeat | None, alike: str | None = None) -> None:
        """Keep what the next key may do again, and the mention whose decision it may spread."""
        self.repeat, self.alike = repeat, alike

    def use_cluster(self, cluster: str) -> None:
        """Keep the cluster that was used last."""
        self.last_cluster = cluster

    def carry(self, decision: BulkDecision | None) -> None:
        """Keep how far a decision for the whole project is, ``None`` for none."""
        self.bulk = decision

    def follow(self, documents: DocumentOrder, findings: CheckFindings | None = None) -> None:
        """Take abstracts in another order, that of a check with what it has found."""
        is_other = documents.sought != self.documents.sought
        self.documents, self.findings = documents, findings
        if is_other and self.view is not None and self.read():
            self.focus_nearest()

    def walk(self, order: Order) -> None:
        """Take undecided items in another order."""
        self.order, self.rest_by_uncertainty = order, False

    def walk_rest_by_uncertainty(self) -> None:
        """Take those that are left in the open abstract by uncertainty, whatever the order."""
        self.rest_by_uncertainty = True

    def ask_value(self, asked: AttributeValue | None) -> None:
        """Keep the attribute whose value is to be typed, ``None`` for none."""
        self.asked = asked

    def accept_from(self, share: float, threshold: float) -> None:
        """What ``A`` shall accept: what is right as often as that, where nothing can be promised from that score on."""
        self.share, self.threshold = share, threshold

    def promise(self, sure: Mapping[str, float] | None, unsure: str = "") -> None:
        """Keep from which score on suggestions of a task are right as often as promised."""
        self.sure, self.unsure = sure, unsure

    @property
    def mode(self) -> Mode:
        """What the next key means."""
        return self.doing.mode

    def enter(self, doing: Doing) -> None:
        """Begin or go on with what needs more than one key; what another mode has gathered is forgotten."""
        self.doing = doing

    def leave_mode(self) -> None:
        """Back to review; what was gathered is forgotten."""
        self.doing = Review()
