"""Entities that are given instead of predicted: relations and clusters are looked for between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.annotations import Entity, State
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.inference.mentions import Mentions
from sciextract.inference.network import Floats
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import annotated as with_items
from sciextract.inference.settings import DecodeSettings


@dataclass(frozen=True, slots=True)
class Given:
    """The given entities of one document as the network takes them.

    Attributes:
        mentions: Each word range once, in text order; types are certain.
        entities: By first and last word (inclusive): the first entity there.
        left_out: Entities that touch no word.
        unknown: Labels that the network does not know, with their count; they count as "no type".
    """

    mentions: Mentions
    entities: dict[tuple[int, int], Entity]
    left_out: int
    unknown: dict[str, int]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the result should know."""
        found = []
        if self.left_out:
            found.append(
                f"{self.left_out} given entities touch no word and take no part in relations"
            )
        if self.unknown:
            named = ", ".join(f"{label} ({count})" for label, count in self.unknown.items())
            found.append(f"given entities with types that the model does not know: {named}")
        return tuple(found)


def given_of(annotated: AnnotatedDocument, labels: Labels) -> Given:
    """The entities of a document that nobody rejected, widened to whole words."""
    tokens = annotated.document.tokens
    entities: dict[tuple[int, int], Entity] = {}
    left_out, unknown = 0, Counter[str]()
    for entity in annotated.annotations.entities:
        if entity.state is State.REJECTED:
            continue
        words = tokens.covering(entity.span)
        if words is None:
            left_out += 1
            continue
        entities.setdefault((words.token_start, words.token_end - 1), entity)
        if entity.label and entity.label not in labels.entities:
            unknown[entity.label] += 1
    spans = sorted(entities)
    types = given_types([entities[span].label for span in spans], labels)
    every = np.ones(len(spans), dtype=np.bool_)
    mentions = Mentions(np.array(spans, dtype=np.int64).reshape(-1, 2), types, types, every)
    return Given(mentions, entities, left_out, dict(unknown))


def given_types(names: list[str], labels: Labels) -> Floats:
    """Certain types (names, 1 + labels); class 0, "no entity", where the network does not know the name."""
    classes = [1 + labels.entities.index(name) if name in labels.entities else 0 for name in names]
    return np.eye(1 + len(labels.entities), dtype=np.float32)[np.array(classes, dtype=np.int64)]


def annotate_given(
    pipeline: Pipeline,
    annotated: AnnotatedDocument,
    settings: DecodeSettings,
    model: ModelId | None = None,
) -> AnnotatedDocument:
    """Predicts relations, and clusters where the model links mentions, between the given entities.

    Args:
        pipeline: Network, tokenizer, labels.
        annotated: A document with entities; they stay as they are, its relations and clusters are not read.
        settings: Thresholds.
        model: Recorded as the source of every predicted item.
    """
    given = given_of(annotated, pipeline.labels)
    [raw] = pipeline.predict_batch([annotated.document], settings, given=[given.mentions])
    found = with_items(
        annotated.document, raw, pipeline.labels, settings, model, given=given.entities
    )
    items = replace(found.annotations, entities=annotated.annotations.entities)
    return replace(found, annotations=items, warnings=given.warnings)
