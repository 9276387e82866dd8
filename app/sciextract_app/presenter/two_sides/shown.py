"""What is on the screen where two sources stand side by side, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from sciextract_app.presenter.shown import Passage


@dataclass(frozen=True, slots=True)
class SideView:
    """One of the two.

    Attributes:
        name: Who says so.
        passage: The text with what this side has.
        said: What it says about the present difference, in a line or two.
        focused: Whether it is the side that keys speak of.
    """

    name: str
    passage: Passage
    said: tuple[str, ...] = ()
    focused: bool = False


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """One difference of the abstract.

    Attributes:
        kind: How they differ, in words.
        here: What holds here.
        there: What the other side says.
        focused: Whether it is the present one.
    """

    kind: str
    here: str
    there: str
    focused: bool = False


@dataclass(frozen=True, slots=True)
class TwoSides:
    """Everything that is drawn.

    Attributes:
        title: Where this is: the project, and what it is held against.
        counts: How many differences, in parts; those that find no room are left out, the last ones first.
        here: What holds in the project.
        there: What the other side says.
        lines: All differences of the abstract.
    """

    title: str
    counts: tuple[str, ...]
    here: SideView
    there: SideView
    lines: tuple[DifferenceLine, ...] = ()
