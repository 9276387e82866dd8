"""Changes of the label schema by a person: each is one event of the log, and undo takes it back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, get_args

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import (
    RELATION_PREFIX,
    AttributeType,
    EntityType,
    LabelSchema,
    RelationType,
)
from sciextract.documents.schema_file import is_label, parse_schema
from sciextract.errors import SchemaError, UndoRefusedError
from sciextract.store import events, project_settings, state_tables
from sciextract.store.document_state import Outcome
from sciextract.store.events import Change, Event
from sciextract.store.rows import ProgressRow, Row, from_values, to_values
from sciextract.store.sqlite import first_value
from sciextract.text.characters import visible
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.store.project import Project

RENAME, EDIT = "rename label", "edit labels"
MERGE, SPLIT, REMOVE = "merge labels", "split label", "remove label"
KINDS = (RENAME, EDIT, MERGE, SPLIT, REMOVE)
"""The kinds of these events."""
LONGEST = 60
"""Characters of a name that a person gives: longer ones have no room at the desk."""
Kind = Literal["entity", "relation", "attribute"]
TABLES = {"entity": "entities", "relation": "relations", "attribute": "attributes"}
"""Where types of a kind stand in a schema, which is also what coverage calls them by."""
PLACE = "the labels of the project"


def types_of(
    schema: LabelSchema, kind: Kind
) -> Sequence[EntityType | RelationType | AttributeType]:
    """The entity types, the relation types or the attributes."""
    if kind == "attribute":
        return schema.attributes
    return schema.entities if kind == "entity" else schema.relations


def looked_for(kind: Kind, label: str) -> str:
    """What coverage calls a type."""
    return f"{TABLES[kind]}:{label}"


def check_name(schema: LabelSchema, kind: Kind, name: str) -> None:
    """Refuse a name that no other type of the kind may have.

    Raises:
        SchemaError: It is taken, too long, or no name.
    """
    if any(type_.label == name for type_ in types_of(schema, kind)):
        raise SchemaError(f"{name} is a type already", "type another name")
    if len(name) > LONGEST:
        raise SchemaError(f"{len(name)} characters are too many", f"at most {LONGEST} are allowed")
    if not is_label(name):
        shown = f"{visible(name)!r} is not a name" if name else "a type needs a name"
        raise SchemaError(shown, "printable characters, with blanks only between words, and not *")


def add_type(project: Project, kind: Kind, label: str) -> Outcome:
    """Add a type behind the others, with a free key and a colour.

    Raises:
        SchemaError: The name is not allowed.
        ProjectError: The project cannot be written.
    """

    def edit(schema: LabelSchema) -> LabelSchema:
        check_name(schema, kind, label)
        new = ([label], []) if kind == "entity" else ([], [label])
        return project_settings.with_labels(schema, *new)

    return _edit(project, f"add {label}", edit)


def change_type(project: Project, kind: Kind, label: str, name: str, value: str) -> Outcome:
    """Give a type another ``colour`` or ``definition``.

    Raises:
        SchemaError: A value is not allowed, or the type is gone.
        ProjectError: The project cannot be written.
    """

    def edit(schema: LabelSchema) -> LabelSchema:
        plain, types, place = find_type(schema, kind, label)
        types[place][name] = value
        return parse_schema(plain, PLACE)

    return _edit(project, f"change {label}", edit)


def move_type(project: Project, kind: Kind, label: str, steps: int) -> Outcome:
    """Move a type up (negative) or down in the order, which gives the digits; at the ends it stays.

    Raises:
        SchemaError: The type is gone.
        ProjectError: The project cannot be written.
    """

    def edit(schema: LabelSchema) -> LabelSchema:
        plain, types, place = find_type(schema, kind, label)
        types.insert(max(0, place + steps), types.pop(place))
        return parse_schema(plain, PLACE)

    return _edit(project, f"move {label}", edit)


def choose_layers(project: Project, layers: Sequence[Layer]) -> Outcome:
    """Choose the layers that finishing an abstract finishes; none for those that are in use.

    Raises:
        ProjectError: The project cannot be written.
    """
    what = f"finish {', '.join(layers) or 'what is in use'}"

    def edit(schema: LabelSchema) -> LabelSchema:
        return parse_schema(replace(schema, finish=tuple(layers)).to_mapping(), PLACE)

    return _edit(project, what, edit)


def take_attributes(project: Project, attributes: Sequence[AttributeType]) -> Outcome:
    """Give a project the attributes of a schema, instead of its own; what was looked for stays.

    Raises:
        SchemaError: Items have an attribute or a value that would go, or an attribute stands on an unknown type.
        ProjectError: The project cannot be written.
    """

    def edit(schema: LabelSchema) -> LabelSchema:
        edited = replace(schema, attributes=tuple(attributes))
        if problem := _what_would_go(project.connection, edited):
            raise SchemaError(problem, "keep it in the file, or reject them at the desk first")
        return parse_schema(edited.to_mapping(), PLACE)

    return _edit(project, "take attributes", edit)


def rename_type(project: Project, kind: Kind, old: str, new: str) -> Outcome:
    """Give a type another name, in the schema and in all its items; what was decided about them stays.

    A dated backup comes first. Models that predict the old name predict the new one from now on.

    Raises:
        SchemaError: The name is not allowed, items have it already, or the type is gone.
        ProjectError: The project cannot be written.
    """
    check_name(project.schema, kind, new)
    project.backup(RENAME)
    with project.writing() as connection:
        params = {"what": f"rename {old} to {new}", "kind": kind, "old": old, "new": new}
        event_id = events.append(connection, project.author_id, RENAME, params)
        documents, items = _rename(connection, event_id, kind, old, new)
    return Outcome(event_id, documents, items)


def turn(connection: sqlite3.Connection, event: Event, own: int, *, back: bool) -> tuple[int, int]:
    """Take such an event back or do it again, inside the caller's transaction, under an event of its own.

    Returns:
        How many documents and items were changed.

    Raises:
        UndoRefusedError: The labels have been changed since, or items need a type that would go.
    """
    params = event.params
    try:
        if event.kind == RENAME:
            old, new = params["old"], params["new"]
            names = (new, old) if back else (old, new)
            return _rename(connection, own, params["kind"], *names, back=back)
    except SchemaError as error:
        problem = f"{params['what']} cannot be turned around: {error.message}"
        raise UndoRefusedError(problem, error.hint) from None
    there, wanted = (
        (params["after"], params["before"]) if back else (params["before"], params["after"])
    )
    bodies = dict(connection.execute("SELECT id, body FROM label_schema").fetchall())
    if bodies[max(bodies)] != bodies[there]:
        raise UndoRefusedError(
            f"{params['what']} cannot be turned around: the labels have been changed since",
            "undo that first; sciextract log lists it",
        )
    now = state_tables.label_schema(connection)
    restored = state_tables.parse_label_schema(wanted, bodies[wanted])
    for kind in get_args(Kind):
        left = {type_.label for type_ in types_of(restored, kind)}
        for going in {type_.label for type_ in types_of(now, kind)} - left:
            if count := _count(connection, kind, going):
                problem = f"{counted(count, 'item')} of the project are labelled {going}"
                raise UndoRefusedError(problem, "give them another type first")
    if problem := _what_would_go(connection, restored):
        raise UndoRefusedError(problem, "reject them first")
    state_tables.save_label_schema(connection, restored)
    return 0, 0


def _what_would_go(connection: sqlite3.Connection, schema: LabelSchema) -> str:
    """What items say that a schema does not know, in words; empty where it knows all."""
    rows = "SELECT label, value, count(*) FROM attribute WHERE state <> 'rejected' GROUP BY 1, 2"
    known = {kind.label: kind for kind in schema.attributes}
    for label, value, count in connection.execute(rows).fetchall():
        if label not in known or not known[label].takes(value):
            said = f"{label}: {value}" if value else label
            return f"the project says {said} {counted(count, 'time')}, which would go"
    return ""


def _edit(project: Project, what: str, edit: Callable[[LabelSchema], LabelSchema]) -> Outcome:
    with project.writing() as connection:
        schema = state_tables.label_schema(connection)
        if edit(schema) == schema:
            return Outcome(None, 0, 0)
        return Outcome(save_edit(project, EDIT, what, edit), 0, 0)


def save_edit(
    project: Project, word: str, what: str, edit: Callable[[LabelSchema], LabelSchema]
) -> int:
    """Make a schema that was edited the one that holds, inside the caller's transaction; gives the event."""
    connection = project.connection
    # Read here, so that what another process has changed meanwhile is kept.
    edited = edit(state_tables.label_schema(connection))
    before = first_value(connection, "SELECT max(id) FROM label_schema")
    after = state_tables.save_label_schema(connection, edited)
    params = {"what": what, "before": before, "after": after}
    return events.append(connection, project.author_id, word, params)


