"""Character classes that the text layer shares, and text made safe to show: on a terminal, with its mentions in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sciextract.documents.annotations import Entity

# C0 and C1 controls, zero-width space, bidirectional marks and overrides, invisible operators, byte order mark.
CONTROL = "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
BLANK = r"\s" + CONTROL
SUPERSCRIPT = "⁰¹²³⁴-⁹⁺⁻"
IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# The prime (U+2032 to U+2037) belongs to the word: 5′-UTR. Lone surrogates stand alone.
SYMBOL = (
    r"!-/:-@\[-\^`{-~"
    "¡-©«¬®-±´¶-¸»¿×÷"
    "\u2010-\u2027\u2030\u2031\u2038-\u205e\u207c-\u207e\u208a-\u208e\u20a0-\u20cf\u2190-\u2bff"
    "\u2e00-\u2e7f\u3001-\u3003\u3008-\u3020\u3030\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff0f"
    "\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ud800-\udfff\U0001f000-\U0001faff"
)
WORD = f"^{BLANK}{SYMBOL}{SUPERSCRIPT}{IDEOGRAPH}"


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_HIDDEN = re.compile(f"[{CONTROL}\u2028\u2029\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]")
REPLACEMENT = "\ufffd"


def visible(text: str, keep: str = "") -> str:
    r"""Shows control characters, terminal escapes, bidirectional overrides and lone surrogates as symbols.

    The result has as many code points as the text, so offsets stay valid.

    Args:
        text: What a terminal is to show.
        keep: Characters to leave as they are, such as ``"\n"`` where lines are wanted.

    >>> visible("\x1b[31mred\n")
    '␛[31mred␊'
    """

    def symbol(match: re.Match[str]) -> str:
        character = match.group()
        if character in keep:
            return character
        if character < " " or character == "\x7f":
            return control_picture(character)
        return REPLACEMENT if "\ud800" <= character <= "\udfff" else "\u2426"

    return _HIDDEN.sub(symbol, text)


def control_picture(control: str) -> str:
    """The symbol of a control character of ASCII."""
    return "\u2421" if control == "\x7f" else chr(0x2400 + ord(control))  # in the same order


def printable_on(stream: IO[Any], text: str) -> str:
    """Data on its way to a stream: exact, but on a terminal control characters are symbols.

    Args:
        stream: Where the text goes.
        text: Whole lines; their line feeds and tabs stay.
    """
    return visible(text, keep="\n\t") if stream.isatty() else text


def without_surrogates(text: str) -> tuple[str, int]:
    """The text with U+FFFD for lone surrogates, which UTF-8 cannot hold, and how many there were."""
    return _LONE_SURROGATE.subn(REPLACEMENT, text)


def bracketed(text: str, entities: Iterable[Entity]) -> Iterator[tuple[str, str]]:
    """Pieces of a text and the brackets between them, each with the label of the innermost mention there.

    >>> from sciextract.documents.annotations import Entity
    >>> from sciextract.documents.annotations import Span
    >>> parser = Entity("E1", (Span(4, 10),), "Method")
    >>> "".join(piece for piece, _ in bracketed("Our parser works.", [parser]))
    'Our [parser|Method] works.'
    """
    edges = []
    for row, entity in enumerate(entities):
        for fragment in entity.fragments:
            start, end = fragment.char_start, fragment.char_end
            # At one place closings come first, inner before outer, then openings, outer before inner.
            edges.append((start, True, -end, row, entity.label))
            edges.append((end, False, -start, -row, entity.label))
    start = 0
    inside: list[str] = []
    for position, opens, _, _, label in sorted(edges):
        yield text[start:position], inside[-1] if inside else ""
        start = position
        if opens:
            inside.append(label)
        else:
            del inside[len(inside) - 1 - inside[::-1].index(label)]
        closing = f"|{visible(label)}]" if label else "]"
        yield ("[" if opens else closing), label
    yield text[start:], ""
