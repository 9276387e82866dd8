"""The rows of the state tables, as frozen objects and as plain values for the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from sciextract.documents.annotations import Completeness as Completeness  # noqa: PLC0414
from sciextract.documents.annotations import LabelScore, Layer, Span, State
from sciextract.documents.project_state import rename_covered as rename_covered  # noqa: PLC0414
from sciextract.documents.schema import RELATION_PREFIX, AttributeType, LabelSchema

IN_VIEW = frozenset({State.IMPORTED, State.ACCEPTED, State.EDITED, State.ADDED})
"""States of the items that belong to the current view."""
BY_PERSONS = frozenset({State.ACCEPTED, State.EDITED, State.ADDED, State.REJECTED})
"""States that only a person's decision gives."""
SETTLED = BY_PERSONS - {State.REJECTED}
"""States in which a person has found an item right."""


Key = tuple[str, ...]
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProgressRow:
    """Completeness per layer, flag and note of a document; it is in the project while it has this row.

    Attributes:
        covered: The types of done layers that somebody has looked for, as :func:`covered_name` writes them: a type
            that came later is not among them.
    """

    TABLE: ClassVar[str] = "progress"
    KEY: ClassVar[Key] = ()

    entities: Completeness = Completeness.UNTOUCHED
    relations: Completeness = Completeness.UNTOUCHED
    coreference: Completeness = Completeness.UNTOUCHED
    flagged: bool = False
    note: str = ""
    warned: int = 0
    covered: tuple[str, ...] = ()

    def with_layers(
        self, layers: Collection[Layer], completeness: Completeness, schema: LabelSchema
    ) -> ProgressRow:
        """The row with other layers; those that are done cover the types that the schema has now."""
        names = names_in(schema, layers)
        kept = {name for name in self.covered if layer_of(name) not in layers} - names
        if completeness is Completeness.DONE:
            kept |= names
        values: dict[str, Any] = {layer.value: completeness for layer in layers}
        return replace(self, **values, covered=tuple(sorted(kept)))

    @property
    def key(self) -> Key:
        """There is one such row a document."""
        return ()

    @property
    def done(self) -> tuple[Layer, ...]:
        """The layers that are done."""
        return tuple([layer for layer in Layer if getattr(self, layer) is Completeness.DONE])

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has begun any layer."""
        return {self.entities, self.relations, self.coreference} == {Completeness.UNTOUCHED}

    def is_finished(self, schema: LabelSchema) -> bool:
        """Whether the abstract is done: :func:`finished_sql` says the same."""
        left = [layer for layer in _FURTHER if getattr(self, layer) is Completeness.IN_PROGRESS]
        counted = schema.finish or Layer
        return self.entities is Completeness.DONE and not any(layer in counted for layer in left)

    @property
    def looked_for(self) -> frozenset[str]:
        """What somebody has looked for: the covered types, and coreference, which has none."""
        is_done = self.coreference is Completeness.DONE
        return frozenset([*self.covered, *([Layer.COREFERENCE.value] if is_done else [])])


_FURTHER = (Layer.RELATIONS, Layer.COREFERENCE)


def finished_sql(progress: str = "progress") -> str:
    """SQL for whether an abstract is done: its entities are, and nothing that was begun in another layer is left.

    Begun layers that the project does not finish (:attr:`LabelSchema.finish`) do not count. A layer that nobody has
    begun leaves an abstract done that was finished before the layer came into use.
    """
    chosen = "(SELECT json_extract(body, '$.finish') FROM label_schema ORDER BY id DESC LIMIT 1)"
    others = "".join(
        f" AND ({progress}.{layer} <> 'in progress' OR NOT instr(coalesce({chosen}, '{layer}'), '{layer}'))"
        for layer in _FURTHER
    )
    return f"({progress}.entities = 'done'{others})"


def covered_name(layer: Layer, label: str) -> str:
    """How a type stands in :attr:`ProgressRow.covered`; without a label, what the layer is called among types."""
    if is_attribute(label):
        return label
    return f"{layer.value}:{label}" if label else layer.value


def attribute_name(label: str) -> str:
    """How an attribute stands in :attr:`ProgressRow.covered`."""
    return _ATTRIBUTES + label


def is_attribute(name: str) -> bool:
    """Whether a name of :attr:`ProgressRow.covered` is an attribute's."""
    return name.startswith(_ATTRIBUTES)


_ATTRIBUTES = "attributes:"


def attribute_layer(kind: AttributeType) -> Layer:
    """The layer with which an attribute is finished: entities, unless it stands on relations alone."""
    on_relations = all(target.startswith(RELATION_PREFIX) for target in kind.on)
    return Layer.RELATIONS if on_relations else Layer.ENTITIES


