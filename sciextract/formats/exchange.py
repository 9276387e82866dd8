"""The lossless part of exchange records: entities, links, groups and candidates, read with every check."""

from __future__ import annotations

from itertools import pairwise

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    Relation,
    SpanCandidate,
    State,
)
from sciextract.documents.spans import Span
from sciextract.formats.base import Place, quoted
from sciextract.formats.json_values import (
    Record,
    label_at,
    list_at,
    number_at,
    object_at,
    objects_at,
    span_at,
    string_at,
)

SCHEMA_VERSION = 1
_STATES = {state.value: state for state in State}


def annotations_from(
    record: Record, text_length: int, provenance: str, place: Place
) -> Annotations:
    """The items of ``entities``, ``links``, ``groups`` and ``candidates``.

    Args:
        record: The exchange record.
        text_length: Length of its text in characters.
        provenance: The source of items that name none.
        place: Where the record stands.

    Raises:
        FormatError: An item has a wrong shape, leaves the text, repeats an id or names an unknown one.
    """
    reader = _ItemReader(text_length, provenance, place)
    entities = [
        reader.entity(*each) for each in objects_at(record.get("entities"), "entities", place)
    ]
    relations = [reader.relation(*each) for each in objects_at(record.get("links"), "links", place)]
    clusters = [reader.cluster(*each) for each in objects_at(record.get("groups"), "groups", place)]
    candidates = candidates_from(record.get("candidates"), text_length, place)
    return Annotations(tuple(entities), tuple(relations), tuple(clusters), candidates)


def candidates_from(value: object, text_length: int, place: Place) -> Candidates | None:
    """``candidates``, or ``None`` where the record has none.

    Raises:
        FormatError: It has a wrong shape, or a span leaves the text.
    """
    if value is None:
        return None
    record = object_at(value, "candidates", place)
    reader = _CandidateReader(text_length, place)
    lists = {
        name: objects_at(record.get(name), f"candidates.{name}", place)
        for name in ("spans", "pairs", "links")
    }
    return Candidates(
        tuple([reader.span_candidate(*each) for each in lists["spans"]]),
        tuple([reader.pair(*each) for each in lists["pairs"]]),
        tuple([reader.link(*each) for each in lists["links"]]),
    )


class _ItemReader:
    """Reads items of one record; ids are unique, and arguments must be entities."""

    def __init__(self, text_length: int, provenance: str, place: Place) -> None:
        self._length = text_length
        self._provenance = provenance
        self._place = place
        self._ids: set[str] = set()
        self._entities: set[str] = set()

    def entity(self, item: Record, field: str) -> Entity:
        item_id = self._new_id(item, field)
        self._entities.add(item_id)
        return Entity(
            item_id,
            self._fragments(item.get("fragments"), f"{field}.fragments"),
            string_at(item.get("label"), f"{field}.label", self._place),
            *self._made_by(item, field),
            labels_at(item.get("alternatives"), f"{field}.alternatives", self._place),
        )

    def relation(self, item: Record, field: str) -> Relation:
        return Relation(
            self._new_id(item, field),
            self._argument(item.get("head"), f"{field}.head"),
            self._argument(item.get("tail"), f"{field}.tail"),
            label_at(item.get("label"), f"{field}.label", self._place),
            *self._made_by(item, field),
            labels_at(item.get("alternatives"), f"{field}.alternatives", self._place),
        )

    def cluster(self, item: Record, field: str) -> Cluster:
        listed = list_at(item.get("mentions"), f"{field}.mentions", self._place)
        mentions = tuple([self._argument(each, f"{field}.mentions") for each in listed])
        where = f"{field}.mention_scores"
        scores = list_at(item.get("mention_scores"), where, self._place)
        if scores and len(scores) != len(mentions):
            problem = f"{len(scores)} scores found; expected {len(mentions)}, one a mention"
            raise self._place.error(problem, field=where)
        return Cluster(
            self._new_id(item, field),
            mentions,
            *self._made_by(item, field),
            tuple([number_at(score, where, self._place) for score in scores]),
            self._mention_states(item, len(mentions), f"{field}.mention_states"),
        )

    def _mention_states(self, item: Record, count: int, field: str) -> tuple[State, ...]:
        values = list_at(item.get("mention_states"), field, self._place)
        if values and len(values) != count:
            problem = f"{len(values)} states found; expected {count}, one a mention"
            raise self._place.error(problem, field=field)
        return tuple([self._state(value, field) for value in values])

    def _new_id(self, item: Record, field: str) -> str:
        item_id = label_at(item.get("id"), f"{field}.id", self._place)
        if item_id in self._ids:
            problem = f"{quoted(item_id)} found twice, ids are unique in a record"
            raise self._place.error(problem, field=f"{field}.id")
        self._ids.add(item_id)
        return item_id

    def _argument(self, value: object, field: str) -> str:
        if not isinstance(value, str) or value not in self._entities:
            raise self._place.unexpected(value, "ids of this record's entities", field=field)
        return value

    def _fragments(self, value: object, field: str) -> tuple[Span, ...]:
        listed = list_at(value, field, self._place)
        spans = tuple([span_at(each, self._length, field, self._place) for each in listed])
        ascending = all(left.char_end <= right.char_start for left, right in pairwise(spans))
        if not spans or not ascending:
            raise self._place.unexpected(value, "one or more ranges, ascending, apart", field=field)
        return spans

    def _made_by(self, item: Record, field: str) -> tuple[float | None, State, str]:
        score = item.get("score")
        if score is not None:
            score = number_at(score, f"{field}.score", self._place)
        state = item.get("state", State.IMPORTED.value)
        source = string_at(item.get("source", self._provenance), f"{field}.source", self._place)
        return score, self._state(state, f"{field}.state"), source

    def _state(self, value: object, field: str) -> State:
        if not isinstance(value, str) or value not in _STATES:
            raise self._place.unexpected(value, f"{', '.join(_STATES)}", field=field)
        return _STATES[value]


class _CandidateReader:
    def __init__(self, text_length: int, place: Place) -> None:
        self._length = text_length
        self._place = place

    def span_candidate(self, item: Record, field: str) -> SpanCandidate:
        return SpanCandidate(self._span(item, "span", field), self._labels(item, field))

    def pair(self, item: Record, field: str) -> PairCandidate:
        head, tail = self._span(item, "head", field), self._span(item, "tail", field)
        return PairCandidate(head, tail, self._labels(item, field))

    def link(self, item: Record, field: str) -> LinkCandidate:
        mention, antecedent = (self._span(item, name, field) for name in ("mention", "antecedent"))
        score = number_at(item.get("score"), f"{field}.score", self._place)
        return LinkCandidate(mention, antecedent, score)

    def _span(self, item: Record, name: str, field: str) -> Span:
        return span_at(item.get(name), self._length, f"{field}.{name}", self._place)

    def _labels(self, item: Record, field: str) -> tuple[LabelScore, ...]:
        return labels_at(item.get("labels"), f"{field}.labels", self._place)


def labels_at(value: object, field: str, place: Place) -> tuple[LabelScore, ...]:
    """A list of ``[label, score]``; ``None`` counts as an empty one.

    Raises:
        FormatError: It is something else.
    """
    labels = []
    for pair in list_at(value, field, place):
        if not isinstance(pair, list) or len(pair) != 2:
            raise place.unexpected(pair, "[label, score]", field=field)
        labels.append(
            LabelScore(string_at(pair[0], field, place), number_at(pair[1], field, place))
        )
    return tuple(labels)
