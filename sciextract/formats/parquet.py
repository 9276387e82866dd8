"""Parquet, and documents as rows of Arrow tables: the columns of our own, which lose nothing, and the tables of others (texts, titles and abstracts, tagged tokens, SciERC fields)."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sciextract.codec import decode, plain
from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract.documents.bibliography import NAMES, key_of_row, plain_name
from sciextract.documents.document import AnnotatedDocument, text_hash
from sciextract.errors import FormatError, InputMissingError, OutputError, explain_write_errors
from sciextract.formats.base import STDIN, BadRecord, Place, ReadItem, Source, quoted
from sciextract.formats.exchange import SCHEMA_VERSION
from sciextract.formats.json_values import (
    TEXT_FIELDS,
    Record,
    list_at,
    parse_object,
    unknown_fields,
)
from sciextract.formats.jsonl import cut_at, parse_record
from sciextract.formats.opening import is_url
from sciextract.formats.sink import LossyWriter
from sciextract.formats.tagged_tokens import TAG_COLUMNS, tagged_document
from sciextract.text.characters import without_surrogates

#: What pyarrow raises on damaged files, also for names that are no UTF-8.
_ARROW_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)
LOSS = "lone surrogate that UTF-8 cannot hold"
ROWS_PER_GROUP = 1000
_CHARACTERS_PER_GROUP = 16 << 20
_ANOTHER = "choose another --output"

_TEXT, _NUMBER = pa.string(), pa.float64()
_TEXTS, _NUMBERS, _RANGE = pa.list_(_TEXT), pa.list_(_NUMBER), pa.list_(pa.int64())
_MADE = [("score", _NUMBER), ("state", _TEXT), ("source", _TEXT)]
_LABELS = ("alternatives", pa.list_(pa.struct([("label", _TEXT), ("score", _NUMBER)])))
_PLACE = ("fragments", pa.list_(_RANGE))
_ENTITY = pa.struct([("id", _TEXT), _PLACE, ("label", _TEXT), *_MADE, _LABELS])
_ENDS = [(name, _TEXT) for name in ("id", "head", "tail", "label")]
_RELATION = pa.struct([*_ENDS, *_MADE, _LABELS])
_MENTIONS = [("mention_scores", _NUMBERS), ("mention_states", _TEXTS)]
_CLUSTER = pa.struct([("id", _TEXT), ("mentions", _TEXTS), *_MADE, *_MENTIONS])

#: One row a document. Ranges are ``[start, end)``: of tokens in characters, of sentences in tokens.
SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in ("doc_key", "text", "text_sha256")),
        ("tokens", _TEXTS),
        *((name, pa.list_(_RANGE)) for name in ("token_ranges", "sentences")),
        ("entities", pa.list_(_ENTITY)),
        ("relations", pa.list_(_RELATION)),
        ("clusters", pa.list_(_CLUSTER)),
        *((name, _TEXT) for name in ("fields", "model_name", "model_hash")),
        ("warnings", _TEXTS),
    ]
)


def are_own(schema: pa.Schema) -> bool:
    """Whether a table has the columns that :data:`SCHEMA` needs for a document and its items."""
    if not {"text", "token_ranges", "relations", "clusters"} <= {*schema.names}:
        return False
    entities = schema.field("entities").type if "entities" in schema.names else None
    if entities is None or not pa.types.is_list(entities):
        return False
    items = entities.value_type
    return bool(pa.types.is_struct(items) and items.get_field_index("fragments") >= 0)


class ParquetWriter(LossyWriter):
    """Writes row groups of about a thousand documents, rejected items included.

    Lone surrogates, which Arrow's UTF-8 strings cannot hold, become U+FFFD and are counted in ``losses``.
    """

    def __init__(self, destination: Path | str | pa.NativeFile) -> None:
        """Write to a file.

        Raises:
            OutputError: The file cannot be opened.
        """
        super().__init__()
        self._rows: list[Record] = []
        self._characters = 0
        self._path = destination
        if str(destination) == STDIN or isinstance(destination, io.TextIOBase):
            raise OutputError("Parquet is not text", "name a file with --output")
        where = str(destination) if isinstance(destination, Path) else destination
        with explain_write_errors(destination, _ANOTHER):
            self._file = pq.ParquetWriter(where, SCHEMA, compression="zstd")

    def write(self, document: AnnotatedDocument) -> None:
        """Add a document.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        row = self._row(document)
        self._rows.append(row)
        self._characters += len(row["text"])
        if len(self._rows) >= ROWS_PER_GROUP or self._characters >= _CHARACTERS_PER_GROUP:
            self._write_group()

    def close(self) -> None:
        """Write what is left and end the file.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        self._write_group()
        with explain_write_errors(self._path, _ANOTHER):
            self._file.close()

    def _write_group(self) -> None:
        if self._rows:
            batch = pa.RecordBatch.from_pylist(self._rows, schema=SCHEMA)
            with explain_write_errors(self._path, _ANOTHER):
                self._file.write_batch(batch)
        self._rows, self._characters = [], 0

    def _row(self, document: AnnotatedDocument) -> Record:
        annotations, model, tokens = document.annotations, document.model, document.document.tokens
        given = {
            "doc_key": document.document.doc_key,
            "text": document.document.text,
            "entities": [_item(item) for item in annotations.entities],
            "relations": [_item(item) for item in annotations.relations],
            "clusters": [_item(item) for item in annotations.clusters],
            "model_name": model and model.name,
            "model_hash": model and model.hash,
            "warnings": document.warnings,
        }
        # As one string, in which every lone surrogate is found, however deep.
        safe, lost = without_surrogates(json.dumps(given, ensure_ascii=False))
        self.lose(LOSS, lost)
        row: Record = json.loads(safe)
        strings = tokens.strings(row["text"])
        return row | {
            "text_sha256": text_hash(row["text"]),
            "tokens": [without_surrogates(token)[0] for token in strings],
            "token_ranges": [[span.char_start, span.char_end] for span in tokens.spans],
            "sentences": [[part.token_start, part.token_end] for part in tokens.sentences],
            "fields": json.dumps(dict(document.document.fields), default=str),
        }


def _item(item: Entity | Relation | Cluster) -> Record:
    """An item as a row has it, its alternatives as structs."""
    record: Record = plain(item)
    if not isinstance(item, Cluster):
        record["alternatives"] = [other._asdict() for other in item.alternatives]
    return record


def parse_row(row: Record, source: Source, number: int) -> AnnotatedDocument:
    """The document of a row of our own columns.

    Args:
        row: The row as plain values.
        source: The file.
        number: The row's 1-based number, which errors show as the line.

    Raises:
        FormatError: A value is missing, has a wrong shape, or leaves the text.
    """
    place = Place(source.path, number, str(row.get("doc_key") or ""))
    named = ("doc_key", "text", "text_sha256", "warnings")
    record: Record = {name: row.get(name) for name in named}
    record |= {"schema_version": SCHEMA_VERSION, "groups": row["clusters"]}
    for name, column in (("entities", "entities"), ("links", "relations")):
        items: list[object] = []
        for item in list_at(row[column], column, place):
            # Exchange records have alternatives as pairs.
            listed = item.get("alternatives") if isinstance(item, Mapping) else None
            pairs = [[label["label"], label["score"]] for label in listed or [] if label]
            items.append({**item, "alternatives": pairs} if listed else item)
        record[name] = items
    if row.get("model_name") is not None:
        record["model"] = {"name": row["model_name"], "hash": row.get("model_hash")}
    if row.get("tokens") is not None and row.get("sentences") is not None:
        tokens = list_at(row["tokens"], "tokens", place)
        cut = cut_at(tokens, row["sentences"], "sentences", place)
        record |= {"token_ranges": row["token_ranges"], "sentences": cut}
    document = parse_record(record, source, number)
    try:
        given = decode(row.get("fields") or "{}", dict[str, Any], "fields")
    except FormatError as error:
        raise place.error(error.problem) from None
    fields = unknown_fields(given, (), place)
    return replace(document, document=replace(document.document, fields=fields))


_SENTENCES = "sentences"
_EXACT = {"text", "title", "abstract", _SENTENCES}
_ALLOWED = (
    "columns `text`, or `title` and `abstract` (or what CSV tables call them), or `tokens` and `ner_tags`, or "
    "SciERC's `sentences`, `ner`, `relations` and `clusters`"
)
_BATCH_ROWS = 256
_MOST_SHOWN = 20
_OFFSET = re.compile("[0-9]{1,9}")


def _rows(batch: pa.RecordBatch) -> list[Record | str]:
    """Rows as plain values; for one that Python cannot hold what is wrong with it."""
    try:
        return [*batch.to_pylist()]
    except (ValueError, OverflowError, pa.ArrowException) as error:
        if batch.num_rows == 1:
            return [f"the row cannot be read: {error}"]
        return [row for i in range(batch.num_rows) for row in _rows(batch.slice(i, 1))]


def _parser_of(schema: pa.Schema, source: Source) -> Any:
    if are_own(schema):
        return parse_row
    tags = next((name for name in TAG_COLUMNS if name in schema.names), "")
    if "tokens" in schema.names and tags and not _EXACT & {*schema.names}:
        names = _class_names(schema, tags)

        def parse_tagged(row: Record, source: Source, number: int) -> AnnotatedDocument:
            return tagged_document(_plain_row(row), source, number, column=tags, names=names)

        return parse_tagged
    # A column of exactly that name is taken first; of other names those that CSV tables may have, the first of each.
    known = {plain_name(name): name for name in reversed(schema.names)}
    columns = {}
    for field in TEXT_FIELDS:
        alike = (known.get(plain_name(name)) for name in NAMES[field])
        if found := field if field in schema.names else next(filter(None, alike), None):
            columns[field] = found
    if _SENTENCES not in schema.names and not columns:
        problem = f"no text in the columns {_list_columns(schema)}"
        raise FormatError(problem, path=source.path, hint=f"read are {_ALLOWED}; rename yours")
    # At once, instead of row by row: numbers or bytes in the place of texts.
    for name in columns.values():
        if not _is_text(schema.field(name).type):
            problem = f"column {quoted(name)} holds {schema.field(name).type}; expected text"
            found = f"{problem}; columns found: {_list_columns(schema)}"
            hint = "turn it into a column of strings, or rename it"
            raise FormatError(found, path=source.path, hint=hint)
    return partial(_parse_other, columns=columns)


def _class_names(schema: pa.Schema, column: str) -> list[str] | None:
    """The names of a column's classes in Hugging Face's description of the columns, however deep it nests lists."""
    try:
        found = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        found = found["info"]["features"][column]
        while not (isinstance(found, dict) and "names" in found):
            found = found[0] if isinstance(found, list) else found["feature"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    names = found["names"]
    is_named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return names if is_named else None


def _parse_other(
    row: Record, source: Source, number: int, *, columns: dict[str, str]
) -> AnnotatedDocument:
    """A row with text or SciERC columns; they are read like JSON lines with the same fields."""
    record = _plain_row(row)
    key = key_of_row(record)
    # Texts under the names of JSONL; the key's column stays as it is, too.
    for field, name in columns.items():
        if field != name and name in record:
            record[field] = record.pop(name)
    if key:
        record["doc_key"] = key
    for layer in ("ner", "relations"):
        if isinstance(record.get("sentences"), list) and isinstance(record.get(layer), list):
            record[layer] = [_items(sentence) for sentence in record[layer]]
    record.pop("schema_version", None)
    return parse_record(record, source, number)


def _items(sentence: object) -> object:
    """Items of a sentence as lists: Arrow has no lists of mixed types, so files hold objects or strings."""
    if not isinstance(sentence, list):
        return sentence
    found: list[object] = []
    for item in sentence:
        if isinstance(item, list):
            # Offsets as numbers; the last value is the label.
            numbers = [
                int(value) if isinstance(value, str) and _OFFSET.fullmatch(value) else value
                for value in item[:-1]
            ]
            found.append([*numbers, *item[-1:]])
        else:
            found.append([*item.values()] if isinstance(item, dict) else item)
    return found


def _plain_row(row: Record) -> Record:
    """The row's values as JSON has them; empty ones are left out."""
    return {str(name): _plain(value) for name, value in row.items() if value is not None}


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, date | time):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _list_columns(schema: pa.Schema) -> str:
    parts = [f"{quoted(field.name)} ({field.type})" for field in list(schema)[:_MOST_SHOWN]]
    return ", ".join(parts) or "none"


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    names = ("is_string", "is_large_string", "is_string_view", "is_null")
    return any(getattr(pa.types, name)(kind) for name in names)


