"""Item ids: 26-character ULIDs (Crockford base 32)."""

from __future__ import annotations

import hashlib
import os
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BITS = 128


def new_id() -> str:
    """A fresh ULID: 48 bits of milliseconds, 80 random bits; sorts by time of making."""
    milliseconds = int(time.time() * 1000) & ((1 << 48) - 1)
    return _encode(milliseconds << 80 | int.from_bytes(os.urandom(10), "big"))


def stable_id(*parts: object) -> str:
    """An id of ULID shape that depends on ``parts`` only, so that equal runs print equal ids.

    >>> stable_id("doc", 1) == stable_id("doc", 1) != stable_id("doc", 2)
    True
    """
    joined = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(joined, digest_size=_BITS // 8).digest()
    return _encode(int.from_bytes(digest, "big"))


def _encode(number: int) -> str:
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
