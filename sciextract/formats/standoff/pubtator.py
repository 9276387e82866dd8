"""Reader of PubTator: title and abstract lines, with mentions and relations below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, Place, ReadItem, Source, shown
from sciextract.formats.corpus_items import CorpusItems
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.standoff.pubtator_lines import (
    FIELD,
    NO_IDENTIFIER,
    OWN,
    Kept,
    Mention,
    is_label,
    label_of,
    nearest_pair,
    split_own,
)
from sciextract.formats.standoff.standoff import repeats
from sciextract.text.analyse import analyse

_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,15}")
_PMID = re.compile(r"[0-9]{1,12}")
_ALLOWED = "ID<tab>START<tab>END<tab>TEXT<tab>TYPE[<tab>IDENTIFIER], or ID<tab>TYPE<tab>IDENTIFIER<tab>IDENTIFIER"


@dataclass(slots=True)
class _Block:
    """The lines of one document.

    Attributes:
        passages: Title (``t``) and abstract (``a``).
        rows: Line numbers and columns of annotations.
        error: The first error in it.
    """

    first_line: int
    doc_key: str = ""
    passages: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    error: FormatError | None = None


def read_pubtator(source: Source) -> Iterator[ReadItem]:
    """Read documents: a title line, an abstract line, annotation lines, an empty line.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    found = False
    for block in _blocks(source):
        found = True
        try:
            if block.error:
                raise block.error
            yield _document(block, source)
        except FormatError as error:
            yield BadRecord(error)
    if not found:
        raise FormatError("the file is empty: it holds blank lines only", path=source.path)


def _blocks(source: Source) -> Iterator[_Block]:
    block: _Block | None = None
    for number, line in decoded_lines(source):
        content = line if isinstance(line, FormatError) else line.removesuffix("\n")
        if isinstance(content, str):
            content = content.removesuffix("\r")
        if isinstance(content, str) and not content.strip():
            if block:
                yield block
            block = None
            continue
        passage = _PASSAGE.fullmatch(content) if isinstance(content, str) else None
        if block and passage and passage[2] in block.passages:
            # Some files have no empty lines between documents.
            yield block
            block = None
        block = block or _Block(number)
        _add(block, content, passage, Place(source.path, number, block.doc_key))
    if block:
        yield block


def _add(
    block: _Block, content: str | FormatError, passage: re.Match[str] | None, place: Place
) -> None:
    try:
        if isinstance(content, FormatError):
            raise content
        key = passage[1] if passage else content.split("\t")[0]
        if not block.passages and not passage:
            problem = f"{shown(content)} found, allowed is a title line such as 123|t|Title"
            raise place.error(problem)
        block.doc_key = block.doc_key or key
        if key != block.doc_key:
            hint = "documents are separated by an empty line"
            raise place.error(f"the id {shown(key)} found in its lines", hint=hint)
        if passage:
            block.passages[passage[2]] = passage[3]
        else:
            block.rows.append((place.line or 0, content.split("\t")))
    except FormatError as error:
        block.error = block.error or error


def _document(block: _Block, source: Source) -> AnnotatedDocument:
    place = Place(source.path, block.first_line, block.doc_key)
    title, abstract = block.passages.get("t"), block.passages.get("a", "")
    if title is None:
        raise place.error(f"no title line, allowed is {block.doc_key}|t|Title (it may be empty)")
    text = f"{title}\n{abstract}" if abstract else title
    content = _Content(text, block, source)
    items = content.items
    title_length = len(title) if abstract else 0
    tokens = analyse(text, protected=items.spans, title_length=title_length)
    fields = content.fields()
    if _PMID.fullmatch(block.doc_key):
        fields["pmid"] = block.doc_key
    if abstract and title:
        fields["title"] = title
    document = Document(block.doc_key, text, tokens, fields)
    return AnnotatedDocument(document, items.annotations(), warnings=content.warnings())


class _Content:
    """The annotation lines of one document as items, and what is kept of them."""

    def __init__(self, text: str, block: _Block, source: Source) -> None:
        self.items = CorpusItems(block.doc_key, source.provenance)
        self._text = text
        self._kept_relations: list[tuple[str, ...]] = []
        self._read_by_nearest = 0
        self._without_mention = 0
        rows = [(Place(source.path, line, block.doc_key), row) for line, row in block.rows]
        self._mentions = [_mention(row, text, place) for place, row in rows if _is_mention(row)]
        self._entities = [
            self.items.entity([Span(each.char_start, each.char_end)], each.label)
            for each in self._mentions
        ]
        for place, row in rows:
            if not _is_mention(row):
                self._add_relation(row, place)
        self._add_clusters()

    def fields(self) -> dict[str, Any]:
        """What is kept for writing the file again."""
        plain = {(), (NO_IDENTIFIER,), ("",)}
        mentions = tuple(each for each in self._mentions if each.columns not in plain)
        kept = Kept(mentions, tuple(self._kept_relations))
        return {FIELD: kept.to_field()} if mentions or self._kept_relations else {}

    def warnings(self) -> tuple[str, ...]:
        """What relations between identifiers became."""
        counts = {
            "relations between identifiers, read as relations of their nearest mentions": (
                self._read_by_nearest
            ),
            "kept but not interpreted: relations of an identifier without mention": (
                self._without_mention
            ),
        }
        return tuple(f"pubtator: {kind} ({count})" for kind, count in counts.items() if count)

    def _add_relation(self, row: list[str], place: Place) -> None:
        columns = row[1:]
        if len(columns) < 3 or not all(columns[:3]):
            found = shown("\t".join(row))
            raise place.error(f"{found} found, allowed are {_ALLOWED}")
        is_own = columns[1].startswith(OWN) and columns[2].startswith(OWN)
        pair = nearest_pair(self._mentions, columns[1], columns[2])
        if pair:
            head, tail = (self._entities[index] for index in pair)
            self.items.relation(head, tail, label_of(columns[0], columns[3:]), None)
        if pair is None or not is_own:
            self._kept_relations.append(tuple(columns))
            self._read_by_nearest += pair is not None
            self._without_mention += pair is None

    def _add_clusters(self) -> None:
        """Mentions with one of our cluster identifiers; those of databases do not mean coreference."""
        groups: dict[str, list[int]] = {}
        for index, mention in enumerate(self._mentions):
            for own in mention.own:
                if own.startswith(f"{OWN}C"):
                    groups.setdefault(own, []).append(index)
        for indices in groups.values():
            self.items.cluster([self._entities[index] for index in indices], None)


def _is_mention(row: list[str]) -> bool:
    is_range = len(row) > 4 and _NUMBER.fullmatch(row[1]) and _NUMBER.fullmatch(row[2])
    return bool(is_range)


def _mention(row: list[str], text: str, place: Place) -> Mention:
    _, start, end, written, name, *columns = row
    span = Span(int(start), int(end))
    if not span.char_start < span.char_end <= len(text):
        allowed = f"START < END <= {len(text)} (characters of title, line end and abstract)"
        raise place.error(f"{start} {end} found, allowed is {allowed}")
    if not repeats(written, [span.of(text)]):
        expected = f"the text there is {shown(span.of(text))}"
        raise place.error(f"the mention {shown(written)} found, but {expected}")
    identifier, own = split_own(columns[0]) if columns else ("", ())
    others = (identifier, *columns[1:]) if columns else ()
    return Mention(
        span.char_start,
        span.char_end,
        label_of(name, own),
        others,
        tuple(each for each in own if not is_label(each)),
    )
