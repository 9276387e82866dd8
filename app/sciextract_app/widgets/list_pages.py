"""Rows of a long list, fetched by page when they are looked at."""

from __future__ import annotations

from typing import Protocol

from textual.cache import LRUCache

from sciextract_app.presenter.shown import ListRow

PAGE_ROWS = 100
"""Rows that are fetched together."""
PAGES_KEPT = 16


class RowSource(Protocol):
    """Where rows come from: :class:`sciextract_app.presenter.listing.Listing`."""

    def count(self) -> int:
        """How many rows there are."""

    def page(self, offset: int, limit: int) -> list[ListRow]:
        """Some of them; fewer where abstracts have gone."""

    def place(self, number: int) -> int | None:
        """The row of an abstract, ``None`` when it is not in the list."""


class Pages:
    """The rows of a source; those looked at last are kept.

    Args:
        source: Where they come from.
    """

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self._kept: LRUCache[int, list[ListRow]] = LRUCache(PAGES_KEPT)

    def clear(self) -> None:
        """Fetch everything anew when it is looked at again."""
        self._kept.clear()

    def row(self, index: int) -> ListRow | None:
        """A row, ``None`` where there is none (any more)."""
        number, place = divmod(index, PAGE_ROWS)
        page = self._kept.get(number)
        if page is None:
            page = self.source.page(number * PAGE_ROWS, PAGE_ROWS)
            self._kept[number] = page
        return page[place] if 0 <= place < len(page) else None
