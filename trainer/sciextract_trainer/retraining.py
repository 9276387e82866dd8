"""The training of ``sciextract retrain --project``: from a snapshot to an exported model, each stage kept in the run folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import torch

from sciextract.documents.document import Document, ModelId
from sciextract.inference.batching import usable_cores
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import MANIFEST, PAIRS_GRAPH, open_folder
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.tokenization import with_cut_words
from sciextract.retraining.events import (
    Exporting,
    FoldStarted,
    ForgettingMethod,
    Listener,
    RunStarted,
    SnapshotOpened,
    TrainingEvent,
    Warned,
)
from sciextract.retraining.run import Prepared, Trainer, model_name
from sciextract.retraining.run_folder import MODEL, SNAPSHOT
from sciextract.retraining.status import StatusWriter
from sciextract.snapshot.documents import Origin, TrainingDocument
from sciextract.snapshot.files import Snapshot, read_undecided
from sciextract.snapshot.gathering import positives
from sciextract.workflows.models.compare import Fold, fold_file, without, write_fold
from sciextract_trainer.build import as_joint, labels_of
from sciextract_trainer.checkpoint import note_environment, recording
from sciextract_trainer.config import TrainConfig, config_from, find_recipe, load_config
from sciextract_trainer.data.examples import Example, decided_examples
from sciextract_trainer.data.gold import has_untyped
from sciextract_trainer.data.soft_labels import label_softly, soft_examples
from sciextract_trainer.hardware import describe, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork, TorchNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import StartModel, open_start_model, probe

SOFT_PER_BASE = 1.5
"""Abstracts to distil on per document of the base, so that neither drowns the other."""


@dataclass(frozen=True, slots=True)
class TrainingMix:
    """What a retraining learns from.

    Attributes:
        examples: Of the documents that were decided.
        rehearsal: Against forgetting.
        config: The recipe, with the L2-SP weight that goes with it.
        method: ``replay``, ``distillation``, ``replay and distillation``, or ``pull``.
        description: The method in words.
    """

    examples: Sequence[Example]
    rehearsal: Sequence[Example]
    config: TrainConfig
    method: str
    description: str


def training_mix(
    train: Sequence[TrainingDocument],
    snapshot: Path,
    start: StartModel,
    config: TrainConfig,
    folder: Path,
    listener: Listener,
) -> TrainingMix:
    """Examples of the decided documents, and what goes with them against forgetting.

    Args:
        train: The training split.
        snapshot: Its folder, which holds the undecided abstracts.
        start: The model that is trained on.
        config: The recipe.
        folder: Keeps the labels of the start model, so that an interrupted run has them.
        listener: Gets the progress of the labelling.
    """
    labels, subwords, limit = start.labels, start.rules.encoder(), start.rules.limit
    own = [item for item in train if item.origin is not Origin.BASE]
    base = [item for item in train if item.origin is Origin.BASE]
    examples = read_decided(train, start)
    replayed = list(decided_examples(base, labels, subwords, limit)) if own else []
    undecided: list[Document] = []
    if labels == start.folder.config.labels:  # of other labels the start model can say nothing
        wanted = config.rehearsed(len(examples)) * config.epochs
        most = round(len(base) * SOFT_PER_BASE) if base else wanted
        undecided = list(islice(read_undecided(snapshot), min(wanted, most)))
    soft: list[Example] = []
    if undecided:
        model = start.folder
        network = OnnxNetwork(model.graph(None), model.path / PAIRS_GRAPH, usable_cores())
        teacher = Pipeline(network, subwords, labels, limit)
        # Keys need not be unique in a project; shards know their documents by them.
        keyed = [
            replace(document, doc_key=f"{document.doc_key} {document.text_sha256[:8]}")
            for document in undecided
        ]
        labelled = label_softly(teacher, keyed, folder, listener)
        soft = list(soft_examples(labelled, labels, subwords, limit))
    kept = replace(config, pull=0.0) if base else config
    pool = [*replayed, *soft]
    ways = {
        "replay": f"{len(base)} base documents" if base and own else "",
        "distillation": f"the start model's labels of {len(soft)} undecided abstracts"
        if soft
        else "",
    }
    used = {name: words for name, words in ways.items() if words}
    drawn = min(config.rehearsed(len(examples)), len(pool))
    parts = [f"{drawn} an epoch of {' and '.join(used.values())}"] if used else []
    parts += [f"L2-SP weight {kept.pull:g}"] if kept.pull else []
    description = ", ".join(parts) or "nothing: the base is all there is to learn from"
    return TrainingMix(examples, pool, kept, " and ".join(used) or "pull", description)


def read_decided(train: Sequence[TrainingDocument], start: StartModel) -> list[Example]:
    """Examples of a project's documents; of the base where there are none."""
    own = [item for item in train if item.origin is not Origin.BASE]
    return list(
        decided_examples(own or train, start.labels, start.rules.encoder(), start.rules.limit)
    )