def layer_of(name: str) -> Layer | None:
    """The layer of a type in :attr:`ProgressRow.covered`; none of an attribute, which the schema knows."""
    layer = name.partition(":")[0]
    return Layer(layer) if layer in set(Layer) else None


def covered_labels(covered: Iterable[str], layer: Layer) -> list[str]:
    """The types of a layer in :attr:`ProgressRow.covered`."""
    return [
        label for name, _, label in (type_.partition(":") for type_ in covered) if name == layer
    ]


def types_in(schema: LabelSchema, layers: Collection[Layer]) -> Iterator[tuple[Layer, str]]:
    """The types of a schema in some layers; coreference has none."""
    if Layer.ENTITIES in layers:
        yield from ((Layer.ENTITIES, label) for label in schema.entity_labels)
    if Layer.RELATIONS in layers:
        yield from ((Layer.RELATIONS, label) for label in schema.relation_labels)


def names_in(schema: LabelSchema, layers: Collection[Layer]) -> set[str]:
    """The names of :attr:`ProgressRow.covered` that done layers have: types, and the attributes finished with them."""
    attributes = (kind for kind in schema.attributes if attribute_layer(kind) in layers)
    types = (covered_name(layer, label) for layer, label in types_in(schema, layers))
    return {*types, *(attribute_name(kind.label) for kind in attributes)}


class _Item:
    """What rows of items share."""

    __slots__ = ()
    KEY: ClassVar[Key] = ("id",)

    id: str
    state: State

    @property
    def key(self) -> Key:
        """Its place in the table, within a document."""
        return (self.id,)

    @property
    def in_view(self) -> bool:
        """Whether it belongs to the current view."""
        return self.state in IN_VIEW


@dataclass(frozen=True, slots=True)
class EntityRow(_Item):
    """An entity: ``was`` holds label and fragments before the first human edit."""

    TABLE: ClassVar[str] = "entity"

    id: str
    fragments: tuple[Span, ...]
    label: str
    score: float | None
    state: State
    source_id: int
    event_id: int
    was: str | None = None
    alternatives: tuple[LabelScore, ...] = ()

    @property
    def char_start(self) -> int:
        """Its first character."""
        return self.fragments[0].char_start

    @property
    def char_end(self) -> int:
        """The end (exclusive) of its last character."""
        return self.fragments[-1].char_end

    def surface(self, text: str) -> str:
        """Its string, fragments joined by one space."""
        return " ".join(fragment.of(text) for fragment in self.fragments)


