"""The keys that mean something now, while two sides stand side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sciextract_app.presenter.actions import BY_ID
from sciextract_app.presenter.adjudicating.abstract import OTHER
from sciextract_app.presenter.adjudicating.deciding import verdict_words
from sciextract_app.presenter.shown import Hint, Mode

if TYPE_CHECKING:
    from sciextract_app.presenter.adjudicating.adjudication import Adjudication

HELP: tuple[tuple[str, str], ...] = (
    ("accept", "the side in focus is right, the next difference comes"),
    ("reject", "the side in focus is wrong: the other one is right"),
    ("next-mention", "the focus to the other side; ← and → to a certain one"),
    ("next-undecided", "next difference, without deciding this one"),
    ("previous-undecided", "previous difference"),
    ("accept-above", "all differences of this abstract, after a question"),
    ("undo", "take back the last decision, also one of yesterday"),
    ("redo", "decide again what was taken back"),
    ("next-abstract", "next abstract that the other side has spoken about"),
    ("previous-abstract", "previous one"),
    ("done", "next abstract with differences"),
    ("adjudicate", "hold the project against somebody else"),
    ("guideline", "what counts as which type"),
)
"""Action ids, and what they mean here."""


def footer(desk: Adjudication) -> tuple[Hint, ...]:
    """The most important keys first; those that would be refused now are not live."""
    if desk.mode is Mode.CONFIRM:
        return (Hint("Enter", "do it"), Hint("o", "the other side"), Hint("Esc", "do not"))
    return tuple(_hints(desk))


def _hints(desk: Adjudication) -> Iterator[Hint]:
    some = desk.now is not None
    many = desk.abstract is not None and len(desk.abstract.waiting) > 1
    yield _of("accept", verdict_words(desk, desk.on) if some else "accept", some)
    yield _of("reject", verdict_words(desk, OTHER[desk.on]) if some else "reject", some)
    yield _of("next-mention", "other side", some)
    yield _of("next-undecided", "next", many)
    yield _of("accept-above", "all here", some)
    yield _of("done", "next abstract", True)
    yield Hint("Esc", "desk")
    yield _of("undo", "undo", True)
    yield _of("adjudicate", "against whom", True)
    yield _of("help", "keys", True)


def _of(action_id: str, words: str, live: bool) -> Hint:
    return Hint(BY_ID[action_id].key, words, live)


def help_rows(keys: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Key, words and group of everything that can be done here.

    Args:
        keys: The keys of each action, as they are written for people.
    """
    rows = [(keys.get(each, "none"), words, "two sides") for each, words in HELP]
    return [*rows, ("Esc", "back to the desk, at this abstract", "two sides")]
