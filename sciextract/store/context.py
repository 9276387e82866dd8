"""What an action knows besides the document: who acts, under which event, by which schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sciextract.documents.annotations import new_id
from sciextract.documents.schema import LabelSchema


@dataclass(slots=True)
class Context:
    """The frame of one action.

    Attributes:
        event_id: Its event.
        source_id: Who acts.
        schema: The project's label schema.
        warnings: What the person should know although the action was done.
        items: How many items it changed.
        source_of: The number of a source by name, given now if it has none.
    """

    event_id: int
    source_id: int
    schema: LabelSchema
    source_of: Callable[[str], int]
    warnings: list[str] = field(default_factory=list)
    items: int = 0

    def fresh_id(self) -> str:
        """An id that nothing has had before."""
        return new_id()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action did.

    Attributes:
        event_id: Its event, ``None`` when nothing had to be changed.
        documents: How many documents it changed.
        items: How many items it decided, made or removed, those that went along included.
        warnings: What the person should know.
    """

    event_id: int | None
    documents: int
    items: int
    warnings: tuple[str, ...] = ()
