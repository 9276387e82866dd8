"""The abstracts of a project in the order in which a person had best correct them: how unsure a model is, or by chance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations, Candidates, Layer, Span, State
from sciextract.documents.document import Document
from sciextract.errors import ActionRefusedError
from sciextract.store import DocumentState, documents
from sciextract.store.documents import known_documents
from sciextract.store.queries import predictions_of_model
from sciextract.workflows.models.registry import KnownModel
from sciextract.workflows.predict_project import check_config

if TYPE_CHECKING:
    from sciextract.inference.extractor import Extractor
    from sciextract.store import Project

LayerScores = Mapping[Layer, float]


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


def entropy(probabilities: Sequence[float]) -> float:
    """Shannon's entropy in bits: ``-sum(p * log2(p))`` (Shannon 1948, section 6; Settles 2009, section 3.1).

    >>> entropy([0.5, 0.5])
    1.0
    """
    # Plus 0.0, since minus nothing would be -0.0.
    return -sum(p * math.log2(p) for p in probabilities if p > 0) + 0.0


def per_word(decisions: Iterable[Decision], words: int) -> dict[Layer, float]:
    """The uncertainty in each layer over all decisions of an abstract, divided by its length.

    Summed only, long abstracts would always come first (Settles and Craven 2008, section 3.1, compare total
    and mean entropy of sequences); a mean over decisions would forget how many there are.

    Args:
        decisions: Those that count.
        words: Tokens of the abstract.
    """
    sums = dict.fromkeys(Layer, 0.0)
    for decision in decisions:
        sums[decision.layer] += entropy(decision.probabilities)
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


class ModelPredictions:
    """The predictions of one model about abstracts of one project; the project itself is left as it is.

    Args:
        project: The open project.
        model: The model; it is loaded only when the project lacks something.
        adapter: What predicts in its place, if an adapter does. Its predictions are always made anew: those in the
            project may be by an adapter that had learned less.

    Attributes:
        predicted: Abstracts that had to be predicted so far.
        id: The model's; of an adapter name and hash of its model, marked as adapted.

    Raises:
        ModelDamagedError: A file of the model is missing or changed.
        ModelMismatchError: It predicts labels that the project's schema lacks.
    """

    def __init__(
        self, project: Project, model: KnownModel, adapter: Extractor | None = None
    ) -> None:
        self.predicted = 0
        self.id = model.id if adapter is None else str(adapter.model)
        self._project = project
        self._model = model
        self._extractor = adapter and adapter.with_settings(candidates=True)
        self._kept_by: tuple[str, str] | None = None
        if adapter is None:
            folder = model.open()
            self._kept_by = folder.config.name, folder.hash
            check_config(project, folder.config, model.id)

    def about(self, numbers: Sequence[int]) -> Iterator[tuple[int, Annotations]]:
        """What the model says, candidates included: what the project holds first, the rest after it."""
        missing = []
        for number in numbers:
            connection, by = self._project.connection, self._kept_by
            kept = predictions_of_model(connection, number, *by) if by else None
            if kept is None or kept.candidates is None:
                missing.append(number)
            else:
                yield number, kept
        if missing:
            stream = self._load().stream(self._documents(missing))
            for number, found in zip(missing, stream, strict=True):
                self.predicted += 1
                yield number, found.annotations

    def _documents(self, numbers: Sequence[int]) -> Iterator[Document]:
        for number in numbers:
            yield documents.load(self._project.connection, number).document

    def _load(self) -> Extractor:
        from sciextract.inference.extractor import Extractor

        if self._extractor is None:
            self._extractor = Extractor.load(self._model.folder).with_settings(candidates=True)
        return self._extractor


# Called with abstracts done and abstracts in all.
OnProgress = Callable[[int, int], None]


class By(StrEnum):
    """What an order goes by."""

    ENTROPY = "entropy"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class AbstractPool:
    """The abstracts that may be asked about.

    Attributes:
        open: Numbers of those that are not done, in the order in which they came.
        touched: Those of them about which something is decided.
    """

    open: tuple[int, ...]
    touched: frozenset[int]


def pool_of(project: Project) -> AbstractPool:
    """What is left to correct in a project.

    Raises:
        ActionRefusedError: Nothing is.
    """
    known = list(known_documents(project.connection))
    unfinished = [abstract for abstract in known if not abstract.finished]
    if not unfinished:
        left = "no abstract of the project is left to correct"
        problem = left if known else "there is no abstract in the project"
        raise ActionRefusedError(problem, "sciextract import adds abstracts")
    return AbstractPool(
        tuple(abstract.number for abstract in unfinished),
        frozenset(abstract.number for abstract in unfinished if abstract.decided),
    )


def by_uncertainty(
    project: Project, pool: AbstractPool, predictions: ModelPredictions, on_progress: OnProgress
) -> list[int]:
    """Most uncertain first; of equal ones the one that came first."""
    scores: dict[int, LayerScores] = {}
    for number, found in predictions.about(pool.open):
        left = decisions(found.candidates or Candidates())
        if number in pool.touched:
            left = find_settled(project.document_state(number)).left(left)
        words = len(documents.load(project.connection, number).document.tokens)
        scores[number] = per_word(left, words)
        on_progress(len(scores), len(pool.open))
    numbers = sorted(scores)
    combined = over_layers([scores[number] for number in numbers])
    doubts = dict(zip(numbers, combined, strict=True))
    return sorted(numbers, key=lambda number: -doubts[number])


def by_chance(pool: AbstractPool, seed: int) -> list[int]:
    """In an order of its own for every seed, which abstracts that come later do not change."""

    def draw(number: int) -> bytes:
        return hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()

    return sorted(pool.open, key=draw)
