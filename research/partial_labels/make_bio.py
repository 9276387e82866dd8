"""Builds the bundled biomedical model from data to model folder: ``python -m research.partial_labels.make_bio``.

A training on several sets that each teach some types, rounds of trainings that go on from the int8 graph of what was
made before and end with the mean of their weights, int8 export, thresholds and scores set by set. Every stage keeps its result in the run folder, so that a second
call goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from research.calibration import events
from research.distillation.teachers import load_pipeline
from research.models.network_stages import mean_weights
from research.models.plan import load_plan
from research.partial_labels.calibration import calibrate_sets
from research.partial_labels.datasets import (
    SetDocument,
    SetPlan,
    TaughtSet,
    documents_of,
    load_sets,
    partial_examples,
    prepared,
    read_records,
    sentence_prefixes,
    without_leaks,
)
from research.partial_labels.graph_scores import graph_scores
from research.partial_labels.scores import Samples, card_of, fit_set_settings, score_set
from research.recipes import find_recipe
from research.reporting import Report, json_report
from sciextract import atomic
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ModelDamagedError, SciextractError
from sciextract.inference.held_out import HeldOut, held_out
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    CARD,
    CONFIG,
    GRAPHS,
    MANIFEST,
    open_folder,
    write_manifest,
)
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import annotate
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.retraining.events import print_json
from sciextract_trainer.build import (
    SubwordRules,
    as_joint,
    build_network,
    labels_of,
    load_subword_rules,
)
from sciextract_trainer.calibration import calibrations_to_json
from sciextract_trainer.checkpoint import load_weights, replacing, trainable
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.examples import Example
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.hardware import CPU, has_fast_bf16
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import open_start_model

START = DecodeSettings(thresholds=PerTask(0.4, 0.3, 0.5), nesting=True)
FIT_WORDS = 40_000
"""Dev words of each set, at most, that thresholds and the scale of scores are fitted on."""

PLAN = Path(__file__).with_name("bio.toml")
MODEL, LAST = "bio", "last.safetensors"
"""In the run folder: the model folder after all trainings; the last weights of each training."""
MINILM = load_plan("sci-1").encoders["minilm"]
"""What the recipe starts from, as the other bundled model does."""
MINILM_SHA256 = MINILM.sha256

LIMITS = (
    "English abstracts only; Gene and protein may fit the same words, then the more probable one is shown; "
    "no text of the training data was annotated for all types"
)


@dataclass(frozen=True, slots=True)
class BioContext:
    """What all stages share."""

    config: TrainConfig
    data: Path
    runs: Path
    schema: LabelSchema
    plan: SetPlan
    labels: Labels
    rules: SubwordRules
    changes: Mapping[str, Any]

    def recipe(self, name: str) -> TrainConfig:
        """Another recipe with the same encoder and changes."""
        return _recipe(name, Path(self.config.encoder), self.changes)

    def part(self, taught: TaughtSet, name: str) -> Path:
        """The file of a set's ``train`` or ``dev`` part."""
        return self.data / taught.name / f"{name}.jsonl"

    def dev(self) -> dict[str, list[SetDocument]]:
        """The dev documents by set, as distributed."""
        return {
            dataset.name: list(
                documents_of(
                    read_records(self.part(dataset, "dev")), dataset, self.part(dataset, "dev")
                )
            )
            for dataset in self.plan.sets
        }

    def examples(self) -> list[Example]:
        """All training examples; no sentence of a dev part is among them."""
        devs = (read_records(self.part(dataset, "dev")) for dataset in self.plan.sets)
        seen = set().union(*map(sentence_prefixes, devs))
        documents = (
            dataset
            for taught in self.plan.sets
            if taught.train
            for dataset in self._train(taught, seen)
        )
        subwords = self.rules.encoder()
        return list(partial_examples(documents, self.labels, subwords, self.rules.limit))

    def _train(self, taught: TaughtSet, seen: set[str]) -> list[SetDocument]:
        path = self.part(taught, "train")
        records = prepared(without_leaks(read_records(path), seen), taught, self.config.seed)
        return list(documents_of(records, taught, path))


