"""Small invented data sets in the SciERC format, each annotated for one thing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def record(
    key: str,
    sentences: Sequence[str],
    ner: Sequence[Sequence[Sequence[Any]]] = (),
    relations: Sequence[Sequence[Sequence[Any]]] = (),
) -> Record:
    """A record of sentences of words separated by blanks."""
    empty: list[list[Any]] = [[] for _ in sentences]
    return {
        "doc_key": key,
        "sentences": [sentence.split() for sentence in sentences],
        "ner": [list(map(list, sentence)) for sentence in ner] or empty,
        "relations": [list(map(list, relation)) for relation in relations]
        or [[] for _ in sentences],
        "clusters": [],
    }


def write(path: Path, records: Sequence[Record]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in records), encoding="utf-8")
    return path


def strings(found: Record) -> list[tuple[str, ...]]:
    """Words and labels of all items, wherever they stand."""
    words = [word for sentence in found["sentences"] for word in sentence]
    entities = [
        (" ".join(words[first : last + 1]), label)
        for items in found["ner"]
        for first, last, label in items
    ]
    relations = [
        (" ".join(words[a : b + 1]), " ".join(words[c : d + 1]), label)
        for items in found["relations"]
        for a, b, c, d, label in items
    ]
    return sorted([*entities, *relations])
