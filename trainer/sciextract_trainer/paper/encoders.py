"""The encoders at hand: hub ids and folders, by name, with what identifies their weights."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sciextract.errors import InputMissingError, UsageError
from sciextract_trainer.encoders.settings import read_settings
from sciextract_trainer.paper.grid import Grid

_CONTENT = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")
_IDLE = frozenset({"README.md", "data_config.json"})


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder to train from.

    Attributes:
        name: Its row in the table: the paper's name where it is one of the paper's.
        source: Hub id or folder.
        identity: The hub id, or the hash of what the folder holds: the same encoder elsewhere is the same.
    """

    name: str
    source: str
    identity: str


def encoders_at_hand(grid: Grid, words: Sequence[str]) -> list[Encoder]:
    """The encoders that the words name, else those of the grid in the local Hugging Face cache.

    Args:
        grid: Knows the paper's encoders.
        words: Hub ids or folders, each maybe as ``NAME=ID`` or ``NAME=DIR``.

    Raises:
        InputMissingError: A folder is not there, or no encoder is at hand.
        UsageError: Two encoders would have the same name.
    """
    found = [_named(grid, word) for word in words] or _cached(grid)
    if not found:
        known = ", ".join(name for each in grid.encoders for name in each.ids[:1]) or "any"
        raise InputMissingError(
            "no encoder is named, and none of this grid's is in the local Hugging Face cache",
            f"--encoder ID or --encoder NAME=DIR, once for each; the paper's: {known}",
        )
    names = [each.name for each in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"two encoders are called {twice[0]!r}", "call them apart: --encoder NAME=DIR"
        )
    return found


def layer_count(source: str) -> int:
    """How many layers an encoder has.

    Raises:
        ModelNotFoundError: Its configuration cannot be read.
        InputMissingError: Its configuration does not say.
    """
    settings = read_settings(source)
    try:
        return int(settings.num_hidden_layers)
    except (ValueError, AttributeError) as error:
        raise InputMissingError(
            f"{source}: how many layers it has is not known: {error}"
        ) from error


def _named(grid: Grid, word: str) -> Encoder:
    name, separator, source = word.partition("=")
    if not separator:
        name, source = "", word
    known = grid.encoder_of(source)
    path = Path(source)
    if path.is_dir():
        whole = path.resolve()
        return Encoder(name or f"{whole.parent.name}/{whole.name}", source, _hash(whole))
    if path.is_absolute() or source.startswith((".", "~")) or not source:
        raise InputMissingError(f"no encoder folder at {source!r}", "name a folder or a hub id")
    return Encoder(name or (known.name if known else source), source, source)


def _hash(folder: Path) -> str:
    files = {file for pattern in _CONTENT for file in folder.glob(pattern)}
    digest = hashlib.sha256()
    for file in sorted(each for each in files if each.name not in _IDLE):
        with file.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{file.name} {content}\n".encode())
    return f"sha256 {digest.hexdigest()}"


def _cached(grid: Grid) -> list[Encoder]:
    """Those of the grid that need no download; asks no network."""
    from huggingface_hub import try_to_load_from_cache

    found = []
    for known in grid.encoders:
        here = [
            each
            for each in known.ids
            if isinstance(try_to_load_from_cache(each, "config.json"), str)
        ]
        found += [Encoder(known.name, each, each) for each in here[:1]]
    return found
