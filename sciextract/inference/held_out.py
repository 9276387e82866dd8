"""Predictions of a model for abstracts that it has not learned from, which come with it: what a promise is chosen on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sciextract import atomic
from sciextract.codec import decode, plain
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.errors import ModelDamagedError, UsageError
from sciextract.inference.model_folder import listed_files
from sciextract.inference.settings import PROMISED
from sciextract.resources import bundled_models


class HeldOutItem(NamedTuple):
    """A predicted item of an abstract that the model had not learned from.

    Attributes:
        document: Number of the abstract.
        label: The predicted label.
        score: 0 to 1.
        right: Whether the gold has it: the same span and label; for a relation the same spans of both ends and label.
        ends: Of a relation: labels and scores of head and tail, without which it is not written.
    """

    document: int
    label: str
    score: float
    right: bool
    ends: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a promise is chosen on.

    Attributes:
        source: Which abstracts these are, for people.
        documents: How many there are.
        items: Predictions down to low scores, by task.
        gold: How many gold items there are, by task and label.
    """

    source: str
    documents: int
    items: Mapping[str, tuple[HeldOutItem, ...]]
    gold: Mapping[str, Mapping[str, int]]


FILE = "held_out.json"
"""In the folder of an adapter; those of bundled models lie in a folder of their own, by hash."""


def write_held_out(path: Path, held: HeldOut) -> None:
    atomic.write(path, json.dumps(plain(held)))


def read_held_out(model: ModelId, folder: Path | None) -> HeldOut:
    """The held-out predictions that come with a model.

    Args:
        model: The model.
        folder: Its verified folder; ``None`` where it has none.

    Raises:
        UsageError: It has none.
        ModelDamagedError: They cannot be understood.
    """
    bundled = bundled_models() / "held_out" / f"{model.hash[:8]}.json"
    # A file that the manifest does not name may be anybody's.
    listed = folder is not None and FILE in listed_files(folder)
    path = folder / FILE if folder and listed else bundled
    if not path.is_file():
        raise UsageError(
            f"no precision can be promised of {model}: it has no predictions for abstracts that it has not learned from",
            "sciextract learn --project DB makes a model that has some, from 4 finished abstracts on; so have the bundled models",
        )
    held = decode(path.read_bytes(), HeldOut, path, error=ModelDamagedError)
    for item in chain.from_iterable(held.items.values()):
        if not (0 <= item.document < held.documents and 0 <= item.score <= 1):
            raise ModelDamagedError(
                f"{path}: {item} is no prediction for one of {held.documents} abstracts",
                "learn again, or get the model again",
            )
    return held


def held_out(
    source: str, gold: Sequence[AnnotatedDocument], predicted: Sequence[AnnotatedDocument]
) -> HeldOut:
    """What a promise is chosen on, from gold and predictions down to low scores for the same documents.

    Args:
        source: Which abstracts these are.
        gold: Their positive items.
        predicted: The same documents in the same order.
    """
    items: dict[str, list[HeldOutItem]] = {task: [] for task in PROMISED}
    counts: dict[str, dict[str, int]] = {task: {} for task in PROMISED}
    for number, (true, found) in enumerate(zip(gold, predicted, strict=True)):
        entities = {entity.id: entity for entity in found.annotations.entities}
        wanted = {(entity.fragments, entity.label) for entity in true.annotations.entities}
        places = {entity.id: entity.fragments for entity in true.annotations.entities}
        related = {
            (places[relation.head], places[relation.tail], relation.label)
            for relation in true.annotations.relations
        }
        for task, golden in (("entity", wanted), ("relation", related)):
            # A set has another order in every process: the same abstracts shall give the same file.
            for label in sorted(item[-1] for item in golden):
                counts[task][label] = counts[task].get(label, 0) + 1
        for entity in entities.values():
            right = (entity.fragments, entity.label) in wanted
            items["entity"].append(HeldOutItem(number, entity.label, entity.score or 0.0, right))
        for relation in found.annotations.relations:
            head, tail = entities[relation.head], entities[relation.tail]
            right = (head.fragments, tail.fragments, relation.label) in related
            ends = ((head.label, head.score or 0.0), (tail.label, tail.score or 0.0))
            score = relation.score or 0.0
            items["relation"].append(HeldOutItem(number, relation.label, score, right, ends))
    return HeldOut(source, len(gold), {task: tuple(rows) for task, rows in items.items()}, counts)
