"""WebAnno TSV 3, as WebAnno and INCEpTION export it; one file is one document.

The header declares the layers, which mean the same as in XMI. Offsets count UTF-16 units of the whole text, of
which the file has the sentences only: what stood between them is white space of the same length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument, TokenTable
from sciextract.documents.spans import TokenRange
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.items import not_rejected
from sciextract.formats.layers import encodable, entities_in_text, token_layers
from sciextract.formats.sink import FolderWriter
from sciextract.formats.xmi import (
    CHAIN,
    LINK,
    RELATION_LAYER,
    SENTENCE,
    SPAN_LAYER,
    TOKEN,
    CasReading,
    FeatureStructure,
    FeatureStructures,
    TypeSystem,
)
from sciextract.text.offsets import OffsetMap

_FORMAT = "#FORMAT=WebAnno TSV 3"
_TEXT, _HEADER = "#Text=", re.compile(r"#T_(SP|RL|CH)=([^|]+)\|?(.*)")
_UNIT = re.compile(r"(\d{1,9}-\d{1,9})(\.\d{1,9})?")
_RANGE = re.compile(r"(\d{1,15})-(\d{1,15})")
_ENDING = re.compile(r"((?:[^\\]|\\.)*?)\[(\d{1,9})\]")
_LINK = re.compile(r"(.*)->(\d{1,9}-\d{1,9})")
_GOVERNOR = re.compile(r"(\d{1,9}-\d{1,9}(?:\.\d{1,9})?)(?:\[(\d{1,9})_(\d{1,9})\])?")
_ESCAPED = re.compile(r"\\(->|.)")
_PIECE = re.compile(r"\\.|[^\\|]+|\||\\")
_SPECIAL = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}
_LARGEST_GAP = 1 << 16
_UTF16 = "utf-16-le"
_TEXT_ESCAPES = {ord(each): f"\\{name}" for name, each in (*_SPECIAL.items(), ("\\", "\\"))}
_VALUE_ESCAPES = _TEXT_ESCAPES | {ord(each): f"\\{each}" for each in "[]|_;*"}
_HEADERS = (
    f"#T_SP={SPAN_LAYER}|label",
    f"#T_CH={LINK}|referenceRelation|referenceType",
    f"#T_RL={RELATION_LAYER}|label|BT_{SPAN_LAYER}",
)
_NONE, _NO_VALUE = "_", "*"
_SLOT, _BASE = "ROLE_", "BT_"


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer of the header.

    Attributes:
        kind: ``SP`` a span, ``RL`` a relation, ``CH`` a chain.
        type_name: Its type.
        columns: What its columns are called; those of slots begin with ``ROLE_`` or are empty, the last one of a
            relation begins with ``BT_``.
    """

    kind: str
    type_name: str
    columns: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    """An annotation as far as it was read: its first unit, place and features; of a relation where it starts."""

    layer: _Layer
    unit: str
    begin: int
    end: int
    features: dict[str, str] = field(default_factory=dict)
    governor: str = ""


def read_webanno(source: Source) -> Iterator[ReadItem]:
    """Read the document of a file.

    Raises:
        FormatError: It is empty or not UTF-8 text, has no token, or a line has another shape than the header says.
    """
    place = Place(source.path)
    file = _File()
    for number, line in decoded_lines(source):
        if isinstance(line, FormatError):
            raise line
        file.add(line.rstrip("\r\n"), Place(source.path, number))
    yield CasReading(file.structures(place), file.types(), source, place).document()


