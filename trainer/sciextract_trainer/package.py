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
from sciextract_trainer.calibration import Calibrations, Dev, fit_calibrated, stated
from sciextract_trainer.card import model_card
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.evaluate import (
    DEV_SETTINGS,
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
        subwords = packaging.rules.encoder()
        documents = packaging.samples or packaging.dev
        examples = examples_from(documents, packaging.labels, subwords, packaging.rules.limit)
        windows = [example.frame for example in islice(examples, PARITY_WINDOWS)]
        # The longest window is traced: a short one may take a path that a long one does not.
        export_graphs(network, work, max(windows, key=lambda window: len(window.input_ids)))
        hidden, types = network.spans.first.in_features, 1 + len(packaging.labels.entities)
        pairs = random_pairs(hidden, types, packaging.labels.max_span_width)
        parity = assert_parity(network, work, windows, pairs)
        config = _scored_config(packaging, work, parity)
        # All graphs are written and scored; what the model does not ship goes again.
        for name, file in EXPORTED.items():
            if name not in packaging.precisions:
                (work / file).unlink()
        packaging.rules.tokenizer.save(str(work / TOKENIZER))
        save_architecture(network, work)
        if packaging.weights:
            save_weights(network, work)
        text = json.dumps(config.to_json(), indent=2) + "\n"
        (work / CONFIG).write_text(text, encoding="utf-8")
        (work / CARD).write_text(model_card(config), encoding="utf-8")
        write_manifest(work)
    return config


def _scored_config(packaging: Packaging, folder: Path, parity: float) -> ModelConfig:
    rules, labels, dev = packaging.rules, packaging.labels, packaging.dev
    pipelines = {}
    for name in EXPORTED:
        network = OnnxNetwork(folder / GRAPHS[name], folder / PAIRS_GRAPH)
        # Fitting asks for the same documents many times; the network's answers are kept.
        remembering = RememberingNetwork(network)
        pipelines[name] = Pipeline(remembering, rules.encoder(), labels, rules.limit)
    settings = packaging.settings
    calibrations: Calibrations = {}
    if settings is None:
        first = pipelines[packaging.precisions[0]]
        fitted_on = Dev(dev, packaging.complete, packaging.given_entities, packaging.serve)
        settings, calibrations = fit_calibrated(first, fitted_on, packaging.start)
    scores: dict[str, Any] = {"split": "dev", "documents": len(dev), "parity": parity}
    if packaging.settings is not None:
        scores["thresholds"] = "thresholds are those of the model it was trained on from"
    for name, pipeline in pipelines.items():
        predict, symmetric = packaging.serve(pipeline, settings), labels.relations.symmetric
        scores[name] = dev_scores(predict, dev, symmetric, packaging.complete).stated()
        if packaging.given_entities:
            found = classification_of(dev_report(predict, dev, symmetric))
            scores[name]["relation_macro"] = round(found.macro_f1, 2)
            by_label = {label: round(score.f1, 2) for label, score in found.labels.items()}
            scores[name]["relation_labels"] = by_label
    if calibrations:
        scores["calibration"] = stated(calibrations)
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
