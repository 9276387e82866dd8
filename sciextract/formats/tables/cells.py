"""Cells of the tables that are written: safe in a spreadsheet, and each one can be read back.

A cell that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, "CSV Injection").
Tab-separated cells hold no tab, line break or other control character: they are written as escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from sciextract.documents.annotations import Entity
from sciextract.documents.document import Document
from sciextract.errors import OutputError
from sciextract.text.characters import BLANK

#: A formula, also behind what spreadsheets drop and in full width; apostrophes that stand there already.
_FORMULA = re.compile(f"'*(?:[\\t\\r\\n]|[{BLANK}]*[=+\\-@＝＋－＠])")
_UNSAFE = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))", re.DOTALL)
_SHORT_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_PLAIN = {short[1]: character for character, short in _SHORT_ESCAPES.items()}
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED_IN_CSV = re.compile(r'[",;\t\r\n]|^\s|\s$')
_QUOTED_IN_TSV = re.compile('"')
_REPLACEMENT = "\ufffd"


def csv_row(cells: Iterable[str]) -> str:
    """The cells, comma-separated and quoted after RFC 4180, without a line end."""
    return exact_csv_row([guarded(cell) for cell in cells])


def exact_csv_row(cells: Iterable[str]) -> str:
    """:func:`csv_row` with the cells as they are, for programs that would keep the apostrophe."""
    return ",".join([_quoted(cell, _QUOTED_IN_CSV) for cell in cells])


def tsv_row(cells: Iterable[str]) -> str:
    """The cells, tab-separated, with escapes for control characters, without a line end."""
    return "\t".join([_quoted(guarded(escaped(cell)), _QUOTED_IN_TSV) for cell in cells])


def guarded(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would run it.

    >>> guarded("=1+1"), guarded("n-gram"), guarded("'=1+1")
    ("'=1+1", 'n-gram', "''=1+1")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """What :func:`guarded` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def escaped(cell: str) -> str:
    r"""The cell with ``\t \n \r \\`` and ``\uXXXX`` for control characters and line separators.

    >>> escaped("a\tb\u2028c")
    'a\\tb\\u2028c'
    """
    return _UNSAFE.sub(lambda found: _escape(found[0]), cell)


def unescaped(cell: str) -> str:
    """What :func:`escaped` was given."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN[found[2]], cell)


def storable(text: str) -> tuple[str, int]:
    """The text with U+FFFD for lone surrogates, which UTF-8 cannot hold, and how many there were."""
    return _SURROGATE.subn(_REPLACEMENT, text)


def cell_of(value: object) -> str:
    """A value of a record as a cell: strings as they are, nothing for ``None``, else as in JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def field_cell(fields: Mapping[str, Any], name: str) -> str:
    """The field of that name, whatever its case (tables of users write ``DOI`` and ``Year``)."""
    if name in fields:
        return cell_of(fields[name])
    return next((cell_of(fields[each]) for each in fields if each.lower() == name), "")


def mention_text(entity: Entity, document: Document) -> str:
    """The mention's string.

    Raises:
        OutputError: A fragment lies outside the text.
    """
    for span in entity.fragments:
        if not 0 <= span.char_start < span.char_end <= len(document.text):
            place = f"{document.doc_key}: entity {entity.id}"
            found = f"[{span.char_start}, {span.char_end}) lies outside the text"
            raise OutputError(f"{place}: {found}; allowed are 0 to {len(document.text)}")
    return entity.text_of(document.text)


def _quoted(cell: str, needs_quotes: re.Pattern[str]) -> str:
    if not needs_quotes.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _escape(character: str) -> str:
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"
