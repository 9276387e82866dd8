"""Where somebody is in a graph, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field

from sciextract_app.presenter.graph.shown import NodePage


@dataclass(slots=True)
class Walk:
    """A walk from node to node.

    Attributes:
        here: The node that is shown.
        mark: Number and name of the node that a path shall begin at.
        label: The type of the nodes in the list; all when ``None``.
        labels: The types to choose from.
    """

    here: NodePage | None = None
    mark: tuple[int, str] | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()
    _before: list[int] = field(default_factory=list)

    def arrive(self, page: NodePage) -> None:
        """Be at a node; the way back leads to the one before."""
        if self.here is not None and self.here.node != page.node:
            self._before.append(self.here.node)
        self.here = page

    def back(self) -> int | None:
        """The node before this one, ``None`` at the start; being there is told with :meth:`arrive`."""
        if not self._before:
            return None
        before = self._before.pop()
        self.here = None  # so that arriving there does not lead back here
        return before

    def turn_label(self) -> None:
        """The next type for the list, and all types after the last."""
        choices = (None, *self.labels)
        place = choices.index(self.label) if self.label in choices else 0
        self.label = choices[(place + 1) % len(choices)]

    def path_from(self) -> tuple[int, int] | None:
        """Start and end of a wanted path; else this node becomes its start, or is none any more."""
        if self.here is None:
            return None
        if self.mark is None:
            self.mark = self.here.node, self.here.name
            return None
        start, self.mark = self.mark[0], None
        return None if start == self.here.node else (start, self.here.node)
