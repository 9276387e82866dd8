"""Rows of tables that others made: texts, titles and abstracts, tagged tokens, or SciERC fields."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from functools import partial
from typing import Any

import pyarrow as pa

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.arrow_rows import are_own, parse_row
from sciextract.formats.base import BadRecord, Place, ReadItem, Source, shown
from sciextract.formats.json_values import Record
from sciextract.formats.jsonl import parse_record
from sciextract.formats.tabular import COLUMN_NAMES, plain_name
from sciextract.formats.tagged_tokens import TAG_COLUMNS, tagged_document

_SENTENCES = "sentences"
_EXACT = {"text", "title", "abstract", _SENTENCES}
_ALLOWED = (
    "columns `text`, or `title` and `abstract` (or what CSV tables call them), or `tokens` and `ner_tags`, or "
    "SciERC's `sentences`, `ner`, `relations` and `clusters`"
)
_BATCH_ROWS = 256
_FIELD_OF = {"key": "doc_key", "title": "title", "text": "text", "abstract": "abstract"}
_KEYS = {"doc_key", "id"}
_MOST_SHOWN = 20


def documents_of(
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    source: Source,
    features: Mapping[str, Any],
    *,
    first: int = 1,
) -> Iterator[ReadItem]:
    """The documents of a table, our own or another's, row by row.

    Args:
        batches: Its rows.
        schema: Its columns.
        source: The file.
        features: Hugging Face's description of the columns, which names the classes of tags.
        first: The number of the first row.

    Raises:
        FormatError: No column holds text.
    """
    parse = _parser_of(schema, source, features)
    number = first - 1
    for batch in batches:
        for start in range(0, batch.num_rows, _BATCH_ROWS):
            for row in _rows(batch.slice(start, _BATCH_ROWS)):
                number += 1
                try:
                    if isinstance(row, str):
                        raise Place(source.path, number).error(row)
                    yield parse(row, source, number)
                except FormatError as error:
                    yield BadRecord(error)


def class_features(schema: pa.Schema) -> Mapping[str, Any]:
    """Hugging Face's description of the columns, which it keeps beside the schema; empty if there is none."""
    try:
        info = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        features = info["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def _rows(batch: pa.RecordBatch) -> list[Record | str]:
    """Rows as plain values; for one that Python cannot hold what is wrong with it."""
    try:
        return [*batch.to_pylist()]
    except (ValueError, OverflowError, pa.ArrowException) as error:
        if batch.num_rows == 1:
            return [f"the row cannot be read: {error}"]
        return [row for i in range(batch.num_rows) for row in _rows(batch.slice(i, 1))]


def _parser_of(schema: pa.Schema, source: Source, features: Mapping[str, Any]) -> Any:
    if are_own(schema):
        return parse_row
    tags = next((name for name in TAG_COLUMNS if name in schema.names), "")
    columns = _text_columns(schema)
    has_text = _SENTENCES in schema.names or bool({*columns} - {"doc_key"})
    if "tokens" in schema.names and tags and not _EXACT & {*schema.names}:
        names = _names_in(features.get(tags)) or _names_in(class_features(schema).get(tags))
        return partial(_tagged, column=tags, names=names)
    if has_text:
        _check_texts(schema, columns, source.path)
        return partial(_record, columns=columns)
    problem = f"no text in the columns {_listed(schema)}"
    raise FormatError(problem, path=source.path, hint=f"read are {_ALLOWED}; rename yours")


def _names_in(feature: object) -> list[str] | None:
    """The class names in the description of a column, however deep it nests lists."""
    if isinstance(feature, list) and feature:
        return _names_in(feature[0])
    if not isinstance(feature, dict):
        return None
    names = feature.get("names")
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    return _names_in(feature.get("feature"))


def _record(
    row: Record, source: Source, number: int, *, columns: dict[str, str]
) -> AnnotatedDocument:
    """A row with text or SciERC columns; they are read like JSON lines with the same fields."""
    record = _with_fields(_plain_row(row), columns)
    for layer in ("ner", "relations"):
        if isinstance(record.get("sentences"), list) and isinstance(record.get(layer), list):
            record[layer] = [_items(sentence) for sentence in record[layer]]
    record.pop("schema_version", None)
    return parse_record(record, source, number)


def _items(sentence: object) -> object:
    """Items of a sentence as lists: Arrow has no lists of mixed types, so files hold objects or strings."""
    if not isinstance(sentence, list):
        return sentence
    return [[*item.values()] if isinstance(item, dict) else _numbered(item) for item in sentence]


def _numbered(item: object) -> object:
    """Offsets as numbers; the last value is the label."""
    if not isinstance(item, list):
        return item
    return [*(_number(value) for value in item[:-1]), *item[-1:]]


def _number(value: object) -> object:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value


def _tagged(
    row: Record, source: Source, number: int, *, column: str, names: Sequence[str] | None
) -> AnnotatedDocument:
    return tagged_document(_plain_row(row), source, number, column=column, names=names)


def _plain_row(row: Record) -> Record:
    """The row's values as JSON has them; empty ones are left out."""
    return {str(name): _plain(value) for name, value in row.items() if value is not None}


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, date | time):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _text_columns(schema: pa.Schema) -> dict[str, str]:
    """The columns to read as ``doc_key``, ``title``, ``text`` and ``abstract``, by those names.

    A column of exactly that name is taken first; of other names those that CSV tables may have, in any case.
    """
    found = {}
    for meaning, field in _FIELD_OF.items():
        exact = _KEYS if meaning == "key" else {field}
        names = [name for name in schema.names if name in exact] or _alike(schema, meaning)
        if names:
            found[field] = names[0]
    return found


def _check_texts(schema: pa.Schema, columns: dict[str, str], path: str) -> None:
    """Refuse a table at once when what should be text is something else, instead of row by row.

    Raises:
        FormatError: A column of texts holds numbers, bytes, lists...; names all columns with their types.
    """
    for field in ("text", "title", "abstract"):
        name = columns.get(field)
        if name is not None and not _is_text(schema.field(name).type):
            problem = f"column {shown(name)} holds {schema.field(name).type}, allowed is text"
            hint = "turn it into a column of strings, or rename it"
            raise FormatError(f"{problem}; columns found: {_listed(schema)}", path=path, hint=hint)


def _listed(schema: pa.Schema) -> str:
    """The columns with their types, for messages."""
    parts = [f"{shown(field.name)} ({field.type})" for field in list(schema)[:_MOST_SHOWN]]
    return ", ".join(parts) or "none"


def _with_fields(row: Record, columns: dict[str, str]) -> Record:
    """The row with its texts under the names of JSONL; the key's column stays as it is, too."""
    record = dict(row)
    for field, name in columns.items():
        if field != name and name in record and name not in _KEYS:
            record[field] = record[name] if field == "doc_key" else record.pop(name)
    return record


def _alike(schema: pa.Schema, meaning: str) -> list[str]:
    wanted = [plain_name(name) for name in COLUMN_NAMES[meaning]]
    known = {plain_name(name): name for name in reversed(schema.names)}
    return [known[name] for name in wanted if name in known]


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    tests = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_null,
    )
    return any(test(kind) for test in tests)
