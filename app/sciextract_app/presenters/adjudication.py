"""Adjudication without its screen: keys go in, values to show come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sciextract.documents.annotations import Layer
from sciextract.errors import SciextractError
from sciextract.store import EntityRef, ItemRef, LinkRef, Project, RelationRef
from sciextract.text.english import counted
from sciextract.workflows.adjudicate import Verdict
from sciextract.workflows.disagreements import Decisions, OtherSource
from sciextract_app.presenters import adjudication_keys, two_sides
from sciextract_app.presenters.actions import Action, action_hint, keymap, plain
from sciextract_app.presenters.adjudication_documents import (
    OTHER,
    Backlog,
    ComparedAbstract,
    OpenDifference,
    backlog_of,
    read_abstract,
)
from sciextract_app.presenters.adjudication_keys import verdict_words
from sciextract_app.presenters.state import Clock, Stopwatch
from sciextract_app.presenters.two_sides import TwoSides, source_words
from sciextract_app.presenters.view_models import (
    Feedback,
    Hint,
    Mode,
    guarded,
    problem,
    refusal,
)

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


def help_rows(keys: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Key, words and group of everything that can be done here.

    Args:
        keys: The keys of each action, as they are written for people.
    """
    rows = [(keys.get(each, "none"), words, "two sides") for each, words in HELP]
    return [*rows, ("Esc", "back to the desk, at this abstract", "two sides")]


LEAVE, CHOOSE = "leave", "adjudicate"
"""What the screen is asked for: to go back to the desk, to choose another side."""
_PASSED_ON = frozenset({"guideline", "help", "palette", "quit", CHOOSE})


