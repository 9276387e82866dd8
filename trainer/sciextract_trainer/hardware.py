"""Where a training runs: on which device, and in how many processes that train one network.

Processes train data parallel, without wrappers: the losses are sums over documents, so the gradients of the shares,
divided by the number of all documents of the step, add up to the gradient of one process with the whole
step. Parameters without a gradient in some process (no pairs in its share, or no share at all) count as
zero there, and as untouched where no process has one. ``torchrun`` starts the processes.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from itertools import accumulate, groupby
from threading import Thread
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.utils import deterministic as _deterministic

from sciextract.errors import DeviceError, SciextractError, UsageError

CPU = torch.device("cpu")
DEVICES = ("auto", "cpu", "cuda", "mps")

BatchT = TypeVar("BatchT")


def choose_device(name: str) -> torch.device:
    """The device of a name; ``auto`` takes a GPU where there is one.

    Raises:
        UsageError: No such name.
        DeviceError: There is no such device here.
    """
    if name not in DEVICES:
        raise UsageError(f"device {name!r} is unknown", f"use one of {', '.join(DEVICES)}")
    if name == "auto":
        return torch.device(next((name for name in ("cuda", "mps") if _usable(name)), "cpu"))
    if not _usable(name):
        reason = "PyTorch finds no Apple GPU" if name == "mps" else "PyTorch finds no CUDA device"
        if name == "cuda" and torch.version.cuda is None:
            reason = f"PyTorch {torch.__version__} is built without CUDA"
        raise DeviceError(
            f"no GPU can be used here ({name}): {reason}",
            "--device cpu trains on the processor; the compact bundled model needs minutes there",
        )
    return torch.device(name)


def describe(device: torch.device) -> str:
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


def move_to(batch: BatchT, device: torch.device) -> BatchT:
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


ItemT = TypeVar("ItemT")

LONGEST_WAIT = timedelta(minutes=30)
"""How long processes wait for each other; the first one meanwhile evaluates on dev."""

_BUCKET_VALUES = 1 << 24

_LOOK_SECONDS = 0.5


class GroupError(SciextractError):
    """The processes of a training have lost each other, or do not train the same."""


@dataclass(frozen=True, slots=True)
class Group:
    """The processes that train one network; a process alone is a group of one.

    Attributes:
        rank: Number of this process; 0 evaluates, writes and reports.
        size: Number of processes.
        device: Where this process trains; what processes send each other lies there.
    """

    rank: int = 0
    size: int = 1
    device: torch.device = CPU

    @property
    def is_first(self) -> bool:
        """Whether this process writes and reports."""
        return self.rank == 0

    def share(self, items: Sequence[ItemT]) -> Sequence[ItemT]:
        """This process's part: every ``size``-th item, so that sorted lengths spread evenly."""
        return items[self.rank :: self.size]

    def combine(
        self, parameters: Sequence[nn.Parameter], sums: Tensor, error: SciextractError | None = None
    ) -> Tensor:
        """Adds up the gradients of all processes in place; returns the added sums.

        Args:
            parameters: The parameters, the same in every process.
            sums: float32 (any,), summed losses of this process.
            error: What went wrong in this process; every process then raises it.

        Raises:
            SciextractError: Something went wrong in a process.
            GroupError: A process is gone.
        """
        if self.size == 1:
            if error is not None:
                raise error
            return sums
        # One message says who failed, who has which gradient, and the summed losses.
        flags = [float(error is not None), *(float(p.grad is not None) for p in parameters)]
        packed = torch.cat([torch.tensor(flags), sums.detach().float().cpu()]).to(self.device)
        self._add_up(packed)
        counts = packed.tolist()
        if counts[0]:  # all raise the error of the lowest process that has one
            own = None if error is None else (type(error), error.message, error.hint)
            kind, message, hint = next(filter(None, self._gather(own)))
            raise kind(message, hint)
        used = [p for p, n in zip(parameters, counts[1:], strict=False) if n]
        # Runs of about 64 MB, so that the copies that are sent stay small.
        ends = accumulate(parameter.numel() for parameter in used)
        for _, run in groupby(zip(used, ends, strict=True), lambda pair: pair[1] // _BUCKET_VALUES):
            bucket = [parameter for parameter, _ in run]
            parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in bucket]
            flat = torch.cat([part.reshape(-1) for part in parts])
            self._add_up(flat)
            pieces = torch.split(flat, [p.numel() for p in bucket])
            for parameter, piece in zip(bucket, pieces, strict=True):
                parameter.grad = piece.view_as(parameter)
        return packed[len(flags) :].cpu()

    def agree(self, value: ItemT) -> ItemT:
        """The first process's value, in every process.

        Raises:
            GroupError: A process is gone.
        """
        if self.size == 1:
            return value
        holder: list[Any] = [value]
        with _together():
            distributed.broadcast_object_list(holder, src=0)
        agree: ItemT = holder[0]
        return agree

    def require_same(self, what: str, value: object, hint: str) -> None:
        """Refuses to begin where processes differ.

        Raises:
            GroupError: Names what differs, and both values.
        """
        values = self._gather(value)
        for rank, other in enumerate(values):
            if other != values[0]:
                raise GroupError(
                    f"processes differ in {what}: {values[0]!r} in process 0, {other!r} in process {rank}",
                    hint,
                )

    @torch.no_grad()
    def spread(self, network: nn.Module) -> None:
        """Gives every process the weights of the first one.

        Raises:
            GroupError: A process is gone.
        """
        if self.size > 1:
            for tensor in network.state_dict().values():
                there = tensor.to(self.device).contiguous()
                with _together():
                    distributed.broadcast(there, src=0)
                tensor.copy_(there)

    def _gather(self, value: object) -> list[Any]:
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        with _together():
            distributed.all_gather_object(values, value)
        return values

    def _add_up(self, tensor: Tensor) -> None:
        with _together():
            distributed.all_reduce(tensor)


