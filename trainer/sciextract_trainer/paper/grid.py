"""A grid: encoders, variants and tasks whose every combination is one training, read from TOML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciextract.errors import InputMissingError, UsageError
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.paper.published import Published, published_from
from sciextract_trainer.paper.reading import check_keys, text_of, texts_of
from sciextract_trainer.paper.scores import TASK_OF, is_scored
from sciextract_trainer.settings_file import has_kind, read_toml

GRIDS = Path(__file__).resolve().parent.parent / "recipes" / "paper"
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

    name: str
    settings: Mapping[str, Any]
    score: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table or figure of the paper.

    Attributes:
        name: What ``sciextract recipe run`` calls it.
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
    source: str
    schema: str
    runs: int
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    networks: Mapping[str, Mapping[str, Any]]
    encoders: tuple[KnownEncoder, ...]
    variants: tuple[Part, ...]
    columns: tuple[Part, ...]
    published: tuple[Published, ...]

    def encoder_of(self, source: str) -> KnownEncoder | None:
        """The paper's encoder that a hub id is."""
        return next((each for each in self.encoders if source in each.ids), None)

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
    packaged = path.parent == GRIDS
    return _grid(PREFIX + path.stem if packaged else path.stem, values, str(path))


_KEYS = {
    "title", "source", "schema", "runs", "notes", "settings", "networks", "encoders",
    "variants", "columns", "published",
}  # fmt: skip


def _grid(name: str, values: dict[str, Any], place: str) -> Grid:
    check_keys(values, place, known=_KEYS, needed=("title", "schema", "columns"))
    columns = tuple(_parts(values["columns"], f"{place}: columns", needed=("name", "score")))
    variants = tuple(_parts(values.get("variants", [{}]), f"{place}: variants"))
    encoders = tuple(_encoder(each, place) for each in values.get("encoders", ()))
    grid = Grid(
        name=name,
        title=text_of(values, "title", place),
        source=str(values.get("source", "")),
        schema=text_of(values, "schema", place),
        runs=_runs(values.get("runs", 1), place),
        notes=texts_of(values.get("notes", []), f"{place}: notes"),
        settings=dict(values.get("settings", {})),
        networks={key: dict(part) for key, part in values.get("networks", {}).items()},
        encoders=encoders,
        variants=variants,
        columns=columns,
        published=published_from(
            values.get("published", []), place,
            [each.name for each in variants], [each.name for each in columns],
        ),
    )  # fmt: skip
    _check_settings(grid, place)
    return grid


def _runs(value: Any, place: str) -> int:
    if not has_kind(value, "int") or value < 1:
        raise UsageError(f"{place}: runs = {value!r} is not possible", "use a number from 1")
    return int(value)


def _encoder(values: Mapping[str, Any], place: str) -> KnownEncoder:
    check_keys(values, f"{place}: encoders", known={"name", "ids"}, needed=("name", "ids"))
    name = text_of(values, "name", f"{place}: encoders")
    return KnownEncoder(name, texts_of(values["ids"], f"{place}: encoders: {name}: ids"))


def _parts(rows: Iterable[Any], place: str, needed: tuple[str, ...] = ()) -> Iterable[Part]:
    seen: set[str] = set()
    for values in rows:
        check_keys(values, place, known={"name", "score", "settings"}, needed=needed)
        name, score = str(values.get("name", "")), str(values.get("score", ""))
        if name in seen:
            raise UsageError(f"{place}: {name!r} is there twice", "give each its own name")
        if "score" in needed and score not in TASK_OF:
            raise UsageError(f"{place}: {name}: score = {score!r}", f"one of {', '.join(TASK_OF)}")
        seen.add(name)
        yield Part(name, dict(values.get("settings", {})), score)


def _check_settings(grid: Grid, place: str) -> None:
    """Builds the configuration of every combination, so that a mistake is found before any training."""
    for network in ("joint", "dygie"):
        for variant in grid.variants:
            for column in grid.columns:
                settings = grid.settings_of(network, variant, column)
                top = settings.pop(TOP_LAYERS, 0)
                if not has_kind(top, "int") or top < 0:
                    raise UsageError(
                        f"{place}: {TOP_LAYERS} = {top!r} is not possible",
                        "use the number of upper layers that begin anew, from 0",
                    )
                where = "/".join(part for part in (variant.name, column.name) if part)
                config = _try_settings(settings, f"{place}: {where}")
                if not is_scored(column.score, config):
                    raise UsageError(
                        f"{place}: {where}: score = {column.score!r} is of what is not learned there",
                        "give its task a weight above 0; given_* scores go with given_entities = true",
                    )


def _try_settings(settings: dict[str, Any], place: str) -> TrainConfig:
    try:
        return config_from({"encoder": "any", **settings}, place)
    except UsageError as error:
        told = error.message if place in error.message else f"{place}: {error.message}"
        raise UsageError(told, error.hint) from error
