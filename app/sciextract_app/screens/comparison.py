"""What a model said about the open abstract beside what holds there now; only to look at."""

from __future__ import annotations

from sciextract_app.dialogs.keys_here import KeysDialog
from sciextract_app.screens.two_sides import TwoSidesScreen

_ROWS = (
    ("Tab", "next difference", "comparison"),
    ("Shift+Tab", "previous one", "comparison"),
    ("d Esc", "back to the desk", "comparison"),
    ("", "reversed brackets: only this side has it so; ✗ ✗: rejected", "comparison"),
)


class ComparisonScreen(TwoSidesScreen):
    """A model and a person side by side."""

    def answer(self, request: str) -> None:
        """Help of its own."""
        if request == "help":
            self.app.push_screen(KeysDialog(_ROWS))
        else:
            super().answer(request)
