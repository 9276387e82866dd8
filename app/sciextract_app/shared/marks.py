"""How mentions and clusters of an abstract are marked in its text."""

from __future__ import annotations

import string
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sciextract.store import EntityRow
from sciextract_app.shared.document_view import DocumentView, letter
from sciextract_app.shared.view_models import Mark, Role

# Without c and C: where a letter is asked for, c means the last cluster.
ALL = [free for free in string.ascii_letters if free not in "cC"]

NO_LETTER = "*"
"""What a cluster has when the letters have run out; it is reached through one of its mentions."""


class ClusterLetters:
    """Which cluster has which letter."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def give(self, view: DocumentView) -> None:
        """Give letters to clusters that have none, in text order; those that went keep theirs."""
        for cluster_id in view.members:
            if cluster_id not in self._of and len(self._of) < len(ALL):
                self._of[cluster_id] = ALL[len(self._of)]

    def of(self, cluster_id: str) -> str:
        """A cluster's letter."""
        return self._of.get(cluster_id, NO_LETTER)

    def cluster(self, letter: str, view: DocumentView) -> str | None:
        """The living cluster of that letter."""
        return next((mention for mention in view.members if self._of.get(mention) == letter), None)


class MarkCache:
    """The marks of the last view without focus; those of rows that a key has not changed serve again."""

    def __init__(self) -> None:
        self._view: DocumentView | None = None
        self._marks: list[Mark] = []
        self._known: dict[str, tuple[EntityRow, tuple[str, int, str], tuple[Mark, ...]]] = {}
        """By mention: its row; the key of its label, its depth and the letters of its clusters; its marks."""

    def of(
        self,
        view: DocumentView,
        letters: ClusterLetters,
        focused: str | None,
        partners: Mapping[str, Role],
    ) -> tuple[Mark, ...]:
        """All marks of a view, outer ones first.

        Args:
            view: The abstract.
            letters: Of its clusters.
            focused: The mention in focus, or that of the cluster link in focus.
            partners: Mentions that belong to the focus, with their roles; of a link its own mention, too.
        """
        if view is not self._view:
            self._read(view, letters)
        changed = {*partners, focused}
        return tuple(
            replace(
                mark,
                focused=mark.item_id == focused,
                partner=mark.item_id in partners and mark.item_id != focused,
                role=partners.get(mark.item_id, Role.NONE),
            )
            if mark.item_id in changed
            else mark
            for mark in self._marks
        )

    def _read(self, view: DocumentView, letters: ClusterLetters) -> None:
        keys = {type_.label: type_.key for type_ in view.schema.entities}
        before, self._known, self._marks, self._view = self._known, {}, [], view
        for row, depth in zip(view.entities, depths(view.entities), strict=True):
            clusters = "".join(letters.of(link.cluster_id) for link in view.homes.get(row.id, ()))
            look = keys.get(row.label) or letter(view.schema, row.label), depth, clusters
            known = before.get(row.id)
            if known is None or known[0] is not row or known[1] != look:
                known = row, look, tuple(_marks(row, *look))
            self._known[row.id] = known
            self._marks += known[2]


def depths(rows: list[EntityRow]) -> Iterator[int]:
    """How many other mentions enclose each one; rows come in text order."""
    ends: list[int] = []
    for row in rows:  # all earlier ones begin at or before it
        end = row.char_end
        yield len(ends) - bisect_left(ends, end)
        insort(ends, end)


def _marks(row: EntityRow, key: str, depth: int, cluster: str) -> Iterator[Mark]:
    for fragment in row.fragments:
        yield Mark(
            char_start=fragment.char_start,
            char_end=fragment.char_end,
            item_id=row.id,
            key=key,
            label=row.label,
            state=row.state,
            score=row.score,
            depth=depth,
            cluster=cluster,
            last=fragment is row.fragments[-1],
        )
