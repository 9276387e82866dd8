"""The stages of the edition: processes that share one GPU, each doing as much as its time allows."""

from __future__ import annotations

import itertools
import json
import pickle
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from research.distillation.ensemble import Ensemble, Member, frames_of
from research.models.network_stages import half_precision
from research.models.stage import NetworkArtifact
from research.pretraining.command import pretrain, room_of, write_encoder
from research.pretraining.steps import load_pretrain_config
from research.recipes import find_recipe
from research.unlabelled import read_unlabelled
from sciextract.documents.document import Document
from sciextract.documents.schema_file import load_schema
from sciextract.errors import TrainingDataError
from sciextract.inference.model_folder import open_folder
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract_trainer.build import SubwordRules, build_network, labels_of, load_subword_rules
from sciextract_trainer.checkpoint import TimeIsUp, replacing
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.data.gold import read_gold
from sciextract_trainer.data.soft_labels import (
    TEACHER_SETTINGS,
    SoftDocument,
    soft_examples,
    targets_from,
)
from sciextract_trainer.hardware import choose_device, describe, has_fast_bf16
from sciextract_trainer.loop import BEST, Stepper, TrainingData, train
from sciextract_trainer.network.joint import RememberingNetwork, TorchNetwork
from sciextract_trainer.optimisation import WeightAverage, make_optimiser
from sciextract_trainer.warm_start import StartModel, open_start_model

SHIPPED = "code/sciextract/bundled/sci"
TEACHERS, STUDENTS = (1, 2, 3), (1, 2)
"""Seeds."""

STEPS, EPOCHS = 2500, 10
"""The most that reading and teachers take, as the plan ``sci-5`` has them."""

PARTS = 4
"""Parts of a student's pass: after each its weights are kept."""

CHUNK = 100
"""Texts that are labelled at a time: their states of 768 units take about half a gigabyte for each teacher."""

_SAFE = 0.85
"""Share of a stage's time that is planned for steps; the rest is for scores on dev and files."""

_PROBED, _WARM = 12, 4


@dataclass(frozen=True, slots=True)
class Edition:
    """Where an edition is made.

    Attributes:
        packed: What ``pack`` wrote, unpacked: ``mpnet``, ``scierc``, ``texts`` and the code with the shipped model.
        runs: Results of the stages.
        share: Share of every count, below 1 for a rehearsal.
    """

    packed: Path
    runs: Path
    share: float = 1.0

    def scaled(self, count: int) -> int:
        """So many of a whole edition's count."""
        return max(1, round(self.share * count))

    @property
    def encoder(self) -> Path:
        """The encoder of the teachers; as it came where it has not read on."""
        read = self.runs / "read" / "encoder"
        return read if (self.runs / "read.json").is_file() else self.packed / "mpnet"

    def gold(self, part: str, most: int) -> list[Any]:
        """Abstracts of SciERC."""
        path = self.packed / "scierc" / f"{part}.jsonl"
        return read_gold(path, load_schema("scierc"))[: self.scaled(most)]

    def shards(self) -> list[Path]:
        """Files of unlabelled texts."""
        return sorted((self.packed / "texts").glob("*.jsonl.gz"))

    def start(self) -> StartModel:
        """The shipped model, which teaches with the others and which the students begin with."""
        return open_start_model(open_folder(self.packed / SHIPPED))

    def note(self, stage: str, count: int, unit: str, seconds: float, **facts: Any) -> None:
        """Marks a stage as finished, with its speed."""
        speed = {"count": count, "unit": unit, "seconds": round(seconds, 1)}
        facts |= {**speed, "device": describe(choose_device("auto"))}
        with replacing(self.runs / f"{stage}.json") as temporary:
            temporary.write_text(json.dumps(facts), "utf-8")

    def size(self, stage: str, choose: Callable[[], int]) -> int:
        """How much a stage does: what an interrupted call chose, for its schedule depends on it."""
        path = self.runs / stage / "size.json"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            chosen = choose()
            path.write_text(json.dumps(chosen), "utf-8")
        return int(json.loads(path.read_text("utf-8")))


