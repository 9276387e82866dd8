"""Adjudication without its screen: keys go in, values to show come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from sciextract.documents.annotations import Layer, State
from sciextract.errors import SciextractError
from sciextract.store import (
    AttributeRef,
    EntityRef,
    ItemRef,
    LinkRef,
    Outcome,
    Project,
    RelationRef,
    events,
)
from sciextract.store.events import Event
from sciextract.text.english import counted
from sciextract.workflows import adjudicate
from sciextract.workflows.adjudicate import Verdict, decide, decide_document
from sciextract.workflows.disagreements import (
    KIND,
    Decisions,
    DocumentComparison,
    OtherSource,
    other_sources,
)
from sciextract_app.adjudication.backlog import (
    Backlog,
    ComparedAbstract,
    ComparisonPending,
    OpenDifference,
    read_abstract,
)
from sciextract_app.adjudication.sides import (
    HERE,
    NOTHING,
    SideDrawing,
    SideView,
    TwoSides,
    items_of,
    source_words,
)
from sciextract_app.shared.actions import (
    Bound,
    action_hint,
    action_of,
    key_of,
    keys_of,
    undo_hint,
    written,
)
from sciextract_app.shared.presenters import Clock, Stopwatch, guarded, plain, refusal
from sciextract_app.shared.view_models import EMPTY, Feedback, Hint, Mode, problem

HELP: tuple[tuple[str, str], ...] = (
    ("accept", "accept the side in focus and go to the next difference"),
    ("reject", "reject the side in focus: the other side is correct"),
    ("next-mention", "focus the other side; ← and → choose a side"),
    ("next-undecided", "next difference, without deciding this one"),
    ("previous-undecided", "previous difference"),
    ("accept-above", "all differences of this abstract, after a question"),
    ("undo", "undo the last decision, also from earlier sessions"),
    ("redo", "redo what was undone"),
    ("next-abstract", "next abstract annotated by the other side"),
    ("previous-abstract", "previous one"),
    ("done", "next abstract with differences"),
    ("adjudicate", "compare the project with another source"),
    ("guideline", "definitions of the types"),
)
"""Action ids, and what they mean here."""
OTHER: Mapping[Verdict, Verdict] = {"mine": "theirs", "theirs": "mine"}
"""Of each side the other one."""
_PASSED_ON = frozenset({"guideline", "help", "palette", "quit", "adjudicate"})
_SWITCH_KEYS = frozenset({"next-mention", "previous-mention", "next-token", "previous-token"})


def _none_here() -> str:
    done = key_of("done")
    return f"No differences left in this abstract: {done} goes to the next one with differences"


def _tell_all_decided() -> str:
    other = key_of("adjudicate")
    return f"Nothing is left to decide: {other} compares with another source, Esc goes back"


class Adjudication:
    """One person before the differences between the project and others.

    Args:
        project: The open project.
        sides: Whom to hold it against.
        number: The abstract to begin with, if something waits in it.
        clock: Seconds, for the time spent on a decision.

    Attributes:
        sides: Whom the project is held against.
        number: The open abstract, 0 for none.
        abstract: It as it was last read.
        now: The present difference, ``None`` when nothing waits in the abstract.
        mode: What the next key means: ``confirm`` while a question waits.
        backlog: What waits in which abstract.
    """

    def __init__(
        self,
        project: Project,
        sides: Sequence[OtherSource],
        number: int = 0,
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self.project = project
        self.decisions = Decisions(project)
        self.mode = Mode.REVIEW
        self.number = 0
        self.abstract: ComparedAbstract | None = None
        self.now: OpenDifference | None = None
        self._asked: Verdict = "mine"
        self._stopwatch = Stopwatch(clock)
        self._seen = project.data_version()
        self._switched = False
        self.choose(sides, number)

    def choose(self, sides: Sequence[OtherSource], number: int = 0) -> Feedback:
        """Compare the project with others; stays in the abstract if something waits in it.

        Else the next abstract where something does is opened, else the abstract all the same.
        """
        self.sides, number = tuple(sides), number or self.number
        self.backlog = Backlog(self.project, self.sides, self.decisions)

        def begin() -> Feedback:
            feedback = self._open(number) if number else Feedback()
            if self.now is None:
                feedback = self._next_abstract()
            if self.number == 0 and self.backlog.numbers:
                return self._open(self.backlog.numbers[0])
            return feedback

        return self._guard(begin)

    @property
    def on(self) -> Verdict:
        """The side that Enter accepts: that of most annotators, else mine where both have something, or the one that has it."""
        usual: Verdict = "mine"
        if self.now is not None:
            one, most = self.now.dispute.difference, self.now.dispute.proposal
            usual = "theirs" if one.first is None else "mine"
            usual = most.side if most else usual
        return OTHER[usual] if self._switched else usual

    @property
    def item(self) -> ItemRef | None:
        """What the project has of the present difference, for the desk."""
        one = self.now.dispute.difference if self.now else None
        if one is None or one.first is None:
            return None
        if one.is_attribute:
            return AttributeRef(one.first.id)
        if one.layer is Layer.COREFERENCE:
            return LinkRef(one.first.id, one.first.entities[1])
        return EntityRef(one.first.id) if one.layer is Layer.ENTITIES else RelationRef(one.first.id)

    @guarded
    def press(self, key: str) -> Feedback:
        """Do what a key means now; what is refused comes back as a problem, never as an exception."""
        name = plain(key)
        action = action_of(name)
        if self.mode is Mode.CONFIRM:
            return self._answer(name, action)
        if name == "escape" or (action is not None and action.request == "compare"):
            return Feedback(request="leave")
        if action is not None and action.request in _PASSED_ON:
            return Feedback(request=action.request)
        connection, author = self.project.connection, self.project.author_id
        match action.id if action else "":
            case "accept":
                return self._decide(self.on)
            case "reject":
                return self._decide(OTHER[self.on])
            case "accept-above":
                # The safe side first: it changes nothing in the project.
                self._asked = "mine"
                return self._ask_all()
            case "next-mention" | "previous-mention":
                self._switched = not self._switched
                return Feedback()
            case "next-token" | "previous-token" as wanted:
                # The side that lies in the direction of the key.
                side: Verdict = "mine" if wanted == "previous-token" else "theirs"
                self._switched ^= side != self.on
                return Feedback()
            case "next-undecided" | "next-item":
                return self._step(1)
            case "previous-undecided" | "previous-item":
                return self._step(-1)
            case "next-abstract" | "previous-abstract" as wanted:
                step = 1 if wanted == "next-abstract" else -1
                found = self.backlog.neighbour(self.number, step)
                if found is not None:
                    return self._open(found)
                return Feedback("This is the last abstract" if step > 0 else "The first one")
            case "done":
                return self._next_abstract()
            case "undo":
                latest = events.to_undo(connection, author)
                return self._undo_or_redo(latest, self.project.undo, "taken back")
            case "redo":
                latest = events.to_redo(connection, author)
                return self._undo_or_redo(latest, self.project.redo, "decided again")
        ways = f"{key_of('help')} shows the keys, Esc goes to the desk"
        return problem(f"{name} does nothing here: {ways}")

    @guarded
    def refresh(self) -> Feedback:
        """Read anew what other processes have changed; the focus stays."""
        before = self.now
        if self.number and not self._read(self.number):
            self._look_at(None)
            return Feedback("The abstract is not in the project any more", moved=True)
        if before is None or self.abstract is None:
            return Feedback()
        same = self.abstract.find(before.id)
        self._look_at(same or self.abstract.from_place(before.place))
        gone = "The difference no longer exists: another person or window has changed this"
        return Feedback("" if same else gone)

    def help_rows(self) -> list[tuple[str, str, str]]:
        """Key, words and group of everything that can be done here."""
        rows = [(written(keys_of(action)), words, "two sides") for action, words in HELP]
        back = written([*keys_of("compare"), "escape"])
        return [*rows, (back, "back to the desk, at this abstract", "two sides")]

    def is_stale(self) -> bool:
        """Whether another connection has written since the last look."""
        return self.project.data_version() != self._seen

    def go_to(self, index: int) -> Feedback:
        """Make the difference at a place of the list the present one."""
        if self.mode is Mode.REVIEW and index < len(self._waiting):
            self._look_at(self._waiting[index])
        return Feedback()

    # What is drawn

    def view(self) -> TwoSides:
        """Everything that is drawn."""
        known = self.backlog
        left = f"{known.total:,} left in {counted(known.abstracts, 'abstract')}"
        if known.counted < len(known.numbers):
            left += f" of the first {known.counted:,} of {len(known.numbers):,} compared"
        here = "none here"
        if self.abstract is not None and self.now is not None:
            here = f"{self.abstract.index(self.now) + 1} of {len(self._waiting)} here"
        counts = here, left
        against = ", ".join(source_words(side.name) for side in self.sides)
        title = f"{self.project.path.name} ⇄ {against}"
        both = self.now.both if self.now else None
        if both is None and self.abstract is not None:
            both = next(iter(self.abstract.compared), None)
        if both is None:
            return TwoSides(title, counts, SideView(HERE, EMPTY), SideView("", EMPTY))
        lines = []
        for difference in self._waiting:
            one, drawing = difference.dispute.difference, self._draw(difference.both)
            kind, most = drawing.kind(one), difference.dispute.proposal
            if most is not None:
                kind += (
                    f", {most.votes} of {most.voters} {'here' if most.side == 'mine' else 'there'}"
                )
            lines.append(drawing.line(one, kind, difference is self.now))
        drawing = self._draw(both)
        sides = (
            self._side(drawing, HERE, is_mine=True),
            self._side(drawing, source_words(both.source), is_mine=False),
        )
        return TwoSides(title, counts, *sides, tuple(lines))

    def _draw(self, both: DocumentComparison) -> SideDrawing:
        return SideDrawing(both.mine, both.theirs, self.project.schema)

    def _side(self, drawing: SideDrawing, name: str, *, is_mine: bool) -> SideView:
        """One side: its own mentions of the difference are marked, else those of the other side."""
        items = [items_of(waiting.dispute.difference, is_mine)[0] for waiting in self._waiting]
        disputed = {place for item in items if item for place in item.fragments}
        if self.now is None:
            return SideView(name, drawing.passage(is_mine))
        one = self.now.dispute.difference
        focused = self.on == ("mine" if is_mine else "theirs")
        own, other = items_of(one, is_mine)
        places = own.fragments if own else ()
        elsewhere = other.fragments if other and not own else ()
        passage = drawing.passage(
            is_mine,
            one,
            focused=places if focused else (),
            partners=elsewhere if focused else (*places, *elsewhere),
            disputed=disputed,
        )
        words = drawing.words(own, one.layer)
        if own is None and other is not None and is_mine and one.item == Layer.ENTITIES.item:
            rows = self.abstract.document.on_fragments(other.fragments[0]) if self.abstract else ()
            states = [row.state for row in rows if row.label == other.label]
            if State.UNDECIDED in states:
                words += ": undecided here"
            elif State.REJECTED in states:
                words += ": rejected here"
        item = own or other
        if item is None or one.is_attribute:
            return SideView(name, passage, (words,), focused)
        more = drawing.cluster_words(item, is_mine)
        if one.layer is Layer.COREFERENCE:
            more = more or "in no cluster"
        elif one.layer is Layer.RELATIONS:
            more = ""
        else:  # what hangs on a mention goes or comes with it
            count = drawing.count_relations(item, is_mine)
            along = f"with {counted(count, 'relation')}" if count else ""
            more = "; ".join(filter(None, (along, more)))
        return SideView(name, passage, (words, more), focused)

    def footer(self) -> tuple[Hint, ...]:
        """The most important keys first; those that would be refused now are not live."""
        if self.mode is Mode.CONFIRM:
            return (
                Hint("Enter", "do it"),
                action_hint("next-mention", words="the other side"),
                Hint("Esc", "do not"),
            )
        some = self.now is not None
        many = self.abstract is not None and len(self.abstract.waiting) > 1
        return (
            action_hint("accept", some, self._verdict_words(self.on) if some else "accept"),
            action_hint("reject", some, self._verdict_words(OTHER[self.on]) if some else "reject"),
            action_hint("next-mention", some, "other side"),
            action_hint("next-undecided", many, "next"),
            action_hint("accept-above", some, "all here", seldom=True),
            action_hint("done", words="next abstract"),
            action_hint("adjudicate", words="against whom", seldom=True),
            Hint("Esc", "desk"),
            action_hint("undo"),
            action_hint("help"),
        )

    def _verdict_words(self, verdict: Verdict) -> str:
        """What deciding for a side does."""
        one = self.now.dispute.difference if self.now else None
        item, _ = items_of(one, verdict == "mine")
        if verdict == "mine":
            return "keep mine" if item else f"keep {NOTHING}"
        return "take theirs" if item else "remove it"

    # Reading, and going from one difference to the next

    @property
    def _waiting(self) -> list[OpenDifference]:
        return self.abstract.waiting if self.abstract else []

    def _read(self, number: int) -> bool:
        """Read an abstract, and note how much waits in it; says whether it is in the project."""
        self._show(read_abstract(self.project, number, self.sides, self.decisions), number)
        return self.abstract is not None

    def _show(self, abstract: ComparedAbstract | None, number: int) -> None:
        """Make an abstract that was just read the open one."""
        self._seen = self.project.data_version()
        self.abstract, self.number = abstract, number if abstract else 0
        self.backlog.note(number, len(self._waiting))

    def _look_at(self, waiting: OpenDifference | None) -> None:
        """Make a difference the present one."""
        if waiting is None or self.now is None or waiting.id != self.now.id:
            self._stopwatch.restart()
            self._switched = False
        self.now = waiting

    def _open(self, number: int) -> Feedback:
        """Open an abstract at its first difference."""
        if not self._read(number):
            self.now = None
            return problem(f"The project has no abstract {number} (any more)")
        self._look_at(next(iter(self._waiting), None))
        return Feedback(moved=True)

    def _step(self, way: int) -> Feedback:
        """The next or previous difference, without deciding this one."""
        if self.abstract is None or self.now is None:
            return self._next_abstract() if way > 0 else problem(_tell_all_decided())
        waiting = self.abstract.waiting
        if len(waiting) == 1:
            return Feedback("This is the only difference left in this abstract")
        self._look_at(waiting[(self.abstract.index(self.now) + way) % len(waiting)])
        return Feedback()

    def _next_abstract(self) -> Feedback:
        """Open the next abstract with differences, with a message when there is none."""
        try:
            found = self.backlog.next_waiting(self.number)
        except ComparisonPending:
            known = f"{self.backlog.counted:,} of {len(self.backlog.numbers):,}"
            words = f"{known} abstracts are compared, without a difference so far; {key_of('done')} continues"
            return Feedback(words)
        if found is None:
            return Feedback(_tell_all_decided())
        if found == self.number:
            return Feedback("No other abstract has differences")
        return self._open(found)

    # Deciding

    def _decide(self, verdict: Verdict) -> Feedback:
        now = self.now
        if now is None:
            return problem(_none_here())
        ids = [side.source_in(self.project, self.number) for side in self.sides]
        wanted = [source_id for source_id in ids if source_id is not None]
        decided = decide(
            self.project,
            now.dispute,
            verdict,
            self.decisions,
            compare_with=wanted,
            seconds=self._stopwatch.lap(),
        )
        compared = {side: decided.compared[side] for side in wanted if side in decided.compared}
        self._show(ComparedAbstract(decided.doc, compared, self.decisions), self.number)
        self._look_at(self.abstract.from_place(now.place) if self.abstract else None)
        one, drawing = now.dispute.difference, self._draw(now.both)
        item, other = items_of(one, verdict == "mine")
        kept = "kept" if verdict == "mine" else "taken over"
        words = f"{drawing.words(item, one.layer)} {kept}"
        if item is None:
            gone = "left out" if verdict == "mine" else "removed"
            words = f"{drawing.words(other, one.layer)} {gone}"
        # A mention that is removed takes its relations and links with it.
        along = decided.outcome.items - 1 if item is None and verdict == "theirs" else 0
        words += f", and {counted(along, 'item')} that depended on it" if along > 0 else ""
        left = "" if self.now else _none_here()
        words = "; ".join(filter(None, (words, *decided.outcome.warnings, left)))
        return Feedback(words, changed=True)

    def _ask_all(self) -> Feedback:
        """Ask before all of the abstract is decided as one side has it."""
        if self.now is None:
            return problem(_none_here())
        self.mode, source = Mode.CONFIRM, self.now.dispute.source
        count = sum(difference.dispute.source == source for difference in self._waiting)
        mine = self._asked == "mine"
        whose = "as in this project" if mine else f"as {source_words(source)} has it"
        return Feedback(
            f"{counted(count, 'difference')}, all {whose}? Enter confirms, {key_of('next-mention')} takes the other side, Esc cancels"
        )

    def _answer(self, key: str, action: Bound) -> Feedback:
        """A key while the question waits."""
        if key == "escape":
            self.mode = Mode.REVIEW
            return Feedback()
        if action is not None and action.id in _SWITCH_KEYS:
            self._asked = OTHER[self._asked]
            return self._ask_all()
        if key != "enter":
            return problem(self._ask_all().message)
        self.mode = Mode.REVIEW
        if self.now is None:
            return problem(_none_here())
        before, source_id = len(self._waiting), self.project.source_id(self.now.dispute.source)
        done = decide_document(self.project, self.number, source_id, self._asked, self.decisions)
        self._read(self.number)
        self._look_at(next(iter(self._waiting), None))
        words = f"{counted(before - len(self._waiting), 'difference')} settled"
        if done.refused:
            reasons = "; ".join(dict.fromkeys(done.refused.values()))
            words = f"{words}, {len(done.refused)} not: {reasons}"
        else:
            words = f"{words}; {undo_hint()}"
        return Feedback(words, problem=bool(done.refused), changed=done.decided > 0)

    def _undo_or_redo(
        self, latest: int | None, turn: Callable[[], tuple[Event, Outcome]], verb: str
    ) -> Feedback:
        """Take back the last decision or decide again; what was done at the desk is taken back there."""
        event = events.read_event(self.project.connection, latest) if latest else None
        if event is not None and event.kind != KIND:
            return problem(
                f"Your last action was {event.kind!r}, which is not a decision between two sides: Esc, and the same key at the desk"
            )
        event, _ = turn()
        before, source, number = self.number, event.params["source"], event.params["number"]
        if not any(source.startswith(side.name) for side in self.sides):
            found = other_sources(self.project, self.decisions)
            self.choose([other for other in found if source.startswith(other.name)])
        # The focus comes to what is to be decided again, else it stays, or goes to what is behind it.
        kept = self.now if number == self.number else None
        self._read(number)
        keys = event.params.get("keys", [event.params.get("key")])
        again = (difference for difference in self._waiting if difference.dispute.key in keys)
        following = None
        if self.abstract is not None:
            same = self.abstract.find(kept.id) if kept else None
            place = kept.place if kept else (0, 0, 0, "", "")
            following = next(again, None) or same or self.abstract.from_place(place)
        self._look_at(following)
        ids = {source_id for side in self.sides for source_id in side.source_ids}
        if self.abstract is not None and ids == {*self.decisions.merged().values()}:
            # The abstract was compared with all merged projects just now: that is what the lists count.
            adjudicate.note(self.project, self.number, len(self._waiting))
        else:
            adjudicate.follow(self.project, event, self.decisions)
        count = len(event.params.get("keys", ()))
        words = f"{count} decisions" if count > 1 else "decision"
        return Feedback(f"{words} {verb}", changed=True, moved=self.number != before)

    def _guard(self, work: Callable[[], Feedback]) -> Feedback:
        try:
            return work()
        except SciextractError as error:
            self.mode = Mode.REVIEW
            return refusal(error)
