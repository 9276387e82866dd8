"""CoNLL columns: a token a line, its tag in the last column; written as IOB2, flat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from operator import ne
from pathlib import Path
from typing import TextIO

from sciextract.documents.annotations import NOT_REJECTED, Annotations, TokenRange
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import FormatError
from sciextract.formats.base import (
    STDIN,
    Block,
    LineRole,
    Place,
    ReadItem,
    Source,
    blocks_of,
    decode_lines,
    quoted,
    read_each,
    readable_lines,
)
from sciextract.formats.items import CorpusItems
from sciextract.formats.layers import LINE_BREAKS, LabelNames, entities_in_text, token_layers
from sciextract.formats.sink import LineWriter
from sciextract.formats.tagged_tokens import TAG, TaggedRange, flat, tagged_ranges, tags_of
from sciextract.text.characters import without_surrogates
from sciextract.text.tokenizer import from_token_lists

SEPARATOR = "-DOCSTART-"
PLAIN_START = f"{SEPARATOR} -X- O O"
"""The line of CoNLL-2003 before a document; spaCy's converter knows no other, and takes what follows for tokens."""

NO_VALUE = "_"
NO_COLUMNS = [NO_VALUE, NO_VALUE]
"""The cells between token and tag, part of speech and chunk in CoNLL-2003, where nothing is known of them."""

_UNWRITABLE = re.compile(rf"[\s{LINE_BREAKS}]")
# What ends a cell for programs that split at any white space.
_REFUSED_IN_LABELS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_BLANKS = " \t\r\n"
_ALLOWED_TAGS = "O, or B- I- E- L- S- U- and a label"
_KEY_AND_VALUE = re.compile(r"#\s*[\w.-]+(?: [\w.-]+)* = ")


def _cells_of(line: str) -> list[str]:
    """The cells of a row; none of a comment, a blank line and the line before a document."""
    content = line.rstrip("\r\n")
    if not content.strip(_BLANKS) or content.startswith(SEPARATOR):
        return []
    is_tabbed = "\t" in content
    cells = content.split("\t") if is_tabbed else [*filter(None, content.split(" "))]
    # "#" may be a token, too: then the line ends in a tag. "# key = value" is always a comment.
    if content.startswith("#") and (
        (not is_tabbed and _KEY_AND_VALUE.match(content))
        or len(cells) < 2
        or not TAG.fullmatch(cells[-1])
    ):
        return []
    # Some programs end each row with a tab.
    return cells[:-1] if is_tabbed and len(cells) > 2 and not cells[-1].strip() else cells


def _layout_of(source: Source) -> tuple[bool, bool]:
    """Whether documents are marked, and whether the first column counts the tokens (NeuroNLP2)."""
    has_documents, is_numbered = False, True
    following, counted = "", 0
    with closing(decode_lines(source)) as lines:
        for _, line in lines:
            if isinstance(line, FormatError):
                continue
            has_documents = has_documents or line.startswith(SEPARATOR)
            cells = _cells_of(line) if is_numbered else []
            if cells:
                is_index = len(cells) > 2 and cells[0].isdecimal()
                is_numbered = is_index and following in ("", cells[0])
                counted += following != ""
                following = str(int(cells[0]) + 1) if is_numbered else ""
            elif not line.strip(_BLANKS):
                following = ""
            if has_documents and not is_numbered:
                break
    return has_documents, is_numbered and counted > 0


