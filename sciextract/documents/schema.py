"""Label schemas: which entity and relation types there are, and which annotations fit them.

A schema is data. It is read from TOML by :mod:`sciextract.documents.schema_file`; nothing in code is
keyed by the name of a data set.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import Any, TypeVar

from sciextract.documents.annotations import Attribute, Layer, State
from sciextract.documents.document import AnnotatedDocument, warnings_of
from sciextract.errors import SchemaError

ANY_TYPE = "*"
"""In a legal pair: every entity type."""


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of mention.

    Attributes:
        label: The name in files and models, printable, blanks between words only.
        key: The one character that picks it at the review desk, unique among entity types.
        colour: ``#rrggbb``.
        definition: What counts as one, for annotators.
        examples: Mentions of this type.
        formerly: Names that it had in the project before; models that predict them are understood.
    """

    label: str
    key: str
    colour: str
    definition: str = ""
    examples: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationType:
    """A type of directed or symmetric relation.

    Attributes:
        label: The name in files and models, printable, blanks between words only.
        key: The one character that picks it at the review desk, unique among relation types.
        colour: ``#rrggbb``.
        symmetric: Whether head and tail may be exchanged without a change of meaning.
        pairs: Legal (head type, tail type); ``*`` stands for every type; empty allows every pair.
        definition: What counts as one, for annotators.
        examples: Phrases that express it.
        formerly: Names that it had in the project before; models that predict them are understood.
    """

    label: str
    key: str
    colour: str
    symmetric: bool = False
    pairs: tuple[tuple[str, str], ...] = ()
    definition: str = ""
    examples: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()

    def allows(self, head_label: str, tail_label: str) -> bool:
        """Whether an entity of the first type may be related to one of the second."""
        if not self.pairs or _matches(self.pairs, head_label, tail_label):
            return True
        return self.symmetric and _matches(self.pairs, tail_label, head_label)


ABSTRACT = "abstract"
"""In what an attribute may stand on: the whole abstract."""
RELATION_PREFIX = "relation:"
LINK = "link"
"""The attribute that says which concept of a vocabulary a mention means; formats have a place of its own for it."""


class AttributeKind(StrEnum):
    """Which values an attribute may have."""

    FLAG = "flag"
    CHOICE = "choice"
    VALUE = "value"
    TEXT = "text"
    LINK = LINK


@dataclass(frozen=True, slots=True)
class AttributeType:
    """A question about mentions, relations or the abstract: negated or not, the design of the study.

    Attributes:
        label: The name in files, printable, blanks between words only.
        key: The one character that picks it at the review desk, unique among attribute types.
        on: What it may stand on: entity types, ``*`` for all of them, ``relation:LABEL``, ``relation:*``, ``abstract``.
        kind: Which values it may have: none, one of ``values``, a number with its unit, any words, an id of a vocabulary.
        values: The values of a choice, in the order in which they are shown.
        vocabularies: The vocabularies of a link.
        definition: What it says, for annotators.
        formerly: Names that it had in the project before.
    """

    label: str
    key: str
    on: tuple[str, ...]
    kind: AttributeKind = AttributeKind.FLAG
    values: tuple[str, ...] = ()
    definition: str = ""
    formerly: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()

    def allows(self, target: str) -> bool:
        """Whether it may stand on ``abstract``, an entity type, or ``relation:LABEL``."""
        if target == ABSTRACT:
            return target in self.on
        prefix = RELATION_PREFIX if target.startswith(RELATION_PREFIX) else ""
        return target in self.on or prefix + ANY_TYPE in self.on

    def takes(self, value: str) -> bool:
        """Whether it may have this value; none stands for a flag that is set."""
        if self.kind is AttributeKind.FLAG:
            return not value
        return value in self.values if self.kind is AttributeKind.CHOICE else bool(value.strip())

    @property
    def allowed_values(self) -> str:
        """Its values in words."""
        if self.kind is AttributeKind.FLAG:
            return "none, it is there or not"
        return ", ".join(self.values) or "any text"