def open_context(encoder: Path, data: Path, runs: Path, **changes: Any) -> BioContext:
    """Reads recipe, schema and plan.

    Raises:
        ModelDamagedError: The encoder's weights are not the official MiniLM ones.
        UsageError: Recipe or plan hold something that cannot be.
    """
    weights = encoder / "model.safetensors"
    if not weights.is_file() or sha256(weights) != MINILM_SHA256:
        raise ModelDamagedError(
            f"{weights} is not the official all-MiniLM-L6-v2 file",
            "see docs/models.md for its source",
        )
    config = _recipe("bio", encoder, changes)
    schema = load_schema("bio")
    plan = load_sets(PLAN, schema)
    labels = replace(labels_of(schema, config.max_span_width), groups=plan.groups)
    rules = load_subword_rules(str(encoder))
    return BioContext(config, data, runs, schema, plan, labels, rules, changes)


def _recipe(name: str, encoder: Path, changes: Mapping[str, Any]) -> TrainConfig:
    """A recipe in float32 where the processor has no bfloat16, whose emulation takes tens of times longer."""
    config = load_config(find_recipe(name), encoder=str(encoder), **changes)
    return replace(config, bf16=config.bf16 and has_fast_bf16(CPU))


def trained(context: BioContext, folder: Path, network: JointNetwork) -> JointNetwork:
    """The network after a training with the context's recipe; goes on where it stopped, or loads what it made."""
    last = folder / LAST
    if last.is_file():
        load_weights(last, network)
        return network.eval()
    data = TrainingData(context.examples(), [])
    network = as_joint(
        train(context.config, context.labels, context.rules, data, folder, print_json, network)
    )
    with replacing(last) as temporary:
        save_file(trainable(network), temporary)
    return network


def first_network(context: BioContext) -> JointNetwork:
    """The network after the first training."""
    return trained(context, context.runs, build_network(context.config, context.labels))


def start_folder(context: BioContext, round_: int) -> Path:
    """The model folder with the int8 graph that the trainings of a round, the first of which is 1, go on from."""
    folder = context.runs / f"start-{round_}"
    if not (folder / MANIFEST).is_file():
        export(context, trained_network(context, round_ - 1), folder, ("int8",))
    return folder


def members(context: BioContext, round_: int) -> Iterator[JointNetwork]:
    """The networks after the trainings of a round."""
    continued = context.plan.continued[round_ - 1]
    start = open_start_model(open_folder(start_folder(context, round_)))
    for seed in continued.seeds:
        config = replace(context.recipe(continued.recipe), seed=seed)
        own = replace(context, config=config, plan=context.plan.repeated(continued.repeat))
        yield trained(own, context.runs / f"seed-{seed}", start.network(config))


def trained_network(context: BioContext, rounds: int) -> JointNetwork:
    """The network after so many rounds."""
    if not rounds:
        return first_network(context)
    networks = list(members(context, rounds))
    mean = mean_weights([trainable(network) for network in networks])
    networks[0].load_state_dict(mean, strict=False)
    return networks[0]


def export(
    context: BioContext, network: JointNetwork, folder: Path, precisions: tuple[str, ...]
) -> None:
    """A model folder with provisional thresholds: the fitted ones and the scores come later, set by set."""
    samples = [item.annotated for item in context.dev()["chemprot"][:8]]
    packaging = Packaging(
        "bio", context.schema, context.labels, context.rules, dev=(), origin=origin_of(context),
        precisions=precisions, weights=False, settings=START, samples=samples, cuts_words=True,
    )  # fmt: skip
    write_model_folder(network, packaging, folder)


def build(context: BioContext, output: Path) -> None:
    """All stages."""
    exported = context.runs / MODEL
    if not (exported / MANIFEST).is_file():
        network = trained_network(context, len(context.plan.continued))
        export(context, network, exported, ("int8", "fp32"))
    finish_folder(exported, output, context.dev(), context.plan, json_report)


def origin_of(context: BioContext) -> dict[str, Any]:
    """Where the weights come from, for configuration and card."""
    seeds = [seed for stage in context.plan.continued for seed in stage.seeds]
    return {
        "encoder": f"{MINILM.origin}, model.safetensors sha256 {MINILM_SHA256}",
        **{
            f"data, {dataset.name}": _origin_line(context, dataset) for dataset in context.plan.sets
        },
        "seeds": [context.config.seed, *seeds],
        "licence": "Apache-2.0 for the weights; some of the data states no licence, none of it is in the package",
        "limits": LIMITS,
    }


