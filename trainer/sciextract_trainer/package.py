"""From a trained network to a model folder: graphs, thresholds, scores, manifest, and the model card."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
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
from sciextract_trainer.calibration import Calibrations, Dev, calibrations_to_json, fit_calibrated
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.evaluate import (
    DEV_SETTINGS,
    GivenPredictor,
    Serve,
    classification_of,
    dev_report,
    dev_scores,
    serve_pipeline,
)
from sciextract_trainer.export import EXPORTED, assert_parity, export_graphs, random_pairs
from sciextract_trainer.network.joint import JointNetwork, RememberingNetwork
from sciextract_trainer.warm_start import save_architecture, save_weights

FITTED = "thresholds are fitted on the same split"
"""What a card says of thresholds unless the configuration says otherwise."""

FITTED_EACH = f"{FITTED}, for each graph by itself"
"""The same where each graph has thresholds of its own, and only those of the shipped one are kept."""

MOST_LOST = 0.5
"""F1 that int8 may lose on a task before the card calls it a trade-off."""

_METRICS = {
    "ner": "Entities, micro F1",
    "relation": "Relations, boundaries, directed, micro F1",
    "relation_strict": "Relations, strict, directed, micro F1",
    "coreference": "Coreference, CoNLL average F1",
}
_COMPARED = ("ner", "relation", "coreference")


_WHOLE = "A model of sciextract: entities, relations and coreference in scientific abstracts, in one pass."
_NO_LINKS = "A model of sciextract: entities and relations in scientific abstracts, in one pass."
_GIVEN = (
    "A model of sciextract: relations between given entities in scientific texts. It predicts no entities; "
    "`sciextract annotate --given-entities` takes input that has them."
)


def model_card(config: ModelConfig, scores: Iterable[str] | None = None) -> str:
    """Markdown: what the model is, its scores (or the given lines about them), its origin, its limits."""
    labels = config.labels
    lines = [
        f"# {config.name}",
        "",
        _GIVEN if config.given_entities else _WHOLE if labels.coreference else _NO_LINKS,
        "",
        f"- Schema: {config.schema_name} (content hash {config.schema_hash[:12]})",
        f"- Entity types: {', '.join(labels.types)}",
        f"- Relation types: {', '.join(labels.relations.labels) or 'none'}",
        f"- Entities of up to {labels.max_span_width} words; windows of {config.subword_limit} subwords",
        "",
    ]
    lines += _scores(config) if scores is None else scores
    if measured := config.scores.get("calibration"):
        bins = next(iter(measured.values()))["bins"]
        lines += [
            "### Calibration",
            "",
            f"Expected calibration error in percentage points, {bins} bins. Held out: measured on the half of dev that was not used to fit the scale.",
            "",
            "| task | items | uncalibrated | calibrated | held out | temperature | shift |",
            "|---|---|---|---|---|---|---|",
        ]
        for task, values in measured.items():
            errors = [values[key] for key in ("ece_before", "ece_after", "ece_held_out")]
            cells = [_score(None if error is None else 100 * error) for error in errors]
            scale = [f"{values['temperature']:.2f}", f"{values['shift']:+.2f}"]
            lines.append(f"| {' | '.join([task, str(values['items']), *cells, *scale])} |")
        lines.append("")
    lines += ["## Origin", "", *(f"- {key}: {value}" for key, value in config.origin.items()), ""]
    lines += [
        "## Limits",
        "",
        "English abstracts in the style of the training data. Relations are predicted within a sentence.",
    ]
    if config.scores.get("split", "dev") == "dev":
        lines.append(
            "Dev scores are optimistic, because thresholds and the epoch were chosen on the same abstracts."
        )
    lines.append("")
    return "\n".join(lines)


def _scores(config: ModelConfig) -> list[str]:
    """The scores of a model of one set, each graph by itself, and what int8 loses."""
    graphs = [name for name in GRAPHS if name in config.scores]
    scores = [config.scores[graph] for graph in graphs]
    thresholds = config.scores.get("thresholds", FITTED)
    lines = [
        f"## Scores on {config.scores.get('split', 'dev')}",
        "",
        f"{config.scores.get('documents', 0)} abstracts; {thresholds}.",
        "",
        "| metric | " + " | ".join(graphs) + " |",
        "|---|" + "---|" * len(graphs),
    ]
    rows = [(title, [graph[key] for graph in scores]) for key, title in _METRICS.items()]
    if config.given_entities:
        rows.append(("Relations, macro F1", [graph["relation_macro"] for graph in scores]))
        for label in dict.fromkeys(label for graph in scores for label in graph["relation_labels"]):
            rows.append((f"{label}, F1", [graph["relation_labels"].get(label) for graph in scores]))
    lines += [f"| {title} | " + " | ".join(map(_score, values)) + " |" for title, values in rows]
    lines += ["", *parity(config.scores)]
    if lost := int8_losses(config.scores):
        words = ", ".join(f"{name} {loss:+.1f}" for name, loss in lost.items())
        over = [name for name, loss in lost.items() if loss > MOST_LOST]
        verdict = f"more than {MOST_LOST} F1 on {', '.join(over)}" if over else "within the limit"
        each_at = ", each graph at its own thresholds"
        at = each_at if thresholds == FITTED_EACH else " at the same thresholds"
        lines.append(f"F1 lost by int8{at}: {words} ({verdict}).")
    return [*lines, ""]


def parity(scores: dict[str, Any]) -> list[str]:
    """How exact the export is, where that was measured."""
    if "parity" not in scores:
        return []
    return [f"Largest logit difference, torch to ONNX Runtime, fp32: {scores['parity']:.1e}."]


def _score(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f}"


def int8_losses(scores: dict[str, Any]) -> dict[str, float]:
    """F1 of fp32 minus F1 of int8 per task; empty where one of the graphs was not scored."""
    if "int8" not in scores or "fp32" not in scores:
        return {}
    pairs = {task: (scores["fp32"][task], scores["int8"][task]) for task in _COMPARED}
    known = {task: pair for task, pair in pairs.items() if None not in pair}
    return {task: round(full - small, 2) for task, (full, small) in known.items()}


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
        return GivenPredictor if self.given_entities else serve_pipeline


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
        scores["calibration"] = calibrations_to_json(calibrations)
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
