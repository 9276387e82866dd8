"""Keys: Textual's events as key names of the desk, and the keys of the shell around it.

The desk itself translates its keys (:mod:`sciextract_app.presenter.actions`), since what many of them mean
depends on the key before. Here are only those that lead away from the open abstract.
"""

from __future__ import annotations

from textual.binding import Binding
from textual.events import Key

SHELL = (
    Binding("ctrl+l", "list", "list of abstracts", id="app.list", priority=True),
    Binding("ctrl+t", "strip", "next pane", id="app.pane", priority=True),
    Binding("ctrl+o", "app.start", "other project", id="app.open", priority=True),
    Binding("f3", "queues", "saved queues", id="app.queues", priority=True),
    Binding("f4", "save_queue", "save the list as a queue", id="app.save-queue", priority=True),
    Binding("f5", "bring_in", "import files", id="app.import", priority=True),
    Binding("f6", "predict", "predict", id="app.predict", priority=True),
    Binding("f7", "statistics", "statistics", id="app.statistics", priority=True),
    Binding("f8", "retrain", "retrain on your abstracts", id="app.retrain", priority=True),
)
"""Keys of the desk's screen that the app answers."""
QUIT = Binding("ctrl+q", "quit", "leave", id="app.quit", priority=True, show=False)
AROUND = (*SHELL, QUIT)
SHELL_IDS = frozenset(each.id for each in AROUND if each.id)
_NAMED = {" ": "space"}
_MODIFIED = ("ctrl+", "alt+", "super+")


def key_name(event: Key) -> str:
    """The desk's name of a key: the character where it prints one, else Textual's name."""
    character = event.character
    if character is None or not character.isprintable() or event.key.startswith(_MODIFIED):
        return event.key
    return _NAMED.get(character, character)
