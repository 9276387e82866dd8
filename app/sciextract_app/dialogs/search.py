"""Looking for abstracts: the list shows those that fit."""

from __future__ import annotations

from collections.abc import Collection

from textual import on
from textual.widget import Widget
from textual.widgets import Input, Static

from sciextract.errors import UsageError
from sciextract.store.looking.search import Query
from sciextract_app.dialogs.base import Dialog, plain, words
from sciextract_app.dialogs.query_words import HELP, parse_query


class SearchDialog(Dialog[tuple[str, Query]]):
    """Gives what was typed and the query that it means; an empty one shows all abstracts.

    Args:
        typed: What was looked for last.
        labels: The types of the project.
    """

    def __init__(self, typed: str, labels: Collection[str]) -> None:
        super().__init__("Search", "Enter shows what fits, empty shows all, Esc back")
        self._typed = typed
        self._labels = labels

    def content(self) -> list[Widget]:
        """The line to type in, and what may be typed."""
        return [
            Input(self._typed, id="search"),
            words(HELP, "hint"),
            Static("", id="search-problem"),
        ]

    def on_mount(self) -> None:
        """The person can type at once."""
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        try:
            query = parse_query(event.value, self._labels)
        except UsageError as error:
            self.query_one("#search-problem", Static).update(
                plain(f"{error.message}; {error.hint}", "bold")
            )
        else:
            self.dismiss((event.value, query))
