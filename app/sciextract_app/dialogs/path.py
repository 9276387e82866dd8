"""Choosing a file: typed, or picked from the folder."""

from __future__ import annotations

import os
from pathlib import Path

from textual import on
from textual.widget import Widget
from textual.widgets import DirectoryTree, Input, Static

from sciextract_app.dialogs.base import Dialog, plain


class PathDialog(Dialog[Path]):
    """Gives the path of something that exists.

    Args:
        title: What it is for.
        folder: Where to begin.
    """

    def __init__(self, title: str, folder: Path) -> None:
        super().__init__(title, "Enter chooses, Tab goes between line and folder, Esc back")
        self._folder = folder

    def content(self) -> list[Widget]:
        """The line to type in, and the folder."""
        return [
            Input(placeholder="path, or choose below", id="path"),
            Static("", id="path-problem"),
            DirectoryTree(self._folder, id="folder"),
        ]

    def on_mount(self) -> None:
        """The person can type at once."""
        self.query_one(Input).focus()

    @on(DirectoryTree.FileSelected)
    def _picked(self, event: DirectoryTree.FileSelected) -> None:
        self.dismiss(event.path)

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        # Unlike the methods of Path these two take anything: a name that is too long, a home that is not there.
        path = Path(os.path.expanduser(event.value.strip()))
        if event.value.strip() and os.path.exists(path):
            self.dismiss(path)
        else:
            problem = f"{path}: no such file or folder" if event.value.strip() else "type a path"
            self.query_one("#path-problem", Static).update(plain(problem))
