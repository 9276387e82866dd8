"""BibTeX and BibLaTeX: one document an entry, LaTeX decoded before the text is made."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bibtexparser.exceptions import ParsingException
from bibtexparser.middlewares.names import (
    InvalidNameError,
    parse_single_name_into_parts,
    split_multiple_persons_names,
)
from bibtexparser.model import (
    DuplicateFieldKeyBlock,
    Entry,
    ImplicitComment,
    ParsingFailedBlock,
    String,
)
from bibtexparser.splitter import Splitter

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import STDIN, BadRecord, Place, ReadItem, Source, decode_lines, quoted
from sciextract.formats.bibliographic import join_lines, keep_unusable, make_record
from sciextract.formats.latex import decode_latex
from sciextract.formats.opening import HARMLESS_BYTES, MAX_RATIO

_MARK = re.compile(r"(?<!\\)[{}\"#]")


class BrokenValueError(ValueError):
    """A value that is not made of whole pieces; most often a comma is missing before the next field."""


@dataclass(slots=True)
class BibtexStrings:
    """The names of ``@string`` in one file, and what they may still make of too little.

    Attributes:
        values: What each name stands for.
    """

    values: dict[str, str] = field(default_factory=dict)
    _harmless: int = HARMLESS_BYTES

    def plain(self, value: str) -> str:
        """The value of ``{a}``, ``"a"``, a number, a name of ``@string``, or several of them joined by ``#``.

        >>> BibtexStrings({"jan": "January"}).plain('"Proc. " # jan # { {A}}')
        'Proc. January {A}'

        Raises:
            BrokenValueError: It is something else, or the names of the file make too much of little.
        """
        plain, filled = "", 0
        for piece, is_delimited in _pieces(value):
            name = None if is_delimited else self.values.get(piece.lower())
            plain += piece if name is None else name
            filled += len(name or "")
        # Names may stand for names: a few lines can make gigabytes.
        if filled > MAX_RATIO * len(value):
            if self._harmless < filled:
                found = f"{quoted(value)} stands for {filled:,} characters"
                raise BrokenValueError(f"{found}; the limit is {MAX_RATIO} times its own length")
            self._harmless -= filled
        return plain


def _pieces(value: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a value, which ``#`` joins, without their delimiters, and whether they have some."""
    problem = f"{quoted(value.strip())} is not one value; is a comma missing?"
    opening, depth, start, is_whole = "", 0, 0, False
    for mark in _MARK.finditer(f"{value}#"):
        sign, before = mark[0], value[start : mark.start()]
        if opening:
            if depth == 0 and sign == ("}" if opening == "{" else '"'):
                yield before, True
                opening, is_whole, start = "", True, mark.end()
            depth += bool(opening) * ((sign == "{") - (sign == "}"))
            continue
        word = before.strip()
        if sign == "}" or (is_whole and (word or sign != "#")) or (word and sign != "#"):
            raise BrokenValueError(problem)
        if sign != "#":
            opening, depth = sign, 0
        elif not is_whole:
            yield word, False
        start, is_whole = mark.end(), False
    if opening:
        raise BrokenValueError(problem)


#: Types that others refer to by ``crossref``.
_PARENT_TYPES = frozenset(("proceedings", "collection", "book", "periodical"))
_PARENT_TYPES |= {"mvproceedings", "mvcollection", "mvbook"}  # of several volumes
#: Types that hold data for other entries; they are records only if they have an abstract.
_NO_RECORD = frozenset({"xdata", "set", "control", "proceedings", "mvproceedings"})
_BLOCK_START = re.compile(r"[ \t]*@\w+[ \t]*(?:[{(]|\r?\n)")
_LOST_ENTRY = re.compile(r"@(?!comment)\w+", re.IGNORECASE)

# Its remarks on broken blocks become bad records.
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


def read_entries(source: Source) -> Iterator[BibtexEntry | FormatError]:
    """Entries in file order, block by block, so that a broken one harms no other.

    Raises:
        FormatError: The file is empty, binary, or in UTF-16 or UTF-32.
    """
    strings = BibtexStrings()
    first_line, lines = 1, [""]
    error: FormatError | None = None
    for number, line in decode_lines(source):
        if isinstance(line, FormatError):
            error = error or line
        elif _BLOCK_START.match(line):
            yield from [error] if error else _entries_of(lines, first_line, strings, source.path)
            first_line, lines, error = number, [line], None
        else:
            lines.append(line)
    yield from [error] if error else _entries_of(lines, first_line, strings, source.path)


