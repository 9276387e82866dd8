"""The order in which items of all layers are reviewed."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from enum import StrEnum
from operator import itemgetter

from sciextract.documents.annotations import State
from sciextract.store import EntityRef, ItemRef, LinkRef, LinkRow, RelationRef
from sciextract.store.document_state import in_text_order
from sciextract_app.presenters.document_view import DocumentView

Key = tuple[float | int | str, ...]
ItemScore = Callable[[ItemRef], float]
"""Of an item: how far the sources of the abstract disagree about it (0 to 1), or how uncertain the model was (from 0)."""
_ENTITY, _RELATION, _LINK = 0, 1, 2


class Order(StrEnum):
    """How the undecided items of an abstract follow each other."""

    TEXT = "text"
    UNCERTAINTY = "uncertainty"
    ENTROPY = "entropy"
    MARGIN = "margin"
    LEAST_CONFIDENCE = "least-confidence"
    DISAGREEMENT = "disagreement"
    RANDOM = "random"


BY_UNCERTAINTY = frozenset({Order.ENTROPY, Order.MARGIN, Order.LEAST_CONFIDENCE})
"""Orders by all that a model held possible at the place of an item, not by the score of what is shown alone."""


class Queue:
    """All items of a view in text order, and the undecided ones in a chosen order.

    Args:
        view: The abstract.
        order: How undecided items follow each other.
        seed: Of the random order.
        disagreement: For the order by disagreement; without it sources agree about everything.
        uncertainty: For the orders by entropy, margin and least confidence; without it nothing is uncertain.
        before: The queue before this one, which serves again where its view does.
    """

    def __init__(
        self,
        view: DocumentView,
        order: Order = Order.TEXT,
        seed: int = 0,
        disagreement: ItemScore | None = None,
        uncertainty: ItemScore | None = None,
        before: Queue | None = None,
    ) -> None:
        self._view = view
        self._order = order
        self._seed = seed
        self._disagreement = disagreement
        self._uncertainty = uncertainty
        self._places: list[Key]
        self._keys: list[Key]
        self.items: list[ItemRef]
        self.undecided: list[ItemRef]
        in_text = before is not None and {order, before._order} == {Order.TEXT}
        if before is not None and in_text and view.follows(before._view):
            self._places, self.items = list(before._places), list(before.items)
            self._keys, self.undecided = list(before._keys), list(before.undecided)
            self._update(before)
            return
        placed = sorted([*_mentions(view), *self._others()], key=itemgetter(0))
        ordered = [(place, item) for place, item, waits in placed if waits]
        if order is not Order.TEXT:
            ordered = sorted((self.key(item), item) for _, item in ordered)
        self._places = [place for place, _, _ in placed]
        self._keys = [key for key, _ in ordered]
        self.items = [item for _, item, _ in placed]
        self.undecided = [item for _, item in ordered]

    def _update(self, before: Queue) -> None:
        """Take out the items that have changed, and put them where they are now."""
        affected = _affected(before._view, self._view)
        for item in _items_among(before._view, affected):
            _take_out(before.place(item), item, self._places, self.items)
            _take_out(before.place(item), item, self._keys, self.undecided)
        for item in _items_among(self._view, affected):
            _put_in(self.place(item), item, self._places, self.items)
            if is_undecided(self._view, item):
                _put_in(self.place(item), item, self._keys, self.undecided)

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

    def _others(self) -> Iterator[_Placed]:
        """Relations and cluster links with their places, and whether they wait."""
        for item in _related(self._view):
            yield self.place(item), item, is_undecided(self._view, item)

    def key(self, item: ItemRef) -> Key:
        """An item's place in the chosen order."""
        match self._order:
            case Order.UNCERTAINTY:
                row = self._view.row(item)
                score = row.score if row and row.score is not None else 1.0
                return abs(2 * score - 1), *self.place(item)
            case Order.ENTROPY | Order.MARGIN | Order.LEAST_CONFIDENCE:
                return -(self._uncertainty(item) if self._uncertainty else 0.0), *self.place(item)
            case Order.DISAGREEMENT:
                return -(self._disagreement(item) if self._disagreement else 0.0), *self.place(item)
            case Order.RANDOM:
                return _chance(self._seed, item), *self.place(item)
        return self.place(item)

    def key_at(self, char: int) -> Key:
        """A place in the chosen order before everything that starts at a character."""
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


_Placed = tuple[Key, ItemRef, bool]


def _mentions(view: DocumentView) -> list[_Placed]:
    """The mentions with their places, as :meth:`Queue.place` has them, at once: an abstract may have thousands."""
    return [
        (
            (row.char_start, -row.char_end, _ENTITY, 0, row.id),
            EntityRef(row.id),
            row.state is State.UNDECIDED,
        )
        for row in view.entities
    ]


def _related(view: DocumentView) -> Iterator[ItemRef]:
    yield from (RelationRef(row.id) for row in view.relations)
    for links in view.members.values():
        yield from _items_of(links)


def _items_of(links: list[LinkRow]) -> Iterator[ItemRef]:
    """The items of a cluster."""
    for link in links if _includes_first(links) else links[1:]:
        yield LinkRef(link.cluster_id, link.entity_id)


_Ids = tuple[set[str], set[str], set[str]]
"""Of mentions, relations and clusters."""


def _affected(before: DocumentView, after: DocumentView) -> _Ids:
    """What is in another state or at another place than before."""
    keys: dict[str, set[str]] = {"entity": set(), "relation": set(), "link": set()}
    for table, key in after.changed:
        if table in keys:
            keys[table].add(key[0])
    for mention in after.moved:
        for view in (before, after):
            keys["relation"].update(row.id for row in view.relations_of.get(mention, ()))
            keys["link"].update(row.cluster_id for row in view.homes.get(mention, ()))
    return keys["entity"], keys["relation"], keys["link"]


def _items_among(view: DocumentView, ids: _Ids) -> Iterator[ItemRef]:
    """Those of some items that a view has."""
    mentions, relations, clusters = ids
    yield from (EntityRef(each) for each in mentions if each in view.by_id)
    yield from (RelationRef(each) for each in relations if each in view.relation_by_id)
    for cluster in clusters:
        if links := view.members.get(cluster):
            yield from _items_of(links)


def _take_out(place: Key, item: ItemRef, places: list[Key], items: list[ItemRef]) -> None:
    found = bisect_left(places, place)
    if found < len(items) and items[found] == item:
        del places[found], items[found]


def _put_in(place: Key, item: ItemRef, places: list[Key], items: list[ItemRef]) -> None:
    found = bisect_left(places, place)
    places.insert(found, place)
    items.insert(found, item)


def _includes_first(links: list[LinkRow]) -> bool:
    """A cluster's first mention is decided with the others, unless these are decided already."""
    return links[0].state is State.UNDECIDED and not any(
        link.state is State.UNDECIDED for link in links[1:]
    )


def _chance(seed: int, item: ItemRef) -> int:
    """A place in the random order that does not change when other items come or go."""
    name = f"{seed} {item}".encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest())
