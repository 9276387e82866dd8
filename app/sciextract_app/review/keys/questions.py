"""One question at a time: undecided items of all abstracts, each in its sentence, the most uncertain first."""

from __future__ import annotations

from dataclasses import replace

from sciextract.store import ItemRef, RelationRow, review
from sciextract_app.review.keys.desk import Desk
from sciextract_app.shared.actions import (
    EDGES,
    Bound,
    action_hint,
    keys_together,
    type_keys,
)
from sciextract_app.shared.document_view import DocumentView
from sciextract_app.shared.session import item_of
from sciextract_app.shared.view_models import EMPTY, Feedback, Hint, Passage, Role, problem

_DECISIONS = frozenset({"accept", "reject", "invert", "undo", "redo"})
_STEPS = {"next-undecided": 1, "next-item": 1, "previous-undecided": -1, "previous-item": -1}


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
        self._place, self._answered, self._is_over = -1, 0, False
        self._go(1)

    @property
    def title(self) -> str:
        """How far the person is, and what is asked."""
        total, kind = len(self._items), self._desk.mode_words
        if self._is_over:
            return f"{self._answered:,} answered; no question is left"
        place = f"question {self._place + 1:,} of {total:,}, {self._answered:,} answered"
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
        """Answer, change the item, pass it over or take an answer back."""
        if action is None:
            return problem(f"{key} does nothing here; Esc goes back to the passage")
        if action.id in _STEPS:
            self._desk.count_key(moves=True)
            return self._go(_STEPS[action.id])
        decides = action.id in _DECISIONS or action.id.startswith("type-")
        if not decides and action.id not in EDGES:
            return problem(f"{key} does nothing here; Esc goes back to the passage")
        turns = action.id in ("undo", "redo")
        if self._is_over and not turns:
            return problem("No question is left; Esc goes back to the passage")
        before = self._desk.focus
        feedback = self._desk.press(key)
        # An item that its edges have decided already is answered by Enter all the same.
        if feedback.problem or feedback.request or action.id in EDGES:
            return feedback
        if turns:
            # The desk has gone to what changed, which may be an answer of this round.
            self._is_over = False
            here = (self._desk.number, self._desk.focus)
            self._answered = max(0, self._answered + (1 if action.id == "redo" else -1))
            self._place = self._items.index(here) if here in self._items else self._place
            return feedback
        if not self._desk.state.is_undecided(before):
            self._answered += 1
        left = self._go(1)
        return replace(feedback, message=feedback.message or left.message)

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something here."""
        schema = self._desk.state.open_view.schema if self._desk.number else None
        hints = [action_hint(name) for name in ("accept", "reject")]
        hints += [action_hint("next-undecided", words="pass it over"), action_hint("undo")]
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
    if item is not None and own in view.homes and not isinstance(row, RelationRow):
        # A link is judged by another mention of its cluster, the nearest one before it.
        ids = [link.entity_id for link in view.members[view.homes[own][0].cluster_id]]
        place = ids.index(own)
        ends = (own, ids[place - 1] if place else ids[min(1, len(ids) - 1)])
    tokens = view.tokens
    found = sorted(view.sentence_of(end) for end in ends)
    first, last = tokens.sentences[found[0]], tokens.sentences[found[-1]]
    start = tokens.spans[first.token_start].char_start
    return start, tokens.spans[last.token_end - 1].char_end