def _entries_of(
    lines: list[str], first_line: int, strings: BibtexStrings, path: str
) -> Iterator[BibtexEntry | FormatError]:
    """The entries of the lines from one block start to the next; a ``@string`` is remembered."""
    # bibtexparser looks for the opening brace on the line of the type only.
    content = re.sub(r"\A(\s*@\w+)[ \t]*\r?\n\s*(?=[{(])", r"\1", "".join(lines))
    try:
        blocks = Splitter(content).split().blocks
    except ParsingException as error:
        yield FormatError(f"broken entry: {error}", path=path, line=first_line)
        return
    for block in blocks:
        line = first_line + (block.start_line or 0)
        inner = block.ignore_error_block if isinstance(block, DuplicateFieldKeyBlock) else block
        try:
            if isinstance(block, String):
                strings.values[block.key.lower()] = strings.plain(block.value)
            if isinstance(inner, Entry):
                fields: dict[str, str] = {}
                repeated: list[str] = []
                for field in inner.fields:
                    name, value = field.key.lower(), strings.plain(field.value)
                    if fields.setdefault(name, value) != value:
                        if name == "keywords":  # ScienceDirect writes a field for each
                            fields[name] += f"; {value}"
                        else:
                            repeated.append(name)
                kind = inner.entry_type.lower()
                yield BibtexEntry(kind, inner.key, line, fields, tuple(dict.fromkeys(repeated)))
                continue
            raw, problem = (block.raw or "").strip(), ""
            lost = _LOST_ENTRY.match(raw) if isinstance(block, ImplicitComment) else None
            if lost:
                problem = f"broken entry: no opening brace after {quoted(lost[0])}"
            elif isinstance(block, ParsingFailedBlock) and not raw.lower().startswith("@comment"):
                words = getattr(block.error, "abort_reason", str(block.error))
                problem = f"broken entry {quoted(raw.split(',')[0])}: {words}"
        except BrokenValueError as error:
            problem = f"broken entry: {error}"
        if problem:
            key = block.key if isinstance(block, Entry) else ""
            yield Place(path, line, key).error(problem)


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


_VENUES = ("journal", "journaltitle", "booktitle", "maintitle", "series", "venue")
_INTERPRETED = frozenset(
    {"title", "abstract", "author", "authors", "doi", "pmid", "year", "url", "keywords"}
)
#: Values of these are addresses and paths, in which LaTeX is only escaping.
_VERBATIM = frozenset({"url", "doi", "file", "eprint", "bdsk-url-1", "bdsk-file-1"})
#: What a child takes from its parent when it has none itself.
_INHERITED = ("year", "date", "publisher", "editor", "series", "volume")


def read_bibtex(source: Source) -> Iterator[ReadItem]:
    """Read the entries one after the other; ``@string``, ``@preamble``, ``@comment`` and heads are not records."""
    found = False
    keys: set[str] = set()
    parents = read_parents(source)
    for number, entry in enumerate(read_entries(source), start=1):
        found = True
        if isinstance(entry, FormatError):
            yield BadRecord(entry)
        elif entry.is_record:
            again = entry.key in keys
            keys.update({entry.key} - {""})
            try:
                yield _document(entry, parents, source, number, again)
            except FormatError as error:
                yield BadRecord(error)
    if not found:
        hint = "an entry looks like @article{key, title = {...}, abstract = {...}}"
        raise FormatError("the file holds no BibTeX entry", path=source.path, hint=hint)


def _document(
    entry: BibtexEntry,
    parents: Mapping[str, BibtexEntry],
    source: Source,
    number: int,
    again: bool,
) -> AnnotatedDocument:
    """The document of an entry, filled with what its ``crossref`` parent adds; its own fields win."""
    given = entry.fields
    parent = parents.get(given.get("crossref", "").strip().lower())
    if parent is not None:
        added = {name: parent.fields[name] for name in _INHERITED if name in parent.fields}
        if title := parent.fields.get("booktitle") or parent.fields.get("title"):
            added["booktitle"] = title
        given = added | given
    values = {
        name: re.sub(r"\\([_%&#~{}])", r"\1", value).strip()
        if name in _VERBATIM
        else decode_latex(join_lines(value))
        for name, value in given.items()
    }
    venue = next((name for name in _VENUES if values.get(name)), "")
    authors = join_lines(given.get("author") or given.get("authors", ""))
    people = split_multiple_persons_names(authors) if authors else []
    words = re.split("[;,]", values.get("keywords", ""))
    fields: dict[str, Any] = {
        "year": year_of(values.get("year")) or year_of(values.get("date")),
        "doi": bare_doi(values.get("doi")) or bare_doi(values.get("url")),
        "pmid": pmid_of(values.get("pmid")),
        "venue": values.get(venue),
        "authors": [*filter(None, (_name(person.strip()) for person in people))],
        "url": values.get("url"),
        "keywords": [*filter(None, map(str.strip, words))],
        "entry_type": entry.kind,
    }
    keep_unusable(fields, {name: values.get(name) for name in ("year", "doi", "pmid")}, "bibtex")
    used = {*_INTERPRETED, venue}
    fields |= {name: value for name, value in values.items() if name not in used}
    warnings = [f"the key {quoted(entry.key)} occurs a second time"] if again else []
    for name in entry.repeated:
        warnings.append(f"the field {quoted(name)} occurs twice, the first one is used")
    place = Place(source.path, entry.line, entry.key or f"{source.stem}:{number}")
    title, abstract = values.get("title", ""), values.get("abstract", "")
    return make_record(place, title, abstract, fields, tuple(warnings))


def _name(name: str) -> str:
    """``Family, Given`` of an author; a group in braces whole."""
    if name.startswith("{") and name.endswith("}"):
        return decode_latex(name)
    try:
        parts = parse_single_name_into_parts(name)
    except InvalidNameError:
        return decode_latex(name)
    family = " ".join([*parts.von, *parts.last])
    given = " ".join([*parts.first, *parts.jr])
    return decode_latex(f"{family}, {given}" if family and given else family or given)
