"""The ``Network`` protocol on ONNX Runtime."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sciextract.errors import DeviceError, ModelDamagedError
from sciextract.inference.batching import CPU, CUDA
from sciextract.inference.network import PairInput, PairScores, WordStates
from sciextract.inference.tokenization import EncoderInput, pad

_CUDA_PROVIDER, _CPU_PROVIDER = "CUDAExecutionProvider", "CPUExecutionProvider"
_INSTALL = 'pip uninstall onnxruntime; pip install "onnxruntime-gpu[cuda,cudnn]"'
_LONGEST_REASON = 300


def prepare(device: str, onnxruntime: Any) -> list[str]:
    """The providers to ask a session for, the wanted one first; for CUDA its libraries are loaded, too.

    Raises:
        DeviceError: This ONNX Runtime was built without CUDA; says what it was built with.
    """
    if device == CPU:
        return [_CPU_PROVIDER]
    found = onnxruntime.get_available_providers()
    if _CUDA_PROVIDER not in found:
        problem = (
            f"no GPU can be used: onnxruntime {onnxruntime.__version__} has no {_CUDA_PROVIDER}, "
            f"it has {', '.join(found)}"
        )
        raise DeviceError(problem, _INSTALL)
    preload = getattr(onnxruntime, "preload_dlls", None)
    if preload is not None:
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it misses
            preload()
    return [_CUDA_PROVIDER, _CPU_PROVIDER]


def failed_on_gpu(error: Exception, graph: str) -> DeviceError:
    """What a call that fails on a GPU means; mostly that its memory is full."""
    reason = " ".join(str(error).split())[:_LONGEST_REASON]
    hint = "a smaller --batch-tokens needs less memory; --device cpu needs none"
    return DeviceError(f"the GPU cannot run {graph}: {reason}", hint)


WORD_INPUTS = ("input_ids", "attention_mask", "word_first", "word_last")
WORD_OUTPUTS = ("first", "last", "span_logits")
PAIR_INPUTS = tuple(field.name for field in fields(PairInput))
_FATAL = 4
"""Errors are raised, too; what onnxruntime prints of them holds names of nodes as the file has them, escapes included."""
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
        device: ``cpu`` or ``cuda``.

    Raises:
        ModelDamagedError: A graph cannot be loaded.
        DeviceError: The device cannot be used.
    """

    def __init__(
        self, encoder_graph: Path, pair_graph: Path | None, threads: int = 1, device: str = CPU
    ) -> None:
        self._encoder = _Session(encoder_graph, threads, device)
        self._pairs = _Session(pair_graph, threads, device) if pair_graph else None
        taken = self._pairs.inputs if self._pairs else frozenset()
        self._pair_inputs = [name for name in PAIR_INPUTS if name in taken]

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States and span scores of each window."""
        padded = pad(windows)
        feed = {name: getattr(padded, name) for name in WORD_INPUTS}
        first, last, logits = self._encoder.run(WORD_OUTPUTS, feed)
        bounds = zip(padded.offsets, padded.offsets[1:], strict=False)
        return [WordStates(first[a:b], last[a:b], logits[a:b]) for a, b in bounds]

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Relation and antecedent scores."""
        if self._pairs is None:
            raise ModelDamagedError("the model has no pair graph", "export the model again")
        feed = {name: np.ascontiguousarray(getattr(pairs, name)) for name in self._pair_inputs}
        return PairScores(*self._pairs.run(PAIR_OUTPUTS, feed))


class _Session:
    def __init__(self, graph: Path, threads: int, device: str) -> None:
        self._graph, self._device = graph, device
        self._session = _session(graph, threads, device)
        self.inputs = frozenset(node.name for node in self._session.get_inputs())

    def run(self, outputs: Sequence[str], feed: Mapping[str, Any]) -> Any:
        """One call.

        Raises:
            DeviceError: The GPU cannot do it.
            ModelDamagedError: The graph cannot be run.
        """
        try:
            return self._session.run(outputs, feed)
        except Exception as error:  # onnxruntime raises bare Exceptions of its own making
            if self._device == CPU:
                raise ModelDamagedError(
                    f"{self._graph} cannot be run: {' '.join(str(error).split())}",
                    "get the model again, or export it again",
                ) from error
            raise failed_on_gpu(error, self._graph.name) from error


_EXACT = "session.x64quantprecision"
_PRODUCT = (
    b'\x08\x05\x12\x00:>\n\x18\n\x01a\n\x01b\x12\x01c"\rMatMulInteger\x12\x01g'
    b"Z\t\n\x01a\x12\x04\n\x02\x08\x02Z\t\n\x01b\x12\x04\n\x02\x08\x03b\t\n\x01c\x12\x04\n\x02\x08\x06B\x04\n\x00\x10\n"
)
"""A graph: the MatMulInteger ``c`` of ``a`` (uint8) and ``b`` (int8)."""


@cache
def sums_overflow() -> bool:
    """Whether the kernels that ONNX Runtime takes here add int8 products in 16 bits, as on x86-64 without VNNI.

    Scores then differ by up to 0.17. Exact kernels can be asked for, but would be taken on processors with VNNI as
    well, where they give the same and take 1.7 times as long (docs/models.md).
    """
    onnxruntime = import_onnxruntime()
    product = onnxruntime.InferenceSession(_PRODUCT, providers=[_CPU_PROVIDER])
    ones = np.ones((16, 16))
    # The largest products that there are: in 16 bits two of them overflow.
    feed = {"a": (255 * ones).astype(np.uint8), "b": (127 * ones).astype(np.int8)}
    return bool((product.run(None, feed)[0] != 16 * 255 * 127).any())


def _session(graph: Path, threads: int, device: str = CPU) -> Any:
    onnxruntime = import_onnxruntime()
    providers = prepare(device, onnxruntime)

    def open_session(exact: bool) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Threads that spin while they wait would take the cores of documents that are predicted side by side.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry(_EXACT, str(int(exact)))
        options.log_severity_level = _FATAL
        # With the fallback a GPU that fails is replaced by the processor without a word.
        return onnxruntime.InferenceSession(
            str(graph), options, providers=providers, enable_fallback=0
        )

    try:
        try:
            session = open_session(device == CPU and sums_overflow())
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
            # It cannot convert int8 weights that layers share, as in ALBERT.
            session = open_session(exact=False)
    except Exception as error:  # onnxruntime raises bare Exceptions of its own making
        if device != CPU:
            raise failed_on_gpu(error, graph.name) from error
        raise ModelDamagedError(
            f"{graph} cannot be loaded by onnxruntime {onnxruntime.__version__}: {error}",
            "get the model again, or update onnxruntime",
        ) from error
    found = session.get_providers()
    if device == CUDA and _CUDA_PROVIDER not in found:
        # Without CUDA's libraries ONNX Runtime falls back to the processor.
        problem = f"no GPU can be used: {graph.name} would run on {', '.join(found)}"
        hint = f"see nvidia-smi, and whether CUDA and cuDNN are there: {_INSTALL}"
        raise DeviceError(problem, hint)
    return session