ALONE = Group()
"""One process, as usual."""


def is_member() -> bool:
    """Whether a launcher started this process as one of several (or as the only one of a group)."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_first() -> bool:
    """Whether this process reports: the first of those that a launcher started, or the only one."""
    return os.environ.get("RANK", "0") == "0" or not is_member()


def require_alone() -> None:
    """Refuses work that several processes cannot do together.

    Raises:
        UsageError: A launcher started this process as one of several.
    """
    if is_member() and os.environ["WORLD_SIZE"] != "1":
        raise UsageError(
            f"{os.environ['WORLD_SIZE']} processes cannot train on a project together",
            "from files they can: --data, --dev and --output; a project trains in one process",
        )


def own_device(device: torch.device) -> torch.device:
    """The device of this process: of several GPUs the one with its number on this machine.

    Raises:
        UsageError: There are fewer GPUs than processes on this machine, or a device that only one can use.
    """
    if not is_member() or device.type == "cpu":
        return device
    if device.type != "cuda":
        raise UsageError(
            f"several processes cannot train on {device.type}",
            "--device cpu or cuda; or one process",
        )
    number, found = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if number >= found:
        raise UsageError(
            f"there are more processes on this machine than GPUs ({found})",
            f"torchrun --nproc-per-node {found}; or --device cpu",
        )
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


def end_with_launcher() -> None:
    """Ends this process politely once the one that started it is gone.

    A launcher that is killed (SIGKILL, no memory) can end nobody, and the processes reach each other without it: they
    would train on unseen, with the GPU in their hands. A thread looks for the parent, because the death signal of
    Linux follows the parent's thread, and other systems have none.
    """
    launcher = os.getppid()

    def watch() -> None:
        while os.getppid() == launcher:
            time.sleep(_LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, daemon=True).start()


@contextmanager
def join_group(device: torch.device) -> Iterator[Group]:
    """The group that a launcher made this process a member of; a group of one without a launcher.

    Args:
        device: From :func:`own_device`.

    Raises:
        GroupError: The other processes cannot be reached.
    """
    if not is_member():
        yield Group(device=device)
        return
    end_with_launcher()
    with _together():
        distributed.init_process_group(
            "nccl" if device.type == "cuda" else "gloo", timeout=LONGEST_WAIT
        )
    yield Group(distributed.get_rank(), distributed.get_world_size(), device)
    distributed.destroy_process_group()  # not after an error: the others may be gone


@contextmanager
def _together() -> Iterator[None]:
    """Names the usual reason where processes cannot do something together."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise GroupError(
            f"process {os.environ.get('RANK', '0')} has lost the other processes of this training",
            "look at what they say; repeat the command to resume after the last finished epoch",
        ) from error
