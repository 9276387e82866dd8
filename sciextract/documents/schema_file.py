"""Label schemas in TOML: reading, where every mistake names file, key and the values allowed, and writing."""

from __future__ import annotations

import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sciextract.codec import convert
from sciextract.documents.annotations import Layer
from sciextract.documents.schema import (
    ABSTRACT,
    ANY_TYPE,
    LINK,
    RELATION_PREFIX,
    AttributeKind,
    AttributeType,
    EntityType,
    LabelSchema,
    RelationType,
    match_names,
)
from sciextract.errors import InputMissingError, SchemaError
from sciextract.resources import data_root

RESERVED_KEYS = frozenset("0123456789;:?/.+")
"""Keys that mean something else at the review desk, wherever the focus is."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_HINT = f"kinds of attributes are {', '.join(AttributeKind)}; layers are {', '.join(Layer)}"
_Type = TypeVar("_Type", EntityType, RelationType)
_AnyType = EntityType | RelationType | AttributeType


def bundled_schemas() -> tuple[str, ...]:
    """Names of the schemas that come with sciextract, in alphabetical order."""
    names = [file.name for file in _bundled_folder().iterdir()]
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def is_label(text: str) -> bool:
    """Whether a type may have this label: printable, with blanks only between words.

    >>> is_label("Chemical compound"), is_label("Chemical compound "), is_label("*")
    (True, False, False)
    """
    return text.isprintable() and text == text.strip() not in ("", ANY_TYPE)


def load_schema(name_or_path: str | Path) -> LabelSchema:
    """A bundled schema by name, or the user's own by path.

    Args:
        name_or_path: A name such as ``scierc``; or a :class:`~pathlib.Path`, or a string that ends in
            ``.toml``, has a folder in it, or is no such name and a file.

    Raises:
        SchemaError: No bundled schema has the name, or the file has a mistake.
        InputMissingError: The file does not exist.
    """
    words = str(name_or_path)
    is_path = (
        isinstance(name_or_path, Path) or words.endswith(".toml") or "/" in words or "\\" in words
    )
    # os.path takes any words, also those that are too long for a name.
    if is_path or (words not in bundled_schemas() and os.path.isfile(words)):
        return _read(Path(name_or_path), str(name_or_path))
    if name_or_path not in bundled_schemas():
        raise SchemaError(
            f"no label schema is called {name_or_path!r}; there are {', '.join(bundled_schemas())}",
            "give one of these names, or the path of a TOML file",
        )
    file = f"{name_or_path}.toml"
    return _read(_bundled_folder() / file, file)


def with_bundled_names(schema: LabelSchema) -> LabelSchema:
    """A schema whose types also answer to the names that the bundled schema of its name has for them by now.

    So a project from before a type was renamed there understands the model that predicts its new name.
    """
    if schema.name not in bundled_schemas():
        return schema
    # A few bytes to read instead of a schema to parse, at every opening: most have only ever had their names.
    if b"formerly" not in (_bundled_folder() / f"{schema.name}.toml").read_bytes():
        return schema
    now = load_schema(schema.name)
    entities = _also_called(schema.entities, now.entities)
    return replace(
        schema, entities=entities, relations=_also_called(schema.relations, now.relations)
    )


def _also_called(mine: Sequence[_Type], theirs: Sequence[_Type]) -> tuple[_Type, ...]:
    names: dict[str, set[str]] = {}
    for name, label in match_names(mine, theirs).items():
        names.setdefault(label, set()).add(name)
    return tuple(
        [
            replace(t, formerly=tuple(sorted(names.get(t.label, set()).union(t.formerly))))
            for t in mine
        ]
    )


def parse_schema(data: Mapping[str, Any], place: str) -> LabelSchema:
    """The schema in a mapping of the shape that a schema file has (:meth:`LabelSchema.to_mapping`).

    Args:
        place: What error messages call the source: a file name.

    Raises:
        SchemaError: A key is missing, unknown, of the wrong type or has a value that is not allowed.
    """
    name = data.get("name")
    title = name if isinstance(name, str) else ""  # what else it is, is said of the name
    usual = {"title": title, "version": "1", "coreference": False}
    schema = convert(
        {**usual, **data}, LabelSchema, place, closed=True, error=SchemaError, hint=_HINT
    )
    for problem in _problems_of(schema):
        raise SchemaError(f"{place}: {problem}")
    return replace(
        schema,
        entities=tuple([replace(kind, colour=kind.colour.lower()) for kind in schema.entities]),
        relations=tuple([replace(kind, colour=kind.colour.lower()) for kind in schema.relations]),
        finish=tuple(layer for layer in Layer if layer in schema.finish),
    )


def _problems_of(schema: LabelSchema) -> Iterator[str]:
    """What a schema may not have, each with its place and what is allowed."""
    if not is_label(schema.name) or " " in schema.name:
        yield f"key 'name' is {schema.name!r}; expected a word without spaces, not empty"
    if schema.finish and Layer.ENTITIES not in schema.finish:
        finish = [layer.value for layer in schema.finish]
        yield f"key 'finish' is {finish!r}; expected a list with {Layer.ENTITIES.value!r}"
    yield from _type_problems("entity", schema.entities)
    yield from _type_problems("relation", schema.relations)
    yield from _type_problems("attribute", schema.attributes)
    ends = [*schema.entity_labels, ANY_TYPE]
    for number, relation in enumerate(schema.relations, start=1):
        for end in (end for pair in relation.pairs for end in pair if end not in ends):
            found = (
                f"relation {number} ({relation.label}): key 'pairs' names the unknown type {end!r}"
            )
            yield f"{found}; choose from: {', '.join(ends)}"
    targets = [*ends, *(RELATION_PREFIX + label for label in schema.relation_labels)]
    targets += [RELATION_PREFIX + ANY_TYPE, ABSTRACT]
    for number, attribute in enumerate(schema.attributes, start=1):
        for key, problem in _attribute_problems(attribute, targets):
            yield f"attribute {number} ({attribute.label}): key {key!r} {problem}"


def _type_problems(name: str, types: Sequence[_AnyType]) -> Iterator[str]:
    """Labels and keys differ, and each is one that people can read and type."""
    labels: set[str] = set()
    by_key: dict[str, str] = {}
    for number, kind in enumerate(types, start=1):
        place, label, key = f"{name} {number} ({kind.label})", kind.label, kind.key
        if label == ANY_TYPE:
            yield f"{place}: key 'label' is {ANY_TYPE!r}, which stands for every type in pairs"
        if not is_label(label):
            allowed = "printable characters, not empty, without a blank at either end"
            yield f"{place}: key 'label' is {label!r}; expected {allowed}"
        if label in labels:
            yield f"{place}: key 'label' is {label!r} a second time; labels must differ"
        single = len(key) == 1 and key.isprintable() and not key.isspace()
        # A terminal sends a combining character together with what it stands on.
        if not single or unicodedata.combining(key) or key in RESERVED_KEYS:
            reserved = " ".join(sorted(RESERVED_KEYS))
            allowed = f"one printable character, none of {reserved}"
            yield f"{place}: key 'key' is {key!r}; expected {allowed}"
        if key in by_key:
            yield f"{place}: key 'key' is {key!r}, which {by_key[key]} has; keys must differ"
        if not isinstance(kind, AttributeType) and not _COLOUR.fullmatch(kind.colour):
            allowed = '"#rrggbb" with hexadecimal digits'
            yield f"{place}: key 'colour' is {kind.colour!r}; expected {allowed}"
        for field in ("examples", "formerly", "on", "values", "vocabularies"):
            if "" in getattr(kind, field, ()):
                yield f"{place}: key {field!r} has an empty string; expected words"
        labels.add(label)
        by_key[key] = label


def _attribute_problems(
    attribute: AttributeType, targets: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Keys of an attribute and what is wrong with them; ``targets`` is all that it may stand on."""
    listed, is_link = ", ".join(targets), attribute.kind is AttributeKind.LINK
    if not attribute.on:
        yield "on", f"is empty; choose from: {listed}"
    for target in attribute.on:
        if target not in targets:
            yield "on", f"names {target!r}, which is not there; choose from: {listed}"
    values = attribute.values
    if bool(values) != (attribute.kind is AttributeKind.CHOICE) or len({*values}) < len(values):
        yield (
            "values",
            "has to list different values for kind 'choice', and nothing for other kinds",
        )
    for value in values:
        if not is_label(value):
            yield "values", f"has {value!r}; expected printable words"
    is_of_mentions = not any(on == ABSTRACT or RELATION_PREFIX in on for on in attribute.on)
    if is_link != (attribute.label == LINK) or (is_link and not is_of_mentions):
        meaning = "'link' is the kind of the attribute 'link' of mentions, and of no other"
        yield "kind", f"is {attribute.kind.value!r}; {meaning}"
    if bool(attribute.vocabularies) != is_link:
        allowed = "has to list names of vocabularies for kind 'link', and nothing for other kinds"
        yield "vocabularies", allowed


