"""From exchange records straight to what a graph needs of them, without tokens, labels of tokens and alternatives.

The reader of the format proves every field with a message of its own, which costs three times what the graph needs.
Here the same things are proved, but all at once and without words: a record with anything unusual in it is handed to
that reader, which decides. So both give the same, or the reader's error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate, chain
from operator import lt
from typing import Any, TypeVar

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.document import ModelId, text_hash
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Place, Source
from sciextract.formats.exchange import SCHEMA_VERSION
from sciextract.formats.json_values import Record, unknown_fields
from sciextract.formats.jsonl import OWN_FIELDS, parse_record
from sciextract.graph.contribution import Abstract, Sentences, abstract_of, published

_STATES = {state.value: state for state in State}
_UNSAID = State.IMPORTED.value
_KNOWN = frozenset(OWN_FIELDS)
_SCALARS = frozenset((str, int, float, bool, type(None)))
_NUMBERS = frozenset((int, float))
_Item = TypeVar("_Item")


class _UnusualError(Exception):
    """Something that the reader of the format must look at."""


def read_abstract(record: Record, source: Source, line: int, years: Mapping[str, int]) -> Abstract:
    """The abstract of a JSONL record of any shape that the format takes.

    Args:
        record: The record.
        source: Its file.
        line: Its line.
        years: Years by document key, for records that say none.

    Raises:
        FormatError: There is no text, or a field has a wrong shape or value.
    """
    try:
        return _abstract(record, source, line, years)
    except (_UnusualError, FormatError):
        document = parse_record(record, source, line)
        return abstract_of(document, years.get(document.document.doc_key))


def _abstract(record: Record, source: Source, line: int, years: Mapping[str, int]) -> Abstract:
    key, text = record.get("doc_key"), record.get("text")
    if type(key) is not str or not key or type(text) is not str:
        raise _UnusualError
    version, digest = record.get("schema_version"), text_hash(text)
    if type(version) is not int or version != SCHEMA_VERSION:
        raise _UnusualError
    if record.get("text_sha256") != digest or "candidates" in record or "warnings" in record:
        raise _UnusualError
    annotations = _annotations(record, len(text))
    sentences = _sentences(record, len(text))
    fields = {name: value for name, value in record.items() if name not in _KNOWN}
    if not _SCALARS.issuperset(map(type, fields.values())):
        unknown_fields(
            record, _KNOWN, Place(source.path, line, key)
        )  # proves that none is too deep
    paper = published(fields, years.get(key))
    return Abstract(key, text, digest, _model(record.get("model")), paper, annotations, sentences)


def _model(model: object) -> str:
    if model is None:
        return ""
    if type(model) is not dict:
        raise _UnusualError
    return str(ModelId(_string(model.get("name")), _string(model.get("hash"))))


def _annotations(record: Record, length: int) -> Annotations:
    ids: set[str] = set()
    entities = _items(record, "entities", ids, lambda item: _entity(item, length))
    named = frozenset(ids)
    relations = _items(record, "links", ids, lambda item: _relation(item, named))
    clusters = _items(record, "groups", ids, lambda item: _cluster(item, named))
    return Annotations(entities, relations, clusters)


def _items(
    record: Record, name: str, ids: set[str], made: Callable[[Record], _Item]
) -> tuple[_Item, ...]:
    """The objects of a list, each with an id that no other one has."""
    listed = record.get(name)
    if type(listed) is not list:
        raise _UnusualError
    found = []
    for item in listed:
        if type(item) is not dict:
            raise _UnusualError
        item_id = item.get("id")
        if type(item_id) is not str or not item_id or item_id in ids:
            raise _UnusualError
        ids.add(item_id)
        found.append(made(item))
    return tuple(found)


def _entity(item: Record, length: int) -> Entity:
    starts, ends = _ranges(_list(item.get("fragments")), length)
    spans = tuple(map(Span, starts, ends))
    if not spans:
        raise _UnusualError
    return Entity(item["id"], spans, _string(item.get("label")), *_score_and_state(item))


def _relation(item: Record, entities: frozenset[str]) -> Relation:
    head, tail, label = item.get("head"), item.get("tail"), _string(item.get("label"))
    if not label or not {_string(head), _string(tail)} <= entities:
        raise _UnusualError
    return Relation(item["id"], _string(head), _string(tail), label, *_score_and_state(item))


def _cluster(item: Record, entities: frozenset[str]) -> Cluster:
    mentions = tuple(map(_string, _list(item.get("mentions", []))))
    scores, states = _list(item.get("mention_scores", [])), _list(item.get("mention_states", []))
    if not entities.issuperset(mentions) or not _NUMBERS.issuperset(map(type, scores)):
        raise _UnusualError
    if any(each and len(each) != len(mentions) for each in (scores, states)):
        raise _UnusualError
    decided = tuple([_state(each) for each in states])
    return Cluster(item["id"], mentions, *_score_and_state(item), "", (), decided)


def _score_and_state(item: Record) -> tuple[float | None, State]:
    score, alternatives = item.get("score"), item.get("alternatives")
    _string(item.get("source", ""))
    if score is not None and type(score) not in _NUMBERS:
        raise _UnusualError
    for pair in () if alternatives is None else _list(alternatives):
        if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
            raise _UnusualError
        if type(pair[1]) not in _NUMBERS:
            raise _UnusualError
    return score, _state(item.get("state", _UNSAID))


def _sentences(record: Record, length: int) -> Sentences:
    """Where sentences begin and end, from a table of tokens that is sound."""
    starts, ends = _ranges(_list(record.get("token_ranges")), length)
    sentences = _list(record.get("sentences"))
    if not {list}.issuperset(map(type, sentences)):
        raise _UnusualError
    tokens = list(chain.from_iterable(sentences))
    if len(tokens) != len(starts) or not {str}.issuperset(map(type, tokens)) or "" in tokens:
        raise _UnusualError
    limits = list(accumulate([len(each) for each in sentences if each], initial=0))
    return Sentences(
        [starts[each] for each in limits[:-1]], [ends[each - 1] for each in limits[1:]]
    )


def _ranges(ranges: list[Any], length: int) -> tuple[list[int], list[int]]:
    """Starts and ends of ``[start, end]`` inside the text: ascending, apart, none of them empty."""
    if not {list}.issuperset(map(type, ranges)) or not {2}.issuperset(map(len, ranges)):
        raise _UnusualError
    flat = list(chain.from_iterable(ranges))
    if (
        len(flat) == 2
        and type(flat[0]) is type(flat[1]) is int
        and 0 <= flat[0] < flat[1] <= length
    ):
        return flat[:1], flat[1:]  # what nearly every mention is
    if not flat:
        return [], []
    starts, ends = flat[::2], flat[1::2]
    if (
        not {int}.issuperset(map(type, flat))
        or flat != sorted(flat)
        or not all(map(lt, starts, ends))
    ):
        raise _UnusualError
    if flat[0] < 0 or flat[-1] > length:
        raise _UnusualError
    return starts, ends


def _state(value: object) -> State:
    if type(value) is not str or value not in _STATES:
        raise _UnusualError
    return _STATES[value]


def _string(value: object) -> str:
    if type(value) is not str:
        raise _UnusualError
    return value


def _list(value: object) -> list[Any]:
    if type(value) is not list:
        raise _UnusualError
    return value
