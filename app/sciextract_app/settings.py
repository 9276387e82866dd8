"""Where the desk keeps what belongs to the person, and the keys that the person chose."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

Kind = Literal["config", "state", "data"]
HOME_VARIABLE = "SCIEXTRACT_HOME"
KEYMAP_FILE = "keymap.toml"
THEME_FILE = "theme"


def user_folder(kind: Kind) -> Path:
    """``$SCIEXTRACT_HOME``, else where the platform keeps such files of programs; it need not exist."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home)
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
        return Keymap({}, (f"{path}: {error}; the usual keys hold",))
    return _checked(data.get("keys", data), actions, path)


def load_theme() -> str | None:
    """The name of the theme that the person chose last."""
    try:
        return (user_folder("config") / THEME_FILE).read_text("utf-8").strip() or None
    except (OSError, ValueError):
        return None


def save_theme(name: str) -> None:
    """Keep a theme for the next time; a folder that takes no files is no reason to complain."""
    with suppress(OSError):
        folder = user_folder("config")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / THEME_FILE).write_text(name + "\n", "utf-8")


def _checked(table: Any, actions: Collection[str], path: Path) -> Keymap:
    if not isinstance(table, dict):
        return Keymap({}, (f"{path}: keys must be a table, such as [keys]",))
    keys, problems = {}, []
    for name, value in table.items():
        chosen = [value] if isinstance(value, str) else value
        if name not in actions:
            near = ", ".join(get_close_matches(name, list(actions))) or "see the help (?)"
            problems.append(f"{path}: no action is called {name!r}: {near}")
        elif not _are_keys(chosen):
            problems.append(f"{path}: {name} must be a key or a list of keys, not {value!r}")
        else:
            keys[name] = ",".join(_named(key) for key in chosen)
    return Keymap(keys, tuple(problems))


def _are_keys(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(k, str) and k for k in value)


def _named(key: str) -> str:
    """A comma separates keys, so the key itself is written by its name."""
    return "comma" if key == "," else key
