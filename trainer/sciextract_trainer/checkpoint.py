"""Training that can be stopped: checkpoints, calls that end when their time is up, and what each process took, kept in ``run.json``."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from sciextract import atomic
from sciextract.errors import ModelDamagedError, UsageError, explain_write_errors
from sciextract.retraining.run import environment
from sciextract.retraining.run_folder import Run, WorkSession, now
from sciextract_trainer.hardware import Group, describe
from sciextract_trainer.optimisation import WeightAverage

WEIGHTS = "checkpoint.safetensors"


@dataclass(slots=True)
class Progress:
    """How far a training is.

    Attributes:
        epoch: Finished epochs.
        steps: Steps of the next epoch that are done, where a training stopped within it.
        sums: Losses of the three tasks in these steps, summed over documents.
        best_epoch: Epoch of the best dev score, 0 before the first evaluation.
        best_mean: That score: the mean of three F1, or the one F1 that the recipe selects by.
        history: One entry per evaluation.
    """

    epoch: int = 0
    steps: int = 0
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    best_epoch: int = 0
    best_mean: float = -1.0
    history: list[dict[str, Any]] = field(default_factory=list)

    def follow(self, other: Progress) -> None:
        """Takes over where another process is."""
        for own in fields(self):
            setattr(self, own.name, getattr(other, own.name))


@dataclass(frozen=True, slots=True)
class TrainingState:
    """Everything that a resumed training needs.

    Attributes:
        settings: The recipe and the size of the data; a resumed training must have the same ones.
    """

    settings: dict[str, Any]
    network: nn.Module
    average: WeightAverage
    optimiser: Optimizer
    schedule: LambdaLR
    progress: Progress


def trainable(network: nn.Module) -> dict[str, Tensor]:
    """The weights that training changes, by name."""
    return {name: p.detach() for name, p in network.named_parameters() if p.requires_grad}


def save_checkpoint(folder: Path, state: TrainingState) -> None:
    """Writes the state next to the old one and renames it into place.

    Within an epoch the random numbers are included, so that dropout continues as it would have.

    Raises:
        OutputError: The disk is full; the old checkpoint is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"network.{name}": value for name, value in trainable(state.network).items()}
    tensors |= {f"average.{name}": value for name, value in state.average.weights.items()}
    for index, values in state.optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{key}": torch.as_tensor(v) for key, v in values.items()}
    data = {
        "settings": state.settings,
        "progress": asdict(state.progress),
        "schedule_step": state.schedule.last_epoch,
        "average_steps": state.average.steps,
    }
    if state.progress.steps:
        tensors["random.cpu"] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
    metadata = {"state": json.dumps(data)}
    with replacing(folder / WEIGHTS) as temporary:
        # safetensors refuses views of other tensors.
        save_file({k: v.contiguous() for k, v in tensors.items()}, temporary, metadata=metadata)


def load_checkpoint(folder: Path, state: TrainingState) -> bool:
    """Fills the state from a checkpoint; ``False`` when there is none.

    Raises:
        ModelDamagedError: The checkpoint is not whole or belongs to another network.
        UsageError: It belongs to a training with other settings.
    """
    path = folder / WEIGHTS
    if not path.is_file():
        return False
    try:
        with safe_open(path, framework="pt") as file:
            data: dict[str, Any] = json.loads(file.metadata()["state"])
        # Other settings would bend the schedule unnoticed.
        before, wanted = data["settings"], state.settings
        changed = [
            f"{key} was {before.get(key)!r}, is {wanted.get(key)!r}"
            for key in sorted({*before, *wanted})
            if before.get(key) != wanted.get(key)
        ]
        if changed:
            raise UsageError(
                f"{path}: a training with other settings stopped here: {'; '.join(changed)}",
                "give its settings again to continue, or another run folder to start anew",
            )
        _restore(load_file(path), data, state)
    except KeyError as error:
        raise _damaged(path, f"{error.args[0]} is missing") from error
    except (TypeError, ValueError, RuntimeError, OSError, SafetensorError) as error:
        raise _damaged(path, str(error)) from error
    return True


