"""One document under one event: everything that a person can do to it, and what the schema or the state refuses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sciextract.documents.annotations import ALL_LAYERS, Attribute, Layer, Span, State, new_id
from sciextract.documents.schema import ABSTRACT, RELATION_PREFIX, attribute_problems
from sciextract.errors import ActionRefusedError, IllegalPairError
from sciextract.store.actions import coreference
from sciextract.store.actions.places import check_fragments, move_edge
from sciextract.store.document_state import Context, DocumentState, existing
from sciextract.store.incoming import same_relations
from sciextract.store.rows import (
    SETTLED,
    AttributeRow,
    Completeness,
    EntityRow,
    ItemRow,
    LinkRow,
    ProgressRow,
    RelationRow,
    covered_name,
    edited_from,
    type_of_row,
)

Undecided = Literal["refuse", "accept", "reject"]
_Said = EntityRow | RelationRow | AttributeRow


@dataclass(frozen=True, slots=True)
class EntityRef:
    """An entity of a document."""

    id: str


@dataclass(frozen=True, slots=True)
class RelationRef:
    """A relation of a document."""

    id: str


@dataclass(frozen=True, slots=True)
class LinkRef:
    """A mention's place in a cluster."""

    cluster_id: str
    entity_id: str


@dataclass(frozen=True, slots=True)
class AttributeRef:
    """An attribute of an item or of the abstract."""

    id: str


ItemRef = EntityRef | RelationRef | LinkRef | AttributeRef


