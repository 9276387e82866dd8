"""What is on the screen, as frozen values: presenters make them, widgets draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import Literal

from sciextract.documents.annotations import State

SIGNS = {
    State.UNDECIDED: "?",
    State.ACCEPTED: "✓",
    State.EDITED: "✎",
    State.ADDED: "+",
    State.IMPORTED: "⇣",
    State.REJECTED: "✗",
}
"""What has been decided, in one cell."""


DIGITS = 9
VALUE_KEYS = "123456789abcdefghijklmnopqrstuvwyz"
"""The keys of the values of an attribute; ``x`` takes one back."""
ASK_VALUE = "value of an attribute"
"""What is requested of the screen to have a value typed."""
"""Types that a digit sets; the others are set by ``;`` and their letter."""


class Mode(StrEnum):
    """What the next key means; always shown in the footer."""

    REVIEW = "review"
    LIST = "list"
    JUMP = "jump"
    SELECT = "select"
    FRAGMENT = "fragment"
    CHARACTERS = "characters"
    RELATE = "relate"
    RELATE_TYPE = "relate: type"
    OFFER = "offers"
    TYPE = "type"
    ATTRIBUTE = "attribute"
    VALUE = "value"
    CLUSTER = "cluster"
    GO_TO = "go to"
    MERGE = "merge"
    CONFIRM = "confirm"
    COUNTING = "counting"


class Role(StrEnum):
    """What a mention is to a relation or a cluster link in focus."""

    NONE = "none"
    HEAD = "head"
    TAIL = "tail"
    END = "end of a symmetric relation"
    LINKED = "member of the cluster"


@dataclass(frozen=True, slots=True)
class Mark:
    """One fragment of a mention in the passage.

    Attributes:
        char_start: Its first character.
        char_end: Its end.
        item_id: The entity.
        key: The one letter of its type; ``·`` without a type.
        label: Its type.
        state: What has been decided.
        score: The model's probability, ``None`` for items no model made.
        depth: How many other mentions enclose it.
        cluster: Letters of its clusters, in order; empty for none.
        focused: Whether it is the item that keys speak of.
        partner: Whether a relation or a cluster joins it to the focus.
        role: What it is to a relation or a cluster link in focus.
        last: Whether it is the last fragment, behind which type and cluster are written.
    """

    char_start: int
    char_end: int
    item_id: str
    key: str
    label: str
    state: State
    score: float | None
    depth: int = 0
    cluster: str = ""
    focused: bool = False
    partner: bool = False
    last: bool = True
    role: Role = Role.NONE


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of an abstract with everything that is drawn into it.

    Attributes:
        text: The exact text.
        title_end: Where the title ends, 0 without one.
        marks: Mentions, outer ones first.
        cursor: The token under the cursor.
        selection: The selected characters, ``None`` for none.
        hints: Jump letters by the character that they are drawn over.
        candidate: A span that the model offers and that is not an item (yet), ``None`` for none.
        hits: Where the words that were searched for stand, in order.
        sure: The score from which an undecided mention is marked as one that is accepted with all others.
        other_edges: Mentions for which the model knows other edges that are nearly as likely.
    """

    text: str
    title_end: int
    marks: tuple[Mark, ...]
    cursor: tuple[int, int]
    selection: tuple[int, int] | None = None
    hints: Mapping[int, str] = field(default_factory=dict)
    candidate: tuple[int, int] | None = None
    hits: tuple[tuple[int, int], ...] = ()
    sure: float = inf
    other_edges: frozenset[str] = frozenset()


EMPTY = Passage("", 0, (), (0, 0))


