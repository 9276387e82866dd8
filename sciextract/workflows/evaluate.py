"""Score predictions against gold: documents in memory, two files, or a file and a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema_file import load_schema
from sciextract.errors import FormatError, SciextractError
from sciextract.metrics.bootstrap import intervals
from sciextract.metrics.report import EvaluationReport
from sciextract.metrics.scorable import scorable
from sciextract.metrics.scorer import report, tally_documents

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig

DEFAULT_SCHEMA = "scierc"
_CONTEXT = 20  # characters shown where two texts part


class DocumentMismatchError(SciextractError):
    """Gold and predicted documents are not the same documents."""


class Annotator(Protocol):
    """Something that predicts: an ``Extractor``."""

    @property
    def config(self) -> ModelConfig:
        """What it predicts."""

    def annotate(self, document: Document, /) -> AnnotatedDocument:
        """The document with predicted annotations."""

    def annotate_given(self, annotated: AnnotatedDocument, /) -> AnnotatedDocument:
        """The document with relations predicted between its entities."""


class _RelationLabels(NamedTuple):
    """Relation labels, those of them without direction, and who says so."""

    known: frozenset[str]
    symmetric: frozenset[str]
    source: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A report, and the records of the files that could not be read."""

    report: EvaluationReport
    bad_records: tuple[FormatError, ...] = ()


def evaluate(
    gold_documents: Iterable[AnnotatedDocument],
    predicted_documents: Iterable[AnnotatedDocument],
    symmetric: frozenset[str],
    *,
    bootstrap: bool = True,
    extra_allowed: bool = False,
) -> EvaluationReport:
    """Score predicted documents against gold documents of the same ``doc_key`` and text.

    A gold document without a prediction counts as one in which nothing was predicted, with a warning.

    Args:
        gold_documents: The annotated documents.
        predicted_documents: The same documents as predicted, in any order.
        symmetric: Relation labels without direction (``LabelSchema.symmetric_labels``).
        bootstrap: Whether to add confidence intervals.
        extra_allowed: Whether predictions without gold are left out with a warning.

    Raises:
        DocumentMismatchError: There is no gold document, a key occurs twice, a prediction has no gold, or
            the two texts of a key differ.
    """
    gold = _by_key(gold_documents, "gold")
    predicted = _by_key(predicted_documents, "predicted")
    if not gold:
        raise DocumentMismatchError("no gold document to score against")
    warnings = (*_extra(gold, predicted, extra_allowed), *_missing(gold, predicted))
    pairs = [(document, _prediction(document, predicted)) for document in gold.values()]
    tallies = tally_documents(
        [scorable(mine) for mine, _ in pairs], [scorable(theirs) for _, theirs in pairs], symmetric
    )
    found = intervals(tallies) if bootstrap else {}
    return replace(report(tallies), intervals=found, warnings=warnings)


def evaluate_files(
    gold: str,
    predicted: str,
    *,
    schema: str = DEFAULT_SCHEMA,
    bootstrap: bool = True,
) -> Evaluation:
    """Score a file or folder of predictions against one of gold, in any readable format.

    Args:
        gold: Path, or ``-`` for standard input.
        predicted: Path, or ``-`` for standard input.
        schema: Name or path of the label schema that says which relations are symmetric.
        bootstrap: Whether to add confidence intervals.

    Raises:
        InputMissingError: A file does not exist.
        DocumentMismatchError: The two do not hold the same documents.
        SchemaError: The schema has a mistake.
    """
    labels = _of_schema(schema)
    gold_documents, bad_gold = read_gold(gold)
    predicted_documents, bad_predicted = read_gold(predicted)
    result = evaluate(
        gold_documents,
        predicted_documents,
        labels.symmetric,
        bootstrap=bootstrap,
        extra_allowed=bool(bad_gold),
    )
    return _finished(result, labels, gold_documents, (*bad_gold, *bad_predicted))


def evaluate_model(
    gold: str, annotator: Annotator, *, schema: str | None = None, bootstrap: bool = True
) -> Evaluation:
    """Score a model on a file or folder of gold.

    Args:
        gold: Path, or ``-`` for standard input.
        annotator: The loaded model.
        schema: Name or path of the label schema; the model's own labels when ``None``.
        bootstrap: Whether to add confidence intervals.

    Raises:
        InputMissingError: The file does not exist.
        DocumentMismatchError: The file holds no document, or one twice.
        SchemaError: The schema has a mistake.
    """
    labels = _of_model(annotator.config) if schema is None else _of_schema(schema)
    documents, bad_records = read_gold(gold)
    predictions = [
        annotator.annotate_given(document)
        if annotator.config.given_entities
        else annotator.annotate(document.document)
        for document in documents
    ]
    result = evaluate(documents, predictions, labels.symmetric, bootstrap=bootstrap)
    return _finished(result, labels, documents, bad_records)


