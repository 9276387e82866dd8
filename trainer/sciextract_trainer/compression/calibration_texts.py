"""Texts on which static quantisation fixes the ranges of activations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sciextract import formats
from sciextract.documents.document import Document
from sciextract.errors import InputMissingError, UsageError
from sciextract.formats.base import BadRecord
from sciextract.inference.pieces import EncoderInput
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.windows import plan_windows
from sciextract_trainer.unlabelled import read_unlabelled

EVEN_WORDS = 64
"""Words of every text for ranges by histogram, which need inputs of one shape."""


class WindowReader:
    """What ``onnxruntime.quantization`` calls a calibration data reader.

    Args:
        windows: Texts as the encoder sees them; shorter ones are padded to the longest of equal words.
    """

    def __init__(self, windows: Sequence[EncoderInput]) -> None:
        self._length = max(len(each.input_ids) for each in windows)
        self._even = len({len(each.word_first) for each in windows}) == 1
        self._windows: Iterator[EncoderInput] = iter(windows)

    def get_next(self) -> dict[str, Any] | None:
        """The next text as inputs of the graph; ``None`` after the last one."""
        window = next(self._windows, None)
        if window is None:
            return None
        missing = self._length - len(window.input_ids) if self._even else 0
        return {
            "input_ids": np.pad(window.input_ids, (0, missing))[None],
            "attention_mask": np.pad(np.ones_like(window.input_ids), (0, missing))[None],
            "word_first": window.word_first,
            "word_last": window.word_last,
        }


def even_windows(windows: Sequence[EncoderInput]) -> list[EncoderInput]:
    """The first words of every window that has enough of them.

    Raises:
        UsageError: None has.
    """
    long = [each for each in windows if len(each.word_first) >= EVEN_WORDS]
    if not long:
        raise UsageError(
            f"none of the texts for calibration has {EVEN_WORDS} words",
            "give longer ones: --calibration FILE, or --ranges minmax",
        )
    return [_cut(each) for each in long]


def _cut(window: EncoderInput) -> EncoderInput:
    end = int(window.word_last[EVEN_WORDS - 1]) + 1
    suffix = window.input_ids[int(window.word_last[-1]) + 1 :]
    ids = np.concatenate([window.input_ids[:end], suffix])
    return EncoderInput(ids, window.word_first[:EVEN_WORDS], window.word_last[:EVEN_WORDS])


def windows_of(pipeline: Pipeline, documents: Sequence[Document]) -> list[EncoderInput]:
    """The windows of some documents as the encoder sees them."""
    found = []
    for document in documents:
        pieces = pipeline.pieces.split(document.tokens.slices(document.text))
        for window in plan_windows(pieces.counts, document.tokens.sentences, pipeline.piece_limit):
            seen = window.seen
            found.append(pipeline.pieces.frame(pieces, seen.token_start, seen.token_end))
    return found


def read_texts(files: Sequence[Path], most: int) -> list[Document]:
    """The first abstracts of shards of unlabelled ones (``.jsonl.gz``), or of files of any format that is read.

    Raises:
        InputMissingError: A file does not exist.
        FormatError: A record is bad.
        UsageError: There is no text in them.
    """
    found: list[Document] = []
    for file in files:
        if not file.is_file():
            raise InputMissingError(f"no texts at {file}", "give files of abstracts")
        found += _read(file, most - len(found))
    if not found:
        raise UsageError(f"no text in {', '.join(map(str, files))}", "give files of abstracts")
    return found


def _read(file: Path, most: int) -> Iterator[Document]:
    if file.suffix == ".gz":
        yield from read_unlabelled([file], most)
        return
    for row, item in enumerate(formats.read([file])):
        if row >= most:
            return
        if isinstance(item, BadRecord):
            raise item.error
        yield item.document
