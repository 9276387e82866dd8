"""What a project knows of an abstract beyond the annotations in its view; it travels in exchange records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sciextract.documents.annotations import Annotations, Completeness, Layer

ItemKey = tuple[str, ...]
"""``("entity", id)``, ``("relation", id)``, ``("attribute", id)`` or ``("link", cluster, mention)``."""


@dataclass(frozen=True, slots=True)
class DecidedItems:
    """What one person decided in an abstract at one time.

    Attributes:
        author: The source that acted, ``person:NAME``.
        at: When; UTC.
        items: What was decided.
    """

    author: str
    at: datetime
    items: tuple[ItemKey, ...]


@dataclass(frozen=True, slots=True)
class ProjectState:
    """How far people have come with an abstract, and what they decided.

    Attributes:
        everything: The items of the view and all rejected ones, rejected places in clusters too.
        layers: How complete each layer is.
        covered: The types that somebody has looked for, as ``LAYER:LABEL``.
        flagged: Whether a person flagged it.
        note: A person's note.
        decisions: Who decided what, and when.
        originals: What edited items were before.
        formerly: Former names of the project's types, by ``LAYER:LABEL``.
    """

    everything: Annotations = field(default_factory=Annotations)
    layers: dict[Layer, Completeness] = field(default_factory=dict)
    covered: tuple[str, ...] = ()
    flagged: bool = False
    note: str = ""
    decisions: tuple[DecidedItems, ...] = ()
    originals: tuple[tuple[ItemKey, dict[str, Any]], ...] = ()
    formerly: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def renamed(self, *names: Mapping[str, str]) -> ProjectState:
        """The same with new names of types by old ones."""
        return replace(
            self,
            everything=self.everything.renamed(*names),
            covered=tuple(sorted(rename_covered(self.covered, *names))),
            formerly={},
        )


def rename_covered(covered: Iterable[str], *names: Mapping[str, str]) -> Iterator[str]:
    """What was looked for, with new names of types by old ones: those of entities, relations and attributes."""
    by_table = dict(zip(("entities", "relations", "attributes"), names, strict=False))
    for name in covered:
        table, _, label = name.partition(":")
        known = by_table.get(table, {})
        yield f"{table}:{known[label]}" if label in known else name
