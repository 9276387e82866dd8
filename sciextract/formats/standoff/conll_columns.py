"""What the reader and the writers of CoNLL columns agree on: tags, token forms and the line before a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sciextract.documents.annotations import Entity
from sciextract.documents.spans import Span, TokenRange
from sciextract.formats.standoff.standoff import LINE_BREAKS, without_surrogates
from sciextract.text.ptb import unescape

FIELD = "conll"
"""The field of a document that holds its other columns and comments."""

SEPARATOR = "-DOCSTART-"
PLAIN_START = f"{SEPARATOR} -X- O O"
"""The line of CoNLL-2003 before a document; spaCy's converter knows no other, and takes what follows for tokens."""

NO_VALUE = "_"
NO_COLUMNS = [NO_VALUE, NO_VALUE]
"""The cells between token and tag, part of speech and chunk in CoNLL-2003, where nothing is known of them."""

TAG = re.compile(r"O|[BIELSU](?:-.+)?")
_UNWRITABLE = re.compile(rf"[\s{LINE_BREAKS}]")
_OUTSIDE = "O"


class TaggedRange(NamedTuple):
    """Tokens of a sentence or document, and their label; empty for tags without one, such as ``B``."""

    tokens: TokenRange
    label: str


def written_form(token: str) -> str:
    """A token as a cell: no white space, no lone surrogate, and never the word that starts a document.

    >>> written_form("a\\tb")
    'a_b'
    """
    form = without_surrogates(_UNWRITABLE.sub(NO_VALUE, token))
    return form.replace(SEPARATOR, "-DOCSTART_", 1) if form.startswith(SEPARATOR) else form


def find_tokens(text: str, forms: Sequence[str]) -> tuple[Span, ...] | None:
    """Where tokens stand in the exact text: each at the first place behind the one before.

    A token stands there as it is or unescaped (``-LRB-`` as a parenthesis). ``None`` if one is not found.
    """
    spans: list[Span] = []
    position = 0
    for form in forms:
        found = [
            Span(start, start + len(each))
            for each in (form, unescape(form))
            if (start := text.find(each, position)) >= 0
        ]
        if not found:
            return None
        spans.append(min(found))
        position = spans[-1].char_end
    return tuple(spans)


def tagged_ranges(tags: Sequence[str]) -> Iterator[TaggedRange]:
    """The entities of one sentence, for IOB1, IOB2, IOE, BILOU and IOBES alike.

    ``B``, ``S`` and ``U`` start an entity, and so does ``I``, ``E`` or ``L`` behind another label or
    outside; ``E``, ``L``, ``S`` and ``U`` end it. This is the rule of the CoNLL-2000 scorer (conlleval).
    """
    start, label = 0, None
    for index, tag in enumerate(tags):
        prefix, _, name = tag.partition("-")
        begins = prefix in "BSU" or (prefix in "IEL" and name != label)
        if label is not None and (prefix == _OUTSIDE or begins):
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
    tags = [_OUTSIDE] * length
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
