"""Ways of storing and multiplying numbers in fewer bits, checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from sciextract.errors import UsageError

HALF = "fp16"
"""Half precision, which needs no gold and no options: see :mod:`sciextract_trainer.compression.half`."""

Kind = Literal["dynamic", "static", "weights4"]
Ranges = Literal["minmax", "entropy", "percentile"]
BLOCK_SIZES = (16, 32, 64, 128, 256)
EMBEDDING_BITS = (4, 8, 32)


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way of quantising an encoder graph.

    Attributes:
        kind: ``dynamic``: int8, ranges of activations taken from each input; ``static``: int8, ranges fixed beforehand
            on texts; ``weights4``: weights of 4 bits in blocks, activations as they are.
        per_channel: Whether each column of a matrix has a scale of its own (not for ``weights4``, which has blocks).
        ranges: How ``static`` chooses ranges.
        block_size: Weights that share a scale in ``weights4``.
        embeddings: Bits of the piece embeddings in ``weights4``.

    Raises:
        UsageError: A value is not possible; says which ones are.
    """

    kind: Kind = "dynamic"
    per_channel: bool = True
    ranges: Ranges = "minmax"
    block_size: int = 64
    embeddings: int = 4

    def __post_init__(self) -> None:
        _require("--scheme", self.kind, get_args(Kind))
        _require("--ranges", self.ranges, get_args(Ranges))
        _require("--block-size", self.block_size, BLOCK_SIZES)
        _require("--embeddings", self.embeddings, EMBEDDING_BITS)

    @property
    def precision(self) -> str:
        """What the model folder calls the graph."""
        return "int4" if self.kind == "weights4" else "int8"

    @property
    def told(self) -> str:
        """What the model card says of it."""
        if self.kind == "weights4":
            return f"weights of 4 bits in blocks of {self.block_size}, embeddings of {self.embeddings} bits"
        channel = "per channel" if self.per_channel else "per tensor"
        ranges = f", ranges by {self.ranges}" if self.kind == "static" else ""
        return f"{self.kind} int8 {channel}{ranges}"


def check_scheme(name: str, dev: Path | None) -> None:
    """Refuse a name that no scheme has, and a scheme without the gold that it needs.

    Raises:
        UsageError: Says which names there are, or that gold is missing.
    """
    _require("--scheme", name, (*get_args(Kind), HALF))
    if name != HALF and dev is None:
        raise UsageError(
            f"--scheme {name} needs --dev: thresholds are fitted for the new graph",
            f"--dev FILE names gold documents; --scheme {HALF} keeps the thresholds",
        )


def _require(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            f"{option} {value} is not possible", f"allowed: {', '.join(map(str, allowed))}"
        )
