"""Annotations of one source as compressed JSON: the immutable rows of imports and model runs."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any

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


def encode_annotations(annotations: Annotations) -> bytes:
    """Annotations with their candidates as bytes; equal ones give equal bytes."""
    plain = {
        "entities": [_entity(each) for each in annotations.entities],
        "relations": [_relation(each) for each in annotations.relations],
        "clusters": [_cluster(each) for each in annotations.clusters],
        "candidates": annotations.candidates and _candidates(annotations.candidates),
    }
    return zlib.compress(json.dumps(plain, separators=(",", ":")).encode("ascii"), 6)


def digest_of(body: bytes) -> str:
    """The hash that is kept with the bytes: it tells them apart, and that they are as they were."""
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def decode_annotations(body: bytes, *, candidates: bool = True) -> Annotations:
    """The annotations in bytes that :func:`encode_annotations` made.

    Args:
        body: The bytes.
        candidates: Whether what the model also considered is wanted; most of the time goes into it.
    """
    plain = json.loads(zlib.decompress(body))
    considered = plain["candidates"] if candidates else None
    return Annotations(
        entities=tuple(_to_entity(each) for each in plain["entities"]),
        relations=tuple(_to_relation(each) for each in plain["relations"]),
        clusters=tuple(_to_cluster(each) for each in plain["clusters"]),
        candidates=None if considered is None else _to_candidates(considered),
    )


def _entity(each: Entity) -> list[Any]:
    fragments = [_edges(fragment) for fragment in each.fragments]
    labels = _labels(each.alternatives)
    return [each.id, fragments, each.label, each.score, each.state, each.source, labels]


def _to_entity(values: Sequence[Any]) -> Entity:
    entity_id, fragments, label, score, state, source, labels = values
    spans = tuple(Span(*edges) for edges in fragments)
    return Entity(entity_id, spans, label, score, State(state), source, _to_labels(labels))


def _relation(each: Relation) -> list[Any]:
    labels = _labels(each.alternatives)
    return [each.id, each.head, each.tail, each.label, each.score, each.state, each.source, labels]


def _to_relation(values: Sequence[Any]) -> Relation:
    relation_id, head, tail, label, score, state, source, labels = values
    return Relation(relation_id, head, tail, label, score, State(state), source, _to_labels(labels))


def _cluster(each: Cluster) -> list[Any]:
    scores, states = list(each.mention_scores), list(each.mention_states)
    return [each.id, list(each.mentions), each.score, each.state, each.source, scores, states]


def _to_cluster(values: Sequence[Any]) -> Cluster:
    cluster_id, mentions, score, state, source, scores, states = values
    return Cluster(
        *(cluster_id, tuple(mentions), score, State(state), source, tuple(scores)),
        tuple(State(each) for each in states),
    )


def _candidates(candidates: Candidates) -> list[Any]:
    return [
        [[_edges(each.span), _labels(each.labels)] for each in candidates.spans],
        [[_edges(each.head), _edges(each.tail), _labels(each.labels)] for each in candidates.pairs],
        [[_edges(each.mention), _edges(each.antecedent), each.score] for each in candidates.links],
    ]


def _to_candidates(values: Sequence[Any]) -> Candidates:
    spans, pairs, links = values
    return Candidates(
        tuple(SpanCandidate(Span(*span), _to_labels(labels)) for span, labels in spans),
        tuple(
            PairCandidate(Span(*head), Span(*tail), _to_labels(labels))
            for head, tail, labels in pairs
        ),
        tuple(LinkCandidate(Span(*a), Span(*b), score) for a, b, score in links),
    )


def _edges(span: Span) -> list[int]:
    return [span.char_start, span.char_end]


def _labels(labels: Sequence[LabelScore]) -> list[list[Any]]:
    return [[each.label, each.score] for each in labels]


def _to_labels(values: Sequence[Sequence[Any]]) -> tuple[LabelScore, ...]:
    return tuple(LabelScore(label, score) for label, score in values)
