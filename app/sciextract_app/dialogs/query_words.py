"""The words of a search as a query: plain words, and filters of the form ``name:value``."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, get_args

from sciextract.documents.annotations import State
from sciextract.errors import UsageError
from sciextract.store.looking.search import Place, Query

HELP = 'words, "a phrase", begin*   in:title|mentions   label:NAME or label:"TWO WORDS"   state:undecided   below:0.5   is:flagged|disputed'
_PLACES = get_args(Place)
_STATES = tuple(State)
_PIECE = re.compile(r'[a-z]+:"[^"]*"|\S+')


def parse_query(text: str, labels: Collection[str]) -> Query:
    """What a person typed as a query.

    Args:
        text: Words and filters.
        labels: The types of the project.

    Raises:
        UsageError: A filter has a value that is not allowed; names those that are.

    >>> parse_query("parser state:undecided", [])
    Query(words='parser', place='text', label=None, state='undecided', score_below=None, disagreement=False, flagged=False)
    """
    words: list[str] = []
    filters: dict[str, Any] = {}
    for piece in _PIECE.findall(text):
        name, _, value = piece.partition(":")
        if name in _FILTERS and (value := value.strip('"')):
            filters |= _FILTERS[name](value, labels)
        else:
            words.append(piece)
    return Query(" ".join(words), **filters)


def _place(value: str, labels: Collection[str]) -> dict[str, Any]:
    return {"place": _one_of("in", value, _PLACES)}


def _label(value: str, labels: Collection[str]) -> dict[str, Any]:
    return {"label": _one_of("label", value, labels)}


def _state(value: str, labels: Collection[str]) -> dict[str, Any]:
    return {"state": _one_of("state", value, _STATES)}


def _below(value: str, labels: Collection[str]) -> dict[str, Any]:
    try:
        return {"score_below": float(value)}
    except ValueError:
        raise UsageError(f"below:{value} is no number", "for example below:0.5") from None


def _is(value: str, labels: Collection[str]) -> dict[str, Any]:
    found = _one_of("is", value, ("flagged", "disputed"))
    return {"flagged" if found == "flagged" else "disagreement": True}


_FILTERS = {"in": _place, "label": _label, "state": _state, "below": _below, "is": _is}


def _one_of(name: str, value: str, allowed: Collection[str]) -> str:
    """The allowed value that is meant, whatever its case."""
    for each in allowed:
        if each.casefold() == value.casefold():
            return str(each)
    raise UsageError(f"{name}:{value} is not known", f"there are: {', '.join(allowed)}")
