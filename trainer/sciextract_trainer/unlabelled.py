"""Unlabelled abstracts for distillation: which ones, in which order."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sciextract.documents.document import Document
from sciextract.errors import InputMissingError
from sciextract.text.analyse import join_title, make_document

FIRST_FREE_ACL_YEAR = 2016
"""Abstracts of the ACL Anthology are CC BY-NC-SA before 2016, so they do not train a bundled model."""

EXCLUDED_SOURCES = frozenset({"hoc"})
"""Sources under a licence that a bundled model cannot carry (GPL-3.0)."""


def read_unlabelled(shards: Sequence[Path], most: int) -> Iterator[Document]:
    """The first ``most`` usable abstracts; every second one with its title, as users have them.

    Raises:
        InputMissingError: A shard does not exist.
    """
    for key, title, abstract in _taken(shards, most):
        yield make_document(key, join_title(title, abstract), title_length=len(title))


def unlabelled_texts(shards: Sequence[Path], most: int) -> Iterator[str]:
    """The texts of :func:`read_unlabelled`, without tokens and sentences.

    Raises:
        InputMissingError: A shard does not exist.
    """
    for _, title, abstract in _taken(shards, most):
        yield join_title(title, abstract)


def _taken(shards: Sequence[Path], most: int) -> Iterator[tuple[str, str, str]]:
    """Key, title (empty for every second one) and abstract of usable records."""
    taken = 0
    for shard in shards:
        for record in _records(shard):
            if taken >= most:
                return
            if _usable(record):
                yield record["id"], record["title"] if taken % 2 else "", record["abstract"]
                taken += 1


def _records(shard: Path) -> Iterator[dict[str, Any]]:
    if not shard.is_file():
        raise InputMissingError(f"no unlabelled abstracts at {shard}")
    with gzip.open(shard, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _usable(record: dict[str, Any]) -> bool:
    source, year = record.get("source"), record.get("year") or 0
    if source == "acl-anthology":
        return int(year) >= FIRST_FREE_ACL_YEAR
    return source not in EXCLUDED_SOURCES
