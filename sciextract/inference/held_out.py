"""Predictions of a model for abstracts that it has not learned from, which come with it: what a promise is chosen on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from sciextract import atomic
from sciextract.codec import decode, plain
from sciextract.documents.annotations import Annotations, Attribute, Entity, Relation
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.errors import ModelDamagedError, UsageError
from sciextract.inference.model_folder import listed_files
from sciextract.inference.settings import ATTRIBUTE, PROMISED
from sciextract.resources import bundled_models


class HeldOutItem(NamedTuple):
    """A predicted item of an abstract that the model had not learned from.

    Attributes:
        document: Number of the abstract.
        label: The predicted label.
        score: 0 to 1.
        right: Whether the gold has it: the same span and label; for a relation the same spans of both ends and label; for
            an attribute the same value at the same place.
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
    said = any(found.annotations.attributes for found in predicted)
    tasks = (*PROMISED, ATTRIBUTE) if said else PROMISED
    items: dict[str, list[HeldOutItem]] = {task: [] for task in tasks}
    counts: dict[str, dict[str, int]] = {task: {} for task in tasks}
    for number, (true, found) in enumerate(zip(gold, predicted, strict=True)):
        known, made, own = (
            _keys_of(true.annotations),
            _keys_of(found.annotations),
            found.annotations,
        )
        entities = {entity.id: (entity.label, entity.score or 0.0) for entity in own.entities}
        every: list[Entity | Relation | Attribute] = [
            *own.entities,
            *own.relations,
            *own.attributes,
        ]
        for task in tasks:
            golden = {*known[task].values()}
            # A set has another order in every process: the same abstracts shall give the same file.
            for label in sorted(key[-1] for key in golden):
                counts[task][label] = counts[task].get(label, 0) + 1
            for item in every:
                if (key := made[task].get(item.id)) is not None:
                    both = (item.head, item.tail) if isinstance(item, Relation) else ()
                    ends = tuple(entities[end] for end in both)
                    score = item.score or 0.0
                    items[task].append(HeldOutItem(number, item.label, score, key in golden, ends))
    return HeldOut(source, len(gold), {task: tuple(rows) for task, rows in items.items()}, counts)


def _keys_of(annotations: Annotations) -> dict[str, dict[str, tuple[Any, ...]]]:
    """By task and id what makes items equal, the label last."""
    entities = {entity.id: (entity.fragments, entity.label) for entity in annotations.entities}
    relations = {
        link.id: (entities[link.head][0], entities[link.tail][0], link.label)
        for link in annotations.relations
    }
    places = {"": (), **entities, **relations}
    said = {
        one.id: (places.get(one.target), one.value, one.label) for one in annotations.attributes
    }
    return {"entity": entities, "relation": relations, ATTRIBUTE: said}
