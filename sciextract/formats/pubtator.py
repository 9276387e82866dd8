"""PubTator: title and abstract lines, with mentions and relations below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from sciextract.documents.annotations import Entity, Relation
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, quoted, read_each
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.items import CorpusItems, not_rejected
from sciextract.formats.layers import encodable, entities_in_text, one_line, repeats
from sciextract.formats.sink import LineWriter
from sciextract.text.analyse import analyse

FIELD = "pubtator"
"""The field of a document that holds its identifiers and the relation lines between them."""

NO_IDENTIFIER = "-"
"""What PubTator writes for a mention without an identifier; other programs take five columns for a relation."""

OWN = "sciextract:"
"""What our own identifiers start with: of a mention (``M1``), a cluster (``C1``), a label."""

_OWN_LABEL = f"{OWN}label:"
_OWN_IDENTIFIER = re.compile(rf"{OWN}(?:[MC][0-9]+|label:[^|]*)")
_SEPARATORS = re.compile(r"[|;,]")
_REFUSED = re.compile(r"[\t\r\n\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Mention:
    """An annotation line.

    Attributes:
        char_start: Offset in title, one character, and abstract.
        char_end: Its end, exclusive.
        label: The type, as sciextract has it.
        columns: What stands behind the type, without our own identifiers.
        own: Our own identifiers, but for the one of a label.
    """

    char_start: int
    char_end: int
    label: str
    columns: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def concepts(self) -> set[str]:
        """What a relation may call it: its identifier, and the parts of a composite one."""
        first = self.columns[0] if self.columns else ""
        return {first, *_SEPARATORS.split(first), *self.own} - {"", NO_IDENTIFIER}


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a file for writing it again.

    Attributes:
        mentions: Those with columns behind their type.
        relations: Relation lines between identifiers of databases, from their type on.
    """

    mentions: tuple[Mention, ...] = ()
    relations: tuple[tuple[str, ...], ...] = ()

    def to_field(self) -> dict[str, Any]:
        """Plain values for JSON; :meth:`from_field` reads them back."""
        return {
            "mentions": [[m.char_start, m.char_end, m.label, *m.columns] for m in self.mentions],
            "relations": [list(columns) for columns in self.relations],
        }

    @classmethod
    def from_field(cls, value: object) -> Kept:
        """What :meth:`to_field` gave; nothing where a field of that name is something else."""
        if not isinstance(value, Mapping):
            return cls()
        try:
            mentions = [
                Mention(int(start), int(end), str(label), tuple(map(one_cell, columns)))
                for start, end, label, *columns in value["mentions"]
            ]
            relations = [tuple(map(one_cell, columns)) for columns in value["relations"]]
        except (KeyError, TypeError, ValueError):
            return cls()
        return cls(tuple(mentions), tuple(each for each in relations if len(each) >= 3))


def one_cell(value: object) -> str:
    """A value as a cell: no tab, no line end."""
    return _REFUSED.sub("_", str(value))


def nearest_pair(mentions: Sequence[Mention], head: str, tail: str) -> tuple[int, int] | None:
    """The indices of the two mentions of these identifiers with the fewest characters between them.

    The first pair in the text where several are as near; two different mentions if there are such.
    """
    heads, tails = (
        [index for index, mention in enumerate(mentions) if concept in mention.concepts]
        for concept in (head, tail)
    )
    pairs = [(first, second) for first in heads for second in tails]
    return min(pairs, key=lambda pair: _distance(mentions, *pair), default=None)


def _distance(mentions: Sequence[Mention], first: int, second: int) -> tuple[int, ...]:
    one, other = mentions[first], mentions[second]
    gap = max(other.char_start - one.char_end, one.char_start - other.char_end, 0)
    starts = one.char_start + other.char_start
    return int(first == second), gap, starts, one.char_start, one.char_end


def split_own(column: str) -> tuple[str, tuple[str, ...]]:
    """An identifier column without our own identifiers, and those."""
    parts = column.split("|")
    own = [part for part in parts if _OWN_IDENTIFIER.fullmatch(part)]
    return "|".join(part for part in parts if part not in own), tuple(own)


def cell_of_label(label: str, default: str) -> tuple[str, list[str]]:
    """A label as a cell, and the identifier that holds it exactly where the cell does not."""
    cell = one_cell(label) or default
    exact = f"{_OWN_LABEL}{quote(label, safe='', errors='surrogatepass')}"
    return cell, [] if cell == label else [exact]


