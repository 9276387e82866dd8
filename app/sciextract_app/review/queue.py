"""The order in which items of all layers are reviewed, and how disputed an item is."""

from __future__ import annotations

import hashlib
import sqlite3
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from operator import itemgetter

from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.counts import Mention
from sciextract.store import EntityRef, ItemRef, LinkRef, LinkRow, RelationRef, review
from sciextract.store.document_state import in_text_order
from sciextract_app.shared.document_view import DocumentView

Key = tuple[float | int | str, ...]
ItemScore = Callable[[ItemRef], float]
"""Of an item: how far the sources of the abstract disagree about it, 0 to 1."""
# At one place mentions come first: what joins them is judged when they stand.
_ENTITY, _RELATION, _LINK = 0, 1, 2


class Order(StrEnum):
    """How the undecided items of an abstract follow each other."""

    TEXT = "text"
    UNCERTAINTY = "uncertainty"
    DISAGREEMENT = "disagreement"
    RANDOM = "random"


class Queue:
    """All items of a view in text order, and the undecided ones in a chosen order.

    Args:
        view: The abstract.
        order: How undecided items follow each other.
        seed: Of the random order.
        disagreement: For the order by disagreement; without it sources agree about everything.
    """

    def __init__(
        self,
        view: DocumentView,
        order: Order = Order.TEXT,
        seed: int = 0,
        disagreement: ItemScore | None = None,
    ) -> None:
        self._view = view
        self._order = order
        self._seed = seed
        self._disagreement = disagreement
        # Mentions are placed as in :meth:`place`, but without its look-ups: an abstract may have thousands.
        placed: list[tuple[Key, ItemRef, bool]] = [
            (
                (row.char_start, -row.char_end, _ENTITY, 0, row.id),
                EntityRef(row.id),
                row.state is State.UNDECIDED,
            )
            for row in view.entities
        ]
        related: list[ItemRef] = [RelationRef(row.id) for row in view.relations]
        related += chain.from_iterable(map(_items_of, view.members.values()))
        placed += [(self.place(item), item, is_undecided(view, item)) for item in related]
        placed.sort(key=itemgetter(0))
        ordered = [(place, item) for place, item, waits in placed if waits]
        if order is not Order.TEXT:
            ordered = sorted((self.key(item), item) for _, item in ordered)
        self._places = [place for place, _, _ in placed]
        self._keys = [key for key, _ in ordered]
        self.items = [item for _, item, _ in placed]
        self.undecided = [item for _, item in ordered]

    def place(self, item: ItemRef) -> Key:
        """An item's place in the text: mentions, then relations that end at them, then cluster links."""
        view = self._view
        if isinstance(item, EntityRef) and item.id in view.by_id:  # most items, so in no time
            start, end, _ = in_text_order(view.by_id[item.id])
            return start, end, _ENTITY, 0, item.id
        start, end, _ = view.place(view.anchor(item) or "")
        match item:
            case EntityRef(id=entity_id):
                return start, end, _ENTITY, 0, entity_id
            case RelationRef(id=relation_id):
                row = view.relation_by_id[relation_id]
                earlier = min(view.place(row.head), view.place(row.tail))
                return start, end, _RELATION, earlier[0], relation_id
        return start, end, _LINK, 0, f"{item.cluster_id} {item.entity_id}"

    def key(self, item: ItemRef) -> Key:
        """An item's place in the chosen order."""
        match self._order:
            case Order.UNCERTAINTY:
                row = self._view.row(item)
                score = row.score if row and row.score is not None else 1.0
                # 0 for a score of one half, where the model was least certain; 1 at both ends.
                return abs(2 * score - 1), *self.place(item)
            case Order.DISAGREEMENT:
                # Negative, so that the highest comes first while equal ones stay in the order of the text.
                return -(self._disagreement(item) if self._disagreement else 0.0), *self.place(item)
            case Order.RANDOM:
                # By a hash, so that the order does not change when other items come or go.
                name = f"{self._seed} {item}".encode("utf-8", "replace")
                chance = hashlib.blake2b(name, digest_size=8).digest()
                return int.from_bytes(chance), *self.place(item)
        return self.place(item)

    def key_at(self, char: int) -> Key:
        """A place in the chosen order before everything that starts at a character."""
        # Less than the kind of every item, so that what starts at the character is behind it.
        return (char, float("-inf")) if self._order is Order.TEXT else (float("-inf"),)

    def after(self, key: Key) -> ItemRef | None:
        """The next undecided item behind a place; at the end the first one again."""
        if not self.undecided:
            return None
        return self.undecided[bisect_right(self._keys, key) % len(self.undecided)]

    def before(self, key: Key) -> ItemRef | None:
        """The undecided item before a place; at the beginning the last one."""
        return self.undecided[bisect_left(self._keys, key) - 1] if self.undecided else None

    def neighbour(self, place: Key, step: int) -> ItemRef | None:
        """The next (1) or previous (-1) item of any state; ``None`` at the ends."""
        if step > 0:
            found = bisect_right(self._places, place)
        else:
            found = bisect_left(self._places, place) - 1
        return self.items[found] if 0 <= found < len(self.items) else None


