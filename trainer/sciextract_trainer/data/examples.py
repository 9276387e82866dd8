"""Training examples: encoder input and target distributions, all in word indices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sciextract.documents.annotations import Annotations, Entity, Layer, State
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.candidates import sentence_ends, span_mask
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import EncoderInput, SubwordTokenizer, pad, plan_windows
from sciextract.snapshot.documents import TrainingDocument, Verdict, Verdicts, verdicts_of

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
WordSpan = tuple[int, int]
"""First and last word, inclusive."""
Rows = dict[str, int]
"""Entity id to the row of its span."""
NOT_REJECTED = frozenset(State) - {State.REJECTED}
"""States of plain gold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """What of a document is known; the rest gives no gradient at all.

    Attributes:
        counted: bool (spans,), listed spans whose type is known.
        judged: bool (spans,), listed spans that are mentions or are none for sure; the others take no
            part in relations and links.
        settled: bool (spans,), listed spans of which every link that is not listed is known to be wrong.
        known_pairs: bool (pairs,), listed pairs whose relation is known.
        known_links: bool (links,), listed links of which is known whether they are right.
        complete: Layers in which everything that is not listed is known to be none.
    """

    counted: Bools
    judged: Bools
    settled: Bools
    known_pairs: Bools
    known_links: Bools
    complete: frozenset[Layer]


@dataclass(frozen=True, slots=True)
class Targets:
    """What the network should say; spans, pairs and links that are not listed are "none".

    Attributes:
        spans: int64 (spans, 2), first and last word, inclusive, in text order.
        types: float32 (spans, 1 + entity labels), target distributions.
        pairs: int64 (pairs, 2), head and tail span, mirrors included.
        relations: float32 (pairs, relation classes), target distributions.
        links: int64 (links, 2), mention and antecedent span.
        link_weights: float32 (links,), probability of the link; gold links have 1, rejected ones 0.
        soft: Whether the targets are a teacher's distributions rather than gold.
        mask: What is known; ``None`` when everything is.
        taught: bool (1 + entity labels), labels that the document was annotated for; all when ``None``.
        taught_relations: bool (relation classes), the same of relations, mirrors included.
    """

    spans: Ints
    types: Floats
    pairs: Ints
    relations: Floats
    links: Ints
    link_weights: Floats
    soft: bool = False
    mask: Mask | None = None
    taught: Bools | None = None
    taught_relations: Bools | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One window of one document.

    Attributes:
        frame: Encoder input.
        words: The words.
        ends: int64 (words,), index after the last word of each word's sentence.
        allowed: bool (words, max width), cells that are spans.
        targets: What the network should say.
    """

    doc_key: str
    frame: EncoderInput
    words: tuple[str, ...]
    ends: Ints
    allowed: Bools
    targets: Targets

    @property
    def subword_count(self) -> int:
        """Subwords the encoder sees, special ones included."""
        return len(self.frame.input_ids)


def examples_from(
    documents: Iterable[AnnotatedDocument], labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[Example]:
    """One example per window of each document; almost all abstracts are one window.

    Args:
        documents: Gold documents.
        labels: What the classes mean; entities and relations of other labels are left out.
        subwords: The encoder's subwords.
        limit: Most subwords a window may hold, special tokens not counted.
    """
    for annotated in documents:
        targets = gold_targets(annotated, labels)
        yield from windows_of(annotated.document, targets, labels, subwords, limit)


def windows_of(
    document: Document, targets: Targets, labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[Example]:
    """One example per window of a document with given targets."""
    words = document.tokens.slices(document.text)
    split = subwords.split(words)
    ends = sentence_ends(document.tokens.sentences, len(document.tokens))
    width = labels.max_span_width
    for window in plan_windows(split.counts, document.tokens.sentences, limit):
        start, end = window.seen.token_start, window.seen.token_end
        local = np.minimum(ends[start:end], end) - start
        yield Example(
            document.doc_key,
            subwords.frame(split, start, end),
            tuple(words[start:end]),
            local,
            span_mask(local, width),
            _inside(targets, start, end),
        )


def gold_targets(annotated: AnnotatedDocument, labels: Labels) -> Targets:
    """One-hot targets of a gold document; rejected items count as "none", all others as right."""
    kept, sure = annotated.annotations.in_states(NOT_REJECTED), State.IMPORTED
    annotations = Annotations(
        tuple(replace(entity, state=sure) for entity in kept.entities),
        tuple(replace(relation, state=sure) for relation in kept.relations),
        tuple(replace(cluster, state=sure, mention_states=()) for cluster in kept.clusters),
    )
    item = TrainingDocument(replace(annotated, annotations=annotations))
    return replace(decided_targets(item, labels), mask=None)


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
    weights = np.array([verdict is Verdict.POSITIVE for verdict in found.values()], np.float32)
    known_links = np.array([verdict is not Verdict.MASKED for verdict in found.values()], np.bool_)
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
    late, unsought = (item.uncovered_labels(layer) for layer in (Layer.ENTITIES, Layer.RELATIONS))
    taught = np.array([True, *(label not in late for label in labels.entities)])
    layout = labels.relations
    related = np.ones(layout.class_count, dtype=np.bool_)
    for label in unsought.intersection(layout.labels):
        related[[layout.forward_class(label), layout.mirror()[layout.forward_class(label)]]] = False
    return Targets(
        *(listed, types, pairs, relations, links, weights),
        mask=mask,
        taught=None if taught.all() else taught,
        taught_relations=None if related.all() else related,
    )


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
        found = [verdicts.entities[entity.id] for entity in entities]
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


def one_hot(classes: Sequence[int], count: int) -> Floats:
    """Distributions (classes, count) that are certain of one class each."""
    return np.eye(count, dtype=np.float32)[np.array(classes, dtype=np.int64)]


def _inside(targets: Targets, start: int, end: int) -> Targets:
    """The targets whose spans lie in the words [start, end), renumbered from ``start``."""
    keep = (targets.spans[:, 0] >= start) & (targets.spans[:, 1] < end)
    if keep.all() and start == 0:
        return targets
    rows = np.cumsum(keep) - 1
    pairs: Bools = np.all(keep[targets.pairs], axis=1)
    links: Bools = np.all(keep[targets.links], axis=1)
    mask = targets.mask
    if mask is not None:
        mask = replace(
            mask,
            counted=mask.counted[keep],
            judged=mask.judged[keep],
            settled=mask.settled[keep],
            known_pairs=mask.known_pairs[pairs],
            known_links=mask.known_links[links],
        )
    return Targets(
        targets.spans[keep] - start,
        targets.types[keep],
        rows[targets.pairs[pairs]],
        targets.relations[pairs],
        rows[targets.links[links]],
        targets.link_weights[links],
        targets.soft,
        mask,
        targets.taught,
        targets.taught_relations,
    )


class Sized(Protocol):
    """A training example of any network family."""

    @property
    def doc_key(self) -> str:
        """The document's name."""

    @property
    def subword_count(self) -> int:
        """Subwords the encoder sees."""


