"""What counts as a type: definition and examples of the schema."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from sciextract.documents.schema import EntityType, RelationType
from sciextract_app.dialogs.base import Dialog, words


class GuidelineDialog(Dialog[None]):
    """The types of the schema with what they mean."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,g", "leave", "back", id="dialog.close")]

    def __init__(self, types: tuple[EntityType | RelationType, ...]) -> None:
        super().__init__("What counts as what", "Enter or Esc closes")
        self._types = types

    def content(self) -> list[Widget]:
        """Definition and examples of each."""
        found: list[Widget] = []
        for each in self._types:
            found.append(words(f"{each.label} ({each.key})", "label"))
            found.append(words(each.definition or "no definition in the schema", "hint"))
            if each.examples:
                found.append(words("for example: " + "; ".join(each.examples), "hint"))
        return found
