"""An adapter: heads on the encoder of another model, the base, that predict labels of their own as a pipeline does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.annotations import ALL_LAYERS, Annotations, Layer
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.inference.adapter.entities import EntityModel, first_span_weights
from sciextract.inference.adapter.head import Head, one_core
from sciextract.inference.adapter.pairs import (
    PAIR_ROLES,
    LinkModel,
    MentionStates,
    RelationModel,
    first_link_weights,
    first_relation_weights,
)
from sciextract.inference.adapter.spans import COMPONENTS, ROLES, Memory, Words
from sciextract.inference.adapter.states import EncodedDocument
from sciextract.inference.batching import SINGLE, Batching
from sciextract.inference.candidates import antecedent_pairs, span_mask
from sciextract.inference.decoding import (
    AntecedentScores,
    Mentions,
    PredictedCluster,
    antecedent_probabilities,
    predict_clusters,
    predict_relations,
    rescue_mentions,
    select_mentions,
    without_classes,
)
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Labels, Pipeline, RawPrediction
from sciextract.inference.results import annotate_raw
from sciextract.inference.settings import DecodeSettings

Encode = Callable[[Sequence[Document], Batching], list[EncodedDocument]]


@dataclass(frozen=True, slots=True)
class Heads:
    """One head for each layer."""

    entities: EntityModel
    relations: RelationModel
    links: LinkModel

    @staticmethod
    def untrained(labels: Labels, base: Labels, hidden: int) -> Heads:
        """Heads that say what the base says, as far as the labels are the same.

        Args:
            labels: What they predict.
            base: The labels of the base.
            hidden: Length of a state.
        """
        names, layout = labels.entities, labels.relations
        projection = np.eye(hidden, COMPONENTS, dtype=np.float32)
        of_spans = first_span_weights(labels, base)
        of_pairs = first_relation_weights(layout, base.relations, len(names))
        spans = Head.untrained(ROLES * COMPONENTS, of_spans)
        pairs = Head.untrained(PAIR_ROLES * COMPONENTS, of_pairs)
        entities = EntityModel(spans, Memory(1 + len(names)), labels, projection)
        relations = RelationModel(pairs, layout, names, projection)
        return Heads(entities, relations, LinkModel(first_link_weights()))


@dataclass(frozen=True, slots=True)
class Adapter:
    """Predicts with the labels of its heads.

    Attributes:
        base: The base's network, tokenizer and labels.
        base_model: Its name and hash.
        base_config: Its configuration.
        heads: The trained heads.
        untrained: The heads before training, which say what the base says.
        encode: The states of documents as the base sees them.
        layers: The layers that the trained heads are used for. The others are the base's own predictions; while
            entities are used, its relations and clusters as far as they lie between mentions of the adapter. Where
            the base has labels that the adapter lacks, the untrained heads predict all that is off.
    """

    base: Pipeline
    base_model: ModelId
    base_config: ModelConfig
    heads: Heads
    untrained: Heads
    encode: Encode
    layers: frozenset[Layer] = ALL_LAYERS

    @property
    def labels(self) -> Labels:
        """What the heads predict."""
        return self.heads.entities.labels

    @property
    def _base_fits(self) -> bool:
        """Whether the base predicts no labels but the adapter's."""
        own, labels = self.base.labels, self.labels
        return set(own.entities) <= set(labels.entities) and set(own.relations.labels) <= set(
            labels.relations.labels
        )

    def only(self, layers: Iterable[Layer]) -> Adapter:
        """The same adapter, used for some layers only."""
        return replace(self, layers=frozenset(layers))

    def annotate(
        self,
        documents: Sequence[Document],
        settings: DecodeSettings,
        batching: Batching,
        model: ModelId,
    ) -> list[AnnotatedDocument]:
        """Entities, relations and clusters of documents as the base sees them.

        Args:
            documents: The documents.
            settings: Thresholds, and whether candidates are reported.
            batching: Which windows share a call of the encoder.
            model: Recorded as the source of what the heads predict.
        """
        with one_core():
            both = zip(documents, map(Words.of, self.encode(documents, batching)), strict=True)
            return [self._annotate(document, words, settings, model) for document, words in both]

    def predict_batch(
        self,
        documents: Sequence[Document],
        settings: DecodeSettings,
        batching: Batching = SINGLE,
        given: Sequence[Mentions] | None = None,
    ) -> list[RawPrediction]:
        """What the heads predict; see :meth:`~sciextract.inference.pipeline.Pipeline.predict_batch`."""
        settings = settings.plain
        with one_core():
            found = []
            for row, encoded in enumerate(self.encode(documents, batching)):
                words = Words.of(encoded)
                mentions = given[row] if given else self._mentions(words, settings)
                found.append(self._raw(words, mentions, settings))
        return found

    def _annotate(
        self, document: Document, words: Words, settings: DecodeSettings, model: ModelId
    ) -> AnnotatedDocument:
        if Layer.ENTITIES not in self.layers and self._base_fits:
            return self._on_own_entities(document, words, settings, model)
        raw = self._raw(words, self._mentions(words, settings.plain), settings.plain)
        found = annotate_raw(document, raw, self.labels, settings, model)
        off = {Layer.RELATIONS, Layer.COREFERENCE} - self.layers
        if off and self._base_fits:
            _, own = self._own(document, settings)
            between = _between(found.annotations, own)
            return AnnotatedDocument(document, _with_layers(found.annotations, between, off), model)
        return found

    def _on_own_entities(
        self, document: Document, words: Words, settings: DecodeSettings, model: ModelId
    ) -> AnnotatedDocument:
        """The base's own result, with relations and clusters of the layers that are used.

        The heads see rounded states, so what is off is never computed from them.
        """
        its, merged = self._own(document, settings)
        labels = self.labels
        if self.layers:
            columns = [0, *(1 + labels.entities.index(name) for name in self.base.labels.entities)]
            types = np.zeros((len(its.mentions), 1 + len(labels.entities)), np.float32)
            types[:, columns] = its.mentions.types
            mentions = replace(its.mentions, types=types)
            raw = self._raw(words, mentions, settings.plain)
            spans = its.mentions.spans[its.mentions.predicted].tolist()
            places = [(first, last) for first, last in spans]
            given = dict(zip(places, merged.entities, strict=True))
            used = annotate_raw(document, raw, labels, settings, model, given).annotations
            merged = _with_layers(merged, used, self.layers)
        return AnnotatedDocument(document, merged, model)

    def _own(
        self, document: Document, settings: DecodeSettings
    ) -> tuple[RawPrediction, Annotations]:
        """What the base itself predicts, computed from the text: the states are rounded."""
        own = replace(self.base_config.settings, candidates=settings.candidates, only=settings.only)
        [its] = self.base.predict_batch([document], own)
        return its, annotate_raw(document, its, self.base.labels, own, self.base_model).annotations

    def _raw(self, words: Words, mentions: Mentions, settings: DecodeSettings) -> RawPrediction:
        found = MentionStates.of(words, mentions.spans, self.base)
        relations = self._heads_of(Layer.RELATIONS).relations
        names = [self.labels.entities[number] for number in mentions.labels.tolist()]
        pairs = relations.score(found, names, self.base)
        if Layer.ENTITIES in self.layers or not self._base_fits:
            mentions = rescue_mentions(mentions, pairs, settings)
        between = pairs.between(mentions.predicted)
        related = predict_relations(between, self.labels.relations, settings.thresholds.relation)
        links, clusters = self._clusters(words, mentions, settings)
        return RawPrediction(mentions, related, clusters, pairs, links)

    def _heads_of(self, layer: Layer) -> Heads:
        return self.heads if layer in self.layers else self.untrained

    def _mentions(self, words: Words, settings: DecodeSettings) -> Mentions:
        model = self._heads_of(Layer.ENTITIES).entities
        allowed = span_mask(words.ends, model.labels.max_span_width)
        unwanted = model.labels.classes_without(settings.only)
        return select_mentions(without_classes(model.logits(words), unwanted), allowed, settings)

    def _clusters(
        self, words: Words, mentions: Mentions, settings: DecodeSettings
    ) -> tuple[AntecedentScores, list[PredictedCluster]]:
        rows = np.flatnonzero(mentions.predicted)
        pairs = antecedent_pairs(len(rows), settings.max_antecedents)
        if not self.labels.coreference or not len(pairs):
            return AntecedentScores.none(), []
        links = self._heads_of(Layer.COREFERENCE).links
        found = MentionStates.of(words, mentions.spans[rows], self.base)
        scores = links.scores(found, pairs, self.base)
        scored = antecedent_probabilities(pairs, scores, len(rows))
        clusters = predict_clusters(scored, len(rows), settings.thresholds.coreference)
        return scored.renumbered(rows), [cluster.renumbered(rows) for cluster in clusters]


