"""What a project keeps of its own settings: new types of its label schema, the chosen models, the terms of its releases."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from sciextract.codec import decode
from sciextract.documents.annotations import Annotations
from sciextract.documents.schema import (
    RELATION_PREFIX,
    AttributeType,
    EntityType,
    LabelSchema,
    RelationType,
    match_names,
)
from sciextract.documents.schema_file import RESERVED_KEYS, parse_schema
from sciextract.errors import ProjectDamagedError
from sciextract.store import events
from sciextract.store.documents import decode_annotations, decode_covered
from sciextract.store.events import now
from sciextract.store.rows import rename_covered
from sciextract.store.sqlite import first_value
from sciextract.store.state_tables import label_schema

if TYPE_CHECKING:
    from sciextract.store.project import Project

_Type = TypeVar("_Type", EntityType, RelationType, AttributeType)


# Readable on light and dark terminals; they repeat from the eleventh type on.
COLOURS = (
    *("#4c78d8", "#22a045", "#b8620a", "#b030b0", "#0fa3a3", "#d13438"),
    *("#8a7a00", "#7a5cff", "#c2185b", "#6b6f76"),
)
_KEYS = "1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_annotations(connection: sqlite3.Connection, body: bytes) -> Annotations:
    """What a source said, as it is kept, with the names that types have now."""
    schema, said = label_schema(connection), decode_annotations(body)
    return said.renamed(*schema.names)


def read_covered(connection: sqlite3.Connection, body: bytes) -> frozenset[str] | None:
    """What the source of annotations has looked for, with the names that types have now; ``None`` where it is unknown."""
    covered, schema = decode_covered(body), label_schema(connection)
    return None if covered is None else frozenset(rename_covered(covered, *schema.names))


def with_labels(schema: LabelSchema, entities: list[str], relations: list[str]) -> LabelSchema:
    """The schema with more types, each with a free key and a colour; known ones are passed over."""
    for label in entities:
        if label not in schema.entity_labels:
            new = EntityType(label, *_choose_look([type_.key for type_ in schema.entities]))
            schema = replace(schema, entities=(*schema.entities, new))
    for label in relations:
        if label not in schema.relation_labels:
            link = RelationType(label, *_choose_look([type_.key for type_ in schema.relations]))
            schema = replace(schema, relations=(*schema.relations, link))
    return parse_schema(schema.to_mapping(), f"schema {schema.name!r}")


def merge_schemas(mine: LabelSchema, theirs: LabelSchema) -> tuple[LabelSchema, list[str]]:
    """One schema with the types of another one as well, and which those are.

    They keep their look and definition. Types of both take a missing definition from there, and a name that a type
    has there becomes one of its former names here.
    """
    names = match_names(mine.entities, theirs.entities)

    def join(own: Sequence[_Type], others: Sequence[_Type]) -> tuple[_Type, ...]:
        called, by_label = match_names(own, others), {known.label: known for known in own}
        for other in others:
            label = called.get(other.label, other.label)
            if label in by_label:
                here: _Type = by_label[label]
                former = tuple(sorted({*here.formerly, other.label} - {label}))
                definition = here.definition or other.definition
                by_label[label] = replace(here, definition=definition, formerly=former)
            else:
                taken = [known.key for known in by_label.values()]
                key = other.key if other.key not in taken else _choose_look(taken)[0]
                by_label[label] = replace(other, key=key)
        return tuple(by_label.values())

    relations = tuple(
        replace(
            relation,
            pairs=tuple(
                (names.get(head, head), names.get(tail, tail)) for head, tail in relation.pairs
            ),
        )
        for relation in theirs.relations
    )
    links = match_names(mine.relations, theirs.relations)
    targets = names | {RELATION_PREFIX + old: RELATION_PREFIX + new for old, new in links.items()}
    attributes = tuple(
        replace(kind, on=tuple(targets.get(target, target) for target in kind.on))
        for kind in theirs.attributes
    )
    merged = replace(
        mine,
        entities=join(mine.entities, theirs.entities),
        relations=join(mine.relations, relations),
        attributes=join(mine.attributes, attributes),
    )
    lacking = [
        kind.label
        for name in ("entities", "relations", "attributes")
        for kind in getattr(merged, name)
        if kind.label not in {known.label for known in getattr(mine, name)}
    ]
    return parse_schema(merged.to_mapping(), f"schema {mine.name!r}"), lacking


def _choose_look(taken: list[str]) -> tuple[str, str]:
    """A free key and a colour. Beyond all letters, rarer characters serve."""
    # More than 60 types are possible, if hardly usable by keys.
    further = filter(str.isalpha, map(chr, range(0xC0, 0x10000)))
    used = RESERVED_KEYS.union(taken)
    return next(key for key in chain(_KEYS, further) if key not in used), COLOURS[
        len(taken) % len(COLOURS)
    ]


_MODELS = "models"


def model_choices(connection: sqlite3.Connection) -> list[dict[str, Any]] | None:
    """All choices of models and rollbacks, oldest first; ``None`` where they cannot be understood."""
    body = first_value(connection, "SELECT value FROM meta WHERE key = ?", _MODELS)
    try:
        entries = json.loads(body or "[]")
    except (ValueError, TypeError):
        return None
    known = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    return entries if known else None


def add_model_choice(project: Project, entry: dict[str, Any]) -> None:
    """Add a choice or a rollback, with its event."""
    with project.writing() as connection:
        entries = [*(model_choices(connection) or []), {"at": now(), **entry}]
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_MODELS, json.dumps(entries))
        )
        events.append(connection, project.author_id, events.MODEL, entry)


_TERMS = "release terms"
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


@dataclass(frozen=True, slots=True)
class ReleaseTerms:
    """What the releases of a project say of their use.

    Attributes:
        licence: An SPDX identifier such as ``CC-BY-4.0``, or other words; empty for nothing.
        citation: How to cite it, one line or a BibTeX entry; empty for nothing.
    """

    licence: str = ""
    citation: str = ""

    def for_hub(self) -> dict[str, str]:
        """Its licence in the words of the Hugging Face hub."""
        if _IDENTIFIER.fullmatch(self.licence):
            return {"license": self.licence.lower()}
        return {"license": "other", "license_name": self.licence}


def read_terms(project: Project) -> ReleaseTerms:
    """The terms of the last release; empty before the first.

    Raises:
        ProjectDamagedError: They cannot be understood.
    """
    body = first_value(project.connection, "SELECT value FROM meta WHERE key = ?", _TERMS)
    return decode(body or "{}", ReleaseTerms, project.path, error=ProjectDamagedError)


def save_terms(project: Project, terms: ReleaseTerms) -> None:
    """Keep the terms for the next release.

    Raises:
        ProjectError: The project cannot be written.
    """
    with project.writing() as connection:
        values = (_TERMS, json.dumps(asdict(terms)))
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)