@dataclass(frozen=True, slots=True)
class LabelSchema:
    """The entity, relation and attribute types of a project, in the order in which they are shown.

    Attributes:
        name: Short name, such as ``scierc``.
        title: One line for people.
        version: The schema's own version, free text.
        coreference: Whether mentions of the same thing are grouped.
        finish: The layers that finishing an abstract finishes; empty for entities and those that are in use.
    """

    name: str
    title: str
    version: str
    coreference: bool
    entities: tuple[EntityType, ...]
    relations: tuple[RelationType, ...] = ()
    attributes: tuple[AttributeType, ...] = ()
    finish: tuple[Layer, ...] = ()

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers that it has labels for."""
        has = {Layer.RELATIONS: bool(self.relations), Layer.COREFERENCE: self.coreference}
        return frozenset([Layer.ENTITIES, *(layer for layer in has if has[layer])])

    @property
    def types(self) -> tuple[EntityType | RelationType, ...]:
        """All types: those of entities, then those of relations."""
        return (*self.entities, *self.relations)

    def without_examples(self) -> LabelSchema:
        """The same types without the mentions and phrases that show them."""
        return replace(
            self,
            entities=tuple([replace(entity, examples=()) for entity in self.entities]),
            relations=tuple([replace(relation, examples=()) for relation in self.relations]),
        )

    @property
    def entity_labels(self) -> tuple[str, ...]:
        """Labels of the entity types, in order."""
        return tuple([entity.label for entity in self.entities])

    @property
    def relation_labels(self) -> tuple[str, ...]:
        """Labels of the relation types, in order."""
        return tuple([relation.label for relation in self.relations])

    @property
    def names(self) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """What types are called now, by former names: those of entities, of relations, of attributes."""
        return _names(self.entities), _names(self.relations), _names(self.attributes)

    @property
    def symmetric_labels(self) -> frozenset[str]:
        """Labels of the relation types without direction."""
        return frozenset([relation.label for relation in self.relations if relation.symmetric])

    def entity(self, label: str) -> EntityType:
        """The entity type of that label.

        Raises:
            SchemaError: The schema has no such type.
        """
        return _named(self.entities, label, f"schema {self.name!r} has no entity type")

    def relation(self, label: str) -> RelationType:
        """The relation type of that label.

        Raises:
            SchemaError: The schema has no such type.
        """
        return _named(self.relations, label, f"schema {self.name!r} has no relation type")

    def attribute(self, label: str) -> AttributeType:
        """The attribute type of that label.

        Raises:
            SchemaError: The schema has no such type.
        """
        return _named(self.attributes, label, f"schema {self.name!r} has no attribute")

    def attributes_of(self, target: str) -> tuple[AttributeType, ...]:
        """The attributes that may stand on ``abstract``, an entity type, or ``relation:LABEL``, in order."""
        return tuple([attribute for attribute in self.attributes if attribute.allows(target)])

    def legal_relations(self, head_label: str, tail_label: str) -> tuple[str, ...]:
        """Labels of the relations that may lead from one entity type to another, in order."""
        return tuple([r.label for r in self.relations if r.allows(head_label, tail_label)])

    def to_mapping(self) -> dict[str, Any]:
        """The schema as plain values for JSON; :func:`~sciextract.documents.schema_file.parse_schema` reads them back."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # tuples become lists
        tables = (values[name] for name in ("entities", "relations", "attributes"))
        for table in (*chain.from_iterable(tables), values):
            for name in ("formerly", "attributes", "finish", "vocabularies"):
                if not table.get(name, True):
                    del table[name]  # earlier versions do not know it
        return values

    @property
    def content_hash(self) -> str:
        """Hex SHA-256 of what changes the meaning of annotations: labels, symmetry, pairs, coreference, attributes.

        Names, colours, keys, wording and order do not change it.
        """
        rules: dict[str, Any] = {
            "coreference": self.coreference,
            "entities": sorted(self.entity_labels),
            "relations": {
                kind.label: {"symmetric": kind.symmetric, "pairs": sorted(set(kind.pairs))}
                for kind in self.relations
            },
        }
        if self.attributes:  # without them the hash is that of earlier versions
            rules["attributes"] = {
                attribute.label: [attribute.kind, sorted(attribute.on), sorted(attribute.values)]
                for attribute in self.attributes
            }
        canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def validate_annotations(annotated: AnnotatedDocument, schema: LabelSchema) -> tuple[str, ...]:
    """What in a document does not fit the schema: one warning a kind, with its count.

    Rejected items are not looked at; mentions without a type are allowed. Warnings never change
    annotations: gold that breaks the rules stays as it is.
    """
    annotations, counts = annotated.annotations, Counter[str]()
    has = f"schema {schema.name!r} has"
    types = {entity.id: entity.label for entity in annotations.entities}
    for entity in annotations.entities:
        known = entity.label in ("", *schema.entity_labels)
        if entity.state is not State.REJECTED and not known:
            allowed = ", ".join(schema.entity_labels)
            counts[f"unknown entity label {entity.label!r}; {has} {allowed}"] += 1
    for relation in annotations.relations:
        if relation.state is State.REJECTED:
            continue
        label = relation.label
        if label not in schema.relation_labels:
            allowed = ", ".join(schema.relation_labels) or "none"
            counts[f"unknown relation label {label!r}; {has} {allowed}"] += 1
        elif not {relation.head, relation.tail} <= types.keys():
            problem = "with an argument that is not an entity of the document"
            counts[f"relation {label} {problem}"] += 1
        else:
            head, tail = types[relation.head], types[relation.tail]
            # An unknown type has a warning of its own.
            known = {head, tail} <= {*schema.entity_labels}
            if known and not schema.relation(label).allows(head, tail):
                problem = f"is not a legal pair of schema {schema.name!r}"
                counts[f"relation {label} from {head} to {tail} {problem}"] += 1
    relation_types = {relation.id: relation.label for relation in annotations.relations}
    targets = {"": ABSTRACT, **types}
    targets |= {key: RELATION_PREFIX + label for key, label in relation_types.items()}
    said = Counter(
        (attribute.target, attribute.label)
        for attribute in annotations.attributes
        if attribute.state is not State.REJECTED
    )
    for _, label in (place for place, number in said.items() if number > 1):
        counts[f"attribute {label} has several values in one place; the first one counts"] += 1
    for attribute in annotations.attributes:
        if attribute.state is not State.REJECTED:
            counts.update(attribute_problems(attribute, targets.get(attribute.target), schema))
    clusters = sum(cluster.state is not State.REJECTED for cluster in annotations.clusters)
    if clusters and not schema.coreference:
        counts[f"clusters, but schema {schema.name!r} has no coreference"] = clusters
    return warnings_of(counts)