def read_field(edition: Edition, until: float) -> None:
    """The teachers' encoder reads all texts that travelled."""
    folder, source = edition.runs / "read", str(edition.packed / "mpnet")
    rates = {"lr": 1e-4, "batch_blocks": edition.scaled(64), "checkpoint_steps": 1_000}
    config = load_pretrain_config(
        find_recipe("mlm-minilm"), encoder=source, steps=_PROBED * 2, **rates
    )
    room = room_of(config, source, edition.shards(), edition.scaled(1_000_000), folder, _quiet)
    events: list[dict[str, Any]] = []

    def choose() -> int:
        pretrain(config, room, folder / "probe", events.append)
        step = config.length * config.batch_blocks / events[1]["subwords_per_second"]
        return max(1, min(edition.scaled(STEPS), int(_plan(1 / step, until))))

    chosen = replace(config, steps=edition.size("read", choose))
    since = time.monotonic()
    network = pretrain(chosen, replace(room, config=chosen), folder, events.append, until)
    seconds = time.monotonic() - since
    write_encoder(network, source, folder / "encoder", head=False)
    subwords = events[-1]["step"] * config.length * config.batch_blocks
    edition.note("read", subwords, "subwords", seconds, loss=events[-1]["loss"])


def teach(edition: Edition, seed: int, until: float) -> None:
    """One larger network learns from gold."""
    stage = f"teacher-{seed}"
    config = _on_device(
        load_config(find_recipe("sci-base-teacher"), encoder=str(edition.encoder), seed=seed)
    )
    rules = load_subword_rules(config.encoder)
    labels = labels_of(load_schema("scierc"), config.max_span_width)
    gold = edition.gold("train", 350)
    examples = list(examples_from(gold, labels, rules.encoder(), rules.limit))

    def choose() -> int:
        speed = _documents_per_second(
            build_network(config, labels), config, labels, rules, examples
        )
        return max(1, min(EPOCHS, int(_plan(speed, until) / len(examples))))

    epochs = edition.size(stage, choose)
    config = replace(config, epochs=epochs, evaluate_every=min(2, epochs))
    _train(edition, stage, config, labels, rules, examples, None, until)


def label(edition: Edition, number: int, of: int, until: float) -> None:
    """Finished teachers and the shipped model say what is in one of ``of`` shares of the texts."""
    torch.set_num_threads(1)
    device, start = choose_device("auto"), edition.start()
    teachers = [edition.runs / f"teacher-{seed}" for seed in TEACHERS]
    running = [
        half_precision(
            NetworkArtifact(teacher / BEST, TrainConfig(encoder=str(edition.encoder)), teacher),
            start.labels, device,
        )
        for teacher in teachers
        if (teacher / BEST).is_file()
    ]  # fmt: skip
    shipped = start.network(TrainConfig(encoder="", bf16=has_fast_bf16(device))).to(device)
    rules = start.rules
    running.append(Pipeline(TorchNetwork(shipped), rules.encoder(), start.labels, rules.limit))
    folder, since, count = edition.runs / "labels", time.monotonic(), 0
    folder.mkdir(parents=True, exist_ok=True)
    for shard in edition.shards()[number::of]:
        documents = read_unlabelled([shard], edition.scaled(10_000))
        for place in itertools.count():
            chunk = list(itertools.islice(documents, CHUNK))
            path = folder / f"{shard.name.partition('.')[0]}-{place:03}.pickle"
            if not chunk or time.monotonic() > until:
                break
            if path.is_file():
                continue
            ensemble = Ensemble([Member(_prime(network, chunk)) for network in running])
            layout = start.labels.relations
            soft = [
                SoftDocument(
                    document, targets_from(ensemble.predict(document, TEACHER_SETTINGS), layout)
                )
                for document in chunk
            ]
            examples = list(soft_examples(soft, start.labels, rules.encoder(), rules.limit))
            # Pickles are read again by this run only; to make the examples anew takes a student minutes.
            with replacing(path) as temporary:
                temporary.write_bytes(pickle.dumps(examples, protocol=5))
            count += len(chunk)
    edition.note(f"label-{number}", count, "abstracts", time.monotonic() - since)


