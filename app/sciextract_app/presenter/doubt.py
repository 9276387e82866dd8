"""How unsure the model was about an item, over all that it could have been."""

from __future__ import annotations

from sciextract.documents.annotations import Candidates
from sciextract.documents.spans import Span
from sciextract.store.actions.api import EntityRef, ItemRef, RelationRef
from sciextract.workflows.active.decisions import Task, decisions
from sciextract.workflows.active.uncertainty import MEASURES
from sciextract_app.presenter.scene import Scene

Place = tuple[Task, tuple[Span, ...]]


class Doubts:
    """The probabilities of everything that the newest model run considered in an abstract.

    Args:
        candidates: What it considered, ``None`` when no model has seen the abstract.
    """

    def __init__(self, candidates: Candidates | None) -> None:
        self._known: dict[Place, tuple[float, ...]] = {
            (each.task, each.place): each.probabilities
            for each in (decisions(candidates) if candidates else ())
        }

    def of(self, scene: Scene, measure: str, item: ItemRef) -> float:
        """The doubt about an item; where the run has nothing at its place, that of its score alone.

        Args:
            scene: The abstract.
            measure: ``entropy``, ``margin`` or ``least-confidence``.
            item: An item of the scene.
        """
        row = scene.row(item)
        score = row.score if row and row.score is not None else 1.0
        return MEASURES[measure](self._known.get(_place(scene, item), (1 - score, score)))


def _place(scene: Scene, item: ItemRef) -> Place:
    if isinstance(item, EntityRef):
        return Task.ENTITY, _fragments(scene, item.id)
    if isinstance(item, RelationRef):
        row = scene.relation_by_id[item.id]
        first, second = sorted((row.head, row.tail), key=scene.place)
        return Task.RELATION, (*_fragments(scene, first), *_fragments(scene, second))
    return Task.COREFERENCE, _fragments(scene, item.entity_id)


def _fragments(scene: Scene, entity_id: str) -> tuple[Span, ...]:
    row = scene.by_id.get(entity_id)
    return row.fragments if row else ()
