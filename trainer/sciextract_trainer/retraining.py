"""``sciextract retrain --project``: from a snapshot to a trained and exported model, each stage kept in the run folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from sciextract.documents.document import Document
from sciextract.documents.schema import LabelSchema
from sciextract.inference.batching import usable_cores
from sciextract.inference.model_folder import MANIFEST, PAIRS_GRAPH, ModelFolder
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.tokenization import with_cut_words
from sciextract.retraining.curves import draw_curves, origin_of
from sciextract.retraining.remote.jobs import name_of, place_of
from sciextract.retraining.request import Ending, Order, open_run
from sciextract.retraining.run import (
    Narrator,
    circumstances,
    judge,
    model_name,
    opened_snapshot,
    start_model,
    take_snapshot,
)
from sciextract.retraining.run_folder import MODEL, SNAPSHOT, Run
from sciextract.retraining.snapshot import (
    Manifest,
    Origin,
    Snapshot,
    TrainingDocument,
    read_undecided,
)
from sciextract.retraining.snapshot.augmented import positives
from sciextract.workflows.events import Report
from sciextract_trainer.build import labels_of
from sciextract_trainer.config import TrainConfig, config_from, load_config
from sciextract_trainer.data.augment import decided_swaps
from sciextract_trainer.data.examples import Example
from sciextract_trainer.data.gold import decided_examples
from sciextract_trainer.data.soft import soft_examples
from sciextract_trainer.distillation.labelling import label_softly
from sciextract_trainer.families import as_joint
from sciextract_trainer.hardware.device import choose_device, describe, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.run import find_recipe
from sciextract_trainer.sessions import recorded
from sciextract_trainer.warm_start import StartModel, open_start_model

SOFT_PER_BASE = 1.5
"""Abstracts to distil on per document of the base, so that neither drowns the other."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a round learns from.

    Attributes:
        examples: Of the documents that were decided.
        rehearsal: Against forgetting.
        config: The recipe, with the pull that goes with it.
        method: ``replay``, ``distillation``, ``replay and distillation``, or ``pull``.
        told: The method in words.
    """

    examples: Sequence[Example]
    rehearsal: Sequence[Example]
    config: TrainConfig
    method: str
    told: str


def gather(
    train: Sequence[TrainingDocument],
    snapshot: Path,
    start: StartModel,
    config: TrainConfig,
    folder: Path,
    report: Report,
) -> Material:
    """Examples of the decided documents, and what goes with them against forgetting.

    Args:
        train: The training split.
        snapshot: Its folder, which holds the abstracts that are free.
        start: The model that is trained on.
        config: The recipe.
        folder: Keeps the labels of the start model, so that an interrupted run has them.
        report: Told how the labelling goes.
    """
    labels, subwords, limit = start.labels, start.rules.encoder(), start.rules.limit
    own = [item for item in train if item.origin is not Origin.BASE]
    base = [item for item in train if item.origin is Origin.BASE]
    examples = list(decided_examples(own or base, labels, subwords, limit))
    replayed = list(decided_examples(base, labels, subwords, limit)) if own else []
    soft = _distilled(_free(snapshot, start, config, examples, base), start, folder, report)
    kept = replace(config, pull=0.0) if base else config
    pool = [*replayed, *soft]
    each = min(config.rehearsed(len(examples)), len(pool))
    return Material(
        examples, pool, kept, *_told(len(base) if own else 0, len(soft), each, kept.pull)
    )


def _free(
    snapshot: Path,
    start: StartModel,
    config: TrainConfig,
    examples: Sequence[Example],
    base: Sequence[TrainingDocument],
) -> list[Document]:
    """Undecided abstracts to distil on: as many as all epochs can draw, and in balance with a base."""
    if start.labels != start.folder.config.labels:
        return []
    wanted = config.rehearsed(len(examples)) * config.epochs
    most = round(len(base) * SOFT_PER_BASE) if base else wanted
    return list(islice(read_undecided(snapshot), min(wanted, most)))


def _told(base: int, soft: int, each: int, pull: float) -> tuple[str, str]:
    """The method, and what it does in words."""
    ways = {
        "replay": f"{base} base documents" if base else "",
        "distillation": f"the start model's labels of {soft} undecided abstracts" if soft else "",
    }
    used = {name: words for name, words in ways.items() if words}
    drawn = f"{each} an epoch of {' and '.join(used.values())}" if used else ""
    pulled = f"a pull of {pull:g} to the start weights" if pull else ""
    words = ", ".join(part for part in (drawn, pulled) if part)
    return " and ".join(used) or "pull", words or "nothing: the base is all there is to learn from"


def _distilled(
    free: Sequence[Document], start: StartModel, folder: Path, report: Report
) -> list[Example]:
    if not free:
        return []
    model, subwords, limit = start.folder, start.rules.encoder(), start.rules.limit
    network = OnnxNetwork(model.graph(None), model.path / PAIRS_GRAPH, usable_cores())
    teacher = Pipeline(network, subwords, start.labels, limit)
    named = [replace(each, doc_key=f"{each.doc_key} {each.text_sha256[:8]}") for each in free]
    labelled = label_softly(teacher, named, folder, report)
    return list(soft_examples(labelled, start.labels, subwords, limit))


RECIPE = "correction-round"
TRAINING, SOFT = "training", "soft"
"""Folders of checkpoints and of the start model's labels."""

