"""PubTator: title and abstract lines, with mentions and relations below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple, TypeAlias
from urllib.parse import quote, unquote

from sciextract.documents.annotations import NOT_REJECTED, Entity
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LINK
from sciextract.errors import FormatError
from sciextract.formats.alignment import span_between
from sciextract.formats.base import (
    Block,
    LineRole,
    Place,
    ReadItem,
    Source,
    blocks_of,
    quoted,
    read_each,
    readable_lines,
)
from sciextract.formats.items import CorpusItems, in_fitting_unit
from sciextract.formats.layers import encodable, entities_in_text, named_links, one_line
from sciextract.formats.sink import LineWriter
from sciextract.text.analyse import analyse
from sciextract.text.offsets import OffsetMap, Unit

NO_IDENTIFIER = "-"
"""What PubTator writes for a mention without an identifier; other programs take five columns for a relation."""

OWN = "sciextract:"
"""What our own identifiers start with: of a mention (``M1``), a cluster (``C1``), a label."""

_OWN_LABEL = f"{OWN}label:"
_OWN_IDENTIFIER = re.compile(rf"{OWN}(?:[MC][0-9]+|label:[^|]*)")
_SEPARATORS = re.compile(r"[|;,]")
_REFUSED = re.compile(r"[\t\r\n\ud800-\udfff]")


class _Mention(NamedTuple):
    """An entity and what its line says besides.

    Attributes:
        entity: The entity.
        concepts: What a relation may call it: its identifier, the parts of a composite one, our own ones.
        others: How many columns stand behind the identifier.
    """

    entity: Entity
    concepts: set[str]
    others: int


def _nearest_pair(
    mentions: Sequence[_Mention], head: str, tail: str
) -> tuple[Entity, Entity] | None:
    """The two mentions of these identifiers with the fewest characters between them.

    The first pair in the text where several are as near; two different mentions if there are such.
    """

    def distance(pair: tuple[Entity, Entity]) -> tuple[object, ...]:
        one, other = (entity.span for entity in pair)
        gap = max(other.char_start - one.char_end, one.char_start - other.char_end, 0)
        return pair[0] is pair[1], gap, one.char_start + other.char_start, one

    heads, tails = (
        [mention.entity for mention in mentions if concept in mention.concepts]
        for concept in (head, tail)
    )
    return min(product(heads, tails), key=distance, default=None)


def cell_of_label(label: str) -> tuple[str, list[str]]:
    """A label as a cell without tabs and line ends, and the identifier that holds it exactly where the cell does not."""
    cell = _REFUSED.sub("_", label) or "Mention"
    exact = f"{_OWN_LABEL}{quote(label, safe='', errors='surrogatepass')}"
    return cell, [] if cell == label else [exact]


def label_of(cell: str, own: Iterable[str]) -> str:
    """The label that :func:`cell_of_label` was given."""
    for identifier in own:
        if identifier.startswith(_OWN_LABEL):
            return unquote(identifier[len(_OWN_LABEL) :], errors="surrogatepass")
    return cell


_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,15}")
_PMID = re.compile(r"[0-9]{1,12}")
_ALLOWED = "ID<tab>START<tab>END<tab>TEXT<tab>TYPE[<tab>IDENTIFIER], or ID<tab>TYPE<tab>IDENTIFIER<tab>IDENTIFIER"


def read_pubtator(source: Source) -> Iterator[ReadItem]:
    """Read documents: a title line, an abstract line, annotation lines, an empty line."""

    def role_of(line: str, block: Block) -> LineRole:
        if not line.strip():
            return LineRole.BETWEEN
        # Some files have no empty lines between documents.
        kind = passage[2] if (passage := _PASSAGE.match(line)) else ""
        above = (_PASSAGE.match(earlier) for _, earlier in block if isinstance(earlier, str))
        is_first = kind and any(found and found[2] == kind for found in above)
        return LineRole.FIRST if is_first else LineRole.INSIDE

    def read(block: Block, _: int) -> AnnotatedDocument:
        key, passages, rows = "", dict[str, str](), []
        for number, line in readable_lines(block):
            place = Place(source.path, number, key)
            content = line.removesuffix("\n").removesuffix("\r")
            passage = _PASSAGE.fullmatch(content)
            if not passages and not passage:
                raise place.unexpected(content, "a title line such as 123|t|Title")
            found = passage[1] if passage else content.split("\t")[0]
            key = key or found
            if passage and found != key:
                hint = "documents are separated by an empty line"
                raise place.error(f"the id {quoted(found)} found in its lines", hint=hint)
            if passage:
                passages[passage[2]] = passage[3]
            else:
                rows.append((replace(place, doc_key=key), content.split("\t")))
        title, abstract = passages.get("t"), passages.get("a", "")
        place = Place(source.path, block[0][0], key)
        if title is None:
            raise place.error(f"no title line; expected {key}|t|Title (it may be empty)")
        text = f"{title}\n{abstract}" if abstract else title
        items, mentions = in_fitting_unit(
            lambda unit: _read_mentions(CorpusItems(place, source.provenance), text, rows, unit)
        )
        _add_links(items, mentions, rows)
        title_length = len(title) if abstract else 0
        tokens = analyse(text, protected=items.spans, title_length=title_length)
        fields = {"pmid": key} if _PMID.fullmatch(key) else {}
        if abstract and title.strip():
            fields["title"] = title
        return items.annotate(Document(key, text, tokens, fields))

    nothing = FormatError("the file is empty: it holds blank lines only", path=source.path)
    return read_each(blocks_of(source, role_of), read, nothing)


_Rows: TypeAlias = list[tuple[Place, list[str]]]


def _is_mention(row: list[str], place: Place) -> bool:
    is_range = len(row) > 4 and all(map(_NUMBER.fullmatch, row[1:3]))
    return is_range and row[0] == place.doc_key


def _read_mentions(
    items: CorpusItems, text: str, rows: _Rows, unit: Unit
) -> tuple[CorpusItems, list[_Mention]]:
    offsets, mentions = OffsetMap(text), []
    for place, row in rows:
        if _is_mention(row, place):
            with items.leaving_out():
                start, end = map(int, row[1:3])
                span = span_between(start, end, unit, offsets, row[4], place)
                items.check_copy(row[3], [span.of(text)], place, row[4])
                _, _, _, _, name, identifiers, *others = [*row, ""]
                parts = identifiers.split("|")
                own = [part for part in parts if _OWN_IDENTIFIER.fullmatch(part)]
                identifier = "|".join(part for part in parts if part not in own).strip()
                entity = items.entity([span], label_of(name, own))
                concepts = {*own}
                if identifier not in ("", NO_IDENTIFIER, "-1"):
                    concepts |= {identifier, *_SEPARATORS.split(identifier)} - {""}
                    items.attribute(entity, LINK, identifier)
                mentions.append(_Mention(entity, concepts, sum(map(bool, others))))
    return items, mentions


def _add_links(items: CorpusItems, given: list[_Mention], rows: _Rows) -> None:
    """Add the relations between the identifiers of mentions, then our clusters."""
    # Mentions that share an identifier of a data base do not corefer: only ours say so.
    groups: dict[str, list[Entity]] = {}
    for mention in given:
        items.unread["pubtator column behind an identifier"] += mention.others
        for concept in sorted(mention.concepts):
            if concept.startswith(f"{OWN}C"):
                groups.setdefault(concept, []).append(mention.entity)
    for place, row in rows:
        if not _is_mention(row, place):
            with items.leaving_out("line that is neither a mention nor a relation"):
                _add_relation(items, given, row, place)
    for members in groups.values():
        items.cluster(members, None)


def _add_relation(items: CorpusItems, given: list[_Mention], row: list[str], place: Place) -> None:
    columns = row[1:]
    if len(columns) < 3 or not all(columns[:3]) or row[0] != place.doc_key:
        found = quoted("\t".join(row))
        raise place.error(f"{found} found; expected {_ALLOWED}")
    label, head, tail, *others = columns
    pair = _nearest_pair(given, head, tail)
    if pair is None:
        items.unread["pubtator relation of an identifier without a mention"] += 1
        return
    items.relation(*pair, label_of(label, others), None)
    if not (head.startswith(OWN) and tail.startswith(OWN)):
        # PubTator relates concepts: which of their mentions is meant, no line says.
        kind = "relation between identifiers of pubtator, read as one of their nearest mentions"
        items.remarks[kind] += 1


_REFUSED_IN_KEYS = re.compile(r"[|\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END = re.compile(r"[\r\n]")


class PubtatorWriter(LineWriter):
    """Writes one document after the other, an empty line between them.

    The first line of a text is the title, the rest the abstract. What has no place in a line is counted
    in ``losses``; further line ends become blanks, so that offsets stay right.
    """

    def write(self, document: AnnotatedDocument) -> None:
        key = _REFUSED_IN_KEYS.sub("_", document.document.doc_key) or "_"
        text = encodable(document.document.text, self.losses)
        title, _, abstract = text.partition("\n")
        if not abstract:
            # An empty abstract line says that there is no abstract, not that the title ends a line.
            title = text
        self.lose("document key with other characters", key != document.document.doc_key)
        self.lose("line break in the text", len(_LINE_END.findall(title + abstract)))
        self._sink.write_line(f"{key}|t|{_LINE_END.sub(' ', title)}")
        self._sink.write_line(f"{key}|a|{_LINE_END.sub(' ', abstract)}")
        for columns in self._rows(document, text):
            self._sink.write_line("\t".join([key, *columns]))
        self._sink.write_line("")

    def _rows(self, annotated: AnnotatedDocument, text: str) -> list[list[str]]:
        """The columns behind the key: mentions in text order, then relations."""
        living = entities_in_text(annotated)
        whole = [entity for entity in living if len(entity.fragments) == 1]
        self.lose("discontinuous entity", len(living) - len(whole))
        entities = sorted(whole, key=lambda entity: entity.span)
        index = {entity.id: number for number, entity in enumerate(entities)}
        relations, groups = named_links(annotated, index, self.losses)
        own: list[list[str]] = [[] for _ in entities]
        for number, members in enumerate(sorted(groups), start=1):
            for member in members:
                own[member].append(f"{OWN}C{number}")
        lines = []
        for head, tail, label in relations:
            names = [f"{OWN}M{end + 1}" for end in (head, tail)]
            for end, name in zip((head, tail), names, strict=True):
                own[end] += [name] if name not in own[end] else []
            cell, exact = cell_of_label(label)
            lines.append([cell, *names, *exact])
        said = annotated.annotations.in_states(NOT_REJECTED).attributes
        links = {item.target: one_line(item.value) for item in said if item.label == LINK}
        self.lose("attribute", sum(item.label != LINK or item.target not in index for item in said))
        rows = []
        for entity, identifiers in zip(entities, own, strict=True):
            span = entity.span
            cell, exact = cell_of_label(entity.label)
            link = [links[entity.id]] if entity.id in links else []
            column = "|".join([*link, *identifiers, *exact]) or NO_IDENTIFIER
            offsets = [str(span.char_start), str(span.char_end)]
            rows.append([*offsets, one_line(span.of(text)), cell, column])
        return [*rows, *lines]
