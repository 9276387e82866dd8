"""What lists and filters need to know of a document, derived from its state rows after every action."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass

from sciextract.documents.annotations import State
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import EntityRow, LinkRow, RelationRow

Item = EntityRow | RelationRow | LinkRow


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of one document.

    Attributes:
        entities: In the current view or undecided.
        relations: In the current view or undecided.
        clusters: With at least two mentions in the current view or undecided.
        items: Of all layers, rejected ones too.
        undecided: Items of all layers that wait for a decision.
        decided: Items that a person accepted, edited, added or rejected.
        uncertainty: Mean over undecided items of ``1 - |2 score - 1|``: 0 certain, 1 a coin toss.
        least_score: The lowest score of an undecided item.
        greatest_score: The highest one.
        disagreements: Items on which sources differ; set by merging and by model runs.
    """

    entities: int
    relations: int
    clusters: int
    items: int
    undecided: int
    decided: int
    uncertainty: float
    least_score: float | None
    greatest_score: float | None
    disagreements: int = 0


_HUMAN = frozenset({State.ACCEPTED, State.REJECTED, State.EDITED, State.ADDED})


def refresh(connection: sqlite3.Connection, draft: Draft) -> None:
    """Write the derived rows of a document anew, inside the caller's transaction."""
    number = draft.stored.number
    connection.execute("DELETE FROM tally WHERE document_id = ?", (number,))
    if draft.progress is None:
        connection.execute("DELETE FROM summary WHERE document_id = ?", (number,))
        return
    summary = summarise(draft)
    connection.execute(
        """INSERT INTO summary VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(document_id) DO UPDATE SET
            entities = excluded.entities, relations = excluded.relations, clusters = excluded.clusters,
            items = excluded.items, undecided = excluded.undecided, decided = excluded.decided,
            uncertainty = excluded.uncertainty, least_score = excluded.least_score,
            greatest_score = excluded.greatest_score""",
        (
            *(number, summary.entities, summary.relations, summary.clusters, summary.items),
            *(summary.undecided, summary.decided, summary.uncertainty, summary.least_score),
            *(summary.greatest_score, summary.disagreements),
        ),
    )
    connection.executemany(
        "INSERT INTO tally VALUES (?, ?, ?, ?, ?)",
        [(number, *key, count) for key, count in tally(draft).items()],
    )


def set_disagreements(connection: sqlite3.Connection, number: int, count: int) -> None:
    """Note how many differences between sources wait for a decision, inside the caller's transaction."""
    connection.execute(
        "UPDATE summary SET disagreements = ? WHERE document_id = ?", (count, number)
    )


def summarise(draft: Draft) -> Summary:
    """The counts of a document's state rows."""
    entities, relations, links = list(draft.all_entities), draft.relations, draft.links
    items: list[Item] = [*entities, *relations, *links]
    undecided = [item for item in items if item.state is State.UNDECIDED]
    scores = [item.score for item in undecided if item.score is not None]
    uncertainty = [1 - abs(2 * score - 1) for score in scores]
    return Summary(
        entities=sum(each.state is not State.REJECTED for each in entities),
        relations=sum(each.state is not State.REJECTED for each in relations),
        clusters=_clusters(draft),
        items=len(items),
        undecided=len(undecided),
        decided=sum(item.state in _HUMAN for item in items),
        uncertainty=sum(uncertainty) / len(uncertainty) if uncertainty else 0.0,
        least_score=min(scores, default=None),
        greatest_score=max(scores, default=None),
    )


def _clusters(draft: Draft) -> int:
    sizes = Counter(link.cluster_id for link in draft.links if link.state is not State.REJECTED)
    return sum(size > 1 for size in sizes.values())


def tally(draft: Draft) -> Counter[tuple[str, str, str]]:
    """How many items of each kind, label and state a document has."""
    counts = Counter(("entity", each.label, str(each.state)) for each in draft.all_entities)
    counts.update(("relation", each.label, str(each.state)) for each in draft.relations)
    counts.update(("link", "", str(each.state)) for each in draft.links)
    return counts
