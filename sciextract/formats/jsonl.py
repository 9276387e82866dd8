"""Reader of sciextract's JSONL: exchange records, or input with text, title and abstract, or SciERC fields.

A record with ``schema_version`` is an exchange record and all its fields are interpreted; any other record
is input, and fields that are not about its text, key or SciERC layers are kept untouched.
"""

from __future__ import annotations

from collections.abc import Iterator

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.documents.spans import TokenRange
from sciextract.documents.tokens import TokenTable
from sciextract.formats import scierc
from sciextract.formats.alignment import align_tokens
from sciextract.formats.base import Place, ReadItem, Source, shown
from sciextract.formats.checks import list_at, object_at, span_at, string_at
from sciextract.formats.exchange import SCHEMA_VERSION, annotations_from, candidates_from
from sciextract.formats.json_lines import Record, read_records, unknown_fields
from sciextract.formats.jsonl_writer import OWN_FIELDS, JsonlWriter, encode
from sciextract.formats.texts import key_of, text_of
from sciextract.text.analyse import analyse, make_document

__all__ = ["SCHEMA_VERSION", "JsonlWriter", "encode", "parse_record", "read_jsonl"]


def read_jsonl(source: Source) -> Iterator[ReadItem]:
    """Read exchange or input JSONL, one object a line.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_records(source, parse_record)


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
    """SciERC fields beside the exact text that their tokens come from."""
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
        problem = f"{shown(version)} found, allowed is {SCHEMA_VERSION}"
        raise place.error(problem, field="schema_version")


def _checked_text(record: Record, place: Place) -> str:
    if record.get("text") is None:
        raise place.error("no text: the record has no `text`")
    text = string_at(record["text"], "text", place)
    given = record.get("text_sha256")
    found = Document("", text, TokenTable((), ())).text_sha256
    if given is not None and given != found:
        problem = f"{shown(given)} found, but the text has {found}"
        hint = "the text was changed after the export, so offsets cannot be trusted"
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
