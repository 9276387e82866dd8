"""An abstract as the desk last read it: live rows with the lookups that every view needs."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from sciextract.documents.annotations import State
from sciextract.documents.schema import LabelSchema
from sciextract.documents.spans import Span
from sciextract.documents.tokens import TokenTable
from sciextract.store.actions.api import EntityRef, ItemRef, LinkRef, RelationRef
from sciextract.store.state.draft import Draft, in_text_order
from sciextract.store.state.rows import (
    EntityRow,
    LinkRow,
    ProgressRow,
    RelationRow,
)

Item = EntityRow | RelationRow | LinkRow


class Scene:
    """Everything that is not rejected in one abstract; never changed, only read anew.

    Args:
        draft: The abstract with its rows.
        schema: The label schema that holds now.
        sources: Names of all sources by number.
    """

    def __init__(self, draft: Draft, schema: LabelSchema, sources: Mapping[int, str]) -> None:
        self.draft = draft
        self.schema = schema
        self.sources = sources
        self.entities = [row for row in draft.entities if row.state is not State.REJECTED]
        self.relations = [row for row in draft.relations if row.state is not State.REJECTED]
        self.links = [row for row in draft.links if row.state is not State.REJECTED]
        self.by_id = {row.id: row for row in self.entities}
        self.relation_by_id = {row.id: row for row in self.relations}

    @property
    def text(self) -> str:
        """The exact text."""
        return self.draft.text

    @property
    def tokens(self) -> TokenTable:
        """Its tokens."""
        return self.draft.stored.document.tokens

    @property
    def progress(self) -> ProgressRow:
        """Completeness, flag and note."""
        return self.draft.progress or ProgressRow()

    @cached_property
    def members(self) -> dict[str, list[LinkRow]]:
        """Mentions of every cluster, in text order."""
        found: defaultdict[str, list[LinkRow]] = defaultdict(list)
        for link in self.links:
            found[link.cluster_id].append(link)
        for links in found.values():
            links.sort(key=lambda link: self.place(link.entity_id))
        return dict(sorted(found.items(), key=lambda pair: self.place(pair[1][0].entity_id)))

    @cached_property
    def on_fragments(self) -> dict[tuple[Span, ...], list[EntityRow]]:
        """The mentions on certain fragments, rejected ones too."""
        found: defaultdict[tuple[Span, ...], list[EntityRow]] = defaultdict(list)
        for row in self.draft.all_entities:
            found[row.fragments].append(row)
        return dict(found)

    @cached_property
    def homes(self) -> dict[str, list[LinkRow]]:
        """The cluster links of every mention that has some."""
        found: defaultdict[str, list[LinkRow]] = defaultdict(list)
        for link in self.links:
            found[link.entity_id].append(link)
        return dict(found)

    @cached_property
    def relations_of(self) -> dict[str, list[RelationRow]]:
        """The relations of every mention that has some."""
        found: defaultdict[str, list[RelationRow]] = defaultdict(list)
        for relation in self.relations:
            for end in {relation.head, relation.tail}:
                found[end].append(relation)
        return dict(found)

    def place(self, entity_id: str) -> tuple[int, int, str]:
        """Where a mention comes in the text: by start, longer ones first."""
        row = self.by_id.get(entity_id) or self.draft.entity(entity_id)
        return in_text_order(row) if row else (0, 0, entity_id)

    def surface(self, entity_id: str) -> str:
        """A mention's string."""
        row = self.by_id.get(entity_id) or self.draft.entity(entity_id)
        return row.surface(self.text) if row else "?"

    def row(self, item: ItemRef | None) -> Item | None:
        """The live row of an item; ``None`` when it is rejected or gone."""
        match item:
            case EntityRef(id=entity_id):
                return self.by_id.get(entity_id)
            case RelationRef(id=relation_id):
                return self.relation_by_id.get(relation_id)
            case LinkRef(cluster_id=cluster_id, entity_id=entity_id):
                links = self.homes.get(entity_id, ())
                return next((each for each in links if each.cluster_id == cluster_id), None)
        return None

    def mention_of(self, item: ItemRef | None) -> str | None:
        """The mention that an item is about: itself, a relation's head, a link's mention."""
        row = self.row(item)
        if isinstance(row, EntityRow):
            return row.id
        if isinstance(row, RelationRow):
            return row.head
        return row.entity_id if row else None

    def anchor(self, item: ItemRef) -> str | None:
        """The mention at which an item is judged: for a relation its later argument."""
        row = self.row(item)
        if isinstance(row, RelationRow):
            return max(row.head, row.tail, key=self.place)
        return self.mention_of(item)

    def token_at(self, char: int) -> int:
        """The token on or before a character; 0 before the first one."""
        starts = bisect_right(self.tokens.spans, char, key=lambda span: span.char_start)
        return max(0, starts - 1)

    def token_span(self, token: int) -> Span:
        """A token's characters; an empty span where there are no tokens."""
        return self.tokens.spans[token] if 0 <= token < len(self.tokens) else Span(0, 0)

    def covering(self, char: int) -> list[EntityRow]:
        """Mentions over a character, the shortest first."""
        found = [row for row in self.entities if any(_has(each, char) for each in row.fragments)]
        return sorted(found, key=lambda row: row.char_end - row.char_start)

    def touching(self, span: Span) -> list[EntityRow]:
        """Mentions that share a character with a span, the shortest first."""
        found = [row for row in self.entities if any(each.overlaps(span) for each in row.fragments)]
        return sorted(found, key=lambda row: row.char_end - row.char_start)


def _has(span: Span, char: int) -> bool:
    return span.char_start <= char < span.char_end
