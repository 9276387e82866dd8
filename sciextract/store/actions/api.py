"""The actions of a project: each one is one transaction and one event, and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import ALL_LAYERS, Layer, Span
from sciextract.store.actions import coreference
from sciextract.store.actions.alike import SOURCE, propose_alike
from sciextract.store.actions.bulk import decision_about
from sciextract.store.actions.editing import (
    AttributeRef,
    Edit,
    EntityRef,
    ItemRef,
    LinkRef,
    RelationRef,
    Undecided,
)
from sciextract.store.document_state import Context, DocumentState, Outcome
from sciextract.store.events import COVER, SUGGEST_ALIKE
from sciextract.store.rows import Completeness, edges_of

if TYPE_CHECKING:
    from sciextract.store.project import Project

Work = Callable[[DocumentState, Context], object]
Seconds = float | None


class Actions:
    """Everything that a person does to items, clusters and abstracts.

    Every method takes the document's number and raises :class:`~sciextract.errors.ActionRefusedError` with
    the reason when the schema or the state does not allow it; then nothing has changed. ``seconds`` is
    the time the person spent on the decision.

    Args:
        project: The open project.

    Attributes:
        proposes: Whether strings that are decided are proposed wherever else they stand, if no model predicts their types.
    """

    def __init__(self, project: Project) -> None:
        self.proposes = False
        self._project = project

    def accept(self, number: int, item: ItemRef, seconds: Seconds = None) -> Outcome:
        """The item is right. Arguments are accepted with their relation, anchors with their mention."""
        params = _item_params(item)
        return self._do(number, "accept", params, lambda e: e.decide(item, accept=True), seconds)

    def reject(self, number: int, item: ItemRef, seconds: Seconds = None) -> Outcome:
        """The item is wrong. A mention takes its relations and its cluster links along."""
        params = _item_params(item)
        return self._do(number, "reject", params, lambda e: e.decide(item, accept=False), seconds)

    def set_label(
        self, number: int, item: EntityRef | RelationRef, label: str, seconds: Seconds = None,
        *, illegal: bool = False,
    ) -> Outcome:  # fmt: skip
        """The item is of another type; ``illegal`` keeps a relation that the schema does not allow."""

        def work(edit: Edit) -> None:
            if isinstance(item, RelationRef):
                edit.set_relation_label(item.id, label, illegal=illegal)
            else:
                edit.set_entity_label(item.id, label)

        params = {**_item_params(item), "label": label, **_illegal_param(illegal)}
        return self._do(number, "label", params, work, seconds)

    def move_edge(
        self, number: int, entity_id: str, edge: str, steps: int, seconds: Seconds = None,
        *, characters: bool = False,
    ) -> Outcome:  # fmt: skip
        """Move an entity's ``start`` or ``end`` by tokens or characters; positive steps go towards the text's end."""
        unit = "characters" if characters else "tokens"
        params = {"entity": entity_id, "edge": edge, unit: steps}
        work = partial(
            Edit.move_edge, entity_id=entity_id, edge=edge, steps=steps, characters=characters
        )
        return self._do(number, "edge", params, work, seconds)

    def set_fragments(
        self, number: int, entity_id: str, spans: Sequence[Span], seconds: Seconds = None
    ) -> Outcome:
        """The entity covers these characters."""
        params = {"entity": entity_id, "spans": edges_of(spans)}
        work = partial(Edit.set_fragments, entity_id=entity_id, fragments=tuple(spans))
        return self._do(number, "span", params, work, seconds)

    def add_entity(
        self, number: int, spans: Sequence[Span], label: str, seconds: Seconds = None
    ) -> Outcome:
        """An entity that nobody had found."""
        params = {"spans": edges_of(spans), "label": label}
        work = partial(Edit.add_entity, fragments=tuple(spans), label=label)
        return self._do(number, "add entity", params, work, seconds)

    def add_relation(
        self, number: int, head: str, tail: str, label: str, seconds: Seconds = None,
        *, illegal: bool = False,
    ) -> Outcome:  # fmt: skip
        """A relation that nobody had found, from one entity to another; ``illegal`` overrides the schema."""
        params = {"head": head, "tail": tail, "label": label, **_illegal_param(illegal)}
        work = partial(Edit.add_relation, head=head, tail=tail, label=label, illegal=illegal)
        return self._do(number, "add relation", params, work, seconds)

    def set_attribute(
        self, number: int, target: str, label: str, value: str = "", seconds: Seconds = None
    ) -> Outcome:
        """This is said of an entity, a relation or, without a target, the abstract; flags have no value."""
        # Terminals can paste lone surrogates, which a TEXT column does not take.
        safe = value.encode("utf-8", "replace").decode("utf-8")
        params = {"target": target, "label": label, "value": safe}
        work = partial(Edit.set_attribute, target=target, label=label, value=safe)
        return self._do(number, "attribute", params, work, seconds)

    def invert(
        self, number: int, relation_id: str, seconds: Seconds = None, *, illegal: bool = False
    ) -> Outcome:
        """The relation leads the other way; ``illegal`` keeps one that the schema does not allow."""
        params = {"relation": relation_id, **_illegal_param(illegal)}
        work = partial(Edit.invert_relation, relation_id=relation_id, illegal=illegal)
        return self._do(number, "invert", params, work, seconds)

    def join(
        self, number: int, entity_id: str, cluster_id: str, seconds: Seconds = None
    ) -> Outcome:
        """The mention belongs to the cluster, and to no other one."""
        params = {"entity": entity_id, "cluster": cluster_id}
        return self._do(
            number, "join", params, lambda e: coreference.join(e, entity_id, cluster_id), seconds
        )

    def new_cluster(self, number: int, mentions: Sequence[str], seconds: Seconds = None) -> Outcome:
        """These mentions mean the same thing."""
        params = {"mentions": list(mentions)}
        return self._do(
            number, "new cluster", params, lambda e: coreference.new_cluster(e, mentions), seconds
        )

    def leave(self, number: int, entity_id: str, seconds: Seconds = None) -> Outcome:
        """The mention belongs to no cluster."""
        params = {"entity": entity_id}
        return self._do(number, "leave", params, lambda e: coreference.leave(e, entity_id), seconds)

    def merge(
        self, number: int, cluster_id: str, other_id: str, seconds: Seconds = None
    ) -> Outcome:
        """Both clusters mean the same thing."""
        params = {"cluster": cluster_id, "other": other_id}
        return self._do(
            number, "merge", params, lambda e: coreference.merge(e, cluster_id, other_id), seconds
        )

    def split(
        self, number: int, cluster_id: str, entity_id: str, seconds: Seconds = None
    ) -> Outcome:
        """This mention of the cluster and the later ones mean something else."""
        params = {"cluster": cluster_id, "entity": entity_id}
        return self._do(
            number, "split", params, lambda e: coreference.split(e, cluster_id, entity_id), seconds
        )

    def apply_to_identical(self, number: int, entity_id: str) -> Outcome:
        """What was decided about this entity holds for all identical strings of the document."""
        decided = decision_about(self._project, number, entity_id)
        return self._project.perform("all identical", asdict(decided), [number], decided.apply)

    def accept_above(
        self, score: float, number: int | None = None, layers: Collection[Layer] = ALL_LAYERS
    ) -> Outcome:
        """Accept all undecided items with at least this score, in one document or in the project."""
        kind, params = "accept above", {"score": score, "layers": sorted(layers)}
        if number is not None:
            return self._do(number, kind, params, lambda e: e.accept_above(score, layers))
        # The whole project in one transaction: a backup first, because an undo of it is refused once work went on.
        return self._project.perform(
            kind, params, self._project.documents_with_undecided(score),
            lambda doc, context: Edit(doc, context).accept_above(score, layers), backup=True,
        )  # fmt: skip

    def accept_all(self, number: int, items: Sequence[ItemRef]) -> Outcome:
        """These items of a document are right; arguments are accepted with their relation. One action, one undo."""

        def work(edit: Edit) -> None:
            for item in items:
                edit.decide(item, accept=True)

        return self._do(number, "accept above", {"items": len(items)}, work)

    def propose_alike(self, number: int) -> None:
        """Propose what was decided elsewhere in an abstract that is opened. The person's own undo passes it over."""
        project = self._project
        work = partial(propose_alike, project.connection, opened=True)
        if self.proposes and project.dry_run([number], work)[0]:
            project.perform(
                SUGGEST_ALIKE, {}, [number], work, source=SOURCE.format("other abstracts")
            )

    def mark_done(
        self, number: int, layers: Collection[Layer] = ALL_LAYERS, undecided: Undecided = "refuse",
        seconds: Seconds = None, labels: Sequence[str] = (),
    ) -> Outcome:  # fmt: skip
        """Nothing is left to do in these layers, or in some types of theirs; says what becomes of undecided items."""
        # Sorted: layers come as a set too, and the log of one action should always read the same.
        params: dict[str, Any] = {"layers": sorted(layers), "undecided": undecided}
        kind, params = (COVER, params | {"types": list(labels)}) if labels else ("done", params)
        work = partial(Edit.mark_done, layers=layers, undecided=undecided, labels=labels)
        return self._do(number, kind, params, work, seconds)

    def set_completeness(
        self, number: int, completeness: Completeness, layers: Collection[Layer] = ALL_LAYERS
    ) -> Outcome:
        """How far these layers are; items stay as they are."""
        params = {"layers": sorted(layers), "completeness": completeness}
        work = partial(Edit.set_completeness, layers=layers, completeness=completeness)
        return self._do(number, "completeness", params, work)

    def flag(self, number: int, flagged: bool = True) -> Outcome:
        """Set or clear the abstract's flag."""
        params = {"flagged": flagged}
        return self._do(number, "flag", params, lambda e: e.set_progress(flagged=flagged))

    def note(self, number: int, text: str) -> Outcome:
        """Replace the abstract's note; empty text removes it."""
        # Terminals can paste lone surrogates, which a TEXT column does not take.
        safe = text.encode("utf-8", "replace").decode("utf-8")
        return self._do(number, "note", {}, lambda e: e.set_progress(note=safe))

    def _do(
        self, number: int, kind: str, params: Mapping[str, Any], work: Callable[[Edit], object],
        seconds: Seconds = None,
    ) -> Outcome:  # fmt: skip
        def on_document(doc: DocumentState, context: Context) -> None:
            work(Edit(doc, context))
            if self.proposes:
                propose_alike(self._project.connection, doc, context)

        return self._project.perform(kind, params, [number], on_document, seconds)


def _item_params(item: ItemRef) -> dict[str, Any]:
    match item:
        case EntityRef(entity_id):
            return {"entity": entity_id}
        case RelationRef(relation_id):
            return {"relation": relation_id}
        case LinkRef(cluster_id, entity_id):
            return {"cluster": cluster_id, "entity": entity_id}
        case AttributeRef(attribute_id):
            return {"attribute": attribute_id}


def _illegal_param(illegal: bool) -> dict[str, bool]:
    """For the log: only what was allowed against the schema is mentioned there."""
    return {"illegal": True} if illegal else {}
