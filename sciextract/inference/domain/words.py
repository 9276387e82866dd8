"""Is a text biomedical? Log-odds of the stems in it, summed; a few microseconds a word.

Stems and weights are learned by ``python -m sciextract_trainer.domain`` from unlabelled abstracts: a naive Bayes test
over the presence of stems, cut to those that tell most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

STEM_LETTERS = 7
"""Letters of a stem: enough to join inflections, few enough to stay simple."""

LEAST_SCORE = 5.0
"""Score above which a text counts as biomedical: where, among the abstracts that were learned from, both kinds are
recognised about equally often."""

_WORD = re.compile(r"[a-z]{3,}")
_FILE = Path(__file__).with_name("stems.json")


def stems_of(text: str) -> frozenset[str]:
    """The beginnings of all words of three letters and more, in lower case.

    >>> sorted(stems_of("Kinases inhibit the kinase"))
    ['inhibit', 'kinase', 'kinases', 'the']
    """
    return frozenset(word[:STEM_LETTERS] for word in _WORD.findall(text.lower()))


def biomedical_score(text: str) -> float:
    """The higher, the more biomedical; negative for computer science, 0 where no word tells."""
    return score_of(stems_of(text), weights())


def score_of(stems: Iterable[str], known: Mapping[str, float]) -> float:
    """The sum of the known stems' weights."""
    return sum(known.get(stem, 0.0) for stem in stems)


def is_biomedical(text: str) -> bool:
    """Whether the words of a text speak for biomedicine."""
    return biomedical_score(text) > LEAST_SCORE


@cache
def weights() -> dict[str, float]:
    """Log-odds by stem, positive for biomedicine."""
    found: dict[str, float] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found
