"""Who has looked for which type in which abstract: what was finished before a type came says nothing about it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import replace

from sciextract.documents.annotations import Annotations, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import AttributeType, LabelSchema
from sciextract.store.rows import (
    ProgressRow,
    attribute_layer,
    attribute_name,
    covered_name,
    finished_sql,
    is_attribute,
    names_in,
    rename_covered,
    types_in,
)
from sciextract.store.sqlite import first_value

Type = tuple[Layer, str]


def with_types(document: AnnotatedDocument, keep: Callable[[str], bool]) -> AnnotatedDocument:
    """A document with the items of some types; names are those of :attr:`ProgressRow.looked_for`."""
    said = document.annotations
    relations = [
        relation
        for relation in said.relations
        if keep(covered_name(Layer.RELATIONS, relation.label))
    ]
    attributes = [
        attribute for attribute in said.attributes if keep(attribute_name(attribute.label))
    ]
    clusters = said.clusters if keep(Layer.COREFERENCE) else ()
    wanted = Annotations(said.entities, tuple(relations), clusters, attributes=tuple(attributes))
    kept = {
        entity.id for entity in said.entities if keep(covered_name(Layer.ENTITIES, entity.label))
    }
    return replace(document, annotations=wanted.among(kept))


def covered_attributes(
    schema: LabelSchema, covered: Iterable[Container[str]]
) -> list[list[AttributeType]]:
    """Of each document the attributes among what was looked for in it, with names of :attr:`ProgressRow.looked_for`."""
    kinds = [(attribute_name(kind.label), kind) for kind in schema.attributes]
    return [[kind for name, kind in kinds if name in names] for names in covered]


def uncovered_types(progress: ProgressRow, schema: LabelSchema) -> frozenset[Type]:
    """The types of the layers of an abstract that are done which nobody has looked for in it."""
    types = types_in(schema, progress.done)
    return frozenset([type_ for type_ in types if covered_name(*type_) not in progress.covered])


def find_layers(connection: sqlite3.Connection, schema: LabelSchema) -> tuple[Layer, ...]:
    """The layers that finishing an abstract finishes: those that the project has chosen, else entities and those in use.

    A layer is in use once a file brought items of it, or a person decided one; what went along with a rejected mention
    was not decided. That nobody ever made a relation does not say that there is none.
    """
    if schema.finish:
        return schema.finish
    # Whether there are any is quickly seen; where there are none, the rest would read all abstracts.
    in_use = """SELECT CASE WHEN EXISTS (SELECT 1 FROM {0}) THEN
        EXISTS (SELECT 1 FROM tally WHERE state = 'imported' AND kind = '{0}') OR EXISTS (
            SELECT 1 FROM progress p JOIN tally t ON t.document_id = p.document_id AND t.kind = '{0}'
            WHERE p.{1} <> 'untouched' AND t.state <> 'undecided') END"""
    kinds = {Layer.RELATIONS: "relation", Layer.COREFERENCE: "link"}
    found = [
        layer
        for layer, kind in kinds.items()
        if first_value(connection, in_use.format(kind, layer))
    ]
    return (Layer.ENTITIES, *found)


def find_missing(connection: sqlite3.Connection, schema: LabelSchema) -> dict[Type, list[int]]:
    """By type the numbers of the abstracts that are done without it, ascending; types that none lacks are left out.

    A layer that came into use later is a type without a label; attributes have the names of :func:`attribute_name`.
    """
    whole = [
        json.dumps(sorted(names_in(schema, layers)), separators=(",", ":"))
        for layers in ({Layer.ENTITIES}, {Layer.RELATIONS}, frozenset(Layer))
    ]
    later = find_layers(connection, schema)[1:]
    # Nearly all projects have one answer, that nothing is missing: it costs one pass over the table.
    untouched = "".join(f" OR (entities = 'done' AND {layer} = 'untouched')" for layer in later)
    lacking = f"""SELECT 1 FROM progress WHERE ((entities = 'done' OR relations = 'done') AND covered <>
        CASE WHEN relations <> 'done' THEN ?1 WHEN entities <> 'done' THEN ?2 ELSE ?3 END){untouched} LIMIT 1"""
    if connection.execute(lacking, whole).fetchone() is None:
        return {}
    found: dict[Type, list[int]] = {}
    for layer in later:
        rows = connection.execute(
            f"""SELECT document_id FROM progress WHERE {finished_sql()} AND {layer} = 'untouched'
            ORDER BY document_id"""
        )
        if numbers := [number for (number,) in rows]:
            found[layer, ""] = numbers
    kinds = connection.execute(
        "SELECT DISTINCT entities, relations, covered FROM progress WHERE entities = 'done' OR relations = 'done'"
    ).fetchall()
    types = [*types_in(schema, frozenset(Layer))]
    types += ((attribute_layer(kind), attribute_name(kind.label)) for kind in schema.attributes)
    for layer, label in types:
        name = json.dumps(label if is_attribute(label) else covered_name(layer, label))
        column = ("entities", "relations").index(layer.value)
        if any(kind[column] == "done" and name not in kind[2] for kind in kinds):
            rows = connection.execute(
                f"""SELECT document_id FROM progress WHERE {layer.value} = 'done' AND NOT instr(covered, ?)
                ORDER BY document_id""",
                (name,),
            )
            found[layer, label] = [number for (number,) in rows]
    return found


MISSING = "missing "
"""What the order of a queue begins with whose abstracts lack types; these follow, a line each."""


def read_sought(sort: str, schema: LabelSchema) -> tuple[Type, ...]:
    """The types that the abstracts of a queue lack, by the queue's order; none for another order, or types that are gone."""
    names = sort.removeprefix(MISSING).split("\n") if sort.startswith(MISSING) else ()
    types = [*types_in(schema, frozenset(Layer)), *((layer, "") for layer in Layer)]
    known = {covered_name(*type_): type_ for type_ in types}
    for kind in schema.attributes:
        known[attribute_name(kind.label)] = attribute_layer(kind), attribute_name(kind.label)
    now = rename_covered(names, *schema.names)
    return tuple(known[name] for name in now if name in known)


def lacking_sql(sought: Collection[Type]) -> tuple[str, list[str]]:
    """SQL for whether nobody has looked for one of some types in a finished abstract, with its parameters."""
    parts = [f"{layer} <> 'done'" for layer, label in sought if not label]
    names = [json.dumps(covered_name(*type_)) for type_ in sought if type_[1]]
    return " OR ".join([*parts, *("NOT instr(covered, ?)" for _ in names)]), names
