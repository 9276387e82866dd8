"""Training examples of documents that teach some types only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import SubwordTokenizer
from sciextract.store.rows import Layer
from sciextract_trainer.data.examples import (
    Bools,
    Example,
    Mask,
    Targets,
    gold_targets,
    windows_of,
)
from sciextract_trainer.partial.documents import SetDocument
from sciextract_trainer.partial.sets import TaughtSet


def partial_examples(
    documents: Iterable[SetDocument], labels: Labels, subwords: SubwordTokenizer, limit: int
) -> Iterator[Example]:
    """One example per window; untaught types, relations and links are masked."""
    for item in documents:
        targets = taught_targets(gold_targets(item.annotated, labels), item.taught, labels)
        yield from windows_of(item.annotated.document, targets, labels, subwords, limit)


def taught_targets(targets: Targets, taught: TaughtSet, labels: Labels) -> Targets:
    """The targets with what the set does not teach left open."""
    complete = frozenset(
        [Layer.ENTITIES, Layer.RELATIONS] if taught.relations else [Layer.ENTITIES]
    )
    spans, pairs, links = len(targets.spans), len(targets.pairs), len(targets.links)
    mask = Mask(
        counted=np.ones(spans, dtype=np.bool_),
        judged=np.ones(spans, dtype=np.bool_),
        settled=np.zeros(spans, dtype=np.bool_),
        known_pairs=np.full(pairs, taught.relations),
        known_links=np.zeros(links, dtype=np.bool_),
        complete=complete,
    )
    return replace(targets, mask=mask, taught=_classes(taught, labels))


def _classes(taught: TaughtSet, labels: Labels) -> Bools:
    return np.array([True, *(label in taught.teaches for label in labels.entities)])