@dataclass(frozen=True, slots=True)
class RelationRow(_Item):
    """A directed relation between two entities of the same document."""

    TABLE: ClassVar[str] = "relation"

    id: str
    head: str
    tail: str
    label: str
    score: float | None
    state: State
    source_id: int
    event_id: int
    was: str | None = None
    alternatives: tuple[LabelScore, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterRow(_Item):
    """A coreference cluster; its members are links."""

    TABLE: ClassVar[str] = "cluster"

    id: str
    score: float | None
    state: State
    source_id: int
    event_id: int


@dataclass(frozen=True, slots=True)
class LinkRow(_Item):
    """A mention's place in a cluster."""

    TABLE: ClassVar[str] = "link"
    KEY: ClassVar[Key] = ("cluster_id", "entity_id")

    cluster_id: str
    entity_id: str
    score: float | None
    state: State
    source_id: int
    event_id: int
    was: str | None = None

    @property
    def key(self) -> Key:
        """Its place in the table, within a document."""
        return (self.cluster_id, self.entity_id)


@dataclass(frozen=True, slots=True)
class AttributeRow(_Item):
    """What is said of an entity or a relation, or, without a target, of the abstract; flags have no value."""

    TABLE: ClassVar[str] = "attribute"

    id: str
    target: str
    label: str
    value: str
    score: float | None
    state: State
    source_id: int
    event_id: int
    was: str | None = None
    alternatives: tuple[LabelScore, ...] = ()


def type_of_row(row: ItemRow) -> str:
    """The type of an item as coverage has it: its label, the name of an attribute, nothing for a link."""
    if isinstance(row, AttributeRow):
        return attribute_name(row.label)
    return "" if isinstance(row, LinkRow) else row.label


Row = ProgressRow | EntityRow | RelationRow | ClusterRow | LinkRow | AttributeRow
ItemRow = EntityRow | RelationRow | LinkRow | AttributeRow
"""Rows that people decide, one by one."""
ROW_TYPES: dict[str, type[Row]] = {
    row_type.TABLE: row_type
    for row_type in (ProgressRow, EntityRow, RelationRow, ClusterRow, LinkRow, AttributeRow)
}
FIELDS = {table: tuple(f.name for f in fields(kind)) for table, kind in ROW_TYPES.items()}
COLUMNS = {
    table: tuple(
        column
        for name in names
        for column in (("char_start", "char_end", name) if name == "fragments" else (name,))
    )
    for table, names in FIELDS.items()
}
"""Per state table the columns without ``document_id`` and ``surface_id``."""
ADDED_IN_2 = {ProgressRow.TABLE: {"covered": "[]"}}
"""Columns that the first events of a file made at version 1 do not have, by table, with what they held then."""
_ORIGINAL = {
    EntityRow.TABLE: {"label": "label", "fragments": "fragments"},
    RelationRow.TABLE: {"label": "label", "head": "head", "tail": "tail"},
    LinkRow.TABLE: {"cluster": "cluster_id"},
    AttributeRow.TABLE: {"value": "value"},
}
"""Per state table what ``was`` holds, and from which fields."""


def to_values(row: Row) -> Values:
    """A row as column values, each of a type that both SQLite and JSON hold."""
    values: Values = {}
    for name in FIELDS[row.TABLE]:
        value = getattr(row, name)
        if name == "fragments":
            values["char_start"], values["char_end"] = row.char_start, row.char_end  # type: ignore[union-attr]
            # Only discontinuous mentions need more than the first and last character.
            pieces = (f"{fragment.char_start}-{fragment.char_end}" for fragment in value)
            value = None if len(value) == 1 else ";".join(pieces)
        elif name == "covered":
            value = json.dumps(value, separators=(",", ":"))
        elif name == "alternatives":
            value = json.dumps(value, separators=(",", ":")) if value else None
        elif type(value) in _PLAIN:
            value = _PLAIN[type(value)](value)
        values[name] = value
    return values


# Subclasses of str and int would do for SQLite, but the log is compared with what SQLite gives back.
_PLAIN: dict[type, Any] = {State: str, Completeness: str, bool: int}


def from_values(table: str, values: Mapping[str, Any]) -> Row:
    """The row of a state table, from its column values.

    Raises:
        ValueError: A value is none of those that are known.
    """
    arguments = [
        values[name] if read is None else read(values[name]) for name, read in _READERS[table]
    ]
    if table == EntityRow.TABLE:
        spans: tuple[Span, ...]
        if values["fragments"] is None:
            spans = (Span(values["char_start"], values["char_end"]),)
        else:
            pairs = (part.split("-") for part in values["fragments"].split(";"))
            spans = tuple(Span(int(start), int(end)) for start, end in pairs)
        arguments[_FRAGMENTS] = spans
    return ROW_TYPES[table](*arguments)


def _read_labels(text: str | None) -> tuple[LabelScore, ...]:
    return tuple([LabelScore(*pair) for pair in json.loads(text)]) if text else ()


_READ: dict[str, Callable[[Any], Any]] = {
    "state": State,
    "alternatives": _read_labels,
    "flagged": bool,
    "covered": lambda text: tuple(json.loads(text)),
    **dict.fromkeys(Layer, Completeness),
}
_READERS = {
    table: [(name if name != "fragments" else "char_start", _READ.get(name)) for name in names]
    for table, names in FIELDS.items()
}
"""Per state table which column each field of a row is read from, and how."""
_FRAGMENTS = FIELDS[EntityRow.TABLE].index("fragments")


def edited_from(row: ItemRow) -> str:
    """What an item was before its first edit, for ``was``: kept over further edits."""
    # Over several edits the first original stays: it is what the model said.
    return json.dumps(content_of(row)) if row.was is None else row.was


def content_of(row: ItemRow) -> Values:
    """What edits of an item change, in the form of :func:`original_of`."""
    content = {name: getattr(row, field) for name, field in _ORIGINAL[row.TABLE].items()}
    if isinstance(row, EntityRow):
        content["fragments"] = edges_of(row.fragments)
    return content


def edges_of(spans: Iterable[Span]) -> list[list[int]]:
    """Starts and ends, as JSON has them."""
    return [list(span) for span in spans]


def original_of(row: ItemRow) -> Values:
    """What an item was before its first edit, as in :func:`edited_from`; empty where nobody edited it.

    Raises:
        ValueError: ``was`` is not what sciextract writes.
    """
    if not row.was:
        return {}
    original = json.loads(row.was)
    names = _ORIGINAL[row.TABLE]
    if not isinstance(original, dict) or not all(_is_known(n, original.get(n)) for n in names):
        raise ValueError(f"{row.TABLE}.was is {row.was!r:.60}")
    return original


def _is_known(name: str, value: object) -> bool:
    """Whether a value in ``was`` has the form that sciextract writes."""
    if name != "fragments":
        return isinstance(value, str)
    pairs = value if isinstance(value, list) else []
    return bool(pairs) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
