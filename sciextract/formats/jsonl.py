"""Our own JSONL: exchange records, or input with text, title and abstract, or SciERC fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import accumulate, pairwise
from typing import Any

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Candidates,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
    TokenRange,
)
from sciextract.documents.document import (
    AnnotatedDocument,
    Document,
    ModelId,
    TokenTable,
    text_hash,
)
from sciextract.documents.project_state import ProjectState
from sciextract.formats import scierc
from sciextract.formats.alignment import align_tokens
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.exchange import OWN_FIELDS, SCHEMA_VERSION
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    key_of,
    label_at,
    list_at,
    object_at,
    objects_at,
    read_lines,
    string_at,
    text_of,
    typed_at,
    unknown_fields,
    with_usual_names,
)
from sciextract.formats.record_check import document_of, given_text, is_placeholder
from sciextract.text.analyse import analyse


def read_jsonl(source: Source) -> Iterator[ReadItem]:
    """Read exchange or input JSONL, one object a line."""
    return read_lines(source, parse_record)


def parse_record(record: Record, source: Source, line: int) -> AnnotatedDocument:
    """One record of any of the shapes that this format takes.

    Raises:
        FormatError: There is no text, or a field has a wrong shape or value.
    """
    if "schema_version" in record:
        return _exchange_record(record, source, line)
    record = with_usual_names(record)
    sentences, has_text = record.get("sentences"), bool(record.get("text"))
    if not has_text and not record.get("abstract") and not record.get("title"):
        tokenised = sentences is not None
    else:
        # Records of others may have sentences that are strings.
        tokenised = isinstance(sentences, list) and all(isinstance(s, list) for s in sentences)
    if tokenised and not has_text:
        return scierc.parse_record(record, source, line)
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    if not tokenised:
        text, title_length, used = text_of(record := _with_given_texts(record), place)
        fields = unknown_fields(record, {key_field, *used}, place)
        return document_of(key, text, fields, title_length)
    text = text_of(record, place).text
    # SciERC fields next to the exact text that their tokens come from.
    sentences = scierc.sentences_at(sentences, place)
    tokens = align_tokens(text, sentences, place)
    chosen = scierc.chosen_fields(record, source.fields)
    annotations = scierc.annotations_at(record, chosen, sentences, tokens, source, place)
    known = {key_field, "text", *scierc.used_fields(record, chosen)}
    fields = unknown_fields(record, known, place)
    return AnnotatedDocument(Document(key, text, tokens, fields), annotations)


def _with_given_texts(record: Record) -> Record:
    """The record with title and abstract as they are meant, without placeholders; as it is where it has a text of its own."""
    text, given = record.get("text"), dict(record)
    for name in ("title", "abstract"):
        if isinstance(value := record.get(name), str) and value:
            given[name] = given_text(value)
            if not given[name]:
                del given[name]
    if not text:
        return given
    has_other = bool(given.get("title") or given.get("abstract"))
    is_other = has_other and isinstance(text, str) and is_placeholder(text)
    return {**given, "text": None} if is_other else record


def _exchange_record(record: Record, source: Source, line: int) -> AnnotatedDocument:
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    version = record["schema_version"]
    if type(version) is int and version > SCHEMA_VERSION:
        problem = f"{version} found, the newest known version is {SCHEMA_VERSION}"
        hint = "a newer sciextract wrote this file: pip install --upgrade sciextract"
        raise place.error(problem, field="schema_version", hint=hint)
    if version != SCHEMA_VERSION or type(version) is not int:
        raise place.unexpected(version, f"{SCHEMA_VERSION}", field="schema_version")
    given_hash = record.get("text_sha256")
    text = record.get("text", source.texts.get(str(given_hash)))
    if text is None and source.texts:
        raise place.error(f"no text: none of those given has the SHA-256 {quoted(given_hash)}")
    if text is None:
        hint = "sciextract convert --texts FILE fills in the texts of a release without texts"
        raise place.error("no text: the record has no `text`", hint=hint)
    text = string_at(text, "text", place)
    if "text" not in record and "sentence_ranges" in record:
        record = {**record, "sentences": _cut_sentences(record, text, place)}
        del record["sentence_ranges"]
    found_hash = text_hash(text)
    if given_hash is not None and given_hash != found_hash:
        problem = f"{quoted(given_hash)} found, but the text has {found_hash}"
        hint = "the text was changed after the export, so offsets may be wrong"
        raise place.error(problem, field="text_sha256", hint=hint)
    foreign: Record = {}
    if not _has_own_attributes(record):
        record = dict(record)
        foreign["attributes"] = record.pop("attributes")
    if "entities" in record:
        annotations = _items_of(record, len(text), source.provenance, place)
        tokens = _tokens(record, text, annotations, place)
    else:
        # Without the lossless form: annotations from the SciERC fields, if there are any.
        tokens = _tokens(record, text, Annotations(), place)
        sentences = [[""] * len(sentence) for sentence in tokens.sentences]
        chosen = {layer: layer for layer in scierc.LAYERS if record.get(layer) is not None}
        annotations = scierc.annotations_at(record, chosen, sentences, tokens, source, place)
    candidates = None
    if record.get("candidates") is not None:
        candidates = typed_at(record["candidates"], Candidates, "candidates", place)
        for span in candidates.ranges():
            _check_ranges([span], len(text), "candidates", place)
    known = {*OWN_FIELDS, key_field}
    fields = unknown_fields(record, known, place) | foreign
    document = Document(key, text, tokens, fields)
    warnings = typed_at(record.get("warnings") or (), tuple[str, ...], "warnings", place)
    model = None
    if record.get("model") is not None:
        model = typed_at(record["model"], ModelId, "model", place)
    state = None
    if "entities" in record and record.get("project_state") is not None:
        state = _state_at(record, len(text), source.provenance, place)
    annotations = replace(annotations, candidates=candidates)
    return AnnotatedDocument(document, annotations, model, warnings, project_state=state)


def _state_at(record: Record, text_length: int, provenance: str, place: Place) -> ProjectState:
    given = object_at(record["project_state"], "project_state", place)
    rejected = object_at(given.get("rejected") or {}, "project_state.rejected", place)
    groups = {item.get("id"): item for item, _ in objects_at(record.get("groups"), "groups", place)}
    again = objects_at(rejected.get("groups"), "project_state.rejected.groups", place)
    groups |= {item.get("id"): item for item, _ in again}
    listed = {
        name: [*(record.get(name) or []), *list_at(rejected.get(name), name, place)]
        for name in ("entities", "links", "attributes")
    }
    listed["groups"] = [*groups.values()]
    everything = _items_of(listed, text_length, provenance, place)
    values = {name: value for name, value in given.items() if name != "everything"}
    state = typed_at(values, ProjectState, "project_state", place)
    try:
        decisions = tuple(replace(made, at=made.at.astimezone(UTC)) for made in state.decisions)
    except (ValueError, OverflowError) as error:
        raise place.error(f"a time that no clock shows: {error}", field="project_state") from None
    return replace(state, everything=everything, decisions=decisions)


def _has_own_attributes(record: Record) -> bool:
    """Whether ``attributes`` is the own field, or none: records of others have fields of that name, too."""
    given = record.get("attributes", [])
    listed = given if isinstance(given, list) else [None]
    return all(isinstance(item, dict) and "state" in item for item in listed)


def _cut_sentences(record: Record, text: str, place: Place) -> list[list[str]]:
    """The sentences of a record that has the ranges of its tokens and sentences only."""
    spans = typed_at(record.get("token_ranges") or (), tuple[Span, ...], "token_ranges", place)
    tokens = [span.of(text) for span in spans]
    return cut_at(tokens, record["sentence_ranges"], "sentence_ranges", place)


def cut_at(tokens: list[Any], ranges: object, field: str, place: Place) -> list[list[Any]]:
    """Tokens in sentences, of which the ranges are given.

    Raises:
        FormatError: They are no ranges of tokens.
    """
    cut = []
    for pair in list_at(ranges, field, place):
        start, end = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(tokens):
            allowed = f"[first token, end) with 0 <= first < end <= {len(tokens)}"
            raise place.unexpected(pair, allowed, field=field)
        cut.append(tokens[start:end])
    return cut


def _tokens(record: Record, text: str, annotations: Annotations, place: Place) -> TokenTable:
    """The record's own token table; derived around its entities where it has none."""
    if record.get("sentences") is None:
        protected = [entity.span for entity in annotations.entities]
        return analyse(text, protected)
    sentences = scierc.sentences_at(record["sentences"], place)
    if record.get("token_ranges") is None:
        return align_tokens(text, sentences, place)
    spans = typed_at(record["token_ranges"], tuple[Span, ...], "token_ranges", place)
    forms = tuple([token for sentence in sentences for token in sentence])
    if len(forms) != len(spans):
        problem = f"{len(spans)} ranges found, but `sentences` hold {len(forms)} tokens"
        raise place.error(problem, field="token_ranges")
    ends = [0, *accumulate(len(sentence) for sentence in sentences if sentence)]
    ranges = tuple([TokenRange(start, end) for start, end in pairwise(ends)])
    table = TokenTable(spans, ranges)
    for problem in table.problems(len(text)):
        raise place.error(problem, field="token_ranges")
    return table if table.slices(text) == forms else TokenTable(spans, ranges, forms)


