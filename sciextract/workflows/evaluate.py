"""Score predictions against gold: documents in memory, two files, or a file and a model."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Span
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema_file import load_schema
from sciextract.errors import FormatError, SciextractError, UsageError, as_command
from sciextract.formats.base import FieldChoice, Side
from sciextract.formats.record_check import NO_ABSTRACT
from sciextract.metrics.counts import Scorable, scorable
from sciextract.metrics.report import EvaluationReport
from sciextract.metrics.scorer import (
    intervals,
    report,
    tally_documents,
)
from sciextract.text.english import counted
from sciextract.workflows.model_choice import display_schema

if TYPE_CHECKING:
    from sciextract.inference.domain.auto import AutoExtractor
    from sciextract.inference.extractor import Extractor

_CONTEXT = 20  # characters shown where two texts part
_MOST_REMARKS = 5


class DocumentMismatchError(SciextractError):
    """Gold and predicted documents are not the same documents."""


def evaluate(
    gold_documents: Iterable[AnnotatedDocument],
    predicted_documents: Iterable[AnnotatedDocument],
    symmetric: frozenset[str],
    *,
    bootstrap: bool = True,
    extra_allowed: bool = False,
    only: Collection[str] = (),
    singletons: bool = False,
) -> EvaluationReport:
    """Score predicted documents against gold documents of the same ``doc_key`` and text.

    White space in the texts may differ. Documents whose ``doc_key`` differs are matched by their text, with a
    warning. A gold document without a prediction counts as one in which nothing was predicted, with a warning.

    Args:
        gold_documents: The annotated documents.
        predicted_documents: The same documents as predicted, in any order.
        symmetric: Relation labels without direction (``LabelSchema.symmetric_labels``).
        bootstrap: Whether to add confidence intervals.
        extra_allowed: Whether predictions without gold are left out with a warning.
        only: Entity labels that count; all when empty. Relations and clusters of other entities are left out.
        singletons: Whether clusters of one mention count.

    Raises:
        DocumentMismatchError: There is no gold document, one occurs twice, a prediction has no gold, or
            the two texts of a key differ.
        UsageError: A label of ``only`` is on no entity of either side.
    """
    gold = _by_key(gold_documents, "gold")
    predicted = _by_key(predicted_documents, "predicted")
    if not gold:
        raise DocumentMismatchError("no gold document to score against")
    names = _find_partners(gold, predicted)
    warnings = _check_partners(gold, predicted, names, extra_allowed)
    pairs = []
    for key, document in gold.items():
        partner = predicted.get(names.get(key, ""), AnnotatedDocument(document.document))
        pairs.append((document, _move_to(document.document, partner)))
    sides = (side for pair in pairs for side in pair) if only else ()
    known = {entity.label for side in sides for entity in side.annotations.entities}
    if unknown := [label for label in only if label not in known]:
        raise UsageError(
            f"--only {', '.join(map(repr, unknown))}: no entity has this label",
            f"labels found: {', '.join(sorted(filter(None, known))) or 'none'}",
        )
    mine = [scorable(document, only) for document, _ in pairs]
    theirs = [scorable(document, only) for _, document in pairs]
    tallies = tally_documents(mine, theirs, symmetric, singletons=singletons)
    warnings += _without_common_labels(mine, theirs)
    bootstrapped = intervals(tallies) if bootstrap else {}
    found = report(tallies)
    loose, strict = found.relation.boundaries, found.relation.strict
    if turned := loose.ordered.correct - loose.directed.correct:
        warnings.append(
            f"{counted(turned, 'symmetric relation')} the other way round than in gold, counted as right; by the rule of "
            f"DyGIE++ and PURE (`directed` of --json) F1 is {loose.directed.f1:.1f}, strict {strict.directed.f1:.1f}"
        )
    return replace(found, intervals=bootstrapped, warnings=tuple(warnings))


def _without_common_labels(
    gold: Sequence[Scorable], predicted: Sequence[Scorable]
) -> Iterator[str]:
    """What to mind where gold and predictions name their types differently, so that nothing can be right."""
    for kind in ("entities", "relations"):
        ours, theirs = (
            sorted({item.label for side in sides for item in getattr(side, kind)})
            for sides in (gold, predicted)
        )
        if not ours or not theirs or set(ours) & set(theirs):
            continue
        by_case = {label.casefold(): label for label in ours}
        pairs = [
            (label, by_case[label.casefold()]) for label in theirs if label.casefold() in by_case
        ]
        renames = ",".join(f"{label}={own}" for label, own in pairs) or f"{theirs[0]}={ours[0]},..."
        convert = as_command("sciextract", "convert", "--rename", renames)
        yield (
            f"{kind}: gold and predictions have no label in common, so that none is right; gold has {', '.join(ours)}, "
            f"predicted are {', '.join(theirs)}; {convert} changes labels"
        )


def evaluate_file(
    gold: str,
    predicted: str | Extractor | AutoExtractor,
    *,
    schema: str | None = None,
    bootstrap: bool = True,
    only: Collection[str] = (),
    singletons: bool = False,
    fields: Side | None = None,
    input_format: str | None = None,
) -> tuple[EvaluationReport, tuple[FormatError, ...]]:
    """Score predictions, or a model, on a file or folder of gold in any readable format.

    Records with gold and predictions (``ner`` and ``predicted_ner``) are read as gold in ``gold``, as
    predictions in ``predicted``, with a warning that says so.

    Args:
        gold: Path, or ``-`` for standard input.
        predicted: Path, or ``-`` for standard input; or a loaded model, which predicts.
        schema: Name or path of the label schema that says which relations are symmetric; the model's own labels,
            or those of ``scierc`` for a file, when ``None``.
        bootstrap: Whether to add confidence intervals.
        only: Entity labels that count; all when empty.
        singletons: Whether clusters of one mention count.
        fields: Which fields are the predictions of a file; the predicted ones where there are some when ``None``.
        input_format: Format of both files; their content decides when ``None``.

    Returns:
        The scores, and the records of the files that could not be read.

    Raises:
        InputMissingError: A file does not exist.
        DocumentMismatchError: The two do not hold the same documents, or gold holds none.
        SchemaError: The schema has a mistake.
        UsageError: No record of ``predicted`` has such ``fields``, or no entity a label of ``only``.
    """
    notes: list[str] = []
    known = named = None if schema is None else load_schema(schema)
    if isinstance(predicted, str):
        named = named or load_schema("scierc")
        gold_choice = FieldChoice()
        documents, bad_records = read_gold(gold, gold_choice, input_format)
        choice = FieldChoice(fields or "predicted", strict=fields is not None)
        predictions, bad_predicted = read_gold(predicted, choice, input_format)
        choice.check(predicted)
        read = {name for names, _ in gold_choice.met for name in names}
        if used := sorted(name for name in read if name.startswith("predicted_")):
            notes.append(f"{gold}: records without gold fields; {', '.join(used)} read as gold")
        notes += choice.messages(predicted)
        # The gold of a prediction without any may be the record that could not be read.
        extra_allowed = bool(bad_records)
        bad_records = (*bad_records, *bad_predicted)
    else:
        layout, owner = predicted.config.labels.relations, f"model {predicted.config.name!r}"
        labels, symmetric = layout.labels, layout.symmetric
        known = known or display_schema(predicted.config)
        (documents, bad_records), extra_allowed = read_gold(gold, None, input_format), False
        if predicted.config.given_entities:
            predictions = [*predicted.stream_given(documents)]
        else:
            predictions = [*predicted.stream(document.document for document in documents)]
    if named is not None:
        labels, owner = tuple(named.relation_labels), f"schema {named.name!r}"
        symmetric = named.symmetric_labels
    if known is not None:  # types that were renamed are the same types
        documents, predictions = (
            [document.renamed(*known.names) for document in side]
            for side in (documents, predictions)
        )
    notes += _remarks_on(documents, "gold")
    if isinstance(predicted, str):
        notes += _remarks_on(predictions, "predicted")
    result = evaluate(
        documents, predictions, symmetric, bootstrap=bootstrap,
        extra_allowed=extra_allowed, only=only, singletons=singletons,
    )  # fmt: skip
    warnings = [*notes, *result.warnings]
    relations = {relation.label for doc in documents for relation in doc.annotations.relations}
    if unknown := sorted(relations.difference(labels)):
        warnings.append(
            f"relations {', '.join(map(repr, unknown))} are not in {owner} "
            "and count as directed; name their schema with --schema"
        )
    if bad_records:
        warnings.append(f"{len(bad_records)} bad records left out")
    return replace(result, warnings=tuple(warnings)), bad_records


def _remarks_on(documents: Iterable[AnnotatedDocument], side: str) -> list[str]:
    """What reading said of annotations that it left out or changed, once a kind."""
    remarks = Counter(
        remark for item in documents for remark in item.warnings if remark != NO_ABSTRACT
    )
    named = [f"{side}: {remark} ({counted(n, 'document')})" for remark, n in remarks.most_common()]
    more = named[_MOST_REMARKS:]
    return named[:_MOST_REMARKS] + ([f"{side}: {len(more)} more remarks"] if more else [])


def read_gold(
    path: str, fields: FieldChoice | None = None, input_format: str | None = None
) -> tuple[list[AnnotatedDocument], tuple[FormatError, ...]]:
    """All documents of a file or folder, and the records that could not be read.

    Of records with gold and predictions the gold is read, unless ``fields`` chooses.

    Raises:
        InputMissingError: It does not exist.
        FormatError: It is the only file, and unusable.
        UsageError: There is no such format.
    """
    from sciextract.formats import read

    documents, bad_records = [], []
    for item in read([path], input_format, fields):
        if isinstance(item, AnnotatedDocument):
            documents.append(item)
        else:
            bad_records.append(item.error)
    return documents, tuple(bad_records)


def _by_key(documents: Iterable[AnnotatedDocument], side: str) -> dict[str, AnnotatedDocument]:
    by_key: dict[str, AnnotatedDocument] = {}
    for document in documents:
        key = document.document.doc_key
        if key in by_key and by_key[key].document.text != document.document.text:
            # Texts of one paper may share a key, as in the export of a project; partners have the same text anyway.
            key = f"{key} ({document.document.text_sha256[:8]})"
        if key in by_key:
            raise DocumentMismatchError(
                f"two {side} documents have the doc_key {key!r}", "give every document its own key"
            )
        by_key[key] = document
    return by_key


def _find_partners(
    gold: Mapping[str, AnnotatedDocument], predicted: Mapping[str, AnnotatedDocument]
) -> dict[str, str]:
    """By the key of a gold document that of its prediction: the same, or one of the same text.

    Raises:
        DocumentMismatchError: A prediction has the key of a gold document, but a text that no gold has.
    """
    mine = {key: _strip_white_space(annotated.document.text) for key, annotated in gold.items()}
    theirs = {
        key: _strip_white_space(annotated.document.text) for key, annotated in predicted.items()
    }
    # The same key first: two gold documents may have one text.
    partners = {key: key for key, text in mine.items() if theirs.get(key) == text}
    free: dict[str, list[str]] = {}
    for key, text in theirs.items():
        if key not in partners:
            free.setdefault(text, []).append(key)
    for key, text in mine.items():
        if key not in partners and free.get(text):
            partners[key] = free[text].pop(0)
    for keys in free.values():
        for key in keys:
            if key in gold and key not in partners:
                raise _explain_difference(gold[key].document, predicted[key].document)
    return partners


def _strip_white_space(text: str) -> str:
    """The text without white space, which formats made of tokens do not keep."""
    return "".join(text.split())


def _check_partners(
    gold: Mapping[str, AnnotatedDocument],
    predicted: Mapping[str, AnnotatedDocument],
    names: Mapping[str, str],
    extra_allowed: bool,
) -> list[str]:
    """What to mind about documents that have no partner, or one that is not quite the same.

    Raises:
        DocumentMismatchError: A prediction has no gold, and that is not allowed.
    """
    warnings = []
    matched = set(names.values())
    if extra := [key for key in predicted if key not in matched]:
        message = f"{counted(len(extra), 'document')} predicted but not in gold, first {extra[0]!r}"
        if not extra_allowed:
            raise DocumentMismatchError(
                f"{message}: gold has neither this doc_key (its first is {next(iter(gold))!r}) nor this text",
                "name the gold of the same documents, or predict from the texts of the gold file",
            )
        warnings.append(f"{message}; left out")
    if missing := [key for key in gold if key not in names]:
        lacking = f"{counted(len(missing), 'document')} without a prediction"
        warnings.append(f"{lacking}, counted as empty; first {missing[0]!r}")
    if renamed := [key for key, other in names.items() if key != other]:
        first = f"{renamed[0]!r}, predicted {names[renamed[0]]!r}"
        warnings.append(
            f"{counted(len(renamed), 'document')} matched by text, because the doc_keys differ; first: gold {first}"
        )
    spaced = [
        key
        for key, other in names.items()
        if gold[key].document.text != predicted[other].document.text
    ]
    if spaced:
        warnings.append(
            f"{counted(len(spaced), 'document')} with other white space than gold, compared by the characters "
            f"between; first {spaced[0]!r}"
        )
    return warnings


def _move_to(gold: Document, predicted: AnnotatedDocument) -> AnnotatedDocument:
    """The prediction in the characters of the gold text."""
    if predicted.document.text == gold.text:
        return predicted
    ours, theirs = (_ink(text) for text in (gold.text, predicted.document.text))
    ours.append(len(gold.text))

    def move(span: Span) -> Span:
        first, behind = (bisect_left(theirs, at) for at in (span.char_start, span.char_end))
        return Span(ours[first], ours[behind - 1] + 1 if behind > first else ours[first])

    entities = [
        replace(entity, fragments=tuple(map(move, entity.fragments)))
        for entity in predicted.annotations.entities
    ]
    annotations = replace(predicted.annotations, entities=tuple(entities))
    return replace(predicted, document=gold, annotations=annotations)


def _ink(text: str) -> list[int]:
    """Where the characters stand that are not white space."""
    return [at for at, character in enumerate(text) if not character.isspace()]


def _explain_difference(gold: Document, predicted: Document) -> DocumentMismatchError:
    texts = gold.text, predicted.text
    both = zip(*map(_strip_white_space, texts), strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
    places = [[*_ink(text), len(text)][start] for text in texts]
    ours, theirs = (text[at : at + _CONTEXT] for text, at in zip(texts, places, strict=True))
    return DocumentMismatchError(
        f"document {gold.doc_key!r}: the texts differ from character {places[0]}, "
        f"gold {ours!r}, predicted {theirs!r}",
        "predict from the texts of the gold file",
    )