class _File:
    """The layers, the text and the annotations of a file."""

    def __init__(self) -> None:
        self._layers: list[_Layer] = []
        self._text = bytearray()
        self._units: dict[str, tuple[int, int]] = {}
        self._tokens: list[tuple[int, int]] = []
        self._numbers: dict[str, int] = {}
        self._sentences: list[tuple[int, int]] = []
        self._waiting: list[str] = []
        self._found: dict[tuple[str, str], _Found] = {}
        self._chains: dict[int, dict[int, str]] = {}

    def add(self, line: str, place: Place) -> None:
        """Take a line.

        Raises:
            FormatError: It has another shape than the header says, or its token is not in the text.
        """
        header = _HEADER.match(line)
        if line.startswith(_TEXT):
            self._waiting.append(_unescaped(line[len(_TEXT) :]))
        elif header and not self._tokens:
            self._layers.append(_layer(header[1], header[2], header[3]))
        elif line and not (line.startswith("#") and "\t" not in line):
            self._add_unit(line.split("\t"), place)

    def types(self) -> TypeSystem:
        """The layers as types, with the features that hold text."""
        spans = [layer for layer in self._layers if layer.kind != "CH"]
        return TypeSystem(
            {layer.type_name: "uima.tcas.Annotation" for layer in spans},
            {layer.type_name: tuple(filter(_is_feature, layer.columns)) for layer in spans},
        )

    def structures(self, place: Place) -> FeatureStructures:
        """All annotations, tokens and sentences.

        Raises:
            FormatError: There are no tokens, or a relation starts where there is nothing.
        """
        if not self._tokens:
            raise place.error("no text: the file has no tokens")
        made = FeatureStructures(self._text.decode(_UTF16, "surrogatepass"), place)
        for kind, ranges in ((SENTENCE, self._sentences), (TOKEN, self._tokens)):
            for number, (begin, end) in enumerate(ranges):
                _add(made, f"{kind} {number}", kind, {}, begin, end)
        for (_, name), found in self._found.items():
            features = dict(found.features)
            if found.layer.kind == "RL":
                features |= self._ends(found, place)
            _add(made, name, found.layer.type_name, features, found.begin, found.end)
        for number, links in self._chains.items():
            names = [links[index] for index in sorted(links)]
            for name, following in pairwise(names):
                made.structures[name].features["next"] = following
            structure = FeatureStructure(f"chain {number}", CHAIN, {"first": names[0]}, None)
            made.add(structure, None, of_other_view=False)
        return made

    def _add_unit(self, cells: list[str], place: Place) -> None:
        unit, given = (
            _UNIT.fullmatch(cells[0]),
            _RANGE.fullmatch(cells[1] if len(cells) > 1 else ""),
        )
        if not unit or not given or len(cells) < 3:
            allowed = "a token number such as 1-1, its range such as 0-4, and the token, separated by tabs"
            raise place.unexpected(cells[:3], f"{allowed}")
        begin, end = int(given[1]), int(given[2])
        if not unit[2]:
            self._add_token(begin, end, cells[2], place)
            self._numbers[cells[0]] = len(self._tokens) - 1
        self._units[cells[0]] = begin, end
        rest = cells[3:] if cells[-1] else cells[3:-1]
        wanted = sum(len(layer.columns) for layer in self._layers)
        if len(rest) != wanted:
            raise place.error(
                f"{len(rest)} columns found behind the token, the header has {wanted}"
            )
        for number, layer in enumerate(self._layers):
            mine, rest = rest[: len(layer.columns)], rest[len(layer.columns) :]
            self._add_cells(f"layer {number}", layer, cells[0], mine, place)

    def _add_token(self, begin: int, end: int, form: str, place: Place) -> None:
        if self._waiting:
            text, self._waiting = "\n".join(self._waiting), []
            first = text.find(_unescaped(form))
            gap = begin - (len(_encoded(text[: max(first, 0)])) + len(self._text)) // 2
            if first < 0 or not 0 <= gap <= _LARGEST_GAP:
                problem = f"the token {quoted(form)} with the range {begin}-{end} found, which is not where '#Text=' has it"
                raise place.error(problem)
            self._text += _encoded((" " * (gap - 1) + "\n" if gap else "") + text)
            self._sentences.append((begin, end))
        if not self._sentences:
            raise place.error("a token before the first '#Text='")
        if self._text[2 * begin : 2 * end] != _encoded(_unescaped(form)):
            problem = (
                f"the token {quoted(form)} found, but the text has something else at {begin}-{end}"
            )
            raise place.error(problem, hint="offsets must count UTF-16 units, as INCEpTION does")
        self._tokens.append((begin, end))
        self._sentences[-1] = self._sentences[-1][0], end

    def _add_cells(
        self, layer_name: str, layer: _Layer, unit: str, cells: list[str], place: Place
    ) -> None:
        begin, end = self._units[unit]
        for column, cell in zip(layer.columns, cells, strict=True):
            parts = [] if cell == _NONE else _split(cell)
            for position, part in enumerate(parts):
                ending = None if column.startswith(_BASE) else _ENDING.fullmatch(part)
                value, number = (ending[1], ending[2]) if ending else (part, "")
                name = f"{layer_name} [{number}]" if number else f"{layer_name} {unit} {position}"
                if layer.kind == "CH":
                    link = _link_of(cells[0], position, place)
                    name = f"{layer_name} link {link[2]}"
                    chain, index = map(int, link[2].split("-"))
                    self._chains.setdefault(chain, {})[index] = name
                    value = link[1] if column == layer.columns[0] else value
                found = self._found.setdefault((layer_name, name), _Found(layer, unit, begin, end))
                found.begin, found.end = min(found.begin, begin), max(found.end, end)
                if column.startswith(_BASE):
                    found.governor = value
                elif _is_feature(column) and value != _NO_VALUE:
                    found.features[column] = _unescaped(value)

    def _ends(self, found: _Found, place: Place) -> dict[str, str]:
        """The ids of what a relation leads from and to: annotations of the layer it is made on, or tokens."""
        given = _GOVERNOR.fullmatch(found.governor)
        if given is None or given[1] not in self._units:
            raise place.unexpected(
                found.governor,
                "the number of a token such as 1-2",
                field=f"{found.layer.type_name} at {found.unit}",
            )
        base = found.layer.columns[-1].removeprefix(_BASE)
        names = [layer.type_name for layer in self._layers]
        ends = {"Governor": (given[1], given[2]), "Dependent": (found.unit, given[3])}
        return {
            feature: self._end(base, names, unit, number)
            for feature, (unit, number) in ends.items()
        }

    def _end(self, base: str, names: list[str], unit: str, number: str | None) -> str:
        if base not in names:
            return f"{TOKEN} {self._numbers[unit.partition('.')[0]]}"
        layer_name = f"layer {names.index(base)}"
        if number and number != "0":
            return f"{layer_name} [{number}]"
        return f"{layer_name} {unit} 0"


