"""The ``Network`` protocol on ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from sciextract.errors import ModelDamagedError
from sciextract.inference.network import PairInput, PairScores, WordStates
from sciextract.inference.pieces import EncoderInput, pad

WORD_OUTPUTS = ("first", "last", "span_logits")
PAIR_INPUTS = tuple(field.name for field in fields(PairInput))
PAIR_OUTPUTS = ("relation_logits", "link_scores")


def import_onnxruntime() -> Any:
    """The package ``onnxruntime``, with its telemetry off.

    Left alone it keeps a device id and an event log in the user's cache folder; the variable must stand
    before the package is imported. A value that the user has set is kept.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    return onnxruntime


class OnnxNetwork:
    """Runs the encoder graph and the pair graph.

    Args:
        encoder_graph: Encoder with entity head.
        pair_graph: Pair heads; ``None`` for models without relations and coreference.
        threads: Threads per call.

    Raises:
        ModelDamagedError: A graph cannot be loaded.
    """

    def __init__(self, encoder_graph: Path, pair_graph: Path | None, threads: int = 1) -> None:
        self._encoder = _session(encoder_graph, threads)
        self._pairs = _session(pair_graph, threads) if pair_graph else None

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States and span scores of each window."""
        padded = pad(windows)
        feed = {
            "input_ids": padded.input_ids,
            "attention_mask": padded.attention_mask,
            "word_first": padded.word_first,
            "word_last": padded.word_last,
        }
        first, last, logits = self._encoder.run(WORD_OUTPUTS, feed)
        bounds = zip(padded.offsets, padded.offsets[1:], strict=False)
        return [WordStates(first[a:b], last[a:b], logits[a:b]) for a, b in bounds]

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Relation and antecedent scores."""
        if self._pairs is None:
            raise ModelDamagedError("the model has no pair graph", "export the model again")
        feed = {name: np.ascontiguousarray(getattr(pairs, name)) for name in PAIR_INPUTS}
        return PairScores(*self._pairs.run(PAIR_OUTPUTS, feed))


def _session(graph: Path, threads: int) -> Any:
    onnxruntime = import_onnxruntime()

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises bare Exceptions of its own making
        raise ModelDamagedError(
            f"{graph} cannot be loaded by onnxruntime {onnxruntime.__version__}: {error}",
            "get the model again, or update onnxruntime",
        ) from error
