"""Where graphs run: the processor, or a GPU through CUDA. ONNX Runtime keeps quiet when it takes the wrong one."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from sciextract.errors import DeviceError, UsageError

CPU, CUDA, AUTO = "cpu", "cuda", "auto"
DEVICES = (CPU, CUDA, AUTO)

_CUDA_PROVIDER, _CPU_PROVIDER = "CUDAExecutionProvider", "CPUExecutionProvider"
_INSTALL = 'pip uninstall onnxruntime; pip install "onnxruntime-gpu[cuda,cudnn]"'
_LONGEST_REASON = 300


def check_device(name: str) -> None:
    """Refuse a name that no device has.

    Raises:
        UsageError: Says which there are.
    """
    if name not in DEVICES:
        raise UsageError(f"--device {name} is not possible", f"allowed: {', '.join(DEVICES)}")


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


def check_session(session: Any, device: str, graph: Path) -> None:
    """Refuse a session that runs elsewhere: without CUDA's libraries ONNX Runtime goes on with the processor.

    Raises:
        DeviceError: It does; names what it took.
    """
    found = session.get_providers()
    if device == CUDA and _CUDA_PROVIDER not in found:
        problem = f"no GPU can be used: {graph.name} would run on {', '.join(found)}"
        hint = f"see nvidia-smi, and whether CUDA and cuDNN are there: {_INSTALL}"
        raise DeviceError(problem, hint)


def failed_on_gpu(error: Exception, graph: str) -> DeviceError:
    """What a call that fails on a GPU means; mostly that its memory is full."""
    reason = " ".join(str(error).split())[:_LONGEST_REASON]
    hint = "a smaller --batch-tokens needs less memory; --device cpu needs none"
    return DeviceError(f"the GPU cannot run {graph}: {reason}", hint)
