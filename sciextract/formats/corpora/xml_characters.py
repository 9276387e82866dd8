"""Characters that XML 1.0 has no way to write, not even as a reference."""

from __future__ import annotations

import re
from collections import Counter

LOSS = "character that XML cannot hold"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONTROL_PICTURES = 0x2400
_REPLACEMENT = "\ufffd"


def xml_safe(text: str, losses: Counter[str]) -> str:
    """The text with each such character replaced by one visible character, counted in ``losses``.

    Control characters become their Unicode symbols; lone surrogates and non-characters become U+FFFD. Every
    offset stays right, in code points and in UTF-16 units alike.

    >>> xml_safe("a\\x1bb", Counter())
    'a\u241bb'
    """
    safe, count = _FORBIDDEN.subn(_visible, text)
    if count:
        losses[LOSS] += count
    return safe


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(_CONTROL_PICTURES + code) if code < 0x20 else _REPLACEMENT
