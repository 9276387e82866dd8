"""Mentions to put markers around while a teacher learns.

Between gold mentions alone it never meets one that is wrong, and then it finds relations of whatever a network
proposes. So what a network proposes can join the gold: a pair with a wrong mention is a pair without relation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.mentions import Mentions
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import given_of
from sciextract_trainer.distillation.labelling import TEACHER_SETTINGS

LEAST = 0.2
"""Least probability of a proposed mention, in training as in teaching."""

MentionsOf = Callable[[AnnotatedDocument], Mentions]
"""The mentions of a gold document that a teacher learns with."""


def gold_mentions(labels: Labels) -> MentionsOf:
    """The gold mentions, whose types are certain."""
    return lambda annotated: given_of(annotated, labels).mentions


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a network proposes, with the types it gives, and the gold that it misses.

    Attributes:
        pipeline: The network; best one that has not learned from these documents.
        least: Least probability of a proposed mention.
    """

    pipeline: Pipeline
    least: float = LEAST

    def __call__(self, annotated: AnnotatedDocument) -> Mentions:
        """Proposed and gold mentions in text order; gold ones that are proposed have the proposed types."""
        found = self.pipeline.predict(annotated.document, TEACHER_SETTINGS).mentions
        found = found.at(np.flatnonzero(found.scores >= self.least))
        gold = given_of(annotated, self.pipeline.labels).mentions
        known = set(map(tuple, found.spans.tolist()))
        missed = [row for row, span in enumerate(gold.spans.tolist()) if tuple(span) not in known]
        return _in_order(found, gold.at(np.array(missed, dtype=np.int64)))


def _in_order(one: Mentions, other: Mentions) -> Mentions:
    spans = np.concatenate([one.spans, other.spans])
    order = np.lexsort((spans[:, 1], spans[:, 0]))
    types = np.concatenate([one.types, other.types])[order]
    return Mentions(spans[order], types, types, np.ones(len(spans), dtype=np.bool_))
