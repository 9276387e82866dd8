"""Where the desk keeps what belongs to the person, and the keys that the person chose."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from textual.binding import Binding
from textual.events import Key

Kind = Literal["config", "state", "data"]
HOME_VARIABLE = "SCIEXTRACT_HOME"
KEYMAP_FILE = "keymap.toml"
THEME_FILE = "theme"
LEARNING_FILE = "learning"


def user_folder(kind: Kind) -> Path:
    """``$SCIEXTRACT_HOME``, else where the platform keeps such files of programs; it need not exist."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home)
    # Imported late: where the variable is set it is not needed.
    import platformdirs

    found: str = getattr(platformdirs, f"user_{kind}_dir")("sciextract", appauthor=False)
    return Path(found)


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys of the person's own choice.

    Attributes:
        keys: Keys by the id of their action, joined by commas.
        problems: What in the file could not be understood; the rest of it holds.
    """

    keys: Mapping[str, str]
    problems: tuple[str, ...] = ()


def load_keymap(actions: Collection[str]) -> Keymap:
    """The keymap of the config folder; empty where there is none.

    The file has a table ``[keys]`` with lines such as ``reject = "z"`` or ``next = ["j", "down"]``.

    Args:
        actions: Ids of all actions.
    """
    path = user_folder("config") / KEYMAP_FILE
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Keymap({})
    except (OSError, ValueError) as error:
        return Keymap({}, (f"{path}: {error}; the default keys apply",))
    table = data.get("keys", data)
    if not isinstance(table, dict):
        return Keymap({}, (f"{path}: keys must be a table, such as [keys]",))
    keys, problems = {}, []
    for name, value in table.items():
        chosen = [value] if isinstance(value, str) else value
        if name not in actions:
            near = ", ".join(get_close_matches(name, list(actions))) or "see the help (?)"
            problems.append(f"{path}: no action is called {name!r}: {near}")
        elif isinstance(chosen, list) and chosen and all(isinstance(k, str) and k for k in chosen):
            # A comma separates keys, so the key itself is written by its name.
            keys[name] = ",".join("comma" if key == "," else key for key in chosen)
        else:
            problems.append(f"{path}: {name} must be a key or a list of keys, not {value!r}")
    return Keymap(keys, tuple(problems))


def load_theme() -> str | None:
    """The name of the theme that the person chose last."""
    return _load(THEME_FILE) or None


def save_theme(name: str) -> None:
    """Keep a theme for the next time; a folder that takes no files is not an error."""
    _save(THEME_FILE, name)


def load_learning() -> bool:
    """Whether the desk learns from finished abstracts: it does, unless the person turned that off."""
    return _load(LEARNING_FILE) != "off"


def save_learning(on: bool) -> None:
    """Keep whether the desk learns for the next time."""
    _save(LEARNING_FILE, "on" if on else "off")


def _load(name: str) -> str:
    try:
        return (user_folder("config") / name).read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def _save(name: str, value: str) -> None:
    with suppress(OSError):
        folder = user_folder("config")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(value + "\n", "utf-8")


SHELL = (
    Binding("pagedown", "page(1)", "scroll the text down", id="app.page-down"),
    Binding("pageup", "page(-1)", "scroll the text up", id="app.page-up"),
    Binding("ctrl+l", "list", "list of abstracts", id="app.list", priority=True),
    Binding("ctrl+t", "strip", "next pane", id="app.pane", priority=True),
    Binding("ctrl+o", "app.start", "other project", id="app.open", priority=True),
    Binding("ctrl+y", "copy", "copy what has the focus", id="app.copy", priority=True),
    Binding("f3", "dialog('queues')", "saved queues", id="app.queues", priority=True),
    Binding(
        "f4", "dialog('save-queue')", "save the list as a queue", id="app.save-queue", priority=True
    ),
    Binding("f5", "dialog('files')", "import files", id="app.import", priority=True),
    Binding("f6", "predict", "predict", id="app.predict", priority=True),
    Binding("f7", "dialog('statistics')", "statistics", id="app.statistics", priority=True),
    Binding(
        "f8", "dialog('retraining')", "retrain on your abstracts", id="app.retrain", priority=True
    ),
    Binding("f9", "dialog('suggest')", "suggest from lists", id="app.suggest", priority=True),
)
"""Keys of the desk's screen that the app answers."""
QUIT = Binding("ctrl+q", "quit", "leave", id="app.quit", priority=True, show=False)
AROUND = (*SHELL, QUIT)
SHELL_IDS = frozenset(binding.id for binding in AROUND if binding.id)
_NAMED = {" ": "space"}
_MODIFIED = ("ctrl+", "alt+", "super+")


def key_name(event: Key) -> str:
    """The desk's name of a key: the character where it prints one, else Textual's name."""
    # The character is what the person typed, on any keyboard; Textual's names are those of one layout.
    character = event.character
    if character is None or not character.isprintable() or event.key.startswith(_MODIFIED):
        return event.key
    return _NAMED.get(character, character)
