"""What a training snapshot is made of: documents with their states and complete layers, in three splits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sciextract.documents.document import AnnotatedDocument
from sciextract.store.state.rows import Layer

if TYPE_CHECKING:
    from sciextract.workflows.snapshot.manifest import Manifest

ALL_LAYERS = frozenset(Layer)
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
            others only explicit decisions count; see :mod:`~sciextract.workflows.snapshot.verdicts`.
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
