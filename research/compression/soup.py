"""Model soups: the mean of the weights of several trainings (Wortsman et al. 2022, arXiv 2203.05482)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from research.compression.opened import require_new, schema_of
from research.recipes import find_recipe
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import InputMissingError, ModelDamagedError, ModelMismatchError, UsageError
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import MANIFEST, open_folder
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.retraining.events import Report
from sciextract.retraining.run_folder import Run
from sciextract_trainer.build import SubwordRules, build_network, load_subword_rules
from sciextract_trainer.calibration.fitting import Dev, fit_settings
from sciextract_trainer.checkpoint import WEIGHTS as CHECKPOINT
from sciextract_trainer.checkpoint import load_weights
from sciextract_trainer.config import TrainConfig, config_from, load_config
from sciextract_trainer.evaluate import DEV_SETTINGS, DevScores, dev_scores
from sciextract_trainer.families import labels_for
from sciextract_trainer.files import explained
from sciextract_trainer.loop import BEST
from sciextract_trainer.network.joint import JointNetwork, RememberingNetwork, TorchNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import open_start_model


@dataclass(frozen=True, slots=True)
class Ingredient:
    """A trained network.

    Attributes:
        name: Its folder.
        network: The network.
        schema: Its label schema.
        labels: What its classes mean.
        rules: Its tokenizer.
        given: Whether it relates given entities and predicts none.
        encoder: What it says of the encoder it began with.
    """

    name: str
    network: JointNetwork
    schema: LabelSchema
    labels: Labels
    rules: SubwordRules
    given: bool
    encoder: str

    def weights(self) -> dict[str, Tensor]:
        """Its weights by name."""
        return {name: each.detach() for name, each in self.network.named_parameters()}


@dataclass(frozen=True, slots=True)
class Hints:
    """What a run folder may not say of itself.

    Attributes:
        schema: Name of a label schema, or a TOML file.
        recipe: Name of a recipe, or a TOML file.
        encoder: Encoder, instead of the recipe's.
    """

    schema: str | None = None
    recipe: str | None = None
    encoder: str | None = None


def open_ingredients(paths: Sequence[Path], hints: Hints) -> list[Ingredient]:
    """The networks of some folders.

    Raises:
        UsageError: Fewer than two are given, or one of them has no more than rounded weights.
        InputMissingError: One of them is neither a run folder nor a model folder.
        ModelMismatchError: Two of them have other labels, schemas, subwords or shapes; names both and the difference.
        ModelDamagedError: One of them is not whole.
    """
    if len(paths) < 2:
        raise UsageError("an average needs at least two networks", "give two or more folders")
    found = [_open(path, hints) for path in paths]
    for other in found[1:]:
        _require_alike(found[0], other)
    return found


def _open(path: Path, hints: Hints) -> Ingredient:
    if (path / MANIFEST).is_file():
        return _of_model(path, hints)
    if (path / BEST).is_file():
        return _of_run(path, hints)
    raise InputMissingError(
        f"{path} is neither a run folder with {BEST} nor a model folder with {MANIFEST}",
        "give run folders of trainings, or model folders with model.safetensors",
    )


def _of_model(path: Path, hints: Hints) -> Ingredient:
    folder = open_folder(path)
    start = open_start_model(folder)
    if start.precision == "int8":
        raise UsageError(
            f"{path} has int8 weights only; an average needs the trained weights",
            "give a model folder with model.safetensors, or the run folder of its training",
        )
    return Ingredient(
        name=str(path),
        network=start.network(TrainConfig(encoder=str(path))),
        schema=schema_of(folder, hints.schema),
        labels=start.labels,
        rules=start.rules,
        given=folder.config.given_entities,
        encoder=str(folder.config.origin.get("encoder", "not known")),
    )


def _of_run(path: Path, hints: Hints) -> Ingredient:
    config = _config_of(path, hints)
    schema = load_schema(hints.schema or str(Run(path).record().schema or "scierc"))
    labels = labels_for(config, schema)
    network = build_network(config, labels)
    load_weights(path / BEST, network)
    rules = load_subword_rules(config.encoder)
    given, encoder = config.given_entities, Path(config.encoder).name
    return Ingredient(str(path), network, schema, labels, rules, given, encoder)


def _config_of(path: Path, hints: Hints) -> TrainConfig:
    """The recipe of a run: the given one, or what the run itself has written down."""
    changes = {"encoder": hints.encoder} if hints.encoder else {}
    if hints.recipe:
        return load_config(find_recipe(hints.recipe), **changes)
    stored = _stored_config(path)
    if stored is None:
        raise UsageError(
            f"{path} does not say which recipe it was trained with",
            "give it: --recipe NAME, and --encoder DIR where the recipe names another one",
        )
    known = {field.name for field in fields(TrainConfig)}
    kept = {key: value for key, value in stored.items() if key in known}
    return config_from({**kept, **changes}, str(path))


def _stored_config(path: Path) -> Mapping[str, Any] | None:
    config = Run(path).record().config
    if config is not None:
        return config
    if not (path / CHECKPOINT).is_file():
        return None
    try:
        with safe_open(path / CHECKPOINT, framework="pt") as file:
            settings: dict[str, Any] | None = json.loads(file.metadata()["state"]).get("settings")
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise ModelDamagedError(
            f"{path / CHECKPOINT} cannot be read: {error!r}", "give the recipe: --recipe NAME"
        ) from error
    return settings


def _require_alike(one: Ingredient, other: Ingredient) -> None:
    difference = _difference(one, other)
    if difference:
        raise ModelMismatchError(
            f"{one.name} and {other.name} cannot be averaged: {difference}",
            "average networks of one encoder and one schema, such as several seeds of a recipe",
        )


def _difference(one: Ingredient, other: Ingredient) -> str:
    if one.labels != other.labels:
        return f"their labels are {_named(one.labels)} and {_named(other.labels)}"
    if one.schema.content_hash != other.schema.content_hash:
        return f"their schemas are {one.schema.name!r} and {other.schema.name!r}"
    if one.given != other.given:
        return "one predicts entities, the other relates given ones"
    if one.rules.tokenizer.get_vocab() != other.rules.tokenizer.get_vocab():
        return "their tokenizers have different vocabularies"
    mine, theirs = (_shapes(each) for each in (one, other))
    wrong = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
    if wrong:
        name = wrong[0]
        return f"{name} has the shapes {mine.get(name)} and {theirs.get(name)}"
    return ""


def _shapes(ingredient: Ingredient) -> dict[str, tuple[int, ...]]:
    return {name: tuple(each.shape) for name, each in ingredient.weights().items()}


def _named(labels: Labels) -> str:
    named = [*labels.entities, *labels.relations.labels]
    return f"{', '.join(named)} (up to {labels.max_span_width} words)"


METHODS = ("uniform", "greedy")

Weights = dict[str, Tensor]


def mean_weights(members: Sequence[Weights]) -> Weights:
    """The mean of each weight, all of equal share."""
    return {name: torch.stack([each[name] for each in members]).mean(dim=0) for name in members[0]}


def greedy_soup(scores: Sequence[float], score_of: Callable[[Sequence[int]], float]) -> list[int]:
    """Which members go into the soup: recipe 1 of the paper.

    From the best member downwards each one is added whose soup with those before it is not worse.

    Args:
        scores: Held-out score of each member alone.
        score_of: Held-out score of the mean of some members.

    >>> greedy_soup([1.0, 3.0, 2.0], lambda rows: 4.0 if rows == [1, 0] else 0.0)
    [1, 0]
    """
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    chosen, best = [order[0]], scores[order[0]]
    for row in order[1:]:
        value = score_of([*chosen, row])
        if value >= best:
            chosen, best = [*chosen, row], value
    return chosen


@dataclass(frozen=True, slots=True)
class Kitchen:
    """Scores soups of some networks on dev.

    Attributes:
        members: The networks, all of one kind.
        dev: Gold documents.
        report: Gets every score.
    """

    members: Sequence[Ingredient]
    dev: Dev
    report: Report

    def network(self, rows: Sequence[int]) -> JointNetwork:
        """A network with the mean of the weights of some members."""
        network = copy.deepcopy(self.members[rows[0]].network)
        mean = mean_weights([self.members[row].weights() for row in rows])
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                parameter.copy_(mean[name])
        return network

    def score(self, rows: Sequence[int]) -> float:
        """Mean dev F1 of a soup at thresholds fitted for it, in fp32."""
        scores = self._scores(self.network(rows))
        names = [self.members[row].name for row in rows]
        self.report(
            {"event": "soup", "members": names, **scores.stated(), "mean": round(scores.mean, 2)}
        )
        return scores.mean

    def _scores(self, network: JointNetwork) -> DevScores:
        first, dev = self.members[0], self.dev
        remembering = RememberingNetwork(TorchNetwork(network))
        pipeline = Pipeline(remembering, first.rules.encoder(), first.labels, first.rules.limit)
        settings = fit_settings(pipeline, dev.documents, DEV_SETTINGS, dev.complete, dev.serve)
        symmetric = first.labels.relations.symmetric
        return dev_scores(dev.serve(pipeline, settings), dev.documents, symmetric, dev.complete)


def make_soup(
    members: Sequence[Ingredient],
    dev: Dev,
    dev_origin: str,
    method: str,
    output: Path,
    report: Report,
) -> ModelConfig:
    """Averages networks and writes the model folder of the soup.

    Args:
        members: The networks, all of one kind.
        dev: Gold documents that members are chosen and thresholds are fitted on.
        dev_origin: What the model card says of them.
        method: ``uniform``: all of them; ``greedy``: those that help.
        output: The new model folder; its name is the model's name.
        report: Gets the dev scores of every member and soup.

    Raises:
        UsageError: There is no such method.
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    if method not in METHODS:
        raise UsageError(f"--method {method} is not possible", f"choose from: {', '.join(METHODS)}")
    require_new(output)
    kitchen = Kitchen(members, dev, report)
    alone = [kitchen.score([row]) for row in range(len(members))]
    rows = list(range(len(members)))
    if method == "greedy":
        rows = greedy_soup(alone, kitchen.score)
    else:
        kitchen.score(rows)
    first = members[0]
    origin = {
        "encoder": first.encoder,
        "weights": f"{method} mean of {len(rows)} of {len(members)} trainings: "
        + ", ".join(Path(members[row].name).name for row in rows),
        "dev data": dev_origin,
    }
    packaging = Packaging(
        output.name, first.schema, first.labels, first.rules, dev.documents, origin,
        given_entities=first.given,
    )  # fmt: skip
    with explained(output):
        return write_model_folder(kitchen.network(rows), packaging, output)
