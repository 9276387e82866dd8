"""Our own JSONL: exchange records, or input with text, title and abstract, or SciERC fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from itertools import accumulate, pairwise
from typing import Any

from sciextract.codec import convert
from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    Relation,
    Span,
    SpanCandidate,
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
    number_at,
    object_at,
    objects_at,
    read_lines,
    span_at,
    string_at,
    text_of,
    unknown_fields,
    with_usual_names,
)
from sciextract.formats.record_check import document_of, given_text, is_placeholder
from sciextract.text.analyse import analyse

_STATES = {state.value: state for state in State}


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
        items = _ItemReader(len(text), source.provenance, place)
        annotations = items.annotations(record)
        tokens = _tokens(record, text, annotations, place)
    else:
        # Without the lossless form: annotations from the SciERC fields, if there are any.
        tokens = _tokens(record, text, Annotations(), place)
        sentences = [[""] * len(sentence) for sentence in tokens.sentences]
        chosen = {layer: layer for layer in scierc.LAYERS if record.get(layer) is not None}
        annotations = scierc.annotations_at(record, chosen, sentences, tokens, source, place)
    candidates = _candidates_at(record.get("candidates"), len(text), place)
    known = {*OWN_FIELDS, key_field}
    fields = unknown_fields(record, known, place) | foreign
    document = Document(key, text, tokens, fields)
    remarks = list_at(record.get("warnings"), "warnings", place)
    warnings = tuple([string_at(remark, "warnings", place) for remark in remarks])
    model = None
    if record.get("model") is not None:
        given = object_at(record["model"], "model", place)
        names = [string_at(given.get(name), f"model.{name}", place) for name in ("name", "hash")]
        model = ModelId(*names)
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
    items = _ItemReader(text_length, provenance, place)
    everything = items.annotations({**listed, "groups": [*groups.values()]})

    values = {name: value for name, value in given.items() if name != "everything"}
    state = convert(values, ProjectState, f"{place.path}:{place.line}: project_state")
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
    ranges = list_at(record.get("token_ranges"), "token_ranges", place)
    tokens = [span_at(pair, len(text), "token_ranges", place).of(text) for pair in ranges]
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
    listed = enumerate(list_at(record["token_ranges"], "token_ranges", place))
    spans = tuple([span_at(at, len(text), f"token_ranges[{n}]", place) for n, at in listed])
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


class _ItemReader:
    """Reads items of one record; ids are unique, and arguments must be entities."""

    def __init__(self, text_length: int, provenance: str, place: Place) -> None:
        self._length = text_length
        self._provenance = provenance
        self._place = place
        self._ids: set[str] = set()
        self._entities: set[str] = set()
        self._relations: set[str] = set()

    def annotations(self, record: Record) -> Annotations:
        """The items of ``entities``, then those that refer to them: ``links``, ``groups``, ``attributes``."""
        entities, relations, clusters, attributes = (
            objects_at(record.get(name), name, self._place)
            for name in ("entities", "links", "groups", "attributes")
        )
        return Annotations(
            tuple([self.entity(*item) for item in entities]),
            tuple([self.relation(*item) for item in relations]),
            tuple([self.cluster(*item) for item in clusters]),
            attributes=tuple([self.attribute(*item) for item in attributes]),
        )

    def entity(self, item: Record, field: str) -> Entity:
        item_id = self._new_id(item, field)
        self._entities.add(item_id)
        where = f"{field}.fragments"
        listed = list_at(item.get("fragments"), where, self._place)
        fragments = tuple([span_at(pair, self._length, where, self._place) for pair in listed])
        ascending = all(left.char_end <= right.char_start for left, right in pairwise(fragments))
        if not fragments or not ascending:
            allowed = "one or more ranges, ascending, apart"
            raise self._place.unexpected(item.get("fragments"), allowed, field=where)
        return Entity(
            item_id,
            fragments,
            string_at(item.get("label"), f"{field}.label", self._place),
            *self._made_by(item, field),
            _labels_at(item.get("alternatives"), f"{field}.alternatives", self._place),
        )

    def relation(self, item: Record, field: str) -> Relation:
        item_id = self._new_id(item, field)
        self._relations.add(item_id)
        return Relation(
            item_id,
            self._argument(item.get("head"), f"{field}.head"),
            self._argument(item.get("tail"), f"{field}.tail"),
            label_at(item.get("label"), f"{field}.label", self._place),
            *self._made_by(item, field),
            _labels_at(item.get("alternatives"), f"{field}.alternatives", self._place),
        )

    def cluster(self, item: Record, field: str) -> Cluster:
        listed = list_at(item.get("mentions"), f"{field}.mentions", self._place)
        mentions = tuple([self._argument(entity_id, f"{field}.mentions") for entity_id in listed])
        where = {name: f"{field}.mention_{name}" for name in ("scores", "states")}
        aligned = {}
        for name, place in where.items():
            aligned[name] = list_at(item.get(f"mention_{name}"), place, self._place)
            if aligned[name] and len(aligned[name]) != len(mentions):
                found = f"{len(aligned[name])} {name} found"
                problem = f"{found}; expected {len(mentions)}, one a mention"
                raise self._place.error(problem, field=place)
        return Cluster(
            self._new_id(item, field),
            mentions,
            *self._made_by(item, field),
            tuple([number_at(score, where["scores"], self._place) for score in aligned["scores"]]),
            tuple([self._state(state, where["states"]) for state in aligned["states"]]),
        )

    def attribute(self, item: Record, field: str) -> Attribute:
        target = item.get("target")
        if target is not None and target not in self._entities | self._relations:
            allowed = "ids of this record's entities and links, or none for the abstract"
            raise self._place.unexpected(target, allowed, field=f"{field}.target")
        return Attribute(
            self._new_id(item, field),
            target or "",
            label_at(item.get("label"), f"{field}.label", self._place),
            string_at(item.get("value", ""), f"{field}.value", self._place),
            *self._made_by(item, field),
            _labels_at(item.get("alternatives"), f"{field}.alternatives", self._place),
        )

    def _new_id(self, item: Record, field: str) -> str:
        item_id = label_at(item.get("id"), f"{field}.id", self._place)
        if item_id in self._ids:
            problem = f"{quoted(item_id)} found twice, ids are unique in a record"
            raise self._place.error(problem, field=f"{field}.id")
        self._ids.add(item_id)
        return item_id

    def _argument(self, value: object, field: str) -> str:
        if not isinstance(value, str) or value not in self._entities:
            raise self._place.unexpected(value, "ids of this record's entities", field=field)
        return value

    def _made_by(self, item: Record, field: str) -> tuple[float | None, State, str]:
        score = item.get("score")
        if score is not None:
            score = number_at(score, f"{field}.score", self._place)
        state = item.get("state", State.IMPORTED.value)
        source = string_at(item.get("source", self._provenance), f"{field}.source", self._place)
        return score, self._state(state, f"{field}.state"), source

    def _state(self, value: object, field: str) -> State:
        if not isinstance(value, str) or value not in _STATES:
            raise self._place.unexpected(value, f"{', '.join(_STATES)}", field=field)
        return _STATES[value]


def _candidates_at(value: object, text_length: int, place: Place) -> Candidates | None:
    """``candidates``, or ``None`` where the record has none."""
    if value is None:
        return None
    record = object_at(value, "candidates", place)

    def each_of(name: str) -> Iterator[tuple[Record, str]]:
        return objects_at(record.get(name), f"candidates.{name}", place)

    def span(name: str, item: Record, field: str) -> Span:
        return span_at(item.get(name), text_length, f"{field}.{name}", place)

    def labels(item: Record, field: str) -> tuple[LabelScore, ...]:
        return _labels_at(item.get("labels"), f"{field}.labels", place)

    spans = [SpanCandidate(span("span", *item), labels(*item)) for item in each_of("spans")]
    pairs = [
        PairCandidate(span("head", *item), span("tail", *item), labels(*item))
        for item in each_of("pairs")
    ]
    links = []
    for item, field in each_of("links"):
        ends = span("mention", item, field), span("antecedent", item, field)
        links.append(LinkCandidate(*ends, number_at(item.get("score"), f"{field}.score", place)))
    return Candidates(tuple(spans), tuple(pairs), tuple(links))


def _labels_at(value: object, field: str, place: Place) -> tuple[LabelScore, ...]:
    """A list of ``[label, score]``; ``None`` counts as an empty one."""
    labels = []
    for pair in list_at(value, field, place):
        if not isinstance(pair, list) or len(pair) != 2:
            raise place.unexpected(pair, "[label, score]", field=field)
        label, score = string_at(pair[0], field, place), number_at(pair[1], field, place)
        labels.append(LabelScore(label, score))
    return tuple(labels)
