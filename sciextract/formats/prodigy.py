"""Prodigy tasks: one JSON object a line with text, tokens, spans, relations and an answer.

Prodigy counts Python characters (code points), ends exclusive; ``token_end`` is inclusive. Relations name the
last token of their head and child and repeat their spans. Tasks with the same text stay several records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from sciextract.documents.annotations import Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable, warnings_of
from sciextract.documents.spans import Span, TokenRange
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import (
    BIBLIOGRAPHIC,
    ImportedItems,
    bibliographic,
    score_of,
    title_length_of,
)
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    object_at,
    objects_at,
    span_at,
    string_at,
    unknown_fields,
)
from sciextract.formats.layers import SpanLayers, span_layers, token_layers
from sciextract.formats.sink import LineWriter
from sciextract.text.analyse import analyse, split_at
from sciextract.text.sentences import split_sentences

ANSWERS = ("accept", "reject", "ignore")
FIELD = "prodigy"
"""The field of a document that holds the answer of its task, and the lists of one that was passed by."""
TASK = ("tokens", "spans", "relations")


class ProdigyWriter(LineWriter):
    """Writes one task a line; counts in ``losses`` what spans and relations cannot hold.

    Prodigy itself adds the hashes. A document that nobody has decided on, or not in all, gets no ``answer``;
    a task that was rejected or ignored comes back as it was, unless somebody has worked on it since.
    """

    def write(self, document: AnnotatedDocument) -> None:
        """Append one task.

        Raises:
            OutputError: An entity is not a range of the document's text.
        """
        layers = span_layers(document, repeated=False)
        self.losses.update(layers.losses)
        self._sink.write_line(dump_line(_task(document, layers)))


def _task(annotated: AnnotatedDocument, layers: SpanLayers) -> Record:
    document = annotated.document
    if annotated.done is not True and not layers.entities and (before := _passed(document)):
        return {"text": document.text, **before, "meta": _meta(document)}
    tokens = _token_spans(annotated, [entity.span for entity in layers.entities])
    starts = {span.char_start: index for index, span in enumerate(tokens)}
    ends = {span.char_end: index for index, span in enumerate(tokens)}
    spans = {each.id: _span(each, starts, ends) for each in layers.entities}
    task: Record = {
        "text": document.text,
        "tokens": list(_tokens(document.text, tokens)),
        "spans": list(spans.values()),
        "relations": [
            {
                "head": spans[head.id]["token_end"],
                "child": spans[tail.id]["token_end"],
                "head_span": spans[head.id],
                "child_span": spans[tail.id],
                "label": label,
            }
            for head, tail, label in layers.relations
        ],
        "meta": _meta(document),
    }
    answer = _answer(annotated)
    return task | {"answer": answer} if answer else task


def _given(document: Document) -> Mapping[str, Any]:
    """What the task that the document was read from held; nothing of other documents."""
    given = document.fields.get(FIELD)
    if isinstance(given, Mapping) and given.get("answer", "") in (None, *ANSWERS):
        return given
    return {}


def _passed(document: Document) -> Record:
    """The task's own tokens, spans, relations and answer if it was rejected or ignored."""
    given = _given(document)
    if given.get("answer") not in ("reject", "ignore"):
        return {}
    kept = {name: given[name] for name in TASK if isinstance(given.get(name), list)}
    return kept | {"answer": given["answer"]}


def _answer(annotated: AnnotatedDocument) -> str | None:
    """``accept`` if somebody has decided the whole document; only then may Prodigy take it for an answer."""
    found = annotated.annotations
    items: list[Entity | Relation | Cluster] = [*found.entities, *found.relations, *found.clusters]
    states = {item.state for item in items}
    if State.UNDECIDED in states or annotated.done is False:
        return None
    given = _given(annotated.document)
    as_read = states <= {State.IMPORTED} and (given or not states)
    if annotated.done or not as_read:
        return "accept"
    return "accept" if given.get("answer") == "accept" else None


def _span(entity: Entity, starts: dict[int, int], ends: dict[int, int]) -> Record:
    span = entity.span
    found: Record = {
        "start": span.char_start,
        "end": span.char_end,
        "token_start": starts[span.char_start],
        "token_end": ends[span.char_end],
    }
    if entity.label:
        found["label"] = entity.label
    return found if entity.score is None else found | {"score": entity.score}


def _tokens(text: str, tokens: list[Span]) -> Iterator[Record]:
    """Tokens as Prodigy has them: a single space belongs to the token before it (``ws``)."""
    nexts = [*(span.char_start for span in tokens[1:]), len(text)]
    for index, (span, following) in enumerate(zip(tokens, nexts, strict=True)):
        yield {
            "text": span.of(text),
            "start": span.char_start,
            "end": span.char_end,
            "id": index,
            "ws": following > span.char_end,
        }


