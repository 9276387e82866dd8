"""New label schemas: from a list of labels, or from the labels of annotated files."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.annotations import NOT_REJECTED
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import ANY_TYPE, LabelSchema
from sciextract.documents.schema_file import RESERVED_KEYS, parse_schema
from sciextract.errors import UsageError
from sciextract.store.project_settings import COLOURS

MOST_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class NewType:
    """An entity or relation type before it has a key and a colour.

    Attributes:
        label: Its name.
        definition: What counts as one.
        examples: Mentions.
        pairs: Of a relation: legal (head type, tail type); none: every pair.
        symmetric: Of a relation: whether head and tail may be exchanged.
    """

    label: str
    definition: str = ""
    examples: Sequence[str] = ()
    pairs: Sequence[tuple[str, str]] = ()
    symmetric: bool = False


def new_schema(
    name: str,
    entities: Sequence[NewType],
    relations: Sequence[NewType] = (),
    *,
    coreference: bool = False,
) -> LabelSchema:
    """A schema of these types; keys are letters of the labels, colours are chosen in order.

    Raises:
        SchemaError: A name, label or pair is not allowed.
        UsageError: There are more types than keys.
    """
    data = {
        "name": name,
        "coreference": coreference,
        "entities": [dict(table) for table in _tables(entities)],
        "relations": [
            {**table, "pairs": [list(pair) for pair in made.pairs], "symmetric": made.symmetric}
            for table, made in zip(_tables(relations), relations, strict=True)
        ],
    }
    return parse_schema(data, f"schema {name!r}")


def entity_type(text: str) -> NewType:
    """The type that ``LABEL=DEFINITION`` describes.

    >>> entity_type("Alloy = A metal made of several elements").definition
    'A metal made of several elements'
    """
    label, _, definition = text.partition("=")
    return NewType(label.strip(), definition.strip())


def relation_type(text: str, symmetric: AbstractSet[str] = frozenset()) -> NewType:
    """The type that ``LABEL=HEAD>TAIL,HEAD>TAIL`` describes; without pairs every pair is legal.

    >>> relation_type("HAS = Alloy > Property, Alloy > Phase").pairs
    (('Alloy', 'Property'), ('Alloy', 'Phase'))

    Raises:
        UsageError: A pair is not written as ``HEAD>TAIL``.
    """
    label, _, words = text.partition("=")
    pairs = []
    for pair in filter(str.strip, words.split(",")):
        head, _, tail = map(str.strip, pair.partition(">"))
        if not head or not tail:
            raise UsageError(
                f"{text!r}: {pair.strip()!r} is not a pair of types",
                f'write LABEL=HEAD>TAIL,HEAD>TAIL, e.g. "HAS=Alloy>Property"; {ANY_TYPE} is every type',
            )
        pairs.append((head, tail))
    return NewType(label.strip(), pairs=tuple(pairs), symmetric=label.strip() in symmetric)


@dataclass(slots=True)
class LabelFrequencies:
    """The labels of annotated documents.

    Attributes:
        mentions: How often each string has each entity label.
        relations: How often each pair of entity labels has each relation label.
        clusters: How many clusters there are.
    """

    mentions: dict[str, Counter[str]] = field(default_factory=dict)
    relations: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    clusters: int = 0

    def add(self, annotated: AnnotatedDocument) -> None:
        """Count the labels of a document; rejected items are left out."""
        found, text = annotated.annotations.in_states(NOT_REJECTED), annotated.document.text
        labels = {entity.id: entity.label for entity in found.entities if entity.label}
        for entity in found.entities:
            if entity.label:
                mention = " ".join(entity.text_of(text).split())
                self.mentions.setdefault(entity.label, Counter())[mention] += 1
        for relation in found.relations:
            if relation.head in labels and relation.tail in labels:
                pair = (labels[relation.head], labels[relation.tail])
                self.relations.setdefault(relation.label, Counter())[pair] += 1
        self.clusters += len(found.clusters)

    def schema(self, name: str) -> LabelSchema:
        """The schema with these labels, the pairs that occur, and the most frequent mentions as examples.

        Raises:
            UsageError: There are no labels, or more than keys.
        """
        if not self.mentions:
            raise UsageError("the files hold no entities with labels", "give annotated files")
        entities = [
            NewType(label, examples=[text for text, _ in texts.most_common(MOST_EXAMPLES)])
            for label, texts in _by_count(self.mentions)
        ]
        relations = [
            NewType(label, pairs=sorted(pairs)) for label, pairs in _by_count(self.relations)
        ]
        return new_schema(name, entities, relations, coreference=self.clusters > 0)


def _by_count(counts: Mapping[str, Counter[Any]]) -> list[tuple[str, Counter[Any]]]:
    """Labels with their counts, frequent ones first."""
    return sorted(counts.items(), key=lambda entry: (-entry[1].total(), entry[0]))


def _tables(types: Sequence[NewType]) -> Iterator[dict[str, Any]]:
    taken: set[str] = set()
    for number, type_ in enumerate(types):
        # One of the label's own letters where one is free: people remember what they can see in the word.
        letters = [letter for letter in type_.label.lower() if letter in string.ascii_lowercase]
        choices = (*letters, *map(str.upper, letters), *string.ascii_letters)
        key = next((letter for letter in choices if letter not in {*taken, *RESERVED_KEYS}), None)
        if key is None:
            problem = f"{len(types)} types, but only {len(string.ascii_letters)} keys"
            raise UsageError(problem, "merge labels before the import: sciextract convert --rename")
        taken.add(key)
        yield {
            "label": type_.label,
            "key": key,
            "colour": COLOURS[number % len(COLOURS)],
            "definition": type_.definition,
            "examples": list(type_.examples),
        }
