"""Ways to run an encoder in training that change time and memory, not the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch._dynamo.exc import TorchDynamoException

from sciextract.errors import UsageError

CompileFailure = TorchDynamoException
"""What a compiled encoder raises where it cannot be compiled: no compiler, or a layer it cannot take."""


def encoder_of(network: nn.Module) -> nn.Module:
    """The encoder of a network of any family."""
    return network.get_submodule("words.encoder")


def enable_checkpointing(network: nn.Module) -> None:
    """Lets the encoder's layers be computed a second time instead of kept (Chen et al. 2016, arXiv 1604.06174).

    Raises:
        UsageError: The encoder's family cannot do that.
    """
    encoder = encoder_of(network)
    if not getattr(encoder, "supports_gradient_checkpointing", False):
        raise UsageError(
            f"checkpointing is not possible with this encoder ({type(encoder).__name__})",
            "set checkpointing = false; accumulate with fewer batch_documents saves memory, too",
        )
    newer = getattr(encoder, "activation_checkpointing_enable", None)  # transformers renamed it
    enable: Any = newer or encoder.gradient_checkpointing_enable
    enable({"use_reentrant": False})


class Compilation:
    """Compiles an encoder for training only; evaluation, saved weights and export never see it.

    Lengths vary from batch to batch, so it is compiled for any length at once.

    Args:
        encoder: The encoder; ``None`` compiles nothing.
    """

    def __init__(self, encoder: nn.Module | None) -> None:
        self._encoder = encoder
        self._compiled: Callable[..., Any] | None = None

    @contextmanager
    def on(self) -> Iterator[None]:
        """The compiled encoder, for the length of a block."""
        if self._encoder is None:
            yield
            return
        if self._compiled is None:
            self._encoder.compile(dynamic=True)
        else:
            self._encoder._compiled_call_impl = self._compiled
        try:
            yield
        finally:
            self._off()

    def give_up(self) -> None:
        """Goes on without."""
        self._off()
        self._encoder = None

    def _off(self) -> None:
        if self._encoder is not None:
            self._compiled = self._encoder._compiled_call_impl
            self._encoder._compiled_call_impl = None


def reason_of(error: BaseException) -> str:
    """In one line why an encoder could not be compiled: the compiler's own words where it has some."""
    inner = getattr(error, "inner_exception", None) or error.__cause__ or error
    lines = [line.strip() for line in str(inner).splitlines() if line.strip()]
    return lines[0] if lines else type(inner).__name__
