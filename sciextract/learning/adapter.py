"""An adapter: heads on the states of a bundled encoder, trained on what a person has decided, that predict as a model does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciextract.documents.annotations import ALL_LAYERS, Annotations, Layer
from sciextract.documents.document import ADAPTER, AnnotatedDocument, Document, ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.inference.candidates import antecedent_pairs, span_mask
from sciextract.inference.coreference import (
    AntecedentScores,
    PredictedCluster,
    antecedent_probabilities,
    predict_clusters,
)
from sciextract.inference.label_layout import RelationLayout
from sciextract.inference.mentions import Mentions, select_mentions
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.pipeline import Labels, RawPrediction
from sciextract.inference.relations import predict_relations, rescued
from sciextract.inference.results import annotated
from sciextract.inference.settings import PLAIN, TASKS, UNMOVED, DecodeSettings, PerTask
from sciextract.learning.entities import EntityModel, learn_entities, supervised
from sciextract.learning.head import Training, one_core
from sciextract.learning.pairs import (
    LinkModel,
    MentionStates,
    RelationModel,
    learn_links,
    learn_relations,
)
from sciextract.learning.spans import Words
from sciextract.learning.states import EncoderStates
from sciextract.retraining.snapshot.documents import TrainingDocument

THRESHOLDS = PerTask(0.15, 0.4, 0.4)
"""Least probabilities of labels that the bundled model does not know.

That of entities is low because it costs few keys: a wrong suggestion is rejected or moved with one or two, a missed
entity takes four (docs/learning.md).
"""


FROM_SCRATCH = Training()
CORRECTING = Training(rate=5e-4, epochs=6, least_steps=60)
"""How a head is trained that starts from the bundled model's own scores: gently, for it knows more than a few abstracts."""


@dataclass(frozen=True, slots=True)
class Heads:
    """One head for each layer."""

    entities: EntityModel
    relations: RelationModel
    links: LinkModel