def attribute_problems(
    attribute: Attribute, target: str | None, schema: LabelSchema
) -> Iterator[str]:
    """What of an attribute does not fit the schema; ``target`` is its kind, ``None`` where it is not there."""
    known = {kind.label: kind for kind in schema.attributes}
    kind = known.get(attribute.label)
    if kind is None:
        allowed = ", ".join(known) or "none"
        yield f"unknown attribute {attribute.label!r}; schema {schema.name!r} has: {allowed}"
    elif target is None:
        yield f"attribute {attribute.label} of an item that the document does not have"
    elif not kind.allows(target):
        yield f"attribute {attribute.label} on {target}, but it may stand on: {', '.join(kind.on)}"
    elif not kind.takes(attribute.value):
        yield f"attribute {attribute.label} is {attribute.value!r}; allowed: {kind.allowed_values}"


_Type = TypeVar("_Type", EntityType, RelationType, AttributeType)


def _named(types: Iterable[_Type], label: str, problem: str) -> _Type:
    by_label = {kind.label: kind for kind in types}
    if label not in by_label:
        raise SchemaError(f"{problem} {label!r}; choose from: {', '.join(by_label) or 'none'}")
    return by_label[label]


def _names(types: Iterable[EntityType | RelationType | AttributeType]) -> dict[str, str]:
    now = {kind.label for kind in types}
    return {name: kind.label for kind in types for name in kind.formerly if name not in now}


def match_names(
    mine: Sequence[EntityType | RelationType | AttributeType],
    theirs: Sequence[EntityType | RelationType | AttributeType],
) -> dict[str, str]:
    """What another schema's types are called in this one, by their names there where those differ.

    A type that was renamed, in one of the two schemas or in both, is the same type.

    >>> match_names([EntityType("Pronoun", "p", "#000", formerly=("Generic",))], [EntityType("Generic", "g", "#000")])
    {'Generic': 'Pronoun'}
    """
    own = _names(mine) | {known.label: known.label for known in mine}
    taken = {other.label for other in theirs}
    found: dict[str, str] = {}
    for other in theirs:
        former = {own[name] for name in other.formerly if name in own} - taken
        label = own.get(other.label) or (former.pop() if len(former) == 1 else other.label)
        names = {other.label, *(name for name in other.formerly if name not in taken)}
        found |= dict.fromkeys(names - {label}, label)
    return found


def _matches(pairs: Iterable[tuple[str, str]], head_label: str, tail_label: str) -> bool:
    return any(
        head in (ANY_TYPE, head_label) and tail in (ANY_TYPE, tail_label) for head, tail in pairs
    )
