"""How a model is to run and how it does: device, graph, threads, batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.errors import DeviceError, ModelNotFoundError
from sciextract.inference.batching import SINGLE, Batching
from sciextract.inference.cores import usable_cores
from sciextract.inference.devices import AUTO, CPU, CUDA, check_device
from sciextract.inference.folder import GPU_PRECISIONS, GRAPHS, PAIRS_GRAPH, ModelFolder

if TYPE_CHECKING:
    from sciextract.inference.onnx_network import OnnxNetwork

BATCH_TOKENS_ON_GPU = 16_384
"""Word pieces of a call on a GPU when nothing is said: about fifty abstracts, some gigabytes for an encoder of 110 M weights."""

POOLS_AT_A_TIME = 2
"""While the GPU works for one pool of documents, the processor reads the results of another."""

_INT8 = "int8"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user says about it; ``None`` leaves it open.

    Attributes:
        threads: Cores to use.
        precision: ``int8``, ``int4``, ``fp32`` or ``fp16``.
        batch_size: Windows of a call at most.
        batch_tokens: Word pieces of a call at most, padding counted.
        device: ``cpu``, ``cuda``, or ``auto``: a GPU if the model and this machine can use one.
    """

    threads: int | None = None
    precision: str | None = None
    batch_size: int | None = None
    batch_tokens: int | None = None
    device: str = CPU

    @property
    def batching(self) -> Batching:
        """The batches that are asked for."""
        if self.batch_tokens is None:
            return Batching(self.batch_size or 1)
        return Batching(self.batch_size, self.batch_tokens)


@dataclass(frozen=True, slots=True)
class Running:
    """What came of it.

    Attributes:
        network: The graphs, ready to run.
        device: ``cpu`` or ``cuda``.
        precision: Of the encoder's graph.
        batching: Which windows share a call.
        workers: Documents, or pools of them, that are predicted at a time.
        reason: Why ``auto`` took the processor; empty where it did not.
    """

    network: OnnxNetwork
    device: str
    precision: str
    batching: Batching
    workers: int
    reason: str = ""


def run(folder: ModelFolder, wanted: Wanted) -> Running:
    """Start a model.

    Raises:
        ModelNotFoundError: It has no graph of that precision, or none for a GPU.
        ModelDamagedError: A graph cannot be loaded.
        DeviceError: The device cannot be used.
        UsageError: No device has that name.
    """
    check_device(wanted.device)
    if wanted.device == CPU:
        return _on_cpu(folder, wanted)
    try:
        return _on_gpu(folder, wanted)
    except (DeviceError, ModelNotFoundError) as error:
        if wanted.device == CUDA:
            raise
        return replace(_on_cpu(folder, wanted), reason=error.message)


def told(wanted: str, running: Running) -> str:
    """What ``auto`` took and why; nothing where the user chose."""
    if wanted != AUTO:
        return ""
    reason = f": {running.reason}" if running.reason else ""
    return f"device {AUTO} took {running.device}, with the {running.precision} graph{reason}"


def _on_cpu(folder: ModelFolder, wanted: Wanted) -> Running:
    """Documents side by side, a core each, or batches that share the cores; int8 output depends on its batch."""
    graph = folder.graph(wanted.precision)
    precision = _precision_of(graph)
    batching = SINGLE if precision == _INT8 else wanted.batching
    cores = wanted.threads or usable_cores()
    threads, workers = (1, cores) if batching.single else (cores, 1)
    network = _network(folder, graph, threads, CPU)
    return Running(network, CPU, precision, batching, workers)


def _on_gpu(folder: ModelFolder, wanted: Wanted) -> Running:
    if wanted.precision == _INT8:
        problem = "int8 graphs run on the processor: they measure each input on the way"
        raise DeviceError(problem, f"--precision {' or '.join(GPU_PRECISIONS)}, or --device {CPU}")
    graph = folder.graph(wanted.precision, GPU_PRECISIONS)
    batching = wanted.batching
    if wanted.batch_size is None and wanted.batch_tokens is None:
        batching = Batching(None, BATCH_TOKENS_ON_GPU)
    network = _network(folder, graph, 1, CUDA)
    return Running(network, CUDA, _precision_of(graph), batching, POOLS_AT_A_TIME)


def _network(folder: ModelFolder, graph: Path, threads: int, device: str) -> OnnxNetwork:
    from sciextract.inference.onnx_network import OnnxNetwork

    pairs = folder.path / PAIRS_GRAPH
    return OnnxNetwork(graph, pairs if pairs.is_file() else None, threads, device)


def _precision_of(graph: Path) -> str:
    names: Sequence[str] = [name for name, file in GRAPHS.items() if file == graph.name]
    return names[0]
