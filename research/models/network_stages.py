"""Stages that make networks and soft labels: ``train``, ``label``, ``soup`` and ``bundled``."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from research.distillation.task import LABELS, Texts, label_texts
from research.distillation.teachers import open_panel
from research.models.stage import Artifact, EncoderArtifact, LabelsArtifact, NetworkArtifact, Stage
from research.recipes import find_recipe
from research.reporting import as_mappings
from sciextract.errors import ModelDamagedError, ModelMismatchError, UsageError
from sciextract.inference.model_folder import (
    MANIFEST,
    locate_model,
    open_folder,
)
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.retraining.run_folder import Run
from sciextract_trainer.build import (
    SubwordRules,
    build_network,
    family_of,
    labels_for,
    load_subword_rules,
)
from sciextract_trainer.checkpoint import explaining, load_weights, recording, replacing
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.data.soft_labels import SoftDocument, load_targets, soft_examples
from sciextract_trainer.hardware import choose_device, has_fast_bf16
from sciextract_trainer.loop import BEST, TrainingData, train
from sciextract_trainer.network.joint import TorchNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import open_start_model

if TYPE_CHECKING:
    from torch import Tensor

    from research.models.context import BuildContext


@dataclass(frozen=True, kw_only=True)
class Train(Stage):
    """A training on gold, on soft labels or on both.

    Attributes:
        encoder: What it starts from, with fresh heads.
        start: Stage whose network it goes on from instead; of the same encoder.
        recipe: Training recipe.
        gold: Gold in the data folder; none when empty.
        gold_times: How often an epoch has each gold document.
        labels: Stages that labelled texts.
        change: Settings that replace the recipe's, such as ``seed``.
    """

    makes: ClassVar[type[Artifact]] = NetworkArtifact

    encoder: str
    recipe: str
    start: str = ""
    gold: str = ""
    gold_times: int = 1
    labels: tuple[str, ...] = ()
    change: Mapping[str, Any] = field(default_factory=dict)

    def uses(self) -> Mapping[str, type[Artifact]]:
        """Earlier stages."""
        start = {self.start: NetworkArtifact} if self.start else {}
        return {
            self.encoder: EncoderArtifact,
            **start,
            **dict.fromkeys(self.labels, LabelsArtifact),
        }

    def inputs(self, context: BuildContext) -> dict[str, str]:
        """Files and recipe."""
        gold = context.hashes([context.file(self.gold)]) if self.gold else {}
        recipe = {k: v for k, v in self._config("").to_json().items() if k != "encoder"}
        return {**gold, "recipe": json.dumps(recipe, sort_keys=True)}

    def work(self, context: BuildContext, folder: Path) -> None:
        """Makes it, or goes on."""
        made, device = self.product(context, folder), choose_device("auto")
        config = replace(made.config, bf16=made.config.bf16 and has_fast_bf16(device))
        labels, rules = labels_for(config, context.schema), load_subword_rules(config.encoder)
        examples = self._examples(context, labels, rules)
        network = self._network(context, config, labels)
        context.report({"event": "data", "examples": len(examples), "dev": len(context.dev)})
        with recording(Run(folder), device):
            train(
                config, labels, rules, TrainingData(examples, context.dev), folder, as_mappings(context.report),
                network, device=device, until=context.until,
            )  # fmt: skip
        if self.start:
            _add_frozen(made.weights, context.made(self.start, NetworkArtifact).weights)
        write_checked_model(context, made)

    def product(self, context: BuildContext, folder: Path) -> NetworkArtifact:
        """What it made."""
        config = self._config(str(context.made(self.encoder, EncoderArtifact).folder))
        return NetworkArtifact(folder / BEST, config, folder / "model")

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        return {"seed": self._config("").seed, "scores": dev_scores_of(folder / "model")}

    def _network(
        self, context: BuildContext, config: TrainConfig, labels: Labels
    ) -> nn.Module | None:
        """The network of the stage that it goes on from."""
        if not self.start:
            return None
        network: nn.Module = family_of(config).build(config, labels)
        load_weights(context.made(self.start, NetworkArtifact).weights, network)
        return network

    def _examples(
        self, context: BuildContext, labels: Labels, rules: SubwordRules
    ) -> Sequence[Example]:
        subwords, found = rules.encoder(), list[Example]()
        for name in self.labels:
            labelled = read_labels(context.made(name, LabelsArtifact))
            found += soft_examples(labelled, labels, subwords, rules.limit)
        if self.gold:
            gold = read_gold(context.file(self.gold), context.schema)
            found += list(examples_from(gold, labels, subwords, rules.limit)) * self.gold_times
        return found

    def _config(self, encoder: str) -> TrainConfig:
        return load_config(find_recipe(self.recipe), **{**self.change, "encoder": encoder})


def _add_frozen(trained: Path, start: Path) -> None:
    """Adds weights that only the start network has: embeddings of a bundled model, which training leaves as they are."""
    weights, before = load_file(trained), load_file(start)
    if before.keys() - weights.keys():
        with replacing(trained) as temporary:
            save_file(before | weights, temporary)


@dataclass(frozen=True, kw_only=True)
class Label(Stage):
    """Soft labels of a panel of networks.

    Attributes:
        teachers: Stages whose networks teach.
        texts: Shards of abstracts, names or patterns in the data folder.
        most: Abstracts to label.
        skip: Abstracts to leave out before these.
        weights: How much each teacher says; all the same when empty.
        temperature: Divisor of their logits.
    """

    makes: ClassVar[type[Artifact]] = LabelsArtifact

    teachers: tuple[str, ...]
    texts: tuple[str, ...]
    most: int
    skip: int = 0
    weights: tuple[float, ...] = ()
    temperature: float = 1.0

    def uses(self) -> Mapping[str, type[Artifact]]:
        """Earlier stages."""
        return dict.fromkeys(self.teachers, NetworkArtifact)

    def inputs(self, context: BuildContext) -> dict[str, str]:
        """Files and recipe."""
        return context.hashes(context.texts(self.texts))

    def work(self, context: BuildContext, folder: Path) -> None:
        """Makes it, or goes on."""
        made = [context.made(name, NetworkArtifact) for name in self.teachers]
        panel = open_panel([network.model for network in made], self.weights, self.temperature)
        device = choose_device("auto")
        # The fp32 graphs run on the processor only and take longer: 133 ms instead of 96 for 110 million parameters.
        quick = made if has_fast_bf16(device) else []
        pipelines = [half_precision(model, panel.labels, device) for model in quick]
        target = self.product(context, folder)
        with one_thread_each():
            label_texts(
                panel, target.texts, target.folder, context.report, context.until, pipelines
            )

    def product(self, context: BuildContext, folder: Path) -> LabelsArtifact:
        """What it made."""
        return LabelsArtifact(folder / LABELS, self._texts(context))

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        shards = sorted((folder / LABELS).glob("soft-*.npz"))
        return {"abstracts": sum(len(load_targets(shard).keys) for shard in shards)}

    def _texts(self, context: BuildContext) -> Texts:
        return Texts(context.texts(self.texts), self.most, self.skip)


def half_precision(made: NetworkArtifact, labels: Labels, device: torch.device) -> Pipeline:
    """A trained network as it predicts with an encoder in bfloat16."""
    config = replace(made.config, bf16=True)
    network = build_network(config, labels)
    load_weights(made.weights, network)
    rules = load_subword_rules(config.encoder)
    return Pipeline(TorchNetwork(network.to(device)), rules.encoder(), labels, rules.limit)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """One core for each call of torch: documents are labelled in threads already."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True, kw_only=True)
