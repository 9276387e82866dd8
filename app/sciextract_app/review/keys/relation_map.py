"""All relations of an abstract, grouped by sentence or by type, or as a map with arcs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from sciextract.store import RelationRef
from sciextract.text.english import counted
from sciextract_app.review.keys.desk import Desk
from sciextract_app.shared.actions import (
    Bound,
    action_hint,
    key_label,
    type_keys,
)
from sciextract_app.shared.document_view import DocumentView
from sciextract_app.shared.view_models import Feedback, Hint, RelationLine, problem

PAGE = 10
"""Relations that Page Down passes."""
_DECISIONS = frozenset({"accept", "reject", "invert", "undo", "redo", "repeat"})
_STEPS = {
    **dict.fromkeys(("j", "down", "right"), 1),
    **dict.fromkeys(("k", "up", "left"), -1),
    "pagedown": PAGE,
    "pageup": -PAGE,
    # More than an abstract has relations, so that these lead to the ends.
    "home": -(1 << 31),
    "end": 1 << 31,
}


class Grouping(StrEnum):
    """How the relations are arranged."""

    SENTENCE = "by sentence"
    TYPE = "by type"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class MapRow:
    """A line of the view.

    Attributes:
        words: A heading, or a mention of the map; empty on a line with a relation.
        label: The mention's type, empty for headings.
        margin: The arcs next to the line, as they are drawn.
        relation: The relation on the line, ``None`` for none.
    """

    words: str = ""
    label: str = ""
    margin: str = ""
    relation: RelationLine | None = None


class RelationMap:
    """The relations of the desk's open abstract, one of them in focus.

    Args:
        desk: The desk; what is decided here is decided there.

    Attributes:
        grouping: How they are arranged.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.grouping = Grouping.SENTENCE
        state = desk.state
        self._left = desk.number, desk.focus, state.is_undecided(desk.focus), state.cursor
        self._is_behind = False  # the last one was decided, and none came after it
        view = desk.state.view
        mention = view.mention_of(desk.focus) if view else None
        related = {row.id for row in view.relations_of.get(mention or "", ())} if view else set()
        order = self._order()
        first = next((place for place, relation in enumerate(order) if relation in related), 0)
        self._keep_focus(self._place() or first)

    @property
    def title(self) -> str:
        """How many relations there are, and how many of them wait."""
        lines = self._desk.relations(everything=True)
        waiting = sum(self._desk.state.is_undecided(RelationRef(line.item_id)) for line in lines)
        return f"{counted(len(lines), 'relation')}, {waiting} undecided"

    def rows(self) -> tuple[MapRow, ...]:
        """All lines."""
        view = self._desk.state.view
        if view is None:
            return ()
        lines = {line.item_id: line for line in self._desk.relations(everything=True)}
        match self.grouping:
            case Grouping.TYPE:
                types = _group_by((line.label, line) for line in lines.values())
                headings = (MapRow(f"{label} ({len(types[label])})", label) for label in types)
                return _with_headings(headings, types.values())
            case Grouping.MAP:
                return _map(view, lines)
        # A relation is judged at its later argument, so it stands under that one's sentence.
        anchors = {relation: view.anchor(RelationRef(relation)) or "" for relation in lines}
        sentences = _group_by(
            (view.sentence_of(anchors[relation]), lines[relation]) for relation in lines
        )
        return _with_headings(
            (_head_sentence(view, sentence) for sentence in sentences), sentences.values()
        )

    def press(self, key: str, action: Bound) -> Feedback:
        """Move, arrange, or decide what is in focus; the next relation comes into focus.

        Args:
            key: The key's name.
            action: What it does at the desk, ``None`` for nothing.
        """
        place = self._place()
        if key in ("tab", "shift+tab", *_STEPS):
            self._desk.count_key(moves=True)
        if key in ("tab", "shift+tab"):
            order = list(Grouping)
            step = 1 if key == "tab" else -1
            self.grouping = order[(order.index(self.grouping) + step) % len(order)]
            return Feedback()
        if key in _STEPS:
            self._keep_focus(place + _STEPS[key])
            return Feedback()
        if action is None or not (action.id in _DECISIONS or action.id.startswith("type-")):
            return problem(f"{key} does nothing here; Esc goes back to the passage")
        if action.id not in ("undo", "redo") and not isinstance(self._desk.focus, RelationRef):
            return problem("There is no relation here")
        order_before = self._order()
        if action.id == "reject" and self._is_behind:
            # Whoever thinks to be at the next one must not lose the one just decided.
            self._is_behind = False
            return problem(
                f"The last relation is decided already; {key_label(key)} again rejects it"
            )
        feedback, self._is_behind = self._desk.press(key), False
        # What was decided stays in sight at the desk; here the next one of the old order comes, also when
        # the decision held already.
        if not feedback.problem and action.id not in ("undo", "redo", "invert"):
            self._focus_following(order_before, place)
        elif not isinstance(self._desk.focus, RelationRef):
            self._keep_focus(place)
        return feedback

    def leave(self) -> None:
        """Give the focus back to what had it; where that was decided here, to the next item that waits."""
        number, item, waited, cursor = self._left
        state = self._desk.state
        if state.view is None or self._desk.number != number:
            return
        is_there = item is None or state.view.row(item) is not None
        state.focus_on(item if is_there else None)
        state.point_at(cursor)
        if not is_there or (waited and not state.is_undecided(item)):
            state.advance(state.position())

    def footer(self) -> tuple[Hint, ...]:
        """Keys that mean something here."""
        labels = self._desk.state.open_view.schema.relation_labels if self._desk.number else ()
        hints = [action_hint(name) for name in ("accept", "reject", "invert")]
        hints += [Hint("Tab", "arrange"), Hint("j k PgDn Home", "move", seldom=True)]
        hints += [Hint(type_keys(labels), "type", seldom=True), action_hint("undo")]
        return (*hints, Hint("Esc", "back"))

    def _order(self) -> list[str]:
        return [row.relation.item_id for row in self.rows() if row.relation]

    def _place(self) -> int:
        focus, order = self._desk.focus, self._order()
        return order.index(focus.id) if isinstance(focus, RelationRef) and focus.id in order else 0

    def _keep_focus(self, place: int) -> None:
        """Focus the relation at a place, the nearest one where there is none."""
        order = self._order()
        if order:
            self._desk.focus_item(RelationRef(order[max(0, min(place, len(order) - 1))]))

    def _focus_following(self, before: Sequence[str], place: int) -> None:
        """Focus the next relation of the order as it was that is still there, else the last one."""
        there = self._order()
        following = next((relation for relation in before[place + 1 :] if relation in there), None)
        if following is not None:
            self._desk.focus_item(RelationRef(following))
        else:
            self._keep_focus(len(there))
            self._is_behind = len(there) == len(before)


