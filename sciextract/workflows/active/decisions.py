"""What a model had to decide in an abstract, each time with the probabilities of all outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sciextract.documents.annotations import Candidates, LabelScore, LinkCandidate, PairCandidate
from sciextract.documents.spans import Span


class Task(StrEnum):
    """What is decided about."""

    ENTITY = "entity"
    RELATION = "relation"
    COREFERENCE = "coreference"


@dataclass(frozen=True, slots=True)
class Decision:
    """One question to the model.

    Attributes:
        task: What it is about.
        place: The span, the two spans of a pair in text order, or the mention whose antecedent is asked for.
        probabilities: Of every outcome, summing to one. The first is the rest: "none of them", together with
            all outcomes that a model's candidates leave out, each below the lowest score that is kept (0.05
            unless a model says otherwise).
    """

    task: Task
    place: tuple[Span, ...]
    probabilities: tuple[float, ...]


def decisions(candidates: Candidates) -> Iterator[Decision]:
    """All questions of an abstract whose answer was in any doubt.

    A span: which type, or none. A pair of spans: which relation in which direction, or none. A mention: which
    earlier mention it means the same as, or none. A question that left no candidate was answered "none" with
    near certainty; it would add next to nothing to any score here.
    """
    for span in candidates.spans:
        yield Decision(Task.ENTITY, (span.span,), _with_rest(_scores(span.labels)))
    for pair, scores in _by_pair(candidates.pairs).items():
        yield Decision(Task.RELATION, pair, _with_rest(scores))
    for mention, scores in _by_mention(candidates.links).items():
        yield Decision(Task.COREFERENCE, (mention,), _with_rest(scores))


def _by_pair(pairs: Iterable[PairCandidate]) -> dict[tuple[Span, ...], list[float]]:
    """Scores of both directions of a pair: the model has one distribution for the two."""
    found: dict[tuple[Span, ...], list[float]] = {}
    for each in pairs:
        place = tuple(sorted((each.head, each.tail), key=_edges))
        found.setdefault(place, []).extend(_scores(each.labels))
    return found


def _by_mention(links: Iterable[LinkCandidate]) -> dict[Span, list[float]]:
    found: dict[Span, list[float]] = {}
    for each in links:
        found.setdefault(each.mention, []).append(each.score)
    return found


def _scores(labels: Iterable[LabelScore]) -> list[float]:
    return [each.score for each in labels]


def _with_rest(scores: Iterable[float]) -> tuple[float, ...]:
    """The outcomes with their rest; rounded scores that exceed one are scaled back to it."""
    listed = tuple(scores)
    total = max(1.0, sum(listed))
    known = tuple(each / total for each in listed)
    return (max(0.0, 1.0 - sum(known)), *known)


def _edges(span: Span) -> tuple[int, int]:
    return span.char_start, span.char_end
