from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.documents.schema import (
    EntityType,
    LabelSchema,
    RelationType,
    validate_annotations,
)
from sciextract.errors import SchemaError

METHOD = EntityType("Method", "m", "#112233")
TASK = EntityType("Task", "t", "#445566")
USED = RelationType("USED-FOR", "u", "#112233", pairs=(("Method", "Task"),))
AND = RelationType("AND", "a", "#112233", symmetric=True, pairs=(("Method", "Task"),))
ANY = RelationType("ANY", "y", "#112233")
TO_TASK = RelationType("TO-TASK", "k", "#112233", pairs=(("*", "Task"),))
SCHEMA = LabelSchema("mine", "Mine", "1", True, (METHOD, TASK), (USED, AND, ANY, TO_TASK))


class TestLookup:
    def test_labels_keep_their_order(self) -> None:
        assert SCHEMA.entity_labels == ("Method", "Task")
        assert SCHEMA.relation_labels == ("USED-FOR", "AND", "ANY", "TO-TASK")
        assert SCHEMA.symmetric_labels == {"AND"}

    def test_types_by_label(self) -> None:
        assert SCHEMA.entity("Task") is TASK
        assert SCHEMA.relation("ANY") is ANY

    def test_unknown_labels_name_the_known(self) -> None:
        with pytest.raises(SchemaError, match="entity type 'Tsk'; choose from: Method, Task"):
            SCHEMA.entity("Tsk")
        with pytest.raises(SchemaError, match=r"'mine'.*'used-for'; choose from: USED-FOR, AND"):
            SCHEMA.relation("used-for")


class TestLegalRelations:
    @pytest.mark.parametrize(
        ("head", "tail", "legal"),
        [
            ("Method", "Task", ("USED-FOR", "AND", "ANY", "TO-TASK")),
            ("Task", "Method", ("AND", "ANY")),
            ("Task", "Task", ("ANY", "TO-TASK")),
            ("Method", "Method", ("ANY",)),
        ],
    )
    def test_pairs(self, head: str, tail: str, legal: tuple[str, ...]) -> None:
        assert SCHEMA.legal_relations(head, tail) == legal


class TestContentHash:
    @pytest.mark.parametrize(
        "change",
        [
            {"name": "other", "title": "Other", "version": "2"},
            {"entities": (TASK, dataclasses.replace(METHOD, key="x", colour="#000000"))},
            {"relations": (ANY, TO_TASK, AND, dataclasses.replace(USED, definition="words"))},
        ],
    )
    def test_looks_and_order_do_not_change_it(self, change: dict[str, Any]) -> None:
        assert dataclasses.replace(SCHEMA, **change).content_hash == SCHEMA.content_hash

    @pytest.mark.parametrize(
        "change",
        [
            {"coreference": False},
            {"entities": (METHOD,)},
            {"relations": (USED, AND, ANY)},
            {"relations": (USED, dataclasses.replace(AND, symmetric=False), ANY, TO_TASK)},
            {"relations": (dataclasses.replace(USED, pairs=()), AND, ANY, TO_TASK)},
        ],
    )
    def test_rules_do(self, change: dict[str, Any]) -> None:
        assert dataclasses.replace(SCHEMA, **change).content_hash != SCHEMA.content_hash

    def test_it_is_stable_across_releases(self) -> None:
        schema = LabelSchema("a", "", "", False, (METHOD,), ())
        assert schema.content_hash.startswith("918456c9433ef60d")


class TestValidation:
    def test_what_fits_gives_no_warning(self) -> None:
        annotated = document(
            entities=[entity("a", "Method"), entity("b", "Task"), entity("c", "")],
            relations=[relation("a", "b", "USED-FOR"), relation("b", "a", "AND")],
            clusters=[Cluster("k", ("a", "c"))],
        )
        assert validate_annotations(annotated, SCHEMA) == ()

    def test_unknown_labels_are_counted(self) -> None:
        annotated = document(
            entities=[entity("a", "Gene"), entity("b", "Gene"), entity("c", "Task")],
            relations=[relation("a", "b", "NEAR")],
        )
        assert validate_annotations(annotated, SCHEMA) == (
            "unknown entity label 'Gene'; schema 'mine' has Method, Task (2 times)",
            "unknown relation label 'NEAR'; schema 'mine' has USED-FOR, AND, ANY, TO-TASK (once)",
        )

    def test_illegal_pairs(self) -> None:
        annotated = document(
            entities=[entity("a", "Method"), entity("b", "Task")],
            relations=[relation("b", "a", "USED-FOR")],
        )
        assert validate_annotations(annotated, SCHEMA) == (
            "relation USED-FOR from Task to Method is not a legal pair of schema 'mine' (once)",
        )

    def test_an_unknown_type_is_not_reported_again_as_a_pair(self) -> None:
        annotated = document(
            entities=[entity("a", "Gene"), entity("b", "Task")],
            relations=[relation("a", "b", "USED-FOR")],
        )
        assert len(validate_annotations(annotated, SCHEMA)) == 1

    def test_rejected_items_do_not_matter(self) -> None:
        rejected = dataclasses.replace(entity("a", "Gene"), state=State.REJECTED)
        assert validate_annotations(document(entities=[rejected]), SCHEMA) == ()

    def test_an_argument_that_does_not_exist(self) -> None:
        annotated = document(
            entities=[entity("a", "Method")], relations=[relation("a", "gone", "ANY")]
        )
        (warning,) = validate_annotations(annotated, SCHEMA)
        assert "not an entity of the document" in warning

    def test_clusters_where_coreference_is_off(self) -> None:
        annotated = document(
            entities=[entity("a", "Task"), entity("b", "Task")], clusters=[Cluster("k", ("a", "b"))]
        )
        flat = dataclasses.replace(SCHEMA, coreference=False)
        assert validate_annotations(annotated, flat) == (
            "clusters, but schema 'mine' has no coreference (once)",
        )


def entity(entity_id: str, label: str) -> Entity:
    return Entity(entity_id, (Span(0, 1),), label)


def relation(head: str, tail: str, label: str) -> Relation:
    return Relation(f"{head}-{tail}", head, tail, label)


def document(
    entities: list[Entity],
    relations: list[Relation] | None = None,
    clusters: list[Cluster] | None = None,
) -> AnnotatedDocument:
    annotations = Annotations(tuple(entities), tuple(relations or ()), tuple(clusters or ()))
    return AnnotatedDocument(Document("d", "text", TokenTable((), ())), annotations)