def _layer(kind: str, type_name: str, columns: str) -> _Layer:
    """A layer of the header; a slot has two columns, and a layer without features has one."""
    names: list[str] = []
    for name in columns.split("|"):
        if names and names[-1].startswith(_SLOT):
            name = ""  # the type of what fills the slot named before
        names.append(name)
    return _Layer(kind, type_name, tuple(names))


def _link_of(cell: str, position: int, place: Place) -> re.Match[str]:
    """A link of a chain, from the chain layer's first column: ``RELATION->CHAIN-LINK``."""
    parts = _split(cell)
    link = _LINK.fullmatch(parts[position]) if position < len(parts) else None
    if link is None:
        raise place.unexpected(cell, "links such as *->1-2, joined by '|'")
    return link


def _is_feature(column: str) -> bool:
    return bool(column) and not column.startswith((_SLOT, _BASE))


def _split(cell: str) -> list[str]:
    """The parts between bars that no backslash protects."""
    parts = [""]
    for match in _PIECE.finditer(cell):
        if match[0] == "|":
            parts.append("")
        else:
            parts[-1] += match[0]
    return parts


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _SPECIAL.get(match[1], match[1]), text)


def _encoded(text: str) -> bytes:
    return text.encode(_UTF16, "surrogatepass")


def _add(
    made: FeatureStructures,
    name: str,
    type_name: str,
    features: dict[str, str],
    begin: int,
    end: int,
) -> None:
    structure = FeatureStructure(name, type_name, features, None)
    made.add(structure, (str(begin), str(end)), of_other_view=False)


class WebannoWriter(FolderWriter):
    """Writes ``KEY.tsv`` for each document, with the layers of the XMI writer; counts losses.

    Tokens are cut at the edges of entities. Of the text only the sentences are written, so white space
    between them comes back as blanks and a line end of the same length.
    """

    def write(self, document: AnnotatedDocument) -> None:
        """Write one document to a file of its own.

        Raises:
            OutputError: An entity lies outside the text, or the disk is full.
        """
        entities_in_text(document)
        layers = token_layers(
            replace(document, annotations=Annotations(document.annotations.entities))
        )
        counted = Counter(_lost(layers.losses))
        if not layers.table.spans:
            self.losses["document without tokens"] += 1
            return
        key = document.document.doc_key
        name = self._names.name_of(key)
        counted["document key with other characters"] += name != key
        lines = _Rows(document, layers.table, counted).lines()
        self.losses.update(+counted)
        self._save(f"{name}.tsv", "\n".join(lines) + "\n")


