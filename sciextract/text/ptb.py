"""Ready-tokenised input: Penn Treebank escapes become characters, and token lists become text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sciextract.documents.spans import Span, TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.errors import FormatError

# Both directed quotes become the straight one: that is what the escapes were made from.
ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
    r"\/": "/",
    r"\*": "*",
}
_WHOLE_TOKENS = ("``", "''")
_INSIDE = re.compile(
    "|".join(re.escape(form) for form in ESCAPES if form not in _WHOLE_TOKENS), re.IGNORECASE
)


def unescape(form: str) -> str:
    r"""The characters that a Penn Treebank token stands for.

    Brackets and slashes are replaced anywhere in the token, quotes only as whole tokens: in ``5''-end``
    they are primes.

    >>> unescape("-LRB-"), unescape("``"), unescape(r"and\/or"), unescape("5''-end")
    ('(', '"', 'and/or', "5''-end")
    """
    if form in _WHOLE_TOKENS:
        return ESCAPES[form]
    return _INSIDE.sub(lambda match: ESCAPES[match.group().upper()], form)


def from_token_lists(sentences: Sequence[Sequence[str]]) -> tuple[str, TokenTable]:
    """The text and token table of ready-made sentences.

    Args:
        sentences: Token strings, sentence by sentence; no sentences at all make an empty text.

    Returns:
        The unescaped tokens joined by one space, and their table. The table keeps the given forms if
        any of them differs from its unescaped text.

    Raises:
        FormatError: A sentence has no tokens, or a token is empty or not a string.
    """
    _check(sentences)
    forms = tuple(token for sentence in sentences for token in sentence)
    strings = tuple(map(unescape, forms))
    table = TokenTable(
        _spans_of(strings), _ranges_of(sentences), forms if forms != strings else None
    )
    return " ".join(strings), table


def _check(sentences: Sequence[Sequence[str]]) -> None:
    for sentence_index, sentence in enumerate(sentences):
        if not sentence:
            raise FormatError(
                f"sentence {sentence_index} has no tokens", hint="remove the empty list"
            )
        for token_index, token in enumerate(sentence):
            if not isinstance(token, str) or not token:
                raise FormatError(
                    f"token {token_index} of sentence {sentence_index} is {token!r}; "
                    "allowed are non-empty strings",
                    hint="remove the token and renumber the spans behind it",
                )


def _spans_of(strings: Sequence[str]) -> tuple[Span, ...]:
    spans, start = [], 0
    for string in strings:
        spans.append(Span(start, start + len(string)))
        start += len(string) + 1
    return tuple(spans)


def _ranges_of(sentences: Sequence[Sequence[str]]) -> tuple[TokenRange, ...]:
    ranges, start = [], 0
    for sentence in sentences:
        ranges.append(TokenRange(start, start + len(sentence)))
        start += len(sentence)
    return tuple(ranges)