def read_json(source: Source) -> Iterator[ReadItem]:
    """Read objects of any of the shapes that JSONL takes: exchange records, input, SciERC fields."""
    return read_objects(source, lambda *record: [parse_record(*record)], numbered=True)


_KINDS: dict[str, type[Entity | Relation | Cluster | Attribute]] = {
    "entities": Entity,
    "links": Relation,
    "groups": Cluster,
    "attributes": Attribute,
}
"""The fields with items, those last that refer to others."""
_HINT = f"schemas/export.schema.json describes every field; states are {', '.join(State)}"


def _items_of(record: Record, text_length: int, provenance: str, place: Place) -> Annotations:
    """The items of a record, each with an id of its own.

    Raises:
        FormatError: One has a wrong shape, or does not fit the text or the items before it.
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in _KINDS}
    for name, kind in _KINDS.items():
        for given, field in objects_at(record.get(name), name, place):
            values = {key: value for key, value in given.items() if value is not None}
            values = {"state": State.IMPORTED, "source": provenance, "target": "", **values}
            item = typed_at(values, kind, field, place, hint=_HINT)
            label_at(item.id, f"{field}.id", place)
            if any(item.id in items for items in found.values()):
                problem = f"{quoted(item.id)} found twice, ids are unique in a record"
                raise place.error(problem, field=f"{field}.id")
            if isinstance(item, Entity):
                _check_ranges(item.fragments, text_length, f"{field}.fragments", place)
            else:
                _check_item(item, field, found, place)
            found[name][item.id] = item
    entities, relations, clusters, attributes = (tuple(items.values()) for items in found.values())
    return Annotations(entities, relations, clusters, attributes=attributes)


def _check_ranges(ranges: Sequence[Span], text_length: int, field: str, place: Place) -> None:
    edges = [edge for span in ranges for edge in span]
    is_sound = edges == sorted(edges) and all(start < end for start, end in ranges)
    if not edges or not is_sound or not 0 <= edges[0] <= edges[-1] <= text_length:
        allowed = f"one or more ranges [start, end) within 0 to {text_length}, ascending, apart"
        raise place.unexpected([list(span) for span in ranges], allowed, field=field)


def _check_item(
    item: Relation | Cluster | Attribute, field: str, known: Mapping[str, Any], place: Place
) -> None:
    """Refuse an item whose parts do not belong together, or that refers to one that is not ``known``."""
    targets = known["entities"]
    if isinstance(item, Cluster):
        ends = item.mentions
        for name in ("mention_scores", "mention_states"):
            if (count := len(getattr(item, name))) not in (0, len(ends)):
                problem = f"{count} values found; expected {len(ends)}, one a mention"
                raise place.error(problem, field=f"{field}.{name}")
    else:
        label_at(item.label, f"{field}.label", place)
    if isinstance(item, Relation):
        ends = (item.head, item.tail)
    if isinstance(item, Attribute):  # without a target it says something of the abstract
        ends, targets = (item.target,), {"", *targets, *known["links"]}
    for end in ends:
        if end not in targets:
            allowed = "ids of this record's entities (for attributes also of its links)"
            raise place.unexpected(end, allowed, field=field)
