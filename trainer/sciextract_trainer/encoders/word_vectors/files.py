"""Word vectors in the text formats of GloVe and word2vec, packed with gzip or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from sciextract.errors import FormatError, InputMissingError

Floats = NDArray[np.float32]

_UNKNOWN = "<unk>"
_HINT = "a line is WORD and its numbers, with blanks between; word2vec's text format begins with two counts"


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: Distinct words, in the order of the file, which is that of their frequency.
        vectors: float32 (words, size).
        unknown: float32 (size,), for all other words: the file's own ``<unk>``, else the mean of all.
    """

    words: tuple[str, ...]
    vectors: Floats
    unknown: Floats

    @property
    def cased(self) -> bool:
        """Whether any word has a capital; else words are looked up in lower case."""
        return any(word != word.lower() for word in self.words)


def read_vectors(path: Path, most: int) -> WordVectors:
    """Reads a file of word vectors; of a word that comes twice the first vector counts.

    Args:
        path: GloVe (a word and its numbers a line) or word2vec in text form (the same after a line with the
            counts of words and of numbers), packed with gzip where the name ends in ``.gz``.
        most: Words to read.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It is empty, cut or binary, or a line does not have its numbers.
    """
    if not path.is_file():
        raise InputMissingError(f"no file at {path}")
    found: dict[str, Floats] = {}
    try:
        with _opened(path) as stream:
            for word, vector in _entries(stream, path):
                found.setdefault(word, vector)
                if len(found) >= most:
                    break
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(f"cannot be unpacked: {error}", path=path, hint="get it again") from error
    except UnicodeDecodeError as error:
        raise FormatError(
            "is not text in UTF-8",
            path=path,
            hint="word2vec's binary format is not read; save the vectors in its text format",
        ) from error
    if not found:
        raise FormatError("holds no word vectors", path=path, hint=_HINT)
    return _collected(found)


def _collected(found: dict[str, Floats]) -> WordVectors:
    own = found.pop(_UNKNOWN, None)
    vectors = np.stack(list(found.values())) if found else np.stack([own])  # type: ignore[list-item]
    unknown = vectors.mean(axis=0) if own is None else own
    return WordVectors(tuple(found), vectors[: len(found)], unknown)


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


def _entries(stream: IO[str], path: Path) -> Iterator[tuple[str, Floats]]:
    """Words and vectors; words may hold blanks, as some of GloVe's do, so that lines are read from their end."""
    first = stream.readline()
    counts = _counts(first)
    size = counts[1] if counts else len(first.split(" ")) - 1
    lines = stream if counts else chain([first] if first else [], stream)
    seen = 0
    for number, line in enumerate(lines, 2 if counts else 1):
        fields = line.strip("\r\n ").rsplit(" ", size)
        if len(fields) != size + 1 or size < 1:
            raise FormatError(
                f"{len(fields) - 1} numbers instead of {size}", path=path, line=number, hint=_HINT
            )
        yield fields[0], _vector(fields[1:], path, number)
        seen += 1
    if counts and seen < counts[0]:
        raise FormatError(
            f"is cut: it announces {counts[0]} words and has {seen}",
            path=path,
            hint="get it again",
        )


def _counts(line: str) -> tuple[int, int] | None:
    """Words and numbers a word, where the first line is word2vec's."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdecimal() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _vector(fields: list[str], path: Path, number: int) -> Floats:
    try:
        vector = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise FormatError(f"not a number: {error}", path=path, line=number, hint=_HINT) from error
    if not np.isfinite(vector).all():
        raise FormatError("a number is not finite", path=path, line=number, hint=_HINT)
    return vector
