"""Documents as rows of Arrow tables: the columns of our own, and the way back. Nothing is lost on it.

Parquet files and Hugging Face folders share these rows.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sciextract.documents.annotations import Cluster, Entity, LabelScore, Relation
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.formats.base import Place, Source, shown
from sciextract.formats.exchange import SCHEMA_VERSION
from sciextract.formats.json_values import Record, unknown_fields
from sciextract.formats.jsonl import parse_record
from sciextract.formats.records import list_at

#: What pyarrow raises on damaged files, also for names that are no UTF-8, and on disks that are full.
ARROW_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)
LOSS = "lone surrogate that UTF-8 cannot hold"
ROWS_PER_GROUP = 1000
_CHARACTERS_PER_GROUP = 16 << 20
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_RANGE = pa.list_(pa.int64())
_LABELS = pa.list_(pa.struct([("label", pa.string()), ("score", pa.float64())]))
_MADE = [("score", pa.float64()), ("state", pa.string()), ("source", pa.string())]
_ENTITY = [("id", pa.string()), ("fragments", pa.list_(_RANGE)), ("label", pa.string()), *_MADE]
_RELATION = [(name, pa.string()) for name in ("id", "head", "tail", "label")] + _MADE
_CLUSTER = [
    ("id", pa.string()),
    ("mentions", pa.list_(pa.string())),
    *_MADE,
    ("mention_scores", pa.list_(pa.float64())),
    ("mention_states", pa.list_(pa.string())),
]

#: One row a document. Ranges are ``[start, end)``: of tokens in characters, of sentences in tokens.
SCHEMA = pa.schema(
    [
        ("doc_key", pa.string()),
        ("text", pa.string()),
        ("text_sha256", pa.string()),
        ("tokens", pa.list_(pa.string())),
        ("token_ranges", pa.list_(_RANGE)),
        ("sentences", pa.list_(_RANGE)),
        ("entities", pa.list_(pa.struct([*_ENTITY, ("alternatives", _LABELS)]))),
        ("relations", pa.list_(pa.struct([*_RELATION, ("alternatives", _LABELS)]))),
        ("clusters", pa.list_(pa.struct(_CLUSTER))),
        ("fields", pa.string()),
        ("model_name", pa.string()),
        ("model_hash", pa.string()),
        ("warnings", pa.list_(pa.string())),
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


class RowBuffer:
    """Collects rows and hands them on in batches of about a thousand, so that memory stays constant.

    Attributes:
        losses: Lone surrogates, which Arrow's UTF-8 strings cannot hold; they become U+FFFD.
    """

    def __init__(self, consume: Callable[[pa.RecordBatch], None]) -> None:
        self.losses: Counter[str] = Counter()
        self._consume = consume
        self._rows: list[Record] = []
        self._characters = 0

    def add(self, document: AnnotatedDocument) -> str:
        """Add a document; gives the hash of its text."""
        row = _Row(document, self.losses).row
        self._rows.append(row)
        self._characters += len(row["text"])
        if len(self._rows) >= ROWS_PER_GROUP or self._characters >= _CHARACTERS_PER_GROUP:
            self.flush()
        return str(row["text_sha256"])

    def flush(self) -> None:
        """Hand on what is there."""
        if self._rows:
            self._consume(pa.RecordBatch.from_pylist(self._rows, schema=SCHEMA))
        self._rows, self._characters = [], 0


class _Row:
    """Builds one row."""

    def __init__(self, document: AnnotatedDocument, losses: Counter[str]) -> None:
        self._losses = losses
        text, tokens = self._utf8(document.document.text), document.document.tokens
        annotations, model = document.annotations, document.model
        whole = Document("", text, tokens)
        self.row: Record = {
            "doc_key": self._utf8(document.document.doc_key),
            "text": text,
            "text_sha256": whole.text_sha256,
            "tokens": [_LONE_SURROGATE.sub("\ufffd", token) for token in tokens.strings(text)],
            "token_ranges": _ranges(tokens.spans),
            "sentences": [[each.token_start, each.token_end] for each in tokens.sentences],
            "entities": [self._entity(entity) for entity in annotations.entities],
            "relations": [self._relation(relation) for relation in annotations.relations],
            "clusters": [self._cluster(cluster) for cluster in annotations.clusters],
            "fields": json.dumps(dict(document.document.fields), default=str),
            "model_name": model and self._utf8(model.name),
            "model_hash": model and self._utf8(model.hash),
            "warnings": [self._utf8(warning) for warning in document.warnings],
        }

    def _utf8(self, text: str) -> str:
        replaced, count = _LONE_SURROGATE.subn("\ufffd", text)
        if count:
            self._losses[LOSS] += count
        return replaced

    def _entity(self, entity: Entity) -> Record:
        return {
            "id": self._utf8(entity.id),
            "fragments": _ranges(entity.fragments),
            **self._labelled(entity),
        }

    def _relation(self, relation: Relation) -> Record:
        return {
            "id": self._utf8(relation.id),
            "head": self._utf8(relation.head),
            "tail": self._utf8(relation.tail),
            **self._labelled(relation),
        }

    def _cluster(self, cluster: Cluster) -> Record:
        return {
            "id": self._utf8(cluster.id),
            "mentions": [self._utf8(mention) for mention in cluster.mentions],
            "mention_scores": list(cluster.mention_scores),
            "mention_states": [state.value for state in cluster.mention_states],
            **self._made(cluster),
        }

    def _labelled(self, item: Entity | Relation) -> Record:
        alternatives = [self._label_score(each) for each in item.alternatives]
        return {"label": self._utf8(item.label), "alternatives": alternatives, **self._made(item)}

    def _label_score(self, each: LabelScore) -> Record:
        return {"label": self._utf8(each.label), "score": each.score}

    def _made(self, item: Entity | Relation | Cluster) -> Record:
        state, source = item.state.value, self._utf8(item.source)
        return {"score": item.score, "state": state, "source": source}


def _ranges(spans: Iterable[Span]) -> list[list[int]]:
    return [[span.char_start, span.char_end] for span in spans]


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
    document = parse_record(_exchange_record(row, place), source, number)
    fields = _fields(row.get("fields"), place)
    return replace(document, document=replace(document.document, fields=fields))


def _exchange_record(row: Record, place: Place) -> Record:
    record = {name: row.get(name) for name in ("doc_key", "text", "text_sha256", "warnings")}
    record |= {"schema_version": SCHEMA_VERSION, "groups": row["clusters"]}
    for name, column in (("entities", "entities"), ("links", "relations")):
        record[name] = [_with_pairs(item) for item in list_at(row[column], column, place)]
    if row.get("model_name") is not None:
        record["model"] = {"name": row["model_name"], "hash": row.get("model_hash")}
    if row.get("tokens") is not None and row.get("sentences") is not None:
        tokens = list_at(row["tokens"], "tokens", place)
        sentences = list_at(row["sentences"], "sentences", place)
        record["token_ranges"] = row["token_ranges"]
        record["sentences"] = [_tokens_of(each, tokens, place) for each in sentences]
    return record


def _tokens_of(tokens: object, strings: list[str], place: Place) -> list[str]:
    if isinstance(tokens, list) and len(tokens) == 2 and all(type(t) is int for t in tokens):
        start, end = tokens
        if 0 <= start < end <= len(strings):
            return strings[start:end]
    allowed = f"[first token, end) with 0 <= first < end <= {len(strings)}"
    raise place.error(f"{shown(tokens)} found, allowed is {allowed}", field="sentences")


def _with_pairs(item: object) -> object:
    """An item with its alternatives as pairs, which is how exchange records have them."""
    if not isinstance(item, Mapping):
        return item
    listed = item.get("alternatives") or []
    alternatives = [[each["label"], each["score"]] for each in listed if each]
    return {**item, "alternatives": alternatives}


def _fields(value: object, place: Place) -> dict[str, Any]:
    if value is None:
        return {}
    try:
        fields = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise place.error(f"{shown(value)} found, allowed is a JSON object", field="fields")
    return unknown_fields(fields, (), place)
