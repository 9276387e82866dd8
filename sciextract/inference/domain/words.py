"""The domain of a text by its words: computer science, biomedicine, or neither."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import cache
from pathlib import Path

STEM_LETTERS = 7
"""Letters of a stem: enough to join inflections, few enough to stay simple."""

LEAST_SCORE = 5.0
"""Score from which a text may be biomedical: where, among the abstracts that the weights were learned from, both
kinds are recognised about equally often."""

SHORT_TEXT = 50
"""Different stems below which one stem of life science is enough; longer texts need two. Abstracts of biomedicine
have nine (median), those of physics and materials science none, though their style scores as high."""

FITS_NEITHER = "the words fit neither computer science nor biomedicine; model science predicts, with labels of its own"
"""Remark on a document that goes to the model for all other fields."""

_WORD = re.compile(r"[a-z]{3,}")
_WEIGHTS = Path(__file__).with_name("stems.json")
_LIFE = Path(__file__).with_name("life_stems.txt")


class Domain(StrEnum):
    """What the words of a text speak for."""

    COMPUTING = "computer science"
    BIOMEDICINE = "biomedicine"
    NEITHER = "neither"


def stems_of(text: str) -> frozenset[str]:
    """The beginnings of all words of three letters and more, in lower case.

    >>> sorted(stems_of("Kinases inhibit the kinase"))
    ['inhibit', 'kinase', 'kinases', 'the']
    """
    return frozenset(word[:STEM_LETTERS] for word in _WORD.findall(text.lower()))


def domain_of(text: str) -> Domain:
    """The domain of a text.

    >>> str(domain_of("Aspirin inhibits cyclooxygenase in patients with cancer."))
    'biomedicine'
    >>> str(domain_of("Axion-like particles were searched for after the pulsar was observed for nine years."))
    'neither'
    """
    return domain_of_stems(stems_of(text))


def domain_of_stems(stems: Collection[str]) -> Domain:
    """The domain of a text with these stems.

    The naive Bayes score separates computer science from experimental science; whether that is biomedicine,
    the stems of life science decide.
    """
    score = score_of(stems)
    if score < 0:
        return Domain.COMPUTING
    needed = 1 if len(stems) < SHORT_TEXT else 2
    if score > LEAST_SCORE and len(life_stems().intersection(stems)) >= needed:
        return Domain.BIOMEDICINE
    return Domain.NEITHER


def score_of(stems: Iterable[str]) -> float:
    """The higher, the more biomedical; negative for computer science, 0 where no word is known."""
    known = weights()
    return sum(known.get(stem, 0.0) for stem in stems)


@cache
def weights() -> dict[str, float]:
    """Log-odds by stem, positive for biomedicine."""
    found: dict[str, float] = json.loads(_WEIGHTS.read_text(encoding="utf-8"))
    return found


@cache
def life_stems() -> frozenset[str]:
    """Stems that texts on living beings and medicine have and those of other sciences hardly ever: chosen by hand among
    those that are frequent in PubMed and rare in computer science.
    """
    return frozenset(_LIFE.read_text(encoding="utf-8").split())