def _with_layers(shown: Annotations, other: Annotations, layers: Collection[Layer]) -> Annotations:
    """Annotations with relations and clusters, and what was considered for them, of others in some layers."""
    considered, others = shown.candidates, other.candidates
    if Layer.RELATIONS in layers:
        shown = replace(shown, relations=other.relations)
        if considered and others:
            considered = replace(considered, pairs=others.pairs)
    if Layer.COREFERENCE in layers:
        shown = replace(shown, clusters=other.clusters)
        if considered and others:
            considered = replace(considered, links=others.links)
    return replace(shown, candidates=considered)


def _between(shown: Annotations, own: Annotations) -> Annotations:
    """What is shown with another's relations and clusters, as far as these lie between mentions that are shown.

    Mentions are the same where their spans are, whatever their labels.
    """
    there = {entity.fragments: entity.id for entity in shown.entities}
    ids = {
        entity.id: there[entity.fragments] for entity in own.entities if entity.fragments in there
    }
    spans = {entity.span for entity in shown.entities}
    related = tuple(
        replace(relation, head=ids[relation.head], tail=ids[relation.tail])
        for relation in own.relations
        if relation.head in ids and relation.tail in ids
    )
    left = [cluster.only(ids) for cluster in own.clusters]
    clusters = tuple(
        replace(cluster, mentions=tuple(ids[mention] for mention in cluster.mentions))
        for cluster in left
        if len(cluster.mentions) > 1
    )
    considered = own.candidates
    if considered:
        pairs = tuple(pair for pair in considered.pairs if {pair.head, pair.tail} <= spans)
        links = tuple(link for link in considered.links if {link.mention, link.antecedent} <= spans)
        considered = replace(considered, pairs=pairs, links=links)
    return replace(shown, relations=related, clusters=clusters, candidates=considered)