LEAST_DEV = 30
"""Dev documents from which on they choose epoch and thresholds; fewer do not tell one from another."""

_SAMPLES = 8


class Round:
    """The part of a correction round that needs torch; another machine may do it.

    Args:
        run: Its folder, with ``run.json`` and the snapshot.
        order: What is wanted.
        device: Where the network is trained.
        narrator: Told what happens.
    """

    def __init__(self, run: Run, order: Order, device: torch.device, narrator: Narrator) -> None:
        self._run = run
        self._order = order
        self._device = device
        self._narrator = narrator

    def learn(self, folder: ModelFolder) -> None:
        """Train on from a model and export the new one, unless an earlier process has done it.

        Args:
            folder: The model to start from.

        Raises:
            SciextractError: A stage cannot be done; what is finished is kept.
        """
        schema, snapshot = opened_snapshot(self._run)
        start = open_start_model(folder)
        self._tell_start(start)
        self._tell_snapshot(snapshot.manifest)
        if (self._run.folder / MODEL / MANIFEST).is_file():
            return
        start = start.with_labels(labels_of(schema, start.labels.max_span_width))
        if start.folder.config.cuts_words:
            snapshot = _with_cut_words(snapshot)
        with recorded(self._run, self._device):
            network, config = self._train(start, snapshot)
        self._export(start, schema, snapshot, network, config)

    def _tell_start(self, start: StartModel) -> None:
        told = circumstances()
        told["versions"]["torch"] = torch.__version__
        self._run.write_run(device=describe(self._device), **told)
        self._narrator.event(
            {
                "event": "start",
                "run": self._run.name,
                "folder": str(self._run.folder),
                "project": str(self._order.path),
                "start_model": self._run.run()["start_model"]["id"],
                "weights": start.precision,
                "device": describe(self._device),
                "epochs": self._config(start).epochs,
            }
        )

    def _config(self, start: StartModel) -> TrainConfig:
        """The recipe as the run began with it; bfloat16 only where the device is faster with it."""
        stored = self._run.run().get("config")
        if stored is not None:
            return config_from(stored, str(self._run.folder))
        recipe = find_recipe(self._order.recipe or RECIPE)
        values = {"encoder": str(start.folder.path), **self._order.changes}
        config = start.fit(load_config(recipe, **values))
        settings = config.to_json() | {"bf16": config.bf16 and has_fast_bf16(self._device)}
        self._run.write_run(config=settings)
        return config_from(settings, str(recipe))

    def _tell_snapshot(self, manifest: Manifest) -> None:
        counts = {split.value: counts.documents for split, counts in manifest.splits.items()}
        self._narrator.event(
            {
                "event": "snapshot", **counts, "undecided": manifest.undecided,
                "share_of_base": round(manifest.share_of_base, 3),
            }
        )  # fmt: skip
        for warning in manifest.warnings:
            self._narrator.event({"event": "warning", "message": warning})

    def _train(self, start: StartModel, snapshot: Snapshot) -> tuple[JointNetwork, TrainConfig]:
        config, folder = self._config(start), self._run.folder
        for label in start.new_labels:
            told = f"the start model does not know {label}; it is learned from the beginning"
            self._narrator.event({"event": "warning", "message": told})
        material = gather(
            snapshot.train, folder / SNAPSHOT, start, config, folder / SOFT,
            self._narrator.event,
        )  # fmt: skip
        self._run.write_run(forgetting=material.method)
        self._narrator.event(
            {"event": "forgetting", "method": material.method, "message": material.told}
        )
        self._narrator.state(
            "training", f"training on {describe(self._device)}", epochs=config.epochs
        )
        return self._trained(start, snapshot, material), material.config

    def _trained(self, start: StartModel, snapshot: Snapshot, material: Material) -> JointNetwork:
        data = TrainingData(
            material.examples,
            [positives(each.annotated) for each in snapshot.dev],
            [each.complete for each in snapshot.dev],
            material.rehearsal,
            decided_swaps(material.config, snapshot.train, start.labels, start.rules),
            selects=len(snapshot.dev) >= LEAST_DEV,
        )
        network = train(
            material.config, start.labels, start.rules, data, self._run.folder / TRAINING,
            self._narrator.event, start.network(material.config), self._device,
        )  # fmt: skip
        return as_joint(network)

    def _export(
        self, start: StartModel, schema: LabelSchema, snapshot: Snapshot,
        network: JointNetwork, config: TrainConfig,
    ) -> None:  # fmt: skip
        self._narrator.state("exporting", "exporting the new model, int8")
        self._narrator.event({"event": "export"})
        old = start.folder.config
        few = len(snapshot.dev) < LEAST_DEV
        texts = snapshot.dev or snapshot.train
        origin = self._origin(old.name, start.folder.hash, config) | self._draw()
        packaging = Packaging(
            model_name(self._order), schema, start.labels, start.rules,
            [positives(each.annotated) for each in snapshot.dev],
            origin,
            complete=[each.complete for each in snapshot.dev],
            settings=old.settings if few else None,
            samples=[positives(each.annotated) for each in texts[:_SAMPLES]],
            cuts_words=old.cuts_words,
        )  # fmt: skip
        write_model_folder(network, packaging, self._run.folder / MODEL)

    def _draw(self) -> dict[str, str]:
        """Learning curves; what the model card says of them."""
        drawn = draw_curves(self._run)
        if (
            drawn.told and place_of(self._run) is None
        ):  # the machine of the project may draw them yet
            self._narrator.event({"event": "warning", "message": drawn.told})
        return origin_of(drawn, name_of(self._run))

    def _origin(self, name: str, hash_: str, config: TrainConfig) -> dict[str, Any]:
        files = self._run.run().get("snapshot", {})
        return {
            "trained on from": f"{name}-{hash_[:8]}",
            "run": name_of(self._run),
            "training data": f"decisions in a project, sha256 {files.get('train.jsonl', '')}",
            "dev data": f"decisions in a project, sha256 {files.get('dev.jsonl', '')}",
            "against forgetting": str(self._run.run().get("forgetting", "")),
            "recipe": self._order.recipe or RECIPE,
            "seed": config.seed,
        }


