"""The abstracts of a project in the order in which a person had best correct them: how unsure a model is, or by chance."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations, Candidates, Layer, Span, State
from sciextract.errors import ActionRefusedError
from sciextract.store import DocumentState, documents
from sciextract.store.documents import known_documents
from sciextract.store.queries import latest_predictions
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
    # Both directions of a pair together, and all antecedents of a mention: the model has one distribution for them.
    asked = defaultdict[tuple[Layer, tuple[Span, ...]], list[float]](list)
    for span in candidates.spans:
        asked[Layer.ENTITIES, (span.span,)] += [choice.score for choice in span.labels]
    for pair in candidates.pairs:
        place = tuple(sorted((pair.head, pair.tail)))
        asked[Layer.RELATIONS, place] += [choice.score for choice in pair.labels]
    for link in candidates.links:
        asked[Layer.COREFERENCE, (link.mention,)].append(link.score)
    for (layer, place), scores in asked.items():
        yield Decision(layer, place, _with_rest(scores))


def _with_rest(scores: Sequence[float]) -> tuple[float, ...]:
    """The outcomes with their rest; rounded scores that exceed one are scaled back to it."""
    total = max(1.0, sum(scores))
    known = tuple(score / total for score in scores)
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


def find_open(doc: DocumentState, asked: Iterable[Decision]) -> Iterator[Decision]:
    """The decisions that nothing has answered yet: no imported or decided item, and no layer that is done."""
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
    for decision in asked:
        known = decision.layer in done or (decision.layer, decision.place) in places
        if not known and rejected.isdisjoint(decision.place):
            yield decision


def ask_model(
    project: Project, numbers: Iterable[int], model: KnownModel, adapter: Extractor | None
) -> Iterator[tuple[int, Annotations, bool]]:
    """What a model says about abstracts, candidates included, and whether it had to predict that: what the project holds first.

    The project itself is left as it is, and the model is loaded only when the project lacks something.

    Args:
        project: The open project.
        numbers: The abstracts.
        model: The model.
        adapter: What predicts in its place, if an adapter does. Its predictions are always made anew: those in the
            project may be by an adapter that had learned less.

    Raises:
        ModelDamagedError: A file of the model is missing or changed.
        ModelMismatchError: It predicts labels that the project's schema lacks.
    """
    missing = [*numbers]
    if adapter is None:
        folder, asked, missing = model.open(), missing, []
        check_config(project, folder.config, model.id)
        made_by = folder.config.name, folder.hash
        for number in asked:
            kept = latest_predictions(project.connection, number, made_by)
            if kept is None or kept.candidates is None:
                missing.append(number)
            else:
                yield number, kept, False
    if missing:
        from sciextract.inference.extractor import Extractor

        extractor = (adapter or Extractor.load(model.folder)).with_settings(candidates=True)
        texts = (documents.load(project.connection, number).document for number in missing)
        for number, found in zip(missing, extractor.stream(texts), strict=True):
            yield number, found.annotations, True


# Called with abstracts done and abstracts in all.
OnProgress = Callable[[int, int], None]


class By(StrEnum):
    """What an order goes by."""

    ENTROPY = "entropy"
    RANDOM = "random"


def pool_of(project: Project) -> dict[int, bool]:
    """The abstracts that are not done, in the order in which they came, and whether something is decided about each.

    Raises:
        ActionRefusedError: Nothing is.
    """
    known = list(known_documents(project.connection))
    unfinished = [abstract for abstract in known if not abstract.finished]
    if not unfinished:
        left = "no abstract of the project is left to correct"
        problem = left if known else "there is no abstract in the project"
        raise ActionRefusedError(problem, "sciextract import adds abstracts")
    return {abstract.number: abstract.decided for abstract in unfinished}


def by_uncertainty(
    project: Project,
    pool: Mapping[int, bool],
    model: KnownModel,
    adapter: Extractor | None,
    on_progress: OnProgress,
) -> tuple[list[int], int]:
    """Most uncertain first, of equal ones the one that came first; and how many had to be predicted."""
    scores: dict[int, LayerScores] = {}
    predicted = 0
    for number, found, is_new in ask_model(project, pool, model, adapter):
        left = decisions(found.candidates or Candidates())
        if pool[number]:
            left = find_open(project.document_state(number), left)
        words = len(documents.load(project.connection, number).document.tokens)
        scores[number] = per_word(left, words)
        predicted += is_new
        on_progress(len(scores), len(pool))
    numbers = sorted(scores)
    combined = over_layers([scores[number] for number in numbers])
    doubts = dict(zip(numbers, combined, strict=True))
    return sorted(numbers, key=lambda number: -doubts[number]), predicted


def by_chance(pool: Iterable[int], seed: int) -> list[int]:
    """In an order of its own for every seed, which abstracts that come later do not change."""

    def draw(number: int) -> bytes:
        return hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()

    return sorted(pool, key=draw)
