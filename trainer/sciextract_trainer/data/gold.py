"""Gold documents of files and folders, as training from files reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from sciextract import formats
from sciextract.documents.annotations import Entity, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import FormatError, TrainingDataError, UsageError
from sciextract.formats.base import BadRecord
from sciextract.formats.inputs import Part, paths_of
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import SubwordTokenizer
from sciextract.snapshot import TrainingDocument, Verdict, Verdicts, verdicts_of
from sciextract_trainer.data.examples import (
    Bools,
    Example,
    Floats,
    Ints,
    Mask,
    Targets,
    one_hot,
    windows_of,
)


def read_gold(path: Path, schema: LabelSchema, part: Part = Part.TRAIN) -> list[AnnotatedDocument]:
    """All documents of a labelled file, or of the split of a folder.

    Raises:
        FormatError: A record is bad: a training set is not used in part.
        UsageError: Labels the schema does not know, or a folder without such a split.
        TrainingDataError: Nothing is annotated.
        InputMissingError: No such path.
    """
    documents = []
    for item in formats.read(paths_of(path, part)):
        if isinstance(item, BadRecord):
            raise item.error
        documents.append(item)
    if not documents:
        raise FormatError("no documents", path=path)
    known = {*schema.entity_labels, *schema.relation_labels}
    if unknown := sorted(_used(documents) - known):
        raise UsageError(
            f"{path}: labels that the schema {schema.name!r} does not know: {', '.join(unknown)}",
            f"known: {', '.join(sorted(known))}; give a schema with --schema",
        )
    if not any(item.annotations.entities for item in documents):
        raise TrainingDataError(
            f"{path}: nothing is annotated in its {len(documents)} documents",
            "give a file with gold entities: "
            "sciextract annotate predicts, sciextract tui is for annotating",
        )
    return documents


def unseen_labels(documents: Sequence[AnnotatedDocument], schema: LabelSchema) -> list[str]:
    """Labels of the schema without an example, sorted: a model cannot learn them."""
    known = {*schema.entity_labels, *schema.relation_labels}
    return sorted(known - _used(documents))


def has_untyped(documents: Iterable[AnnotatedDocument]) -> bool:
    """Whether a cluster of some document has a mention without a type."""
    for item in documents:
        untyped = {each.id for each in item.annotations.entities if not each.label}
        if any(not untyped.isdisjoint(each.mentions) for each in item.annotations.clusters):
            return True
    return False


def sha256(path: Path, part: Part = Part.TRAIN) -> str:
    """Hex SHA-256 of a file; of a folder's split, that of its files' names and contents."""
    if path.is_file():
        return _sha256(path)
    whole = hashlib.sha256()
    for root in paths_of(path, part):
        for file in sorted(each for each in (root, *root.rglob("*")) if each.is_file()):
            whole.update(f"{file.relative_to(path)} {_sha256(file)}\n".encode())
    return whole.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _used(documents: Sequence[AnnotatedDocument]) -> set[str]:
    used = {entity.label for item in documents for entity in item.annotations.entities} - {""}
    return used | {relation.label for item in documents for relation in item.annotations.relations}


WordSpan = tuple[int, int]
"""First and last word, inclusive."""

Rows = dict[str, int]
"""Entity id to the row of its span."""


def decided_examples(
    documents: Iterable[TrainingDocument], labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[Example]:
    """One example per window of each document.

    Args:
        documents: Documents with decisions.
        labels: What the classes mean.
        subwords: The encoder's subwords.
        limit: Most subwords a window may hold, special tokens not counted.
    """
    for item in documents:
        targets = decided_targets(item, labels)
        yield from windows_of(item.annotated.document, targets, labels, subwords, limit)


def decided_targets(item: TrainingDocument, labels: Labels) -> Targets:
    """Targets and mask of one document.

    Items of labels that the model does not have count as none where their layer is done, and are masked
    elsewhere.
    """
    verdicts, tokens = verdicts_of(item), item.annotated.document.tokens
    places: dict[str, WordSpan] = {}  # entities without any whole word have none
    for entity in item.annotated.annotations.entities:
        words = tokens.aligned(entity.span)
        if words is not None:
            places[entity.id] = (words.token_start, words.token_end - 1)
    spans = sorted(set(places.values()))
    rows = {entity: spans.index(place) for entity, place in places.items()}
    types, counted, judged = _entity_targets(item, labels, verdicts, rows, len(spans))
    pairs, relations, known_pairs = _relation_targets(item, labels.relations, verdicts, rows)
    # Links (later, earlier): 1 for those of one cluster, and whether that is known.
    found: dict[tuple[int, int], Verdict] = {}
    order = (Verdict.POSITIVE, Verdict.MASKED, Verdict.NEGATIVE)
    for (left, right), verdict in verdicts.pairs.items():
        if left in rows and right in rows and rows[left] != rows[right]:
            link = max(rows[left], rows[right]), min(rows[left], rows[right])
            found[link] = min(verdict, found.get(link, verdict), key=order.index)
    links = np.array(list(found), dtype=np.int64).reshape(-1, 2)
    weights = np.array([each is Verdict.POSITIVE for each in found.values()], dtype=np.float32)
    known_links = np.array([each is not Verdict.MASKED for each in found.values()], dtype=np.bool_)
    # Whether every link of a span that is not listed is known to be wrong.
    settled = np.full(len(spans), Layer.COREFERENCE in item.complete)
    for entity_id, verdict in verdicts.entities.items():
        unclear = verdict is Verdict.POSITIVE and entity_id not in verdicts.settled
        if unclear and entity_id in rows:
            settled[rows[entity_id]] = False
    mask = Mask(
        counted=counted,
        judged=judged,
        settled=settled,
        known_pairs=known_pairs,
        known_links=known_links,
        complete=frozenset(item.complete),
    )
    listed = np.array(spans, dtype=np.int64).reshape(-1, 2)
    return Targets(listed, types, pairs, relations, links, weights, mask=mask)


def _entity_targets(
    item: TrainingDocument, labels: Labels, verdicts: Verdicts, rows: Rows, count: int
) -> tuple[Floats, Bools, Bools]:
    """Types (spans, 1 + labels), whether each is known, and whether the span takes part in pairs.

    Of several entities on the same words a positive one decides, else an undecided one.
    """
    on_row: list[list[Entity]] = [[] for _ in range(count)]
    for entity in item.annotated.annotations.entities:
        if entity.id in rows:
            on_row[rows[entity.id]].append(entity)
    done = Layer.ENTITIES in item.complete
    classes = np.zeros(count, dtype=np.int64)
    counted, judged = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    for row, entities in enumerate(on_row):
        found = [verdicts.entities[each.id] for each in entities]
        kept = [e.label for e, v in zip(entities, found, strict=True) if v is Verdict.POSITIVE]
        known = [label for label in kept if label in labels.entities]
        classes[row] = 1 + labels.entities.index(known[0]) if known else 0
        judged[row] = bool(kept) or Verdict.MASKED not in found
        counted[row] = bool(known) or (done if kept else judged[row])
    return one_hot(classes.tolist(), 1 + len(labels.entities)), counted, judged


def _relation_targets(
    item: TrainingDocument, layout: RelationLayout, verdicts: Verdicts, rows: Rows
) -> tuple[Ints, Floats, Bools]:
    """Pairs in both directions, their classes, and whether these are known.

    Of several relations on the same pair a positive one decides, else an undecided one.
    """
    mirror, done = layout.mirror(), Layer.RELATIONS in item.complete
    classes: dict[tuple[int, int], int] = {}
    masked: set[tuple[int, int]] = set()
    for relation in item.annotated.annotations.relations:
        if relation.head not in rows or relation.tail not in rows:
            continue
        head, tail = rows[relation.head], rows[relation.tail]
        verdict = verdicts.relations[relation.id]
        forward = 0
        if verdict is Verdict.POSITIVE and relation.label in layout.labels:
            forward = layout.forward_class(relation.label)
        elif verdict is Verdict.MASKED or (verdict is Verdict.POSITIVE and not done):
            masked |= {(head, tail), (tail, head)}
        # The network scores ordered pairs, so each relation is learned in both directions.
        classes[head, tail] = classes.get((head, tail), 0) or forward
        classes[tail, head] = classes.get((tail, head), 0) or int(mirror[forward])
    known = [bool(found) or pair not in masked for pair, found in classes.items()]
    pairs = np.array(list(classes), dtype=np.int64).reshape(-1, 2)
    relations = one_hot(list(classes.values()), layout.class_count)
    return pairs, relations, np.array(known, dtype=np.bool_)