def _token_spans(annotated: AnnotatedDocument, spans: list[Span]) -> list[Span]:
    """The document's tokens and, between them, white space tokens, cut so that each span is whole tokens."""
    text = annotated.document.text
    starts, ends = {span.char_start for span in spans}, {span.char_end for span in spans}
    found: list[Span] = []
    position = 0
    for token in (*token_layers(annotated).table.spans, Span(len(text), len(text))):
        start = position
        is_space = start > 0 and text[start : token.char_start].startswith(" ")
        if is_space and start not in starts and start + 1 not in ends:
            start += 1
        found += _pieces(Span(start, token.char_start), starts | ends)
        found.append(token)
        position = token.char_end
    return found[:-1]


def _pieces(gap: Span, edges: set[int]) -> list[Span]:
    cuts = sorted(edge for edge in edges if gap.char_start < edge < gap.char_end)
    bounds = pairwise([gap.char_start, *cuts, gap.char_end])
    return [Span(start, end) for start, end in bounds if start < end]


def _meta(document: Document) -> dict[str, Any]:
    """What Prodigy shows below the text: the key, bibliographic fields, and what it showed before."""
    given = document.fields.get("meta")
    before = given if isinstance(given, dict) else {}
    return {**before, **bibliographic(document.fields), "doc_key": document.doc_key}


__all__ = ["ProdigyWriter", "read_prodigy"]

_STATES = {"accept": State.IMPORTED, "reject": State.REJECTED}
_IGNORED = "ignore"
_ANSWERED = frozenset({"answer", FIELD})
_OWN = ("text", "tokens", "spans", "relations", "answer")


def read_prodigy(source: Source) -> Iterator[ReadItem]:
    """Read tasks as ``db-out`` writes them, or an array of them.

    What was rejected becomes rejected items, explicit negatives; an ignored task has no items. The answer, and what
    a rejected or ignored task holds, stay in the field ``prodigy``. Relations labelled ``COREF`` become clusters.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_objects(source, _documents)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    key, key_field = _key_of(record, source, line)
    place = Place(source.path, line, key)
    state = _state_of(record.get("answer"), place)
    if record.get("text") is None:
        kinds = ", ".join(map(quoted, list(record)[:8]))
        raise place.error(
            f"no text: the task has {kinds}", hint="only tasks with `text` can be read"
        )
    text = string_at(record["text"], "text", place)
    fields = _fields_of(record, key_field, place)
    tokens = _tokens_at(record.get("tokens"), text, place)
    kept = _ANSWERED if state is State.IMPORTED else {*_ANSWERED, *TASK}
    fields[FIELD] = {"answer": None} | unknown_fields(record, {*record} - kept, place)
    if state is None:
        table = _table_of(tokens, text, [], fields)
        yield AnnotatedDocument(Document(key, text, table, fields), warnings=(_ignored(record),))
        return
    task = _Task(text, tokens, ImportedItems(key, source.provenance, state), place)
    task.read(record)
    items = task.items
    table = _table_of(tokens, text, items.spans, fields)
    document = Document(key, text, table, fields)
    yield AnnotatedDocument(document, items.annotations(), warnings=items.warnings())


def _key_of(record: Record, source: Source, line: int) -> tuple[str, str]:
    key, field = key_of(record, source, line)
    meta = record.get("meta")
    if not field and isinstance(meta, dict):
        keys = (meta.get(name) for name in ("doc_key", "id"))
        key = next((str(each) for each in keys if each and isinstance(each, str | int)), key)
    return key, field


def _state_of(answer: object, place: Place) -> State | None:
    """The state of a task's items; ``None`` where the annotator passed."""
    if answer is None:
        return State.IMPORTED
    if answer == _IGNORED:
        return None
    if not isinstance(answer, str) or answer not in _STATES:
        allowed = ", ".join(ANSWERS)
        raise place.unexpected(answer, f"{allowed}", field="answer")
    return _STATES[answer]


def _ignored(record: Record) -> str:
    names = ("spans", "relations")
    lists = [(name, record[name]) for name in names if isinstance(record.get(name), list)]
    found = " and ".join(f"{len(items)} {name}" for name, items in lists) or "nothing"
    return warnings_of({f"the task was ignored by its annotator, with {found} in it": 1})[0]


def _fields_of(record: Record, key_field: str, place: Place) -> Record:
    """Fields that are not interpreted, and the bibliographic ones among what Prodigy shows (``meta``)."""
    fields = unknown_fields(record, {key_field, *_OWN}, place)
    meta = fields.get("meta")
    shown_fields = meta if isinstance(meta, dict) else {}
    return {name: shown_fields[name] for name in BIBLIOGRAPHIC if name in shown_fields} | fields


class _Tokens:
    """The tokens of a task, white space ones too.

    Attributes:
        spans: Their ranges, ascending.
        numbers: The index of each token by the ``id`` that relations call it.
    """

    def __init__(self, spans: list[Span], ids: list[int]) -> None:
        self.spans = spans
        self.numbers = {number: index for index, number in enumerate(ids)}


