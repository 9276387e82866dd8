"""An abstract as the desk last read it: live rows with the lookups that every view needs."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain

from sciextract.documents.annotations import (
    Layer,
    Span,
    State,
)
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import Document, TokenTable
from sciextract.documents.schema import EntityType, LabelSchema, RelationType
from sciextract.store import (
    AttributeRef,
    AttributeRow,
    DocumentState,
    EntityRef,
    EntityRow,
    ItemRef,
    ItemRow,
    LinkRef,
    LinkRow,
    RelationRef,
    RelationRow,
)
from sciextract.store.coverage import Type
from sciextract.store.document_state import in_text_order
from sciextract.store.rows import ProgressRow, type_of_row
from sciextract_app.shared.view_models import (
    named,
)

Item = ItemRow


class DocumentView:
    """Everything that is not rejected in one abstract; never changed, only read anew.

    Args:
        document: The abstract with its rows.
        schema: The label schema that holds now.
        sources: Names of all sources by number.
        sought: The only types, or the layer, whose undecided items are shown; none for all.
    """

    def __init__(
        self,
        document: DocumentState,
        schema: LabelSchema,
        sources: Mapping[int, str],
        sought: tuple[Type, ...] = (),
    ) -> None:
        self.document = document
        self.schema = schema
        self.sources = sources
        self.sought = sought

        def is_shown(layer: Layer, row: Item) -> bool:
            if row.state is not State.UNDECIDED or not sought:
                return row.state is not State.REJECTED
            return (layer, "") in sought or (layer, type_of_row(row)) in sought

        self.relations = [row for row in document.relations if is_shown(Layer.RELATIONS, row)]
        self.links = [row for row in document.links if is_shown(Layer.COREFERENCE, row)]
        # What is shown stands between mentions: those are shown as well.
        needed = {end for row in self.relations for end in (row.head, row.tail)}
        needed |= {link.entity_id for link in self.links}
        self.entities = [
            row
            for row in document.entities
            if is_shown(Layer.ENTITIES, row)
            or (row.id in needed and row.state is not State.REJECTED)
        ]
        self.by_id = {row.id: row for row in self.entities}
        self.relation_by_id = {row.id: row for row in self.relations}
        self.attributes = [
            row
            for row in document.attributes
            if is_shown(document.layer_of(row), row)
            and (not row.target or row.target in self.by_id or row.target in self.relation_by_id)
        ]

    @property
    def text(self) -> str:
        """The exact text."""
        return self.document.text

    @property
    def tokens(self) -> TokenTable:
        """Its tokens."""
        return self.document.stored.document.tokens

    @property
    def progress(self) -> ProgressRow:
        """Completeness, flag and note."""
        return self.document.progress or ProgressRow()

    @cached_property
    def undecided(self) -> int:
        """How many items wait, the first mention of every cluster included."""
        rows: Iterable[Item] = chain(self.entities, self.relations, self.links, self.attributes)
        return sum(row.state is State.UNDECIDED for row in rows)

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
    def cluster_surfaces(self) -> dict[str, tuple[str, ...]]:
        """Strings of the mentions of every cluster, in text order."""
        return {
            cluster_id: tuple([self.surface(link.entity_id) for link in links])
            for cluster_id, links in self.members.items()
        }

    @cached_property
    def on_fragments(self) -> dict[tuple[Span, ...], list[EntityRow]]:
        """The mentions on certain fragments, rejected ones too."""
        found: defaultdict[tuple[Span, ...], list[EntityRow]] = defaultdict(list)
        for row in self.document.all_entities:
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

    def attributes_of(self, target: str) -> list[AttributeRow]:
        """What is said of an entity or a relation, or, without an id, of the abstract, in the order of the schema."""
        order = [kind.label for kind in self.schema.attributes]
        own = [row for row in self.attributes if row.target == target]
        return sorted(own, key=lambda row: order.index(row.label) if row.label in order else -1)

    def attribute_of(self, target: str, label: str) -> AttributeRow | None:
        """One attribute of an item or the abstract."""
        return next((row for row in self.attributes_of(target) if row.label == label), None)

    def place(self, entity_id: str) -> tuple[int, int, str]:
        """Where a mention comes in the text: by start, longer ones first."""
        row = self.by_id.get(entity_id) or self.document.entity(entity_id)
        return in_text_order(row) if row else (0, 0, entity_id)

    def surface(self, entity_id: str) -> str:
        """A mention's string."""
        row = self.by_id.get(entity_id) or self.document.entity(entity_id)
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
                return next((link for link in links if link.cluster_id == cluster_id), None)
            case AttributeRef(id=attribute_id):
                return next((row for row in self.attributes if row.id == attribute_id), None)
        return None

    def mention_of(self, item: ItemRef | None) -> str | None:
        """The mention that an item is about: itself, a relation's head, a link's mention."""
        row = self.row(item)
        if isinstance(row, AttributeRow):
            row = self.by_id.get(row.target) or self.relation_by_id.get(row.target)
        if isinstance(row, EntityRow):
            return row.id
        if isinstance(row, RelationRow):
            return row.head
        return row.entity_id if isinstance(row, LinkRow) else None

    def anchor(self, item: ItemRef) -> str | None:
        """The mention at which an item is judged: for a relation its later argument."""
        row = self.row(item)
        if isinstance(row, RelationRow):
            # Only there both have been read.
            return max(row.head, row.tail, key=self.place)
        return self.mention_of(item)

    def token_at(self, char: int) -> int:
        """The token on or before a character; 0 before the first one."""
        starts = bisect_right(self.tokens.spans, char, key=lambda span: span.char_start)
        return max(0, starts - 1)

    def sentence_of(self, entity_id: str) -> int:
        """The sentence in which a mention begins."""
        return self.tokens.sentence_of(self.token_at(self.place(entity_id)[0]))

    def token_span(self, token: int) -> Span:
        """A token's characters; an empty span where there are no tokens."""
        return self.tokens.spans[token] if 0 <= token < len(self.tokens) else Span(0, 0)

    def covering(self, char: int) -> list[EntityRow]:
        """Mentions over a character, the shortest first."""
        return self.touching(Span(char, char + 1))

    def touching(self, span: Span) -> list[EntityRow]:
        """Mentions that share a character with a span, the shortest first."""
        found = [row for row in self.entities if any(part.overlaps(span) for part in row.fragments)]
        return sorted(found, key=lambda row: row.char_end - row.char_start)