RECIPE = "correction-round"
TRAINING, TRAINING_FOLD, SOFT, PROBING = "training", "training-fold-{}", "soft", "heads"
"""Folders of checkpoints, of the start model's labels, and within one of a training of its heads' checkpoint."""

LEAST_DEV = 30
"""Dev documents from which on they choose epoch and thresholds; fewer do not tell one from another."""

_SAMPLES = 8


class LocalTrainer(Trainer):
    """Trains on this machine.

    Args:
        device: Where the network is trained.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def train(self, prepared: Prepared, status: StatusWriter) -> bool:
        """Train on from the start model and export the new one, unless an earlier process has done it.

        Raises:
            SciextractError: A stage cannot be done; what is finished is kept.
        """
        _Training(prepared, self._device, status).train()
        return True


class _Training:
    def __init__(self, prepared: Prepared, device: torch.device, status: StatusWriter) -> None:
        self._prepared = prepared
        self._run = prepared.run
        self._device = device
        self._status = status
        self._start = open_start_model(prepared.start_model)
        note_environment(prepared.run, device=describe(device))
        self._config = self._choose_config()

    def train(self) -> None:
        self._announce()
        folds = {
            number: fold
            for number, fold in enumerate(self._prepared.folds or (), start=1)
            if not fold_file(self._run.folder, number).is_file()
        }
        # The manifest is written last, so a folder that has it is whole.
        trained = (self._run.folder / MODEL / MANIFEST).is_file()
        if trained and not folds:
            return
        snapshot = self._prepared.snapshot
        start = self._start.with_labels(self._labels())
        if start.folder.config.cuts_words:  # it learns from words as it will be served them
            snapshot = replace(
                snapshot,
                train=tuple(map(_with_cut_words, snapshot.train)),
                dev=tuple(map(_with_cut_words, snapshot.dev)),
            )
        if not trained:
            self._train_model(start, snapshot)
        for number, fold in folds.items():
            self._predict_fold(start, snapshot, number, fold)

    def _train_model(self, start: StartModel, snapshot: Snapshot) -> None:
        folder, dev = self._run.folder, snapshot.dev
        with recording(self._run, self._device):
            for label in start.new_labels:
                message = f"the start model does not know {label}; it is learned from the beginning"
                self._status.event(Warned(message=message))
            mix = self._mix(start, snapshot.train, self._status.event)
            record = self._run.note(forgetting=mix.method)
            self._status.event(ForgettingMethod(method=mix.method, message=mix.description))
            self._status.enter(
                "training", f"training on {describe(self._device)}", epochs=self._config.epochs
            )
            network = self._network(start, snapshot, mix, folder / TRAINING, self._status.event)
        self._status.enter("exporting", "exporting the new model, int8")
        self._status.event(Exporting())
        origin = {
            "trained on from": f"{start.folder.config.name}-{start.folder.hash[:8]}",
            "run": self._run.name if record.remote is None else record.remote.name,
            "training data": f"decisions in a project, sha256 {record.snapshot.get('train.jsonl', '')}",
            "dev data": f"decisions in a project, sha256 {record.snapshot.get('dev.jsonl', '')}",
            "against forgetting": record.forgetting,
            "recipe": self._prepared.request.recipe or RECIPE,
            "seed": mix.config.seed,
        }
        old, request = start.folder.config, self._prepared.request
        packaging = Packaging(
            model_name(request.name, request.path), self._prepared.schema, start.labels, start.rules,
            [positives(example.annotated) for example in dev], origin,
            complete=[document.covered_layers for document in dev],
            settings=old.settings if len(dev) < LEAST_DEV else None,
            samples=[positives(example.annotated) for example in (dev or snapshot.train)[:_SAMPLES]],
            cuts_words=old.cuts_words,
        )  # fmt: skip
        write_model_folder(network, packaging, folder / MODEL)

    def _predict_fold(self, start: StartModel, snapshot: Snapshot, number: int, fold: Fold) -> None:
        """Train once more without the abstracts of a fold, and predict these as the new model would be used."""
        event = FoldStarted(number=number, of=len(self._prepared.folds or ()), documents=len(fold))
        self._status.enter_fold(event)
        self._status.event(event)
        folder = self._run.folder / TRAINING_FOLD.format(number)
        rest = replace(snapshot, train=tuple(without(snapshot.train, fold)))
        # The mix is that of the whole training, so that the soft labels on disk serve all folds.
        mix = self._mix(start, snapshot.train, _quiet)
        mix = replace(mix, examples=read_decided(rest.train, start))
        network = self._network(start, rest, mix, folder, _quiet)
        model = open_folder(self._run.folder / MODEL)
        pipeline = Pipeline(
            TorchNetwork(network), start.rules.encoder(), start.labels, start.rules.limit
        )
        extractor = Extractor(pipeline, model.config, ModelId(model.config.name, model.hash))
        left_out = [self._prepared.snapshot.train[place].annotated.document for place in fold]
        write_fold(fold_file(self._run.folder, number), extractor.stream(left_out))
        # Its checkpoints take as much room as those of the model, and nothing needs them any more.
        shutil.rmtree(folder, ignore_errors=True)

    def _choose_config(self) -> TrainConfig:
        """The recipe as the run began with it; bfloat16 only where the device is faster with it."""
        stored = self._run.record().config
        if stored is not None:
            return config_from(stored, str(self._run.folder))
        request, snapshot = self._prepared.request, self._prepared.snapshot
        recipe, changes = find_recipe(request.recipe or RECIPE), request.changes
        # Epochs that are asked for are trained, however long dev stands still.
        exact = {"patience": 0} if "epochs" in changes else {}
        values = {"encoder": str(self._start.folder.path), **changes, **exact}
        config = self._start.fit(load_config(recipe, **values))
        if not exact:
            # Decided documents of an epoch and those against forgetting, before anything is labelled.
            known = (
                self._start.with_labels(self._labels()).labels == self._start.folder.config.labels
            )
            own = sum(example.origin is not Origin.BASE for example in snapshot.train)
            others = len(snapshot.train) - own if own else 0
            others += snapshot.manifest.undecided if known else 0
            count = own or len(snapshot.train)
            config = config.within_budget(count + min(config.rehearsed(count), others))
        settings = config.to_json() | {"bf16": config.bf16 and has_fast_bf16(self._device)}
        self._run.note(config=settings)
        return config_from(settings, str(recipe))

    def _labels(self) -> Labels:
        """Those of the project; mentions without a type stay known, and are learned with new types."""
        old, schema = self._start.labels, self._prepared.schema
        train = (positives(example.annotated) for example in self._prepared.snapshot.train)
        has_new = not set(schema.entity_labels) <= set(old.entities)
        untyped = "" in old.entities or (has_new and has_untyped(train))
        return labels_of(schema, old.max_span_width, untyped)

    def _announce(self) -> None:
        """Start, snapshot and its warnings as events."""
        begun = self._run.record().start_model
        self._status.event(
            RunStarted(
                run=self._run.name,
                folder=str(self._run.folder),
                project=str(self._prepared.request.path),
                start_model=begun.id if begun else None,
                why=(begun and begun.why) or None,
                weights=self._start.precision,
                device=describe(self._device),
                epochs=self._config.epochs,
                patience=self._config.patience or None,
                bf16=self._config.bf16,
            )
        )
        manifest = self._prepared.snapshot.manifest
        counts = {split.value: counts.documents for split, counts in manifest.splits.items()}
        share = round(manifest.share_of_base, 3)
        self._status.event(
            SnapshotOpened(**counts, undecided=manifest.undecided, share_of_base=share)
        )
        for warning in manifest.warnings:
            self._status.event(Warned(message=warning))

    def _mix(
        self, start: StartModel, train: Sequence[TrainingDocument], listener: Listener
    ) -> TrainingMix:
        folder = self._run.folder
        return training_mix(train, folder / SNAPSHOT, start, self._config, folder / SOFT, listener)

    def _network(
        self,
        start: StartModel,
        snapshot: Snapshot,
        mix: TrainingMix,
        folder: Path,
        listener: Listener,
    ) -> JointNetwork:
        data = TrainingData(
            mix.examples,
            [positives(example.annotated) for example in snapshot.dev],
            [document.covered_layers for document in snapshot.dev],
            mix.rehearsal,
            selects=len(snapshot.dev) >= LEAST_DEV,
        )
        network = start.network(mix.config)
        if start.new_labels and mix.config.probe_epochs:
            probe(network, start, mix.config, data, folder / PROBING, self._device)
        trained = train(
            mix.config, start.labels, start.rules, data, folder, listener, network, self._device
        )
        return as_joint(trained)


def _quiet(event: TrainingEvent) -> None:
    """The listener of the folds' trainings: their curves are not those of the new model."""


def _with_cut_words(item: TrainingDocument) -> TrainingDocument:
    document = with_cut_words(item.annotated.document)
    return replace(item, annotated=replace(item.annotated, document=document))
