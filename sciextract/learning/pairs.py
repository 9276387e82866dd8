"""What finished abstracts teach the heads that predict relations and coreference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciextract.documents.annotations import Layer
from sciextract.inference.adapter.pairs import (
    PAIR_ROLES,
    LinkModel,
    MentionStates,
    RelationModel,
    first_link_weights,
    first_relation_weights,
    link_features,
    relation_features,
    relation_states,
    sentence_pairs,
)
from sciextract.inference.adapter.spans import Place
from sciextract.inference.candidates import antecedent_pairs
from sciextract.inference.decoding import RelationLayout
from sciextract.inference.network import Floats, Ints
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.learning.entities import Supervised
from sciextract.learning.head import Examples, HeadTraining
from sciextract.snapshot.documents import Verdict


def learn_relations(
    abstracts: Sequence[Supervised], labels: Labels, pipeline: Pipeline, projection: Floats
) -> RelationModel:
    """Train the relation head on the pairs of positive mentions in finished abstracts."""
    training, layout = HeadTraining(), labels.relations
    examples = [
        _relation_examples(abstract, labels, pipeline, projection)
        for abstract in (abstracts if layout.labels else ())
    ]
    parts = [example for example in examples if example is not None]
    first = first_relation_weights(layout, pipeline.labels.relations, len(labels.entities))
    head = training.untrained(PAIR_ROLES * projection.shape[1], first)
    if parts:
        training.fit(head, Examples.join(parts))
    return RelationModel(head, layout, labels.entities, projection)


def _relation_examples(
    abstract: Supervised, labels: Labels, pipeline: Pipeline, projection: Floats
) -> Examples | None:
    """Decided pairs of an abstract, and all others where its relations are complete; ``None`` where there are none."""
    layout = labels.relations
    classes = _pair_classes(abstract, layout)
    places = sorted(set(abstract.labelled.values()))
    found = MentionStates.of(abstract.words, _spans(places), pipeline)
    pairs = sentence_pairs(found)
    if not len(pairs):
        return None
    base = found.base_relations(pairs, pipeline)
    keyed = [(places[a], places[b]) for a, b in base.pairs.tolist()]
    default = 0 if Layer.RELATIONS in abstract.example.complete else -1
    numbers = np.array([classes.get(key, default) for key in keyed])
    rows = np.flatnonzero(numbers >= 0)
    if not len(rows):
        return None
    known = (abstract.classes.get(place, 0) for place in places)
    names = [labels.entities[number - 1] if number > 0 else "" for number in known]
    narrow = relation_features(found, base, names, labels.entities)[rows]
    wide = relation_states(found, base.pairs, projection)[rows]
    targets = np.eye(layout.class_count, dtype=np.float32)[numbers[rows]]
    unsought = abstract.example.uncovered_labels(Layer.RELATIONS)
    late = [layout.forward_class(name) for name in layout.labels if name in unsought]
    late += [int(layout.mirror()[number]) for number in late]
    targets[np.ix_(numbers[rows] == 0, late)] = 1
    return Examples(wide, narrow, targets, np.ones(len(rows), np.float32))


def _spans(places: Sequence[Place]) -> Ints:
    return np.array(places, np.int64).reshape(-1, 2)


def _pair_classes(abstract: Supervised, layout: RelationLayout) -> dict[tuple[Place, Place], int]:
    """The class of each decided pair, the earlier mention first; -1 for one that says nothing."""
    classes: dict[tuple[Place, Place], int] = {}
    for relation in abstract.example.annotated.annotations.relations:
        head, tail = abstract.labelled.get(relation.head), abstract.labelled.get(relation.tail)
        if head is None or tail is None:
            continue
        pair = (min(head, tail), max(head, tail))
        verdict = abstract.verdicts.relations[relation.id]
        if verdict is Verdict.POSITIVE and relation.label in layout.labels:
            number = layout.forward_class(relation.label)
            if tail < head:
                number = int(layout.mirror()[number])
            if classes.get(pair, 0) <= 0:
                classes[pair] = number
        elif verdict is Verdict.NEGATIVE:
            classes.setdefault(pair, 0)
        elif classes.get(pair, 0) <= 0:
            classes[pair] = -1
    return classes


_LINK_RATE, _LINK_STEPS, _LINK_DECAY = 0.02, 150, 0.1


def learn_links(abstracts: Sequence[Supervised], pipeline: Pipeline, most: int) -> LinkModel:
    """Fit the weights: marginal likelihood of the right antecedents (Lee et al. 2017, section 5), pulled to the model's.

    Args:
        abstracts: Finished abstracts.
        pipeline: The bundled model.
        most: Earlier mentions that a mention is compared with.
    """
    first = first_link_weights()
    parts: list[tuple[Floats, Ints, Floats, Floats]] = []
    mentions = 0
    for abstract in abstracts:
        taken = _link_examples(abstract, pipeline, most)
        if taken is not None:
            features, owner, right, alone = taken
            parts.append((features, owner + mentions, right, alone))
            mentions += len(alone)
    if not parts:
        return LinkModel(first)
    features, owner, right, alone = map(np.concatenate, zip(*parts, strict=True))
    weights = first.copy()
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    # As that of a prior: from 200 mentions on it counts less the more is known.
    pull = np.float32(_LINK_DECAY * min(1.0, 200 / mentions))
    for step in range(_LINK_STEPS):
        scores = np.exp(np.clip(features @ weights, -20, 20))
        total = 1 + np.bincount(owner, scores, mentions)
        good = alone + np.bincount(owner, scores * right, mentions) + 1e-9
        error = scores / total[owner] - scores * right / good[owner]
        gradient = (error.astype(np.float32) @ features) / mentions
        mean += np.float32(0.1) * (gradient - mean)
        square += np.float32(0.01) * (gradient**2 - square)
        corrected = np.sqrt(square / np.float32(1 - 0.99 ** (step + 1))) + np.float32(1e-8)
        rate = np.float32(_LINK_RATE * (1 - step / _LINK_STEPS))
        weights -= rate * (mean / np.float32(1 - 0.9 ** (step + 1)) / corrected)
        weights -= rate * pull * (weights - first)
    return LinkModel(weights)


def _link_examples(
    abstract: Supervised, pipeline: Pipeline, most: int
) -> tuple[Floats, Ints, Floats, Floats] | None:
    """Links with known answers: features, the mention of each, whether it is right; per mention whether "none" is."""
    places = sorted(set(abstract.labelled.values()))
    links = antecedent_pairs(len(places), most)
    known: dict[tuple[Place, Place], Verdict] = {}
    for (one, other), verdict in abstract.verdicts.pairs.items():
        if one in abstract.labelled and other in abstract.labelled:
            pair = tuple(sorted((abstract.labelled[one], abstract.labelled[other])))
            # Several entities may lie in one place: if any two of them belong together, the places do.
            if known.get((pair[0], pair[1])) is not Verdict.POSITIVE:
                known[pair[0], pair[1]] = verdict
    default = Verdict.NEGATIVE if Layer.COREFERENCE in abstract.example.complete else Verdict.MASKED
    answers = [known.get((places[b], places[a]), default) for a, b in links.tolist()]
    rows = np.flatnonzero([answer is not Verdict.MASKED for answer in answers])
    if not len(rows):
        return None
    found = MentionStates.of(abstract.words, _spans(places), pipeline)
    features = link_features(found, links[rows], pipeline)
    right = np.array([answers[row] is Verdict.POSITIVE for row in rows.tolist()], np.float32)
    numbers, owner = np.unique(links[rows, 0], return_inverse=True)
    alone = (np.bincount(owner, right, len(numbers)) == 0).astype(np.float32)
    return features, owner.astype(np.int64), right, alone
