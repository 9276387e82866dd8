"""Cells of a grid: one training each, told apart by a hash of what decides its outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sciextract.errors import UsageError
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.paper.encoders import Encoder, layer_count
from sciextract_trainer.paper.grid import TOP_LAYERS, Grid, Part

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
                f"--only {word!r} is no cell of this grid",
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
