"""Reader of CoNLL columns: a token a line, its tag in the last column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span, TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.errors import FormatError
from sciextract.formats.base import STDIN, BadRecord, Place, ReadItem, Source, shown
from sciextract.formats.checks import list_at, span_at, string_at
from sciextract.formats.corpus_items import CorpusItems
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.json_lines import parse_object
from sciextract.formats.standoff.conll_columns import (
    FIELD,
    NO_COLUMNS,
    SEPARATOR,
    TAG,
    find_tokens,
    tagged_ranges,
    written_form,
)
from sciextract.text.ptb import from_token_lists, unescape

_BLANKS = " \t\r\n"
_ALLOWED_TAGS = "O, or B- I- E- L- S- U- and a label"
_KEY_AND_VALUE = re.compile(r"#\s*[\w.-]+(?: [\w.-]+)* = ")


@dataclass(slots=True)
class _Row:
    cells: list[str]
    line: int


@dataclass(slots=True)
class _Block:
    """The lines of one document.

    Attributes:
        first_line: 1-based line number at which it starts.
        sentences: Rows, sentence by sentence; the last may be empty.
        comments: Lines that are no rows.
        given: The object behind ``-DOCSTART-`` in files of ours that hold the exact text.
        error: The first error in it.
    """

    first_line: int = 0
    sentences: list[list[_Row]] = field(default_factory=lambda: [[]])
    comments: list[str] = field(default_factory=list)
    given: Mapping[str, Any] | None = None
    error: FormatError | None = None

    @property
    def has_content(self) -> bool:
        return bool(self.sentences[0] or self.given is not None or self.error)

    def add(self, row: _Row) -> None:
        self.first_line = self.first_line or row.line
        self.sentences[-1].append(row)

    def end_sentence(self) -> None:
        if self.sentences[-1]:
            self.sentences.append([])


def read_conll(source: Source) -> Iterator[ReadItem]:
    """Read columns, separated by tabs or blanks; an empty line ends a sentence.

    ``-DOCSTART-`` lines stand between documents. In a file without them each sentence is a document, since
    nothing says which sentences belong together; so is, on standard input, each before the first of them.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    found = False
    for block in _blocks(source):
        found = True
        yield _item(block, source)
    if not found:
        raise FormatError("the file is empty: it holds no tokens", path=source.path)


def _blocks(source: Source) -> Iterator[_Block]:
    block, has_documents = _Block(), _has_separator(source)
    for number, line in decoded_lines(source):
        if not isinstance(line, FormatError) and line.startswith(SEPARATOR):
            if block.has_content:
                yield block
            block, has_documents = _started(line, Place(source.path, number)), True
        elif isinstance(line, str) and not line.strip(_BLANKS):
            block.end_sentence()
            if block.has_content and not has_documents:
                yield block
                block = _Block()
        else:
            _add_line(block, line, Place(source.path, number))
    if block.has_content:
        yield block


def _started(line: str, place: Place) -> _Block:
    """A document that begins here, with what the line says about it."""
    block = _Block(place.line or 0)
    content = line.removeprefix(SEPARATOR).strip()
    if content.startswith("{"):
        try:
            block.given = parse_object(content, place.path, place.line or 0)
        except FormatError as error:
            block.error = error
    return block


def _has_separator(source: Source) -> bool:
    """Whether documents are separated; only a file can be asked before it is read."""
    if source.path == STDIN:
        return False
    with closing(source.lines()) as lines:
        return any(line.startswith(SEPARATOR.encode()) for line in lines)


def _add_line(block: _Block, line: str | FormatError, place: Place) -> None:
    try:
        if isinstance(line, FormatError):
            raise line
        content = line.rstrip("\r\n")
        if _is_comment(content):
            block.comments.append(content)
        else:
            block.add(_row(content, place))
    except FormatError as error:
        block.error = block.error or error


def _is_comment(line: str) -> bool:
    """Whether a line that starts with ``#`` is a comment; ``#`` may be a token, too."""
    if not line.startswith("#"):
        return False
    cells = _cells(line)
    if "\t" not in line and _KEY_AND_VALUE.match(line):
        return True
    return len(cells) < 2 or not TAG.fullmatch(cells[-1])


def _cells(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def _row(line: str, place: Place) -> _Row:
    cells = _cells(line)
    if "\t" in line and len(cells) > 2 and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) < 2 or not cells[0]:
        found = f"{shown(line)} found, allowed are a token and its tag in two or more columns"
        raise place.error(found, hint="separate columns by tabs; an empty line ends a sentence")
    if not TAG.fullmatch(cells[-1]):
        raise place.error(f"the tag {shown(cells[-1])} found, allowed are {_ALLOWED_TAGS}")
    return _Row(cells, place.line or 0)


