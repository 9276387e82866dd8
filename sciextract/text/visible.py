"""Text made safe to look at: what would steer a terminal becomes a symbol of the same length."""

from __future__ import annotations

import re
from typing import IO, Any

from sciextract.text.characters import CONTROL

_HIDDEN = re.compile(f"[{CONTROL}\u2028\u2029\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]")
_DELETE = "\x7f"
_DELETE_SYMBOL = "\u2421"
_OTHER_CONTROL_SYMBOL = "\u2426"
_REPLACEMENT = "\ufffd"


def visible(text: str, keep: str = "") -> str:
    r"""Shows control characters, terminal escapes, bidirectional overrides and lone surrogates as symbols.

    The result has as many code points as the text, so offsets stay valid.

    Args:
        text: What a terminal is to show.
        keep: Characters to leave as they are, such as ``"\n"`` where lines are wanted.

    >>> visible("\x1b[31mred\n")
    '␛[31mred␊'
    """
    return _HIDDEN.sub(lambda match: _symbol(match.group(), keep), text)


def shown_on(stream: IO[Any], text: str) -> str:
    """Data on its way to a stream: exact, but on a terminal control characters are symbols.

    Args:
        stream: Where the text goes.
        text: Whole lines; their line feeds and tabs stay.
    """
    return visible(text, keep="\n\t") if stream.isatty() else text


def _symbol(character: str, keep: str) -> str:
    if character in keep:
        return character
    if character < " ":
        return chr(0x2400 + ord(character))
    if character == _DELETE:
        return _DELETE_SYMBOL
    return _REPLACEMENT if "\ud800" <= character <= "\udfff" else _OTHER_CONTROL_SYMBOL
