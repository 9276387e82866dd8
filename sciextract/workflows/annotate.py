"""Predict documents one by one: reading, the model and writing joined, in constant memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Writer
from sciextract.inference.domain.words import FITS_NEITHER
from sciextract.text.language import looks_english

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig

OTHER_LANGUAGE = "the text does not look English; the model may find little or nothing in it"


class Predictor(Protocol):
    """Something that predicts documents: an ``Extractor``."""

    @property
    def config(self) -> ModelConfig:
        """What it predicts."""

    @property
    def model(self) -> ModelId:
        """Name and hash of the model."""

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        """Predicts documents in order, taking only as many ahead as one batch holds."""


class Relating(Predictor, Protocol):
    """A predictor that also relates given entities."""

    def stream_given(self, items: Iterable[AnnotatedDocument], /) -> Iterator[AnnotatedDocument]:
        """Predicts relations between the entities that each document has."""


@dataclass(slots=True)
class AnnotateSummary:
    """Counts of a run, also while it is under way.

    Attributes:
        documents: Documents predicted and written.
        bad: Records that could not be read.
        entities: Predicted entities.
        relations: Predicted relations.
        clusters: Predicted clusters.
        other_language: Documents that do not look English.
        fits_neither: Documents that ``auto`` has no suited model for.
        started: ``time.monotonic()`` at the start.
    """

    documents: int = 0
    bad: int = 0
    entities: int = 0
    relations: int = 0
    clusters: int = 0
    other_language: int = 0
    fits_neither: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def add(self, document: AnnotatedDocument) -> None:
        """Count one written document."""
        annotations = document.annotations
        self.documents += 1
        self.entities += len(annotations.entities)
        self.relations += len(annotations.relations)
        self.clusters += len(annotations.clusters)
        self.other_language += OTHER_LANGUAGE in document.warnings
        self.fits_neither += FITS_NEITHER in document.warnings


class Listener:
    """Hears what happens during a run; override what is of interest."""

    def bad_record(self, error: FormatError) -> None:
        """A record could not be read; the run continues."""

    def note(self, message: str) -> None:
        """Something that the user may want to know."""

    def skipped(self) -> None:
        """An earlier run has done this document already."""

    def written(self, document: AnnotatedDocument, summary: AnnotateSummary) -> None:
        """A document was predicted and written."""


def annotate(
    items: Iterable[ReadItem],
    predictor: Predictor,
    writer: Writer,
    listener: Listener | None = None,
) -> AnnotateSummary:
    """Predict all documents in input order and write each as soon as it is done.

    Annotations that came with the input are not written; its warnings are.

    Args:
        items: What ``formats.read`` yields.
        predictor: The loaded model.
        writer: Where the predictions go; stays open.
        listener: Hears of bad records and written documents.

    Raises:
        UsageError: The model predicts no entities.
        OutputError: The output cannot be written; what was written before is complete.
        FormatError: The only input is unusable.
    """
    feed = _Feed(items, listener or Listener())
    return feed.written(predictor.stream(item.document for item in feed.items()), writer)


def relate(
    items: Iterable[ReadItem], predictor: Relating, writer: Writer, listener: Listener | None = None
) -> AnnotateSummary:
    """The same between the entities of the input, which stay as they are; see :func:`annotate`."""
    feed = _Feed(items, listener or Listener())
    return feed.written(predictor.stream_given(feed.items()), writer)


class _Feed:
    """Hands documents to the model, and keeps aside what the model does not carry through."""

    def __init__(self, items: Iterable[ReadItem], listener: Listener) -> None:
        self.summary = AnnotateSummary()
        self.listener = listener
        self._items = items
        self._warnings: deque[tuple[str, ...]] = deque()

    def items(self) -> Iterator[AnnotatedDocument]:
        for item in self._items:
            if isinstance(item, BadRecord):
                self.summary.bad += 1
                self.listener.bad_record(item.error)
            else:
                self._warnings.append(_warnings(item))
                yield item

    def written(self, predictions: Iterable[AnnotatedDocument], writer: Writer) -> AnnotateSummary:
        """Writes each prediction as soon as it is there, with the warnings that its document came with."""
        for predicted in predictions:
            warnings = (*self._warnings.popleft(), *predicted.warnings)
            document = replace(predicted, warnings=warnings)
            writer.write(document)
            self.summary.add(document)
            self.listener.written(document, self.summary)
        return self.summary


def _warnings(item: AnnotatedDocument) -> tuple[str, ...]:
    """The reader's warnings and one about the language, each once."""
    warnings = [] if looks_english(item.document.text) else [OTHER_LANGUAGE]
    return tuple(dict.fromkeys([*item.warnings, *warnings]))