def _damaged(path: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(
        f"{path}: the checkpoint cannot be resumed: {problem}", "remove it to start again"
    )


def load_weights(path: Path, network: nn.Module) -> None:
    """Puts stored weights into a network; weights that are not stored stay.

    Raises:
        ModelDamagedError: The file is not whole, or is of another network.
    """
    try:
        unknown = network.load_state_dict(load_file(path), strict=False).unexpected_keys
        if unknown:
            raise RuntimeError(f"{unknown[0]} is not a weight of the network")
    except (RuntimeError, OSError, SafetensorError) as error:
        raise ModelDamagedError(
            f"{path}: the best weights cannot be read: {error}",
            "remove the run folder to start again",
        ) from error


@torch.no_grad()
def _restore(tensors: dict[str, Tensor], data: dict[str, Any], state: TrainingState) -> None:
    for name, parameter in trainable(state.network).items():
        parameter.copy_(tensors[f"network.{name}"])
        state.average.weights[name].copy_(tensors[f"average.{name}"])
    optimiser = state.optimiser.state_dict()
    optimiser["state"] = {}
    for name, value in tensors.items():
        if name.startswith("optimiser."):
            _, index, key = name.split(".", 2)
            optimiser["state"].setdefault(int(index), {})[key] = value
    state.optimiser.load_state_dict(optimiser)
    state.average.steps = int(data["average_steps"])
    schedule, step = state.schedule, int(data["schedule_step"])
    schedule.load_state_dict({**schedule.state_dict(), "last_epoch": step, "_step_count": step + 1})
    # torch sets the rates at the next step only; the first batch would be learned at the first rate again.
    for group, rate, factor in zip(
        schedule.optimizer.param_groups, schedule.base_lrs, schedule.lr_lambdas, strict=True
    ):
        group["lr"] = rate * factor(step)
    for key, value in data["progress"].items():
        setattr(state.progress, key, value)
    if "random.cpu" in tensors:
        torch.set_rng_state(tensors["random.cpu"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])


CHECKPOINT_SECONDS = 300.0
"""Within an epoch a checkpoint is written this often: what a killed process loses at most."""


class TimeIsUp(Exception):
    """The time of a call is over; what is finished is kept, and the same call continues."""


def deadline(minutes: float) -> float:
    """``time.monotonic()`` in so many minutes."""
    return time.monotonic() + 60 * minutes


def require_time(until: float) -> None:
    """Stops a call whose time is over.

    Raises:
        TimeIsUp: It is later than ``until``.
    """
    if time.monotonic() >= until:
        raise TimeIsUp


@dataclass(slots=True)
class Slice:
    """The part of an epoch that one call may take.

    Attributes:
        folder: Where the checkpoint goes.
        until: ``time.monotonic()`` at which the call is over.
        saved: When a checkpoint was written last.
    """

    folder: Path
    until: float
    saved: float = field(default_factory=time.monotonic)

    def after_step(self, state: TrainingState, group: Group) -> None:
        """Writes a checkpoint now and then, and when time is up.

        Raises:
            TimeIsUp: The call is over.
        """
        now = time.monotonic()
        # Several processes would have to agree on the step to stop at: they stop after an epoch.
        if group.size > 1 or now < min(self.until, self.saved + CHECKPOINT_SECONDS):
            return
        save_checkpoint(self.folder, state)
        self.saved = time.monotonic()
        require_time(self.until)


def note_environment(run: Run, **values: Any) -> None:
    """Write values, the machine and the versions into ``run.json``."""
    found = environment()
    found["versions"]["torch"] = torch.__version__
    run.note(**values, **found)


@contextmanager
def recording(run: Run, device: torch.device, processes: int = 1) -> Iterator[None]:
    """Measures the time of a block, also of one that is stopped, and adds it to ``run.json``.

    Args:
        run: The run folder; the block makes it if need be.
        device: Where the block trains.
        processes: How many processes train together.
    """
    began, since = now(), time.monotonic()
    try:
        yield
    finally:
        spent = round(time.monotonic() - since, 1)
        run.folder.mkdir(parents=True, exist_ok=True)
        sessions = (*run.record().sessions, WorkSession(began, spent, describe(device), processes))
        run.note(sessions=sessions, seconds=round(sum(session.seconds for session in sessions), 1))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file or folder to write next to ``path``, which takes its place when the block is done.

    Raises:
        OutputError: The disk is full; ``path`` is as it was before.
    """
    # alone: what a killed process left under the same name is removed first.
    with explaining(path), atomic.replacing(path, alone=True) as temporary:
        yield temporary


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turns what a full disk ends in into an error that says how to continue.

    Raises:
        OutputError: The disk is full, or ``path`` cannot be written.
    """
    again = "make room, then give the same command again: what was finished is kept"
    with explain_write_errors(path, again, when_full=again):
        try:
            yield
        except SafetensorError as error:
            # safetensors tells the number of the system's error in words only.
            if found := re.search(r"os error (\d+)\)", str(error)):
                raise OSError(int(found[1]), os.strerror(int(found[1]))) from error
            raise