@dataclass(frozen=True, slots=True)
class Adapter:
    """Predicts documents like an :class:`~sciextract.inference.extractor.Extractor`, with the labels of a schema.

    Until it has learned something, it predicts what the bundled model does, as far as the labels are the same.

    Attributes:
        states: The encoder.
        config: Labels and thresholds.
        heads: The trained heads.
        untrained: The heads before training, which say what the bundled model says.
        finished: How many abstracts it was trained on.
        layers: The layers that the trained heads are used for. The others are the bundled model's own predictions;
            while entities are used, its relations and clusters as far as they lie between mentions of the adapter.
            Where the model has labels that the schema lacks, the untrained heads predict all that is off.
    """

    states: EncoderStates
    config: ModelConfig
    heads: Heads
    untrained: Heads
    finished: int
    layers: frozenset[Layer] = ALL_LAYERS

    @property
    def model(self) -> ModelId:
        """Name and hash of the bundled model, marked as adapted."""
        return replace(self.states.extractor.model, variant=ADAPTER)

    def only(self, layers: Iterable[Layer]) -> Adapter:
        """The same adapter, used for some layers only."""
        return replace(self, layers=frozenset(layers))

    def predict(self, document: Document) -> AnnotatedDocument:
        """Entities, relations and clusters of a document, with scores and candidates."""
        if Layer.ENTITIES not in self.layers and self._model_fits:
            return self._on_own_entities(document)
        with one_core():
            words = Words.of(self.states.of(document))
            raw = self._raw(words, self._mentions(words, self.config.settings.plain))
        settings = self.config.settings
        found = annotated(words.document, raw, self.config.labels, settings, self.model)
        off = {Layer.RELATIONS, Layer.COREFERENCE} - self.layers
        if off and self._model_fits:
            _, _, own = self._own(document, words)
            return AnnotatedDocument(document, _between(found.annotations, own, off), self.model)
        return replace(found, document=document)

    def stream(self, documents: Iterable[Document]) -> Iterator[AnnotatedDocument]:
        """Predicts documents in order, in constant memory."""
        return map(self.predict, documents)

    @property
    def _model_fits(self) -> bool:
        """Whether the bundled model predicts no labels but those of the schema."""
        own, labels = self.states.extractor.pipeline.labels, self.config.labels
        return set(own.entities) <= set(labels.entities) and set(own.relations.labels) <= set(
            labels.relations.labels
        )

    def _on_own_entities(self, document: Document) -> AnnotatedDocument:
        """The bundled model's own result, with relations and clusters of the layers that are used.

        The heads see rounded states, so what is off is never computed from them.
        """
        words = Words.of(self.states.of(document))
        seen, its, merged = self._own(document, words)
        labels, own_labels = self.config.labels, self.states.extractor.pipeline.labels
        if self.layers:
            columns = [0, *(1 + labels.entities.index(each) for each in own_labels.entities)]
            types = np.zeros((len(its.mentions), 1 + len(labels.entities)), np.float32)
            types[:, columns] = its.mentions.types
            with one_core():
                raw = self._raw(words, replace(its.mentions, types=types, features=types))
            spans = its.mentions.spans[its.mentions.predicted].tolist()
            places = [(first, last) for first, last in spans]
            given = dict(zip(places, merged.entities, strict=True))
            used = annotated(seen, raw, labels, self.config.settings, self.model, given).annotations
            considered, others = merged.candidates, used.candidates
            assert considered is not None and others is not None
            if Layer.RELATIONS in self.layers:
                considered = replace(considered, pairs=others.pairs)
                merged = replace(merged, relations=used.relations)
            if Layer.COREFERENCE in self.layers:
                considered = replace(considered, links=others.links)
                merged = replace(merged, clusters=used.clusters)
            merged = replace(merged, candidates=considered)
        return AnnotatedDocument(document, merged, self.model)

    def _own(self, document: Document, words: Words) -> tuple[Document, RawPrediction, Annotations]:
        """What the bundled model itself predicts, computed from the text: the states are rounded."""
        extractor = self.states.extractor.with_settings(candidates=True)
        pipeline = extractor.pipeline
        # Ids depend on the key, and the states may have been computed of the same text under another one.
        seen = replace(words.document, doc_key=document.doc_key)
        [its] = pipeline.predict_batch([seen], extractor.settings, extractor.batching)
        own = annotated(seen, its, pipeline.labels, extractor.settings, extractor.model)
        return seen, its, own.annotations

    def _raw(self, words: Words, mentions: Mentions) -> RawPrediction:
        pipeline, settings = self.states.extractor.pipeline, self.config.settings.plain
        found = MentionStates.of(words, mentions.spans, pipeline)
        relations = (
            self.heads.relations if Layer.RELATIONS in self.layers else self.untrained.relations
        )
        names = [self.config.labels.entities[each] for each in mentions.labels.tolist()]
        pairs = relations.scored(found, names, pipeline)
        if Layer.ENTITIES in self.layers or not self._model_fits:
            mentions = rescued(mentions, pairs, settings)
        between = pairs.between(mentions.predicted)
        layout = self.config.labels.relations
        related = predict_relations(between, layout, settings.thresholds.relation)
        links, clusters = self._clusters(words, mentions, settings)
        return RawPrediction(mentions, related, clusters, pairs, links)

    def _mentions(self, words: Words, settings: DecodeSettings) -> Mentions:
        model = self.heads.entities if Layer.ENTITIES in self.layers else self.untrained.entities
        allowed = span_mask(words.ends, model.labels.max_span_width)
        return select_mentions(model.logits(words), allowed, settings)

    def _clusters(
        self, words: Words, mentions: Mentions, settings: DecodeSettings
    ) -> tuple[AntecedentScores, list[PredictedCluster]]:
        rows = np.flatnonzero(mentions.predicted)
        pairs = antecedent_pairs(len(rows), settings.max_antecedents)
        if not self.config.labels.coreference or not len(pairs):
            return AntecedentScores.none(), []
        pipeline = self.states.extractor.pipeline
        links = self.heads.links if Layer.COREFERENCE in self.layers else self.untrained.links
        found = MentionStates.of(words, mentions.spans[rows], pipeline)
        scored = antecedent_probabilities(
            pairs, links.scores(found, pairs, pipeline), len(rows), 1.0
        )
        clusters = predict_clusters(scored, len(rows), settings.thresholds.coreference)
        return scored.renumbered(rows), [each.renumbered(rows) for each in clusters]


