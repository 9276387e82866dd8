"""The project's label schema and its earlier versions."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from functools import lru_cache

from sciextract.documents.schema import EntityType, LabelSchema, RelationType
from sciextract.documents.schema_file import RESERVED_KEYS, parse_schema, schema_to_mapping
from sciextract.store.file.failures import decoded
from sciextract.store.log.clock import now

_COLOURS = (
    *("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759"),
    *("#76b7b2", "#edc948", "#9c755f", "#ff9da7", "#bab0ac"),
)
_KEYS = "1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def current(connection: sqlite3.Connection) -> LabelSchema:
    """The schema that holds now: the newest version.

    Raises:
        ProjectDamagedError: It cannot be understood.
    """
    row = connection.execute(
        "SELECT id, body FROM label_schema ORDER BY id DESC LIMIT 1"
    ).fetchone()
    with decoded(connection, "the label schema"):
        return _parsed(*row)


@lru_cache(maxsize=4)
def _parsed(version: int, body: str) -> LabelSchema:
    """Every action looks at the schema, which hardly ever changes."""
    return parse_schema(json.loads(body), f"label schema version {version} of the project")


def save(connection: sqlite3.Connection, schema: LabelSchema) -> int:
    """Make a schema the newest version, inside the caller's transaction; returns the version."""
    found = connection.execute(
        "INSERT INTO label_schema(hash, body, at) VALUES (?, ?, ?)",
        (schema.content_hash, json.dumps(schema_to_mapping(schema)), now()),
    )
    return int(found.lastrowid or 0)


def with_labels(schema: LabelSchema, entities: list[str], relations: list[str]) -> LabelSchema:
    """The schema with more types, each with a free key and a colour; known ones are passed over."""
    for label in entities:
        if label not in schema.entity_labels:
            key, colour = _look([each.key for each in schema.entities])
            schema = replace(schema, entities=(*schema.entities, EntityType(label, key, colour)))
    for label in relations:
        if label not in schema.relation_labels:
            key, colour = _look([each.key for each in schema.relations])
            schema = replace(
                schema, relations=(*schema.relations, RelationType(label, key, colour))
            )
    return parse_schema(schema_to_mapping(schema), f"schema {schema.name!r}")


def _look(taken: list[str]) -> tuple[str, str]:
    """A free key and a colour. Beyond all letters, rarer characters serve."""
    further = map(chr, range(0xC0, 0x250))
    usable = (key for key in (*_KEYS, *further) if key not in taken and key not in RESERVED_KEYS)
    return next(usable), _COLOURS[len(taken) % len(_COLOURS)]
