"""Letters of clusters: stable while an abstract is open, never ``c``, which means the last cluster."""

from __future__ import annotations

import string

from sciextract_app.presenter.scene import Scene

ALL = [each for each in string.ascii_letters if each not in "cC"]
NO_LETTER = "*"
"""What a cluster has when the letters have run out; it is reached through one of its mentions."""


class Letters:
    """Which cluster has which letter."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def give(self, scene: Scene) -> None:
        """Give letters to clusters that have none, in text order; those that went keep theirs."""
        for cluster_id in scene.members:
            if cluster_id not in self._of and len(self._of) < len(ALL):
                self._of[cluster_id] = ALL[len(self._of)]

    def of(self, cluster_id: str) -> str:
        """A cluster's letter."""
        return self._of.get(cluster_id, NO_LETTER)

    def cluster(self, letter: str, scene: Scene) -> str | None:
        """The living cluster of that letter."""
        return next((each for each in scene.members if self._of.get(each) == letter), None)
