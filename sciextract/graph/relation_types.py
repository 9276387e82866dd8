"""What bundled schemas and models say of relation types: direction, former names, and which are right often enough to be edges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from sciextract.documents.annotations import Relation, State
from sciextract.documents.schema_file import bundled_schemas, load_schema
from sciextract.resources import bundled_models


@cache
def known_symmetric() -> frozenset[str]:
    """Relation types that every bundled label schema which has them calls symmetric."""
    symmetric, directed = set[str](), set[str]()
    for schema in map(load_schema, bundled_schemas()):
        symmetric.update(schema.symmetric_labels)
        directed.update({*schema.relation_labels} - {*schema.symmetric_labels})
    return frozenset(symmetric - directed)


@cache
def former_names() -> Mapping[str, str]:
    """What relation types of bundled schemas are called now, by names that they had."""
    schemas = map(load_schema, bundled_schemas())
    return {old: now for schema in schemas for old, now in schema.names[1].items()}


def is_drawn(relation: Relation, head: str, tail: str, least_score: float | None) -> bool:
    """Whether a relation between mentions of two types is an edge; one that a person decided is.

    Args:
        relation: The relation.
        head: The type of its head.
        tail: The type of its tail.
        least_score: The least probability; that at which the model's card says it is right often enough, when ``None``.
    """
    score, about = relation.score, _read_scores().get(relation.source.partition("@")[0])
    label = former_names().get(relation.label, relation.label)
    if score is None or relation.state is not State.UNDECIDED:
        return True
    if least_score is not None or not about or label not in about["labels"]:
        return score >= (least_score or 0)
    learned = label in about["drawn"] and [head, tail] in about["pairs"]
    return learned and score >= float(about["least_score"])


def never_drawn() -> list[str]:
    """Relation types of bundled models that no score makes right often enough."""
    measured = _read_scores().values()
    return [t for about in measured for t in about["labels"] if t not in about["drawn"]]


@cache
def _read_scores() -> Mapping[str, dict[str, Any]]:
    """What is known of the edges of bundled models, by the source of their items."""
    # As JSON, because each build would load numpy with what reads whole model folders.
    files = bundled_models().glob("*/config.json")
    configs = [json.loads(file.read_text("utf-8")) for file in files]
    return {f"model:{c['name']}": c["scores"]["graph"] for c in configs if "graph" in c["scores"]}
