"""What each mode has gathered so far: a value of its own, which a key replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sciextract.documents.annotations import Span, SpanCandidate
from sciextract.documents.schema import AttributeType
from sciextract_app.review.model.hints import Hints
from sciextract_app.shared.candidates import Considered
from sciextract_app.shared.view_models import Feedback, Mode


class Doing:
    """What the desk is doing.

    Attributes:
        hints: Letters over tokens or mentions.
        leave: What Esc does besides leaving the mode.
    """

    mode: ClassVar[Mode]
    hints: Hints | None = None
    leave: Callable[[], Feedback] | None = None

    def __init_subclass__(cls, mode: Mode) -> None:
        cls.mode = mode


@dataclass(frozen=True)
class Review(Doing, mode=Mode.REVIEW):
    """Nothing that needs more than one key."""


@dataclass(frozen=True)
class Selecting(Doing, mode=Mode.SELECT):
    """Tokens from the start to the cursor, or a candidate of the model, become a mention.

    Attributes:
        start: The token at which the selection began, ``None`` for a candidate.
        offers: The model's candidates.
        offer: Which of them is shown.
    """

    start: int | None = None
    offers: Sequence[SpanCandidate] = ()
    offer: int = 0

    @property
    def candidate(self) -> Span | None:
        """The candidate that is shown."""
        return self.offers[self.offer].span if self.offers else None


@dataclass(frozen=True)
class Pointing(Doing, mode=Mode.FRAGMENT):
    """A mention gets a further part, or loses one.

    Attributes:
        mention: The mention.
        start: The token at which the part begins, ``None`` for that of the cursor.
    """

    mention: str
    start: int | None = None


@dataclass(frozen=True)
class Jumping(Doing, mode=Mode.JUMP):
    """The cursor goes to a letter.

    Attributes:
        back: What goes on then.
        hints: The letters.
    """

    back: Doing
    hints: Hints


@dataclass(frozen=True)
class Characters(Doing, mode=Mode.CHARACTERS):
    """The keys of edges move them by characters."""


@dataclass(frozen=True)
class TypeLetter(Doing, mode=Mode.TYPE):
    """The next key is the letter of a type.

    Attributes:
        selection: What gets the type, where it is not the focus.
    """

    selection: Selecting | None = None


@dataclass(frozen=True)
class AttributeLetter(Doing, mode=Mode.ATTRIBUTE):
    """The next key is the letter of an attribute."""


@dataclass(frozen=True)
class AttributeValue(Doing, mode=Mode.VALUE):
    """The next key, or what is typed, is the value of an attribute.

    Attributes:
        kind: The attribute.
        target: Id of the entity or relation that it is said of, empty for the abstract.
        names: What the values of a link are called.
    """

    kind: AttributeType
    target: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relating(Doing, mode=Mode.RELATE):
    """A relation is made from a mention to one with a letter.

    Attributes:
        head: The mention.
        far: Whether it may cross sentence borders.
        any_type: Whether it may lead to mentions to which the schema allows none.
        hints: The letters.
    """

    head: str
    far: bool
    any_type: bool
    hints: Hints


@dataclass(frozen=True)
class ChoosingType(Doing, mode=Mode.RELATE_TYPE):
    """The relation between two mentions gets its type.

    Attributes:
        head: Its head.
        tail: Its tail.
    """

    head: str
    tail: str


@dataclass(frozen=True)
class Offering(Doing, mode=Mode.OFFER):
    """Relations and links are offered that the model considered for a mention.

    Attributes:
        mention: The mention.
        considered: They, by letter.
        hints: The letters.
        added: The relation that was added last, which a digit gives another type; empty for none.
    """

    mention: str
    considered: Mapping[str, Considered]
    hints: Hints
    added: str = ""


@dataclass(frozen=True)
class Joining(Doing, mode=Mode.CLUSTER):
    """A mention joins a cluster.

    Attributes:
        mention: The mention.
        hints: Letters over the mentions that a new cluster could have with it; ``None`` before one is wanted.
    """

    mention: str
    hints: Hints | None = None


@dataclass(frozen=True)
class Merging(Doing, mode=Mode.MERGE):
    """A cluster is merged with another one.

    Attributes:
        cluster: The cluster.
    """

    cluster: str


@dataclass(frozen=True)
class Confirming(Doing, mode=Mode.CONFIRM):
    """A question waits for Enter or Esc.

    Attributes:
        question: What is asked.
        confirm: What Enter does.
        leave: What Esc does besides leaving the mode.
    """

    question: str
    confirm: Callable[[], Feedback]
    leave: Callable[[], Feedback] | None = None


@dataclass(frozen=True)
class Counting(Doing, mode=Mode.COUNTING):
    """The person waits for what is counted.

    Attributes:
        leave: Stops the count.
    """

    leave: Callable[[], Feedback]


@dataclass(frozen=True)
class GoingTo(Doing, mode=Mode.GO_TO):
    """The number of an abstract is typed.

    Attributes:
        typed: Its digits so far.
    """

    typed: str = ""


Hinted = Jumping | Relating | Offering | Joining
