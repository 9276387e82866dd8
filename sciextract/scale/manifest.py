"""``manifest.json``: inputs, model and settings of a folder of parts; a run with the same ones continues it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from sciextract import __version__
from sciextract.documents.document import ModelId
from sciextract.errors import ModelMismatchError, OutputError, UsageError
from sciextract.formats.base import STDIN
from sciextract.formats.exchange import SCHEMA_VERSION
from sciextract.formats.inputs import MANIFEST
from sciextract.formats.urls import is_url
from sciextract.scale.durable import write_whole
from sciextract.scale.interface import Work
from sciextract.workflows.model_choice import ModelChoice

FORMAT_VERSION = 1

_NO_SETTINGS = {"model", "threads"}

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
        return cls(
            __version__,
            {"name": work.model.name, "hash": work.model.hash},
            {**_settings(work.choice), "given_entities": work.given},
            dict(schema),
            export,
            SCHEMA_VERSION,
            work.chunk_size,
            work.input_format,
            [[stamp(path) for path in shard.paths] for shard in work.shards],
        )

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
        values = {"format_version": FORMAT_VERSION, **asdict(self)}
        text = json.dumps(values, indent=1)
        write_whole(folder / MANIFEST, f"{text}\n".encode())

    def done(self, totals: Mapping[str, Any]) -> PartsManifest:
        """The same when all is done."""
        return replace(self, complete=True, totals=totals)

    def changed_shards(self, earlier: PartsManifest) -> set[int]:
        """Numbers of shards whose files have another size or time than then, and of what has neither."""
        pairs = zip(self.shards, earlier.shards, strict=True)
        return {
            number
            for number, (now, then) in enumerate(pairs)
            if now != then or any(size < 0 for _, size, _ in now)
        }

    def check(self, earlier: PartsManifest, folder: Path | str) -> None:
        """Refuse to continue with a folder that holds results of something else.

        Args:
            earlier: The manifest of the folder.
            folder: The folder, for the message.

        Raises:
            ModelMismatchError: Another model.
            OutputError: Another version, settings, inputs...
        """
        if self.model != earlier.model:
            raise ModelMismatchError(
                f"{folder} holds results of the model {_name(earlier.model)}, "
                f"this run uses {_name(self.model)}",
                "name the model of the folder, or choose another folder",
            )
        for what, then, now in self._compared(earlier):
            if then != now:
                raise OutputError(
                    f"{folder} holds results of {what} {_printable(then)}, this run has {_printable(now)}",
                    "repeat the command of the first run, or choose another folder",
                )
        self._check_inputs(earlier, folder)

    def _compared(self, earlier: PartsManifest) -> list[tuple[str, Any, Any]]:
        settings = [
            (name.replace("_", " "), earlier.settings.get(name), value)
            for name, value in self.settings.items()
        ]
        return [
            ("sciextract version", earlier.version, self.version),
            ("label schema", dict(earlier.schema), dict(self.schema)),
            ("format", earlier.export, self.export),
            ("format version", earlier.schema_version, self.schema_version),
            *settings,
            ("input format", earlier.input_format, self.input_format),
            ("chunk size", earlier.chunk_size, self.chunk_size),
        ]

    def _check_inputs(self, earlier: PartsManifest, folder: Path | str) -> None:
        then, now = _paths(earlier.shards), _paths(self.shards)
        if then == now and len(earlier.shards) == len(self.shards):
            return
        known, given = set(then), set(now)
        new = [path for path in now if path not in known]
        gone = [path for path in then if path not in given]
        parts = [_listed("new", new), _listed("missing", gone)]
        difference = "; ".join(part for part in parts if part) or "they are cut otherwise"
        raise OutputError(
            f"{folder} holds results of other inputs: {difference}",
            "give the inputs of the first run; new ones go into another folder",
        )


def _settings(choice: ModelChoice) -> dict[str, Any]:
    """The choice without the model's name and its speed, as JSON returns it."""
    values = {each.name: getattr(choice, each.name) for each in fields(choice)}
    kept = {name: value for name, value in values.items() if name not in _NO_SETTINGS}
    as_read: dict[str, Any] = json.loads(json.dumps(kept, default=sorted, sort_keys=True))
    return as_read


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


def _name(model: Mapping[str, str]) -> str:
    return str(ModelId(str(model.get("name")), str(model.get("hash"))))


def _listed(word: str, paths: Sequence[str]) -> str:
    if not paths:
        return ""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{word}: {paths[0]}{more}"


def _printable(value: object) -> str:
    if value is None:
        return "none named"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A part.

    Attributes:
        data: Its bytes.
        losses: What the format could not hold, by kind.
    """

    data: bytes
    losses: Mapping[str, int] = field(default_factory=dict)


def encoder(export: str) -> Callable[[bytes], Encoded]:
    """What makes parts of a format.

    Raises:
        UsageError: Parts have no such format.
        MissingExtraError: What writes it is not installed.
    """
    if export == "jsonl":
        return Encoded
    if export == "parquet":
        return _parquet()
    raise UsageError(f"parts cannot be {export!r}", "formats of parts: jsonl, parquet")


def _parquet() -> Callable[[bytes], Encoded]:
    from sciextract.formats.registry import get_format

    get_format("parquet", "write").load_writer()
    from sciextract.formats.parquet import parquet_part

    def encoded(lines: bytes) -> Encoded:
        part = parquet_part(lines)
        return Encoded(part.data, part.losses)

    return encoded
