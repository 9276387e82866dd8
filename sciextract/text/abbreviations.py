"""The word lists of the text layer: abbreviations and common first words, kept as data."""

from __future__ import annotations

from enum import Enum
from functools import cache
from importlib.resources import files


class Ending(Enum):
    """When an abbreviation may end a sentence; the values are the headings of ``abbreviations.txt``."""

    NEVER = "never ends a sentence"
    BEFORE_CAPITAL = "ends a sentence before a capitalised word"
    BEFORE_FIRST_WORD = "ends a sentence before a common first word"


_BEFORE_NUMBER = "only before a number"


def ending_of(word: str) -> Ending | None:
    """When an abbreviation (without its last full stop) ends a sentence; ``None`` for other words.

    Words in capitals are acronyms, not abbreviations: ``MS`` is not ``Ms.``, ``IE`` is not ``ie.``.
    """
    return _endings().get(word if word.isupper() else word.lower(), _endings().get(word))


@cache
def _endings() -> dict[str, Ending]:
    return {word: ending for ending in Ending for word in _sections()[ending.value]}


@cache
def number_abbreviations() -> frozenset[str]:
    """Lower-case words that are abbreviations only in front of a number: ``no. 5`` but ``the answer is no.``."""
    return frozenset(_sections()[_BEFORE_NUMBER])


@cache
def first_words() -> frozenset[str]:
    """Lower-case words that often open a sentence."""
    return frozenset(_lines("first_words.txt"))


@cache
def _sections() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in _lines("abbreviations.txt"):
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        else:
            words.append(line)
    return sections


def _lines(name: str) -> list[str]:
    content = files("sciextract.text").joinpath(name).read_text(encoding="utf-8")
    return [line for line in content.splitlines() if line and not line.startswith("#")]