SizedT = TypeVar("SizedT", bound=Sized)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some examples as encoder input.

    Attributes:
        examples: The examples, in the order of the rows.
        input_ids: int64 (documents, subwords), padded.
        attention_mask: int64 (documents, subwords).
        word_first: int64 (words of all documents,), first subword of each word in the flattened batch.
        word_last: int64 (words of all documents,), last subword.
        offsets: Index of each document's first word, then the number of words.
    """

    examples: tuple[Example, ...]
    input_ids: Tensor
    attention_mask: Tensor
    word_first: Tensor
    word_last: Tensor
    offsets: tuple[int, ...]


def collate(examples: Sequence[Example], pad_id: int) -> Batch:
    """Pads the examples to the longest one."""
    padded = pad([example.frame for example in examples], pad_id)
    arrays = (padded.input_ids, padded.attention_mask, padded.word_first, padded.word_last)
    ids, mask, first, last = map(torch.from_numpy, arrays)
    return Batch(tuple(examples), ids, mask, first, last, padded.offsets)


def epoch_batches(
    examples: Sequence[SizedT], size: int, seed: int, epoch: int
) -> Iterator[list[SizedT]]:
    """Batches of about equal length in an order that depends on seed and epoch only.

    Examples are shuffled, cut into pools of eight batches, sorted by length within a pool, and the
    batches are shuffled again: little padding, little bias.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(examples))
    batches: list[list[SizedT]] = []
    for start in range(0, len(order), size * 8):
        pool = sorted(order[start : start + size * 8], key=lambda i: examples[i].subword_count)
        batches += [
            [examples[i] for i in pool[begin : begin + size]] for begin in range(0, len(pool), size)
        ]
    for index in random.permutation(len(batches)):
        yield batches[index]
