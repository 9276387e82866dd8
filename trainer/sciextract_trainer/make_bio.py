"""Builds the bundled biomedical model from data to model folder: ``python -m sciextract_trainer.make_bio``.

One training on several sets that each teach some types, int8 export, thresholds and scores set by set. Every stage
keeps its result in the run folder, so that a second call goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ModelDamagedError, SciextractError
from sciextract.inference.model_folder import MANIFEST
from sciextract.inference.pipeline import Labels
from sciextract.workflows.events import json_report
from sciextract_trainer.build import SubwordRules, build_network, labels_of, load_subword_rules
from sciextract_trainer.checkpoint import trainable
from sciextract_trainer.config import TrainConfig, load_config
from sciextract_trainer.data.examples import Example
from sciextract_trainer.data.gold import sha256
from sciextract_trainer.families import as_joint
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.making.plan import load_plan
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.partial.documents import (
    SetDocument,
    documents_of,
    prepared,
    read_records,
    sentence_prefixes,
    without_leaks,
)
from sciextract_trainer.partial.examples import partial_examples
from sciextract_trainer.partial.model_folder import export_network, finish_folder, origin_lines
from sciextract_trainer.partial.sets import SetPlan, TaughtSet, load_sets
from sciextract_trainer.run import find_recipe

PLAN = Path(__file__).resolve().parent / "partial" / "bio.toml"
LAST = "last.safetensors"
MINILM = load_plan("sci-1").encoders["minilm"]
"""What the recipe starts from, as the other bundled model does."""
MINILM_SHA256 = MINILM.sha256

LIMITS = (
    "names are found in English abstracts; Gene and protein may fit the same words, then the surer one is shown; "
    "types were annotated in different texts, none of which was annotated for all of them"
)


@dataclass(frozen=True, slots=True)
class BioWorkshop:
    """What all stages share."""

    config: TrainConfig
    data: Path
    runs: Path
    schema: LabelSchema
    plan: SetPlan
    labels: Labels
    rules: SubwordRules

    def part(self, taught: TaughtSet, name: str) -> Path:
        """The file of a set's ``train`` or ``dev`` part."""
        return self.data / taught.name / f"{name}.jsonl"

    def dev(self) -> dict[str, list[SetDocument]]:
        """The dev documents by set, as distributed."""
        return {
            each.name: list(
                documents_of(read_records(self.part(each, "dev")), each, self.part(each, "dev"))
            )
            for each in self.plan.sets
        }

    def examples(self) -> list[Example]:
        """All training examples; no sentence of a dev part is among them."""
        devs = (read_records(self.part(each, "dev")) for each in self.plan.sets)
        seen = set().union(*map(sentence_prefixes, devs))
        documents = (
            each for taught in self.plan.sets if taught.train for each in self._train(taught, seen)
        )
        subwords = self.rules.encoder()
        return list(partial_examples(documents, self.labels, subwords, self.rules.limit))

    def _train(self, taught: TaughtSet, seen: set[str]) -> list[SetDocument]:
        path = self.part(taught, "train")
        records = prepared(without_leaks(read_records(path), seen), taught, self.config.seed)
        return list(documents_of(records, taught, path))


def open_workshop(encoder: Path, data: Path, runs: Path, **changes: Any) -> BioWorkshop:
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
    config = load_config(find_recipe("bio"), encoder=str(encoder), **changes)
    schema = load_schema("bio")
    plan = load_sets(PLAN, schema)
    labels = replace(labels_of(schema, config.max_span_width), groups=plan.groups)
    return BioWorkshop(config, data, runs, schema, plan, labels, load_subword_rules(str(encoder)))


def trained_network(shop: BioWorkshop) -> JointNetwork:
    """The network after the training, which goes on where it stopped."""
    last = shop.runs / LAST
    if last.is_file():
        network = build_network(shop.config, shop.labels)
        network.load_state_dict(load_file(last), strict=False)
        return network.eval()
    data = TrainingData(shop.examples(), [])
    network = as_joint(train(shop.config, shop.labels, shop.rules, data, shop.runs, json_report))
    save_file(trainable(network), last)
    return network


def build(shop: BioWorkshop, output: Path) -> None:
    """All stages."""
    network, dev, exported = trained_network(shop), shop.dev(), shop.runs / "bio"
    if not (exported / MANIFEST).is_file():
        samples = [each.annotated for each in dev["chemprot"][:8]]
        export_network(
            network, shop.schema, shop.labels, shop.rules, samples, origin_of(shop), exported
        )
    finish_folder(exported, output, dev, shop.plan, json_report)


def origin_of(shop: BioWorkshop) -> dict[str, Any]:
    """Where the weights come from, for configuration and card."""
    hashes = {
        each.name: f"{sha256(shop.part(each, 'train'))}, {sha256(shop.part(each, 'dev'))}"
        for each in shop.plan.sets
    }
    return {
        "encoder": f"{MINILM.origin}, model.safetensors sha256 {MINILM_SHA256}",
        **origin_lines(shop.plan, hashes),
        "seed": shop.config.seed,
        "licence": "Apache-2.0 for the weights; some of the data states no licence, none of it is in the package",
        "limits": LIMITS,
    }


def main(words: Sequence[str] | None = None) -> int:
    """Runs all stages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", type=Path, required=True, help="folder with genia/, chemprot/...")
    parser.add_argument("--runs", type=Path, default=Path("runs/bio"), help="resumable results")
    parser.add_argument("--output", type=Path, required=True, help="the model folder to write")
    arguments = parser.parse_args(words)
    try:
        build(open_workshop(arguments.encoder, arguments.data, arguments.runs), arguments.output)
    except SciextractError as error:
        print(f"error: {error.message}\n{error.hint}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
