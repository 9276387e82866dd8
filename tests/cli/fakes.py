"""A model made of a rule, so that the command line is tested without trained weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby, pairwise
from typing import Any

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    Relation,
    SpanCandidate,
    stable_id,
)
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.inference.batching import DEFAULT_OPTIONS, RunOptions
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Labels
from sciextract.inference.settings import DecodeSettings

MODEL = ModelId("fake", "f" * 64)
SCIERC = Labels(
    ("Task", "Method", "Metric", "Material", "OtherScientificTerm", "Generic"),
    RelationLayout(
        (
            *("USED-FOR", "FEATURE-OF", "HYPONYM-OF", "PART-OF", "EVALUATE-FOR"),
            *("COMPARE", "CONJUNCTION"),
        ),
        frozenset({"COMPARE", "CONJUNCTION"}),
    ),
    coreference=True,
    max_span_width=8,
)
CONFIG = ModelConfig(
    name="fake",
    labels=SCIERC,
    schema_name="scierc",
    schema_hash="",
    subword_limit=510,
    prefix=(),
    suffix=(),
    unknown=0,
    settings=DecodeSettings(),
)


class RuleExtractor:
    """Every word of six letters or more is a Method used for the next one; equal words mean the same."""

    config = CONFIG

    def __init__(self, model: ModelId = MODEL, candidates: bool = False) -> None:
        self.model = model
        self.candidates = candidates
        self.loaded: dict[str, Any] = {}
        self.thresholds: Mapping[str, float] = {}
        self.only: Collection[str] = ()

    def with_settings(
        self,
        thresholds: Mapping[str, float] | None = None,
        candidates: bool = False,
        only: Collection[str] = (),
    ) -> RuleExtractor:
        self.thresholds, self.candidates, self.only = thresholds or {}, candidates, only
        return self

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        return map(self.annotate, documents)

    def annotate(self, document: Document, /) -> AnnotatedDocument:
        return AnnotatedDocument(document, self._annotations(document), self.model)

    def _annotations(self, document: Document) -> Annotations:
        key, source = document.doc_key, f"model:{self.model}"
        spans = [span for span in document.tokens.spans if len(span.of(document.text)) >= 6]
        entities = [
            Entity(stable_id(key, span.char_start), (span,), "Method", 0.9, source=source)
            for span in spans
        ]
        relations = [
            Relation(stable_id(key, a.id, b.id), a.id, b.id, "USED-FOR", 0.75, source=source)
            for a, b in pairwise(entities)
        ]

        def word(entity: Entity) -> str:
            return entity.text_of(document.text)

        groups = [
            [entity.id for entity in same]
            for _, same in groupby(sorted(entities, key=word), key=word)
        ]
        clusters = [
            Cluster(stable_id(key, *same), tuple(same), 0.5, source=source)
            for same in groups
            if len(same) > 1
        ]
        considered = [SpanCandidate(span, (LabelScore("Method", 0.9),)) for span in spans]
        candidates = Candidates(tuple(considered)) if self.candidates else None
        return Annotations(tuple(entities), tuple(relations), tuple(clusters), candidates)


def install(extractor: RuleExtractor) -> None:
    """Put it in the place of every model."""

    def load(
        _cls: type[Extractor], model: object, options: RunOptions = DEFAULT_OPTIONS, **_: object
    ) -> RuleExtractor:
        extractor.loaded = {"model": model, **asdict(options)}
        return extractor

    Extractor.load = classmethod(load)  # type: ignore[assignment, method-assign, arg-type]