def _with_cut_words(snapshot: Snapshot) -> Snapshot:
    """The snapshot as a model sees it that is served cut words."""

    def seen(item: TrainingDocument) -> TrainingDocument:
        document = with_cut_words(item.annotated.document)
        return replace(item, annotated=replace(item.annotated, document=document))

    return replace(
        snapshot, train=tuple(map(seen, snapshot.train)), dev=tuple(map(seen, snapshot.dev))
    )


def retrain_project(order: Order, folder: Path | None, device: str, report: Report) -> Ending:
    """Trains on a project's decisions, or takes up a run that was stopped.

    Args:
        order: What is wanted.
        folder: The run folder; a new one when ``None``.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        report: Gets every event.

    Raises:
        DeviceMissingError: The device is not there; nothing was done.
        TrainingDataError: There is nothing to train on.
        SciextractError: Something else cannot be done; what is finished is kept.
    """
    chosen = choose_device(device)
    run, agreed = open_run(folder, order)
    narrator = Narrator(run, report)
    with narrator.telling():
        start = start_model(run, agreed)
        take_snapshot(run, agreed, narrator)
        Round(run, agreed, chosen, narrator).learn(start)
        _, snapshot = opened_snapshot(run)
        return judge(run, agreed, narrator, start.path, snapshot)