def learn(edition: Edition, seed: int, until: float) -> None:
    """One student goes on from the shipped model with the soft labels, one pass, without gold."""
    stage, start = f"student-{seed}", edition.start()
    config = _on_device(student_config(start, seed))
    examples: list[Example] = []
    for path in sorted((edition.runs / "labels").glob("*.pickle")):
        examples += pickle.loads(path.read_bytes())
    if not examples:
        raise TrainingDataError("no texts are labelled", "read the label-*.error of the run folder")

    def choose() -> int:
        network = start.network(config)
        speed = _documents_per_second(network, config, start.labels, start.rules, examples)
        return max(PARTS, min(len(examples), int(_plan(speed, until))))

    # Each student has the rest of another part where there is no time for all.
    few = examples[seed - 1 :: len(STUDENTS)] + examples[len(STUDENTS) - seed :: len(STUDENTS)]
    few = few[: edition.size(stage, choose)]
    _train(edition, stage, config, start.labels, start.rules, few, start.network(config), until)


def student_config(start: StartModel, seed: int) -> TrainConfig:
    """The recipe of a student."""
    # Twice the documents of a step, and rates that grow with the root of it: steps are what takes time on a GPU.
    rates = {"encoder_lr": 2e-4, "head_lr": 1.4e-3, "batch_documents": 8}
    recipe = load_config(find_recipe("sci-student"), encoder="", seed=seed, **rates)
    return start.fit(replace(recipe, epochs=PARTS, parts=PARTS))


def _train(
    edition: Edition, stage: str, config: TrainConfig, labels: Labels, rules: SubwordRules,
    examples: Sequence[Example], network: nn.Module | None, until: float,
) -> None:  # fmt: skip
    """Trains until the last epoch or the end of the time, and notes what there is of it."""
    folder, since = edition.runs / stage, time.monotonic()
    data = TrainingData(examples, edition.gold("dev", 50), selects=network is None)
    with suppress(TimeIsUp):
        train(
            config, labels, rules, data, folder, _quiet, network, choose_device("auto"), until=until
        )
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    scores, seconds = json.loads(lines[-1]), time.monotonic() - since
    seen = scores["epoch"] * len(examples) // config.parts
    edition.note(stage, seen, "abstracts", seconds, planned=config.epochs, scores=scores)


def _documents_per_second(
    network: nn.Module, config: TrainConfig, labels: Labels, rules: SubwordRules,
    examples: Sequence[Example],
) -> float:  # fmt: skip
    """Measured in some steps of a network that is not used again, beside the other processes of the stage."""
    device = choose_device("auto")
    network.to(device).train()
    stepper = Stepper(config, labels, rules, device, _quiet)
    optimiser, average = make_optimiser(network, config), WeightAverage(network, config.ema)
    size, began = config.batch_documents, time.monotonic()
    for step in range(_WARM + _PROBED):
        if step == _WARM:
            began = time.monotonic()
        first = step * size % max(1, len(examples) - size + 1)
        stepper.step(network, optimiser, average, None, examples[first : first + size])
    return _PROBED * min(size, len(examples)) / (time.monotonic() - began)


def _prime(pipeline: Pipeline, documents: Sequence[Document]) -> Pipeline:
    """The pipeline with the states of all documents, which the encoder makes in few calls of alike lengths."""
    network = RememberingNetwork(pipeline.network)
    frames = [frame for document in documents for _, frame in frames_of(pipeline, document)]
    frames.sort(key=lambda frame: len(frame.input_ids))
    for first in range(0, len(frames), 20):
        network.encode(frames[first : first + 20])
    return replace(pipeline, network=network)


def _plan(speed: float, until: float) -> float:
    return _SAFE * speed * (until - time.monotonic())


def _on_device(config: TrainConfig) -> TrainConfig:
    return replace(config, bf16=config.bf16 and has_fast_bf16(choose_device("auto")))


def _quiet(event: object) -> None:
    """What the libraries say in between; a stage notes its end."""