class Soup(Stage):
    """A uniform soup (Wortsman et al. 2022, "Model soups", arXiv 2203.05482, section 2).

    Attributes:
        members: Stages whose networks are averaged; they begin with the same encoder.
    """

    makes: ClassVar[type[Artifact]] = NetworkArtifact

    members: tuple[str, ...]

    def uses(self) -> Mapping[str, type[Artifact]]:
        """Earlier stages."""
        return dict.fromkeys(self.members, NetworkArtifact)

    def work(self, context: BuildContext, folder: Path) -> None:
        """Makes it, or goes on."""
        made = [context.made(name, NetworkArtifact) for name in self.members]
        tensors = [load_file(network.weights) for network in made]
        for name, member, other in zip(self.members, made, tensors, strict=True):
            if member.config.encoder != made[0].config.encoder or _shapes(other) != _shapes(
                tensors[0]
            ):
                raise ModelMismatchError(
                    f"{name} and {self.members[0]} cannot be averaged: their encoders or sizes differ",
                    "members of a soup are trainings of one encoder with one recipe",
                )
        with replacing(folder / BEST) as temporary:
            save_file(mean_weights(tensors), temporary)
        write_checked_model(context, self.product(context, folder))

    def product(self, context: BuildContext, folder: Path) -> NetworkArtifact:
        """What it made."""
        first = context.made(self.members[0], NetworkArtifact)
        return NetworkArtifact(folder / BEST, first.config, folder / "model")

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        return {"scores": dev_scores_of(folder / "model")}


