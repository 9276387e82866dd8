"""The actions of a project: each one is one transaction and one event, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import Layer
from sciextract.documents.spans import Span
from sciextract.store.actions import bulk, coreference, entities, guard, marks, relations
from sciextract.store.context import Context, Outcome
from sciextract.store.document_state import DocumentState
from sciextract.store.rows import Completeness

if TYPE_CHECKING:
    from sciextract.store.project import Project

Work = Callable[[DocumentState, Context], object]


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


ItemRef = EntityRef | RelationRef | LinkRef


class Actions:
    """Everything that a person does to items, clusters and abstracts.

    Every method takes the document's number and raises :class:`~sciextract.errors.ActionRefusedError` with
    the reason when the schema or the state does not allow it; then nothing has changed. ``seconds`` is
    the time the person spent on the decision.

    Args:
        project: The open project.
    """

    def __init__(self, project: Project) -> None:
        self._project = project

    def accept(self, number: int, item: ItemRef, seconds: float | None = None) -> Outcome:
        """The item is right. Arguments are accepted with their relation, anchors with their mention."""
        return self._one(number, "accept", _item_params(item), _accept(item), seconds)

    def reject(self, number: int, item: ItemRef, seconds: float | None = None) -> Outcome:
        """The item is wrong. A mention takes its relations and its cluster links along."""
        return self._one(number, "reject", _item_params(item), _reject(item), seconds)

    def set_label(
        self,
        number: int,
        item: EntityRef | RelationRef,
        label: str,
        seconds: float | None = None,
        *,
        illegal: bool = False,
    ) -> Outcome:
        """The item is of another type; ``illegal`` keeps a relation that the schema does not allow."""
        params = {**_item_params(item), "label": label, **_overridden(illegal)}
        if isinstance(item, EntityRef):
            work = _call(entities.set_entity_label, item.id, label)
        else:
            work = partial(
                relations.set_relation_label, relation_id=item.id, label=label, illegal=illegal
            )
        return self._one(number, "label", params, work, seconds)

    def move_edge(
        self,
        number: int,
        entity_id: str,
        edge: str,
        steps: int,
        seconds: float | None = None,
        *,
        characters: bool = False,
    ) -> Outcome:
        """Move an entity's ``start`` or ``end`` by tokens or characters; positive steps go towards the text's end."""
        params = {
            "entity": entity_id,
            "edge": edge,
            "characters" if characters else "tokens": steps,
        }
        work = partial(
            entities.move_edge, entity_id=entity_id, edge=edge, steps=steps, characters=characters
        )
        return self._one(number, "edge", params, work, seconds)

    def set_fragments(
        self, number: int, entity_id: str, spans: Sequence[Span], seconds: float | None = None
    ) -> Outcome:
        """The entity covers these characters."""
        params = {"entity": entity_id, "spans": _edges(spans)}
        work = _call(entities.set_fragments, entity_id, tuple(spans))
        return self._one(number, "span", params, work, seconds)

    def add_entity(
        self, number: int, spans: Sequence[Span], label: str, seconds: float | None = None
    ) -> Outcome:
        """An entity that nobody had found."""
        params = {"spans": _edges(spans), "label": label}
        work = _call(entities.add_entity, tuple(spans), label)
        return self._one(number, "add entity", params, work, seconds)

    def add_relation(
        self,
        number: int,
        head: str,
        tail: str,
        label: str,
        seconds: float | None = None,
        *,
        illegal: bool = False,
    ) -> Outcome:
        """A relation that nobody had found, from one entity to another; ``illegal`` overrides the schema."""
        params = {"head": head, "tail": tail, "label": label, **_overridden(illegal)}
        work = partial(relations.add_relation, head=head, tail=tail, label=label, illegal=illegal)
        return self._one(number, "add relation", params, work, seconds)

    def invert(
        self,
        number: int,
        relation_id: str,
        seconds: float | None = None,
        *,
        illegal: bool = False,
    ) -> Outcome:
        """The relation leads the other way; ``illegal`` keeps one that the schema does not allow."""
        params = {"relation": relation_id, **_overridden(illegal)}
        work = partial(relations.invert_relation, relation_id=relation_id, illegal=illegal)
        return self._one(number, "invert", params, work, seconds)

    def join(
        self, number: int, entity_id: str, cluster_id: str, seconds: float | None = None
    ) -> Outcome:
        """The mention belongs to the cluster, and to no other one."""
        params = {"entity": entity_id, "cluster": cluster_id}
        return self._one(
            number, "join", params, _call(coreference.join, entity_id, cluster_id), seconds
        )

    def new_cluster(
        self, number: int, mentions: Sequence[str], seconds: float | None = None
    ) -> Outcome:
        """These mentions mean the same thing."""
        work = _call(coreference.new_cluster, tuple(mentions))
        return self._one(number, "new cluster", {"mentions": list(mentions)}, work, seconds)

    def leave(self, number: int, entity_id: str, seconds: float | None = None) -> Outcome:
        """The mention belongs to no cluster."""
        work = _call(coreference.leave, entity_id)
        return self._one(number, "leave", {"entity": entity_id}, work, seconds)

    def merge(
        self, number: int, cluster_id: str, other_id: str, seconds: float | None = None
    ) -> Outcome:
        """Both clusters mean the same thing."""
        params = {"cluster": cluster_id, "other": other_id}
        return self._one(
            number, "merge", params, _call(coreference.merge, cluster_id, other_id), seconds
        )

    def split(
        self, number: int, cluster_id: str, entity_id: str, seconds: float | None = None
    ) -> Outcome:
        """This mention of the cluster and the later ones mean something else."""
        params = {"cluster": cluster_id, "entity": entity_id}
        return self._one(
            number, "split", params, _call(coreference.split, cluster_id, entity_id), seconds
        )

    def apply_to_identical(self, number: int, entity_id: str) -> Outcome:
        """What was decided about this entity holds for all identical strings of the document."""
        decided = bulk.decided_about(self._project, number, entity_id)
        return self._one(number, "all identical", asdict(decided), decided.spread, None)

    def accept_above(
        self, score: float, number: int | None = None, layers: Collection[Layer] = tuple(Layer)
    ) -> Outcome:
        """Accept all undecided items with at least this score, in one document or in the project."""
        params = {"score": score, "layers": sorted(layers)}
        work = _call(bulk.accept_above, score, tuple(layers))
        whole = number is None
        return self._project.perform(
            "accept above", params, self._numbers(number, score), work, backup=whole
        )

    def mark_done(
        self,
        number: int,
        layers: Collection[Layer] = tuple(Layer),
        undecided: marks.Undecided = "refuse",
        seconds: float | None = None,
    ) -> Outcome:
        """Nothing is left to do in these layers; says what becomes of undecided items."""
        params = {"layers": sorted(layers), "undecided": undecided}
        work = _call(marks.mark_done, tuple(layers), undecided)
        return self._one(number, "done", params, work, seconds)

    def set_completeness(
        self, number: int, completeness: Completeness, layers: Collection[Layer] = tuple(Layer)
    ) -> Outcome:
        """How far these layers are; items stay as they are."""
        params = {"layers": sorted(layers), "completeness": completeness}
        work = _call(marks.set_completeness, tuple(layers), completeness)
        return self._one(number, "completeness", params, work, None)

    def flag(self, number: int, flagged: bool = True) -> Outcome:
        """Set or clear the abstract's flag."""
        return self._one(number, "flag", {"flagged": flagged}, _call(marks.flag, flagged), None)

    def note(self, number: int, text: str) -> Outcome:
        """Replace the abstract's note."""
        return self._one(number, "note", {}, _call(marks.note, text), None)

    def _one(
        self, number: int, kind: str, params: dict[str, Any], work: Work, seconds: float | None
    ) -> Outcome:
        return self._project.perform(kind, params, [number], work, seconds)

    def _numbers(self, number: int | None, least: float) -> Iterable[int]:
        if number is not None:
            return [number]
        return self._project.documents_with_undecided(least)


