"""``python -m research quantise``: a model folder whose encoder has fewer bits, measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from research.compression.opened import MeasuredModel, new_folder, write_like
from research.compression.schemes import Scheme, quantise, windows_of
from research.reporting import Report
from sciextract import formats
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import ModelMismatchError, UsageError
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import GRAPHS, ModelFolder
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings
from sciextract.inference.tokenization import EncoderInput, plan_windows
from sciextract.resources import data_root
from sciextract_trainer.calibration import calibrations_to_json, fit_calibrated
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.export import export_encoder, quiet
from sciextract_trainer.warm_start import WEIGHTS, open_start_model, subword_rules

PASSES = 3


def milliseconds_per_abstract(
    pipeline: Pipeline, documents: Sequence[Document], settings: DecodeSettings
) -> float:
    """The least of the means of some passes, one abstract a call; tokenising and decoding included.

    Processor time, of one core, which other work on the machine changes little; the least, because it only adds.
    """
    pipeline.predict(documents[0], settings)
    return min(_mean(pipeline, documents, settings) for _ in range(PASSES))


def _mean(pipeline: Pipeline, documents: Sequence[Document], settings: DecodeSettings) -> float:
    began = time.process_time()
    for document in documents:
        pipeline.predict(document, settings)
    return 1000 * (time.process_time() - began) / len(documents)


@dataclass(frozen=True, slots=True)
class Quantisation:
    """What is wanted.

    Attributes:
        scheme: How.
        texts: Texts that ``weights7`` compensates errors for; the sample abstracts when empty.
        weights: Whether the new folder keeps the weights for training on.
    """

    scheme: Scheme
    texts: Sequence[Document] = ()
    weights: bool = False


def quantise_model(
    model: MeasuredModel, wanted: Quantisation, output: Path, report: Report
) -> ModelConfig:
    """Writes the model with another encoder graph, thresholds and scale fitted for it, and measures both.

    Args:
        model: A model with an fp32 graph or with weights.
        wanted: How, and on which texts.
        output: The new model folder.
        report: Gets size, scores at the old and at own thresholds, and time per abstract.

    Raises:
        UsageError: The model has no more than rounded weights.
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    scheme, old = wanted.scheme, model.folder.config
    with new_folder(output) as work, _fp32_graph(model) as source:
        graph = work / GRAPHS[scheme.precision]
        windows = _texts_of(model, wanted, source)
        quantise(source, graph, scheme, windows)
        pipeline = model.pipeline(graph)
        settings, calibrations = fit_calibrated(pipeline, model.fitted_on, old.settings)
        own = model.scores(pipeline, settings)
        scores = {
            "split": "dev", "documents": len(model.dev), scheme.precision: own,
            "calibration": calibrations_to_json(calibrations),
        }  # fmt: skip
        origin = old.origin | {"quantisation": scheme.description, "dev data": model.dev_origin}
        settings = replace(settings, candidate_score=old.settings.candidate_score)
        config = replace(old, settings=settings, scores=scores, origin=origin)
        without = {*GRAPHS.values(), *(() if wanted.weights else (WEIGHTS,))}
        write_like(model.folder, work, config, without)
        report(_measure(model, scheme, graph, own, pipeline))
    return config


def _texts_of(model: MeasuredModel, wanted: Quantisation, source: Path) -> list[EncoderInput]:
    """The texts that the scheme looks at."""
    if wanted.scheme.kind != "weights7":
        return []
    if not wanted.texts:
        return sample_windows(model.folder)
    return windows_of(model.plain_pipeline(source), wanted.texts)


def _measure(
    model: MeasuredModel, scheme: Scheme, graph: Path, own: dict[str, Any], pipeline: Pipeline
) -> dict[str, Any]:
    """One row of a table of schemes."""
    given = model.folder.config.settings
    texts = [item.document for item in model.dev]
    took = milliseconds_per_abstract(model.plain_pipeline(graph), texts, given)
    return {
        "event": "quantised",
        "scheme": scheme.description,
        "encoder_mb": round(graph.stat().st_size / 1e6, 1),
        "ms_per_abstract": round(took, 1),
        "given_thresholds": model.scores(pipeline, given),
        "own_thresholds": own,
    }


@contextmanager
def _fp32_graph(model: MeasuredModel) -> Iterator[Path]:
    """The model's fp32 graph, or one that is made of its weights for the length of the block."""
    folder = model.folder
    if (folder.path / GRAPHS["fp32"]).is_file():
        yield folder.path / GRAPHS["fp32"]
        return
    start = open_start_model(folder)
    if start.precision == "int8":
        raise UsageError(
            f"{folder.path} has int8 weights only, and rounding them again would round twice",
            "give a model folder with model.onnx or model.safetensors",
        )
    network = start.network(TrainConfig(encoder=str(folder.path)))
    texts = [item.document for item in model.dev[:8]]
    windows = windows_of(model.plain_pipeline(), texts)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / GRAPHS["fp32"]
        export_encoder(network, path, max(windows, key=lambda window: len(window.input_ids)))
        yield path


