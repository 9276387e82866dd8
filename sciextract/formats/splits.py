"""Splits of a folder, by the names that Hugging Face gives them: train, validation, test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from sciextract.errors import InputMissingError, UsageError
from sciextract.formats.packing import unpacked_name
from sciextract.formats.registry import has_suffix, readable

_STANDOFF = ".ann"  # such files belong together with their texts, whatever they are called


class Part(StrEnum):
    """What a split is for."""

    TRAIN = "train"
    DEV = "validation"
    TEST = "test"


_WORDS = {
    "train": Part.TRAIN, "training": Part.TRAIN,
    "validation": Part.DEV, "valid": Part.DEV, "val": Part.DEV, "dev": Part.DEV,
    "test": Part.TEST, "testing": Part.TEST,
}  # fmt: skip


def paths_of(path: Path, part: Part) -> list[Path]:
    """What to read for a part: the folder's split of that kind, or all of a path without splits.

    A folder has splits when files or folders in it are called like splits, as in a dataset dictionary
    (``save_to_disk``) and on the hub: ``data/train-00000-of-00001.parquet``, ``train/0000.parquet``,
    ``train.jsonl``.

    Raises:
        InputMissingError: There is no such path.
        UsageError: The folder has splits, but none of that kind; names those it has.
    """
    if not path.exists():
        raise InputMissingError(f"{path}: no such file")
    found = splits_of(path)
    if found and part not in found:
        names = ", ".join(sorted(found))
        raise UsageError(f"{path} has no {part} split, only {names}", "name a file, or one split")
    return found.get(part, [path])


def splits_of(path: Path) -> dict[Part, list[Path]]:
    """The splits of a folder, each with the files or folders that are it; empty without any."""
    found: dict[Part, list[Path]] = {}
    for each, part in _named(path) if path.is_dir() else ():
        found.setdefault(part, []).append(each)
    return found


def _named(folder: Path) -> Iterator[tuple[Path, Part]]:
    """What is called like a split, at any depth; nothing is looked for inside of it."""
    entries = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    if any(each.suffix == _STANDOFF for each in entries):
        return
    for entry in entries:
        part = part_of(entry.name)
        if part is not None and (entry.is_dir() or _is_readable(entry.name)):
            yield entry, part
        elif entry.is_dir():
            yield from _named(entry)


def _is_readable(name: str) -> bool:
    suffixes = tuple({suffix for spec in readable() for suffix in spec.suffixes})
    return has_suffix(unpacked_name(name), suffixes)


def part_of(name: str) -> Part | None:
    """The part that a file or folder is called after, at the beginning or the end.

    >>> part_of("train-00000-of-00002.parquet"), part_of("scierc_dev.jsonl"), part_of("training.md")
    (<Part.TRAIN: 'train'>, <Part.DEV: 'validation'>, <Part.TRAIN: 'train'>)
    >>> part_of("latest.jsonl") is part_of("a-test-of-time.txt") is None
    True
    """
    words = [word for word in re.split(r"[^a-z]+", name.lower().partition(".")[0]) if word]
    return _WORDS.get(words[0], _WORDS.get(words[-1])) if words else None
