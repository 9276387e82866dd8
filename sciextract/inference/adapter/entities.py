"""The head that predicts entities: which spans are what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciextract.inference.adapter.head import Head
from sciextract.inference.adapter.spans import (
    SHAPES,
    SPELLINGS,
    Memory,
    Words,
    model_scores,
    products,
    shape_features,
    word_spellings,
)
from sciextract.inference.network import Floats, Ints
from sciextract.inference.pipeline import Labels

_LEAST_LOGIT = -3.0
"""Where the weight of a label that the model lacks starts, for spans that are too wide for the model."""

_MEMORY_WEIGHT = 0.5
_CONSISTENCY = 0.5
"""How far scores are drawn to the mean of the same surface form in a document, 0 to 1."""


@dataclass(frozen=True, slots=True)
class EntityModel:
    """A trained head with what its features need.

    Attributes:
        head: The head; its classes are "no entity" and the labels.
        memory: Surface forms of finished abstracts.
        labels: What it predicts, with the widest span that it considers.
        projection: float32 (hidden, components), of states.
    """

    head: Head
    memory: Memory
    labels: Labels
    projection: Floats

    def logits(self, words: Words) -> Floats:
        """Logits of all spans. Shape: (words, max width, 1 + labels), as a bundled model has them."""
        count, width = len(words.stems), self.labels.max_span_width
        found = np.zeros((count, width, 1 + len(self.labels.entities)), np.float32)
        spans = words.all_spans(width)
        if len(spans):
            head, classes = self.head, found.shape[2]
            # Spelling is 256 columns of zeros and few ones: its product is made once a word instead of once a span.
            spelling = word_spellings(words.stems)
            half = SPELLINGS // 2
            of_first = spelling @ head.narrow[-SPELLINGS:-half]
            of_last = spelling @ head.narrow[-half:]
            both = np.concatenate([head.linear, head.inner], axis=1)
            wide = products(words, spans, self.projection, both)
            linear = wide[:, :classes] + of_first[spans[:, 0]] + of_last[spans[:, 1]]
            known = _known_features(words, spans, self.memory, None)
            hidden = np.maximum(wide[:, classes:] + head.inner_bias, 0)
            logits = linear + known @ head.narrow[:-SPELLINGS] + hidden @ head.outer
            # Scores are drawn towards the mean of all occurrences of the same surface form in the document.
            groups = words.same_surfaces(spans)
            counts = np.bincount(groups)
            sums = np.stack([np.bincount(groups, column) for column in logits.T], axis=1)
            mean = (sums / counts[:, None])[groups].astype(np.float32)
            logits += np.float32(_CONSISTENCY) * (mean - logits)
            found[spans[:, 0], spans[:, 1] - spans[:, 0]] = logits
        return found


def _known_features(words: Words, spans: Ints, memory: Memory, own: Memory | None) -> Floats:
    """The model's scores, memory without the document's own share, looks."""
    scores, known = model_scores(words, spans), memory.features(words, spans, own)
    return np.concatenate([scores, known, shape_features(words, spans)], axis=1)


def span_features(words: Words, spans: Ints, memory: Memory, own: Memory | None) -> Floats:
    """What a head knows about spans beside states; spelling has the last columns."""
    spelling = word_spellings(words.stems)
    ends = (spelling[spans[:, 0]], spelling[spans[:, 1]])
    return np.concatenate([_known_features(words, spans, memory, own), *ends], axis=1)


def first_span_weights(labels: Labels, base: Labels) -> Floats:
    """Where the features' weights start: scores of labels that the model knows count once, memory counts half."""
    classes = 1 + len(labels.entities)
    of_model = np.zeros((2 + len(base.entities), classes), np.float32)
    known = [label for label in labels.entities if label in base.entities]
    for label in known:
        of_model[1 + base.entities.index(label), 1 + labels.entities.index(label)] = 1
    if known:
        of_model[0, 0] = 1
        rest = [1 + labels.entities.index(label) for label in labels.entities if label not in known]
        of_model[-1, rest] = _LEAST_LOGIT
    of_memory = np.zeros((2 * classes + 1, classes), np.float32)
    of_memory[:classes] = np.eye(classes) * _MEMORY_WEIGHT
    shapes = np.zeros((SHAPES + SPELLINGS, classes), np.float32)
    if not known:
        shapes[0, 0] = 3  # without any knowledge a span is not an entity
    return np.concatenate([of_model, of_memory, shapes])