def schema_to_toml(schema: LabelSchema) -> str:
    """The schema as the text of a TOML file; :func:`load_schema` reads it back."""
    values = schema.to_mapping()
    names = ("entities", "relations", "attributes")
    tables = [(name, table) for name in names for table in values.pop(name, [])]
    lines = [*_toml_lines(values)]
    for name, table in tables:
        lines += ["", f"[[{name}]]", *_toml_lines(table)]
    return "\n".join(lines) + "\n"


def _toml_lines(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if value not in ("", [], False):  # the defaults
            # A JSON value is a TOML value too, except for DEL, which TOML wants escaped.
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")


def _bundled_folder() -> Path:
    return data_root() / "schemas" / "labels"


def _read(file: Path, place: str) -> LabelSchema:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputMissingError(
            f"{place}: there is no such schema file",
            f"bundled schemas have names without path: {', '.join(bundled_schemas())}",
        ) from None
    except OSError as error:
        raise SchemaError(f"{place}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SchemaError(
            f"{place}: byte {error.start} is not UTF-8", "save it as UTF-8"
        ) from error
    try:
        return parse_schema(tomllib.loads(text), place)
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
        if found := _TOML_PLACE.search(problem):
            place = f"{place}:{found[1]}:{found[2]}"
            problem = problem[: found.start()]
        raise SchemaError(f"{place}: broken TOML: {problem}") from error
    except RecursionError as error:
        raise SchemaError(f"{place}: broken TOML: values are nested too deeply") from error
