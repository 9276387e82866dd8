"""Settings in TOML, found and read in one way; and files that a full disk leaves whole or not there."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from sciextract import atomic
from sciextract.errors import InputMissingError, UsageError, explain_write_errors

Table = dict[str, Any]


def packaged_file(name: str, folder: Path, what: str, prefix: str = "") -> Path:
    """A file by its path, or one that comes with the trainer by its name.

    Args:
        name: A path, or a name without ``prefix`` and ``.toml``.
        folder: Where the packaged ones are.
        what: What it is, for the message: ``plan``, ``distillation recipe``.
        prefix: What the names of the packaged files begin with.

    Raises:
        InputMissingError: Neither a file nor a packaged one; names the packaged ones.
    """
    path, packaged = Path(name), folder / f"{prefix}{name}.toml"
    if path.is_file() or packaged.is_file():
        return path if path.is_file() else packaged
    names = sorted(file.stem.removeprefix(prefix) for file in folder.glob(f"{prefix}*.toml"))
    noun = what.rpartition(" ")[2]
    raise InputMissingError(
        f"no {what} is called {name!r}", f"packaged {noun}s: {', '.join(names)}"
    )


def read_toml(path: Path, what: str, hint: str) -> Table:
    """The values of a TOML file, not checked any further.

    Args:
        path: The file.
        what: What it is, for the message: ``no WHAT at PATH``.
        hint: What such a file looks like.

    Raises:
        InputMissingError: There is no such file.
        UsageError: It is not TOML in UTF-8.
    """
    if not path.is_file():
        raise InputMissingError(f"no {what} at {path}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", hint) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file or folder to write next to ``path``, which takes its place when the block is done.

    Raises:
        OutputError: The disk is full; ``path`` is as it was before.
    """
    # alone: what a killed process left under the same name is removed first.
    with explained(path), atomic.replacing(path, alone=True) as temporary:
        yield temporary


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns what a full disk ends in into an error that says how to continue.

    Raises:
        OutputError: The disk is full, or ``path`` cannot be written.
    """
    again = "make room, then give the same command again: what was finished is kept"
    with explain_write_errors(path, again, when_full=again):
        try:
            yield
        except SafetensorError as error:
            # safetensors tells the number of the system's error in words only.
            if found := re.search(r"os error (\d+)\)", str(error)):
                raise OSError(int(found[1]), os.strerror(int(found[1]))) from error
            raise
