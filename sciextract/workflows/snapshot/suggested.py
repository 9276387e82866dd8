"""Which models had proposed what stands in a document now: a score on such a document favours them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.store.state.rows import IN_VIEW

NOT_REJECTED = frozenset(State) - {State.REJECTED}
"""States of the items that plain gold consists of."""

_MODEL = "model:"


def suggesting_models(
    annotations: Annotations, states: Collection[State] = IN_VIEW
) -> frozenset[str]:
    """The models (``NAME@HASH``) that had proposed an entity, relation or cluster, of those in some states."""
    kinds: tuple[Iterable[Entity | Relation | Cluster], ...]
    kinds = (annotations.entities, annotations.relations, annotations.clusters)
    sources = {each.source for items in kinds for each in items if each.state in states}
    models = (each.removeprefix(_MODEL) for each in sources if each.startswith(_MODEL))
    return frozenset(each.partition("/")[0] for each in models)
