"""``manifest.json``: inputs, model and settings of a folder of parts; a run with the same ones continues it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sciextract import __version__, atomic
from sciextract.documents.document import ModelId
from sciextract.errors import ModelMismatchError, OutputError, UsageError, explain_write_errors
from sciextract.formats.base import STDIN
from sciextract.formats.exchange import SCHEMA_VERSION
from sciextract.formats.inputs import MANIFEST
from sciextract.formats.opening import is_url
from sciextract.scale.interface import Work

FORMAT_VERSION = 1

disk_errors = partial(
    explain_write_errors,
    hint="choose another folder",
    kept="the parts written so far are complete",
    when_full="free some space, then repeat the command to resume",
)
"""Names what could not be written into a folder of parts."""

Stamp = list[Any]
"""Absolute path, bytes and time of change in nanoseconds; -1 for what has none."""


@dataclass(frozen=True, slots=True)
class PartsManifest:
    """What results depend on, and how they are kept.

    Attributes:
        version: Of sciextract.
        model: Name and hash.
        settings: Those of the model and its task.
        schema: Name and hash of the labels.
        export: Format of the parts.
        schema_version: Version of the exchange format.
        chunk_size: Records of a part.
        input_format: Format of the inputs, if it was named.
        shards: The stamps of the paths of each shard.
        complete: Whether all is done.
        totals: Sums over all parts, when all is done.
    """

    version: str
    model: Mapping[str, str]
    settings: Mapping[str, Any]
    schema: Mapping[str, str]
    export: str
    schema_version: int
    chunk_size: int
    input_format: str | None
    shards: list[list[Stamp]]
    complete: bool = False
    totals: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, work: Work, schema: Mapping[str, str], export: str) -> PartsManifest:
        """The manifest of a work that is about to begin."""
        settings = asdict(work.choice)
        settings.update(settings.pop("options"))
        # The model has its hash, and no result depends on the number of threads.
        settings = {name: settings[name] for name in settings if name not in ("model", "threads")}
        # Sets and tuples as JSON returns them, to be compared with what an earlier run wrote.
        as_read = json.loads(json.dumps(settings, default=sorted, sort_keys=True))
        model = {"name": work.model.name, "hash": work.model.hash}
        stamps = [[stamp(path) for path in shard.paths] for shard in work.shards]
        return cls(
            __version__, model, {**as_read, "given_entities": work.given}, dict(schema), export,
            SCHEMA_VERSION, work.chunk_size, work.input_format, stamps,
        )  # fmt: skip

    @classmethod
    def read(cls, folder: Path) -> PartsManifest | None:
        """The manifest of a folder, ``None`` where there is none.

        Raises:
            OutputError: It cannot be read, or is of a newer version.
        """
        path = folder / MANIFEST
        try:
            values = json.loads(path.read_text("utf-8"))
            version = values.pop("format_version")
            if version == FORMAT_VERSION:
                return cls(**values)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise OutputError(
                f"{path}: this is not a manifest of a folder of parts", "choose another folder"
            ) from None
        raise OutputError(
            f"{path}: version {version} of the folder, this program knows {FORMAT_VERSION}",
            "pip install --upgrade sciextract, or choose another folder",
        )

    def write(self, folder: Path) -> None:
        """Put it into a folder.

        Raises:
            OutputError: It cannot be written.
        """
        text = json.dumps({"format_version": FORMAT_VERSION, **asdict(self)}, indent=1)
        with disk_errors(folder / MANIFEST):
            atomic.write(folder / MANIFEST, f"{text}\n", alone=True, durable=True)

    def changed_shards(self, earlier: PartsManifest) -> set[int]:
        """Numbers of shards whose files have another size or time than then, and of what has neither."""
        pairs = zip(self.shards, earlier.shards, strict=True)
        return {
            number
            for number, (now, then) in enumerate(pairs)
            if now != then or any(size < 0 for _, size, _ in now)
        }

    def check(self, earlier: PartsManifest, folder: object) -> None:
        """Refuse to continue with a folder that holds results of something else.

        Args:
            earlier: The manifest of the folder.
            folder: The folder, for the message.

        Raises:
            ModelMismatchError: Another model.
            OutputError: Another version, settings, inputs...
        """
        if self.model != earlier.model:
            before, model = (
                ModelId(str(model.get("name")), str(model.get("hash")))
                for model in (earlier.model, self.model)
            )
            raise ModelMismatchError(
                f"{folder} holds results of the model {before}, this run uses {model}",
                "name the model of the folder, or choose another folder",
            )
        compared: list[tuple[str, Any, Any]] = [
            ("sciextract version", earlier.version, self.version),
            ("label schema", dict(earlier.schema), dict(self.schema)),
            ("format", earlier.export, self.export),
            ("format version", earlier.schema_version, self.schema_version),
            *((name, earlier.settings.get(name), now) for name, now in self.settings.items()),
            ("input format", earlier.input_format, self.input_format),
            ("chunk size", earlier.chunk_size, self.chunk_size),
        ]
        for what, then, now in compared:
            if then != now:
                raise OutputError(
                    f"{folder} holds results of {what.replace('_', ' ')} {_printable(then)}, "
                    f"this run has {_printable(now)}",
                    "repeat the command of the first run, or choose another folder",
                )
        then, now = _paths(earlier.shards), _paths(self.shards)
        if then != now or len(earlier.shards) != len(self.shards):
            known, given = set(then), set(now)
            new = [path for path in now if path not in known]
            gone = [path for path in then if path not in given]
            parts = [_name_shards("new", new), _name_shards("missing", gone)]
            difference = "; ".join(filter(None, parts)) or "they are cut otherwise"
            raise OutputError(
                f"{folder} holds results of other inputs: {difference}",
                "give the inputs of the first run; new ones go into another folder",
            )


def stamp(path: str) -> Stamp:
    """What tells whether a path is as it was."""
    if path == STDIN or is_url(path):
        return [path, -1, -1]
    if not os.path.isfile(path):
        return [os.path.abspath(path), -1, -1]
    status = os.stat(path)
    return [os.path.abspath(path), status.st_size, status.st_mtime_ns]


def _paths(shards: Sequence[Sequence[Stamp]]) -> list[str]:
    return [path for shard in shards for path, *_ in shard]


def _name_shards(word: str, paths: Sequence[str]) -> str:
    if not paths:
        return ""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{word}: {paths[0]}{more}"


def _printable(value: object) -> str:
    if value is None:
        return "none named"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


Encoder = Callable[[bytes], tuple[bytes, Mapping[str, int]]]
"""From lines of exchange records to a part, and what its format cannot hold, by kind."""


def encoder(export: str) -> Encoder:
    """What makes parts of a format.

    Raises:
        UsageError: Parts have no such format.
        MissingExtraError: What writes it is not installed.
    """
    if export == "jsonl":
        return lambda lines: (lines, {})
    if export != "parquet":
        raise UsageError(f"parts cannot be {export!r}", "formats of parts: jsonl, parquet")
    from sciextract.formats.registry import get_format

    get_format("parquet", "write").load_writer()  # its error names the extra that is missing
    from sciextract.formats.parquet import parquet_part

    def encode(lines: bytes) -> tuple[bytes, Mapping[str, int]]:
        part = parquet_part(lines)
        return part.data, part.losses

    return encode
