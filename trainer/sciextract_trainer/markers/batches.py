"""Texts with markers as training examples and as padded batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import PieceRules
from sciextract_trainer.data.examples import Floats, Targets, gold_targets
from sciextract_trainer.markers.mentions import MentionsOf, gold_mentions
from sciextract_trainer.markers.texts import (
    SUBJECT_END,
    SUBJECT_START,
    TEXT,
    MarkedText,
    marked_texts,
    types_at,
    visible,
)


@dataclass(frozen=True, slots=True)
class MarkedExample:
    """One subject with its objects and what they are to each other.

    Attributes:
        text: What the encoder sees.
        types: float32 (places, 1 + labels), type probabilities of the marked mention.
        targets: float32 (objects, relation classes), read from the subject to the object.
    """

    text: MarkedText
    types: Floats
    targets: Floats

    @property
    def doc_key(self) -> str:
        """The document's name."""
        return self.text.doc_key

    @property
    def piece_count(self) -> int:
        """Places that the encoder sees."""
        return self.text.piece_count


@dataclass(frozen=True, slots=True)
class MarkedBatch:
    """Some examples as encoder input.

    Attributes:
        examples: The examples, in the order of the rows.
        input_ids: int64 (texts, places), padded.
        attention_mask: int64 (texts, places), 1 for pieces of the text; markers are no pieces.
        visible: bool (texts, places, places), which place sees which.
        positions: int64 (texts, places).
        roles: int64 (texts, places).
        types: float32 (texts, places, 1 + labels).
        subject_markers: int64 (pairs, 2), start and end marker of each pair's subject in the flattened places.
        object_markers: int64 (pairs, 2), of its object.
        targets: float32 (pairs, relation classes).
    """

    examples: tuple[MarkedExample, ...]
    input_ids: Tensor
    attention_mask: Tensor
    visible: Tensor
    positions: Tensor
    roles: Tensor
    types: Tensor
    subject_markers: Tensor
    object_markers: Tensor
    targets: Tensor

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the network takes."""
        return (
            self.input_ids, self.visible, self.positions, self.roles, self.types,
            self.subject_markers, self.object_markers,
        )  # fmt: skip


def marked_examples(
    documents: Iterable[AnnotatedDocument],
    labels: Labels,
    rules: PieceRules,
    mentions_of: MentionsOf | None = None,
) -> Iterator[MarkedExample]:
    """The examples of gold documents: all pairs of mentions of a sentence.

    Args:
        documents: Gold documents.
        labels: What the classes mean.
        rules: The tokenizer.
        mentions_of: Whose pairs are looked at; those that gold does not relate are without relation. The gold
            mentions when ``None``.
    """
    pieces, none = rules.encoder(), np.eye(labels.relations.class_count, dtype=np.float32)[0]
    choose = mentions_of or gold_mentions(labels)
    for annotated in documents:
        mentions, table = choose(annotated), _by_words(gold_targets(annotated, labels))
        document = annotated.document
        for text in marked_texts(document, mentions.spans, pieces, rules.pad, rules.limit):
            words = [tuple(mentions.spans[row].tolist()) for row in (text.subject, *text.objects)]
            wanted = [table.get((words[0], each), none) for each in words[1:]]
            yield MarkedExample(text, types_at(text, mentions.features), np.stack(wanted))


_Pair = tuple[tuple[int, ...], tuple[int, ...]]


def _by_words(targets: Targets) -> dict[_Pair, Floats]:
    """Relations by the words of head and tail."""
    spans = [tuple(span) for span in targets.spans.tolist()]
    return {
        (spans[head], spans[tail]): relation
        for (head, tail), relation in zip(targets.pairs.tolist(), targets.relations, strict=True)
    }


def collate_marked(examples: Sequence[MarkedExample], pad_id: int) -> MarkedBatch:
    """Pads the examples to the longest one."""
    size = max(example.piece_count for example in examples)
    texts = [example.text for example in examples]

    def padded(values: Iterable[np.ndarray], fill: int = 0) -> Tensor:
        rows = [
            np.pad(each, [(0, size - len(each))] + [(0, 0)] * (each.ndim - 1), constant_values=fill)
            for each in values
        ]
        return torch.from_numpy(np.stack(rows))

    return MarkedBatch(
        examples=tuple(examples),
        input_ids=padded((text.ids for text in texts), pad_id),
        attention_mask=padded((text.roles == TEXT).astype(np.int64) for text in texts),
        visible=torch.from_numpy(np.stack([visible(text, size) for text in texts])),
        positions=padded(text.positions for text in texts),
        roles=padded(text.roles for text in texts),
        types=padded(example.types for example in examples),
        subject_markers=_joined(_subject_markers(text) + row * size for row, text in enumerate(texts)),
        object_markers=_joined(_object_markers(text) + row * size for row, text in enumerate(texts)),
        targets=_joined(example.targets for example in examples),
    )  # fmt: skip


def _joined(parts: Iterable[np.ndarray]) -> Tensor:
    return torch.from_numpy(np.concatenate(list(parts)))


def _subject_markers(text: MarkedText) -> np.ndarray:
    """Places (objects, 2) of the subject's markers, once for each object."""
    ends = [int(np.flatnonzero(text.roles == role)[0]) for role in (SUBJECT_START, SUBJECT_END)]
    return np.tile(np.array([ends], dtype=np.int64), (len(text.objects), 1))


def _object_markers(text: MarkedText) -> np.ndarray:
    """Places (objects, 2) of the objects' markers."""
    return np.arange(text.text, len(text.ids), dtype=np.int64).reshape(-1, 2)
