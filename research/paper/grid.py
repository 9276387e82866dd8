"""A grid: encoders, variants and tasks whose every combination is one training, read from TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from research.recipes import RECIPES
from sciextract.codec import convert
from sciextract.errors import InputMissingError, UsageError
from sciextract.metrics.report import EvaluationReport
from sciextract_trainer.config import TrainConfig, config_from, read_toml
from sciextract_trainer.evaluate import classification_of

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class Published:
    """One figure, of a test split.

    Attributes:
        encoder: The encoder's name in the grid.
        variant: The variant's name, empty where the grid has one only.
        column: The column's name.
        f1: F1, 0 to 100; ``None`` where only a change is stated.
        sd: Standard deviation over runs.
        change: Difference from the same encoder without the change; ``None`` where F1 itself is stated.
        source: Where it says so, with caveats.
    """

    encoder: str
    column: str
    source: str
    variant: str = ""
    f1: float | None = None
    sd: float | None = None
    change: float | None = None

    def text(self) -> str:
        """The figure as it stands in a table.

        >>> Published("a", "NER", "there", f1=46.0, sd=0.8).text()
        '46.0 ± 0.8'
        >>> Published("a", "NER", "there", "b", change=0.99).text()
        '+0.99'
        """
        if self.f1 is None:
            return f"{self.change:+g}"
        value = f"{self.f1:.1f}" if round(self.f1, 1) == self.f1 else f"{self.f1:g}"
        return value if self.sd is None else f"{value} ± {self.sd:g}"


TASK_OF = {
    "entity": "entity",
    "entity_width8": "entity",
    "relation": "relation",
    "relation_strict": "relation",
    "coreference": "coreference",
    "given_micro": "relation",
    "given_macro": "relation",
}
"""What a column may show, and the task that it is of; ``given_*`` are relations between given entities."""


def is_scored(score: str, config: TrainConfig) -> bool:
    """Whether a training has that score: its task was learned, and entities were given or not."""
    learned = getattr(config, f"{TASK_OF[score]}_weight") > 0
    return bool(learned) and score.startswith("given_") == config.given_entities


def scores_of(report: EvaluationReport, config: TrainConfig) -> dict[str, float]:
    """F1 (0 to 100) by name of what was learned; what untrained heads say is not a score."""
    relation, given = report.relation, classification_of(report)
    values = {
        "entity": report.ner.all.f1,
        "entity_width8": report.ner.width8.f1,
        "relation": relation.boundaries.directed.f1,
        "relation_strict": relation.strict.directed.f1,
        "coreference": report.coreference.conll.f1,
        "given_micro": given.micro.f1,
        "given_macro": given.macro_f1,
    }
    return {name: value for name, value in values.items() if is_scored(name, config)}


GRIDS = RECIPES / "paper"
PREFIX = "paper-"
TOP_LAYERS = "reinit_top"
"""Setting of a variant that no recipe has: how many of the upper layers of any encoder begin anew."""


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """An encoder of the paper: its name there, and the hub ids that are it."""

    name: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A variant (group of rows) or a column: a name and the settings that it changes.

    Attributes:
        name: As it stands in the table.
        settings: Settings of the recipe, ``reinit_top`` included.
        score: Columns only: what is shown.
    """

    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    score: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table or figure of the paper.

    Attributes:
        name: What ``python -m research recipe run`` calls it.
        title: One line.
        source: Where the published figures stand.
        schema: Label schema; also the folder of the data set.
        runs: Seeds for the full grid.
        notes: Lines that belong under the title of the table.
        settings: Settings of every training.
        networks: Further settings by network, ``joint`` and ``dygie``.
        encoders: The paper's encoders.
        variants: What is changed about an encoder's training; one without a name when nothing is.
        columns: What is learned and shown.
        published: The published figures that are confirmed.
    """

    name: str
    title: str
    source: str = ""
    schema: str
    runs: int = 1
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    networks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    encoders: tuple[KnownEncoder, ...] = ()
    variants: tuple[Part, ...] = (Part(),)
    columns: tuple[Part, ...]
    published: tuple[Published, ...] = ()

    def encoder_of(self, source: str) -> KnownEncoder | None:
        """The paper's encoder that a hub id is."""
        return next((encoder for encoder in self.encoders if source in encoder.ids), None)

    def settings_of(self, network: str, variant: Part, column: Part) -> dict[str, Any]:
        """The settings of a training, the most particular ones last.

        Relations between given entities take the joint network in any frame: the other one has no such thing.
        """
        changed = {**variant.settings, **column.settings}
        own = "joint" if changed.get("given_entities") else network
        return {"network": own, **self.settings, **self.networks.get(own, {}), **changed}


