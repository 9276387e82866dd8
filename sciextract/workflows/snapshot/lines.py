"""Training documents as lines: our own ``jsonl``, plus a ``training`` object with what is complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.jsonl import encode
from sciextract.store.state.rows import Layer
from sciextract.workflows.snapshot.types import Origin, TrainingDocument

TRAINING = "training"
"""The field beside those of the exchange format: ``{"complete": [LAYER, ...], "origin": ORIGIN}``."""


def to_line(document: TrainingDocument) -> str:
    """A training document as one line without a line feed; tokens stay as they are, fields are left out."""
    told = {
        "complete": sorted(layer.value for layer in document.complete),
        "origin": document.origin.value,
    }
    return encode(with_fields(document.annotated, {TRAINING: told}), split=False)


def from_read(read: AnnotatedDocument) -> TrainingDocument | None:
    """The training document of a line that was read; ``None`` where the line does not tell what is complete."""
    told = read.document.fields.get(TRAINING)
    try:
        complete = frozenset(Layer(each) for each in told["complete"])  # type: ignore[index]
        origin = Origin(told["origin"])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None
    return TrainingDocument(with_fields(read, {}), complete, origin)


def with_fields(annotated: AnnotatedDocument, fields: Mapping[str, Any]) -> AnnotatedDocument:
    """A document with other fields of the input, such as none."""
    return replace(annotated, document=replace(annotated.document, fields=fields))
