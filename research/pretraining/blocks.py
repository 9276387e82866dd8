"""Unlabelled abstracts as packed blocks of subwords on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sciextract.errors import ModelDamagedError
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.checkpoint import replacing

AT_A_TIME = 512
Blocks = NDArray[np.uint32]


def packed_blocks(
    texts: Iterable[str],
    rules: SubwordRules,
    length: int,
    folder: Path,
    described: dict[str, object],
) -> Blocks:
    """The texts in blocks of ``length`` subwords, made once and read from disk after that.

    Texts follow each other with the end-of-text subword between them and are cut where a block is full
    (FULL-SENTENCES of Liu et al. 2019, RoBERTa, arXiv 1907.11692, section 4.2), so that no step is spent
    on padding. What is left over at the end is dropped.

    Args:
        texts: Read only when the blocks are not there yet.
        rules: The encoder's tokenizer.
        length: Subwords of a block, special ones included.
        folder: Where the blocks are kept.
        described: What the texts are; other texts make other blocks.

    Returns:
        uint32 (blocks, length), memory-mapped.

    Raises:
        OutputError: The disk is full.
        ModelDamagedError: The blocks on disk are not whole.
    """
    identity = json.dumps(
        [described, length, hashlib.sha256(_tokenizer(rules)).hexdigest()], sort_keys=True
    )
    path = folder / f"blocks-{hashlib.sha256(identity.encode()).hexdigest()[:12]}.npy"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        blocks = np.array(list(_blocks(texts, rules, length)), dtype=np.uint32)
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.save(stream, blocks.reshape(-1, length))
    return _mapped(path)


def _mapped(path: Path) -> Blocks:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (ValueError, EOFError) as error:
        raise ModelDamagedError(
            f"{path}: the packed texts cannot be read: {error}",
            "remove the file; the same command makes it again",
        ) from error


def _tokenizer(rules: SubwordRules) -> bytes:
    return rules.tokenizer.to_str().encode()


def _blocks(texts: Iterable[str], rules: SubwordRules, length: int) -> Iterator[Blocks]:
    room = length - len(rules.prefix) - len(rules.suffix)
    waiting: list[int] = []
    for subwords in _subwords(texts, rules):
        waiting += [*subwords, *rules.suffix[:1]]
        while len(waiting) >= room:
            yield np.array([*rules.prefix, *waiting[:room], *rules.suffix], dtype=np.uint32)
            del waiting[:room]


def _subwords(texts: Iterable[str], rules: SubwordRules) -> Iterator[list[int]]:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == AT_A_TIME:
            yield from _encoded(batch, rules)
            batch.clear()
    yield from _encoded(batch, rules)


def _encoded(batch: list[str], rules: SubwordRules) -> Iterator[list[int]]:
    yield from (
        encoding.ids for encoding in rules.tokenizer.encode_batch(batch, add_special_tokens=False)
    )


KEPT, SWAPPED = 0.1, 0.1
"""Of the chosen subwords a tenth stays as it is and a tenth becomes any other subword."""


@dataclass(frozen=True, slots=True)
class Masked:
    """Blocks with masked tokens.

    Attributes:
        input_ids: int64 (blocks, length), what the encoder sees.
        positions: int64 (chosen,), indices into the flattened blocks.
        targets: int64 (chosen,), the subwords that stood there.
    """

    input_ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    targets: NDArray[np.int64]


def mask_tokens(
    blocks: NDArray[np.integer],
    special: Collection[int],
    mask: int,
    vocabulary: int,
    share: float,
    random: np.random.Generator,
) -> Masked:
    """Choose a share of the subwords and hide them.

    Of the chosen ones 80 % become the mask subword, 10 % a random subword, 10 % stay (Devlin et al. 2019,
    BERT, arXiv 1810.04805, section 3.1); the choice is drawn anew at every step (Liu et al. 2019, RoBERTa,
    arXiv 1907.11692, section 4.1). Special subwords are never chosen.

    Args:
        blocks: (blocks, length) subword ids.
        special: Ids that are never chosen.
        mask: Id of the mask subword.
        vocabulary: How many ids there are.
        share: Of the other subwords, 0 to 1.
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
