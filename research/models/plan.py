"""A plan, read from TOML and checked as a whole before anything is made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from research.compression.schemes import Scheme
from research.models.encoder_stages import DistilEncoder, Pretrain, Smaller
from research.models.network_stages import Bundled, Label, Soup, Train
from research.models.stage import Artifact, EncoderArtifact, NetworkArtifact, Stage
from sciextract.codec import convert
from sciextract.errors import UsageError
from sciextract_trainer.config import packaged_file, read_toml
from sciextract_trainer.data.gold import sha256

KINDS: dict[str, type[Stage]] = {
    "pretrain": Pretrain,
    "smaller": Smaller,
    "distil-encoder": DistilEncoder,
    "train": Train,
    "label": Label,
    "soup": Soup,
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
        if not self.quantise:
            return None
        return convert(self.quantise, Scheme, "quantise", closed=True, error=UsageError)


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
    values = read_toml(path, "plan", "a plan is a TOML file in UTF-8")
    base, extends = None, values.get("extends")
    if extends is not None:
        if not isinstance(extends, str) or extends in (path.stem, str(path)):
            raise UsageError(f"{path}: extends = {extends!r} is not another plan", "name a plan")
        base = load_plan(extends)
        values = {"schema": base.schema, "dev": base.dev, **values}
    file = convert(values, _PlanFile, path, closed=True, error=UsageError)
    stages: dict[str, Stage] = dict(base.stages) if base else {}
    for key, table in file.stage.items():
        place, kind = f"{path}: stage.{key}", table.get("kind")
        if key in stages:
            raise UsageError(f"{place} is in plan {extends} already", "rename it")
        if not isinstance(kind, str) or kind not in KINDS:
            raise UsageError(f"{place}: kind = {kind!r} is unknown", f"kinds: {', '.join(KINDS)}")
        rest = {name: value for name, value in table.items() if name != "kind"}
        stages[key] = convert(rest, KINDS[kind], place, closed=True, error=UsageError)
    digest = sha256(path)
    if base is not None:
        digest = hashlib.sha256(f"{digest} {base.sha256}".encode()).hexdigest()
    plan = Plan(
        name=path.stem,
        sha256=digest,
        schema=file.schema,
        dev=file.dev,
        encoders={**(base.encoders if base else {}), **file.encoder},
        stages=stages,
        models=file.model,
    )
    # Every name that is used means something that is made before, of the right kind.
    made: dict[str, type[Artifact]] = dict.fromkeys(plan.encoders, EncoderArtifact)
    for own, stage in plan.stages.items():
        if own in made:
            raise UsageError(f"{path}: stage.{own} has the name of an encoder", "rename it")
        for used, wanted in stage.uses().items():
            _require_one(f"{path}: stage.{own}", used, wanted, made)
        made[own] = stage.makes
    for own, model in plan.models.items():
        _require_one(f"{path}: model.{own}", model.network, NetworkArtifact, made)
    return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanFile:
    """A plan as it is written; of its stages only the kind tells which settings there are."""

    extends: str | None = None
    schema: str
    dev: str
    encoder: Mapping[str, StartingEncoder] = field(default_factory=dict)
    stage: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    model: Mapping[str, PlannedModel] = field(default_factory=dict)


def find_plan(name: str) -> Path:
    """The file of a plan.

    Raises:
        InputMissingError: Neither a file nor a packaged plan; names the packaged ones.
    """
    return packaged_file(name, PLANS, "plan")


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
