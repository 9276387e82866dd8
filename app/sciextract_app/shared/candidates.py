"""What a model considered in an abstract and did not propose: offers, other edges, relations and links."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

from sciextract.documents.annotations import Candidates, LabelScore, Span, SpanCandidate, State
from sciextract.store import EntityRow, queries
from sciextract.store.ingest import annotations_of_source
from sciextract_app.shared.document_view import DocumentView, legal


class CandidateCache:
    """Candidates of the newest run that is not undone; decoded once, not after every key."""

    def __init__(self) -> None:
        self._set = 0
        self._found: Candidates | None = None

    def of(self, connection: sqlite3.Connection, number: int) -> Candidates | None:
        """What a model considered in an abstract, ``None`` when none has predicted it."""
        found = queries.newest_prediction(connection, number)
        newest, source_id = found or (0, 0)
        if newest != self._set:
            predicted = annotations_of_source(connection, number, source_id) if newest else None
            self._set, self._found = newest, predicted.candidates if predicted else None
        return self._found


def find_offers(view: DocumentView, candidates: Candidates | None, at: Span) -> list[SpanCandidate]:
    """Spans that are not items yet: those that overlap a place first, then sentence by sentence, likelier ones first.

    Nothing overlaps an empty place; sentences before the place come last. What a person rejected is not offered again.
    """
    found: list[tuple[tuple[bool, bool, int, float, int, int], SpanCandidate]] = []
    for candidate in candidates.spans if candidates else ():
        start, end = candidate.span.char_start, candidate.span.char_end
        likely = [one.label for one in candidate.labels if one.label in view.schema.entity_labels]
        rows = view.on_fragments.get((candidate.span,), [])
        taken = any(row.state is not State.REJECTED or row.label in likely[:1] for row in rows)
        if not likely or taken or end > len(view.text):
            continue
        sentence = view.tokens.sentence_of(view.token_at(start))
        score = max(one.score for one in candidate.labels)
        under = at.char_start < at.char_end and candidate.span.overlaps(at)
        found.append(((not under, end <= at.char_start, sentence, -score, start, end), candidate))
    return [candidate for _, candidate in sorted(found, key=lambda pair: pair[0])]


NEAR = 0.3
"""Share of a mention's score from which on other edges are worth a sign: it marks 19 % of the mentions on SciERC and on
GENIA dev, names the right edges for a quarter of these, and so 60 % of all that a candidate could mend."""

_LONGEST_MENTION = 200


def other_edges(view: DocumentView, candidates: Candidates | None) -> frozenset[str]:
    """Undecided mentions that overlap a span which is no item, and which the model held nearly as likely."""
    found: set[str] = set()
    for candidate in candidates.spans if candidates else ():
        if (candidate.span,) in view.on_fragments:
            continue  # an item, or one that a person rejected
        start, end = candidate.span.char_start, candidate.span.char_end
        score = max(label.score for label in candidate.labels)
        first = bisect_left(view.entities, start - _LONGEST_MENTION, key=attrgetter("char_start"))
        for row in islice(view.entities, first, None):
            if row.char_start >= end:
                break
            waits = row.state is State.UNDECIDED and row.score is not None
            if waits and row.char_end > start and score >= NEAR * (row.score or 0.0):
                found.add(row.id)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Considered:
    """A relation or a link of a mention that the model considered, and that the abstract does not have.

    Attributes:
        head: The mention that it leads from; of a link the one asked for.
        tail: The mention that it leads to; of a link the other one.
        label: The relation's most likely legal type, empty for a link.
        score: The model's probability.
    """

    head: str
    tail: str
    label: str
    score: float


def find_considered(
    view: DocumentView, candidates: Candidates | None, mention: str
) -> list[Considered]:
    """Relations and links that the model considered for a mention, likelier ones first.

    Two mentions with a relation, or in one cluster, are left out, and so is what a person rejected.
    """
    if candidates is None:
        return []
    on = {Span(row.char_start, row.char_end): row for row in reversed(view.entities)}
    related = {frozenset((row.head, row.tail)) for row in view.document.relations}
    clusters: defaultdict[str, set[str]] = defaultdict(set)
    for link in view.document.links:
        clusters[link.entity_id].add(link.cluster_id)
    best: dict[tuple[frozenset[str], bool], Considered] = {}
    for pair in candidates.pairs:
        head, tail = on.get(pair.head), on.get(pair.tail)
        if head is None or tail is None or mention not in (head.id, tail.id):
            continue
        allowed = legal(view.schema, head, tail)
        labels = [choice for choice in pair.labels if choice.label in allowed]
        ends = frozenset((head.id, tail.id))
        if labels and len(ends) == 2 and ends not in related:
            likely = max(labels, key=lambda choice: choice.score)
            found = Considered(head.id, tail.id, likely.label, likely.score)
            before = best.get((ends, False), found)
            best[ends, False] = max(found, before, key=lambda choice: choice.score)
    for couple in candidates.links if view.schema.coreference else ():
        rows = [row for row in (on.get(couple.mention), on.get(couple.antecedent)) if row]
        ends = frozenset(row.id for row in rows)
        if len(ends) < 2 or mention not in ends or set.intersection(*(clusters[e] for e in ends)):
            continue
        (other,) = ends - {mention}
        best[ends, True] = Considered(mention, other, "", couple.score)
    return sorted(best.values(), key=lambda choice: -choice.score)


def best_relation(
    candidates: Candidates | None, head: EntityRow, tail: EntityRow, allowed: tuple[str, ...]
) -> str | None:
    """The model's best label among the allowed ones, else the first of these."""
    ends = tuple(Span(end.char_start, end.char_end) for end in (head, tail))
    for pair in candidates.pairs if candidates else ():
        if (pair.head, pair.tail) == ends and (best := _best(pair.labels, allowed)):
            return best
    return allowed[0] if allowed else None


def best_entity(candidates: Candidates | None, span: Span, allowed: tuple[str, ...]) -> str | None:
    """The model's best label for a span, ``None`` when it says nothing about it."""
    for candidate in candidates.spans if candidates else ():
        if candidate.span == span:
            return _best(candidate.labels, allowed)
    return None


def _best(labels: Iterable[LabelScore], allowed: tuple[str, ...]) -> str | None:
    found = [choice for choice in labels if choice.label in allowed]
    return max(found, key=lambda choice: choice.score).label if found else None
