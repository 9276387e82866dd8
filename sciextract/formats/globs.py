"""Patterns such as ``papers/*.jsonl.gz`` that no shell has expanded: quoted ones, and those of a scheduler's job file."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence

from sciextract.errors import InputMissingError
from sciextract.formats.base import STDIN
from sciextract.formats.urls import expand_url, is_url, without_file_scheme

_ANY_DEPTH = "**"


def expand_inputs(paths: Sequence[str]) -> list[str]:
    """The files and folders that are meant, each pattern's sorted; hidden ones only where a pattern says so.

    What exists under exactly that name is meant itself, also with ``*`` or ``[`` in it. With ``**``, which finds
    folders and what lies in them alike, only files count, so that nothing is read twice.

    URLs may name a file, a folder, of which the files are meant, or a pattern with ``*``; ``file://`` is a path.

    Raises:
        InputMissingError: A path does not exist, or nothing matches a pattern.
        SciextractError: The file system of a URL cannot be reached.
    """
    return [found for path in map(without_file_scheme, paths) for found in _meant(path)]


def is_pattern(path: str) -> bool:
    """Whether a path names nothing that exists, and has letters that stand for others."""
    return path != STDIN and glob.has_magic(path) and not os.path.exists(path)


def _meant(path: str) -> Iterator[str]:
    if is_url(path):
        yield from expand_url(path)
        return
    if not is_pattern(path):
        if path != STDIN and not os.path.exists(path):
            raise InputMissingError(f"{path}: no such file or folder")
        yield path
        return
    matches = sorted(glob.glob(path, recursive=True))
    if _ANY_DEPTH in path:
        matches = [each for each in matches if os.path.isfile(each)]
    if not matches:
        hint = "* and ? stand for letters of one name, [ab] for one of them, ** for folders at any depth"
        raise InputMissingError(f"{path}: nothing matches this pattern", hint)
    yield from matches