_Group = TypeVar("_Group", int, str)


def _group_by(pairs: Iterable[tuple[_Group, RelationLine]]) -> dict[_Group, list[RelationLine]]:
    found: defaultdict[_Group, list[RelationLine]] = defaultdict(list)
    for key, line in pairs:
        found[key].append(line)
    return dict(sorted(found.items()))


def _with_headings(
    headings: Iterable[MapRow], groups: Iterable[Iterable[RelationLine]]
) -> tuple[MapRow, ...]:
    rows: list[MapRow] = []
    for heading, lines in zip(headings, groups, strict=True):
        rows += [heading, *(MapRow(relation=line) for line in lines)]
    return tuple(rows)


def _head_sentence(view: DocumentView, sentence: int) -> MapRow:
    tokens = view.tokens.sentences[sentence]
    start = view.tokens.spans[tokens.token_start].char_start
    end = view.tokens.spans[tokens.token_end - 1].char_end
    return MapRow(f"{sentence + 1}. {' '.join(view.text[start:end].split())}")


MOST_LANES = 12
"""Arcs next to each other; where more overlap they share the last lane."""


def _map(view: DocumentView, lines: dict[str, RelationLine]) -> tuple[MapRow, ...]:
    """Mentions in text order with the relations that they are the head of, and an arc from each head to its tail."""
    rows, mention_rows, sentence = [], {}, -1
    out: defaultdict[str, list[RelationLine]] = defaultdict(list)
    for relation_id, line in lines.items():
        out[view.relation_by_id[relation_id].head].append(line)
    ends = {end for line in lines for end in _ends(view, line)}
    for mention in sorted(ends, key=view.place):
        if view.sentence_of(mention) != sentence:
            sentence = view.sentence_of(mention)
            rows.append(_head_sentence(view, sentence))
        mention_rows[mention] = len(rows)
        rows.append(MapRow(" ".join(view.surface(mention).split()), view.by_id[mention].label))
        rows += [MapRow(relation=line) for line in out[mention]]
    arcs = []
    for relation_id, line in lines.items():
        head, tail = _ends(view, relation_id)
        arcs.append(Arc(mention_rows[head], mention_rows[tail], not line.symmetric))
    margins = draw_arcs(arcs, len(rows))
    return tuple(
        MapRow(row.words, row.label, margin, row.relation)
        for row, margin in zip(rows, margins, strict=True)
    )


def _ends(view: DocumentView, relation_id: str) -> tuple[str, str]:
    row = view.relation_by_id[relation_id]
    return row.head, row.tail


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc between two rows.

    Attributes:
        head: Where it begins.
        tail: Where its arrow is.
        directed: Whether it has one.
    """

    head: int
    tail: int
    directed: bool = True


_CROSSED = {" ": "─", "│": "┼", "╭": "┬", "╰": "┴", "├": "┼"}


def draw_arcs(arcs: Sequence[Arc], height: int) -> list[str]:
    """The margin of each row; longer arcs are further left, arcs of one lane do not overlap.

    >>> draw_arcs([Arc(0, 2), Arc(2, 1)], 3)
    ['╭── ', '│╭► ', '╰┴► ']
    """
    free: list[list[tuple[int, int]]] = []
    lanes: list[tuple[int, Arc]] = []
    # The longest first, so that they are outermost and the others lie within them.
    for arc in sorted(arcs, key=lambda one: (-abs(one.head - one.tail), one.head, one.tail)):
        top, bottom = sorted((arc.head, arc.tail))
        fits = (n for n, used in enumerate(free) if all(bottom < a or top > b for a, b in used))
        lane = next(fits, None)
        if lane is None:
            # Too many overlap: better two arcs on each other than no room for the words.
            lane = min(len(free), MOST_LANES - 1)
            if lane == len(free):
                free.append([])
        free[lane].append((top, bottom))
        lanes.append((lane, arc))
    width = len(free)
    grid = [[" "] * (width + 2) for _ in range(height)]
    # Inner ones first: outer ones cross them.
    for lane, arc in sorted(lanes, key=lambda drawn: -drawn[0]):
        top, bottom = sorted((arc.head, arc.tail))
        for y in range(top + 1, bottom):
            grid[y][lane] = "│" if grid[y][lane] in " │" else "├"
        for y, corner in ((top, "╭"), (bottom, "╰")):
            grid[y][lane] = corner if grid[y][lane] == " " else "├"
            for x in range(lane + 1, width + 1):
                grid[y][x] = _CROSSED.get(grid[y][x], grid[y][x])
        if arc.directed:
            grid[arc.tail][width] = "►"
    return ["".join(row) for row in grid]
