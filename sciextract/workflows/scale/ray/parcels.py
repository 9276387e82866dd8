"""What travels through Ray Data: one row a parcel, which holds a chunk, a result, or an error that ends the run."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sciextract.errors import SciextractError
from sciextract.workflows.scale.errors import WorkerRefusedError
from sciextract.workflows.scale.seam import Chunk, ChunkResult

if TYPE_CHECKING:
    import pyarrow as pa

COLUMN = "parcel"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of a user's making that a machine of the cluster came upon.

    Attributes:
        message: What is wrong, and on which machine.
        hint: The next step.
        exit_code: What the command line returns.
    """

    message: str
    hint: str
    exit_code: int

    @classmethod
    def of(cls, error: SciextractError, node: str) -> Refusal:
        """What to tell about an error."""
        return cls(f"{error.message} (on node {node})", error.hint, error.exit_code)

    def error(self) -> SciextractError:
        """It as an error again."""
        return WorkerRefusedError(self.message, self.hint, self.exit_code)


Parcel = Chunk | ChunkResult | Refusal


def packed(parcel: Parcel) -> pa.Table:
    """A table of one row; numpy, Ray's own way, would cut zero bytes off."""
    import pyarrow as pa

    data = pickle.dumps(parcel, protocol=pickle.HIGHEST_PROTOCOL)
    return pa.table({COLUMN: pa.array([data], pa.large_binary())})


def unpacked(table: pa.Table) -> Iterator[Parcel]:
    """The parcels of a table."""
    for value in table.column(COLUMN):
        yield pickle.loads(value.as_py())