def grid_names() -> list[str]:
    """Names of the packaged grids, in order."""
    return sorted(PREFIX + file.stem for file in GRIDS.glob("*.toml"))


def grid_file(name: str) -> Path:
    """The file of a grid, by its name or as a path.

    Raises:
        InputMissingError: Neither; names the packaged ones.
    """
    path, packaged = Path(name), GRIDS / f"{name.removeprefix(PREFIX)}.toml"
    if path.is_file():
        return path
    if name.startswith(PREFIX) and packaged.is_file():
        return packaged
    raise InputMissingError(
        f"no grid is called {name!r}", f"known: {', '.join(grid_names())}; or name a TOML file"
    )


def load_grid(name: str) -> Grid:
    """Reads and checks a grid.

    Raises:
        InputMissingError: There is none of that name.
        UsageError: It is not TOML, or a key or value in it cannot work.
    """
    path = grid_file(name)
    values = read_toml(path, "grid", "a grid is a TOML file in UTF-8")
    name = PREFIX + path.stem if path.parent == GRIDS else path.stem
    grid = convert({"name": name, **values}, Grid, path, closed=True, error=UsageError)
    columns, variants = ([item.name for item in part] for part in (grid.columns, grid.variants))
    for what, names in (("columns", columns), ("variants", variants)):
        if twice := [name for name in names if names.count(name) > 1]:
            raise UsageError(
                f"{path}: {what}: {twice[0]!r} is there twice", "give each its own name"
            )
    if grid.runs < 1:
        raise UsageError(f"{path}: runs = {grid.runs} is not possible", "use a number from 1")
    for column in grid.columns:
        if column.score not in TASK_OF:
            problem = f"{path}: columns: {column.name}: score = {column.score!r}"
            raise UsageError(problem, f"one of {', '.join(TASK_OF)}")
    for figure in grid.published:
        place = f"{path}: published: {figure.encoder}"
        if figure.column not in columns or figure.variant not in variants:
            problem = f"{place}: column {figure.column!r} or variant {figure.variant!r} is not in the grid"
            raise UsageError(problem, f"it has: {columns} and {variants}")
        if (figure.f1 is None) == (figure.change is None):
            raise UsageError(f"{place}: neither or both of f1 and change", "give one")
    # Every combination is built, so that a mistake is found before any training.
    for network in ("joint", "dygie"):
        for variant in grid.variants:
            for column in grid.columns:
                _check_combination(grid, network, variant, column, str(path))
    return grid


def _check_combination(grid: Grid, network: str, variant: Part, column: Part, place: str) -> None:
    settings = grid.settings_of(network, variant, column)
    top = settings.pop(TOP_LAYERS, 0)
    if not isinstance(top, int) or isinstance(top, bool) or top < 0:
        raise UsageError(
            f"{place}: {TOP_LAYERS} = {top!r} is not possible",
            "use the number of upper layers to reinitialise, from 0",
        )
    where = f"{place}: {'/'.join(part for part in (variant.name, column.name) if part)}"
    try:
        config = config_from({"encoder": "any", **settings}, where)
    except UsageError as error:
        message = error.message if where in error.message else f"{where}: {error.message}"
        raise UsageError(message, error.hint) from error
    if not is_scored(column.score, config):
        raise UsageError(
            f"{where}: score = {column.score!r} is the score of a task that is not trained there",
            "give its task a weight above 0; given_* scores go with given_entities = true",
        )
