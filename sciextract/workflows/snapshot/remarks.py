"""What the user should know about a snapshot before a training takes time; and when there is none at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sciextract.documents.schema import LabelSchema
from sciextract.errors import TrainingDataError, as_command
from sciextract.metrics.gate_report import LEAST_DOCUMENTS, LEAST_ENTITIES
from sciextract.store.state.rows import Layer
from sciextract.workflows.snapshot.gathering import NOT_DONE
from sciextract.workflows.snapshot.gold import GoldFile
from sciextract.workflows.snapshot.manifest import SplitCounts
from sciextract.workflows.snapshot.splitting import GATE_SHARE
from sciextract.workflows.snapshot.types import Split

Splits = Mapping[Split, SplitCounts]
_DONE = "an abstract is marked as done with D at the desk (sciextract tui)"


def remarks(
    splits: Splits, left_out: Mapping[str, int], schema: LabelSchema, files: Iterable[GoldFile]
) -> tuple[str, ...]:
    """Warnings, most important first."""
    return (
        *_about_train(splits[Split.TRAIN], schema),
        *_about_held_out(splits, left_out),
        *(remark for file in files for remark in _about_file(file)),
    )


def nothing_to_train(splits: Splits, left_out: Mapping[str, int], path: Path) -> TrainingDataError:
    """The error of an empty train split."""
    held_out = (
        splits[Split.DEV].documents + splits[Split.GATE].documents + left_out.get(NOT_DONE, 0)
    )
    if held_out:
        return TrainingDataError(
            f"{path}: there is nothing to train on: all {held_out} abstracts with decisions are held out "
            "(by their hash 1 in 10 is for dev, 2 in 10 are for the gate)",
            "decide more abstracts, or add gold with --base FILE",
        )
    return TrainingDataError(
        f"{path}: there is nothing to train on: nobody has decided or imported any annotation",
        f"{as_command('sciextract', 'tui', path)} to correct what a model proposes, or add gold with --base FILE",
    )


def too_few_to_compare(documents: int, entities: int | None = None) -> str:
    """That a gate will not tell two models apart, with what would be enough; empty where it will.

    Args:
        documents: Held-out documents with a done layer.
        entities: Gold entities in them, where they are counted.
    """
    enough, found, least = LEAST_DOCUMENTS, f"{documents}", f"{LEAST_DOCUMENTS}"
    if entities is not None:
        if entities:
            enough = max(enough, math.ceil(LEAST_ENTITIES * documents / entities))
        found += f" with {entities} gold entities"
        least += f" with {LEAST_ENTITIES} entities"
    if documents >= enough:
        return ""
    more = math.ceil((enough - documents) / GATE_SHARE)
    return (
        f"too few held-out abstracts ({found}) to tell whether the new model will be better; {least} are the "
        f"least. The present model will stay in use. Enough would be about {more} more done abstracts, for 1 in "
        f"{round(1 / GATE_SHARE)} is held out; or gold of your own to compare on: sciextract retrain --gate FILE"
    )


def _about_train(train: SplitCounts, schema: LabelSchema) -> Iterator[str]:
    if not any(train.positives(layer) for layer in Layer):
        yield (
            "train has nothing positive: all that was decided is wrong or absent, and a model that "
            "learns only this proposes less and less; accept or add what is right"
        )
        return
    unseen = {
        Layer.ENTITIES: _unseen(train, Layer.ENTITIES, schema.entity_labels),
        Layer.RELATIONS: _unseen(train, Layer.RELATIONS, schema.relation_labels),
    }
    for layer, labels in unseen.items():
        if labels:
            yield (
                f"{layer.value} without a positive example in train: {', '.join(labels)}; "
                "the model cannot learn them from it"
            )


def _unseen(train: SplitCounts, layer: Layer, labels: Iterable[str]) -> list[str]:
    return [label for label in labels if not train.positives(layer, label)]


def _about_held_out(splits: Splits, left_out: Mapping[str, int]) -> Iterator[str]:
    if not splits[Split.DEV].documents:
        yield (
            "dev is empty: no held-out abstract has a done layer, so nothing tells when the training "
            f"has gone on for too long; {_DONE}"
        )
    gate = splits[Split.GATE]
    few = too_few_to_compare(gate.documents, gate.positives(Layer.ENTITIES))
    if gate.documents and few:
        yield few
    if not gate.documents:
        yield (
            "gate is empty: no held-out abstract has a done layer, so the new model cannot be compared "
            f"with the old one; {_DONE}, or name gold with --gate FILE. {LEAST_DOCUMENTS} are the least, so "
            f"about {round(LEAST_DOCUMENTS / GATE_SHARE)} done abstracts"
        )
    waiting = left_out.get(NOT_DONE, 0)
    if waiting:
        yield f"held-out abstracts with decisions, but without any done layer, left out: {waiting}"


def _about_file(file: GoldFile) -> Iterator[str]:
    if file.bad:
        yield f"{file.path}: records that cannot be read, left out: {file.bad}; the first: {file.first_problem}"
    if file.undecided:
        yield (
            f"{file.path}: documents with undecided items, whose layers are not complete: {file.undecided}; "
            "a model's predictions are no gold"
        )
    for layer in Layer:
        if layer in file.schema_layers - file.layers:
            yield f"{file.path}: no {layer.value} in it, so it teaches nothing about them"
