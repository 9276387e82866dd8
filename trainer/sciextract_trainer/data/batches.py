"""Examples to padded batches whose words are numbered through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from sciextract_trainer.data.examples import Example


class Sized(Protocol):
    """A training example of any network family."""

    @property
    def doc_key(self) -> str:
        """The document's name."""

    @property
    def piece_count(self) -> int:
        """Pieces the encoder sees."""


class PieceBatch(Protocol):
    """A batch of any network family."""

    @property
    def examples(self) -> Sequence[Sized]:
        """The examples."""

    @property
    def input_ids(self) -> Tensor:
        """Padded pieces, a row per encoder input."""

    @property
    def attention_mask(self) -> Tensor:
        """1 for pieces, 0 for padding."""


SizedT = TypeVar("SizedT", bound=Sized)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some examples as encoder input.

    Attributes:
        examples: The examples, in the order of the rows.
        input_ids: int64 (documents, pieces), padded.
        attention_mask: int64 (documents, pieces).
        word_first: int64 (words of all documents,), first piece of each word in the flattened batch.
        word_last: int64 (words of all documents,), last piece.
        offsets: Index of each document's first word, then the number of words.
    """

    examples: tuple[Example, ...]
    input_ids: Tensor
    attention_mask: Tensor
    word_first: Tensor
    word_last: Tensor
    offsets: tuple[int, ...]


def collate(examples: Sequence[Example], pad_id: int) -> Batch:
    """Pads the examples to the longest one."""
    length = max(len(example.frame.input_ids) for example in examples)
    ids = np.full((len(examples), length), pad_id, dtype=np.int64)
    mask = np.zeros((len(examples), length), dtype=np.int64)
    first, last, offsets = [], [], [0]
    for row, example in enumerate(examples):
        ids[row, : len(example.frame.input_ids)] = example.frame.input_ids
        mask[row, : len(example.frame.input_ids)] = 1
        first.append(example.frame.word_first + row * length)
        last.append(example.frame.word_last + row * length)
        offsets.append(offsets[-1] + len(example.ends))
    return Batch(
        tuple(examples),
        torch.from_numpy(ids),
        torch.from_numpy(mask),
        torch.from_numpy(np.concatenate(first)),
        torch.from_numpy(np.concatenate(last)),
        tuple(offsets),
    )


def epoch_batches(
    examples: Sequence[SizedT], size: int, seed: int, epoch: int
) -> Iterator[list[SizedT]]:
    """Batches of about equal length in an order that depends on seed and epoch only.

    Examples are shuffled, cut into pools of eight batches, sorted by length within a pool, and the
    batches are shuffled again: little padding, little bias.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(examples))
    batches: list[list[SizedT]] = []
    for start in range(0, len(order), size * 8):
        pool = sorted(order[start : start + size * 8], key=lambda i: examples[i].piece_count)
        batches += [
            [examples[i] for i in pool[begin : begin + size]] for begin in range(0, len(pool), size)
        ]
    for index in random.permutation(len(batches)):
        yield batches[index]