def _tokens_at(value: object, text: str, place: Place) -> _Tokens | None:
    spans: list[Span] = []
    ids: list[int] = []
    for index, (token, field) in enumerate(objects_at(value, "tokens", place)):
        spans.append(_span_at(token, text, field, place))
        number = token.get("id", index)
        ids.append(number if type(number) is int else index)
    for index, (before, span) in enumerate(pairwise(spans), start=1):
        if span.char_start < before.char_end:
            found = f"it starts at {span.char_start}, before the end of the last one"
            raise place.error(f"{found}, {before.char_end}", field=f"tokens[{index}]")
    return _Tokens(spans, ids) if spans else None


def _span_at(value: dict[str, Any], text: str, field: str, place: Place) -> Span:
    span = span_at([value.get("start"), value.get("end")], len(text), field, place)
    given = value.get("text")
    if given is not None and given != span.of(text):
        found = f"{quoted(given)} found, but `text` has {quoted(span.of(text))} there"
        hint = "offsets must count the characters of `text`, as Python does"
        raise place.error(found, field=f"{field}.text", hint=hint)
    return span


def _table_of(
    tokens: _Tokens | None, text: str, protected: Sequence[Span], fields: Record
) -> TokenTable:
    """The task's own tokens but for white space, in sentences that cut no span."""
    if tokens is None:
        return analyse(text, protected, title_length=title_length_of(text, fields))
    kept = tuple([span for span in tokens.spans if span.of(text).strip()])
    table = TokenTable(kept, split_sentences(text, kept))
    covering = [found for span in protected if (found := table.covering(span))]
    return split_at(table, text, [table.char_span(found) for found in covering])


class _Task:
    """The items of one task."""

    def __init__(
        self, text: str, tokens: _Tokens | None, items: ImportedItems, place: Place
    ) -> None:
        self.items = items
        self._text = text
        self._tokens = tokens
        self._place = place
        self._by_name: dict[tuple[Span, str], Entity] = {}
        self._by_span: dict[Span, Entity] = {}

    def read(self, record: Record) -> None:
        """Spans first: relations refer to them."""
        for span in objects_at(record.get("spans"), "spans", self._place):
            self._add_span(*span)
        for relation in objects_at(record.get("relations"), "relations", self._place):
            self._add_relation(*relation)

    def _add_span(self, value: dict[str, Any], field: str) -> None:
        span = _span_at(value, self._text, field, self._place)
        self._check_tokens(value, span)
        self._entity(span, self._label(value, field), score_of(value.get("score")))

    def _add_relation(self, value: dict[str, Any], field: str) -> None:
        head, tail = (self._argument(value, name, field) for name in ("head", "child"))
        label = self._label(value, field)
        self.items.add_relation(head, tail, label, score_of(value.get("score")))

    def _argument(self, value: dict[str, Any], name: str, field: str) -> Entity:
        given = value.get(f"{name}_span")
        if given is None:
            return self._at_token(value.get(name), f"{field}.{name}")
        where = f"{field}.{name}_span"
        described = object_at(given, where, self._place)
        span = _span_at(described, self._text, where, self._place)
        label = self._label(described, where)
        known = self._by_name.get((span, label)) or self._by_span.get(span)
        return known or self._entity(span, label)

    def _at_token(self, number: object, field: str) -> Entity:
        """The entity that a token stands for: one that ends with it, else the smallest around it."""
        index = self._tokens.numbers.get(number) if self._tokens and type(number) is int else None
        if self._tokens is None or index is None:
            count = len(self._tokens.spans) if self._tokens else 0
            allowed = f"the id of one of the {count} tokens of the task"
            raise self._place.unexpected(number, f"{allowed}", field=field)
        token = self._tokens.spans[index]
        around = [each for each in self.items.entities if each.span.contains(token)]
        ending = [each for each in around if each.span.char_end == token.char_end]
        if ending:
            return min(ending, key=lambda each: each.span.char_start)
        if around:
            return min(around, key=lambda each: each.span.char_end - each.span.char_start)
        return self._entity(token, "")

    def _entity(self, span: Span, label: str, score: float | None = None) -> Entity:
        entity = self.items.entity([span], label, score)
        self._by_name.setdefault((span, label), entity)
        self._by_span.setdefault(span, entity)
        return entity

    def _label(self, value: dict[str, Any], field: str) -> str:
        label = value.get("label")
        return "" if label is None else string_at(label, f"{field}.label", self._place)

    def _check_tokens(self, value: dict[str, Any], span: Span) -> None:
        first, last = value.get("token_start"), value.get("token_end")
        if self._tokens is None or first is None or last is None:
            return
        numbers, spans = self._tokens.numbers, self._tokens.spans
        found = TokenRange(numbers.get(first, -1), numbers.get(last, -1))
        if min(found.token_start, found.token_end) < 0 or span != Span(
            spans[found.token_start].char_start, spans[found.token_end].char_end
        ):
            self.items.remarks["span whose token indices do not fit its characters"] += 1
