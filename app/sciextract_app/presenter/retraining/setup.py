"""Where and how a training shall run, as the person chose it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sciextract.errors import UsageError
from sciextract.workflows.correction.order import RANGES
from sciextract.workflows.remote.ssh import Ssh

DEVICES = ("auto", "cpu", "cuda", "mps")
PYTHON = "python3"
_DEVICE_WORDS = {
    "auto": "auto: a graphics card where PyTorch finds one, else the processor",
    "cpu": "cpu: the processor",
    "cuda": "cuda: an NVIDIA card",
    "mps": "mps: the graphics of an Apple machine",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the person chose; what is empty is as usual.

    Attributes:
        host: The other machine that trains, empty for this computer.
        python: The Python there.
        device: What trains there or here.
        base: A published set of theirs that is seen again in training.
        epochs: Instead of the recipe's.
    """

    host: str = ""
    python: str = PYTHON
    device: str = DEVICES[0]
    base: Path | None = None
    epochs: int | None = None

    def words(self) -> list[str]:
        """The options of ``sciextract retrain`` that say the same."""
        words = ["--device", self.device]
        if self.host:
            words += ["--remote", self.host, "--remote-python", self.python]
        if self.base is not None:
            words += ["--base", str(self.base)]
        return [*words, "--epochs", str(self.epochs)] if self.epochs is not None else words

    @property
    def next_device(self) -> str:
        """The device after the chosen one."""
        return DEVICES[(DEVICES.index(self.device) + 1) % len(DEVICES)]

    def lines(self) -> list[tuple[str, str]]:
        """Names and values, with the key that changes each."""
        epochs = "as the recipe says" if self.epochs is None else f"{self.epochs:,}"
        base = "no published set is seen again" if self.base is None else f"with {self.base}"
        there = [("its Python", f"{self.python}  (p)")] if self.host else []
        return [
            ("where", f"{place(self.host)}  (w)"),
            *there,
            ("device", f"{_DEVICE_WORDS.get(self.device, self.device)}  (d)"),
            ("epochs", f"{epochs}  (e)"),
            ("replay", f"{base}  (b)"),
        ]


def place(host: str) -> str:
    """Where a training runs, in words."""
    return f"{host}, over ssh; texts that are trained on go there" if host else "this computer"


def problem_of_machine(host: str, python: str = PYTHON) -> str:
    """Why a host or its Python cannot be named so, as the command says it; empty where they can."""
    try:
        Ssh(host, python)
    except UsageError as error:
        return f"{error.message}; {error.hint}"
    return ""


def problem_of_epochs(typed: str) -> str:
    """Why that is no number of epochs; empty where it is."""
    try:
        read_epochs(typed)
    except UsageError as error:
        return f"{error.message}; {error.hint}"
    return ""


def read_epochs(typed: str) -> int | None:
    """A number of epochs, ``None`` for the recipe's.

    Raises:
        UsageError: It is none.

    >>> read_epochs(" 12 "), read_epochs("")
    (12, None)
    """
    if not typed.strip():
        return None
    least, most = RANGES["epochs"]
    digits = typed.strip()
    if digits.isascii() and digits.isdigit() and len(digits) < 10 and least <= int(digits) <= most:
        return int(digits)
    raise UsageError(
        f"{typed!r} is no number of epochs", f"{least} to {most:,}; empty for the recipe's"
    )
