"""Learning an adapter from what a person has decided: seconds, no PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sciextract.documents.annotations import ALL_LAYERS
from sciextract.documents.document import ADAPTER
from sciextract.documents.schema import LabelSchema
from sciextract.inference.adapter.entities import EntityModel
from sciextract.inference.adapter.head import one_core
from sciextract.inference.adapter.model import Adapter, Heads
from sciextract.inference.adapter.spans import Words
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_config import AdapterBase, ModelConfig
from sciextract.inference.pipeline import Labels
from sciextract.inference.settings import PLAIN, TASKS, UNMOVED, PerTask
from sciextract.learning.entities import Supervised, learn_entities, read_supervision
from sciextract.learning.head import HeadTraining
from sciextract.learning.pairs import learn_links, learn_relations
from sciextract.snapshot.documents import TrainingDocument

# Least probabilities of labels that the bundled model does not know.
#
# Of suggestions that of entities is low because it costs few keys: a wrong suggestion is rejected or moved with one or
# two, a missed entity takes four. What a model writes begins where F1 is highest (research/notes/learning.md).
SUGGESTED = PerTask(0.15, 0.4, 0.4)
WRITTEN = PerTask(0.25, 0.25, 0.4)

FROM_SCRATCH = HeadTraining()
# How a head is trained that starts from the bundled model's own scores: gently, for it knows more than a few abstracts.
CORRECTING = HeadTraining(rate=5e-4, epochs=6, least_steps=60)


def learn(
    finished: Sequence[TrainingDocument],
    schema: LabelSchema,
    states: EncoderStates,
    thresholds: PerTask = SUGGESTED,
) -> Extractor:
    """Train an adapter: an extractor with the labels of a schema, on the encoder of another one.

    Equal calls give equal adapters on one machine; nothing is written anywhere. Once the states are known, entities
    take about 0.4 s of one core for 20 abstracts and 1.1 s for 100, and with relations 0.6 s and 1.7 s
    (research/notes/learning.md).

    Args:
        finished: Abstracts with what a person has decided; what says nothing to a retraining says nothing here
            (:mod:`sciextract.snapshot.documents`). With none, the adapter predicts as the bundled
            model does.
        schema: The labels to predict.
        states: The encoder, and states of documents that are known already. The adapter asks it for all others.
        thresholds: Those of layers whose labels the encoder's model does not know.
    """
    base = states.extractor
    config = config_of(schema, base.config, thresholds)
    untrained = Heads.untrained(config.labels, base.pipeline.labels, states.hidden)
    with one_core():
        heads = _train(finished, config, states) if finished else untrained
    layers = tuple(sorted(layer.value for layer in ALL_LAYERS))
    about = AdapterBase(base.model.name, base.model.hash, layers, len(finished))
    wide = replace(config, labels=heads.entities.labels, adapter=about)
    adapter = Adapter(base.pipeline, base.model, base.config, heads, untrained, states.all_of)
    return base.with_adapter(adapter, wide, replace(base.model, variant=ADAPTER))


def learn_types(
    finished: Sequence[TrainingDocument], schema: LabelSchema, states: EncoderStates
) -> EntityModel:
    """The head of :func:`learn` that says which types spans have, alone."""
    config = config_of(schema, states.extractor.config, SUGGESTED)
    with one_core():
        return _learn_entities(finished, config.labels, states)[1]


def _learn_entities(
    finished: Sequence[TrainingDocument], labels: Labels, states: EncoderStates
) -> tuple[list[Supervised], EntityModel]:
    base = states.extractor.pipeline.labels
    abstracts = [
        read_supervision(
            Words.of(states.of(document.annotated.document)), document, labels.entities
        )
        for document in finished
    ]
    known = set(labels.entities) <= set(base.entities)
    training = CORRECTING if known else FROM_SCRATCH
    return abstracts, learn_entities(abstracts, labels, base, states.hidden, training)


def _train(
    finished: Sequence[TrainingDocument], config: ModelConfig, states: EncoderStates
) -> Heads:
    pipeline, labels = states.extractor.pipeline, config.labels
    abstracts, entities = _learn_entities(finished, labels, states)
    # Where the model relates and links by itself, a few abstracts made it worse (research/notes/learning.md): it stays as it is.
    known = set(labels.relations.labels) <= set(pipeline.labels.relations.labels)
    related = [] if known else abstracts
    linked = [] if pipeline.labels.coreference else abstracts
    relations = learn_relations(related, labels, pipeline, entities.projection)
    links = learn_links(linked, pipeline, config.settings.max_antecedents)
    return Heads(entities, relations, links)


def config_of(schema: LabelSchema, base: ModelConfig, thresholds: PerTask) -> ModelConfig:
    """Labels of a schema with the thresholds of the bundled model for the layers whose labels it knows all."""
    entities = set(schema.entity_labels) <= set(base.labels.entities)
    relations = set(schema.relation_labels) <= set(base.labels.relations.labels)
    untyped = ("",) if "" in base.labels.entities and schema.coreference else ()
    layout = RelationLayout(tuple(schema.relation_labels), frozenset(schema.symmetric_labels))
    names, width = (*schema.entity_labels, *untyped), base.labels.max_span_width
    labels = Labels(names, layout, schema.coreference, width)
    own = base.settings
    known = PerTask(float(entities), float(relations), float(base.labels.coreference))

    def chosen(theirs: PerTask, others: PerTask) -> PerTask:
        pairs = ((getattr(theirs, t), getattr(others, t), getattr(known, t)) for t in TASKS)
        return PerTask(*(one if is_known else other for one, other, is_known in pairs))

    settings = replace(
        own,
        thresholds=chosen(own.thresholds, thresholds),
        temperatures=chosen(own.temperatures, PLAIN),
        shifts=chosen(own.shifts, UNMOVED),
        rescue=own.rescue if entities and relations else None,
        candidates=True,
        only=frozenset(),
    )
    taught = replace(base, labels=labels, settings=settings, scores={}, origin={})
    return replace(taught, schema_name=schema.name, schema_hash=schema.content_hash)
