"""Label schemas in TOML: reading, where every mistake names file, key and the values allowed, and writing."""

from __future__ import annotations

import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

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

_TOP_KEYS = (
    "name",
    "title",
    "version",
    "coreference",
    "finish",
    "entities",
    "relations",
    "attributes",
)
_ENTITY_KEYS = ("label", "key", "colour", "definition", "examples", "formerly")
_RELATION_KEYS = ("label", "key", "colour", "symmetric", "pairs", *_ENTITY_KEYS[3:])
_ATTRIBUTE_KEYS = ("label", "key", "on", "kind", "values", "vocabularies", "definition", "formerly")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_Value = TypeVar("_Value")
_Type = TypeVar("_Type", EntityType, RelationType)


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
    top = _Section(data, place)
    top.refuse_unknown(_TOP_KEYS)
    entities = tuple([EntityType(**values) for _, values in _types(top, "entities", _ENTITY_KEYS)])
    allowed = [*(entity.label for entity in entities), ANY_TYPE]
    relations = []
    for section, values in _types(top, "relations", _RELATION_KEYS, []):
        symmetric, pairs = section.get("symmetric", bool, False), section.get("pairs", list, [])
        for pair in pairs:
            words = isinstance(pair, list) and all(isinstance(end, str) for end in pair)
            if not words or len(pair) != 2:
                raise section.error("pairs", f'has {pair!r}; expected ["head type", "tail type"]')
            for end in pair:
                if end not in allowed:
                    problem = f"names the unknown type {end!r}; choose from: {', '.join(allowed)}"
                    raise section.error("pairs", problem)
        legal = tuple([(head, tail) for head, tail in pairs])
        relations.append(RelationType(**values, symmetric=symmetric, pairs=legal))
    targets = [*allowed, *(RELATION_PREFIX + relation.label for relation in relations)]
    targets += [RELATION_PREFIX + ANY_TYPE, ABSTRACT]
    attributes = [
        _attribute(section, values, targets)
        for section, values in _types(top, "attributes", _ATTRIBUTE_KEYS, [])
    ]
    name = top.get("name", str)
    if not is_label(name) or " " in name:
        raise top.error("name", f"is {name!r}; expected a word without spaces, not empty")
    finish, allowed = top.get("finish", list, []), [layer.value for layer in Layer]
    if finish and (allowed[0] not in finish or any(layer not in allowed for layer in finish)):
        problem = f"is {finish!r}; expected a list of {', '.join(allowed)}, the first one always"
        raise top.error("finish", problem)
    return LabelSchema(
        name=name,
        title=top.get("title", str, name),
        version=top.get("version", str, "1"),
        coreference=top.get("coreference", bool, False),
        entities=entities,
        relations=tuple(relations),
        attributes=tuple(attributes),
        finish=tuple(layer for layer in Layer if layer in finish),
    )


def _attribute(
    section: _Section, common: Mapping[str, Any], targets: Sequence[str]
) -> AttributeType:
    """An attribute type; ``targets`` is all that it may stand on in this schema."""
    on, values, vocabularies = (
        tuple(section.strings(name)) for name in ("on", "values", "vocabularies")
    )
    kind = section.get("kind", str, AttributeKind.FLAG.value)
    if kind not in list(AttributeKind):
        raise section.error("kind", f"is {kind!r}; choose from: {', '.join(AttributeKind)}")
    for target in on:
        if target not in targets:
            problem = f"names {target!r}, which is not there; choose from: {', '.join(targets)}"
            raise section.error("on", problem)
    if not on:
        raise section.error("on", f"is missing or empty; choose from: {', '.join(targets)}")
    if bool(values) != (kind == AttributeKind.CHOICE) or len(set(values)) < len(values):
        problem = "has to list different values for kind 'choice', and nothing for other kinds"
        raise section.error("values", problem)
    for value in values:
        if not is_label(value):
            raise section.error("values", f"has {value!r}; expected printable words")
    is_link = kind == AttributeKind.LINK
    if is_link != (common["label"] == LINK) or any(
        t == "abstract" or ":" in t for t in on * is_link
    ):
        raise section.error(
            "kind",
            f"is {kind!r}; 'link' is the kind of the attribute 'link' of mentions, and of no other",
        )
    if bool(vocabularies) != is_link:
        raise section.error(
            "vocabularies",
            "has to list names of vocabularies for kind 'link', and nothing for other kinds",
        )
    return AttributeType(
        **common, on=on, kind=AttributeKind(kind), values=values, vocabularies=vocabularies
    )


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