@dataclass(frozen=True, slots=True)
class Edit:
    """What a person does to a document; what follows from a decision is done with it.

    Every method raises :class:`~sciextract.errors.ActionRefusedError` where an item is not there (any more), or
    the schema or the state does not allow it.

    Attributes:
        doc: The document.
        context: Who acts, under which event; counts the items that change.
    """

    doc: DocumentState
    context: Context

    def entity(self, entity_id: str) -> EntityRow:
        """The entity of that id."""
        return existing(self.doc.entity(entity_id), "entity", entity_id)

    def relation(self, relation_id: str) -> RelationRow:
        """The relation of that id."""
        return existing(self.doc.relation(relation_id), "relation", relation_id)

    def decide(self, item: ItemRef, *, accept: bool) -> None:
        """The item is right, or wrong.

        What it stands on is right with it. A wrong mention takes its relations, its places in clusters and what is said
        of it along. What a person added is removed, what a model or an import made stays as an explicit negative.
        """
        row: ItemRow | None
        match item:
            case EntityRef():
                row = self.entity(item.id)
            case RelationRef():
                row = self.relation(item.id)
            case LinkRef(cluster_id, entity_id):
                link = self.doc.link(cluster_id, entity_id)
                row = existing(link, "mention of a cluster", entity_id)
            case AttributeRef():
                row = existing(self.doc.attribute(item.id), "attribute", item.id)
        (self.accept if accept else self.reject)(row)

    def set_entity_label(self, entity_id: str, label: str) -> None:
        """The entity is of another type, which the schema must have."""
        self._check_entity_label(label)
        row = self.entity(entity_id)
        if row.label == label:
            self.accept(row)
            return
        entity_id = self._merge(row, replace(row, label=label)).id
        # Relations that the new type makes illegal stay, and the person hears of it.
        schema = self.context.schema
        for relation in self.doc.relations_of(entity_id):
            head, tail = self.doc.entity(relation.head), self.doc.entity(relation.tail)
            known = relation.label in schema.relation_labels
            if not (relation.in_view and known and head and tail):
                continue
            if not schema.relation(relation.label).allows(head.label, tail.label):
                self.context.warnings.append(
                    f"{relation.label} from {head.label} to {tail.label} is not a legal pair any more"
                )
        for attribute in self.doc.attributes_of(entity_id):
            known = attribute.label in [kind.label for kind in schema.attributes_of(label)]
            if attribute.in_view and not known:
                self.context.warnings.append(f"{attribute.label} does not belong to {label}")

    def set_fragments(self, entity_id: str, fragments: tuple[Span, ...]) -> None:
        """The entity covers other characters of the text."""
        check_fragments(self.doc.text, fragments)
        row = self.entity(entity_id)
        if row.fragments != fragments:
            self._merge(row, replace(row, fragments=fragments))

    def move_edge(self, entity_id: str, edge: str, steps: int, *, characters: bool = False) -> None:
        """Move the start or the end of an entity; positive steps go towards the text's end.

        Args:
            entity_id: The entity.
            edge: ``start`` or ``end``.
            steps: Edges of tokens to pass; an edge inside a token goes to that token's edge first.
            characters: Whether steps are characters, with combining marks and without blanks, instead.
        """
        fragments = self.entity(entity_id).fragments
        self.set_fragments(entity_id, move_edge(self.doc, fragments, edge, steps, characters))

    def add_entity(self, fragments: tuple[Span, ...], label: str) -> None:
        """An entity that nobody had found. One that was undecided or rejected becomes accepted instead."""
        self._check_entity_label(label)
        check_fragments(self.doc.text, fragments)
        self._add(EntityRow(new_id(), fragments, label, *self.added))

    def set_relation_label(self, relation_id: str, label: str, *, illegal: bool = False) -> None:
        """The relation is of another type; ``illegal`` allows one that the schema does not, between its arguments.

        Raises:
            IllegalPairError: The schema does not allow it between its arguments.
        """
        row = self.relation(relation_id)
        if row.label == label:
            self.accept(row)
        else:
            self._edit_relation(row, replace(row, label=label), illegal=illegal)

    def invert_relation(self, relation_id: str, *, illegal: bool = False) -> None:
        """The relation leads the other way; ``illegal`` allows one that the schema does not.

        Raises:
            IllegalPairError: The schema does not allow it that way.
        """
        row = self.relation(relation_id)
        self._edit_relation(row, replace(row, head=row.tail, tail=row.head), illegal=illegal)

    def add_relation(self, head: str, tail: str, label: str, *, illegal: bool = False) -> None:
        """A relation that nobody had found. One that was undecided or rejected becomes accepted instead.

        New relations of a symmetric type are made in text order; ``illegal`` allows what the schema does not.

        Raises:
            IllegalPairError: The schema does not allow it between these entities.
        """
        self._check_pair(label, head, tail, illegal=illegal)
        symmetric = label in self.context.schema.symmetric_labels
        if symmetric and self.entity(tail).char_start < self.entity(head).char_start:
            head, tail = tail, head
        self._add(RelationRow(new_id(), head, tail, label, *self.added))

    def set_attribute(self, target: str, label: str, value: str = "") -> None:
        """This is said of an entity, a relation or, without a target, the abstract; its item is right, then.

        Another value takes the place of the one that is there.
        """
        self._check_attribute(target, label, value)
        known = [row for row in self.doc.attributes_of(target) if row.label == label]
        known.sort(key=lambda row: row.state is State.REJECTED)
        if not known:
            self._add(AttributeRow(new_id(), target, label, value, *self.added))
        elif known[0].value == value:
            self.accept(known[0])
        else:
            self.accept_supports(known[0])
            self._edit(known[0], value=value)
            self.touch(self.doc.layer_of(known[0]))

    def mark_done(
        self,
        layers: Collection[Layer],
        undecided: Undecided = "refuse",
        labels: Collection[str] = (),
    ) -> None:
        """Nothing is left to do in these layers; undecided items are refused, accepted or rejected.

        With labels only their items are concerned: the layer, which is done, covers these types as well from now on.
        """
        waiting = self.doc.count_undecided(*layers, labels=labels) if layers else 0
        if waiting and undecided == "refuse":
            raise ActionRefusedError(
                f"{waiting} items are still undecided",
                "decide them, or accept or reject all of them",
            )
        self._decide_undecided(layers, accept=undecided == "accept", labels=labels)
        if labels:
            covered = self.doc.progress.covered if self.doc.progress else ()
            new = [covered_name(layer, label) for layer in layers for label in labels]
            self.set_progress(covered=tuple(sorted({*covered, *new})))
        else:
            self.set_completeness(layers, Completeness.DONE)

    def accept_above(self, score: float, layers: Collection[Layer] = ALL_LAYERS) -> None:
        """Accept every undecided item with at least this score; arguments are accepted with their relation."""
        self._decide_undecided(layers, accept=True, least=score)

    def finish(self, layers: Collection[Layer]) -> None:
        """Mark those of the layers as done in which nothing waits for a decision; the others stay as they are."""
        if finished := [layer for layer in layers if not self.doc.count_undecided(layer)]:
            self.set_completeness(finished, Completeness.DONE)

    def set_completeness(self, layers: Collection[Layer], completeness: Completeness) -> None:
        """How far these layers are; items stay as they are."""
        progress = self.doc.progress or ProgressRow()
        self.doc.put(progress.with_layers(layers, completeness, self.context.schema))
        self.context.items += 1

    def set_progress(self, **changes: Any) -> None:
        """Change the completeness of layers, the flag or the note of the abstract."""
        self.doc.put(replace(self.doc.progress or ProgressRow(), **changes))
        self.context.items += 1

    def _decide_undecided(
        self,
        layers: Collection[Layer],
        *,
        accept: bool,
        least: float | None = None,
        labels: Collection[str] = (),
    ) -> None:
        """Accept or reject what is undecided, perhaps only what has at least a score, or one of some labels."""

        def waits(row: ItemRow) -> bool:
            wanted = row.state is State.UNDECIDED and (not labels or type_of_row(row) in labels)
            return wanted and (least is None or (row.score is not None and row.score >= least))

        rows: list[ItemRow] = [*self.doc.entities, *self.doc.relations]
        for row in (*rows, *self.doc.links, *self.doc.attributes):
            # As it is by now: a decision takes others along, and may remove them.
            now = self.doc.now(row)
            if now is not None and self.doc.layer_of(row) in layers and waits(now):
                (self.accept if accept else self.reject)(now)

    @property
    def added(self) -> tuple[None, State, int, int]:
        """Score, state, source and event of what a person adds."""
        return None, State.ADDED, self.context.source_id, self.context.event_id

    def _add(self, row: _Said) -> None:
        """An item that nobody had found. One that says the same and was undecided or rejected becomes accepted instead."""
        # An undecided twin is accepted rather than a rejected one brought back.
        known = sorted(self._alike(row), key=lambda twin: twin.state is State.REJECTED)
        if known and not known[0].in_view:
            self.accept(known[0])
            return
        self._check_single(row)
        self.accept_supports(row)
        self.change(row)
        self.touch(self.doc.layer_of(row))

    def accept(self, row: ItemRow) -> None:
        """An item is right as it stands, and so is what it stands on; a rejected one unless another says the same now."""
        if isinstance(row, LinkRow):
            coreference.accept_link(self, row)
            return
        if row.state is State.REJECTED:
            self._check_single(row)
        # First: an item may never hold while what it stands on is undecided (find_broken_rules).
        self.accept_supports(row)
        if row.state not in SETTLED:
            self.change(row, state=State.ACCEPTED)
            self.touch(self.doc.layer_of(row))

    def accept_supports(self, row: ItemRow) -> None:
        """What takes part in something accepted, or has something said of it, is accepted itself."""
        for item_id in _stands_on(row):
            item = self.doc.relation(item_id) or self.entity(item_id)
            if not item.in_view:
                self.accept(item)

    def change(self, row: ItemRow, **values: Any) -> None:
        """Put a row with other values in its place by this event, and count it."""
        self.doc.put(replace(row, event_id=self.context.event_id, **values))
        self.context.items += 1

    def reject(self, row: ItemRow) -> None:
        """An item is wrong, and with a mention what stands on it; a person has worked on the layer."""
        if isinstance(row, LinkRow):
            coreference.reject_link(self, row)
        elif isinstance(row, EntityRow):
            self._reject_entity(row)
        else:
            self.reject_row(row)
        self.touch(self.doc.layer_of(row))

    def _reject_entity(self, row: EntityRow) -> None:
        for relation in self.doc.relations_of(row.id):
            self.reject_row(relation)
        # Links before the row: a cluster that is left with one mention is dissolved by that.
        for link in self.doc.links_of(row.id):
            coreference.reject_link(self, link)
        if row.state is State.ADDED:
            # The row goes, and no row may speak of it: what a model proposed about it goes, too, rejected or not.
            for relation in self.doc.relations_of(row.id):
                self.doc.drop(relation)
            for link in self.doc.links_of(row.id):
                self.doc.drop(link)
        self.reject_row(row)

    def reject_row(self, row: ItemRow) -> None:
        """Remove what a person added; what a model or an import made stays as an explicit negative.

        What is said of an item goes with it.
        """
        if isinstance(row, EntityRow | RelationRow):
            for attribute in self.doc.attributes_of(row.id):
                self.reject_row(attribute)
        if row.state is State.ADDED:
            self.doc.drop(row)
            self.context.items += 1
        elif row.state is not State.REJECTED:
            self.change(row, state=State.REJECTED)

    def _edit(self, row: _Said, **values: Any) -> None:
        """What a person added stays added; anything else is edited from now on and remembers what it was."""
        # What nobody but the person ever said has no original that a model could learn from.
        if row.state is not State.ADDED:
            values |= {"state": State.EDITED, "was": edited_from(row)}
        self.change(row, **values)

    def _edit_relation(self, old: RelationRow, new: RelationRow, *, illegal: bool) -> None:
        self._check_pair(new.label, new.head, new.tail, illegal=illegal)
        twin = self._twin(new)
        if twin is not None and twin.state is State.UNDECIDED:
            self.reject(old)
            self.accept(twin)
            return
        self._check_single(new)
        self.accept_supports(new)
        self._edit(old, label=new.label, head=new.head, tail=new.tail)
        self.touch(Layer.RELATIONS)

    def _merge(self, old: EntityRow, new: EntityRow) -> EntityRow:
        """An entity is as in the new row; where a proposal says just that, it is right and takes the place of the old one.

        Gives the row that holds then. What is said of the old one goes over to it, as far as that has it not itself.
        """
        twin = self._twin(new)
        if twin is None or twin.in_view:
            self._check_single(new)
            self._edit(old, label=new.label, fragments=new.fragments)
            self.touch(Layer.ENTITIES)
            return self.entity(old.id)
        self.accept(twin)
        for relation in self.doc.relations_of(old.id):
            self._carry_relation(relation, old.id, twin.id)
        for attribute in self.doc.attributes_of(old.id):
            known = [row.label for row in self.doc.attributes_of(twin.id)]
            if attribute.state is not State.REJECTED and attribute.label not in known:
                self.change(attribute, target=twin.id)
        for link in coreference.homes_of(self, old.id):
            if link.state is not State.UNDECIDED:
                coreference.join(self, twin.id, link.cluster_id)
            elif not coreference.homes_of(self, twin.id):
                self.change(link, entity_id=twin.id)
        self.reject(self.entity(old.id))
        return self.entity(twin.id)

    def _carry_relation(self, row: RelationRow, old: str, new: str) -> None:
        """A relation leads from or to the entity that takes another one's place; undecided it stays so."""
        ends = {name: new for name in ("head", "tail") if getattr(row, name) == old}
        moved = replace(row, head=ends.get("head", row.head), tail=ends.get("tail", row.tail))
        twin = self._twin(moved)
        if row.state is State.REJECTED or moved.head == moved.tail:
            return  # it goes with the old one
        if twin is None:
            (self._edit if row.in_view else self.change)(row, **ends)
        elif row.in_view:
            self.accept(twin)

    def touch(self, layer: Layer) -> None:
        """A decision was made in a layer: it is in progress now, unless it is done."""
        progress = self.doc.progress or ProgressRow()
        if getattr(progress, layer) is Completeness.UNTOUCHED:
            changed: dict[str, Any] = {layer.value: Completeness.IN_PROGRESS}
            self.doc.put(replace(progress, **changed))

    def _check_entity_label(self, label: str) -> None:
        if label not in self.context.schema.entity_labels:
            raise _unknown("entity type", label, self.context.schema.entity_labels)

    def _check_attribute(self, target: str, label: str, value: str) -> None:
        relation, place = self.doc.relation(target), ABSTRACT
        if relation is not None:
            place = RELATION_PREFIX + relation.label
        elif target:
            place = self.entity(target).label
        said = Attribute("", target, label, value)
        for problem in attribute_problems(said, place, self.context.schema):
            raise ActionRefusedError(problem)

    def _alike(self, row: _Said) -> Sequence[_Said]:
        """Items that say the same, the row itself and rejected ones among them."""
        if isinstance(row, EntityRow):
            return [
                twin for twin in self.doc.on_fragments(row.fragments) if twin.label == row.label
            ]
        if isinstance(row, RelationRow):
            symmetric = row.label in self.context.schema.symmetric_labels
            return same_relations(self.doc, (row.head, row.tail), symmetric, row.label)
        return []

    def _twin(self, row: _Said) -> _Said | None:
        """Another item that says the same, accepted or still undecided."""
        # A rejected twin stands in nobody's way: the person may have changed their mind.
        others = (twin for twin in self._alike(row) if twin.id != row.id)
        return next((twin for twin in others if twin.state is not State.REJECTED), None)

    def _check_single(self, row: _Said) -> None:
        """Refuse an item that is there already."""
        twin = self._twin(row)
        if isinstance(twin, EntityRow):
            name = twin.surface(self.doc.text)
            how = "already" if twin.in_view else "by a proposal that is still undecided"
            raise ActionRefusedError(
                f"{name!r} is a {twin.label} {how}", "accept one, reject the other"
            )
        if isinstance(twin, RelationRow):
            names = [self.entity(end).surface(self.doc.text) for end in (twin.head, twin.tail)]
            symmetric = twin.label in self.context.schema.symmetric_labels
            hint = f"{twin.label} is symmetric: the direction makes no difference"
            problem = f"{names[0]!r} {twin.label} {names[1]!r} is there already"
            raise ActionRefusedError(problem, hint if symmetric else "")

    def _check_pair(self, label: str, head: str, tail: str, *, illegal: bool) -> None:
        """Refuse a relation that the schema does not know or, unless ``illegal``, does not allow between the entities."""
        schema = self.context.schema
        if label not in schema.relation_labels:
            raise _unknown("relation type", label, schema.relation_labels)
        if head == tail:
            raise ActionRefusedError("a relation needs two entities, head and tail are the same")
        types = self.entity(head).label, self.entity(tail).label
        # Types of mentions that came with a file may be unknown to the schema: no pair of theirs is illegal.
        known = set(schema.entity_labels)
        if not illegal and set(types) <= known and not schema.relation(label).allows(*types):
            legal = ", ".join(schema.legal_relations(*types)) or "none"
            back = ", ".join(schema.legal_relations(types[1], types[0])) or "none"
            raise IllegalPairError(
                f"{label} may not lead from {types[0]} to {types[1]}; allowed there: {legal}",
                f"the other way round: {back}",
            )


def _unknown(kind: str, label: str, allowed: tuple[str, ...]) -> ActionRefusedError:
    return ActionRefusedError(
        f"the schema has no {kind} {label!r}; choose from: {', '.join(allowed) or 'none'}"
    )


def _stands_on(row: ItemRow) -> tuple[str, ...]:
    """Ids of the items without which an item cannot be there."""
    match row:
        case RelationRow():
            return row.head, row.tail
        case LinkRow():
            return (row.entity_id,)
        case AttributeRow() if row.target:
            return (row.target,)
    return ()