def _item(block: _Block, source: Source) -> ReadItem:
    try:
        if block.error:
            raise block.error
        return _document(block, source)
    except FormatError as error:
        return BadRecord(error)


def _document(block: _Block, source: Source) -> AnnotatedDocument:
    sentences = [rows for rows in block.sentences if rows]
    rows = [row for sentence in sentences for row in sentence]
    given = block.given or {}
    place = Place(source.path, block.first_line)
    key = string_at(given.get("doc_key", f"{source.stem}:{block.first_line}"), "doc_key", place)
    place = Place(source.path, block.first_line, key)
    _check_columns(rows, place)
    text, tokens = _text_of(sentences, given, place)
    items = CorpusItems(key, source.provenance)
    labels = given.get("labels")
    names: Mapping[str, Any] = labels if isinstance(labels, dict) else {}
    for sentence in tokens.sentences:
        first = sentence.token_start
        for each, name in tagged_ranges(
            [row.cells[-1] for row in rows[first : sentence.token_end]]
        ):
            range_ = TokenRange(first + each.token_start, first + each.token_end)
            label = string_at(names.get(name, name), f"labels.{name}", place)
            items.entity([tokens.char_span(range_)], label)
    document = Document(key, text, tokens, _fields(rows, block.comments))
    return AnnotatedDocument(document, items.annotations(), warnings=_warnings(rows, block))


def _check_columns(rows: Sequence[_Row], place: Place) -> None:
    for row in rows:
        if len(row.cells) != len(rows[0].cells):
            found = f"{len(row.cells)} columns found, allowed are {len(rows[0].cells)}"
            problem = f"{found} as in line {rows[0].line}"
            raise Place(place.path, row.line, place.doc_key).error(problem)


def _text_of(
    sentences: list[list[_Row]], given: Mapping[str, Any], place: Place
) -> tuple[str, TokenTable]:
    """The exact text that the document's first line gives, else the tokens joined by one space."""
    forms = [[row.cells[0] for row in sentence] for sentence in sentences]
    if "text" not in given:
        return from_token_lists(forms)
    text = string_at(given["text"], "text", place)
    flat = [form for sentence in forms for form in sentence]
    spans = _spans_of(text, flat, given.get("token_ranges"), place)
    ends = accumulate(map(len, forms))
    ranges = tuple(TokenRange(end - len(each), end) for end, each in zip(ends, forms, strict=True))
    table = TokenTable(spans, ranges)
    strings = table.slices(text)
    as_written = all(map(_is_slice, flat, strings))
    problems = table.problems(len(text))
    if problems:
        raise place.error(problems[0], field="token_ranges")
    return text, table if as_written else TokenTable(spans, ranges, tuple(flat))


def _spans_of(text: str, forms: list[str], ranges: object, place: Place) -> tuple[Span, ...]:
    if ranges is None:
        spans = find_tokens(text, forms)
    else:
        pairs = list_at(ranges, "token_ranges", place)
        spans = tuple(span_at(pair, len(text), "token_ranges", place) for pair in pairs)
    if spans is None or len(spans) != len(forms):
        raise place.error("its tokens are not those of the text", field="text")
    for form, span in zip(forms, spans, strict=True):
        if not _is_slice(form, span.of(text)) and unescape(form) != span.of(text):
            found = f"the token {shown(form)} found, the text there is {shown(span.of(text))}"
            raise place.error(found, field="text")
    return spans


def _is_slice(form: str, characters: str) -> bool:
    return form == written_form(characters)


def _fields(rows: Sequence[_Row], comments: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if _have_columns(rows):
        kept["columns"] = [row.cells[1:-1] for row in rows]
    if comments:
        kept["comments"] = comments
    return {FIELD: kept} if kept else {}


def _have_columns(rows: Sequence[_Row]) -> bool:
    """Whether other columns say anything."""
    return any(row.cells[1:-1] not in ([], NO_COLUMNS) for row in rows)


def _warnings(rows: Sequence[_Row], block: _Block) -> tuple[str, ...]:
    found = []
    if _have_columns(rows):
        found.append(f"conll: kept but not interpreted: other columns ({len(rows[0].cells) - 2})")
    if block.comments:
        found.append(f"conll: kept but not interpreted: comments ({len(block.comments)})")
    return tuple(found)