@dataclass(frozen=True, slots=True)
class RelationLine:
    """A relation of the focused mention, or of the whole abstract.

    Attributes:
        item_id: The relation.
        head: The head's string.
        tail: The tail's string.
        label: Its type.
        symmetric: Whether the direction makes no difference.
        state: What has been decided.
        score: The model's probability.
        focused: Whether it is the item that keys speak of.
        illegal: Whether the schema does not allow it between the types of its mentions.
        sure: Whether it is undecided and accepted with all others that are sure.
    """

    item_id: str
    head: str
    tail: str
    label: str
    symmetric: bool
    state: State
    score: float | None
    focused: bool
    illegal: bool = False
    sure: bool = False


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """A coreference cluster.

    Attributes:
        cluster_id: The cluster.
        letter: Its letter, stable while the abstract is open, never ``c``.
        mentions: Strings of its mentions in text order.
        states: What has been decided about each.
        focused: Index of the mention whose link is the focus, ``None`` for none.
    """

    cluster_id: str
    letter: str
    mentions: tuple[str, ...]
    states: tuple[State, ...]
    focused: int | None


@dataclass(frozen=True, slots=True)
class Inspector:
    """Everything about the focused item.

    Attributes:
        title: Its string (or both strings) and its label.
        lines: Name and value: score, next labels, state, who, when, history, definition of the label.
    """

    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Hint:
    """A key of the footer.

    Attributes:
        key: As it is written for people: ``Enter``, ``x``, ``1-6``.
        words: What it does now.
        live: Whether it does something in the present situation; others are muted.
        seldom: Whether it is muted, and goes first where there is no room.
        label: The label whose colour it has, empty for none.
        current: Whether the focus has this label already.
    """

    key: str
    words: str
    live: bool = True
    seldom: bool = False
    label: str = ""
    current: bool = False


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a key press led to.

    Attributes:
        message: One line for the message bar, empty for none.
        problem: Whether the message says why nothing was done.
        changed: Whether the project was changed.
        moved: Whether another abstract is open now.
        recount: Whether there may be other numbers of abstracts, all or done, than before.
        request: What the app itself must do: ``help``, ``palette``, ``search``, ``note``, ``guideline``,
            ``quit``...; empty for nothing.
    """

    message: str = ""
    problem: bool = False
    changed: bool = False
    moved: bool = False
    recount: bool = False
    request: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """The line above everything.

    Attributes:
        project: The project's name.
        done: Abstracts that are done.
        documents: All abstracts.
        acceptance: Share of the model's items that were accepted as they stood, ``None`` before any decision.
        model: The model that predicts, empty for none.
        predicting: Abstracts predicted so far and all that need it, ``None`` when nothing runs.
        queue: The saved queue that is worked on and the place in it, empty for none.
        place: The place of the open abstract and how many there are, in the order of ``n`` and ``p``.
        training: The epoch of a training and how many there will be, ``None`` when none runs.
        learning: Whether an adapter learns and what it learned last, in words; empty for nothing.
        missing: How many abstracts were done before a type came, in words; empty for none.
        sought: The types that alone are looked for, empty for all.
    """

    project: str
    done: int
    documents: int
    acceptance: float | None = None
    model: str = ""
    predicting: tuple[int, int] | None = None
    queue: str = ""
    training: tuple[int, int] | None = None
    place: tuple[int, int] | None = None
    learning: str = ""
    missing: str = ""
    sought: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """Columns with a title.

    Attributes:
        words: The title.
        values: From left to right; ``None`` for what is not known.
        top: What a full column stands for; 0 for the highest one.
    """

    words: str
    values: Sequence[float | None]
    top: float = 0


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar of a plot; without sizes a heading.

    Attributes:
        name: What stands before the bar.
        counts: Sizes of its parts.
        after: What stands behind it.
    """

    name: str
    counts: tuple[float, ...] = ()
    after: str = ""


ILLEGAL = "!"
"""Marks a relation that the schema does not allow between the types of its mentions."""
NEW_TYPE: dict[Literal["entity", "relation"], str] = {
    "entity": "new entity type",
    "relation": "new relation type",
}
"""Requests for the first type, by what it is for; the digit that asked for it is pressed again then."""


def problem(message: str) -> Feedback:
    """Why a key did nothing."""
    return Feedback(message, problem=True)


def named(text: str, limit: int = 40) -> str:
    """A mention's string in a message."""
    flat = " ".join(text.split())
    return f"‹{flat if len(flat) <= limit else flat[: limit - 1] + '…'}›"
