"""One question at a time: undecided items of all abstracts, each in its sentence, the most uncertain first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sciextract.documents.annotations import State
from sciextract.store import EntityRow, ItemRef, LinkRow, RelationRow, review
from sciextract_app.review.keys.desk import Desk
from sciextract_app.review.model.hints import LETTERS
from sciextract_app.shared.actions import (
    EDGES,
    Bound,
    action_hint,
    keys_together,
    type_keys,
)
from sciextract_app.shared.document_view import DocumentView, item_words
from sciextract_app.shared.session import item_of
from sciextract_app.shared.view_models import EMPTY, SIGNS, Feedback, Hint, Passage, Role, problem

_DECISIONS = frozenset({"accept", "reject", "invert", "undo", "redo"})
KEPT = 10
"""Answers that are shown, and can be opened again."""
_STEPS = {"next-undecided": 1, "next-item": 1, "previous-undecided": -1, "previous-item": -1}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of this round.

    Attributes:
        number: The abstract.
        item: What was asked about.
        event: Which decided it.
        words: It, behind the sign of its state.
    """

    number: int
    item: ItemRef
    event: int
    words: str


class Questions:
    """Goes through the undecided items; what is decided here is decided at the desk.

    Where a queue or a search is worked on, only its abstracts are asked about.

    Args:
        desk: The desk; its focus is what is asked about.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        within = desk.state.documents.numbers
        found = review.undecided_items(desk.state.project.connection)
        wanted = None if within is None else set(within)
        self._items = [
            (number, item)
            for number, fields in found
            if (wanted is None or number in wanted) and (item := item_of(fields))
        ]
        self._place, self._is_over, self._is_jumping = -1, False, False
        self._answers: list[Answer] = []
        self._go(1)

    @property
    def answers(self) -> Sequence[Answer]:
        """The last ones, the latest first."""
        return self._answers[: -KEPT - 1 : -1]

    @property
    def share(self) -> float:
        """How much of this round is answered."""
        return len(self._answers) / max(1, len(self._items))

    @property
    def title(self) -> str:
        """How far the person is, and what is asked."""
        total, kind = len(self._items), self._desk.mode_words
        if self._is_over:
            return f"{len(self._answers):,} answered; no question is left"
        place = f"question {self._place + 1:,} of {total:,}, {len(self._answers):,} answered"
        return f"{place}: is this {kind} right?"

    def excerpt(self) -> Passage:
        """The sentence of the item, with that and what it joins; several sentences where its ends are far apart."""
        view, focus, passage = self._desk.state.view, self._desk.focus, self._desk.passage()
        if view is None or self._is_over:
            return EMPTY
        marks = [
            mark for mark in passage.marks if mark.focused or mark.partner or mark.role != Role.NONE
        ]
        start, end = _sentences(view, focus)
        return replace(
            passage,
            text=passage.text[start:end],
            title_end=max(0, min(passage.title_end, end) - start),
            marks=tuple(
                replace(mark, char_start=mark.char_start - start, char_end=mark.char_end - start)
                for mark in marks
                if start <= mark.char_start and mark.char_end <= end
            ),
            cursor=(0, 0),
            hits=(),
        )

    def press(self, key: str, action: Bound) -> Feedback:
        """Answer, change the item, pass it over, take an answer back or open an earlier one again."""
        if self._is_jumping:
            self._is_jumping = False
            return self.open_again(LETTERS.find(key))
        if action is None:
            return problem(f"{key} does nothing here; Esc goes back to the passage")
        if action.id in _STEPS:
            self._desk.count_key(moves=True)
            return self._go(_STEPS[action.id])
        if action.id == "jump":
            self._is_jumping = bool(self._answers)
            asked = "The letter of an answer opens it again" if self._answers else ""
            return Feedback(asked or "Nothing is answered yet")
        decides = action.id in _DECISIONS or action.id.startswith("type-")
        if not decides and action.id not in EDGES:
            return problem(f"{key} does nothing here; Esc goes back to the passage")
        turns = action.id in ("undo", "redo")
        if self._is_over and not turns:
            return problem("No question is left; Esc goes back to the passage")
        number, before, view = self._desk.number, self._desk.focus, self._desk.state.open_view
        named_before = item_words(view, before) if before else ""
        feedback = self._desk.press(key)
        # An item that its edges have decided already is answered by Enter all the same.
        if feedback.problem or feedback.request or action.id in EDGES:
            return feedback
        if turns:
            # The desk has gone to what changed, which may be an answer of this round.
            self._is_over = False
            here = (self._desk.number, self._desk.focus)
            self._answers = [answer for answer in self._answers if not self._is_open(answer)]
            self._place = self._items.index(here) if here in self._items else self._place
            return feedback
        event = review.newest_event(self._desk.state.project.connection, number)
        if before and event and not self._desk.state.is_undecided(before):
            view = self._desk.state.open_view
            row, words = view.row(before), named_before
            if row is not None:
                words = item_words(view, before)
                words += f" · {row.label}" if isinstance(row, EntityRow) else ""
            words = f"{SIGNS[row.state if row else State.REJECTED]} {words}"
            self._answers.append(Answer(number, before, event.id, words))
        left = self._go(1)
        return replace(feedback, message=feedback.message or left.message)

    def open_again(self, place: int) -> Feedback:
        """Take back one of the last answers, and ask that again."""
        if not 0 <= place < len(self.answers):
            return Feedback()
        answer = self.answers[place]
        self._desk.open(answer.number)
        feedback = self._desk.take_back(answer.event)
        if not feedback.problem:
            self._answers.remove(answer)
            self._place, self._is_over = self._items.index((answer.number, answer.item)), False
            self._desk.focus_item(answer.item)
        return feedback

    def _is_open(self, answer: Answer) -> bool:
        return self._desk.number == answer.number and self._desk.state.is_undecided(answer.item)

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something here."""
        schema = self._desk.state.open_view.schema if self._desk.number else None
        hints = [action_hint(name) for name in ("accept", "reject")]
        hints += [action_hint("next-undecided", words="pass it over"), action_hint("undo")]
        hints += [action_hint("jump", bool(self._answers), "an answer again")]
        hints += [Hint(keys_together(*EDGES), "edges", seldom=True)]
        hints += [action_hint("invert", seldom=True)]
        hints += [Hint(type_keys(schema.entity_labels if schema else ()), "type", seldom=True)]
        return (*hints, Hint("Esc", "back"))

    def _go(self, step: int) -> Feedback:
        """To the next question that is still undecided, in its abstract; the last one stays where there is none."""
        place = self._place + step
        while 0 <= place < len(self._items):
            number, item = self._items[place]
            if number != self._desk.number:
                self._desk.open(number)
            if self._desk.number == number and self._desk.state.is_undecided(item):
                self._place, self._is_over = place, False
                return self._desk.focus_item(item)
            place += step
        self._is_over = step > 0
        return Feedback("No question is left in this direction")


def _sentences(view: DocumentView, item: ItemRef | None) -> tuple[int, int]:
    """Where the sentences of an item begin and end, in characters."""
    row, own = view.row(item), view.mention_of(item) or ""
    ends = (row.head, row.tail) if isinstance(row, RelationRow) else (own,)
    if isinstance(row, LinkRow):
        # A link is judged by another mention of its cluster, the nearest one before it.
        ids = [link.entity_id for link in view.members[row.cluster_id]]
        place = ids.index(own)
        ends = (own, ids[place - 1] if place else ids[min(1, len(ids) - 1)])
    tokens = view.tokens
    found = sorted(view.sentence_of(end) for end in ends)
    first, last = tokens.sentences[found[0]], tokens.sentences[found[-1]]
    start = tokens.spans[first.token_start].char_start
    return start, tokens.spans[last.token_end - 1].char_end
