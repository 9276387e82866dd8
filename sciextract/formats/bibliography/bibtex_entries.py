"""BibTeX files as entries with plain values: split by bibtexparser, strings and parents filled in."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bibtexparser.exceptions import ParsingException
from bibtexparser.model import (
    Block,
    DuplicateFieldKeyBlock,
    Entry,
    ImplicitComment,
    ParsingFailedBlock,
    String,
)
from bibtexparser.splitter import Splitter

from sciextract.errors import FormatError
from sciextract.formats.base import STDIN, Place, Source, shown
from sciextract.formats.bibliography.bibtex_values import BrokenValueError, Strings
from sciextract.formats.decoding import decoded_lines

#: Types that others refer to by ``crossref``.
_PARENT_TYPES = frozenset(
    {
        *("proceedings", "collection", "book", "periodical"),
        *("mvproceedings", "mvcollection", "mvbook"),
    }
)
#: Types that hold data for other entries; they are records only if they have an abstract.
_NO_RECORD = frozenset({"xdata", "set", "control", "proceedings", "mvproceedings"})
_BLOCK_START = re.compile(r"[ \t]*@\w+[ \t]*(?:[{(]|\r?\n)")
_LOST_ENTRY = re.compile(r"@(?!comment)\w+", re.IGNORECASE)

# Its remarks on broken blocks are told as bad records.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """One entry: names in lower case, values without delimiters, LaTeX still in them.

    Attributes:
        repeated: Fields that occur more than once; the first value counts.
    """

    kind: str
    key: str
    line: int
    fields: dict[str, str]
    repeated: tuple[str, ...] = ()

    @property
    def is_record(self) -> bool:
        """Whether the entry stands for a paper."""
        return self.kind not in _NO_RECORD or "abstract" in self.fields


@dataclass(slots=True)
class _Text:
    """The lines from one block start to the next."""

    first_line: int
    lines: list[str] = field(default_factory=list)
    error: FormatError | None = None


def read_entries(source: Source) -> Iterator[BibtexEntry | FormatError]:
    """Entries in file order, block by block, so that a broken one harms no other.

    Raises:
        FormatError: The file is empty, binary, or in UTF-16 or UTF-32.
    """
    strings = Strings()
    for text in _texts(source):
        if text.error is not None:
            yield text.error
            continue
        yield from _entries_of(text, strings, source.path)


def read_parents(source: Source) -> dict[str, BibtexEntry]:
    """The entries that others may refer to by ``crossref``, by key in lower case; none if nothing does.

    BibTeX wants parents below their children, so the file is read twice; standard input cannot be.
    """
    if source.path == STDIN or not any(b"crossref" in line.lower() for line in source.lines()):
        return {}
    return {
        entry.key.lower(): entry
        for entry in read_entries(source)
        if isinstance(entry, BibtexEntry) and entry.kind in _PARENT_TYPES
    }


def _texts(source: Source) -> Iterator[_Text]:
    text = _Text(1)
    for number, line in decoded_lines(source):
        if isinstance(line, FormatError):
            text.error = text.error or line
        elif _BLOCK_START.match(line):
            if text.lines or text.error:
                yield text
            text = _Text(number, [line])
        else:
            text.lines.append(line)
    yield text


def _entries_of(text: _Text, strings: Strings, path: str) -> Iterator[BibtexEntry | FormatError]:
    content = "".join(text.lines)
    try:
        blocks = Splitter(_joined_start(content)).split().blocks
    except ParsingException as error:
        yield FormatError(f"broken entry: {error}", path=path, line=text.first_line)
        return
    for block in blocks:
        line = text.first_line + (block.start_line or 0)
        try:
            found = _entry_of(block, line, strings)
            problem = _problem(block)
        except BrokenValueError as error:
            found, problem = None, f"broken entry: {error}"
        if found is not None:
            yield found
        elif problem:
            key = block.key if isinstance(block, Entry) else ""
            yield Place(path, line, key).error(problem)


def _entry_of(block: Block, line: int, strings: Strings) -> BibtexEntry | None:
    """The entry of a block, if it holds one; a ``@string`` is remembered."""
    if isinstance(block, String):
        strings.values[block.key.lower()] = strings.plain(block.value)
    inner = block.ignore_error_block if isinstance(block, DuplicateFieldKeyBlock) else block
    return _entry(inner, line, strings) if isinstance(inner, Entry) else None


def _joined_start(content: str) -> str:
    """The block with its opening brace on the line of its type, where bibtexparser looks for it."""
    return re.sub(r"\A(\s*@\w+)[ \t]*\r?\n\s*(?=[{(])", r"\1", content)


def _problem(block: Block) -> str:
    """What is wrong with a block that is no entry; nothing with comments."""
    raw = (block.raw or "").strip()
    if isinstance(block, ImplicitComment):
        lost = _LOST_ENTRY.match(raw)
        return f"broken entry: no opening brace after {shown(lost[0])}" if lost else ""
    if isinstance(block, ParsingFailedBlock) and not raw.lower().startswith("@comment"):
        words = getattr(block.error, "abort_reason", str(block.error))
        return f"broken entry {shown(raw.split(',')[0])}: {words}"
    return ""


def _entry(entry: Entry, line: int, strings: Strings) -> BibtexEntry:
    fields: dict[str, str] = {}
    repeated: list[str] = []
    for each in entry.fields:
        name, value = each.key.lower(), strings.plain(each.value)
        if name in fields and fields[name] != value:
            repeated.append(name)
        fields.setdefault(name, value)
    return BibtexEntry(entry.entry_type.lower(), entry.key, line, fields, tuple(repeated))