MOST_OTHER_LABELS = 1e-3
"""Share of spans whose best label may differ from that of the fp32 graph; rounding moves those on an edge."""

LARGEST_LOGIT = 65_504.0
"""The largest number of half precision; an encoder that leaves it on the way gives nonsense, not a worse score."""


def half_precision(folder: ModelFolder, output: Path, report: Report) -> ModelConfig:
    """Writes a copy of a model folder that has a graph in half precision, too; thresholds and scores stay.

    Inputs and outputs of the graph are those of the others. An int8 graph serves as well where there is no better
    one: its weights become what they stand for, which half precision holds to three digits.

    Args:
        folder: The model.
        output: The new model folder.
        report: Gets the size and how far the graph is from the one in fp32.

    Raises:
        ModelMismatchError: The graph finds other labels than the one in fp32, or cannot be made.
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    windows = sample_windows(folder)
    with new_folder(output) as work, _half_fp32_graph(folder, windows) as source:
        graph = work / GRAPHS["fp16"]
        write_half(source, graph)
        parity = compare(source, graph, windows)
        _check(parity, graph)
        config = replace(folder.config, origin=folder.config.origin | {"half precision": parity})
        write_like(folder, work, config, ())
        size = round(graph.stat().st_size / 1e6, 1)
    report({"event": "quantised", "scheme": "fp16", "encoder_mb": size, **parity})
    return config


def write_half(source: Path, target: Path) -> None:
    """An fp32 graph with weights and activations in half precision; inputs and outputs stay what they are."""
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    model = onnx.load(source)
    del model.graph.value_info[:]  # the exporter's shapes contradict transposed weights
    with quiet():
        onnx.save(convert_float_to_float16(model, keep_io_types=True), target)


def compare(fp32: Path, fp16: Path, windows: Sequence[EncoderInput]) -> dict[str, Any]:
    """How far the span scores of two graphs are apart, on the processor."""
    exact, rounded = OnnxNetwork(fp32, None), OnnxNetwork(fp16, None)
    spans = others = 0
    largest = worst = 0.0
    for window in windows:
        [left], [right] = exact.encode([window]), rounded.encode([window])
        differences = np.abs(left.span_logits - right.span_logits)
        worst = max(worst, float(np.nan_to_num(differences, nan=LARGEST_LOGIT).max(initial=0)))
        largest = max(largest, float(np.abs(left.span_logits).max(initial=0)))
        changed = left.span_logits.argmax(-1) != right.span_logits.argmax(-1)
        spans, others = spans + changed.size, others + int(changed.sum())
    return {
        "spans": spans,
        "other_labels": others,
        "largest_logit": round(largest, 2),
        "largest_difference": round(worst, 5),
    }


def _check(parity: dict[str, Any], graph: Path) -> None:
    if parity["other_labels"] > MOST_OTHER_LABELS * parity["spans"]:
        raise ModelMismatchError(
            f"{graph.name} finds another label than the fp32 graph for {parity['other_labels']} of {parity['spans']} "
            f"spans; logits differ by up to {parity['largest_difference']}",
            "numbers inside this encoder leave the range of half precision; run it with --precision fp32",
        )


def sample_windows(folder: ModelFolder) -> list[EncoderInput]:
    """The sample abstracts as the encoder sees them."""
    rules = subword_rules(folder.path, folder.config)
    encoder, windows = rules.encoder(), []
    for document in _samples():
        tokens = document.tokens
        subwords = encoder.split(tokens.slices(document.text))
        for window in plan_windows(subwords.counts, tokens.sentences, folder.config.subword_limit):
            windows.append(encoder.frame(subwords, window.seen.token_start, window.seen.token_end))
    return windows


def _samples() -> list[Document]:
    items = formats.read([str(data_root() / "sample_data" / "abstracts.jsonl")])
    return [item.document for item in items if isinstance(item, AnnotatedDocument)]


@contextmanager
def _half_fp32_graph(folder: ModelFolder, windows: Sequence[EncoderInput]) -> Iterator[Path]:
    """The model's fp32 graph, or one that is made of its best weights for the length of the block."""
    if (folder.path / GRAPHS["fp32"]).is_file():
        yield folder.path / GRAPHS["fp32"]
        return
    network = open_start_model(folder).network(TrainConfig(encoder=str(folder.path)))
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / GRAPHS["fp32"]
        export_encoder(network, path, max(windows, key=lambda window: len(window.input_ids)))
        yield path