_BUFFER_BYTES = 1 << 16
"""Read at a time from each column: else a row group, which may be the whole file, is in memory at once."""


def read_parquet(source: Source) -> Iterator[ReadItem]:
    """Read our own Parquet files, and those of others with text, tagged tokens or SciERC fields."""
    with _place(source) as place:
        try:
            file = pq.ParquetFile(place, buffer_size=_BUFFER_BYTES, pre_buffer=False)
        except FileNotFoundError:
            raise InputMissingError(f"{source.path}: no such file") from None
        except _ARROW_ERRORS as error:
            raise FormatError(f"this is not a Parquet file: {error}", path=source.path) from error
        with file:
            parse = _parser_of(file.schema_arrow, source)
            rows = (row for batch in _batches(file, source) for row in _rows(batch))
            for number, row in enumerate(rows, start=1):
                try:
                    if isinstance(row, str):
                        raise Place(source.path, number).error(row)
                    yield parse(row, source, number)
                except FormatError as error:
                    yield BadRecord(error)


@contextmanager
def _place(source: Source) -> Iterator[str | pa.NativeFile]:
    """What pyarrow reads from: it needs to go to and fro, and knows local files best itself."""
    if source.path == STDIN:
        yield pa.BufferReader(source.content())
    elif is_url(source.path):
        with source.open() as stream:
            yield pa.PythonFile(stream, mode="r")
    else:
        yield source.path