def _between(shown: Annotations, own: Annotations, off: set[Layer]) -> Annotations:
    """Annotations whose layers that are off are another's own, as far as they lie between mentions that are shown.

    Mentions are the same where their spans are, whatever their labels.
    """
    there = {each.fragments: each.id for each in shown.entities}
    ids = {each.id: there[each.fragments] for each in own.entities if each.fragments in there}
    spans = {each.span for each in shown.entities}
    considered, others = shown.candidates, own.candidates
    assert considered is not None and others is not None
    if Layer.RELATIONS in off:
        related = tuple(
            replace(each, head=ids[each.head], tail=ids[each.tail])
            for each in own.relations
            if each.head in ids and each.tail in ids
        )
        pairs = tuple(each for each in others.pairs if {each.head, each.tail} <= spans)
        shown = replace(shown, relations=related)
        considered = replace(considered, pairs=pairs)
    if Layer.COREFERENCE in off:
        left = [each.only(ids) for each in own.clusters]
        clusters = tuple(
            replace(each, mentions=tuple(ids[mention] for mention in each.mentions))
            for each in left
            if len(each.mentions) > 1
        )
        links = tuple(each for each in others.links if {each.mention, each.antecedent} <= spans)
        shown = replace(shown, clusters=clusters)
        considered = replace(considered, links=links)
    return replace(shown, candidates=considered)


def learn(
    finished: Sequence[TrainingDocument],
    schema: LabelSchema,
    states: EncoderStates,
) -> Adapter:
    """Train an adapter.

    Equal calls give equal adapters on one machine; nothing is written anywhere. Once the states are known, entities
    take about 1 s of one core for 20 abstracts and 2 s for 100, and with relations 1.5 s and 3.5 s
    (docs/learning.md).

    Args:
        finished: Abstracts with what a person has decided; what says nothing to a retraining says nothing here
            (:mod:`sciextract.retraining.snapshot.supervision`). With none, the adapter predicts as the bundled
            model does.
        schema: The labels to predict.
        states: The encoder, and states of documents that are known already.
    """
    config = config_of(schema, states.extractor.config)
    with one_core():
        nothing = _trained([], config, states)
        heads = _trained(finished, config, states) if finished else nothing
    wide = replace(config, labels=heads.entities.labels)
    return Adapter(states, wide, heads, nothing, len(finished))


def _trained(
    finished: Sequence[TrainingDocument],
    config: ModelConfig,
    states: EncoderStates,
) -> Heads:
    pipeline, labels = states.extractor.pipeline, config.labels
    abstracts = [
        supervised(Words.of(states.of(each.annotated.document)), each, labels.entities)
        for each in finished
    ]
    known = set(labels.entities) <= set(pipeline.labels.entities)
    training = CORRECTING if known else FROM_SCRATCH
    entities = learn_entities(abstracts, labels, pipeline.labels, states.hidden, training)
    # Where the model relates and links by itself, a few abstracts made it worse (docs/learning.md): it stays as it is.
    known = set(labels.relations.labels) <= set(pipeline.labels.relations.labels)
    related = [] if known else abstracts
    linked = [] if pipeline.labels.coreference else abstracts
    relations = learn_relations(
        related, labels.entities, labels.relations, pipeline, entities.projection, FROM_SCRATCH
    )
    links = learn_links(linked, pipeline, config.settings.max_antecedents)
    return Heads(entities, relations, links)


def config_of(schema: LabelSchema, base: ModelConfig) -> ModelConfig:
    """Labels of a schema with the thresholds of the bundled model for the layers whose labels it knows all."""
    entities = set(schema.entity_labels) <= set(base.labels.entities)
    relations = set(schema.relation_labels) <= set(base.labels.relations.labels)
    labels = Labels(
        tuple(schema.entity_labels),
        RelationLayout(tuple(schema.relation_labels), frozenset(schema.symmetric_labels)),
        schema.coreference,
        base.labels.max_span_width,
    )
    own = base.settings
    known = PerTask(float(entities), float(relations), float(base.labels.coreference))

    def chosen(theirs: PerTask, others: PerTask) -> PerTask:
        pairs = ((getattr(theirs, t), getattr(others, t), getattr(known, t)) for t in TASKS)
        return PerTask(*(one if is_known else other for one, other, is_known in pairs))

    settings = replace(
        own,
        thresholds=chosen(own.thresholds, THRESHOLDS),
        temperatures=chosen(own.temperatures, PLAIN),
        shifts=chosen(own.shifts, UNMOVED),
        rescue=own.rescue if entities and relations else None,
        candidates=True,
        only=frozenset(),
    )
    return replace(base, labels=labels, schema_name=schema.name, settings=settings)
