"""What is written of a document's items: all but what was rejected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from sciextract.documents.annotations import Cluster, Entity, Relation, State

_Item = TypeVar("_Item", Entity, Relation, Cluster)


def live(items: Iterable[_Item]) -> list[_Item]:
    """The items to be written: all but the rejected ones."""
    return [item for item in items if item.state is not State.REJECTED]
