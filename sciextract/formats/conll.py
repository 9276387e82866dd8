"""CoNLL columns: a token a line, its tag in the last column; written as IOB2, flat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar, TextIO

from sciextract.documents.annotations import Entity
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.documents.spans import Span, TokenRange
from sciextract.errors import FormatError
from sciextract.formats.base import STDIN, Place, ReadItem, Source, quoted, read_each
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.items import CorpusItems
from sciextract.formats.json_values import dump_line, list_at, parse_object, span_at, string_at
from sciextract.formats.layers import (
    LINE_BREAKS,
    LabelNames,
    entities_in_text,
    entity_layers,
)
from sciextract.formats.sink import LineWriter
from sciextract.formats.tagged_tokens import TAG, TaggedRange, flat, tagged_ranges, tags_of
from sciextract.text.characters import without_surrogates
from sciextract.text.tokenizer import from_token_lists, unescape

FIELD = "conll"
"""The field of a document that holds its other columns and comments."""

SEPARATOR = "-DOCSTART-"
PLAIN_START = f"{SEPARATOR} -X- O O"
"""The line of CoNLL-2003 before a document; spaCy's converter knows no other, and takes what follows for tokens."""

NO_VALUE = "_"
NO_COLUMNS = [NO_VALUE, NO_VALUE]
"""The cells between token and tag, part of speech and chunk in CoNLL-2003, where nothing is known of them."""

_UNWRITABLE = re.compile(rf"[\s{LINE_BREAKS}]")


def written_form(token: str) -> str:
    """A token as a cell: no white space, no lone surrogate, and never the word that starts a document.

    >>> written_form("a\\tb")
    'a_b'
    """
    form = without_surrogates(_UNWRITABLE.sub(NO_VALUE, token))[0]
    return form.replace(SEPARATOR, "-DOCSTART_", 1) if form.startswith(SEPARATOR) else form


def find_tokens(text: str, forms: Sequence[str]) -> tuple[Span, ...] | None:
    """Where tokens stand in the exact text: each at the first place behind the one before.

    A token stands there as it is or unescaped (``-LRB-`` as a parenthesis). ``None`` if one is not found.
    """
    spans: list[Span] = []
    position = 0
    for form in forms:
        found = [
            Span(start, start + len(each))
            for each in (form, unescape(form))
            if (start := text.find(each, position)) >= 0
        ]
        if not found:
            return None
        spans.append(min(found))
        position = spans[-1].char_end
    return tuple(spans)


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
    nothing = FormatError("the file is empty: it holds no tokens", path=source.path)
    return read_each(_blocks(source), partial(_document, source=source), nothing)


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
    """Whether documents are separated; only a file can be examined before it is read."""
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
        found = f"{quoted(line)} found; expected a token and its tag in two or more columns"
        raise place.error(found, hint="separate columns by tabs; an empty line ends a sentence")
    if not TAG.fullmatch(cells[-1]):
        raise place.error(f"the tag {quoted(cells[-1])} found; expected {_ALLOWED_TAGS}")
    return _Row(cells, place.line or 0)


def _document(block: _Block, _: int, source: Source) -> AnnotatedDocument:
    if block.error:
        raise block.error
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
            found = f"{len(row.cells)} columns found; expected {len(rows[0].cells)}"
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
            found = f"the token {quoted(form)} found, the text there is {quoted(span.of(text))}"
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


# What ends a cell for programs that split at any white space.
_REFUSED_IN_LABELS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class ConllWriter(LineWriter):
    """Writes the layout of CoNLL-2003: ``-DOCSTART- -X- O O``, then token, two other columns and tag between blanks.

    Tags hold neither nested, overlapping, discontinuous and untyped entities nor relations and clusters;
    of entities that overlap, the longest is written and the others are counted in ``losses``, as are document
    keys and exact texts.
    """

    _EXACT: ClassVar[bool] = False

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__(destination)
        self._labels = LabelNames(_REFUSED_IN_LABELS)

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The file cannot be written, or an entity leaves the text.
        """
        entities_in_text(document)
        layers = entity_layers(document, self.losses)
        chosen = [self._flat(sentence) for sentence in layers.ner]
        if self._EXACT:
            self._sink.write_line(
                f"{SEPARATOR} {self._given(document.document, layers.table, chosen)}"
            )
        else:
            self._count_plain(document.document, layers.table, chosen)
            self._sink.write_line(PLAIN_START)
        self._sink.write_line("")
        self._write_rows(document.document, layers.table, chosen)

    def _count_plain(
        self, document: Document, table: TokenTable, chosen: list[list[TaggedRange]]
    ) -> None:
        """What the exact layout would hold."""
        changed = self._labels.changed
        counts = {
            "document key and exact text (conll-exact holds them)": 1,
            "document without tokens": not len(table),
            "token with other characters": sum(
                token != written_form(token) for token in table.strings(document.text)
            ),
            "label with other characters": sum(
                each.label in changed for sentence in chosen for each in sentence
            ),
        }
        self.losses += Counter(counts)

    def _flat(self, sentence: list[tuple[TokenRange, Entity]]) -> list[TaggedRange]:
        return [
            TaggedRange(tokens, self._labels.name_of(entity.label))
            for tokens, entity in flat(sentence, self.losses)
        ]

    def _given(self, document: Document, table: TokenTable, chosen: list[list[TaggedRange]]) -> str:
        """What rows cannot hold, as JSON: key, exact text, and labels that had to be changed."""
        forms = [written_form(token) for token in table.strings(document.text)]
        given: dict[str, Any] = {"doc_key": document.doc_key, "text": document.text}
        if find_tokens(document.text, forms) != table.spans:
            given["token_ranges"] = [[span.char_start, span.char_end] for span in table.spans]
        names = {each.label for sentence in chosen for each in sentence}
        changed = self._labels.changed
        if names & changed.keys():
            given["labels"] = {name: changed[name] for name in sorted(names & changed.keys())}
        return dump_line(given)

    def _write_rows(
        self, document: Document, table: TokenTable, chosen: list[list[TaggedRange]]
    ) -> None:
        forms = table.strings(document.text)
        columns = _other_columns(document.fields, len(forms))
        if not columns:
            self.losses += Counter(
                {"conll columns of a token": len(_kept_columns(document.fields))}
            )
        for sentence, ranges in zip(table.sentences, chosen, strict=True):
            tags = tags_of(len(sentence), ranges, sentence.token_start)
            for index, tag in enumerate(tags, start=sentence.token_start):
                others = columns[index] if columns else NO_COLUMNS
                self._sink.write_line(" ".join([written_form(forms[index]), *others, tag]))
            self._sink.write_line("")


class ExactConllWriter(ConllWriter):
    """Writes the same rows, with key and exact text in the ``-DOCSTART-`` line, so that nothing but annotations is lost."""

    _EXACT = True


def _other_columns(fields: Mapping[str, Any], count: int) -> list[list[str]]:
    """The other columns as they were read; none where the tokens are no longer the same."""
    columns = _kept_columns(fields)
    if len(columns) != count:
        return []
    if not all(isinstance(cells, list) for cells in columns):
        return []
    if len({len(cells) for cells in columns}) != 1:
        return []
    return [[written_form(str(cell)) or NO_VALUE for cell in cells] for cells in columns]


def _kept_columns(fields: Mapping[str, Any]) -> list[Any]:
    kept = fields.get(FIELD)
    columns = kept.get("columns") if isinstance(kept, Mapping) else None
    return columns if isinstance(columns, list) else []