def _rename(
    connection: sqlite3.Connection,
    event_id: int,
    kind: Kind,
    old: str,
    new: str,
    *,
    back: bool = False,
) -> tuple[int, int]:
    """Rename a type inside the caller's transaction; gives how many documents and items had it."""
    schema = state_tables.label_schema(connection)
    check_name(schema, kind, new)
    if count := _count(connection, kind, new):
        raise SchemaError(
            f"{counted(count, 'item')} of the project are labelled {new} already",
            "add a type of that name instead, or give them another type first",
        )
    state_tables.save_label_schema(connection, _with_name(schema, kind, old, new, back=back))
    connection.execute("UPDATE tally SET label = ? WHERE kind = ? AND label = ?", (new, kind, old))
    _rename_covered(connection, event_id, kind, old, new)
    # By rows of the table, not document by document: a project may have a hundred thousand. They are read before any
    # of them is written.
    rows = connection.execute(
        f"""SELECT document_id, id, label, was, alternatives FROM {kind}
        WHERE label = :old OR instr(was, :said) OR instr(alternatives, :said) ORDER BY document_id""",
        {"old": old, "said": json.dumps(old)},
    )
    documents = items = 0
    originals: list[tuple[str | None, str | None, int, str]] = []
    for number, group in groupby(rows, key=itemgetter(0)):
        changes = []
        for _, item, *columns in group:
            before = dict(zip(("label", "was", "alternatives"), columns, strict=True))
            after = relabel(kind, before, {old: new})
            if after:
                items += "label" in after
                changes.append(Change(kind, (item,), {name: before[name] for name in after}, after))
            if "was" in after or "alternatives" in after:
                now = before | after
                originals.append((now["was"], now["alternatives"], number, item))
        if changes:
            events.append_changes(connection, event_id, number, changes)
            documents += 1
    connection.execute(f"UPDATE {kind} SET label = ? WHERE label = ?", (new, old))
    connection.executemany(
        f"UPDATE {kind} SET was = ?, alternatives = ? WHERE document_id = ? AND id = ?", originals
    )
    return documents, items