class _Section:
    """A table of the file, which knows its place for error messages."""

    def __init__(self, data: Mapping[str, Any], place: str) -> None:
        self.data = data
        self.place = place

    def error(self, key: str, problem: str) -> SchemaError:
        return SchemaError(f"{self.place}: key {key!r} {problem}")

    def refuse_unknown(self, allowed: Collection[str]) -> None:
        for key in self.data:
            if key not in allowed:
                raise self.error(key, f"is unknown; choose from: {', '.join(allowed)}")

    def get(self, key: str, kind: type[_Value], default: _Value | None = None) -> _Value:
        """The value of a key; without a default the key must be there."""
        value = self.data.get(key, default)
        if value is None:
            raise self.error(key, f"is missing; it must be {_KIND_NAMES[kind]}")
        if not isinstance(value, kind):
            raise self.error(key, f"is {value!r}; expected {_KIND_NAMES[kind]}")
        return value

    def strings(self, name: str) -> list[str]:
        """The strings of a list that may be missing."""
        strings = self.get(name, list, [])
        if not all(isinstance(text, str) and text for text in strings):
            problem = f"is {strings!r}; expected a list of strings that are not empty"
            raise self.error(name, problem)
        return strings


_KIND_NAMES: Mapping[type, str] = {
    str: 'a string in quotes, like "text"',
    bool: "true or false",
    list: "a list",
}


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


def _types(
    top: _Section, name: str, keys: Sequence[str], default: list[Any] | None = None
) -> Iterator[tuple[_Section, dict[str, Any]]]:
    """The tables of that name, each with what all types have in common; labels and keys differ."""
    tables = top.get(name, list, default)
    if not all(isinstance(table, Mapping) for table in tables):
        raise top.error(name, f"is {tables!r}; expected tables, written as [[{name}]]")
    kind = {"entities": "entity", "relations": "relation", "attributes": "attribute"}[name]
    labels: set[str] = set()
    by_key: dict[str, str] = {}
    for number, table in enumerate(tables, start=1):
        label = table.get("label")
        shown = f" ({label})" if isinstance(label, str) and label else ""
        section = _Section(table, f"{top.place}: {kind} {number}{shown}")
        section.refuse_unknown(keys)
        values = _common_values(section, drawn=name != "attributes")
        label, key = values["label"], values["key"]
        if label in labels:
            raise section.error("label", f"is {label!r} a second time; labels must differ")
        if key in by_key:
            raise section.error("key", f"is {key!r}, which {by_key[key]} has; keys must differ")
        labels.add(label)
        by_key[key] = label
        yield section, values


def _common_values(section: _Section, drawn: bool) -> dict[str, Any]:
    """What all types have; those that are drawn in the text have a colour and examples besides."""
    made: dict[str, Any]
    label, key = section.get("label", str), section.get("key", str)
    if label == ANY_TYPE:
        raise section.error("label", f"is {ANY_TYPE!r}, which stands for every type in pairs")
    if not is_label(label):
        allowed = "printable characters, not empty, without a blank at either end"
        raise section.error("label", f"is {label!r}; expected {allowed}")
    single = len(key) == 1 and key.isprintable() and not key.isspace()
    # A terminal sends a combining character together with what it stands on.
    if not single or unicodedata.combining(key) or key in RESERVED_KEYS:
        reserved = " ".join(sorted(RESERVED_KEYS))
        problem = f"is {key!r}; expected one printable character, none of {reserved}"
        raise section.error("key", problem)
    made = {
        "label": label,
        "key": key,
        "formerly": tuple(section.strings("formerly")),
        "definition": section.get("definition", str, ""),
    }
    if not drawn:
        return made
    colour = section.get("colour", str)
    if not _COLOUR.fullmatch(colour):
        raise section.error("colour", f'is {colour!r}; expected "#rrggbb" with hexadecimal digits')
    return {**made, "colour": colour.lower(), "examples": tuple(section.strings("examples"))}
