"""Builds the bundled model from data to model folder: ``python -m sciextract_trainer.make_model``.

Teachers on SciERC, soft labels on unlabelled abstracts, a student on these, int8 export. Every stage keeps
its result in the run folder, so that a second call goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from torch import Tensor

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import load_schema
from sciextract.errors import ModelDamagedError, SciextractError
from sciextract.inference.cores import usable_cores
from sciextract.inference.folder import GRAPHS, PAIRS_GRAPH
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract_trainer.build import PieceRules, build_network, labels_of, load_piece_rules
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.data.gold import read_gold, sha256
from sciextract_trainer.data.soft import soft_examples
from sciextract_trainer.distil import label_softly
from sciextract_trainer.export import export_graphs
from sciextract_trainer.families import as_joint
from sciextract_trainer.loop import BEST, TrainingData, train
from sciextract_trainer.network.ensemble import Ensemble
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.progress import json_report
from sciextract_trainer.run import RECIPES
from sciextract_trainer.unlabelled import read_unlabelled

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True, slots=True)
class Workshop:
    """What all stages share."""

    encoder: Path
    data: Path
    runs: Path
    schema: LabelSchema
    labels: Labels
    rules: PieceRules
    gold: Sequence[AnnotatedDocument]
    dev: Sequence[AnnotatedDocument]

    def config(self, recipe: str, **changes: Any) -> TrainConfig:
        """A recipe with this workshop's encoder."""
        path = RECIPES / f"{recipe}.toml"
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        return config_from({**values, "encoder": str(self.encoder), **changes}, str(path))

    def gold_examples(self) -> list[Example]:
        """Examples of the gold documents."""
        return list(examples_from(self.gold, self.labels, self.rules.encoder(), self.rules.limit))


def open_workshop(encoder: Path, data: Path, runs: Path) -> Workshop:
    """Reads schema, gold data and the verified starting encoder.

    Raises:
        ModelDamagedError: The encoder's weights are not the official MiniLM ones.
    """
    weights = encoder / "model.safetensors"
    if not weights.is_file() or sha256(weights) != MINILM_SHA256:
        raise ModelDamagedError(
            f"{weights} is not the official all-MiniLM-L6-v2 file",
            "see docs/models.md for its source",
        )
    schema = load_schema("scierc")
    gold = read_gold(data / "scierc" / "train.jsonl", schema)
    dev = read_gold(data / "scierc" / "dev.jsonl", schema)
    rules = load_piece_rules(str(encoder))
    return Workshop(encoder, data, runs, schema, labels_of(schema, 10), rules, gold, dev)


def train_teachers(shop: Workshop, numbers: Sequence[int]) -> list[JointNetwork]:
    """One network per teacher recipe on the gold documents."""
    data = TrainingData(shop.gold_examples(), shop.dev)
    return [
        as_joint(
            train(
                shop.config(f"sci-teacher-{number}"),
                shop.labels,
                shop.rules,
                data,
                shop.runs / f"teacher-{number}",
                json_report,
            )
        )
        for number in numbers
    ]


def soft_label(shop: Workshop, teachers: Sequence[JointNetwork], most: int) -> list[Example]:
    """Examples of unlabelled abstracts with the teachers' distributions as targets."""
    served = [_served(shop, row, teacher) for row, teacher in enumerate(teachers)]
    pieces = shop.rules.encoder()
    ensemble = Pipeline(Ensemble(served), pieces, shop.labels, shop.rules.limit)
    shards = sorted((shop.data / "unlabelled").glob("cs-*.jsonl.gz"))
    documents = list(read_unlabelled(shards, most))
    labelled = label_softly(ensemble, documents, shop.runs / "soft", json_report)
    return list(soft_examples(labelled, shop.labels, pieces, shop.rules.limit))


def _served(shop: Workshop, row: int, teacher: JointNetwork) -> OnnxNetwork:
    """A teacher on ONNX Runtime, which labels four times as fast as torch on a CPU."""
    folder = shop.runs / f"graphs-{row}"
    if not (folder / GRAPHS["int8"]).is_file():
        export_graphs(teacher, folder, shop.gold_examples()[0].frame)
    return OnnxNetwork(folder / GRAPHS["fp32"], folder / PAIRS_GRAPH, usable_cores())


def train_student(shop: Workshop, soft: Sequence[Example]) -> dict[str, Tensor]:
    """A fresh network on soft labels; returns its trained weights."""
    config = shop.config("sci-student")
    folder = shop.runs / f"student-{config.seed}"
    train(config, shop.labels, shop.rules, TrainingData(soft, shop.dev), folder, json_report)
    return load_file(folder / BEST)


def package(
    shop: Workshop, weights: dict[str, Tensor], output: Path, origin: dict[str, Any]
) -> None:
    """Writes the model folder and prints its scores."""
    network = build_network(shop.config("sci-student"), shop.labels)
    network.load_state_dict(weights, strict=False)
    packaging = Packaging(
        "sci", shop.schema, shop.labels, shop.rules, shop.dev, origin, weights=False
    )
    config = write_model_folder(network, packaging, output)
    print(json.dumps(config.scores, indent=2))


def origin_of(shop: Workshop, arguments: argparse.Namespace) -> dict[str, Any]:
    """Where the weights come from, for configuration and card."""
    train_file, dev_file = (shop.data / "scierc" / f"{name}.jsonl" for name in ("train", "dev"))
    return {
        "encoder": "all-MiniLM-L6-v2 (Apache-2.0), model.safetensors sha256 " + MINILM_SHA256,
        "training data": "SciERC train (Luan et al. 2018; no licence is stated for the data), "
        f"sha256 {sha256(train_file)}",
        "dev data": f"SciERC dev, sha256 {sha256(dev_file)}",
        "distillation": f"{arguments.unlabelled} unlabelled computer science abstracts (without ACL "
        f"Anthology before 2016), soft labels of {len(arguments.teachers)} teachers",
        "student": "MiniLM and fresh heads on the soft labels, two passes, seed 1; no gold",
        "licence": "Apache-2.0 for the weights",
    }


def main(words: Sequence[str] | None = None) -> int:
    """Runs all stages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", type=Path, required=True, help="folder with scierc/, unlabelled/")
    parser.add_argument("--runs", type=Path, default=Path("runs/sci"), help="resumable results")
    parser.add_argument("--output", type=Path, required=True, help="the model folder to write")
    parser.add_argument(
        "--teachers", type=int, nargs="+", default=[1, 2], help="numbers of the teacher recipes"
    )
    parser.add_argument("--unlabelled", type=int, default=8000, help="unlabelled abstracts")
    arguments = parser.parse_args(words)
    return _guarded(lambda: _build(arguments))


def _build(arguments: argparse.Namespace) -> None:
    shop = open_workshop(arguments.encoder, arguments.data, arguments.runs)
    teachers = train_teachers(shop, arguments.teachers)
    soft = soft_label(shop, teachers, arguments.unlabelled)
    package(shop, train_student(shop, soft), arguments.output, origin_of(shop, arguments))


def _guarded(build: Callable[[], None]) -> int:
    try:
        build()
    except SciextractError as error:
        print(f"error: {error.message}\n{error.hint}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
