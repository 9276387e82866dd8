"""Token tables as bytes: token edges and sentence starts as little-endian 32-bit numbers, then given forms."""

from __future__ import annotations

import json
import struct
import sys
from array import array

from sciextract.documents.spans import Span, TokenRange
from sciextract.documents.tokens import TokenTable

_COUNTS = struct.Struct("<II")


def encode_tokens(table: TokenTable) -> bytes:
    """A table as bytes; :func:`decode_tokens` gives an equal one back."""
    edges = array("I", [edge for span in table.spans for edge in (span.char_start, span.char_end)])
    starts = array("I", [sentence.token_start for sentence in table.sentences])
    forms = b"" if table.forms is None else json.dumps(list(table.forms)).encode("ascii")
    counts = _COUNTS.pack(len(table.spans), len(table.sentences))
    return counts + _little(edges).tobytes() + _little(starts).tobytes() + forms


def decode_tokens(body: bytes) -> TokenTable:
    """The table in bytes that :func:`encode_tokens` made."""
    tokens, sentences = _COUNTS.unpack_from(body)
    edges, starts = array("I"), array("I")
    behind_edges = _COUNTS.size + 8 * tokens
    behind_starts = behind_edges + 4 * sentences
    edges.frombytes(body[_COUNTS.size : behind_edges])
    starts.frombytes(body[behind_edges:behind_starts])
    numbers = iter(_little(edges))
    spans = tuple(map(Span, numbers, numbers))
    firsts = list(_little(starts))
    ranges = tuple(map(TokenRange, firsts, [*firsts[1:], tokens]))
    forms = body[behind_starts:]
    return TokenTable(spans, ranges, tuple(json.loads(forms)) if forms else None)


def _little(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