class Adjudication:
    """One person before the differences between the project and others.

    Args:
        project: The open project.
        sides: Whom to hold it against.
        number: The abstract to begin with, if something waits in it.
        keys: Keys by action id that replace the default ones.
        clock: Seconds, for the time spent on a decision.

    Attributes:
        sides: Whom the project is held against.
        number: The open abstract, 0 for none.
        mode: What the next key means: ``confirm`` while a question waits.
        backlog: What waits in which abstract.
    """

    def __init__(
        self,
        project: Project,
        sides: Sequence[OtherSource],
        number: int = 0,
        *,
        keys: Mapping[str, str] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.project = project
        self.decisions = Decisions(project)
        self.mode = Mode.REVIEW
        self.number = 0
        self.asked: Verdict = "mine"
        self._keys = keymap(keys)
        self._stopwatch = Stopwatch(clock)
        self._seen = project.data_version()
        self._abstract: ComparedAbstract | None = None
        self._now: OpenDifference | None = None
        self._switched = False
        self.choose(sides, number)

    def choose(self, sides: Sequence[OtherSource], number: int = 0) -> Feedback:
        """Compare the project with others; stays in the abstract if something waits in it."""
        self.sides = tuple(sides)
        self.backlog: Backlog = backlog_of(self.project, self.sides, self.decisions)
        return self._guard(partial(self._begin, number or self.number))

    @property
    def abstract(self) -> ComparedAbstract | None:
        """The open abstract as it was last read."""
        return self._abstract

    @property
    def now(self) -> OpenDifference | None:
        """The present difference, ``None`` when nothing waits in the abstract."""
        return self._now

    @property
    def on(self) -> Verdict:
        """The side that Enter accepts: mine where both have something, else the one that has it."""
        usual: Verdict = (
            "theirs" if self._now and self._now.dispute.difference.first is None else "mine"
        )
        return OTHER[usual] if self._switched else usual

    @property
    def item(self) -> ItemRef | None:
        """What the project has of the present difference, for the desk."""
        one = self._now.dispute.difference if self._now else None
        if one is None or one.first is None:
            return None
        if one.layer is Layer.COREFERENCE:
            return LinkRef(one.first.id, one.first.entities[1])
        return EntityRef(one.first.id) if one.layer is Layer.ENTITIES else RelationRef(one.first.id)

    @guarded
    def press(self, key: str) -> Feedback:
        """Do what a key means now; what is refused comes back as a problem, never as an exception."""
        name = plain(key)
        action = self._keys.get(name)
        if self.mode is Mode.CONFIRM:
            return adjudication_keys.answer(self, name, action)
        if name == "escape":
            return Feedback(request=LEAVE)
        if action is not None and action.request in _PASSED_ON:
            return Feedback(request=action.request)
        handler = _HANDLERS.get(action.id) if action else None
        if action is None or handler is None:
            return problem(f"{name} does nothing here: ? shows the keys, Esc goes to the desk")
        return handler(self, action)

    @guarded
    def refresh(self) -> Feedback:
        """Read anew what other processes have changed; the focus stays."""
        before = self._now
        if self.number and not self.read(self.number):
            self.look_at(None)
            return Feedback("The abstract is not in the project any more", moved=True)
        if before is None or self._abstract is None:
            return Feedback()
        same = self._abstract.find(before.id)
        self.look_at(same or self._abstract.from_place(before.place))
        return Feedback(
            ""
            if same
            else "The difference no longer exists: another person or window has changed this"
        )

    def is_stale(self) -> bool:
        """Whether another connection has written since the last look."""
        return self.project.data_version() != self._seen

    def learn(self, counts: Mapping[int, int]) -> None:
        """Take what a worker counted in other abstracts."""
        self.backlog.learn(counts)

    def view(self) -> TwoSides:
        """Everything that is drawn."""
        schema = self.project.schema
        here, there = two_sides.sides_of(self._abstract, self._now, self.on, schema)
        against = ", ".join(source_words(each.name) for each in self.sides)
        title = f"{self.project.path.name} ⇄ {against}"
        lines = two_sides.lines_of(self._abstract, self._now, schema)
        return TwoSides(title, self._counts(), here, there, lines)

    def footer(self) -> tuple[Hint, ...]:
        """The most important keys first; those that would be refused now are not live."""
        if self.mode is Mode.CONFIRM:
            return (Hint("Enter", "do it"), Hint("o", "the other side"), Hint("Esc", "do not"))
        some = self.now is not None
        many = self.abstract is not None and len(self.abstract.waiting) > 1
        return (
            action_hint("accept", some, verdict_words(self, self.on) if some else "accept"),
            action_hint("reject", some, verdict_words(self, OTHER[self.on]) if some else "reject"),
            action_hint("next-mention", some, "other side"),
            action_hint("next-undecided", many, "next"),
            action_hint("accept-above", some, "all here"),
            action_hint("done", words="next abstract"),
            Hint("Esc", "desk"),
            action_hint("undo"),
            action_hint("adjudicate", words="against whom"),
            action_hint("help"),
        )

    def read(self, number: int) -> bool:
        """Read an abstract, and note how much waits in it; says whether it is in the project."""
        found = read_abstract(self.project, number, self.sides, self.decisions)
        if found is None:
            self._seen = self.project.data_version()
            self._abstract, self.number = None, 0
            self.backlog.note(number, 0)
        else:
            self.show(found)
        return found is not None

    def show(self, abstract: ComparedAbstract) -> None:
        """Make an abstract that was just read the open one."""
        self._seen = self.project.data_version()
        self._abstract, self.number = abstract, abstract.document.stored.number
        self.backlog.note(self.number, len(abstract.waiting))

    def look_at(self, waiting: OpenDifference | None) -> None:
        """Make a difference the present one."""
        if waiting is None or self._now is None or waiting.id != self._now.id:
            self._stopwatch.restart()
            self._switched = False
        self._now = waiting

    def open(self, number: int) -> Feedback:
        """Open an abstract at its first difference."""
        if not self.read(number) or self._abstract is None:
            self._now = None
            return problem(f"The project has no abstract {number} (any more)")
        self.look_at(next(iter(self._abstract.waiting), None))
        return Feedback(moved=True)

    def go_to(self, index: int) -> Feedback:
        """Make the difference at a place of the list the present one."""
        waiting = self._abstract.waiting if self._abstract else []
        if self.mode is Mode.REVIEW and index < len(waiting):
            self.look_at(waiting[index])
        return Feedback()

    def switch_side(self, verdict: Verdict | None = None) -> None:
        """Let the keys speak of the other side, or of a certain one."""
        if verdict != self.on:
            self._switched = not self._switched

    def seconds(self) -> float:
        """Time since the difference came up."""
        return self._stopwatch.lap()

    def _counts(self) -> tuple[str, ...]:
        here = self._abstract.waiting if self._abstract else []
        known = self.backlog
        left = f"{known.total:,} left in {counted(known.abstracts, 'abstract')}"
        if known.counted < len(known.numbers):
            left += f" of the first {known.counted:,} of {len(known.numbers):,} compared"
        if self._abstract is None or self._now is None:
            return "none here", left
        return f"{self._abstract.index(self._now) + 1} of {len(here)} here", left

    def _guard(self, work: Callable[[], Feedback]) -> Feedback:
        try:
            return work()
        except SciextractError as error:
            self.mode = Mode.REVIEW
            return refusal(error)

    def _begin(self, number: int) -> Feedback:
        """The abstract if something waits in it, else the next one where something does, else the abstract."""
        feedback = self.open(number) if number else Feedback()
        if self._now is None:
            feedback = adjudication_keys.next_abstract(self)
        if self.number == 0 and self.backlog.numbers:
            return self.open(self.backlog.numbers[0])
        return feedback


Handler = Callable[[Adjudication, Action], Feedback]
_HANDLERS: Mapping[str, Handler] = {
    "accept": adjudication_keys.accept,
    "reject": adjudication_keys.reject,
    "accept-above": adjudication_keys.ask_all,
    "next-mention": adjudication_keys.other_side,
    "previous-mention": adjudication_keys.other_side,
    "next-token": adjudication_keys.certain_side,
    "previous-token": adjudication_keys.certain_side,
    "next-undecided": adjudication_keys.step,
    "previous-undecided": adjudication_keys.step,
    "next-item": adjudication_keys.step,
    "previous-item": adjudication_keys.step,
    "next-abstract": adjudication_keys.step_abstract,
    "previous-abstract": adjudication_keys.step_abstract,
    "done": adjudication_keys.next_abstract,
    "undo": adjudication_keys.undo,
    "redo": adjudication_keys.redo,
}
