"""Our own JSONL: exchange records, or input with text, title and abstract, or SciERC fields. ``schemas/export.schema.json`` describes every field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    Relation,
)
from sciextract.documents.document import AnnotatedDocument, Document, ModelId, TokenTable
from sciextract.documents.spans import Span, TokenRange
from sciextract.formats import scierc
from sciextract.formats.alignment import align_tokens
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.exchange import SCHEMA_VERSION, annotations_from, candidates_from
from sciextract.formats.json_streams import read_lines, read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    list_at,
    object_at,
    span_at,
    string_at,
    text_of,
    unknown_fields,
)
from sciextract.formats.layers import TokenLayers, token_layers
from sciextract.formats.scierc import layer_fields, sentence_strings
from sciextract.formats.sink import ArraySink, LineWriter
from sciextract.text.analyse import analyse, make_document

#: Every field that the format itself defines, in the order in which they are written.
OWN_FIELDS = (
    *("schema_version", "doc_key", "text", "text_sha256", "tokens", "sentences", "token_ranges"),
    *("ner", "relations", "clusters", "scores", "model", "entities", "links", "groups"),
    *("candidates", "warnings"),
)


class JsonlWriter(LineWriter):
    """Writes one exchange record a line; nothing is lost, so ``losses`` stays empty."""

    def __init__(self, destination: Path | str | TextIO, *, candidates: bool = False) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream.

        Args:
            destination: Where the lines go.
            candidates: Whether to write what the model considered, too.
        """
        super().__init__(destination)
        self._candidates = candidates

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        self._sink.write_line(encode(document, self._candidates))


class JsonWriter(JsonlWriter):
    """Writes exchange records as an array, one a line. Nothing is lost."""

    _SINK = ArraySink


def encode(document: AnnotatedDocument, candidates: bool = False, *, split: bool = True) -> str:
    """A document as one line of exchange JSON, without a line feed: :func:`record_of` as text."""
    return dump_line(record_of(document, candidates, split=split))


def record_of(
    document: AnnotatedDocument, candidates: bool = False, *, split: bool = True
) -> Record:
    """A document as an exchange record.

    Tokens are split where the edge of an entity cuts one, unless ``split`` is off. The texts of entities and
    arguments are there for other tools: readers take the ranges. Input fields that sciextract does not interpret
    follow its own; one that has the name of an own field becomes ``input_NAME``.
    """
    record = _text_fields(document, token_layers(document, split=split))
    model = document.model
    record["model"] = model and {"name": model.name, "hash": model.hash}
    annotations, text = document.annotations, document.document.text
    texts = {entity.id: entity.text_of(text) for entity in annotations.entities}
    record["entities"] = [
        {**entity_record(entity), "text": texts[entity.id]} for entity in annotations.entities
    ]
    record["links"] = [
        {**link_record(each), "head_text": texts[each.head], "tail_text": texts[each.tail]}
        for each in annotations.relations
    ]
    record["groups"] = [group_record(cluster) for cluster in annotations.clusters]
    if candidates and annotations.candidates is not None:
        record["candidates"] = _candidates(annotations.candidates)
    if document.warnings:
        record["warnings"] = list(document.warnings)
    _add_input_fields(record, document.document.fields)
    return record


def _text_fields(document: AnnotatedDocument, layers: TokenLayers) -> Record:
    text = document.document.text
    sentences = sentence_strings(layers.table, text)
    return {
        "schema_version": SCHEMA_VERSION,
        "doc_key": document.document.doc_key,
        "text": text,
        "text_sha256": document.document.text_sha256,
        "tokens": [token for sentence in sentences for token in sentence],
        "sentences": sentences,
        "token_ranges": [_range(span) for span in layers.table.spans],
        **layer_fields(layers),
        "scores": _scores(layers),
    }


def _scores(layers: TokenLayers) -> dict[str, Any]:
    return {
        "ner": [[entity.score for _, entity in sentence] for sentence in layers.ner],
        "relations": [[item.score for *_, item in sentence] for sentence in layers.relations],
        "clusters": [[score for _, score in cluster] for cluster in layers.clusters],
    }