def mean_weights(members: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each weight, all of equal share."""
    return {
        name: torch.stack([member[name] for member in members]).mean(dim=0) for name in members[0]
    }


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in tensors.items()}


@dataclass(frozen=True, kw_only=True)
class Bundled(Stage):
    """An edition of a model of the package, with the weights that its graphs have.

    Attributes:
        model: Its name.
        manifest: Hash of its manifest.
        encoder: A starting encoder with its architecture and tokenizer.
        commit: A commit of this repository that has the edition, for where the package has another one.
    """

    makes: ClassVar[type[Artifact]] = NetworkArtifact

    model: str
    manifest: str
    encoder: str
    commit: str = ""

    def uses(self) -> Mapping[str, type[Artifact]]:
        """The starting encoder."""
        return {self.encoder: EncoderArtifact}

    def work(self, context: BuildContext, folder: Path) -> None:
        """Reads the weights, those of the embeddings too, and copies the folder.

        Raises:
            ModelMismatchError: The package has another edition of the model and the history of this checkout has
                not the named one, or the encoder has other sizes.
        """
        found, made = open_folder(locate_model(self.model)), self.product(context, folder)
        if found.hash != self.manifest and self.commit:
            found = open_folder(_folder_at(self.commit, f"sciextract/bundled/{self.model}", folder))
        if found.hash != self.manifest:
            raise ModelMismatchError(
                f"the plan names the model {self.model} with the hash {self.manifest[:12]}, found was {found.hash[:12]}",
                "check out a version with that model, or write the hash of this one into the plan",
            )
        network = open_start_model(found).network(made.config)
        weights = {name: value.detach() for name, value in network.named_parameters()}
        later = build_network(made.config, found.config.labels)
        if _shapes(dict(later.named_parameters())) != _shapes(weights):
            raise ModelMismatchError(
                f"the encoder {self.encoder} has other sizes than that of the model {self.model}",
                "name the encoder that the model began with",
            )
        with replacing(made.model) as temporary:
            shutil.copytree(found.path, temporary)
        with replacing(made.weights) as temporary:
            save_file(weights, temporary)

    def product(self, context: BuildContext, folder: Path) -> NetworkArtifact:
        """What it made."""
        encoder = context.made(self.encoder, EncoderArtifact).folder
        return NetworkArtifact(folder / BEST, TrainConfig(encoder=str(encoder)), folder / "model")

    def outcome(self, folder: Path) -> dict[str, Any]:
        """Facts for the record."""
        return {"scores": dev_scores_of(folder / "model")}


def _folder_at(commit: str, name: str, target: Path) -> Path:
    """A folder of this repository as a commit has it, below ``target``.

    Raises:
        ModelMismatchError: The checkout has no git, or not this commit.
    """
    root = Path(__file__).resolve().parents[2]
    command = ["git", "-C", str(root), "archive", commit, name]
    try:
        archive = subprocess.run(command, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ModelMismatchError(
            f"{name} of commit {commit} is needed and not in the history of {root}",
            "make the stage in a full clone of the repository (git fetch --unshallow)",
        ) from error
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        members.extractall(target, filter="data")
    return target / name


def write_checked_model(context: BuildContext, made: NetworkArtifact) -> None:
    """Exports a network with both precisions, for teaching, evaluating and shipping, unless that is done."""
    if (made.model / MANIFEST).is_file():
        return
    labels, rules = labels_for(made.config, context.schema), load_subword_rules(made.config.encoder)
    network = build_network(made.config, labels)
    load_weights(made.weights, network)
    packaging = Packaging(
        made.model.parent.name, context.schema, labels, rules, context.dev, {"plan": context.plan.name},
        precisions=("int8", "fp32"),
    )  # fmt: skip
    with explaining(made.model):
        write_model_folder(network, packaging, made.model)


def dev_scores_of(model: Path) -> dict[str, Any]:
    """Dev F1 by precision."""
    scores = open_folder(model, hashes=False).config.scores
    return {name: scores[name] for name in ("int8", "fp32")}


def read_labels(made: LabelsArtifact) -> list[SoftDocument]:
    """Texts with their labels.

    Raises:
        ModelDamagedError: A shard is damaged, or there are fewer or more labels than texts.
        UsageError: The labels are of other texts.
    """
    shards = [load_targets(path) for path in sorted(made.folder.glob("soft-*.npz"))]
    keys = [key for shard in shards for key in shard.keys]
    targets = [target for shard in shards for target in shard.targets]
    documents = made.texts.documents()
    if len(keys) != len(documents):
        few = len(keys) < len(documents)
        raise ModelDamagedError(
            f"{made.folder} has labels of {len(keys)} texts, wanted are {len(documents)}",
            "give the command again: missing shards are labelled"
            if few
            else "remove the shards of other texts",
        )
    for key, document in zip(keys, documents, strict=True):
        if key != document.doc_key:
            raise UsageError(
                f"{made.folder} has labels of {key} where the texts have {document.doc_key}",
                "give the texts that were labelled, or remove the folder",
            )
    return [SoftDocument(*pair) for pair in zip(documents, targets, strict=True)]