def _rename_covered(
    connection: sqlite3.Connection, event_id: int, kind: Kind, old: str, new: str
) -> None:
    """The type under its new name where somebody had looked for it."""
    was, becomes = (json.dumps(looked_for(kind, label)) for label in (old, new))
    rows = connection.execute(
        "SELECT document_id, covered FROM progress WHERE instr(covered, ?)", (was,)
    ).fetchall()
    for number, covered in rows:
        after = {"covered": covered.replace(was, becomes)}
        change = Change(ProgressRow.TABLE, (), {"covered": covered}, after)
        events.append_changes(connection, event_id, number, [change])
        connection.execute(
            "UPDATE progress SET covered = ? WHERE document_id = ?", (after["covered"], number)
        )


def _with_name(schema: LabelSchema, kind: Kind, old: str, new: str, *, back: bool) -> LabelSchema:
    plain, types, place = find_type(schema, kind, old)
    # A name that is taken back was none: the schema is the one that earlier changes of labels left.
    former = {*types[place].get("formerly", ()), *(() if back else (old,))} - {new}
    types[place] |= {"label": new, "formerly": sorted(former)}
    retarget(plain, kind, old, [new])
    return parse_schema(plain, PLACE)


def retarget(plain: dict[str, Any], kind: Kind, old: str, labels: Sequence[str]) -> None:
    """Let relations lead between others instead of a type, and attributes stand on them; an attribute left without any goes.

    Raises:
        SchemaError: A relation type leads to no other one.
    """
    if kind == "attribute":
        return

    def names(name: str, prefix: str = "") -> list[str]:
        return [prefix + label for label in labels] if name == prefix + old else [name]

    for relation in plain["relations"] if kind == "entity" else ():
        pairs = [
            (a, b) for head, tail in relation["pairs"] for a in names(head) for b in names(tail)
        ]
        if relation["pairs"] and not pairs:  # no pair would mean every pair
            problem = f"{relation['label']} has no legal pair without {old}"
            raise SchemaError(problem, f"remove {relation['label']} first")
        relation["pairs"] = [list(pair) for pair in dict.fromkeys(pairs)]
    prefix = RELATION_PREFIX if kind == "relation" else ""
    for attribute in plain.get("attributes", ()):
        on = [name for target in attribute["on"] for name in names(target, prefix)]
        attribute["on"] = list(dict.fromkeys(on))
    if "attributes" in plain:
        plain["attributes"] = [kept for kept in plain["attributes"] if kept["on"]]


def relabel(
    kind: str, values: Mapping[str, Any], names: Mapping[str, str], column: str = "label"
) -> dict[str, Any]:
    """Those columns of an item that hold a label, or of an attribute a ``value``, with a new name, with that."""
    said = values[column]
    found: dict[str, Any] = {column: names[said]} if said in names else {}
    was = json.loads(values["was"]) if values["was"] else {}
    if was.get(column) in names:
        found["was"] = json.dumps({**was, column: names[was[column]]})
    others = json.loads(values["alternatives"]) if values["alternatives"] else []
    are_values = kind == "attribute"
    if are_values == (column == "value") and any(choice in names for choice, _ in others):
        plain = [[names.get(name, name), score] for name, score in others]
        found["alternatives"] = json.dumps(plain, separators=(",", ":"))
    return found


def renamed(row: Row, names: Mapping[str, str], column: str = "label") -> Row:
    """The row of an item with new names, see :func:`relabel`."""
    values = to_values(row)
    return from_values(row.TABLE, values | relabel(row.TABLE, values, names, column))


def _count(connection: sqlite3.Connection, kind: str, label: str) -> int:
    query = "SELECT coalesce(sum(number), 0) FROM tally WHERE kind = ? AND label = ?"
    return int(first_value(connection, query, kind, label))


def find_type(
    schema: LabelSchema, kind: Kind, label: str
) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """The schema as plain values, in it the types of a kind, and the place of one among them.

    Raises:
        SchemaError: It is not there (any more).
    """
    labels = [type_.label for type_ in types_of(schema, kind)]
    if label not in labels:
        problem = f"the schema has no type {label} any more"
        raise SchemaError(problem, f"there are: {', '.join(labels) or 'none'}")
    plain = schema.to_mapping()
    return plain, plain[TABLES[kind]], labels.index(label)