def label_of(cell: str, own: Iterable[str]) -> str:
    """The label that :func:`cell_of_label` was given."""
    for identifier in own:
        if identifier.startswith(_OWN_LABEL):
            return unquote(identifier[len(_OWN_LABEL) :], errors="surrogatepass")
    return cell


def is_label(identifier: str) -> bool:
    """Whether one of our own identifiers holds a label."""
    return identifier.startswith(_OWN_LABEL)


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
    nothing = FormatError("the file is empty: it holds blank lines only", path=source.path)
    return read_each(_blocks(source), partial(_document, source=source), nothing)


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
            raise place.unexpected(content, "a title line such as 123|t|Title")
        block.doc_key = block.doc_key or key
        if key != block.doc_key:
            hint = "documents are separated by an empty line"
            raise place.error(f"the id {quoted(key)} found in its lines", hint=hint)
        if passage:
            block.passages[passage[2]] = passage[3]
        else:
            block.rows.append((place.line or 0, content.split("\t")))
    except FormatError as error:
        block.error = block.error or error


def _document(block: _Block, _: int, source: Source) -> AnnotatedDocument:
    if block.error:
        raise block.error
    place = Place(source.path, block.first_line, block.doc_key)
    title, abstract = block.passages.get("t"), block.passages.get("a", "")
    if title is None:
        raise place.error(f"no title line; expected {block.doc_key}|t|Title (it may be empty)")
    text = f"{title}\n{abstract}" if abstract else title
    content = _Content(text, block, source)
    items = content.items
    title_length = len(title) if abstract else 0
    tokens = analyse(text, protected=items.spans, title_length=title_length)
    fields = content.fields()
    if _PMID.fullmatch(block.doc_key):
        fields["pmid"] = block.doc_key
    if abstract and title.strip():
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
            found = quoted("\t".join(row))
            raise place.error(f"{found} found; expected {_ALLOWED}")
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
        raise place.error(f"{start} {end} found; expected {allowed}")
    if not repeats(written, [span.of(text)]):
        expected = f"the text there is {quoted(span.of(text))}"
        raise place.error(f"the mention {quoted(written)} found, but {expected}")
    identifier, own = split_own(columns[0]) if columns else ("", ())
    others = (identifier, *columns[1:]) if columns else ()
    return Mention(
        span.char_start,
        span.char_end,
        label_of(name, own),
        others,
        tuple(each for each in own if not is_label(each)),
    )


