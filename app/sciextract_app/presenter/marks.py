"""Mentions as they are drawn: made once, and again only for what has changed."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator
from dataclasses import replace

from sciextract.store.state.rows import EntityRow
from sciextract_app.presenter import labels
from sciextract_app.presenter.letters import Letters
from sciextract_app.presenter.scene import Scene
from sciextract_app.presenter.shown import Mark

_Known = tuple[EntityRow, int, str, tuple[Mark, ...]]


class Marks:
    """The marks of an abstract without focus, kept from key to key: a long one has very many."""

    def __init__(self) -> None:
        self._scene: Scene | None = None
        self._known: dict[str, _Known] = {}
        self._drawn: list[Mark] = []
        self._first: dict[str, int] = {}

    def of(
        self, scene: Scene, letters: Letters, focused: str | None, partners: Collection[str]
    ) -> tuple[Mark, ...]:
        """All marks of a scene, outer ones first.

        Args:
            scene: The abstract.
            letters: Of its clusters.
            focused: The mention in focus.
            partners: Mentions that a relation or a cluster joins to it.
        """
        if scene is not self._scene:
            self._read(scene, letters)
        drawn = list(self._drawn)
        for item_id in {*partners, *([focused] if focused else [])}:
            place = self._first.get(item_id, len(drawn))
            for mark in self._known[item_id][-1] if place < len(drawn) else ():
                drawn[place] = replace(
                    mark, focused=item_id == focused, partner=item_id in partners
                )
                place += 1
        return tuple(drawn)

    def _read(self, scene: Scene, letters: Letters) -> None:
        """Make the marks of rows that are not those of the last scene."""
        same = self._scene is not None and self._scene.schema == scene.schema
        keys = {each.label: each.key for each in scene.schema.entities}
        before = self._known if same else {}
        self._scene, self._known, self._drawn, self._first = scene, {}, [], {}
        for row, depth in zip(scene.entities, depths(scene.entities), strict=True):
            homes = scene.homes.get(row.id, ())
            shown = "".join(letters.of(link.cluster_id) for link in homes)
            known = before.get(row.id)
            if known is None or known[0] is not row or known[1:3] != (depth, shown):
                key = keys.get(row.label) or labels.letter(scene.schema, row.label)
                known = row, depth, shown, tuple(_marks(row, key, depth, shown))
            self._known[row.id] = known
            self._first[row.id] = len(self._drawn)
            self._drawn += known[-1]


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
