"""A plan, read from TOML and checked as a whole before anything is made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from research.compression.schemes import Scheme
from research.models.encoder_stages import DistilEncoder, Pretrain, Smaller
from research.models.network_stages import Bundled, Coreference, Label, Soup, Subplan, Train
from research.models.stage import Artifact, EncoderArtifact, NetworkArtifact, Stage
from sciextract.errors import UsageError
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.files import (
    Kind,
    Table,
    packaged_file,
    read_toml,
    refuse_unknown,
    settings_from,
)

KINDS: dict[str, type[Stage]] = {
    "pretrain": Pretrain,
    "smaller": Smaller,
    "distil-encoder": DistilEncoder,
    "train": Train,
    "label": Label,
    "soup": Soup,
    "coreference": Coreference,
    "plan": Subplan,
    "bundled": Bundled,
}
"""What ``kind`` of a stage may say."""

PLANS = Path(__file__).resolve().parent / "plans"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingEncoder:
    """An encoder that a plan begins with.

    Attributes:
        sha256: Hash of its ``model.safetensors``.
        origin: What it is and under which licence, for the model card.
        get: How to get it.
    """

    sha256: str
    origin: str
    get: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedModel:
    """A model folder at the end of a plan.

    Attributes:
        network: The stage whose network it is.
        weights: Whether it keeps weights in half precision, for training on without rounding.
        card: Lines of the model card: data, licences, limits.
        quantise: Scheme of the graph that is shipped, as :class:`Scheme` has it; the int8 graph of the stage when empty.
        texts: Texts that ``quantise`` looks at, names or patterns in the data folder; its own choice when empty.
        most: How many of these texts.
        most_loss: Dev F1 that each task may lose by ``quantise`` against fp32, each with thresholds of its own.
    """

    network: str
    weights: bool = False
    card: Mapping[str, str] = field(default_factory=dict)
    quantise: Mapping[str, Any] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    most: int = 200
    most_loss: float = 0.5

    def __post_init__(self) -> None:
        if self.scheme is None and self.texts:
            raise UsageError(f"texts = {list(self.texts)!r} without quantise", "add quantise = ...")

    @property
    def scheme(self) -> Scheme | None:
        """The scheme of ``quantise``.

        Raises:
            UsageError: A value is not possible; says which ones are.
        """
        refuse_unknown(self.quantise, [each.name for each in fields(Scheme)], "quantise")
        return Scheme(**self.quantise) if self.quantise else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How models are made.

    Attributes:
        name: Name of the file.
        sha256: Hash of the file, and of the plan that it extends.
        schema: Label schema of all networks.
        dev: Gold that epochs and thresholds are chosen on, in the data folder.
        encoders: Encoders to begin with, by name.
        stages: The stages by name, in their order.
        models: The model folders by name.
    """

    name: str
    sha256: str
    schema: str
    dev: str
    encoders: Mapping[str, StartingEncoder]
    stages: Mapping[str, Stage]
    models: Mapping[str, PlannedModel]


def load_plan(name: str) -> Plan:
    """Reads a packaged plan or a TOML file.

    Raises:
        InputMissingError: There is neither.
        UsageError: It is not TOML, or something in it cannot be: names the place, the value and what is allowed.
    """
    path = find_plan(name)
    return _plan(path, read_toml(path, "plan", "a plan is a TOML file in UTF-8"))


def find_plan(name: str) -> Path:
    """The file of a plan.

    Raises:
        InputMissingError: Neither a file nor a packaged plan; names the packaged ones.
    """
    return packaged_file(name, PLANS, "plan")


def _plan(path: Path, values: Table) -> Plan:
    known = ("extends", "schema", "dev", "encoder", "stage", "model")
    refuse_unknown(values, known, str(path))
    base = _base(path, values)
    for key in ("schema", "dev"):
        if not isinstance(values.get(key), str):
            raise UsageError(f"{path}: {key} = {values.get(key)!r} is not a text", f"add {key}")
    tables = {key: _tables(values, key, str(path)) for key in ("encoder", "stage", "model")}
    stages = {key: _stage(f"{path}: stage.{key}", table) for key, table in tables["stage"].items()}
    encoders = _each(StartingEncoder, tables["encoder"], f"{path}: encoder")
    plan = Plan(
        name=path.stem,
        sha256=sha256(path) if base is None else _both(sha256(path), base.sha256),
        schema=values["schema"],
        dev=values["dev"],
        encoders={**(base.encoders if base else {}), **encoders},
        stages={**(base.stages if base else {}), **stages},
        models=_each(PlannedModel, tables["model"], f"{path}: model"),
    )
    _require_references(plan, str(path))
    return plan


def _base(path: Path, values: Table) -> Plan | None:
    """The plan whose stages come first; its schema and dev gold hold unless others are named."""
    name = values.get("extends")
    if name is None:
        return None
    if not isinstance(name, str) or name in (path.stem, str(path)):
        raise UsageError(f"{path}: extends = {name!r} is not another plan", "name a plan")
    base = load_plan(name)
    values.setdefault("schema", base.schema)
    values.setdefault("dev", base.dev)
    own = values.get("stage", {})
    if isinstance(own, dict) and (twice := sorted(own.keys() & base.stages.keys())):
        raise UsageError(f"{path}: stage.{twice[0]} is in plan {name} already", "rename it")
    return base


def _both(one: str, other: str) -> str:
    return hashlib.sha256(f"{one} {other}".encode()).hexdigest()


def _tables(values: Table, key: str, place: str) -> dict[str, Table]:
    found = values.get(key, {})
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise UsageError(
            f"{place}: {key} is not a group of tables", f"write [{key}.NAME] above its settings"
        )
    return found


def _each(kind: type[Kind], tables: dict[str, Table], place: str) -> dict[str, Kind]:
    return {name: settings_from(kind, table, f"{place}.{name}") for name, table in tables.items()}


def _stage(place: str, table: Table) -> Stage:
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"{place}: kind = {kind!r} is unknown", f"kinds: {', '.join(KINDS)}")
    return settings_from(KINDS[kind], {k: v for k, v in table.items() if k != "kind"}, place)


def _require_references(plan: Plan, place: str) -> None:
    """Every name that is used means something that is made before, of the right kind."""
    made: dict[str, type[Artifact]] = dict.fromkeys(plan.encoders, EncoderArtifact)
    for name, stage in plan.stages.items():
        if name in made:
            raise UsageError(f"{place}: stage.{name} has the name of an encoder", "rename it")
        for used, wanted in stage.uses().items():
            _require_one(f"{place}: stage.{name}", used, wanted, made)
        made[name] = stage.makes
    for name, model in plan.models.items():
        _require_one(f"{place}: model.{name}", model.network, NetworkArtifact, made)


_SPOKEN = {
    "EncoderArtifact": "an encoder",
    "NetworkArtifact": "a network",
    "LabelsArtifact": "labels",
}


def _require_one(
    place: str, used: str, wanted: type[Artifact], made: Mapping[str, type[Artifact]]
) -> None:
    if made.get(used) is wanted:
        return
    fitting = ", ".join(name for name, kind in made.items() if kind is wanted) or "none"
    found = f"makes {_SPOKEN[made[used].__name__]}" if used in made else "is not made before"
    spoken = _SPOKEN[wanted.__name__]
    raise UsageError(
        f"{place}: {used!r} {found}, wanted is {spoken}", f"{spoken} by this point: {fitting}"
    )
