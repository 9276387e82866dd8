"""Cells of a grid: one training each, told apart by a hash of what decides its outcome."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from research.paper.grid import TOP_LAYERS, Grid, Part
from sciextract import atomic
from sciextract.errors import InputMissingError, OutputError, UsageError
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.encoders.loading import read_settings

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
    encoders = [_find_encoder(grid, word) for word in words] or _find_cached(grid)
    if not encoders:
        known = ", ".join(name for encoder in grid.encoders for name in encoder.ids[:1]) or "any"
        raise InputMissingError(
            "no encoder is named, and none of this grid's is in the local Hugging Face cache",
            f"--encoder ID or --encoder NAME=DIR, once for each; the paper's: {known}",
        )
    names = [encoder.name for encoder in encoders]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"two encoders are called {twice[0]!r}", "give them different names: --encoder NAME=DIR"
        )
    return encoders


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


def _find_encoder(grid: Grid, word: str) -> Encoder:
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
    for file in sorted(file for file in files if file.name not in _IDLE):
        content = atomic.sha256_of(file)
        digest.update(f"{file.name} {content}\n".encode())
    return f"sha256 {digest.hexdigest()}"


def _find_cached(grid: Grid) -> list[Encoder]:
    """Those of the grid that need no download; asks no network."""
    from huggingface_hub import try_to_load_from_cache

    encoders = []
    for known in grid.encoders:
        here = [
            encoder_id
            for encoder_id in known.ids
            if isinstance(try_to_load_from_cache(encoder_id, "config.json"), str)
        ]
        encoders += [Encoder(known.name, weights, weights) for weights in here[:1]]
    return encoders


_KEY_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Material:
    """What every cell is trained and scored on, as far as it tells cells apart.

    Attributes:
        schema: Content hash of the label schema.
        train: SHA-256 of the training file.
        dev: SHA-256 of the dev file.
        documents: Training documents, the first ones of the file.
    """

    schema: str
    train: str
    dev: str
    documents: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One training, and where its score stands in the table.

    Attributes:
        encoder: The encoder.
        variant: The variant.
        column: The column.
        config: The recipe, seed included.
        key: Hash of encoder, settings and data; cells of all grids with one key share one training.
    """

    encoder: Encoder
    variant: Part
    column: Part
    config: TrainConfig
    key: str

    @property
    def place(self) -> tuple[str, str, str]:
        """Names of encoder, variant and column; the variant's may be empty."""
        return self.encoder.name, self.variant.name, self.column.name

    @property
    def name(self) -> str:
        """The place and the seed in words."""
        return "/".join(part for part in self.place if part) + f", seed {self.config.seed}"


def cells_of(
    grid: Grid,
    encoders: Sequence[Encoder],
    material: Material,
    changes: Mapping[str, Any],
    *,
    network: str,
    runs: int,
    only: Sequence[str] = (),
) -> list[Cell]:
    """All cells, first seeds first, so that a table fills evenly.

    Args:
        grid: The grid.
        encoders: The encoders at hand.
        material: The data.
        changes: Settings that replace the grid's, such as fewer epochs.
        network: ``joint`` or ``dygie``; a column that needs another one has it in its settings.
        runs: Seeds 1 to this.
        only: Names of encoders, variants or columns, or several joined with ``/``; all cells when empty.

    Raises:
        UsageError: A word of ``only`` fits nothing, or a setting cannot work.
    """
    cells = [
        _cell(encoder, variant, column, material, settings)
        for seed in range(1, runs + 1)
        for encoder in encoders
        for variant in grid.variants
        for column in grid.columns
        for settings in [{**grid.settings_of(network, variant, column), **changes, "seed": seed}]
    ]
    return list(_chosen(cells, only)) if only else cells


def key_of(encoder: Encoder, config: TrainConfig, material: Material) -> str:
    """The hash that tells trainings apart.

    Settings at their default are left out, so that a setting which a later version adds changes no key.
    """
    defaults = {field.name: field.default for field in fields(TrainConfig)}
    values = config.to_json()
    own = {
        name: value
        for name, value in values.items()
        if name != "encoder" and getattr(config, name) != defaults[name]
    }
    data = {
        "encoder": encoder.identity,
        "settings": own,
        **{field.name: getattr(material, field.name) for field in fields(Material)},
    }
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_CHARACTERS]


def _cell(
    encoder: Encoder, variant: Part, column: Part, material: Material, settings: dict[str, Any]
) -> Cell:
    top = settings.pop(TOP_LAYERS, 0)
    if top:
        count = layer_count(encoder.source)
        if top > count:
            raise UsageError(
                f"{encoder.name} has {count} layers, {variant.name!r} begins {top} of them anew",
                "leave the variant out with --only",
            )
        settings["reinit_layers"] = list(range(count - top + 1, count + 1))
    place = "/".join(part for part in (encoder.name, variant.name, column.name) if part)
    config = config_from({**settings, "encoder": encoder.source}, place)
    return Cell(encoder, variant, column, config, key_of(encoder, config, material))


def _chosen(cells: Sequence[Cell], only: Sequence[str]) -> Iterator[Cell]:
    """The cells that some word fits: it is the name of a part, or several names joined with ``/``."""
    for word in only:
        if not any(_fits(word, cell) for cell in cells):
            names = dict.fromkeys(part for cell in cells for part in cell.place if part)
            raise UsageError(
                f"--only {word!r} is not a cell of this grid",
                f"names are {', '.join(names)}; several can be joined with /",
            )
    yield from (cell for cell in cells if any(_fits(word, cell) for word in only))


def _fits(word: str, cell: Cell) -> bool:
    """Whether each ``/``-separated run of the word is a part of the cell's place, in order.

    Names of encoders may hold a ``/`` themselves, so that the parts are taken off the word one by one.
    """
    rest = word.casefold()
    for part in cell.place:
        name = part.casefold()
        if name and rest == name:
            return True
        if name and rest.startswith(name + "/"):
            rest = rest[len(name) + 1 :]
    return False


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
    """Writes a file next to the old one and puts it into place.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, text)
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
