"""How unsure a model is: of one decision, and of a whole abstract."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sciextract.documents.annotations import Annotations, Candidates, Layer, Span, State
from sciextract.store import DocumentState


@dataclass(frozen=True, slots=True)
class Decision:
    """One question to the model.

    Attributes:
        layer: What it is about.
        place: The span, the two spans of a pair in text order, or the mention whose antecedent is asked for.
        probabilities: Of every outcome, summing to one. The first is the rest: "none of them", together with
            all outcomes that a model's candidates leave out, each below the lowest score that is kept (0.05
            unless a model says otherwise).
    """

    layer: Layer
    place: tuple[Span, ...]
    probabilities: tuple[float, ...]


def decisions(candidates: Candidates) -> Iterator[Decision]:
    """All questions of an abstract whose answer was in any doubt.

    A span: which type, or none. A pair of spans: which relation in which direction, or none. A mention: which
    earlier mention it means the same as, or none. A question that left no candidate was answered "none" with
    near certainty; it would add next to nothing to any score here.
    """
    for span in candidates.spans:
        scores = [choice.score for choice in span.labels]
        yield Decision(Layer.ENTITIES, (span.span,), _with_rest(scores))
    # Both directions of a pair together, and all antecedents of a mention: the model has one distribution for them.
    by_pair: dict[tuple[Span, ...], list[float]] = {}
    for pair in candidates.pairs:
        place = tuple(
            sorted((pair.head, pair.tail), key=lambda span: (span.char_start, span.char_end))
        )
        by_pair.setdefault(place, []).extend(choice.score for choice in pair.labels)
    for place, scores in by_pair.items():
        yield Decision(Layer.RELATIONS, place, _with_rest(scores))
    by_mention: dict[Span, list[float]] = {}
    for link in candidates.links:
        by_mention.setdefault(link.mention, []).append(link.score)
    for mention, scores in by_mention.items():
        yield Decision(Layer.COREFERENCE, (mention,), _with_rest(scores))


def _with_rest(scores: Iterable[float]) -> tuple[float, ...]:
    """The outcomes with their rest; rounded scores that exceed one are scaled back to it."""
    listed = tuple(scores)
    total = max(1.0, sum(listed))
    known = tuple(score / total for score in listed)
    return (max(0.0, 1.0 - sum(known)), *known)


# The uncertainty of a distribution: 0 where one outcome is certain.
Measure = Callable[[Sequence[float]], float]
LayerScores = Mapping[Layer, float]


def entropy(probabilities: Sequence[float]) -> float:
    """Shannon's entropy in bits: ``-sum(p * log2(p))`` (Shannon 1948, section 6; Settles 2009, section 3.1).

    >>> entropy([0.5, 0.5])
    1.0
    """
    # Plus 0.0, since minus nothing would be -0.0.
    return -sum(p * math.log2(p) for p in probabilities if p > 0) + 0.0


def margin(probabilities: Sequence[float]) -> float:
    """``1 - (p1 - p2)`` of the two likeliest outcomes (Scheffer, Decomain and Wrobel 2001).

    >>> margin([0.5, 0.5]), margin([1.0])
    (1.0, 0.0)
    """
    first, second, *_ = *sorted(probabilities, reverse=True), 0.0, 0.0
    return 1 - (first - second)


def least_confidence(probabilities: Sequence[float]) -> float:
    """``1 - p1`` of the likeliest outcome (after Lewis and Gale 1994; for many classes Settles 2009, section 3.1).

    >>> least_confidence([0.75, 0.25])
    0.25
    """
    return 1 - max(probabilities)


MEASURES: Mapping[str, Measure] = {
    "entropy": entropy,
    "margin": margin,
    "least-confidence": least_confidence,
}


def per_word(decisions: Iterable[Decision], words: int, measure: Measure) -> dict[Layer, float]:
    """The uncertainty in each layer over all decisions of an abstract, divided by its length.

    Summed only, long abstracts would always come first (Settles and Craven 2008, section 3.1, compare total
    and mean entropy of sequences); a mean over decisions would forget how many there are.

    Args:
        decisions: Those that count.
        words: Tokens of the abstract.
        measure: Of one decision.
    """
    sums = dict.fromkeys(Layer, 0.0)
    for decision in decisions:
        sums[decision.layer] += measure(decision.probabilities)
    return {layer: total / max(1, words) for layer, total in sums.items()}


def over_layers(scores: Sequence[LayerScores]) -> list[float]:
    """One number for each abstract of a pool: the mean over layers, each relative to its mean in the pool.

    ``score(d) = mean over layers l of U_l(d) / mean over pool of U_l``, so that entities, of which there are
    many, do not drown relations and links. An abstract of average uncertainty has 1. A layer of which the
    model is certain throughout the pool is left out.
    """
    means = {layer: sum(doc[layer] for doc in scores) / max(1, len(scores)) for layer in Layer}
    heard = [layer for layer in Layer if means[layer] > 0]
    return [
        sum(abstract[layer] / means[layer] for layer in heard) / len(heard) if heard else 0.0
        for abstract in scores
    ]


Mention = tuple[Span, ...]
Place = tuple[Layer, tuple[Span, ...]]
# What one model predicts, by what it is asked; a question that is not listed is answered "none".
Votes = Mapping[Place, Hashable]
NONE = ""


def votes_of(
    predicted: Annotations, symmetric: frozenset[str] = frozenset()
) -> dict[Place, Hashable]:
    """The answers of one model: the types of spans, relations of pairs, antecedents of mentions.

    Args:
        predicted: What it predicts, thresholds applied.
        symmetric: Relation labels without direction.
    """
    mentions = {entity.id: entity.fragments for entity in predicted.entities}
    votes: dict[Place, Hashable] = {
        (Layer.ENTITIES, entity.fragments): entity.label for entity in predicted.entities
    }
    for relation in predicted.relations:
        head, tail = mentions[relation.head], mentions[relation.tail]
        turned = _start(tail) < _start(head)
        place = (*tail, *head) if turned else (*head, *tail)
        direction = turned and relation.label not in symmetric
        votes[Layer.RELATIONS, place] = (relation.label, direction)
    for cluster in predicted.clusters:
        ordered = sorted((mentions[mention] for mention in cluster.mentions), key=_start)
        for earlier, later in pairwise(ordered):
            votes[Layer.COREFERENCE, later] = earlier
    return votes


def vote_entropy(answers: Sequence[Hashable]) -> float:
    """Entropy of the votes on one question, from 0 (all agree) to 1 (all differ).

    ``-1 / log(C) * sum over answers a of V(a)/C * log(V(a)/C)`` for C models: query by committee (Seung,
    Opper and Sompolinsky 1992) with the measure of Dagan and Engelson 1995.

    >>> vote_entropy(["Task", "Method"]), vote_entropy(["Task", "Task"])
    (1.0, 0.0)
    """
    count = len(answers)
    if count < 2:
        return 0.0
    shares = [votes / count for votes in Counter(answers).values()]
    return -sum(share * math.log(share) for share in shares) / math.log(count) + 0.0


def disagreement_per_word(members: Sequence[Votes], words: int) -> dict[Layer, float]:
    """The vote entropy in each layer over all questions that any model answers, divided by the abstract's length.

    Args:
        members: What each model predicts.
        words: Tokens of the abstract.
    """
    sums = dict.fromkeys(Layer, 0.0)
    for place in {place for votes in members for place in votes}:
        sums[place[0]] += vote_entropy([votes.get(place, NONE) for votes in members])
    return {layer: total / max(1, words) for layer, total in sums.items()}


def _start(mention: Mention) -> tuple[int, int]:
    return mention[0].char_start, mention[-1].char_end


@dataclass(frozen=True, slots=True)
class Settled:
    """Answered questions.

    Attributes:
        layers: Those that are done.
        places: Layer and place of single questions.
        rejected: Spans that are no mentions: nothing about them is open.
    """

    layers: frozenset[Layer]
    places: frozenset[tuple[Layer, tuple[Span, ...]]]
    rejected: frozenset[Span]

    def is_open(self, layer: Layer, place: tuple[Span, ...]) -> bool:
        """Whether a question still waits for its answer."""
        known = layer in self.layers or (layer, place) in self.places
        return not known and self.rejected.isdisjoint(place)

    def left(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """The decisions that are still open."""
        return (decision for decision in decisions if self.is_open(decision.layer, decision.place))


def find_settled(doc: DocumentState) -> Settled:
    """What has been answered in an abstract: imported and decided items, and layers that are done."""
    entities = {entity.id: entity for entity in doc.all_entities}
    decided = [entity for entity in entities.values() if entity.state is not State.UNDECIDED]
    places = {(Layer.ENTITIES, entity.fragments) for entity in decided}
    for relation in doc.relations:
        ends = [entities[end] for end in (relation.head, relation.tail) if end in entities]
        if relation.state is not State.UNDECIDED and len(ends) == 2:
            first, second = sorted(ends, key=lambda mention: (mention.char_start, mention.char_end))
            places.add((Layer.RELATIONS, (*first.fragments, *second.fragments)))
    for link in doc.links:
        if link.state is not State.UNDECIDED and link.entity_id in entities:
            places.add((Layer.COREFERENCE, entities[link.entity_id].fragments))
    # No mention, so no relation and no link of it either.
    rejected = {span for row in decided if row.state is State.REJECTED for span in row.fragments}
    done = doc.progress.done if doc.progress else ()
    return Settled(frozenset(done), frozenset(places), frozenset(rejected))