def entity_record(entity: Entity) -> Record:
    """An element of ``entities``, without its text."""
    fragments = [_range(fragment) for fragment in entity.fragments]
    return {"id": entity.id, "fragments": fragments, **_labelled(entity)}


def link_record(relation: Relation) -> Record:
    """An element of ``links``, without the texts of its arguments."""
    ends = {"head": relation.head, "tail": relation.tail}
    return {"id": relation.id, **ends, **_labelled(relation)}


def group_record(cluster: Cluster) -> Record:
    """An element of ``groups``."""
    item = {"id": cluster.id, "mentions": list(cluster.mentions), **_made(cluster)}
    if cluster.mention_scores:
        item["mention_scores"] = list(cluster.mention_scores)
    if cluster.mention_states:
        item["mention_states"] = [state.value for state in cluster.mention_states]
    return item


def _labelled(item: Entity | Relation) -> Record:
    labels = {"alternatives": _labels(item.alternatives)} if item.alternatives else {}
    return {"label": item.label, **_made(item), **labels}


def _made(item: Entity | Relation | Cluster) -> Record:
    return {"score": item.score, "state": item.state.value, "source": item.source}


def _candidates(candidates: Candidates) -> Record:
    return {
        "spans": [
            {"span": _range(each.span), "labels": _labels(each.labels)} for each in candidates.spans
        ],
        "pairs": [
            {"head": _range(each.head), "tail": _range(each.tail), "labels": _labels(each.labels)}
            for each in candidates.pairs
        ],
        "links": [
            {
                "mention": _range(each.mention),
                "antecedent": _range(each.antecedent),
                "score": each.score,
            }
            for each in candidates.links
        ],
    }


def _add_input_fields(record: Record, fields: Mapping[str, Any]) -> None:
    own = {*OWN_FIELDS}
    for name, value in fields.items():
        free = name
        while free in own or free in record:
            free = f"input_{free}"
        record[free] = value


def _range(span: Span) -> list[int]:
    return [span.char_start, span.char_end]


def _labels(labels: Iterable[LabelScore]) -> list[list[str | float]]:
    return [[each.label, each.score] for each in labels]


__all__ = ["SCHEMA_VERSION", "JsonlWriter", "encode", "parse_record", "read_jsonl", "record_of"]


def read_jsonl(source: Source) -> Iterator[ReadItem]:
    """Read exchange or input JSONL, one object a line.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_lines(source, parse_record)


def parse_record(record: Record, source: Source, line: int) -> AnnotatedDocument:
    """One record of any of the shapes that this format takes.

    Raises:
        FormatError: There is no text, or a field has a wrong shape or value.
    """
    if "schema_version" in record:
        return _exchange_record(record, source, line)
    if _is_tokenised(record):
        if not record.get("text"):
            return scierc.parse_record(record, source, line)
        return _tokenised_text(record, source, line)
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    text, title_length, used = text_of(record, place)
    fields = unknown_fields(record, {key_field, *used}, place)
    return AnnotatedDocument(make_document(key, text, fields, title_length=title_length))


def _is_tokenised(record: Record) -> bool:
    """Whether ``sentences`` are SciERC's: lists of tokens, or the only text that is there."""
    sentences = record.get("sentences")
    if not record.get("text") and not record.get("abstract") and not record.get("title"):
        return sentences is not None
    return isinstance(sentences, list) and all(isinstance(each, list) for each in sentences)


def _tokenised_text(record: Record, source: Source, line: int) -> AnnotatedDocument:
    """SciERC fields next to the exact text that their tokens come from."""
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    text = text_of(record, place).text
    sentences = scierc.sentences_at(record["sentences"], place)
    tokens = align_tokens(text, sentences, place)
    chosen = scierc.chosen_fields(record, source.fields)
    annotations = scierc.annotations_at(record, chosen, sentences, tokens, source, place)
    used = {key_field, "text", *scierc.used_fields(record, chosen)}
    document = Document(key, text, tokens, unknown_fields(record, used, place))
    return AnnotatedDocument(document, annotations)