def _call(function: Callable[..., object], *arguments: object) -> Work:
    """An action's function with its own arguments, still without document and context."""
    return lambda doc, context: function(doc, context, *arguments)


def _accept(item: ItemRef) -> Work:
    if isinstance(item, LinkRef):
        return lambda doc, context: coreference.accept_link(
            doc, context, guard.link_of(doc, item.cluster_id, item.entity_id)
        )
    entity = isinstance(item, EntityRef)
    return _call(entities.accept_entity if entity else relations.accept_relation, item.id)


def _reject(item: ItemRef) -> Work:
    if isinstance(item, LinkRef):
        return lambda doc, context: coreference.reject_link(
            doc, context, guard.link_of(doc, item.cluster_id, item.entity_id)
        )
    entity = isinstance(item, EntityRef)
    return _call(entities.reject_entity if entity else relations.reject_relation, item.id)


def _item_params(item: ItemRef) -> dict[str, Any]:
    match item:
        case EntityRef(id=entity_id):
            return {"entity": entity_id}
        case RelationRef(id=relation_id):
            return {"relation": relation_id}
    return {"cluster": item.cluster_id, "entity": item.entity_id}


def _overridden(illegal: bool) -> dict[str, bool]:
    return {"illegal": True} if illegal else {}


def _edges(spans: Sequence[Span]) -> list[list[int]]:
    return [[each.char_start, each.char_end] for each in spans]
