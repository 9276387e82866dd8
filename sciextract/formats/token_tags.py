"""Entities as one tag a token (IOB1, IOB2, BILOU, IOBES), and the choice of entities that tags can hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sciextract.documents.annotations import Entity
from sciextract.documents.spans import TokenRange

OUTSIDE = "O"
TAG = re.compile(r"O|[BIELSU](?:-.+)?")


class TaggedRange(NamedTuple):
    """Tokens of a sentence or document, and their label; empty for tags without one, such as ``B``."""

    tokens: TokenRange
    label: str


def tagged_ranges(tags: Sequence[str]) -> Iterator[TaggedRange]:
    """The entities of one sentence, for IOB1, IOB2, IOE, BILOU and IOBES alike.

    ``B``, ``S`` and ``U`` start an entity, and so does ``I``, ``E`` or ``L`` behind another label or
    outside; ``E``, ``L``, ``S`` and ``U`` end it. This is the rule of the CoNLL-2000 scorer (conlleval).
    """
    start, label = 0, None
    for index, tag in enumerate(tags):
        prefix, _, name = tag.partition("-")
        begins = prefix in "BSU" or (prefix in "IEL" and name != label)
        if label is not None and (prefix == OUTSIDE or begins):
            yield TaggedRange(TokenRange(start, index), label)
            label = None
        if begins:
            start, label = index, name
        if prefix in "ELSU":
            yield TaggedRange(TokenRange(start, index + 1), label or "")
            label = None
    if label is not None:
        yield TaggedRange(TokenRange(start, len(tags)), label)


def tags_of(length: int, ranges: Sequence[TaggedRange]) -> list[str]:
    """IOB2 tags of a sentence; ``ranges`` are apart."""
    tags = [OUTSIDE] * length
    for (start, end), label in ((_edges(each.tokens), each.label) for each in ranges):
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


def flat(
    sentence: Sequence[tuple[TokenRange, Entity]], losses: Counter[str]
) -> list[tuple[TokenRange, Entity]]:
    """The entities of a sentence that can stand beside each other, the longest first; the others are counted."""
    chosen: list[tuple[TokenRange, Entity]] = []
    taken: set[int] = set()
    for tokens, entity in sorted(sentence, key=_longest_first):
        covered = range(tokens.token_start, tokens.token_end)
        if taken.isdisjoint(covered):
            taken.update(covered)
            chosen.append((tokens, entity))
        else:
            losses["nested or overlapping entity"] += 1
    return chosen


def _longest_first(item: tuple[TokenRange, Entity]) -> tuple[int, int]:
    tokens = item[0]
    return -len(tokens), tokens.token_start


def _edges(tokens: TokenRange) -> tuple[int, int]:
    return tokens.token_start, tokens.token_end
