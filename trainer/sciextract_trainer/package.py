"""From a trained network to a model folder: graphs, thresholds, scores, card, manifest."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sciextract import atomic
from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    CARD,
    CONFIG,
    GRAPHS,
    PAIRS_GRAPH,
    TOKENIZER,
    write_manifest,
)
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.settings import DecodeSettings
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.calibration.fitting import Calibrations, Dev, fit_calibrated, stated
from sciextract_trainer.card import model_card
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.evaluate import (
    DEV_SETTINGS,
    DevScores,
    GivenPredictor,
    Serve,
    classification_of,
    dev_report,
    dev_scores,
    served,
)
from sciextract_trainer.export import EXPORTED, assert_parity, export_graphs, random_pairs
from sciextract_trainer.network.joint import JointNetwork, RememberingNetwork
from sciextract_trainer.warm_start import save_architecture, save_weights

PARITY_WINDOWS = 8


@dataclass(frozen=True, slots=True)
class Packaging:
    """What a model folder is made from, apart from the network.

    Attributes:
        name: The model's name.
        schema: Its label schema.
        labels: Its classes.
        rules: Its tokenizer.
        dev: Gold documents that thresholds are fitted on and scores are stated for; there may be none.
        origin: Encoder, data hashes, seeds, licences: stated in configuration and card.
        precisions: Encoder graphs that the folder keeps, the first one sets the thresholds.
        weights: Whether the folder keeps the weights in half precision, for training on without rounding.
        complete: Complete layers of each dev document; all of them when ``None``.
        settings: Thresholds that the model gets; fitted on dev when ``None``.
        start: Settings that fitting begins with; where nothing of a task is complete they stay.
        samples: Documents that the graphs are traced and compared with; those of dev when empty.
        given_entities: Whether the network relates given entities and predicts none.
        cuts_words: Whether it is served words cut at punctuation; the given documents have them cut.
    """

    name: str
    schema: LabelSchema
    labels: Labels
    rules: SubwordRules
    dev: Sequence[AnnotatedDocument]
    origin: dict[str, Any]
    precisions: tuple[str, ...] = ("int8",)
    weights: bool = True
    complete: Sequence[Collection[Layer]] | None = None
    settings: DecodeSettings | None = None
    start: DecodeSettings = DEV_SETTINGS
    samples: Sequence[AnnotatedDocument] = ()
    given_entities: bool = False
    cuts_words: bool = False

    @property
    def serve(self) -> Serve:
        """What makes a pipeline with settings to something that annotates documents."""
        return GivenPredictor if self.given_entities else served


def write_model_folder(network: JointNetwork, packaging: Packaging, folder: Path) -> ModelConfig:
    """Exports, checks, tunes and scores a network, and puts the finished folder into place.

    Raises:
        ModelMismatchError: torch and ONNX Runtime disagree on a logit.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic.replacing(folder) as work:
        work.mkdir()
        parity = _export(network, packaging, work)
        config = _scored_config(packaging, work, parity)
        for name, file in EXPORTED.items():
            if name not in packaging.precisions:
                (work / file).unlink()
        packaging.rules.tokenizer.save(str(work / TOKENIZER))
        save_architecture(network, work)
        if packaging.weights:
            save_weights(network, work)
        _write(work / CONFIG, json.dumps(config.to_json(), indent=2) + "\n")
        _write(work / CARD, model_card(config))
        write_manifest(work)
    return config


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _export(network: JointNetwork, packaging: Packaging, folder: Path) -> float:
    subwords = packaging.rules.encoder()
    documents = packaging.samples or packaging.dev
    examples = examples_from(documents, packaging.labels, subwords, packaging.rules.limit)
    windows = [example.frame for example in islice(examples, PARITY_WINDOWS)]
    export_graphs(network, folder, max(windows, key=lambda window: len(window.input_ids)))
    hidden, types = network.spans.first.in_features, 1 + len(packaging.labels.entities)
    pairs = random_pairs(hidden, types, packaging.labels.max_span_width)
    return assert_parity(network, folder, windows, pairs)


def _scored_config(packaging: Packaging, folder: Path, parity: float) -> ModelConfig:
    pipelines = {name: _pipeline(packaging, folder, name) for name in EXPORTED}
    settings, calibrations = _settings(packaging, pipelines[packaging.precisions[0]])
    scores: dict[str, Any] = {"split": "dev", "documents": len(packaging.dev), "parity": parity}
    if packaging.settings is not None:
        scores["thresholds"] = "thresholds are those of the model it was trained on from"
    for name, pipeline in pipelines.items():
        scores[name] = _scores(packaging, pipeline, settings).stated()
        if packaging.given_entities:
            scores[name] |= _by_label(packaging, pipeline, settings)
    if calibrations:
        scores["calibration"] = stated(calibrations)
    rules = packaging.rules
    return ModelConfig(
        name=packaging.name,
        labels=packaging.labels,
        schema_name=packaging.schema.name,
        schema_hash=packaging.schema.content_hash,
        subword_limit=rules.limit,
        prefix=rules.prefix,
        suffix=rules.suffix,
        unknown=rules.unknown,
        settings=replace(settings, candidates=False),
        scores=scores,
        origin=packaging.origin,
        given_entities=packaging.given_entities,
        cuts_words=packaging.cuts_words,
    )


def _settings(packaging: Packaging, pipeline: Pipeline) -> tuple[DecodeSettings, Calibrations]:
    """The given settings, or those fitted on dev."""
    if packaging.settings is not None:
        return packaging.settings, {}
    dev = Dev(packaging.dev, packaging.complete, packaging.given_entities, packaging.serve)
    return fit_calibrated(pipeline, dev, packaging.start)


def _pipeline(packaging: Packaging, folder: Path, precision: str) -> Pipeline:
    network = OnnxNetwork(folder / GRAPHS[precision], folder / PAIRS_GRAPH)
    rules, remembering = packaging.rules, RememberingNetwork(network)
    return Pipeline(remembering, rules.encoder(), packaging.labels, rules.limit)


def _scores(packaging: Packaging, pipeline: Pipeline, settings: DecodeSettings) -> DevScores:
    symmetric = packaging.labels.relations.symmetric
    return dev_scores(
        packaging.serve(pipeline, settings), packaging.dev, symmetric, packaging.complete
    )


def _by_label(
    packaging: Packaging, pipeline: Pipeline, settings: DecodeSettings
) -> dict[str, float | dict[str, float]]:
    """Macro F1 and F1 by label of relations between given entities, two digits."""
    symmetric = packaging.labels.relations.symmetric
    report = dev_report(packaging.serve(pipeline, settings), packaging.dev, symmetric)
    found = classification_of(report)
    labels = {label: round(score.f1, 2) for label, score in found.labels.items()}
    return {"relation_macro": round(found.macro_f1, 2), "relation_labels": labels}
