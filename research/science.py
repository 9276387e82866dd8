"""The bundled model ``science``: trained on from ``sci`` with the 70 abstracts of ten fields, scored by folds.

``python -m research.science train PART --data DATA --run RUN`` trains one network; PART is the number of a fold that is
left out, or ``all``. Each call resumes. ``python -m research.science finish --data DATA --run RUN --output FOLDER`` fits
thresholds and scales on what the networks of the folds say of the abstracts that they have not seen, scores them there,
and writes the model that learned from all. Nothing is chosen on abstracts that a network has learned from.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema_file import load_schema
from sciextract.inference.held_out import held_out, write_held_out
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    CARD,
    CONFIG,
    GRAPHS,
    PAIRS_GRAPH,
    SCIENCE_MODEL,
    locate_model,
    open_folder,
    write_manifest,
)
from sciextract.inference.network import Network
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Labels, Pipeline, RawPrediction
from sciextract.inference.settings import TASKS, DecodeSettings
from sciextract.metrics.report import EvaluationReport
from sciextract.retraining.events import Step, TrainingEvent
from sciextract.workflows.evaluate import evaluate
from sciextract_trainer.build import as_joint, labels_of
from sciextract_trainer.calibration import Dev, calibrations_to_json, fit_calibrated
from sciextract_trainer.config import TrainConfig, find_recipe, load_config
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.data.gold import read_gold, sha256
from sciextract_trainer.evaluate import DEV_SETTINGS, dev_report, headline, serve_pipeline
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork, RememberingNetwork, TorchNetwork
from sciextract_trainer.package import Packaging, model_card, write_model_folder
from sciextract_trainer.warm_start import StartModel, open_start_model, probe

FOLDS, OF_A_FIELD, ALL = 3, 7, "all"
SCHEMA = load_schema(SCIENCE_MODEL)
EPOCHS, PROBES = 12, 20
DATA = "stm/train.jsonl"
WEIGHTS = "weights.safetensors"


def fold_of(count: int, folds: int = FOLDS) -> list[int]:
    """The fold of each abstract; those of a field, which stand together, are spread over all folds."""
    random = np.random.default_rng(0)
    order = [
        int(start + place)
        for start in range(0, count, OF_A_FIELD)
        for place in random.permutation(min(OF_A_FIELD, count - start))
    ]
    found = [0] * count
    for place, row in enumerate(order):
        found[row] = place % folds
    return found


def start_model() -> StartModel:
    """``sci`` with the labels of the new model; mentions without a type are learned, too."""
    start = open_start_model(open_folder(locate_model("sci")))
    return start.with_labels(labels_of(SCHEMA, start.labels.max_span_width, untyped=True))


def recipe(start: StartModel) -> TrainConfig:
    """That of ``retrain``, for a fixed number of epochs: no abstract is spared to choose one."""
    changes: dict[str, Any] = {
        "epochs": EPOCHS,
        "probe_epochs": PROBES,
        "patience": 0,
        "seed": 1,
        "encoder": "sci",
    }
    return start.fit(load_config(find_recipe("correction-round"), **changes))


def train_part(gold: Sequence[AnnotatedDocument], part: str, run: Path) -> None:
    """Trains the network of one part, and keeps its weights."""
    folder = run / part
    if (folder / WEIGHTS).is_file():
        return
    folds = fold_of(len(gold))
    chosen = [document for document, fold in zip(gold, folds, strict=True) if str(fold) != part]
    start, device = start_model(), torch.device("cpu")
    config = recipe(start)
    examples = examples_from(chosen, start.labels, start.rules.encoder(), start.rules.limit)
    data = TrainingData(list(examples), [])
    network = start.network(config)
    probe(network, start, config, data, folder / "heads", device)
    train(config, start.labels, start.rules, data, folder, _print, network, device)
    save_file(
        {name: parameter.detach() for name, parameter in network.named_parameters()},
        folder / WEIGHTS,
    )


def trained_network(start: StartModel, run: Path, part: str) -> JointNetwork:
    """The network that learned from a part."""
    network = start.network(recipe(start))
    network.load_state_dict(load_file(run / part / WEIGHTS))
    return as_joint(network.eval())


@dataclass(frozen=True, slots=True)
class ByFold:
    """Predicts each abstract with the network that has not learned from it.

    Attributes:
        pipelines: One per fold.
        folds: The fold of each text.
    """

    pipelines: Sequence[Pipeline]
    folds: dict[str, int]

    @property
    def labels(self) -> Labels:
        """What the classes of all of them mean."""
        return self.pipelines[0].labels

    def predict(self, document: Document, settings: DecodeSettings) -> RawPrediction:
        """All predictions of one document."""
        return self.pipelines[self.folds[document.text_sha256]].predict(document, settings)

    def predict_batch(
        self, documents: Sequence[Document], settings: DecodeSettings, given: None = None
    ) -> list[RawPrediction]:
        """All predictions of some documents."""
        return [self.predict(document, settings) for document in documents]


def finish(gold: Sequence[AnnotatedDocument], data: Path, run: Path, output: Path) -> None:
    """Thresholds, scales and scores by folds; then the model folder."""
    start, folds = start_model(), fold_of(len(gold))
    rules, labels = start.rules, start.labels

    def packaging(name: str, settings: DecodeSettings, origin: dict[str, Any]) -> Packaging:
        return Packaging(
            name, SCHEMA, labels, rules, [], origin, settings=settings, samples=gold[:8], weights=False
        )  # fmt: skip

    networks: dict[str, list[Pipeline]] = {"int8": [], "fp32": []}
    for fold in range(FOLDS):
        network, folder = trained_network(start, run, str(fold)), run / f"fold-{fold}"
        if not folder.is_dir():
            write_model_folder(network, packaging(f"fold-{fold}", DEV_SETTINGS, {}), folder)
        small = OnnxNetwork(folder / GRAPHS["int8"], folder / PAIRS_GRAPH)
        graphs: tuple[Network, Network] = (small, TorchNetwork(network))
        for found, engine in zip(networks.values(), graphs, strict=True):
            found.append(Pipeline(RememberingNetwork(engine), rules.encoder(), labels, rules.limit))
    places = {
        annotated.document.text_sha256: fold for annotated, fold in zip(gold, folds, strict=True)
    }
    by_fold = {name: ByFold(found, places) for name, found in networks.items()}
    pipeline: Any = by_fold["int8"]
    settings, calibrations = fit_calibrated(pipeline, Dev(gold), DEV_SETTINGS)
    scores: dict[str, Any] = {
        "split": f"{FOLDS} folds of the training data",
        "documents": len(gold),
    }
    scores["thresholds"] = (
        "each scored by a network that has not learned from it; thresholds are fitted on the same scores"
    )
    for name, networked in by_fold.items():
        report = dev_report(serve_pipeline(networked, settings), gold, ())  # type: ignore[arg-type]
        scores[name] = headline(report).stated() | {"relation": None, "relation_strict": None}
    scores["calibration"] = calibrations_to_json(calibrations)
    predicted = [serve_pipeline(pipeline, settings)(annotated.document) for annotated in gold]
    fields = [annotated.document.doc_key.split("/")[0] for annotated in gold]
    for named, groups in (("field", fields), ("fold", [str(fold) for fold in folds])):
        for group in sorted(set(groups)):
            rows = [row for row, field in enumerate(groups) if field == group]
            print(json.dumps({named: group} | _row([gold[r] for r in rows], [predicted[r] for r in rows])))  # fmt: skip
    print(json.dumps({"all": _row(gold, predicted), "scores": scores}))
    origin = {
        "trained on from": "sci",
        "training data": f"STM (Brack et al. 2020 and 2021; texts CC BY, no licence is stated for the annotations), "
        f"70 abstracts of ten fields, sha256 {sha256(data / DATA)}",
        "recipe": f"correction-round, {PROBES} epochs of the heads and {EPOCHS} of all (python -m research.science)",
        "licence": "Apache-2.0 for the weights",
    }
    write_model_folder(
        trained_network(start, run, ALL), packaging(SCIENCE_MODEL, settings, origin), output
    )
    # The scores are those of the folds: the model itself has seen every abstract.
    opened = open_folder(output).config
    config: ModelConfig = replace(opened, scores={**scores, "parity": opened.scores["parity"]})
    (output / CONFIG).write_text(json.dumps(config.to_json(), indent=2) + "\n", encoding="utf-8")
    (output / CARD).write_text(model_card(config), encoding="utf-8")
    write_manifest(output)
    low = serve_pipeline(pipeline, settings.with_thresholds(dict.fromkeys(TASKS, 0.05)))
    held = held_out(
        f"the {len(gold)} abstracts that it learned from, by networks that had not seen them",
        gold,
        [low(annotated.document) for annotated in gold],
    )
    place = output.parent / "held_out"
    place.mkdir(exist_ok=True)
    write_held_out(place / f"{open_folder(output).hash[:8]}.json", held)
    for fold in range(FOLDS):
        shutil.rmtree(run / f"fold-{fold}")


def _row(
    gold: Sequence[AnnotatedDocument], predicted: Sequence[AnnotatedDocument]
) -> dict[str, Any]:
    report: EvaluationReport = evaluate(gold, predicted, frozenset(), bootstrap=False)
    found = report.to_json()
    types = {label: scores["f1"] for label, scores in found["ner"].get("labels", {}).items()}
    scores = headline(report)
    return {"documents": len(gold), "entities": scores.entity, "coreference": scores.coreference, "types": types}  # fmt: skip


def _print(event: TrainingEvent) -> None:
    if isinstance(event, Step) and event.documents == event.of:
        print(json.dumps(event.to_json()), flush=True)


def main(words: Sequence[str] | None = None) -> None:
    """Trains one part, or finishes the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("train", "finish"):
        command = commands.add_parser(name)
        command.add_argument("--data", type=Path, default=Path("../shared/data"))
        command.add_argument("--run", type=Path, default=Path("runs/science"))
        if name == "train":
            command.add_argument("part", choices=[*map(str, range(FOLDS)), ALL])
        else:
            command.add_argument("--output", type=Path, default=Path(f"models/{SCIENCE_MODEL}"))
    chosen = parser.parse_args(words)
    gold = read_gold(chosen.data / DATA, SCHEMA)
    if chosen.command == "train":
        train_part(gold, chosen.part, chosen.run)
    else:
        finish(gold, chosen.data, chosen.run, chosen.output)


if __name__ == "__main__":
    main()
