"""Documents as batches of sentences: the input and targets of the DyGIE++ network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sciextract.documents.annotations import State, TokenRange
from sciextract.documents.document import AnnotatedDocument, TokenTable
from sciextract.inference.candidates import sentence_ends, span_mask
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import EncoderInput, Subwords, SubwordTokenizer, plan_windows

Ints = NDArray[np.int64]
WordSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SentenceTargets:
    """Gold of one document; spans, sentences and classes are meant by their row or number.

    Attributes:
        types: int64 (spans,), 0 for "no entity", else 1 + index of the label.
        relations: int64 (relations, 3), head span, tail span, 1 + index of the label.
        clusters: int64 (spans,), number of the span's cluster, -1 for none.
    """

    types: Ints
    relations: Ints
    clusters: Ints


@dataclass(frozen=True, slots=True)
class SentenceExample:
    """One document, its sentences encoded apart from each other.

    Attributes:
        doc_key: The document's name.
        frames: Encoder input of each sentence, in order; their words follow each other.
        spans: int64 (spans, 2), first and last word, inclusive, in text order: all of up to the max width.
        sentences: int64 (sentences, 3), first span, end of spans, number of words.
        targets: Gold; everything "none" where the document has no annotations.
    """

    doc_key: str
    frames: tuple[EncoderInput, ...]
    spans: Ints
    sentences: Ints
    targets: SentenceTargets

    @property
    def subword_count(self) -> int:
        """Subwords of all sentences, special ones included."""
        return sum(len(frame.input_ids) for frame in self.frames)

    @property
    def word_count(self) -> int:
        """Words of the document."""
        return int(self.sentences[:, 2].sum())


def sentence_examples(
    documents: Iterable[AnnotatedDocument], labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[SentenceExample]:
    """One example per document that has words.

    Args:
        documents: Documents, with gold or without annotations.
        labels: What the classes mean.
        subwords: The encoder's subwords.
        limit: Most subwords of a sentence, special tokens not counted; longer ones are encoded in parts.
    """
    for annotated in documents:
        tokens = annotated.document.tokens
        if not len(tokens):
            continue
        split = subwords.split(tokens.slices(annotated.document.text))
        frames = [
            frame
            for sentence in tokens.sentences
            for frame in _sentence_frames(subwords, split, sentence, limit)
        ]
        spans, sentences = _enumerate(tokens, labels.max_span_width)
        targets = _targets(annotated, labels, spans)
        yield SentenceExample(annotated.document.doc_key, tuple(frames), spans, sentences, targets)


def _sentence_frames(
    subwords: SubwordTokenizer, split: Subwords, sentence: TokenRange, limit: int
) -> Iterator[EncoderInput]:
    """One frame for a sentence that fits, else windows whose kept words cover it once."""
    start, counts = sentence.token_start, split.counts[sentence.token_start : sentence.token_end]
    for window in plan_windows(counts, (TokenRange(0, len(sentence)),), limit):
        seen, kept = window.seen, window.kept
        frame = subwords.frame(split, start + seen.token_start, start + seen.token_end)
        words = slice(kept.token_start - seen.token_start, kept.token_end - seen.token_start)
        yield EncoderInput(frame.input_ids, frame.word_first[words], frame.word_last[words])


def _enumerate(tokens: TokenTable, max_width: int) -> tuple[Ints, Ints]:
    """All spans that stay in their sentence, and where each sentence's spans are."""
    allowed = span_mask(sentence_ends(tokens.sentences, len(tokens)), max_width)
    starts, widths = np.nonzero(allowed)
    spans = np.stack([starts, starts + widths], axis=1).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    sentences = [(first[s.token_start], first[s.token_end], len(s)) for s in tokens.sentences]
    return spans, np.array(sentences, dtype=np.int64).reshape(-1, 3)


def _targets(annotated: AnnotatedDocument, labels: Labels, spans: Ints) -> SentenceTargets:
    rows = {(first, last): row for row, (first, last) in enumerate(spans.tolist())}
    mentions: dict[str, int] = {}  # wider, fragmented and rejected entities have no row
    for entity in annotated.annotations.entities:
        words = annotated.document.tokens.aligned(entity.span)
        if words is not None and entity.state is not State.REJECTED:
            row = rows.get((words.token_start, words.token_end - 1))
            if row is not None:
                mentions[entity.id] = row
    types = np.zeros(len(spans), dtype=np.int64)
    for entity in annotated.annotations.entities:
        if entity.id in mentions and entity.label in labels.entities:
            types[mentions[entity.id]] = 1 + labels.entities.index(entity.label)
    clusters = np.full(len(spans), -1, dtype=np.int64)
    for number, cluster in enumerate(annotated.annotations.clusters):
        if cluster.state is not State.REJECTED:
            clusters[[mentions[mention] for mention in cluster.mentions if mention in mentions]] = (
                number
            )
    # Relations in the annotated direction only, one label a pair.
    classes: dict[tuple[int, int], int] = {}
    for relation in annotated.annotations.relations:
        known = relation.label in labels.relations.labels and relation.state is not State.REJECTED
        if known and relation.head in mentions and relation.tail in mentions:
            pair = mentions[relation.head], mentions[relation.tail]
            classes[pair] = labels.relations.forward_class(relation.label)
    found = [(*pair, label) for pair, label in classes.items()]
    return SentenceTargets(types, np.array(found, dtype=np.int64).reshape(-1, 3), clusters)


@dataclass(frozen=True, slots=True)
class SentenceBatch:
    """Some documents as encoder input, one row a sentence.

    Attributes:
        examples: The documents.
        input_ids: int64 (sentences, subwords), padded.
        attention_mask: int64 (sentences, subwords).
        subword_index: int64 (subwords of words,), place of each in the flattened batch.
        subword_word: int64 (subwords of words,), the word it belongs to, numbered through all documents.
    """

    examples: tuple[SentenceExample, ...]
    input_ids: Tensor
    attention_mask: Tensor
    subword_index: Tensor
    subword_word: Tensor


def collate_sentences(examples: Sequence[SentenceExample], pad_id: int) -> SentenceBatch:
    """Pads the sentences of some documents to the longest one."""
    frames = [frame for example in examples for frame in example.frames]
    length = max(len(frame.input_ids) for frame in frames)
    ids = np.full((len(frames), length), pad_id, dtype=np.int64)
    mask = np.zeros((len(frames), length), dtype=np.int64)
    index, counts = [], []
    for row, frame in enumerate(frames):
        ids[row, : len(frame.input_ids)] = frame.input_ids
        mask[row, : len(frame.input_ids)] = 1
        index.append(np.arange(frame.word_first[0], frame.word_last[-1] + 1) + row * length)
        counts.append(frame.word_last - frame.word_first + 1)
    sizes = np.concatenate(counts)
    words = np.repeat(np.arange(len(sizes)), sizes)
    arrays = (ids, mask, np.concatenate(index), words)
    return SentenceBatch(tuple(examples), *(torch.from_numpy(array) for array in arrays))
