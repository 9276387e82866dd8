"""Where a training runs: which device, and whether bfloat16 pays there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils import deterministic as _deterministic

from sciextract.errors import SciextractError, UsageError

CPU = torch.device("cpu")
DEVICES = ("auto", "cpu", "cuda", "mps")

BatchT = TypeVar("BatchT")


class DeviceMissingError(SciextractError):
    """The device that was asked for is not there."""


def choose_device(name: str) -> torch.device:
    """The device of a name; ``auto`` takes a GPU where there is one.

    Raises:
        UsageError: No such name.
        DeviceMissingError: There is no such device here.
    """
    if name not in DEVICES:
        raise UsageError(f"device {name!r} is unknown", f"use one of {', '.join(DEVICES)}")
    if name == "auto":
        return torch.device(next((each for each in ("cuda", "mps") if _usable(each)), "cpu"))
    if not _usable(name):
        reason = "PyTorch finds no Apple GPU" if name == "mps" else "PyTorch finds no CUDA device"
        if name == "cuda" and torch.version.cuda is None:
            reason = f"PyTorch {torch.__version__} is built without CUDA"
        raise DeviceMissingError(
            f"no GPU can be used here ({name}): {reason}",
            "--device cpu trains on the processor; the compact bundled model needs minutes there",
        )
    return torch.device(name)


def describe(device: torch.device) -> str:
    """The device in words, for reports."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads" if device.type == "cpu" else "mps"


def has_fast_bf16(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 in hardware; elsewhere it is slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "mps":
        return False
    supported = (torch.cpu._is_avx512_bf16_supported(), torch.cpu._is_amx_tile_supported())
    return any(supported)


@contextmanager
def repeatable(device: torch.device) -> Iterator[None]:
    """On a processor, the same numbers from the same start: several threads add gradients up in a fixed order.

    On other devices nothing changes: some of their kernels have no fixed order, and the others are slow.
    """
    if device.type != "cpu":
        yield
        return
    deterministic: Any = _deterministic
    before = torch.are_deterministic_algorithms_enabled(), deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    deterministic.fill_uninitialized_memory = False  # for finding mistakes; costs time
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        deterministic.fill_uninitialized_memory = before[1]


def moved(batch: BatchT, device: torch.device) -> BatchT:
    """A dataclass with its tensors on a device."""
    values: dict[str, Any] = {
        field.name: value.to(device)
        for field in fields(batch)  # type: ignore[arg-type]
        if isinstance(value := getattr(batch, field.name), Tensor)
    }
    return replace(batch, **values)  # type: ignore[type-var]


def _usable(name: str) -> bool:
    if name == "cuda":
        return torch.cuda.is_available()
    return name == "cpu" or torch.backends.mps.is_available()


def enable_checkpointing(network: nn.Module) -> None:
    """Lets the encoder's layers be computed a second time instead of kept (Chen et al. 2016, arXiv 1604.06174).

    Raises:
        UsageError: The encoder's family cannot do that.
    """
    encoder = network.get_submodule("words.encoder")
    if not getattr(encoder, "supports_gradient_checkpointing", False):
        raise UsageError(
            f"checkpointing is not possible with this encoder ({type(encoder).__name__})",
            "set checkpointing = false; accumulate with fewer batch_documents saves memory, too",
        )
    newer = getattr(encoder, "activation_checkpointing_enable", None)  # transformers renamed it
    enable: Any = newer or encoder.gradient_checkpointing_enable
    enable({"use_reentrant": False})