def _origin_line(context: BioContext, taught: TaughtSet) -> str:
    """What the card says of a set: what it teaches, licence and hashes."""
    hashes = ", ".join(sha256(context.part(taught, part)) for part in ("train", "dev"))
    return (
        f"{'' if taught.train else 'scored only; '}annotated for {', '.join(taught.teaches)}"
        f"{' and relations' if taught.relations else ''}; licence: {taught.licence}; "
        f"train and dev sha256 {hashes}"
    )


def finish_folder(
    exported: Path, output: Path, dev: Samples, plan: SetPlan, report: Report
) -> None:
    """Fits thresholds and the scale of scores for the int8 graph, scores every set, and puts the folder with that graph into place.

    Args:
        exported: The model folder with both graphs.
        output: The model folder to write.
        dev: All dev documents by set.
        plan: The sets.
        report: Gets an event for each set.
    """
    with atomic.replacing(output, alone=True) as work:
        shutil.copytree(exported, work)
        (work / GRAPHS["fp32"]).unlink()
        write_manifest(work)
        fit_dev = {name: first_words(documents, FIT_WORDS) for name, documents in dev.items()}
        served, config = load_pipeline(open_folder(work)), open_folder(work).config
        chosen = [document for documents in fit_dev.values() for document in documents]
        settings, calibrations = calibrate_sets(
            served, chosen, fit_set_settings(served, fit_dev, START)
        )
        report({"event": "thresholds", **settings.thresholds.to_json()})
        for event in events(calibrations):
            report(event)
        full = load_pipeline(open_folder(exported))
        sets: dict[str, Any] = {}
        for taught in plan.sets:
            scores = score_set(served, settings, dev[taught.name], taught, intervals=True).to_json()
            sample = {
                name: round(score_set(task, settings, fit_dev[taught.name], taught).entity.f1, 2)
                for name, task in (("int8", served), ("fp32", full))
            }
            sets[taught.name] = {**scores, "trained": taught.train, "sample": sample}
            report({"event": "set", "name": taught.name, **sets[taught.name]})
        finished = replace(
            config,
            settings=settings,
            scores={
                "split": "dev",
                "parity": config.scores["parity"],
                "sets": sets,
                "graph": graph_scores(_relations(served, settings, dev), load_schema("bio")),
                "calibration": calibrations_to_json(calibrations),
            },
        )
        _write(work, finished)


def _relations(pipeline: Pipeline, settings: DecodeSettings, dev: Samples) -> HeldOut:
    """Relations down to low scores between predicted mentions, all types competing, as graphs get them."""
    low = settings.with_thresholds({"relation": 0.3})
    gold = [item.annotated for some in dev.values() for item in some if item.taught.relations]
    return held_out("", gold, [annotate(pipeline, annotated.document, low) for annotated in gold])


def _write(folder: Path, config: ModelConfig) -> None:
    text = json.dumps(config.to_json(), indent=2) + "\n"
    (folder / CONFIG).write_text(text, encoding="utf-8")
    (folder / CARD).write_text(card_of(config), encoding="utf-8")
    write_manifest(folder)


def first_words(documents: Sequence[SetDocument], words: int) -> list[SetDocument]:
    """The first documents, until they have so many words."""
    taken: list[SetDocument] = []
    for document in documents:
        if words <= 0:
            break
        taken.append(document)
        words -= len(document.annotated.document.tokens)
    return taken


def main(words: Sequence[str] | None = None) -> int:
    """Runs all stages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", type=Path, required=True, help="folder with genia/, chemprot/...")
    parser.add_argument("--runs", type=Path, default=Path("runs/bio"), help="resumable results")
    parser.add_argument("--output", type=Path, required=True, help="the model folder to write")
    arguments = parser.parse_args(words)
    try:
        build(open_context(arguments.encoder, arguments.data, arguments.runs), arguments.output)
    except SciextractError as error:
        print(f"error: {error.message}\n{error.hint}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("stopped; repeat the command to resume from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
