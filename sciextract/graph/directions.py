"""Which relation types have no direction."""

from __future__ import annotations

from functools import cache

from sciextract.documents.schema_file import bundled_schemas, load_schema


@cache
def known_symmetric() -> frozenset[str]:
    """Relation types that every bundled label schema which has them calls symmetric."""
    schemas = [load_schema(name) for name in bundled_schemas()]
    symmetric = {label for each in schemas for label in each.symmetric_labels}
    directed = {
        label
        for each in schemas
        for label in each.relation_labels
        if label not in each.symmetric_labels
    }
    return frozenset(symmetric - directed)
