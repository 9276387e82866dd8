"""``sciextract-trainer quantise``: a model folder whose encoder has fewer bits, measured."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciextract.documents.document import Document
from sciextract.errors import UsageError
from sciextract.inference.folder import GRAPHS
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Pipeline
from sciextract.workflows.events import Report
from sciextract_trainer.calibration.fitting import fit_calibrated, stated
from sciextract_trainer.compression.calibration_texts import windows_of
from sciextract_trainer.compression.opened import MeasuredModel
from sciextract_trainer.compression.quantisation import quantise
from sciextract_trainer.compression.rewriting import new_folder, write_like
from sciextract_trainer.compression.schemes import Scheme
from sciextract_trainer.compression.speed import milliseconds_per_abstract
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.export import export_encoder
from sciextract_trainer.warm_start.start_model import WEIGHTS, open_start_model


@dataclass(frozen=True, slots=True)
class Quantisation:
    """What is wanted.

    Attributes:
        scheme: How.
        texts: Texts for the ranges of ``static``; those of dev when empty.
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
        report: Told size, scores at the old and at own thresholds, and time per abstract.

    Raises:
        UsageError: The model has no more than rounded weights.
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    scheme, old = wanted.scheme, model.folder.config
    with new_folder(output) as work, _fp32_graph(model) as source:
        graph = work / GRAPHS[scheme.precision]
        texts = wanted.texts or [item.document for item in model.dev]
        windows = windows_of(model.plain_pipeline(source), texts) if _needs_texts(scheme) else ()
        quantise(source, graph, scheme, windows)
        pipeline = model.pipeline(graph)
        settings, calibrations = fit_calibrated(pipeline, model.fitted_on, old.settings)
        own = model.scores(pipeline, settings)
        scores = {
            "split": "dev", "documents": len(model.dev), scheme.precision: own,
            "calibration": stated(calibrations),
        }  # fmt: skip
        origin = old.origin | {"quantisation": scheme.told, "dev data": model.dev_origin}
        settings = replace(settings, candidate_score=old.settings.candidate_score)
        config = replace(old, settings=settings, scores=scores, origin=origin)
        without = {*GRAPHS.values(), *(() if wanted.weights else (WEIGHTS,))}
        write_like(model.folder, work, config, without)
        report(_measured(model, scheme, graph, own, pipeline))
    return config


def _needs_texts(scheme: Scheme) -> bool:
    return scheme.kind == "static"


def _measured(
    model: MeasuredModel, scheme: Scheme, graph: Path, own: dict[str, Any], pipeline: Pipeline
) -> dict[str, Any]:
    """One row of a table of schemes."""
    given = model.folder.config.settings
    texts = [item.document for item in model.dev]
    took = milliseconds_per_abstract(model.plain_pipeline(graph), texts, given)
    return {
        "event": "quantised",
        "scheme": scheme.told,
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
        export_encoder(network, path, max(windows, key=lambda each: len(each.input_ids)))
        yield path