def _of_schema(name_or_path: str) -> _RelationLabels:
    schema = load_schema(name_or_path)
    known = frozenset(schema.relation_labels)
    return _RelationLabels(known, schema.symmetric_labels, f"schema {schema.name!r}")


def _of_model(config: ModelConfig) -> _RelationLabels:
    layout = config.labels.relations
    return _RelationLabels(frozenset(layout.labels), layout.symmetric, f"model {config.name!r}")


def read_gold(path: str) -> tuple[list[AnnotatedDocument], tuple[FormatError, ...]]:
    """All documents of a file or folder, and the records that could not be read.

    Raises:
        InputMissingError: It does not exist.
        FormatError: It is the only file, and unusable.
    """
    from sciextract.formats import read

    documents, bad_records = [], []
    for item in read([path]):
        if isinstance(item, AnnotatedDocument):
            documents.append(item)
        else:
            bad_records.append(item.error)
    return documents, tuple(bad_records)


def _by_key(documents: Iterable[AnnotatedDocument], side: str) -> dict[str, AnnotatedDocument]:
    found: dict[str, AnnotatedDocument] = {}
    for document in documents:
        key = document.document.doc_key
        if key in found:
            raise DocumentMismatchError(
                f"two {side} documents have the doc_key {key!r}", "give every document its own key"
            )
        found[key] = document
    return found


def _extra(
    gold: Mapping[str, object], predicted: Mapping[str, object], allowed: bool
) -> Iterable[str]:
    extra = [key for key in predicted if key not in gold]
    if not extra:
        return ()
    message = f"{_documents(extra)} predicted but not in gold, first {extra[0]!r}"
    if not allowed:
        raise DocumentMismatchError(message, "score against the gold of the same documents")
    return (f"{message}; left out",)


def _missing(gold: Mapping[str, object], predicted: Mapping[str, object]) -> Iterable[str]:
    missing = [key for key in gold if key not in predicted]
    if not missing:
        return ()
    return (f"{_documents(missing)} without a prediction, counted as empty; first {missing[0]!r}",)


def _prediction(
    gold: AnnotatedDocument, predicted: Mapping[str, AnnotatedDocument]
) -> AnnotatedDocument:
    """The prediction of a gold document, empty when there is none."""
    prediction = predicted.get(gold.document.doc_key, AnnotatedDocument(gold.document))
    if prediction.document.text != gold.document.text:
        raise _texts_differ(gold.document, prediction.document)
    return prediction


def _texts_differ(gold: Document, predicted: Document) -> DocumentMismatchError:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(gold.text, predicted.text, strict=False))
    start = sum(1 for _ in same)
    ours, theirs = (each.text[start : start + _CONTEXT] for each in (gold, predicted))
    return DocumentMismatchError(
        f"document {gold.doc_key!r}: the texts differ from character {start}, "
        f"gold {ours!r}, predicted {theirs!r}",
        "predict from the texts of the gold file",
    )


def _finished(
    result: EvaluationReport,
    labels: _RelationLabels,
    gold: Iterable[AnnotatedDocument],
    bad_records: tuple[FormatError, ...],
) -> Evaluation:
    warnings = [*result.warnings, *_unknown_labels(labels, gold)]
    if bad_records:
        warnings.append(f"{len(bad_records)} bad records left out")
    return Evaluation(replace(result, warnings=tuple(warnings)), bad_records)


def _unknown_labels(labels: _RelationLabels, gold: Iterable[AnnotatedDocument]) -> Iterable[str]:
    used = {relation.label for each in gold for relation in each.annotations.relations}
    unknown = sorted(used - labels.known)
    if unknown:
        yield (
            f"relations {', '.join(map(repr, unknown))} are not in {labels.source} "
            "and count as directed; name their schema with --schema"
        )


def _documents(keys: list[str]) -> str:
    return "1 document" if len(keys) == 1 else f"{len(keys)} documents"
