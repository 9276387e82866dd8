"""What a training snapshot is made of: documents with their states and complete layers, in three splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sciextract.documents.annotations import ALL_LAYERS, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.jsonl import encode

if TYPE_CHECKING:
    from sciextract.snapshot.manifest import Manifest


"""The complete layers of plain gold."""


class Split(StrEnum):
    """What a document is used for."""

    TRAIN = "train"
    DEV = "dev"
    GATE = "gate"


class Origin(StrEnum):
    """Where a document comes from: the project, ``--base`` (replay) or ``--gate`` (held-out gold)."""

    PROJECT = "project"
    BASE = "base"
    GATE = "gate"


@dataclass(frozen=True, slots=True)
class TrainingDocument:
    """A document with every item, whatever its state, and what is known to be complete.

    Attributes:
        annotated: Positives (accepted, edited, added, imported), explicit negatives (rejected) and items
            that nobody has decided (undecided). The state of a mention's place in a cluster is in the
            cluster's ``mention_states``. A snapshot leaves out the fields of the input.
        complete: The layers that are done: there everything that is not positive is negative. In the
            others only explicit decisions count; see :mod:`~sciextract.snapshot.supervision`.
        origin: Where it comes from.
    """

    annotated: AnnotatedDocument
    complete: frozenset[Layer] = ALL_LAYERS
    origin: Origin = Origin.PROJECT


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot in memory.

    Attributes:
        train: To learn from.
        dev: To choose a checkpoint and thresholds by.
        gate: To compare the old and the new model on, once; each with at least one complete layer.
        manifest: What is in it.
    """

    train: tuple[TrainingDocument, ...]
    dev: tuple[TrainingDocument, ...]
    gate: tuple[TrainingDocument, ...]
    manifest: Manifest


DEV_SHARE = 0.1
GATE_SHARE = 0.2
_DIGITS = 13
"""Hexadecimal digits of the hash that decide: 52 bits, which a float holds exactly."""
_PLACES = float(1 << 4 * _DIGITS)


def place_of(text_sha256: str) -> float:
    """The place of a text on the line from 0 to 1 (exclusive) along which the splits lie."""
    return int(text_sha256[:_DIGITS], 16) / _PLACES


def split_of(text_sha256: str) -> Split:
    """The split of a project's text: 10 % dev, 20 % gate, the rest train.

    >>> split_of("0" * 64), split_of("2" * 64), split_of("f" * 64)
    (<Split.DEV: 'dev'>, <Split.GATE: 'gate'>, <Split.TRAIN: 'train'>)
    """
    place = place_of(text_sha256)
    if place < DEV_SHARE:
        return Split.DEV
    return Split.GATE if place < DEV_SHARE + GATE_SHARE else Split.TRAIN


TRAINING = "training"
"""The field next to those of the exchange format: ``{"complete": [LAYER, ...], "origin": ORIGIN}``."""


def to_line(document: TrainingDocument) -> str:
    """A training document as one line without a line feed; tokens stay as they are, fields are left out."""
    marks = {
        "complete": sorted(layer.value for layer in document.complete),
        "origin": document.origin.value,
    }
    return encode(with_fields(document.annotated, {TRAINING: marks}), split=False)


def from_read(read: AnnotatedDocument) -> TrainingDocument | None:
    """The training document of a line that was read; ``None`` where the line does not state which layers are
    complete."""
    marks = read.document.fields.get(TRAINING)
    try:
        complete = frozenset(Layer(each) for each in marks["complete"])  # type: ignore[index]
        origin = Origin(marks["origin"])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None
    return TrainingDocument(with_fields(read, {}), complete, origin)


def with_fields(annotated: AnnotatedDocument, fields: Mapping[str, Any]) -> AnnotatedDocument:
    """A document with other fields of the input, such as none."""
    return replace(annotated, document=replace(annotated.document, fields=fields))