def read_conll(source: Source) -> Iterator[ReadItem]:
    """Read columns, separated by tabs or blanks; an empty line ends a sentence.

    ``-DOCSTART-`` lines stand between documents. In a file without them each sentence is a document, since
    nothing says which sentences belong together; so is, on standard input, each before the first of them.
    """

    # Reading a file twice is the price of knowing before the first sentence what a document is.
    has_documents, is_numbered = (False, False) if source.path == STDIN else _layout_of(source)

    def role_of(line: str, _: Block) -> LineRole:
        nonlocal has_documents
        if line.startswith(SEPARATOR):
            has_documents = True
            return LineRole.FIRST
        return LineRole.INSIDE if has_documents or line.strip(_BLANKS) else LineRole.BETWEEN

    def read(block: Block, _: int) -> AnnotatedDocument:
        rows: list[tuple[list[str], int]] = []
        starts, comments = {0}, 0
        for number, line in readable_lines(block):
            cells, place = _cells_of(line)[is_numbered:], Place(source.path, number)
            if not line.strip(_BLANKS):
                starts.add(len(rows))
            elif not cells:
                comments += not line.startswith(SEPARATOR)
            elif len(cells) < 2 or not cells[0]:
                found = quoted(line.rstrip("\r\n"))
                problem = f"{found} found; expected a token and its tag in two or more columns"
                hint = "separate columns by tabs; an empty line ends a sentence"
                raise place.error(problem, hint=hint)
            elif not TAG.fullmatch(cells[-1]):
                raise place.error(f"the tag {quoted(cells[-1])} found; expected {_ALLOWED_TAGS}")
            else:
                rows.append((cells, number))
        first, first_line = rows[0]
        is_marked = str(block[0][1]).startswith(SEPARATOR)
        key = f"{source.stem}:{block[0][0] if is_marked else first_line}"
        for cells, line_number in rows:
            if len(cells) != len(first):
                found = f"{len(cells)} columns found; expected {len(first)}"
                raise Place(source.path, line_number, key).error(f"{found} as in line {first_line}")
        edges = pairwise(sorted({*starts, len(rows)}))
        sentences = [rows[start:end] for start, end in edges]
        text, tokens = from_token_lists([[cells[0] for cells, _ in part] for part in sentences])
        items = CorpusItems(Place(source.path, None, key), source.provenance)
        for sentence in tokens.sentences:
            start = sentence.token_start
            tags = [cells[-1] for cells, _ in rows[start : sentence.token_end]]
            for mention, label in tagged_ranges(tags):
                range_ = TokenRange(start + mention.token_start, start + mention.token_end)
                items.entity([tokens.char_span(range_)], label)
        filled = sum(cells[1:-1] not in ([], NO_COLUMNS) for cells, _ in rows)
        items.unread["conll columns of a token"] += filled
        items.unread["conll comment"] += comments
        return items.annotate(Document(key, text, tokens))

    nothing = FormatError("the file is empty: it holds no tokens", path=source.path)
    blocks = (
        block
        for block in blocks_of(source, role_of)
        if any(isinstance(line, FormatError) or _cells_of(line) for _, line in block)
    )
    return read_each(blocks, read, nothing)


def written_form(token: str) -> str:
    """A token as a cell: no white space, no lone surrogate, and never the word that starts a document.

    >>> written_form("a\\tb")
    'a_b'
    """
    form = without_surrogates(_UNWRITABLE.sub(NO_VALUE, token))[0]
    return form.replace(SEPARATOR, "-DOCSTART_", 1) if form.startswith(SEPARATOR) else form


class ConllWriter(LineWriter):
    """Writes the layout of CoNLL-2003: ``-DOCSTART- -X- O O``, then token, two other columns and tag between blanks.

    Tags hold neither nested, overlapping, discontinuous and untyped entities nor relations and clusters;
    of entities that overlap, the longest is written and the others are counted in ``losses``, as are document
    keys and exact texts.
    """

    def __init__(self, destination: Path | str | TextIO) -> None:
        super().__init__(destination)
        self._labels = LabelNames(_REFUSED_IN_LABELS)

    def write(self, document: AnnotatedDocument) -> None:
        entities_in_text(document)
        given = document.annotations.in_states(NOT_REJECTED)
        layers = token_layers(replace(document, annotations=Annotations(given.entities)))
        self.losses.update(layers.losses)
        self.lose("relation", len(given.relations))
        self.lose("cluster", len(given.clusters))
        table = layers.table
        strings = table.strings(document.document.text)
        forms = [*map(written_form, strings)]
        self.lose("document key and exact text")
        self.lose("document without tokens", not forms)
        self.lose("token with other characters", sum(map(ne, strings, forms)))
        self._sink.write_line(PLAIN_START)
        self._sink.write_line("")
        for sentence, ner in zip(table.sentences, layers.ner, strict=True):
            ranges = []
            for tokens, entity in flat(ner, self.losses):
                name = self._labels.name_of(entity.label)
                self.lose("label with other characters", name != entity.label)
                ranges.append(TaggedRange(tokens, name))
            tags = tags_of(len(sentence), ranges, sentence.token_start)
            words = forms[sentence.token_start : sentence.token_end]
            for form, tag in zip(words, tags, strict=True):
                self._sink.write_line(" ".join([form, *NO_COLUMNS, tag]))
            self._sink.write_line("")
