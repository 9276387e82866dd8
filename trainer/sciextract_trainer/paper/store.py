"""Where finished and unfinished cells lie: a folder each, so that nothing is trained twice."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciextract.errors import OutputError
from sciextract_trainer.paper.cells import Cell

RESULT, SPENT, TRAINING, LOCK = "cell.json", "spent.json", "training", "lock"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a cell.

    Attributes:
        scores: F1 by name (``scores.TASK_OF``), 0 to 100.
        best_epoch: The epoch that was scored.
        seconds: Spent on it, all sittings together.
        processor_seconds: Of the processor.
        finished: When, ISO 8601 in UTC.
        device: Where, in words.
    """

    scores: dict[str, float]
    best_epoch: int
    seconds: float
    processor_seconds: float
    finished: str
    device: str


@dataclass(frozen=True, slots=True)
class CellFolder:
    """The folder of a cell; reading never fails on what is missing or torn.

    Attributes:
        path: The folder; it need not exist yet.
        cell: The cell.
    """

    path: Path
    cell: Cell

    @property
    def training(self) -> Path:
        """Checkpoints; removed once the cell is finished."""
        return self.path / TRAINING

    def result(self) -> Result | None:
        """What came of it; ``None`` as long as it is unfinished, or when it meant other settings.

        The key leaves settings at their default out; a default that has changed since is noticed here.
        """
        values = _read(self.path / RESULT)
        config = self.cell.config.to_json()
        stored = values.get("config", {})
        same = all(config.get(key) == value for key, value in stored.items() if key != "encoder")
        return Result(**values["result"]) if "result" in values and same else None

    def spent(self) -> tuple[float, float]:
        """Seconds and processor seconds of earlier sittings."""
        values = _read(self.path / SPENT)
        return float(values.get("seconds", 0.0)), float(values.get("processor_seconds", 0.0))

    def note_spent(self, seconds: float, processor_seconds: float) -> None:
        """Keeps the time spent so far."""
        _write(self.path / SPENT, {"seconds": seconds, "processor_seconds": processor_seconds})

    def finish(self, result: Result) -> None:
        """Keeps the result and lets the checkpoints go.

        Raises:
            OutputError: It cannot be written.
        """
        _write(
            self.path / RESULT,
            {
                "name": self.cell.name,
                "encoder": self.cell.encoder.identity,
                "config": self.cell.config.to_json(),
                "result": {key: getattr(result, key) for key in Result.__slots__},
            },
        )
        shutil.rmtree(self.training, ignore_errors=True)
        (self.path / SPENT).unlink(missing_ok=True)

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Whether this process has the cell to itself; ends with the process, however that ends."""
        import fcntl

        try:
            self.path.mkdir(parents=True, exist_ok=True)
            stream = (self.path / LOCK).open("wb")
        except OSError as error:
            raise _unwritable(self.path, error) from error
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


def write_whole(path: Path, text: str) -> None:
    """Writes a file beside the old one and puts it into place.

    Raises:
        OutputError: It cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        raise _unwritable(path, error) from error


def _write(path: Path, values: dict[str, Any]) -> None:
    write_whole(path, json.dumps(values, indent=2) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{path} cannot be written: {error.strerror}", "make room, or name another --folder"
    )
