"""The order in which items of all layers are reviewed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import StrEnum
from itertools import chain
from operator import itemgetter

from sciextract.documents.annotations import State
from sciextract.store import AttributeRef, EntityRef, ItemRef, LinkRef, LinkRow, RelationRef
from sciextract.store.document_state import in_text_order
from sciextract_app.shared.document_view import DocumentView

Key = tuple[float | int | str, ...]
# At one place mentions come first: what joins them is judged when they stand.
_ENTITY, _RELATION, _LINK, _ATTRIBUTE = range(4)


class Order(StrEnum):
    """How the undecided items of an abstract follow each other."""

    TEXT = "text"
    UNCERTAINTY = "uncertainty"


class Queue:
    """All items of a view in text order, and the undecided ones in a chosen order.

    Args:
        view: The abstract.
        order: How undecided items follow each other.
    """

    def __init__(self, view: DocumentView, order: Order = Order.TEXT) -> None:
        self._view = view
        self._order = order
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
        related += (AttributeRef(row.id) for row in view.attributes)
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
            case LinkRef(cluster_id=cluster_id, entity_id=entity_id):
                return start, end, _LINK, 0, f"{cluster_id} {entity_id}"
        return start, end, _ATTRIBUTE, 0, item.id

    def key(self, item: ItemRef) -> Key:
        """An item's place in the chosen order."""
        if self._order is Order.TEXT:
            return self.place(item)
        row = self._view.row(item)
        score = row.score if row and row.score is not None else 1.0
        # 0 for a score of one half, where the model was least certain; 1 at both ends.
        return abs(2 * score - 1), *self.place(item)

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
