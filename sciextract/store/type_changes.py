"""Types that are merged, split and removed, with their items: each is one event of the log, and undo takes it back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from sciextract.documents.annotations import State
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema
from sciextract.errors import SchemaError
from sciextract.store import project_settings
from sciextract.store.actions.api import Work
from sciextract.store.coverage import MISSING
from sciextract.store.document_state import Context, DocumentState, Outcome
from sciextract.store.incoming import same_relations
from sciextract.store.label_changes import (  # fmt: skip
    MERGE,
    PLACE,
    REMOVE,
    SPLIT,
    Kind,
    check_name,
    find_type,
    looked_for,
    renamed,
    retarget,
    save_edit,
    types_of,
)
from sciextract.store.project import Project
from sciextract.store.queries import SavedQueue, remove_queue, save_queue
from sciextract.store.rows import AttributeRow, EntityRow, RelationRow
from sciextract.store.sqlite import first_value
from sciextract.text.english import counted

_ORDER = (
    State.ACCEPTED,
    State.EDITED,
    State.ADDED,
    State.IMPORTED,
    State.UNDECIDED,
    State.REJECTED,
)
"""Of two items that are one now, the one that stays: what a person found right first."""


def merge_types(project: Project, kind: Kind, old: str, new: str) -> Outcome:
    """Give all items of a type another one, which knows the name from now on; what became doubles is joined.

    Somebody has looked for the type only where they had looked for both.

    Raises:
        SchemaError: There is no such type, both are the same, or one is symmetric and the other is not.
        ProjectError: The project cannot be written.
    """
    if old == new:
        raise SchemaError(f"{old} cannot be merged into itself", "name two types")
    apart = first_value(project.connection, _CONTRADICTIONS, old, new) if kind == "attribute" else 0
    if apart:
        problem = f"{old} and {new} have different values {counted(apart, 'time')}"
        raise SchemaError(problem, "give both the same value at the desk first, or reject one")

    def edit(schema: LabelSchema) -> LabelSchema:
        plain, types, place = find_type(schema, kind, old)
        into, gone = types[find_type(schema, kind, new)[2]], types.pop(place)
        former = {*into.get("formerly", ()), *gone.get("formerly", ()), old} - {new}
        into["formerly"] = sorted(former)
        if kind == "attribute":
            if into["kind"] != gone["kind"]:
                problem = f"{old} is a {gone['kind']}, {new} a {into['kind']}"
                raise SchemaError(problem, "only attributes of one kind can be merged")
            for name in ("on", "values"):
                into[name] = list(dict.fromkeys([*into[name], *gone[name]]))
        if kind == "relation":
            if into["symmetric"] != gone["symmetric"]:
                problem = f"one of {old} and {new} has a direction, the other has none"
                raise SchemaError(problem, "make both alike in the schema first")
            both = [into["pairs"], gone["pairs"]]
            pairs = dict.fromkeys(tuple(pair) for pair in (*both[0], *both[1]))
            into["pairs"] = [list(pair) for pair in pairs] if all(both) else []
        retarget(plain, kind, old, [new])
        return parse_schema(plain, PLACE)

    def work(doc: DocumentState, context: Context) -> None:
        for row in _rows(doc, kind):
            context.items += row.label == old
            doc.put(renamed(row, {old: new}))
        _join_entities(doc, new)
        symmetric = context.schema.symmetric_labels
        _join_relations(doc, symmetric)
        _join_attributes(doc)
        names = {looked_for(kind, old), looked_for(kind, new)}
        both = doc.progress is not None and names <= {*doc.progress.covered}
        _cover(doc, gone={looked_for(kind, old)} if both else names)

    return _change(project, MERGE, f"merge {old} into {new}", kind, (old, new), edit, work)


def remove_type(project: Project, kind: Kind, label: str) -> Outcome:
    """Take a type out of the schema and its items out of the project, with the relations and places in clusters of mentions.

    Raises:
        SchemaError: There is no such type, it is the only one, or a relation type leads to no other one.
        ProjectError: The project cannot be written.
    """

    def edit(schema: LabelSchema) -> LabelSchema:
        plain, types, place = find_type(schema, kind, label)
        del types[place]
        retarget(plain, kind, label, [])
        return parse_schema(plain, PLACE)

    def work(doc: DocumentState, context: Context) -> None:
        for row in [item for item in _rows(doc, kind) if item.label == label]:
            for upon in doc.standing_on(row.TABLE, row.key):
                doc.drop(upon)
            doc.drop(row)
            context.items += 1
        _dissolve_clusters(doc)
        _cover(doc, gone={looked_for(kind, label)})

    return _change(project, REMOVE, f"remove {label}", kind, (label,), edit, work)


def split_type(
    project: Project, kind: Kind, label: str, parts: Sequence[str]
) -> tuple[Outcome, SavedQueue | None]:
    """Add types that a type is split into, and save a queue of the abstracts with items of it, to give them one of those.

    Where nobody found any item of the type, the new ones have been looked for as well.

    Raises:
        SchemaError: There is no such type, or a name is not allowed.
        ProjectError: The project cannot be written.
    """
    if label in parts:
        raise SchemaError(f"{label} cannot be split into itself", "it stays until it is removed")
    numbers: list[int] = []

    def edit(schema: LabelSchema) -> LabelSchema:
        find_type(schema, kind, label)
        known = {type_.label for type_ in types_of(schema, kind)}
        for part in parts:
            if part not in known:
                check_name(schema, kind, part)
        added = [list(parts), []] if kind == "entity" else [[], list(parts)]
        plain = project_settings.with_labels(schema, *added).to_mapping()
        retarget(plain, kind, label, [label, *parts])
        return parse_schema(plain, PLACE)

    def work(doc: DocumentState, context: Context) -> None:
        rows = _rows(doc, kind)
        if any(row.label == label and row.state is not State.REJECTED for row in rows):
            numbers.append(doc.number)
        elif doc.progress is not None and looked_for(kind, label) in doc.progress.covered:
            _cover(doc, come={looked_for(kind, part) for part in parts})

    what = f"split {label} into {', '.join(parts)}"
    outcome = _change(project, SPLIT, what, kind, (label,), edit, work)
    if not numbers:
        return outcome, None
    remove_queue(project, f"split {label}")
    sort = MISSING + "\n".join(looked_for(kind, part) for part in parts)
    return outcome, save_queue(project, SavedQueue(f"split {label}", tuple(numbers), sort=sort))


def _change(
    project: Project, word: str, what: str, kind: Kind, labels: tuple[str, ...],
    edit: Callable[[LabelSchema], LabelSchema], work: Work,
) -> Outcome:  # fmt: skip
    edit(project.schema)  # what is refused leaves no backup
    project.backup(word)
    with project.writing() as connection:
        context = project.context(save_edit(project, word, what, edit))
        numbers: set[int] = set()
        for label in labels:
            rows = connection.execute(
                f"""SELECT document_id FROM {kind}
                WHERE label = :label OR instr(was, :said) OR instr(alternatives, :said)
                UNION SELECT document_id FROM progress WHERE instr(covered, :covered)""",
                {
                    "label": label,
                    "said": json.dumps(label),
                    "covered": json.dumps(looked_for(kind, label)),
                },
            )
            numbers |= {number for (number,) in rows}
        documents = sum(project.work_on(number, work, context) for number in sorted(numbers))
    return Outcome(context.event_id, documents, context.items)


def change_value(
    project: Project, label: str, old: str, new: str | None, *, known: bool = False
) -> Outcome:
    """Give a value of a choice another name, everywhere; without one it is removed, with what says it.

    Args:
        known: Whether the attribute has the other value already, and both become one.

    Raises:
        SchemaError: There is no such value, none would be left, or the other one is there or not against ``known``.
        ProjectError: The project cannot be written.
    """

    def edit(schema: LabelSchema) -> LabelSchema:
        plain, types, place = find_type(schema, "attribute", label)
        values = types[place]["values"]
        listed = f"{label} has: {', '.join(values) or 'no listed values'}"
        if old not in values or old == new or (known and new not in values):
            missing = new if old in values and old != new else old
            raise SchemaError(f"{missing} is no other value of {label}", listed)
        if new in values and not known:
            raise SchemaError(f"{new} is a value of {label} already", "merge joins two values")
        if new is None and len(values) == 1:
            raise SchemaError(f"{old} is the only value of {label}", f"remove {label} instead")
        at = values.index(old)
        values[at : at + 1] = [] if new is None or known else [new]
        return parse_schema(plain, PLACE)

    def work(doc: DocumentState, context: Context) -> None:
        for row in [said for said in doc.attributes if said.label == label]:
            context.items += row.value == old
            if new is not None:
                doc.put(renamed(row, {old: new}, "value"))
            elif row.value == old:
                doc.drop(row)
            else:
                others = tuple(choice for choice in row.alternatives if choice.label != old)
                doc.put(replace(row, alternatives=others))

    what = f"change {label}: {old} to {new}" if new else f"remove {label}: {old}"
    word = MERGE if new else REMOVE
    return _change(project, word, what, "attribute", (label,), edit, work)


_CONTRADICTIONS = """SELECT count(*) FROM attribute a JOIN attribute b
    ON b.document_id = a.document_id AND b.target = a.target AND b.value <> a.value
    WHERE a.label = ? AND b.label = ? AND a.state NOT IN ('undecided', 'rejected')
    AND b.state NOT IN ('undecided', 'rejected')"""


def _rows(doc: DocumentState, kind: Kind) -> list[EntityRow | RelationRow | AttributeRow]:
    if kind == "attribute":
        return [*doc.attributes]
    return [*doc.entities] if kind == "entity" else [*doc.relations]


def _cover(doc: DocumentState, gone: Collection[str] = (), come: Collection[str] = ()) -> None:
    """Types that nobody has looked for any more, and others that somebody has."""
    if doc.progress is not None:
        covered = {*doc.progress.covered}.difference(gone).union(come)
        doc.put(replace(doc.progress, covered=tuple(sorted(covered))))


def _join_entities(doc: DocumentState, label: str) -> None:
    """Join mentions of a type on the same characters; relations and places in clusters go to the one that stays."""
    rows = sorted(doc.entities, key=lambda row: _ORDER.index(row.state))
    for row in (mention for mention in rows if mention.label == label):
        twins = [twin for twin in rows if twin.fragments == row.fragments and twin.label == label]
        if row is twins[0]:
            continue
        for relation in doc.relations_of(row.id):
            ends = [twins[0].id if end == row.id else end for end in (relation.head, relation.tail)]
            if ends[0] == ends[1]:
                doc.drop(relation)
            else:
                doc.put(replace(relation, head=ends[0], tail=ends[1]))
        homes = [link for link in doc.links_of(twins[0].id) if link.state is not State.REJECTED]
        for link in doc.links_of(row.id):
            known = doc.link(link.cluster_id, twins[0].id)
            better = known is None or _ORDER.index(link.state) < _ORDER.index(known.state)
            free = not homes or homes == [known] or link.state is State.REJECTED
            if better and free:
                doc.put(replace(link, entity_id=twins[0].id))
            doc.drop(link)
        _hand_on_attributes(doc, row, twins[0])
        doc.drop(row)
    _dissolve_clusters(doc)


def _join_relations(doc: DocumentState, symmetric: frozenset[str]) -> None:
    """Join relations of one type between the same mentions."""
    for row in sorted(doc.relations, key=lambda row: _ORDER.index(row.state)):
        if doc.relation(row.id) is not None:
            ends = row.head, row.tail
            for twin in same_relations(doc, ends, row.label in symmetric, row.label):
                if twin.id != row.id:
                    _hand_on_attributes(doc, twin, row)
                    doc.drop(twin)


def _join_attributes(doc: DocumentState) -> None:
    """Join attributes of one type of the same item."""
    seen: set[tuple[str, str]] = set()
    for row in sorted(doc.attributes, key=lambda row: _ORDER.index(row.state)):
        if (row.target, row.label) in seen:
            doc.drop(row)
        seen.add((row.target, row.label))


def _hand_on_attributes(
    doc: DocumentState, going: EntityRow | RelationRow, stays: EntityRow | RelationRow
) -> None:
    """What is said of an item that is joined with another, unless that has the same attribute."""
    there = {attribute.label for attribute in doc.attributes_of(stays.id)}
    for attribute in doc.attributes_of(going.id):
        if attribute.label not in there and (stays.in_view or not attribute.in_view):
            doc.put(replace(attribute, target=stays.id))


def _dissolve_clusters(doc: DocumentState) -> None:
    """Drop clusters that have lost mentions and have one or none left."""
    before = DocumentState.of(doc.stored, doc.before)
    for cluster in doc.clusters:
        if len(doc.members(cluster.id)) < min(2, len(before.members(cluster.id))):
            for link in [member for member in doc.links if member.cluster_id == cluster.id]:
                doc.drop(link)
