"""GPUs that are not there, that cannot be loaded, that run out of memory; and what ``auto`` makes of it."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sciextract.errors import DeviceError, ModelNotFoundError, UsageError
from sciextract.inference import onnx_network
from sciextract.inference.batching import SINGLE, Batching, RunOptions
from sciextract.inference.extractor import (
    BATCH_TOKENS_ON_GPU,
    Extractor,
    start_model,
)
from sciextract.inference.model_folder import (
    GRAPHS,
    ModelFolder,
    locate_model,
    open_folder,
    write_manifest,
)
from sciextract.inference.tokenization import EncoderInput

ON_GPU = ["CUDAExecutionProvider", "CPUExecutionProvider"]
FULL = "[ONNXRuntimeError] : 6 : Failed to allocate\n memory for requested buffer"
GPU = RunOptions(device="cuda")


class FakeRuntime:
    """ONNX Runtime where CUDA was built in.

    Args:
        taken: What its sessions come to run on.
    """

    __version__ = "9.9"

    def __init__(self, taken: list[str]) -> None:
        self.sessions: list[tuple[str, list[str], int]] = []
        self._taken = taken

    def SessionOptions(self) -> SimpleNamespace:
        return SimpleNamespace(add_session_config_entry=lambda name, value: None)

    def InferenceSession(
        self, graph: str, options: object, *, providers: list[str], enable_fallback: int
    ) -> SimpleNamespace:
        self.sessions.append((Path(graph).name, providers, enable_fallback))
        return SimpleNamespace(get_providers=lambda: self._taken, get_inputs=list, run=self._full)

    def get_available_providers(self) -> list[str]:
        return ON_GPU

    def preload_dlls(self) -> None:
        print("Failed to load libcudnn.so.9")  # as theirs does

    @staticmethod
    def _full(outputs: object, feed: object) -> Any:
        raise RuntimeError(FULL)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> FakeRuntime:
    fake = FakeRuntime(ON_GPU)
    monkeypatch.setattr(onnx_network, "import_onnxruntime", lambda: fake)
    return fake


@pytest.fixture(scope="module")
def bundled() -> ModelFolder:
    return open_folder(locate_model("sci"))


@pytest.fixture(scope="module")
def for_gpus(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    """The bundled model with something where its graph for GPUs would be."""
    folder = tmp_path_factory.mktemp("models") / "model"
    shutil.copytree(locate_model("sci"), folder)
    (folder / GRAPHS["fp16"]).write_bytes(b"a graph")
    write_manifest(folder)
    return open_folder(folder)


def test_an_onnxruntime_without_cuda_is_named_with_what_it_has(for_gpus: ModelFolder) -> None:
    with pytest.raises(DeviceError, match=r"no CUDAExecutionProvider, it has .*CPUExecution") as e:
        start_model(for_gpus, GPU)
    assert "onnxruntime-gpu" in e.value.hint


def test_the_graph_for_gpus_runs_in_batches_of_subwords(
    for_gpus: ModelFolder, runtime: FakeRuntime, capsys: pytest.CaptureFixture[str]
) -> None:
    found = start_model(for_gpus, GPU)
    assert found.batching == Batching(None, BATCH_TOKENS_ON_GPU)
    assert runtime.sessions == [("model.fp16.onnx", ON_GPU, 0), ("pairs.onnx", ON_GPU, 0)]
    assert capsys.readouterr().out == ""
    assert start_model(for_gpus, RunOptions(device="cuda", batch_size=4)).batching == Batching(4)


def test_a_session_that_would_run_on_the_processor_is_refused(
    for_gpus: ModelFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeRuntime(["CPUExecutionProvider"])
    monkeypatch.setattr(onnx_network, "import_onnxruntime", lambda: fake)
    problem = r"no GPU can be used: model\.fp16\.onnx would run on CPUExecutionProvider"
    with pytest.raises(DeviceError, match=problem) as e:
        start_model(for_gpus, GPU)
    assert "nvidia-smi" in e.value.hint


def test_a_full_gpu_says_what_needs_less(for_gpus: ModelFolder, runtime: FakeRuntime) -> None:
    zeros = np.zeros(3, dtype=np.int64)
    problem = r"the GPU cannot run model\.fp16\.onnx: .*Failed to allocate memory for requested"
    with pytest.raises(DeviceError, match=problem) as e:
        start_model(for_gpus, GPU).network.encode([EncoderInput(zeros, zeros, zeros)])
    assert "--batch-tokens" in e.value.hint


def test_a_model_without_a_graph_for_gpus_says_how_to_make_one(
    bundled: ModelFolder, for_gpus: ModelFolder, runtime: FakeRuntime
) -> None:
    with pytest.raises(ModelNotFoundError, match="has no fp16 or fp32 graph") as e:
        start_model(bundled, GPU)
    assert "it has: int8; python -m research quantise MODEL --scheme fp16" in e.value.hint
    with pytest.raises(DeviceError, match="int8 graphs run on the CPU only") as other:
        start_model(for_gpus, RunOptions(device="cuda", precision="int8"))
    assert "--precision fp16 or fp32" in other.value.hint


def test_auto_says_what_it_took_and_why(for_gpus: ModelFolder, runtime: FakeRuntime) -> None:
    found = start_model(for_gpus, RunOptions(device="auto"))
    assert found.message == "device auto took cuda, with the fp16 graph"
    assert start_model(for_gpus, GPU).message == ""


def test_auto_takes_the_processor_where_there_is_no_gpu() -> None:
    extractor = Extractor.load(device="auto", threads=1)
    assert extractor.device_message.startswith("device auto took cpu, with the int8 graph: ")
    assert extractor.with_settings({"entity": 0.5}).device_message == extractor.device_message
    assert extractor.batching is SINGLE
    assert Extractor.load(threads=1).device_message == ""


def test_other_names_are_refused() -> None:
    with pytest.raises(UsageError, match="--device tpu is not possible") as e:
        Extractor.load(device="tpu")
    assert e.value.hint == "choose from: cpu, cuda, auto"


@pytest.mark.parametrize("overflow", [True, False])
def test_exact_kernels_are_asked_for_only_where_sums_overflow(
    overflow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On processors with VNNI they would give the same in 1.7 times the time."""
    monkeypatch.setattr(onnx_network, "sums_overflow", lambda: overflow)
    network = onnx_network.OnnxNetwork(locate_model("sci") / "model.int8.onnx", None)
    options = network._encoder._session.get_session_options()
    assert options.get_session_config_entry("session.x64quantprecision") == str(int(overflow))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="about x86-64")
def test_sums_overflow_on_processors_without_vnni() -> None:
    flags = Path("/proc/cpuinfo")
    if not flags.is_file():
        pytest.skip("reads /proc/cpuinfo")
    onnx_network.sums_overflow.cache_clear()
    assert onnx_network.sums_overflow() == ("vnni" not in flags.read_text())


def test_the_product_that_is_tried_is_what_its_comment_says() -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(onnx_network._PRODUCT)
    [node] = model.graph.node
    assert (node.op_type, list(node.input), list(node.output)) == (
        "MatMulInteger",
        ["a", "b"],
        ["c"],
    )
    kinds = [value.type.tensor_type.elem_type for value in model.graph.input]
    assert kinds == [onnx.TensorProto.UINT8, onnx.TensorProto.INT8]
