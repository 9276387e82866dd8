"""Dynamic masking: every pass over a block hides other pieces."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KEPT, SWAPPED = 0.1, 0.1
"""Of the chosen pieces a tenth stays as it is and a tenth becomes any other piece."""


@dataclass(frozen=True, slots=True)
class Masked:
    """Blocks with hidden pieces.

    Attributes:
        input_ids: int64 (blocks, length), what the encoder sees.
        positions: int64 (chosen,), indices into the flattened blocks.
        targets: int64 (chosen,), the pieces that stood there.
    """

    input_ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    targets: NDArray[np.int64]


def mask_pieces(
    blocks: NDArray[np.integer],
    special: Collection[int],
    mask: int,
    vocabulary: int,
    share: float,
    random: np.random.Generator,
) -> Masked:
    """Choose a share of the pieces and hide them.

    Of the chosen ones 80 % become the mask piece, 10 % a random piece, 10 % stay (Devlin et al. 2019,
    BERT, arXiv 1810.04805, section 3.1); the choice is drawn anew at every step (Liu et al. 2019, RoBERTa,
    arXiv 1907.11692, section 4.1). Special pieces are never chosen.

    Args:
        blocks: (blocks, length) piece ids.
        special: Ids that are never chosen.
        mask: Id of the mask piece.
        vocabulary: How many ids there are.
        share: Of the other pieces, 0 to 1.
        random: Decides.
    """
    flat = blocks.reshape(-1).astype(np.int64)
    free = np.flatnonzero(~np.isin(flat, list(special)))
    count = max(1, round(share * len(free)))
    positions = np.sort(random.choice(free, size=min(count, len(free)), replace=False))
    targets = flat[positions]
    fate = random.random(len(positions))
    hidden = np.where(fate < KEPT, targets, mask)
    swapped = (fate >= KEPT) & (fate < KEPT + SWAPPED)
    hidden[swapped] = random.integers(0, vocabulary, int(swapped.sum()))
    flat[positions] = hidden
    return Masked(flat.reshape(blocks.shape), positions, targets)
