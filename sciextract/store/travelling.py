"""What a project knows of an abstract, out of it and into another project by way of an exchange record."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from sciextract.documents.annotations import Completeness, Layer, State
from sciextract.documents.project_state import DecidedItems, ItemKey, ProjectState
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import is_label, parse_schema
from sciextract.store import events
from sciextract.store.document_state import Context, DocumentState, whole
from sciextract.store.label_changes import TABLES
from sciextract.store.rows import (
    BY_PERSONS,
    ProgressRow,
    covered_labels,
    names_in,
    original_of,
)
from sciextract.store.sqlite import storable

if TYPE_CHECKING:
    from sciextract.store.project import Project

_EVENTS = """SELECT e.id, s.name, coalesce(json_extract(e.params, '$.last'), e.at) FROM json_each(?) j
    JOIN event e ON e.id = j.value JOIN source s ON s.id = e.author_id ORDER BY e.id"""


def state_of(project: Project, number: int, states: Collection[State]) -> ProjectState:
    """What travels with an abstract.

    Args:
        project: The open project.
        number: The abstract.
        states: Those of the items in the view; rejected ones come as well.
    """
    doc = project.document_state(number)
    progress = doc.progress or ProgressRow()
    rows = list(doc.items_of())
    by_event: dict[int, list[ItemKey]] = defaultdict(list)
    for row in rows:
        if row.state in BY_PERSONS:
            by_event[row.event_id].append((row.TABLE, *row.key))
    found = project.connection.execute(_EVENTS, (json.dumps([*by_event]),))
    return ProjectState(
        whole(doc, project.sources, frozenset({*states, State.REJECTED})).annotations,
        {layer: getattr(progress, layer) for layer in Layer},
        tuple(sorted(progress.covered)),
        progress.flagged,
        progress.note,
        tuple(
            DecidedItems(author, at, tuple(sorted(by_event[event]))) for event, author, at in found
        ),
        tuple(((row.TABLE, *row.key), original_of(row)) for row in rows if row.was),
        former_names(project.schema),
    )


def former_names(schema: LabelSchema) -> dict[str, tuple[str, ...]]:
    """The former names of types that no type has now, by ``entities:LABEL`` and the like."""
    found: dict[str, tuple[str, ...]] = {}
    for table, names in zip(TABLES.values(), schema.names, strict=True):
        for former, label in names.items():
            name = f"{table}:{label}"
            found[name] = (*found.get(name, ()), former)
    return found


def with_former_names(schema: LabelSchema, former: Mapping[str, tuple[str, ...]]) -> LabelSchema:
    """The schema with more former names of types that it has."""
    plain = schema.to_mapping()
    for table in TABLES.values():
        for known in plain.get(table, ()):
            names = filter(is_label, former.get(f"{table}:{known['label']}", ()))
            known["formerly"] = sorted({*known.get("formerly", ()), *names})
    return parse_schema(plain, f"schema {schema.name!r}")


def differs(doc: DocumentState, state: ProjectState) -> bool:
    """Whether layers, flag or note of an abstract are others than here."""
    progress = doc.progress or ProgressRow()
    here = {layer: getattr(progress, layer) for layer in Layer}
    remarks = state.flagged, state.note
    return here | state.layers != here or remarks != (progress.flagged, progress.note)


def take_state(project: Project, context: Context, doc: DocumentState, state: ProjectState) -> None:
    """Bring what travelled with an abstract into one that nobody has worked on here; its items are there already.

    What a file claims is believed as far as it fits: a layer in which something waits is not done, a type that the
    schema lacks is not covered.
    """
    rows = {(row.TABLE, *row.key): row for row in doc.items_of()}
    decided = {key: row for key, row in rows.items() if row.state in BY_PERSONS}
    for author in dict.fromkeys(decision.author for decision in state.decisions):
        own = [decision for decision in state.decisions if decision.author == author]
        keys = {key for decision in own for key in decision.items} & decided.keys()
        if not (keys and author.startswith("person:")):
            continue
        times = sorted(decision.at.isoformat(timespec="microseconds") for decision in own)
        params = {"abstract": storable(doc.stored.document.doc_key), "decisions": len(keys)}
        params |= {"first": times[0], "last": times[-1]}
        author_id = project.source_id(author)
        event_id = events.append(project.connection, author_id, events.MERGED, params)
        decided |= {key: replace(decided[key], event_id=event_id) for key in keys}
    for key, original in state.originals:
        with suppress(ValueError, KeyError):  # not what sciextract writes, or of no such item
            edited = replace(decided[key], was=json.dumps(original))
            original_of(edited)
            decided[key] = edited
    for row in decided.values():
        doc.put(row)
    progress, layers = doc.progress or ProgressRow(), {}
    for layer, completeness in state.layers.items():
        looked_for = covered_labels(state.covered, layer)  # suggestions of later types may wait
        waits = completeness is Completeness.DONE and doc.count_undecided(layer, labels=looked_for)
        layers[layer.value] = Completeness.IN_PROGRESS if waits else completeness
    done = {layer for layer in Layer if layers.get(layer.value) is Completeness.DONE}
    known = names_in(context.schema, done)
    progress = replace(
        progress,
        covered=tuple(sorted(known.intersection(state.covered))),
        flagged=state.flagged,  # a person may have cleared the flag of the same warnings there
        note=storable(state.note) or progress.note,
    )
    doc.put(replace(progress, **cast("dict[str, Any]", layers)))
