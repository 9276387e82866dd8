"""One document under one event: everything that a person can do to it, and what the schema or the state refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from sciextract.documents.annotations import ALL_LAYERS, Layer, Span, State, new_id
from sciextract.documents.schema import ABSTRACT, RELATION_PREFIX
from sciextract.errors import ActionRefusedError, IllegalPairError
from sciextract.store.actions.places import (
    END,
    START,
    next_character,
    next_token_edge,
)
from sciextract.store.document_state import Context, DocumentState
from sciextract.store.incoming import same_relations
from sciextract.store.rows import (
    AttributeRow,
    ClusterRow,
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
_Row = TypeVar("_Row", EntityRow, RelationRow, ClusterRow, LinkRow, AttributeRow)
_Said = EntityRow | RelationRow | AttributeRow

SETTLED = frozenset({State.ACCEPTED, State.EDITED, State.ADDED})
"""States in which a person has found an item right."""


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
        return _existing(self.doc.entity(entity_id), "entity", entity_id)

    def relation(self, relation_id: str) -> RelationRow:
        """The relation of that id."""
        return _existing(self.doc.relation(relation_id), "relation", relation_id)

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
                row = _existing(link, "mention of a cluster", entity_id)
            case AttributeRef():
                row = _existing(self.doc.attribute(item.id), "attribute", item.id)
        (self._accept if accept else self._reject)(row)

    def accept_items(self, items: Iterable[ItemRef]) -> None:
        """These items are right."""
        for item in items:
            self.decide(item, accept=True)

    def set_entity_label(self, entity_id: str, label: str) -> None:
        """The entity is of another type, which the schema must have."""
        self._check_entity_label(label)
        row = self.entity(entity_id)
        if row.label == label:
            self._accept(row)
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
        self._check_fragments(fragments)
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
        if edge not in (START, END):
            raise ActionRefusedError(f"unknown edge {edge!r}; choose from: {START}, {END}")
        row = self.entity(entity_id)
        fragment = row.fragments[0] if edge == START else row.fragments[-1]
        place = fragment.char_start if edge == START else fragment.char_end
        step = next_character if characters else next_token_edge
        for _ in range(abs(steps)):
            place = step(self.doc, edge, place, 1 if steps > 0 else -1)
        empty = place >= fragment.char_end if edge == START else place <= fragment.char_start
        if empty or not 0 <= place <= len(self.doc.text):  # -1 where no token is left to go to
            raise ActionRefusedError("the entity would be empty or leave the text")
        if edge == START:
            moved = (Span(place, fragment.char_end), *row.fragments[1:])
        else:
            moved = (*row.fragments[:-1], Span(fragment.char_start, place))
        self.set_fragments(entity_id, moved)

    def add_entity(self, fragments: tuple[Span, ...], label: str) -> None:
        """An entity that nobody had found. One that was undecided or rejected becomes accepted instead."""
        self._check_entity_label(label)
        self._check_fragments(fragments)
        self._add(EntityRow(new_id(), fragments, label, *self._added))

    def set_relation_label(self, relation_id: str, label: str, *, illegal: bool = False) -> None:
        """The relation is of another type; ``illegal`` allows one that the schema does not, between its arguments.

        Raises:
            IllegalPairError: The schema does not allow it between its arguments.
        """
        row = self.relation(relation_id)
        if row.label == label:
            self._accept(row)
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
        self._add(RelationRow(new_id(), head, tail, label, *self._added))

    def set_attribute(self, target: str, label: str, value: str = "") -> None:
        """This is said of an entity, a relation or, without a target, the abstract; its item is right, then.

        Another value takes the place of the one that is there.
        """
        self._check_attribute(target, label, value)
        known = [row for row in self.doc.attributes_of(target) if row.label == label]
        known.sort(key=lambda row: row.state is State.REJECTED)
        if not known:
            self._add(AttributeRow(new_id(), target, label, value, *self._added))
        elif known[0].value == value:
            self._accept(known[0])
        else:
            self._accept_supports(known[0])
            self._edit(known[0], value=value)
            self._touch(self.doc.layer_of(known[0]))

    def join(self, entity_id: str, cluster_id: str) -> None:
        """The mention belongs to this cluster, and to no other one."""
        self._check_coreference()
        cluster, others = self._living_cluster(cluster_id), self._homes(entity_id, but=cluster_id)
        self.entity(entity_id)
        for link in others:
            self._reject(link)
        self._place(entity_id, cluster, was=others[0] if others else None)
        self._settle(cluster)

    def new_cluster(self, mentions: Collection[str]) -> None:
        """These mentions mean the same thing."""
        self._check_coreference()
        if len(set(mentions)) < 2:
            raise ActionRefusedError("a cluster needs at least two mentions")
        cluster = self._add_cluster()
        # Once each, in the order in which the person pointed at them.
        for entity_id in dict.fromkeys(mentions):
            self.entity(entity_id)
            for link in self._homes(entity_id, but=cluster.id):
                self._reject(link)
            self._place(entity_id, cluster)

    def leave(self, entity_id: str) -> None:
        """The mention belongs to no cluster; a cluster that is left with one mention goes."""
        homes = self._homes(entity_id)
        if not homes:
            raise ActionRefusedError(
                f"{self.entity(entity_id).surface(self.doc.text)!r} is in no cluster"
            )
        for link in homes:
            self._reject(link)

    def merge(self, cluster_id: str, other_id: str) -> None:
        """Both clusters mean the same thing: the mentions of the other one move here, undecided ones undecided."""
        if cluster_id == other_id:
            raise ActionRefusedError("a cluster cannot be merged with itself")
        cluster, other = self._living_cluster(cluster_id), self._living_cluster(other_id)
        moving = self.doc.members(other.id)
        self.context.items += len(moving)
        for link in moving:
            self.doc.drop(link)  # without a trace: its mention moves to another cluster
            self._move(link, cluster)
        self._dissolve_if_alone(other.id)
        self._settle(cluster)

    def split(self, cluster_id: str, entity_id: str) -> None:
        """This and the later mentions mean something else: they become a cluster of their own, unless it is one alone.

        Only this mention's place is decided by that; later ones that nobody has decided stay undecided in the new
        cluster, and are rejected in the old one, so that no prediction brings them back there.
        """
        self._living_cluster(cluster_id)
        members = self.doc.members(cluster_id)
        ids = [link.entity_id for link in members]
        if entity_id not in ids[1:]:
            raise ActionRefusedError(
                "a cluster is split before one of its mentions, but not before its first one"
            )
        first, *later = members[ids.index(entity_id) :]
        # One mention makes no cluster: it only leaves this one.
        if not later:
            self._reject(first)
            return
        new = self._add_cluster()
        self.doc.drop(first)
        self.context.items += 1 + len(later)
        self._place(entity_id, new, was=first)
        for link in later:
            if link.state is State.UNDECIDED:
                self.doc.put(replace(link, state=State.REJECTED, event_id=self.context.event_id))
            else:
                self.doc.drop(link)
            self._move(link, new)
        self._dissolve_if_alone(cluster_id)

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
                (self._accept if accept else self._reject)(now)

    @property
    def _added(self) -> tuple[None, State, int, int]:
        """Score, state, source and event of what a person adds."""
        return None, State.ADDED, self.context.source_id, self.context.event_id

    def _add(self, row: _Said) -> None:
        """An item that nobody had found. One that says the same and was undecided or rejected becomes accepted instead."""
        # An undecided twin is accepted rather than a rejected one brought back.
        known = sorted(self._alike(row), key=lambda twin: twin.state is State.REJECTED)
        if known and not known[0].in_view:
            self._accept(known[0])
            return
        self._check_single(row)
        self._accept_supports(row)
        self._change(row)
        self._touch(self.doc.layer_of(row))

    def _accept(self, row: ItemRow) -> None:
        """An item is right as it stands, and so is what it stands on; a rejected one unless another says the same now."""
        if isinstance(row, LinkRow):
            self._accept_link(row)
            return
        if row.state is State.REJECTED:
            self._check_single(row)
        # First: an item may never hold while what it stands on is undecided (find_broken_rules).
        self._accept_supports(row)
        if row.state not in SETTLED:
            self._change(row, state=State.ACCEPTED)
            self._touch(self.doc.layer_of(row))

    def _accept_supports(self, row: ItemRow) -> None:
        """What takes part in something accepted, or has something said of it, is accepted itself."""
        for item_id in _stands_on(row):
            item = self.doc.relation(item_id) or self.entity(item_id)
            if not item.in_view:
                self._accept(item)

    def _change(self, row: ItemRow, **values: Any) -> None:
        """Put a row with other values in its place by this event, and count it."""
        self.doc.put(replace(row, event_id=self.context.event_id, **values))
        self.context.items += 1

    def _reject(self, row: ItemRow) -> None:
        """An item is wrong, and with a mention what stands on it; a person has worked on the layer."""
        if isinstance(row, LinkRow):
            self._reject_link(row)
        elif isinstance(row, EntityRow):
            self._reject_entity(row)
        else:
            self._reject_row(row)
        self._touch(self.doc.layer_of(row))

    def _reject_entity(self, row: EntityRow) -> None:
        for relation in self.doc.relations_of(row.id):
            self._reject_row(relation)
        # Links before the row: a cluster that is left with one mention is dissolved by that.
        for link in self.doc.links_of(row.id):
            self._reject_link(link)
        if row.state is State.ADDED:
            # The row goes, and no row may speak of it: what a model proposed about it goes, too, rejected or not.
            for relation in self.doc.relations_of(row.id):
                self.doc.drop(relation)
            for link in self.doc.links_of(row.id):
                self.doc.drop(link)
        self._reject_row(row)

    def _reject_row(self, row: ItemRow) -> None:
        """Remove what a person added; what a model or an import made stays as an explicit negative.

        What is said of an item goes with it.
        """
        if isinstance(row, EntityRow | RelationRow):
            for attribute in self.doc.attributes_of(row.id):
                self._reject_row(attribute)
        if row.state is State.ADDED:
            self.doc.drop(row)
            self.context.items += 1
        elif row.state is not State.REJECTED:
            self._change(row, state=State.REJECTED)

    def _edit(self, row: _Said, **values: Any) -> None:
        """What a person added stays added; anything else is edited from now on and remembers what it was."""
        # What nobody but the person ever said has no original that a model could learn from.
        if row.state is not State.ADDED:
            values |= {"state": State.EDITED, "was": edited_from(row)}
        self._change(row, **values)

    def _edit_relation(self, old: RelationRow, new: RelationRow, *, illegal: bool) -> None:
        self._check_pair(new.label, new.head, new.tail, illegal=illegal)
        twin = self._twin(new)
        if twin is not None and twin.state is State.UNDECIDED:
            self._reject(old)
            self._accept(twin)
            return
        self._check_single(new)
        self._accept_supports(new)
        self._edit(old, label=new.label, head=new.head, tail=new.tail)
        self._touch(Layer.RELATIONS)

    def _merge(self, old: EntityRow, new: EntityRow) -> EntityRow:
        """An entity is as in the new row; where a proposal says just that, it is right and takes the place of the old one.

        Gives the row that holds then. What is said of the old one goes over to it, as far as that has it not itself.
        """
        twin = self._twin(new)
        if twin is None or twin.in_view:
            self._check_single(new)
            self._edit(old, label=new.label, fragments=new.fragments)
            self._touch(Layer.ENTITIES)
            return self.entity(old.id)
        self._accept(twin)
        for relation in self.doc.relations_of(old.id):
            self._carry_relation(relation, old.id, twin.id)
        for attribute in self.doc.attributes_of(old.id):
            known = [row.label for row in self.doc.attributes_of(twin.id)]
            if attribute.state is not State.REJECTED and attribute.label not in known:
                self._change(attribute, target=twin.id)
        for link in self._homes(old.id):
            if link.state is not State.UNDECIDED:
                self.join(twin.id, link.cluster_id)
            elif not self._homes(twin.id):
                self._change(link, entity_id=twin.id)
        self._reject(self.entity(old.id))
        return self.entity(twin.id)

    def _carry_relation(self, row: RelationRow, old: str, new: str) -> None:
        """A relation leads from or to the entity that takes another one's place; undecided it stays so."""
        ends = {name: new for name in ("head", "tail") if getattr(row, name) == old}
        moved = replace(row, head=ends.get("head", row.head), tail=ends.get("tail", row.tail))
        twin = self._twin(moved)
        if row.state is State.REJECTED or moved.head == moved.tail:
            return  # it goes with the old one
        if twin is None:
            (self._edit if row.in_view else self._change)(row, **ends)
        elif row.in_view:
            self._accept(twin)

    def _touch(self, layer: Layer) -> None:
        """A decision was made in a layer: it is in progress now, unless it is done."""
        progress = self.doc.progress or ProgressRow()
        if getattr(progress, layer) is Completeness.UNTOUCHED:
            changed: dict[str, Any] = {layer.value: Completeness.IN_PROGRESS}
            self.doc.put(replace(progress, **changed))

    def _check_entity_label(self, label: str) -> None:
        if label not in self.context.schema.entity_labels:
            raise _unknown("entity type", label, self.context.schema.entity_labels)

    def _check_attribute(self, target: str, label: str, value: str) -> None:
        schema = self.context.schema
        if label not in [known.label for known in schema.attributes]:
            raise _unknown("attribute", label, tuple([known.label for known in schema.attributes]))
        kind, relation = schema.attribute(label), self.doc.relation(target)
        place = ABSTRACT
        if relation is not None:
            place = RELATION_PREFIX + relation.label
        elif target:
            place = self.entity(target).label
        if not kind.allows(place):
            raise ActionRefusedError(f"{label} may stand on {', '.join(kind.on)}, not on {place}")
        if not kind.takes(value):
            raise ActionRefusedError(f"{label} cannot be {value!r}; allowed: {kind.allowed_values}")

    def _check_fragments(self, fragments: tuple[Span, ...]) -> None:
        """Refuse fragments that are not ascending, non-empty ranges of the text."""
        end = 0
        for span in fragments:
            if not end <= span.char_start < span.char_end <= len(self.doc.text):
                raise ActionRefusedError(
                    f"the span [{span.char_start}, {span.char_end}) is not part of the text; expected "
                    f"non-empty ranges from {end} to {len(self.doc.text)}, ascending"
                )
            end = span.char_end
        if not fragments:
            raise ActionRefusedError("an entity needs at least one span")

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

    def _check_coreference(self) -> None:
        if not self.context.schema.coreference:
            raise ActionRefusedError(
                f"schema {self.context.schema.name!r} has no coreference",
                "set coreference = true in the schema",
            )

    def _living_cluster(self, cluster_id: str) -> ClusterRow:
        """The cluster, if it still has mentions."""
        row = self.doc.cluster(cluster_id) if self.doc.members(cluster_id) else None
        return _existing(row, "cluster", cluster_id)

    def _homes(self, entity_id: str, but: str = "") -> list[LinkRow]:
        return [
            link
            for link in self.doc.links_of(entity_id)
            if link.state is not State.REJECTED and link.cluster_id != but
        ]

    def _anchor_of(self, link: LinkRow) -> LinkRow:
        """The cluster's first mention; of a cluster that was taken apart the first one that is still free."""
        if members := self.doc.members(link.cluster_id):
            return members[0]
        for entity in self.doc.entities:
            companion = self.doc.link(link.cluster_id, entity.id)
            free = entity.state is not State.REJECTED and not self._homes(entity.id)
            if companion is not None and free and entity.id != link.entity_id:
                return companion
        raise ActionRefusedError(
            f"{self.entity(link.entity_id).surface(self.doc.text)!r} would be the only mention of its cluster",
            "join another cluster, or make a new one",
        )

    def _add_cluster(self) -> ClusterRow:
        cluster = ClusterRow(new_id(), *self._added)
        self.doc.put(cluster)
        return cluster

    def _accept_link(self, link: LinkRow) -> None:
        """The mention belongs to the cluster; so does the cluster's anchor. Both leave other clusters.

        A cluster that was taken apart, and whose other mentions went elsewhere, is refused.
        """
        anchor = self._anchor_of(link)
        for own in {anchor.key: anchor, link.key: link}.values():
            # A mention that was not in this cluster yet leaves all others; one that was, only proposed ones.
            new = own.state in (State.UNDECIDED, State.REJECTED)
            for other in self.doc.links_of(own.entity_id):
                leaves = other.state is State.UNDECIDED or (
                    new and other.state is not State.REJECTED
                )
                if leaves and other.cluster_id != own.cluster_id:
                    self._reject(other)
            self._accept_supports(own)
            if own.state not in SETTLED:
                self._change(own, state=State.ACCEPTED)
        self._accept_cluster(link.cluster_id)
        self._touch(Layer.COREFERENCE)

    def _reject_link(self, link: LinkRow) -> None:
        self._reject_row(link)
        self._dissolve_if_alone(link.cluster_id)

    def _dissolve_if_alone(self, cluster_id: str) -> None:
        """Take a cluster apart that has fewer than two mentions left."""
        members = self.doc.members(cluster_id)
        if len(members) < 2:
            for link in members:
                self._reject_row(link)
            cluster = self.doc.cluster(cluster_id)
            if cluster is not None and cluster.state is not State.REJECTED:
                self._set_cluster(cluster, State.REJECTED)

    def _place(self, entity_id: str, cluster: ClusterRow, was: LinkRow | None = None) -> None:
        """Put a mention into a cluster by a person's decision; where it was before is remembered."""
        known = self.doc.link(cluster.id, entity_id)
        link = known or LinkRow(cluster.id, entity_id, was.score if was else None, *self._added[1:])
        self._accept_supports(link)
        if known is not None:
            settled = known.state in (State.ADDED, State.EDITED)
            self._change(known, state=known.state if settled else State.ACCEPTED)
        else:
            if was is not None and was.state is not State.ADDED:
                # A mention that moves stays the model's, with the place that the model gave it.
                first = edited_from(was)
                link = replace(link, state=State.EDITED, source_id=was.source_id, was=first)
            self._change(link)
        self._touch(Layer.COREFERENCE)

    def _move(self, link: LinkRow, cluster: ClusterRow) -> None:
        """Put a mention into another cluster; one that nobody has decided waits there for its decision."""
        if link.state is not State.UNDECIDED:
            self._place(link.entity_id, cluster, was=link)
        elif self.doc.link(cluster.id, link.entity_id) is None:
            self._change(link, cluster_id=cluster.id)

    def _settle(self, cluster: ClusterRow) -> None:
        """A cluster that a person has worked on is not a guess any more; its anchor is accepted with it."""
        anchor = next(iter(self.doc.members(cluster.id)), None)
        if anchor is not None and anchor.state is State.UNDECIDED:
            self._accept_supports(anchor)
            self.doc.put(replace(anchor, state=State.ACCEPTED, event_id=self.context.event_id))
        self._accept_cluster(cluster.id)

    def _accept_cluster(self, cluster_id: str) -> None:
        cluster = self.doc.cluster(cluster_id)
        if cluster is not None and cluster.state in (State.UNDECIDED, State.REJECTED):
            self._set_cluster(cluster, State.ACCEPTED)

    def _set_cluster(self, cluster: ClusterRow, state: State) -> None:
        self.doc.put(replace(cluster, state=state, event_id=self.context.event_id))


def _existing(row: _Row | None, kind: str, item_id: str) -> _Row:
    if row is None:
        problem = f"the {kind} {item_id} is not in this abstract (any more)"
        hint = "it may have been changed in another window or by another person"
        raise ActionRefusedError(problem, hint)
    return row


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