def is_undecided(view: DocumentView, item: ItemRef) -> bool:
    """Whether a live item waits for a decision."""
    row = view.row(item)
    return row is not None and row.state is State.UNDECIDED


def _items_of(links: list[LinkRow]) -> Iterator[ItemRef]:
    """The items of a cluster: its first mention is decided with the others, unless these are decided already."""
    waits = [link.state is State.UNDECIDED for link in links]
    first = 0 if waits[0] and not any(waits[1:]) else 1
    for link in links[first:]:
        yield LinkRef(link.cluster_id, link.entity_id)


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
            # A link holds a mention and the one before it together; the first mention is held by the second.
            ids = [each.entity_id for each in view.members[item.cluster_id]]
            place = max(1, ids.index(item.entity_id))
            pair = [_mention(view, each) for each in ids[place - 1 : place + 1]]
            found = [{home.get(each, -1) for each in pair} for home in self.clusters]
            votes = sum(len(each) == 1 and -1 not in each for each in found)
            return _split(votes, len(self.clusters))
        if isinstance(item, EntityRef):
            statement = "entity", (_mention(view, item.id),), view.by_id[item.id].label
            return _split(self.counts[statement], self.voters["entity"])
        row = view.relation_by_id[item.id]
        ends = [_mention(view, row.head), _mention(view, row.tail)]
        mentions = tuple(sorted(ends) if row.label in self.symmetric else ends)
        return _split(self.counts["relation", mentions, row.label], self.voters["relation"])


class VoteCache:
    """The votes on the open abstract; decoded once, not after every key."""

    def __init__(self) -> None:
        self._sets: tuple[int, tuple[int, ...]] = (0, ())
        self._votes = Votes()

    def of(self, connection: sqlite3.Connection, view: DocumentView) -> Votes:
        """What the sources say of an abstract; runs and imports that were undone say nothing."""
        number = view.document.stored.number
        wanted = number, review.newest_sets(connection, number, MOST_SOURCES)
        if wanted == self._sets:
            return self._votes
        # Only those who review by disagreement wait for these modules.
        from sciextract.metrics.differences import Side
        from sciextract.workflows.disagreements import decided_part

        votes = Votes(symmetric=view.schema.symmetric_labels)
        for set_id in wanted[1]:
            decided = decided_part(review.annotation_set(connection, set_id))
            side = Side(AnnotatedDocument(view.document.stored.document, decided))
            statements = {("entity", each.mentions, each.label) for each in side.entities()}
            related = side.relations(votes.symmetric)
            statements |= {("relation", each.mentions, each.label) for each in related}
            votes.counts.update(statements)
            votes.voters.update({kind for kind, _, _ in statements})
            homes = enumerate(side.partition())
            home = {each: place for place, cluster in homes for each in cluster}
            if home:
                votes.clusters.append(home)
        self._sets, self._votes = wanted, votes
        return votes


def _mention(view: DocumentView, entity_id: str) -> Mention:
    row = view.by_id.get(entity_id) or view.document.entity(entity_id)
    edges = [(each.char_start, each.char_end) for each in row.fragments] if row else []
    return tuple(edge for fragment in edges for edge in fragment)


def _split(votes: int, voters: int) -> float:
    """0 where nobody or only one speaks, too."""
    return 1 - abs(2 * votes / voters - 1) if voters > 1 else 0.0
