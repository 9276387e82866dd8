"""The actions of a project: each one is one transaction and one event, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import ALL_LAYERS, Layer
from sciextract.documents.spans import Span
from sciextract.store.actions import bulk, coreference, entities, guard, relations
from sciextract.store.document_state import Context, DocumentState, Outcome
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
        return self._decide(number, item, "accept", seconds)

    def reject(self, number: int, item: ItemRef, seconds: float | None = None) -> Outcome:
        """The item is wrong. A mention takes its relations and its cluster links along."""
        return self._decide(number, item, "reject", seconds)

    def _decide(self, number: int, item: ItemRef, kind: str, seconds: float | None) -> Outcome:
        work = partial(_decide_items, items=[item], accept=kind == "accept")
        return self._perform(number, kind, _item_params(item), work, seconds)

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
        params = {**_item_params(item), "label": label, **_illegal_param(illegal)}
        work: Work = partial(entities.set_entity_label, entity_id=item.id, label=label)
        if isinstance(item, RelationRef):
            work = partial(
                relations.set_relation_label, relation_id=item.id, label=label, illegal=illegal
            )
        return self._perform(number, "label", params, work, seconds)

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
        unit = "characters" if characters else "tokens"
        params = {"entity": entity_id, "edge": edge, unit: steps}
        work = partial(
            entities.move_edge, entity_id=entity_id, edge=edge, steps=steps, characters=characters
        )
        return self._perform(number, "edge", params, work, seconds)

    def set_fragments(
        self, number: int, entity_id: str, spans: Sequence[Span], seconds: float | None = None
    ) -> Outcome:
        """The entity covers these characters."""
        params = {"entity": entity_id, "spans": _edges(spans)}
        work = partial(entities.set_fragments, entity_id=entity_id, fragments=tuple(spans))
        return self._perform(number, "span", params, work, seconds)

    def add_entity(
        self, number: int, spans: Sequence[Span], label: str, seconds: float | None = None
    ) -> Outcome:
        """An entity that nobody had found."""
        params = {"spans": _edges(spans), "label": label}
        work = partial(entities.add_entity, fragments=tuple(spans), label=label)
        return self._perform(number, "add entity", params, work, seconds)

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
        params = {"head": head, "tail": tail, "label": label, **_illegal_param(illegal)}
        work = partial(relations.add_relation, head=head, tail=tail, label=label, illegal=illegal)
        return self._perform(number, "add relation", params, work, seconds)

    def invert(
        self,
        number: int,
        relation_id: str,
        seconds: float | None = None,
        *,
        illegal: bool = False,
    ) -> Outcome:
        """The relation leads the other way; ``illegal`` keeps one that the schema does not allow."""
        params = {"relation": relation_id, **_illegal_param(illegal)}
        work = partial(relations.invert_relation, relation_id=relation_id, illegal=illegal)
        return self._perform(number, "invert", params, work, seconds)

    def join(
        self, number: int, entity_id: str, cluster_id: str, seconds: float | None = None
    ) -> Outcome:
        """The mention belongs to the cluster, and to no other one."""
        params = {"entity": entity_id, "cluster": cluster_id}
        work = partial(coreference.join, entity_id=entity_id, cluster_id=cluster_id)
        return self._perform(number, "join", params, work, seconds)

    def new_cluster(
        self, number: int, mentions: Sequence[str], seconds: float | None = None
    ) -> Outcome:
        """These mentions mean the same thing."""
        work = partial(coreference.new_cluster, mentions=tuple(mentions))
        return self._perform(number, "new cluster", {"mentions": list(mentions)}, work, seconds)

    def leave(self, number: int, entity_id: str, seconds: float | None = None) -> Outcome:
        """The mention belongs to no cluster."""
        work = partial(coreference.leave, entity_id=entity_id)
        return self._perform(number, "leave", {"entity": entity_id}, work, seconds)

    def merge(
        self, number: int, cluster_id: str, other_id: str, seconds: float | None = None
    ) -> Outcome:
        """Both clusters mean the same thing."""
        params = {"cluster": cluster_id, "other": other_id}
        work = partial(coreference.merge, cluster_id=cluster_id, other_id=other_id)
        return self._perform(number, "merge", params, work, seconds)

    def split(
        self, number: int, cluster_id: str, entity_id: str, seconds: float | None = None
    ) -> Outcome:
        """This mention of the cluster and the later ones mean something else."""
        params = {"cluster": cluster_id, "entity": entity_id}
        work = partial(coreference.split, cluster_id=cluster_id, entity_id=entity_id)
        return self._perform(number, "split", params, work, seconds)

    def apply_to_identical(self, number: int, entity_id: str) -> Outcome:
        """What was decided about this entity holds for all identical strings of the document."""
        decision = bulk.decision_about(self._project, number, entity_id)
        return self._perform(number, "all identical", asdict(decision), decision.apply)

    def accept_above(
        self, score: float, number: int | None = None, layers: Collection[Layer] = ALL_LAYERS
    ) -> Outcome:
        """Accept all undecided items with at least this score, in one document or in the project."""
        params = {"score": score, "layers": sorted(layers)}
        work = partial(bulk.accept_above, score=score, layers=layers)
        if number is not None:
            return self._perform(number, "accept above", params, work)
        # The whole project in one transaction: a backup first, because an undo of it is refused once work went on.
        numbers = self._project.documents_with_undecided(score)
        return self._project.perform("accept above", params, numbers, work, backup=True)

    def accept_all(self, number: int, items: Sequence[ItemRef]) -> Outcome:
        """These items of a document are right; arguments are accepted with their relation. One action, one undo."""
        work = partial(_decide_items, items=items, accept=True)
        return self._perform(number, "accept above", {"items": len(items)}, work)

    def mark_done(
        self,
        number: int,
        layers: Collection[Layer] = ALL_LAYERS,
        undecided: bulk.Undecided = "refuse",
        seconds: float | None = None,
    ) -> Outcome:
        """Nothing is left to do in these layers; says what becomes of undecided items."""
        # Sorted: layers come as a set too, and the log of one action should always read the same.
        params = {"layers": sorted(layers), "undecided": undecided}
        work = partial(bulk.mark_done, layers=layers, undecided=undecided)
        return self._perform(number, "done", params, work, seconds)

    def set_completeness(
        self, number: int, completeness: Completeness, layers: Collection[Layer] = ALL_LAYERS
    ) -> Outcome:
        """How far these layers are; items stay as they are."""
        params = {"layers": sorted(layers), "completeness": completeness}
        work = partial(bulk.set_completeness, layers=layers, completeness=completeness)
        return self._perform(number, "completeness", params, work)

    def flag(self, number: int, flagged: bool = True) -> Outcome:
        """Set or clear the abstract's flag."""
        work = partial(bulk.flag, flagged=flagged)
        return self._perform(number, "flag", {"flagged": flagged}, work)

    def note(self, number: int, text: str) -> Outcome:
        """Replace the abstract's note."""
        return self._perform(number, "note", {}, partial(bulk.note, text=text))

    def _perform(
        self,
        number: int,
        kind: str,
        params: dict[str, Any],
        work: Work,
        seconds: float | None = None,
    ) -> Outcome:
        return self._project.perform(kind, params, [number], work, seconds)


def _decide_items(
    doc: DocumentState, context: Context, items: Sequence[ItemRef], accept: bool
) -> None:
    for item in items:
        match item:
            case EntityRef():
                on_entity = entities.accept_entity if accept else entities.reject_entity
                on_entity(doc, context, item.id)
            case RelationRef():
                on_relation = relations.accept_relation if accept else relations.reject_relation
                on_relation(doc, context, item.id)
            case LinkRef():
                on_link = coreference.accept_link if accept else coreference.reject_link
                on_link(doc, context, guard.link_of(doc, item.cluster_id, item.entity_id))


def _item_params(item: ItemRef) -> dict[str, Any]:
    match item:
        case EntityRef(id=entity_id):
            return {"entity": entity_id}
        case RelationRef(id=relation_id):
            return {"relation": relation_id}
    return {"cluster": item.cluster_id, "entity": item.entity_id}


def _illegal_param(illegal: bool) -> dict[str, bool]:
    """For the log: only what was allowed against the schema is mentioned there."""
    return {"illegal": True} if illegal else {}


def _edges(spans: Sequence[Span]) -> list[list[int]]:
    return [[each.char_start, each.char_end] for each in spans]
