"""Unlabelled abstracts for pretraining, distillation and self-training: which ones, in which order."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sciextract.documents.document import Document
from sciextract.errors import FormatError, InputMissingError
from sciextract.text.analyse import join_title, make_document

FIRST_FREE_ACL_YEAR = 2016
"""Abstracts of the ACL Anthology are CC BY-NC-SA before 2016, so they do not train a bundled model."""

EXCLUDED_SOURCES = frozenset({"hoc"})
"""Sources under a licence that a bundled model cannot carry (GPL-3.0)."""


def read_unlabelled(shards: Sequence[Path], most: int) -> Iterator[Document]:
    """The first ``most`` usable abstracts; every second one with its title, as users have them.

    Args:
        shards: JSON Lines, with gzip when the name ends in ``.gz``: ``abstract`` and, where known, ``title``,
            ``id``, ``source`` and ``year``.
        most: How many to take, in the order of the shards.

    Raises:
        InputMissingError: A shard does not exist.
        FormatError: A shard is damaged or a record has no abstract; names the file and the line.
    """
    for key, title, abstract in usable_abstracts(shards, most):
        yield make_document(key, join_title(title, abstract), title_length=len(title))


def unlabelled_texts(shards: Sequence[Path], most: int) -> Iterator[str]:
    """The texts of :func:`read_unlabelled`, without tokens and sentences.

    Raises:
        InputMissingError: A shard does not exist.
        FormatError: A shard is damaged or a record has no abstract.
    """
    for _, title, abstract in usable_abstracts(shards, most):
        yield join_title(title, abstract)


def usable_abstracts(shards: Sequence[Path], most: int) -> Iterator[tuple[str, str, str]]:
    """Key, title (empty for every second one) and abstract of usable records, the first ``most``.

    Raises:
        InputMissingError: A shard does not exist.
        FormatError: A shard is damaged or a record has no abstract.
    """
    taken = 0
    for shard in shards:
        for line, record in _records(shard):
            if taken >= most:
                return
            if _usable(record, shard, line):
                key = str(record.get("id") or f"{shard.name}:{line}")
                yield key, str(record.get("title") or "") if taken % 2 else "", record["abstract"]
                taken += 1


def _records(shard: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and records."""
    if not shard.is_file():
        raise InputMissingError(f"no unlabelled abstracts at {shard}")
    line = 0
    opened = gzip.open if shard.suffix == ".gz" else open
    try:
        with opened(shard, "rt", encoding="utf-8") as lines:
            for line, text in enumerate(lines, start=1):
                if text.strip():
                    yield line, _record(text, shard, line)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise FormatError(
            f"the shard is damaged: {error}", path=shard, line=line + 1, hint=_GET_AGAIN
        ) from error


_GET_AGAIN = "get the file again; finished stages are kept; repeat the command to resume"


def _record(text: str, shard: Path, line: int) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except ValueError as error:
        raise FormatError(f"no JSON: {error}", path=shard, line=line, hint=_GET_AGAIN) from error
    if not isinstance(record, dict):
        raise FormatError(
            f"{type(record).__name__} instead of a JSON object", path=shard, line=line,
            hint="each line is an object with id, title and abstract",
        )  # fmt: skip
    return record


def _usable(record: dict[str, Any], shard: Path, line: int) -> bool:
    """Whether the licence allows it; refuses a record without an abstract."""
    if not isinstance(record.get("abstract"), str):
        raise FormatError(
            f"the abstract is {record.get('abstract')!r}, not a text; the record has "
            f"{', '.join(map(str, record)) or 'nothing'}",
            path=shard, line=line, hint="each line is an object with id, title and abstract",
        )  # fmt: skip
    source, year = record.get("source"), record.get("year") or 0
    if source == "acl-anthology":
        return _number(year, shard, line) >= FIRST_FREE_ACL_YEAR
    return source not in EXCLUDED_SOURCES


def _number(year: Any, shard: Path, line: int) -> int:
    try:
        return int(year)
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"the year is {year!r}", path=shard, line=line, hint="a year is a number such as 2016"
        ) from error