NO_LABEL = "·"


def entity_type(schema: LabelSchema, label: str) -> EntityType | None:
    """The entity type of that label, ``None`` when the schema has none."""
    return next((type_ for type_ in schema.entities if type_.label == label), None)


def relation_type(schema: LabelSchema, label: str) -> RelationType | None:
    """The relation type of that label, ``None`` when the schema has none."""
    return next((type_ for type_ in schema.relations if type_.label == label), None)


def letter(schema: LabelSchema, label: str) -> str:
    """The letter that stands for an entity type."""
    found = entity_type(schema, label)
    return found.key if found else (label[:1].lower() or NO_LABEL)


def by_digit(labels: tuple[str, ...], digit: str) -> str | None:
    """The label at a place from 1."""
    place = int(digit)
    return labels[place - 1] if 0 < place <= len(labels) else None


def by_letter(types: tuple[EntityType, ...] | tuple[RelationType, ...], key: str) -> str | None:
    """The label with that key."""
    return next((type_.label for type_ in types if type_.key == key), None)


def legal(schema: LabelSchema, head: EntityRow, tail: EntityRow) -> tuple[str, ...]:
    """Relations that may lead from one mention to another; all, where the schema does not know a type."""
    # The schema may have lost a type since: what it does not know it cannot forbid.
    if not {head.label, tail.label} <= set(schema.entity_labels):
        return schema.relation_labels
    return schema.legal_relations(head.label, tail.label)


def is_illegal(view: DocumentView, row: RelationRow) -> bool:
    """Whether the schema knows a relation but does not allow it between the types of its mentions."""
    head, tail = view.by_id.get(row.head), view.by_id.get(row.tail)
    known = relation_type(view.schema, row.label)
    if head is None or tail is None or known is None:
        return False
    is_known = {head.label, tail.label} <= set(view.schema.entity_labels)
    return is_known and not known.allows(head.label, tail.label)


def item_words(view: DocumentView, item: ItemRef) -> str:
    """An item as messages name it: a mention, that of a link, or a relation with both its ends."""
    row = view.row(item)
    if isinstance(row, RelationRow):
        return relation_words(view, row.head, row.label, row.tail)
    if isinstance(row, AttributeRow):
        return attribute_words(view, row.target, row.label, row.value)
    return named(view.surface(view.mention_of(item) or ""))


def attribute_words(view: DocumentView, target: str, label: str, value: str) -> str:
    """An attribute as messages name it: what it says, and of what."""
    said = f"{label}: {named(value, 40)}" if value else label
    if relation := view.relation_by_id.get(target):
        return f"{said} · {relation_words(view, relation.head, relation.label, relation.tail)}"
    return f"{said} · {named(view.surface(target)) if target else 'this abstract'}"


def relation_words(view: DocumentView, head: str, label: str, tail: str, longest: int = 28) -> str:
    """A relation as messages name it, with its direction if its label has one.

    Args:
        view: The abstract.
        head: The mention that it leads from.
        label: Its type.
        tail: The mention that it leads to.
        longest: Characters of a mention.
    """
    arrow = "──" if label in view.schema.symmetric_labels else "─▶"
    return (
        f"{named(view.surface(head), longest)} {label} {arrow} {named(view.surface(tail), longest)}"
    )


def title_end_of(document: Document) -> int:
    """Where a document's title ends, if its text begins with it."""
    title = bibliography_of(document.fields).title
    return len(title) if title and document.text.startswith(title) else 0