def _batches(file: pq.ParquetFile, source: Source) -> Iterator[pa.RecordBatch]:
    try:
        yield from file.iter_batches(batch_size=_BATCH_ROWS)
    except _ARROW_ERRORS as error:
        raise FormatError(f"the file is damaged: {error}", path=source.path) from error


_NAME = "part.jsonl"


class ParquetPart(NamedTuple):
    """A whole Parquet file.

    Attributes:
        data: Its bytes; the same for the same lines and version of pyarrow.
        rows: How many documents it holds.
        losses: What its columns cannot hold, by kind: lone surrogates, which become U+FFFD.
    """

    data: bytes
    rows: int
    losses: Mapping[str, int]


def parquet_part(lines: bytes) -> ParquetPart:
    """The Parquet file of what ``--to jsonl`` writes; ``formats.read`` gives the same documents of both.

    Candidates are not among its columns.

    Args:
        lines: Exchange records, each ended by a line feed.

    Raises:
        FormatError: A line is not an exchange record.
    """
    sink = pa.BufferOutputStream()
    source, rows = Source(_NAME), 0
    writer = ParquetWriter(sink)
    # Only line feeds end lines: bytes.splitlines would cut at carriage returns, too.
    for number, line in enumerate(lines.split(b"\n"), start=1):
        if line:
            record = parse_object(line.decode("utf-8"), _NAME, number)
            writer.write(parse_record(record, source, number))
            rows += 1
    writer.close()
    return ParquetPart(sink.getvalue().to_pybytes(), rows, dict(writer.losses))