class _Rows:
    """The lines of one document."""

    def __init__(
        self, annotated: AnnotatedDocument, table: TokenTable, losses: Counter[str]
    ) -> None:
        self._text = encodable(annotated.document.text, losses)
        self._table = table
        self._losses = losses
        self._cells: list[list[list[str]]] = [[[] for _ in range(5)] for _ in table.spans]
        self._units = [
            f"{number}-{index + 1 - sentence.token_start}"
            for number, sentence in enumerate(table.sentences, start=1)
            for index in range(sentence.token_start, sentence.token_end)
        ]
        self._places: dict[str, tuple[int, TokenRange, str]] = {}
        self._add(annotated.annotations)

    def lines(self) -> list[str]:
        offsets, rows = OffsetMap(self._text), [f"{_FORMAT}.3", *_HEADERS, ""]
        rebuilt = ""
        for sentence in self._table.sentences:
            span = self._table.char_span(sentence)
            gap = span.char_start - len(rebuilt)
            text = span.of(self._text)
            rebuilt += (" " * (gap - 1) + "\n" if gap else "") + text
            rows += ["", f"{_TEXT}{_escaped_text(text)}"]
            for index in range(sentence.token_start, sentence.token_end):
                token = self._table.spans[index]
                begin, end = (offsets.to_utf16(each) for each in (token.char_start, token.char_end))
                cells = ["|".join(parts) or _NONE for parts in self._cells[index]]
                form = _escaped_text(token.of(self._text))
                rows.append("\t".join([self._units[index], f"{begin}-{end}", form, *cells, ""]))
        self._losses["white space between sentences"] += rebuilt != self._text
        return rows

    def _add(self, given: Annotations) -> None:
        for entity in not_rejected(given.entities):
            tokens = self._table.covering(entity.span) if len(entity.fragments) == 1 else None
            if tokens is not None:
                number = len(self._places) + 1
                value = _escaped_value(entity.label)
                self._places[entity.id] = number, tokens, value
                for index in range(tokens.token_start, tokens.token_end):
                    self._cells[index][0].append(f"{value}[{number}]")
        living = {each.id for each in not_rejected(given.entities)}
        chains = 0
        for cluster in not_rejected(given.clusters):
            wanted = [each for each in cluster.live_mentions if each in living]
            mentions = [each for each in wanted if each in self._places]
            self._losses["mention of an entity that does not fit"] += len(wanted) - len(mentions)
            chains += bool(mentions)
            for link, mention in enumerate(mentions, start=1):
                _, tokens, value = self._places[mention]
                for index in range(tokens.token_start, tokens.token_end):
                    self._cells[index][1].append(f"{_NO_VALUE}->{chains}-{link}")
                    self._cells[index][2].append(f"{value}[{chains}]")
        for relation in not_rejected(given.relations):
            ends = {relation.head, relation.tail}
            if ends <= self._places.keys():
                (source, head, _), (target, tail, _) = (
                    self._places[each] for each in (relation.head, relation.tail)
                )
                self._cells[tail.token_start][3].append(_escaped_value(relation.label))
                unit = self._units[head.token_start]
                self._cells[tail.token_start][4].append(f"{unit}[{source}_{target}]")
            elif ends <= living:
                self._losses["relation of an entity that does not fit"] += 1


def _lost(losses: Counter[str]) -> dict[str, int]:
    """What token offsets lose and this format does too: it holds entities across sentences, equal and untyped ones."""
    kinds = (
        "discontinuous entity",
        "entity without tokens",
        "white space at the edge of an entity",
    )
    return {kind: losses[kind] for kind in kinds if losses[kind]}


def _escaped_text(text: str) -> str:
    return text.translate(_TEXT_ESCAPES)


def _escaped_value(label: str) -> str:
    return label.translate(_VALUE_ESCAPES).replace("->", "\\->") or _NO_VALUE
