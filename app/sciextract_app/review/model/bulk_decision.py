"""A decision on its way through the whole project."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sciextract.store.actions.bulk import Count
from sciextract.text.english import counted
from sciextract_app.shared.actions import key_of


class Phase(StrEnum):
    """How far it is."""

    COUNTING = "counting"
    COUNTED = "counted"
    DOING = "doing"


@dataclass(frozen=True, slots=True)
class BulkDecision:
    """A decision on its way through the project.

    Attributes:
        number: The abstract of the mention.
        entity_id: The mention.
        name: Its string, as messages show it.
        phase: How far it is.
        done: Abstracts that are behind it.
        total: All that have to be looked at, or changed.
        count: What it would change, once that is known.
    """

    number: int
    entity_id: str
    name: str
    phase: Phase = Phase.COUNTING
    done: int = 0
    total: int = 0
    count: Count | None = None

    @property
    def question(self) -> str:
        """What is asked before anything is changed."""
        if self.count is None:
            return ""
        items = counted(self.count.items, "item")
        return f"{self.name}: decide {items} in {counted(len(self.count.numbers), 'abstract')}"

    @property
    def status(self) -> str:
        """How far it is, in a few words."""
        match self.phase:
            case Phase.COUNTED:
                return f"{self.question}? {key_of('alike-everywhere')} previews, Esc cancels"
            case Phase.DOING:
                return f"{self.name}: {self.done:,} of {counted(self.total, 'abstract')} decided; Esc stops"
        found = f": {self.done:,} of {counted(self.total, 'abstract')}" if self.total else ""
        return f"counting {self.name}{found}; Esc stops"
