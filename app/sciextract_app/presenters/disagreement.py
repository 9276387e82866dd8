"""How far the sources of an abstract differ about an item: models, imported files, merged projects."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations, Candidates, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.metrics.counts import Mention
from sciextract.store import EntityRef, ItemRef, LinkRef, RelationRef, review
from sciextract.workflows.active.uncertainty import MEASURES, decisions
from sciextract_app.presenters.document_view import DocumentView

if TYPE_CHECKING:
    from sciextract.metrics.differences import Side


MOST_SOURCES = 8
"""Sources that are compared, the latest ones: a project that was often retrained has many runs."""

Statement = tuple[str, tuple[Mention, ...], str]
"""Kind, mentions and label of a prediction or decision of a source."""


@dataclass(frozen=True, slots=True)
class Votes:
    """The predictions and decisions of all sources of an abstract.

    Attributes:
        voters: How many sources have anything of a kind. One that has nothing in a whole layer may never
            have looked at it, which is not a disagreement.
        counts: How many sources have a mention or a relation.
        clusters: The cluster of every mention that has one, by source.
        symmetric: Relation labels without direction.
    """

    voters: Counter[str] = field(default_factory=Counter)
    counts: Counter[Statement] = field(default_factory=Counter)
    clusters: list[dict[Mention, int]] = field(default_factory=list)
    symmetric: frozenset[str] = frozenset()

    def disagreement(self, view: DocumentView, item: ItemRef) -> float:
        """How far they differ: 0 where all say the same, 1 where half of them do.

        A form of query by committee (Seung, Opper and Sompolinsky 1992), with the share of the votes for what
        is shown in the place of the entropy over all labels (Dagan and Engelson 1995).
        """
        if isinstance(item, LinkRef):
            return _split(self._sources_that_link(view, item), len(self.clusters))
        statement = _statement(view, item, self.symmetric)
        return _split(self.counts[statement], self.voters[statement[0]])

    def _sources_that_link(self, view: DocumentView, link: LinkRef) -> int:
        """How many sources have a mention in one cluster with the one before it, the first with the second."""
        ids = [each.entity_id for each in view.members[link.cluster_id]]
        place = max(1, ids.index(link.entity_id))
        pair = [_mention(view, each) for each in ids[place - 1 : place + 1]]
        found = [{home.get(each, -1) for each in pair} for home in self.clusters]
        return sum(len(each) == 1 and -1 not in each for each in found)


class VoteCache:
    """The votes on the open abstract; decoded once, not after every key."""

    def __init__(self) -> None:
        self._sets: tuple[int, tuple[int, ...]] = (0, ())
        self._votes = Votes()

    def of(self, connection: sqlite3.Connection, view: DocumentView) -> Votes:
        """What the sources say of an abstract; runs and imports that were undone say nothing."""
        number = view.document.stored.number
        wanted = number, review.newest_sets(connection, number, MOST_SOURCES)
        if wanted != self._sets:
            self._votes = _count(
                view, [review.annotation_set(connection, each) for each in wanted[1]]
            )
            self._sets = wanted
        return self._votes


def _count(view: DocumentView, sets: Iterable[Annotations]) -> Votes:
    from sciextract.metrics.differences import Side
    from sciextract.workflows.disagreements import decided_part

    votes = Votes(symmetric=view.schema.symmetric_labels)
    document = view.document.stored.document
    for each_set in sets:
        decided = decided_part(each_set)
        side = Side(AnnotatedDocument(document, decided))
        statements = set(_statements(side, votes.symmetric))
        votes.counts.update(statements)
        votes.voters.update({kind for kind, _, _ in statements})
        home = {each: place for place, cluster in enumerate(side.partition()) for each in cluster}
        if home:
            votes.clusters.append(home)
    return votes


def _statements(side: Side, symmetric: frozenset[str]) -> Iterator[Statement]:
    for item in side.entities():
        yield "entity", item.mentions, item.label
    for item in side.relations(symmetric):
        yield "relation", item.mentions, item.label


def _statement(
    view: DocumentView, item: EntityRef | RelationRef, symmetric: frozenset[str]
) -> Statement:
    """An item as the sources say it."""
    if isinstance(item, EntityRef):
        return "entity", (_mention(view, item.id),), view.by_id[item.id].label
    row = view.relation_by_id[item.id]
    ends = [_mention(view, row.head), _mention(view, row.tail)]
    return "relation", tuple(sorted(ends) if row.label in symmetric else ends), row.label


def _mention(view: DocumentView, entity_id: str) -> Mention:
    row = view.by_id.get(entity_id) or view.document.entity(entity_id)
    edges = [(each.char_start, each.char_end) for each in row.fragments] if row else []
    return tuple(edge for fragment in edges for edge in fragment)


def _split(votes: int, voters: int) -> float:
    """0 where nobody or only one speaks, too."""
    return 1 - abs(2 * votes / voters - 1) if voters > 1 else 0.0


Decision = tuple[Layer, tuple[Span, ...]]


class ModelUncertainty:
    """The probabilities of everything that the newest model run considered in an abstract.

    Args:
        candidates: What it considered, ``None`` when no model has seen the abstract.
    """

    def __init__(self, candidates: Candidates | None) -> None:
        self._known: dict[Decision, tuple[float, ...]] = {
            (each.layer, each.place): each.probabilities
            for each in (decisions(candidates) if candidates else ())
        }

    def of(self, view: DocumentView, measure: str, item: ItemRef) -> float:
        """The doubt about an item; where the run has nothing at its place, that of its score alone.

        Args:
            view: The abstract.
            measure: ``entropy``, ``margin`` or ``least-confidence``.
            item: An item of the view.
        """
        row = view.row(item)
        score = row.score if row and row.score is not None else 1.0
        return MEASURES[measure](self._known.get(_decision(view, item), (1 - score, score)))


def _decision(view: DocumentView, item: ItemRef) -> Decision:
    if isinstance(item, EntityRef):
        return Layer.ENTITIES, _fragments(view, item.id)
    if isinstance(item, RelationRef):
        row = view.relation_by_id[item.id]
        first, second = sorted((row.head, row.tail), key=view.place)
        return Layer.RELATIONS, (*_fragments(view, first), *_fragments(view, second))
    return Layer.COREFERENCE, _fragments(view, item.entity_id)


def _fragments(view: DocumentView, entity_id: str) -> tuple[Span, ...]:
    row = view.by_id.get(entity_id)
    return row.fragments if row else ()