def _exchange_record(record: Record, source: Source, line: int) -> AnnotatedDocument:
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    _check_version(record["schema_version"], place)
    text = _checked_text(record, place)
    known = {*OWN_FIELDS, key_field}
    if "entities" in record:
        annotations = annotations_from(record, len(text), source.provenance, place)
        tokens = _tokens(record, text, annotations, place)
    else:
        tokens, annotations = _from_tokens(record, text, source, place)
    document = Document(key, text, tokens, unknown_fields(record, known, place))
    remarks = list_at(record.get("warnings"), "warnings", place)
    warnings = tuple([string_at(remark, "warnings", place) for remark in remarks])
    return AnnotatedDocument(document, annotations, _model(record, place), warnings)


def _check_version(version: object, place: Place) -> None:
    if type(version) is int and version > SCHEMA_VERSION:
        problem = f"{version} found, the newest known version is {SCHEMA_VERSION}"
        hint = "a newer sciextract wrote this file: pip install --upgrade sciextract"
        raise place.error(problem, field="schema_version", hint=hint)
    if version != SCHEMA_VERSION or type(version) is not int:
        raise place.unexpected(version, f"{SCHEMA_VERSION}", field="schema_version")


def _checked_text(record: Record, place: Place) -> str:
    if record.get("text") is None:
        raise place.error("no text: the record has no `text`")
    text = string_at(record["text"], "text", place)
    given = record.get("text_sha256")
    found = Document("", text, TokenTable((), ())).text_sha256
    if given is not None and given != found:
        problem = f"{quoted(given)} found, but the text has {found}"
        hint = "the text was changed after the export, so offsets may be wrong"
        raise place.error(problem, field="text_sha256", hint=hint)
    return text


def _from_tokens(
    record: Record, text: str, source: Source, place: Place
) -> tuple[TokenTable, Annotations]:
    """Without the lossless form: annotations from the SciERC fields, if there are any."""
    tokens = _tokens(record, text, Annotations(), place)
    sentences = [[""] * len(each) for each in tokens.sentences]
    chosen = {layer: layer for layer in scierc.LAYERS if record.get(layer) is not None}
    annotations = scierc.annotations_at(record, chosen, sentences, tokens, source, place)
    candidates = candidates_from(record.get("candidates"), len(text), place)
    return tokens, Annotations(
        annotations.entities, annotations.relations, annotations.clusters, candidates
    )


def _tokens(record: Record, text: str, annotations: Annotations, place: Place) -> TokenTable:
    """The record's own token table; derived around its entities where it has none."""
    if record.get("sentences") is None:
        protected = [entity.span for entity in annotations.entities]
        return analyse(text, protected)
    sentences = scierc.sentences_at(record["sentences"], place)
    if record.get("token_ranges") is None:
        return align_tokens(text, sentences, place)
    table = _given_table(record["token_ranges"], sentences, text, place)
    for problem in table.problems(len(text)):
        raise place.error(problem, field="token_ranges")
    return table


def _given_table(ranges: object, sentences: list[list[str]], text: str, place: Place) -> TokenTable:
    listed = list_at(ranges, "token_ranges", place)
    spans = tuple(
        [
            span_at(value, len(text), f"token_ranges[{index}]", place)
            for index, value in enumerate(listed)
        ]
    )
    forms = tuple([token for sentence in sentences for token in sentence])
    if len(forms) != len(spans):
        problem = f"{len(spans)} ranges found, but `sentences` hold {len(forms)} tokens"
        raise place.error(problem, field="token_ranges")
    plain = TokenTable(spans, _token_ranges(sentences))
    return plain if plain.slices(text) == forms else TokenTable(spans, plain.sentences, forms)


def _token_ranges(sentences: list[list[str]]) -> tuple[TokenRange, ...]:
    ranges, start = [], 0
    for sentence in sentences:
        if sentence:
            ranges.append(TokenRange(start, start + len(sentence)))
        start += len(sentence)
    return tuple(ranges)


def _model(record: Record, place: Place) -> ModelId | None:
    if record.get("model") is None:
        return None
    model = object_at(record["model"], "model", place)
    return ModelId(
        string_at(model.get("name"), "model.name", place),
        string_at(model.get("hash"), "model.hash", place),
    )


def read_json(source: Source) -> Iterator[ReadItem]:
    """Read objects of any of the shapes that JSONL takes: exchange records, input, SciERC fields.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_objects(source, _documents, numbered=True)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    yield parse_record(record, source, line)