_REFUSED_IN_KEYS = re.compile(r"[|\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END = re.compile(r"[\r\n]")
_UNTYPED = "Mention"


class PubtatorWriter(LineWriter):
    """Writes one document after the other, an empty line between them.

    The first line of a text is the title, the rest the abstract. What has no place in a line is counted
    in ``losses``; further line ends become blanks, so that offsets stay right.
    """

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document.

        Raises:
            OutputError: The file cannot be written, or an entity leaves the text.
        """
        key = _REFUSED_IN_KEYS.sub("_", document.document.doc_key) or "_"
        text = encodable(document.document.text, self.losses)
        title, _, abstract = text.partition("\n")
        if not abstract:
            # An empty abstract line says that there is no abstract, not that the title ends a line.
            title = text
        breaks = len(_LINE_END.findall(title + abstract))
        lines = _Lines(document)
        lines.count("document key with other characters", key != document.document.doc_key)
        lines.count("line break in the text", breaks)
        self._sink.write_line(f"{key}|t|{_LINE_END.sub(' ', title)}")
        self._sink.write_line(f"{key}|a|{_LINE_END.sub(' ', abstract)}")
        for columns in (*lines.mentions(text), *lines.relations):
            self._sink.write_line("\t".join([key, *columns]))
        self._sink.write_line("")
        self.losses.update(lines.losses)


class _Lines:
    """The annotation lines of one document, without its key.

    Attributes:
        relations: Columns of the relations.
        losses: What has no place, by kind.
    """

    def __init__(self, annotated: AnnotatedDocument) -> None:
        self.losses: Counter[str] = Counter()
        self._items = annotated.annotations
        self._living = {entity.id: entity for entity in entities_in_text(annotated)}
        whole = [each for each in self._living.values() if len(each.fragments) == 1]
        self.count("discontinuous entity", len(self._living) - len(whole))
        entities = sorted(whole, key=lambda each: each.span)
        self._index = {entity.id: index for index, entity in enumerate(entities)}
        self._kept = Kept.from_field(annotated.document.fields.get(FIELD))
        self._mentions = _with_columns(entities, self._kept)
        self._add_clusters()
        self.relations = [*self._relation_columns()]

    def mentions(self, text: str) -> Iterator[list[str]]:
        """Columns of the mentions, in text order."""
        for mention in self._mentions:
            cell, exact = cell_of_label(mention.label, _UNTYPED)
            first, *others = mention.columns or (NO_IDENTIFIER,)
            ours = [*mention.own, *exact]
            identifiers = [] if ours and first in ("", NO_IDENTIFIER) else [first]
            written = one_line(text[mention.char_start : mention.char_end])
            offsets = [str(mention.char_start), str(mention.char_end)]
            yield [*offsets, written, cell, "|".join([*identifiers, *ours]), *others]

    def count(self, kind: str, number: int) -> None:
        """Count a loss, if there is one."""
        if number:
            self.losses[kind] += number

    def _add_clusters(self) -> None:
        groups: dict[tuple[int, ...], None] = {}
        for cluster in not_rejected(self._items.clusters):
            mentions = set(cluster.live_mentions) & self._living.keys()
            fitting = tuple(sorted(self._index[each] for each in mentions & self._index.keys()))
            self.count("mention of an entity that does not fit", len(mentions) - len(fitting))
            self.count("second cluster in the same place", int(fitting in groups))
            groups |= {fitting: None} if fitting else {}
        for number, indices in enumerate(sorted(groups), start=1):
            for index in indices:
                self._add_identifier(index, f"{OWN}C{number}")

    def _add_identifier(self, index: int, identifier: str) -> str:
        mention = self._mentions[index]
        if identifier not in mention.own:
            self._mentions[index] = replace(mention, own=(*mention.own, identifier))
        return identifier

    def _relation_columns(self) -> Iterator[list[str]]:
        """Lines as they were read while their relation is still there, then lines for new relations."""
        fitting = [each for each in not_rejected(self._items.relations) if self._fits(each)]
        wanted = dict.fromkeys(
            (self._index[each.head], self._index[each.tail], each.label) for each in fitting
        )
        self.count("second relation in the same place", len(fitting) - len(wanted))
        new = dict(wanted)
        for columns in self._kept.relations:
            name, head, tail, *others = columns
            label = label_of(name, others)
            pair = nearest_pair(self._mentions, head, tail)
            if pair is None or (*pair, label) in wanted:
                yield list(columns)
            if pair is not None:
                new.pop((*pair, label), None)
        for head_index, tail_index, label in new:
            cell, exact = cell_of_label(label, _UNTYPED)
            yield [cell, *self._identifiers(head_index, tail_index), *exact]

    def _fits(self, relation: Relation) -> bool:
        ends = {relation.head, relation.tail}
        if ends <= self._index.keys():
            return True
        self.count("relation of an entity that does not fit", int(ends <= self._living.keys()))
        return False

    def _identifiers(self, head: int, tail: int) -> tuple[str, str]:
        """Those of the data base where they lead back to the same two mentions, else our own."""
        found = [(self._mentions[index].columns or ("",))[0] for index in (head, tail)]
        if all(found) and nearest_pair(self._mentions, found[0], found[1]) == (head, tail):
            return found[0], found[1]
        return (
            self._add_identifier(head, f"{OWN}M{head + 1}"),
            self._add_identifier(tail, f"{OWN}M{tail + 1}"),
        )


def _with_columns(entities: list[Entity], kept: Kept) -> list[Mention]:
    """The entities as mentions, each with what stood behind its type when it was read, also under another type."""
    waiting: dict[tuple[int, int], list[Mention]] = {}
    for mention in kept.mentions:
        waiting.setdefault((mention.char_start, mention.char_end), []).append(mention)
    mentions = [Mention(e.span.char_start, e.span.char_end, e.label) for e in entities]
    for same_label in (True, False):
        for index, plain in enumerate(mentions):
            there = waiting.get((plain.char_start, plain.char_end), [])
            found = next(
                (each for each in there if each.label == plain.label or not same_label), None
            )
            if found is not None and not plain.columns:
                there.remove(found)
                mentions[index] = replace(plain, columns=found.columns)
    return mentions
