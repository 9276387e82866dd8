"""A grid: encoders, variants and tasks whose every combination is one training, read from TOML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.recipes import RECIPES
from sciextract.errors import InputMissingError, UsageError
from sciextract.metrics.report import EvaluationReport
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.evaluate import classification_of
from sciextract_trainer.files import has_kind, read_toml, refuse_unknown


def check_keys(
    values: object, place: str, *, known: Iterable[str], needed: Iterable[str] = ()
) -> None:
    """Refuses what is not a table, an unknown key and a missing one.

    Raises:
        UsageError: Names the place, the key and those that there are.
    """
    if not isinstance(values, Mapping):
        raise UsageError(f"{place}: {values!r} is not a table", "write it as [name] or [[name]]")
    refuse_unknown(values, sorted(known), place, "key")
    for key in needed:
        if key not in values:
            raise UsageError(f"{place}: {key!r} is missing", f"it needs: {', '.join(needed)}")


def text_of(values: Mapping[str, Any], key: str, place: str) -> str:
    """A text that must not be empty.

    Raises:
        UsageError: It is empty, or no text.
    """
    value = values[key]
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{place}: {key} = {value!r} is not possible", "use a text in quotes")
    return value


def texts_of(values: Any, place: str) -> tuple[str, ...]:
    """A list of texts.

    Raises:
        UsageError: It is something else.
    """
    if not has_kind(values, "list[str]"):
        raise UsageError(f"{place} = {values!r} is not possible", 'use a list such as ["a", "b"]')
    return tuple(values)


def number_of(values: Mapping[str, Any], key: str, place: str) -> float | None:
    """A number, ``None`` where there is none.

    Raises:
        UsageError: It is something else.
    """
    value = values.get(key)
    if value is None:
        return None
    if not has_kind(value, "float"):
        raise UsageError(f"{place}: {key} = {value!r} is not possible", "use a number")
    return float(value)


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
    variant: str
    column: str
    f1: float | None
    sd: float | None
    change: float | None
    source: str

    def text(self) -> str:
        """The figure as it stands in a table.

        >>> Published("a", "", "NER", 46.0, 0.8, None, "there").text()
        '46.0 ± 0.8'
        >>> Published("a", "b", "NER", None, None, 0.99, "there").text()
        '+0.99'
        """
        if self.f1 is None:
            return f"{self.change:+g}"
        value = f"{self.f1:.1f}" if round(self.f1, 1) == self.f1 else f"{self.f1:g}"
        return value if self.sd is None else f"{value} ± {self.sd:g}"


_KEYS = {"encoder", "variant", "column", "f1", "sd", "change", "source"}


def published_from(
    rows: Iterable[Any], place: str, variants: Sequence[str], columns: Sequence[str]
) -> tuple[Published, ...]:
    """The figures of a grid's ``[[published]]`` tables.

    Raises:
        UsageError: A figure lacks its source or number, or names a row or column that the grid lacks.
    """
    where = f"{place}: published"
    return tuple(_published(values, where, variants, columns) for values in rows)


def _published(
    values: Mapping[str, Any], place: str, variants: Sequence[str], columns: Sequence[str]
) -> Published:
    check_keys(values, place, known=_KEYS, needed=("encoder", "column", "source"))
    figure = Published(
        encoder=text_of(values, "encoder", place),
        variant=str(values.get("variant", "")),
        column=text_of(values, "column", place),
        f1=number_of(values, "f1", place),
        sd=number_of(values, "sd", place),
        change=number_of(values, "change", place),
        source=text_of(values, "source", place),
    )
    _check_known(place, "column", figure.column, columns)
    _check_known(place, "variant", figure.variant, variants)
    if (figure.f1 is None) == (figure.change is None):
        raise UsageError(f"{place}: {figure.encoder}: neither or both of f1 and change", "give one")
    return figure


def _check_known(place: str, key: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(f"{place}: {key} = {value!r} is not in the grid", f"it has: {list(known)}")


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
        "relation": relation.boundaries.ordered.f1,
        "relation_strict": relation.strict.ordered.f1,
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

    name: str
    settings: Mapping[str, Any]
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


_GRID_KEYS = {
    "title", "source", "schema", "runs", "notes", "settings", "networks", "encoders",
    "variants", "columns", "published",
}  # fmt: skip


def _grid(name: str, values: dict[str, Any], place: str) -> Grid:
    check_keys(values, place, known=_GRID_KEYS, needed=("title", "schema", "columns"))
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
                        "use the number of upper layers to reinitialise, from 0",
                    )
                where = "/".join(part for part in (variant.name, column.name) if part)
                config = _try_settings(settings, f"{place}: {where}")
                if not is_scored(column.score, config):
                    raise UsageError(
                        f"{place}: {where}: score = {column.score!r} is the score of a task that is not trained there",
                        "give its task a weight above 0; given_* scores go with given_entities = true",
                    )


def _try_settings(settings: dict[str, Any], place: str) -> TrainConfig:
    try:
        return config_from({"encoder": "any", **settings}, place)
    except UsageError as error:
        message = error.message if place in error.message else f"{place}: {error.message}"
        raise UsageError(message, error.hint) from error
