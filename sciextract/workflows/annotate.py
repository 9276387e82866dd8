"""Predict documents one by one: reading, the model and writing joined, in constant memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.formats.base import BadRecord, ReadItem, Writer, quoted
from sciextract.inference.domain.words import FITS_NEITHER
from sciextract.text.english import looks_english

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


class RelationPredictor(Predictor, Protocol):
    """A predictor that also relates given entities."""

    def stream_given(self, items: Iterable[AnnotatedDocument], /) -> Iterator[AnnotatedDocument]:
        """Predicts relations between the entities that each document has."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Counts of records and annotations; they can be added.

    Attributes:
        documents: Documents predicted and written.
        bad: Records that could not be read.
        quarantined: Documents that could not be predicted.
        entities: Predicted entities.
        relations: Predicted relations.
        clusters: Predicted clusters.
        other_language: Documents that do not look English.
        fits_neither: Documents that ``auto`` has no suited model for.
        warned: Documents with warnings.
        models: Documents by the model that predicted them.
        held_back: Predicted items that a promise of precision leaves out, by task and label.
    """

    documents: int = 0
    bad: int = 0
    quarantined: int = 0
    entities: int = 0
    relations: int = 0
    clusters: int = 0
    other_language: int = 0
    fits_neither: int = 0
    warned: int = 0
    models: Mapping[str, int] = field(default_factory=dict)
    held_back: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, document: AnnotatedDocument) -> RunCounts:
        """Those of one predicted document."""
        found, remarks = document.annotations, document.warnings
        return cls(
            documents=1,
            entities=len(found.entities),
            relations=len(found.relations),
            clusters=len(found.clusters),
            other_language=int(OTHER_LANGUAGE in remarks),
            fits_neither=int(FITS_NEITHER in remarks),
            warned=int(bool(remarks)),
            models={str(document.model): 1},
            held_back=document.held_back,
        )

    @property
    def records(self) -> int:
        """All records."""
        return self.documents + self.bad + self.quarantined

    def __add__(self, other: RunCounts) -> RunCounts:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _COUNTED}
        models = Counter(self.models) + Counter(other.models)
        held_back = Counter(self.held_back) + Counter(other.held_back)
        return RunCounts(**sums, models=dict(models), held_back=dict(held_back))


_COUNTED = tuple(count.name for count in fields(RunCounts) if count.type == "int")


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """A record that is missing from the output.

    Attributes:
        kind: ``bad``: it could not be read. ``quarantined``: it crashed or hung the process that predicted it.
        message: What is wrong, with the place.
        hint: The next step, empty when there is none.
        record: A quarantined record as input JSONL holds it, so that it can be tried again; empty for bad ones.
    """

    kind: Literal["bad", "quarantined"]
    message: str
    hint: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)


class Listener:
    """Called during a run; override what is of interest."""

    def note(self, message: str) -> None:
        """A note for the user."""

    def problem(self, problem: RecordProblem) -> None:
        """A record is missing from the results; the run continues."""

    def before(self, records: int) -> None:
        """An earlier run did so many records."""

    def under_way(self, records: int) -> None:
        """So many further records are done and not written yet."""

    def done(self, counts: RunCounts, warned: int, warnings: Sequence[str]) -> None:
        """More was written.

        Args:
            counts: What this run has done, with it.
            warned: Documents of it with warnings.
            warnings: Those of its first few documents, ``DOC_KEY: WARNINGS``.
        """


def warning_of(document: AnnotatedDocument) -> str:
    """``DOC_KEY: WARNINGS``, empty without any."""
    if not document.warnings:
        return ""
    return f"{quoted(document.document.doc_key)}: {'; '.join(document.warnings)}"


def annotate(
    items: Iterable[ReadItem],
    predictor: Predictor,
    writer: Writer,
    listener: Listener | None = None,
    *,
    given: bool = False,
) -> RunCounts:
    """Predict all documents in input order and write each as soon as it is done.

    Annotations that came with the input are not written; its warnings are.

    Args:
        items: What ``formats.read`` yields.
        predictor: The loaded model.
        writer: Where the predictions go; stays open.
        listener: Called on the way.
        given: Whether the input's entities stay, and only relations between them are predicted, by a :class:`RelationPredictor`.

    Raises:
        UsageError: The model predicts no entities.
        OutputError: The output cannot be written; what was written before is complete.
        FormatError: The only input is unusable.
    """
    listener, counts = listener or Listener(), RunCounts()
    # What came with the documents, which the model does not carry through.
    remarks: deque[tuple[str, ...]] = deque()

    def readable() -> Iterator[AnnotatedDocument]:
        nonlocal counts
        for item in items:
            if isinstance(item, BadRecord):
                counts += RunCounts(bad=1)
                listener.problem(RecordProblem("bad", item.error.message, item.error.hint))
            else:
                remarks.append(_warnings(item))
                yield item

    if given:
        stream = cast(RelationPredictor, predictor).stream_given(readable())
    else:
        stream = predictor.stream(item.document for item in readable())
    for predicted in stream:
        # Models keep the order of documents: the oldest warnings are those of this one.
        document = replace(predicted, warnings=(*remarks.popleft(), *predicted.warnings))
        writer.write(document)
        counts += RunCounts.of(document)
        warning = warning_of(document)
        listener.done(counts, int(bool(warning)), [warning] if warning else [])
    return counts


def _warnings(item: AnnotatedDocument) -> tuple[str, ...]:
    """The reader's warnings and one about the language, each once."""
    warnings = [] if looks_english(item.document.text) else [OTHER_LANGUAGE]
    return tuple(dict.fromkeys([*item.warnings, *warnings]))
