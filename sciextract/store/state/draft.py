"""A document's state as an action sees it: rows to look at, and a record of what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sciextract.documents.annotations import State
from sciextract.documents.document import Document
from sciextract.documents.spans import Span
from sciextract.store.log.changes import Change, change_of
from sciextract.store.state.rows import (
    ClusterRow,
    EntityRow,
    Key,
    Layer,
    LinkRow,
    ProgressRow,
    RelationRow,
    Row,
)

_Kind = TypeVar("_Kind", EntityRow, RelationRow, ClusterRow, LinkRow)


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it is kept: its number, its text and tokens."""

    number: int
    document: Document

    @property
    def text(self) -> str:
        """The document's text."""
        return self.document.text


class Draft:
    """The state rows of one document, changed in memory.

    Args:
        stored: The document.
        rows: Its state rows; without a :class:`ProgressRow` the document is not in the project.
    """

    def __init__(self, stored: Stored, rows: Iterable[Row]) -> None:
        self.stored = stored
        self._rows: dict[tuple[str, Key], Row] = {(row.TABLE, row.key): row for row in rows}
        self._before = dict(self._rows)

    @property
    def text(self) -> str:
        """The document's text."""
        return self.stored.document.text

    @property
    def progress(self) -> ProgressRow | None:
        """Completeness, flag and note; ``None`` when the document is not in the project."""
        row = self._rows.get((ProgressRow.TABLE, ()))
        return row if isinstance(row, ProgressRow) else None

    @property
    def entities(self) -> list[EntityRow]:
        """All entities, rejected ones too, in text order."""
        return sorted(self._of(EntityRow), key=in_text_order)

    @property
    def edited(self) -> list[EntityRow]:
        """Entities that were something else before a person edited them."""
        return [each for each in self._of(EntityRow) if each.was is not None]

    @property
    def relations(self) -> list[RelationRow]:
        """All relations, rejected ones too."""
        return list(self._of(RelationRow))

    @property
    def clusters(self) -> list[ClusterRow]:
        """All clusters."""
        return list(self._of(ClusterRow))

    @property
    def links(self) -> list[LinkRow]:
        """All links, rejected ones too."""
        return list(self._of(LinkRow))

    def entity(self, entity_id: str) -> EntityRow | None:
        """The entity of that id."""
        row = self._rows.get((EntityRow.TABLE, (entity_id,)))
        return row if isinstance(row, EntityRow) else None

    def relation(self, relation_id: str) -> RelationRow | None:
        """The relation of that id."""
        row = self._rows.get((RelationRow.TABLE, (relation_id,)))
        return row if isinstance(row, RelationRow) else None

    def cluster(self, cluster_id: str) -> ClusterRow | None:
        """The cluster of that id."""
        row = self._rows.get((ClusterRow.TABLE, (cluster_id,)))
        return row if isinstance(row, ClusterRow) else None

    def link(self, cluster_id: str, entity_id: str) -> LinkRow | None:
        """The link of that mention to that cluster."""
        row = self._rows.get((LinkRow.TABLE, (cluster_id, entity_id)))
        return row if isinstance(row, LinkRow) else None

    def on_fragments(self, fragments: tuple[Span, ...]) -> list[EntityRow]:
        """All entities on exactly these fragments."""
        return [each for each in self._of(EntityRow) if each.fragments == fragments]

    def relations_of(self, entity_id: str) -> list[RelationRow]:
        """All relations that an entity is an argument of."""
        return [each for each in self._of(RelationRow) if entity_id in (each.head, each.tail)]

    def links_of(self, entity_id: str) -> list[LinkRow]:
        """All links of a mention."""
        return [each for each in self._of(LinkRow) if each.entity_id == entity_id]

    def members(self, cluster_id: str) -> list[LinkRow]:
        """A cluster's links that are not rejected, in text order of their mentions."""
        links = [
            each
            for each in self._of(LinkRow)
            if each.cluster_id == cluster_id and each.state is not State.REJECTED
        ]
        return sorted(links, key=self._mention_order)

    def decided_since(self, layer: Layer, event_id: int) -> bool:
        """Whether a later event than this one decided an item of a layer."""
        items: dict[Layer, Iterable[EntityRow | RelationRow | LinkRow]] = {
            Layer.ENTITIES: self._of(EntityRow),
            Layer.RELATIONS: self._of(RelationRow),
            Layer.COREFERENCE: self._of(LinkRow),
        }
        return any(
            row.event_id > event_id and row.state is not State.UNDECIDED for row in items[layer]
        )

    def put(self, row: Row) -> None:
        """Insert a row, or replace the one in its place."""
        self._rows[row.TABLE, row.key] = row

    def drop(self, row: Row) -> None:
        """Take a row out."""
        del self._rows[row.TABLE, row.key]

    def changes(self) -> list[Change]:
        """What differs from the start, in an order in which every row finds the rows it needs."""
        places = self._before.keys() | self._rows.keys()
        found = (change_of(self._before.get(each), self._rows.get(each)) for each in sorted(places))
        return sorted((each for each in found if each is not None), key=_table_order)

    def _of(self, kind: type[_Kind]) -> Iterator[_Kind]:
        return (row for row in self._rows.values() if isinstance(row, kind))

    def _mention_order(self, link: LinkRow) -> tuple[int, int, str]:
        entity = self.entity(link.entity_id)
        return in_text_order(entity) if entity else (0, 0, link.entity_id)


def in_text_order(entity: EntityRow) -> tuple[int, int, str]:
    """A sort key: by start, longer ones first, then by id."""
    return entity.char_start, -entity.char_end, entity.id


_TABLES = ("progress", "entity", "relation", "cluster", "link")


def _table_order(change: Change) -> int:
    """Rows that come: parents first. Rows that go: children first."""
    position = _TABLES.index(change.table)
    return position if change.after is not None else -position
