"""Which columns of another's table hold key, title and text: the names that CSV tables have, too."""

from __future__ import annotations

import pyarrow as pa

from sciextract.errors import FormatError
from sciextract.formats.base import shown
from sciextract.formats.json_lines import Record
from sciextract.formats.tables.tabular import COLUMN_NAMES, plain_name

_FIELD_OF = {"key": "doc_key", "title": "title", "text": "text", "abstract": "abstract"}
_KEYS = {"doc_key", "id"}
_MOST_SHOWN = 20


def text_columns(schema: pa.Schema) -> dict[str, str]:
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


def check_texts(schema: pa.Schema, columns: dict[str, str], path: str) -> None:
    """Refuse a table at once when what should be text is something else, instead of row by row.

    Raises:
        FormatError: A column of texts holds numbers, bytes, lists...; names all columns with their types.
    """
    for field in ("text", "title", "abstract"):
        name = columns.get(field)
        if name is not None and not _is_text(schema.field(name).type):
            problem = f"column {shown(name)} holds {schema.field(name).type}, allowed is text"
            hint = "turn it into a column of strings, or rename it"
            raise FormatError(f"{problem}; columns found: {listed(schema)}", path=path, hint=hint)


def listed(schema: pa.Schema) -> str:
    """The columns with their types, for messages."""
    parts = [f"{shown(field.name)} ({field.type})" for field in list(schema)[:_MOST_SHOWN]]
    return ", ".join(parts) or "none"


def with_fields(row: Record, columns: dict[str, str]) -> Record:
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
