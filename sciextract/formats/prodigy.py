"""Prodigy tasks: one JSON object a line with text, tokens, spans, relations and an answer.

Prodigy counts Python characters (code points), ends exclusive; ``token_end`` is inclusive. Relations name the
last token of their head and child and repeat their spans. Tasks with the same text stay several records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from sciextract.documents.annotations import Annotations, Entity, Span, State
from sciextract.documents.bibliography import DESCRIBING, described
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.formats.alignment import are_sound
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import (
    LOOSE,
    UNFIT_ATTRIBUTE,
    CorpusItems,
    score_of,
)
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    list_at,
    object_at,
    objects_at,
    string_at,
    unknown_fields,
)
from sciextract.formats.layers import (
    SpanLayers,
    named_attributes,
    span_layers,
    states_of,
    token_layers,
)
from sciextract.formats.sink import LineWriter
from sciextract.text.analyse import split_at, split_sentences
from sciextract.text.offsets import CODE_POINTS, OffsetMap

ANSWERS = {"accept": State.IMPORTED, "reject": State.REJECTED, "ignore": None}
"""What becomes of a task's items; an annotator who ignores a task leaves it open whether they are right."""

ANSWER = "answer"
"""The field of a task, and of a document, that holds its answer."""

_LISTS = ("tokens", "spans", "relations")
_CHOICES = ("accept", "options")


def read_prodigy(source: Source) -> Iterator[ReadItem]:
    """Read tasks as ``db-out`` writes them, or an array of them.

    What was rejected becomes rejected items, explicit negatives; an ignored task has no items. The answer stays a
    field of the document. Relations labelled ``COREF`` become clusters.
    """
    return read_objects(source, _documents)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    key, key_field = key_of(record, source, line)
    meta = record["meta"] if isinstance(record.get("meta"), dict) else {}
    if not key_field:
        keys = (meta.get(name) for name in ("doc_key", "id"))
        key = next((str(key) for key in keys if key and isinstance(key, str | int)), key)
    place = Place(source.path, line, key)
    answer = record.get(ANSWER)
    if answer is not None and (not isinstance(answer, str) or answer not in ANSWERS):
        raise place.unexpected(answer, ", ".join(ANSWERS), field=ANSWER)
    if record.get("text") is None:
        problem = f"no text: the task has {', '.join(map(quoted, list(record)[:8]))}"
        raise place.error(problem, hint="only tasks with `text` can be read")
    text = string_at(record["text"], "text", place)
    fields = {name: meta[name] for name in DESCRIBING if name in meta}
    known = {key_field, "text", *_LISTS, *(_CHOICES if "accept" in record else ())}
    fields |= unknown_fields(record, known, place) | {ANSWER: answer}
    state = State.IMPORTED if answer is None else ANSWERS[answer]
    items = CorpusItems(place, source.provenance, state or State.IMPORTED)
    task = _Task(text, items, place)
    with items.leaving_out("tokens that do not fit the text"):
        task.read_tokens(record.get("tokens"))
    if state is None:
        for name in ("spans", "relations", "accept"):
            given = record.get(name)
            count = len(given) if isinstance(given, list) else 0
            items.unread[f"{name.rstrip('s')} of an ignored task"] += count
    else:
        task.read(record)
    items.bare_offsets = not task.tokens
    if task.tokens:
        # The task's own tokens but for white space, in sentences that cut no span.
        kept = tuple([span for span in task.tokens if span.of(text).strip()])
        table = TokenTable(kept, split_sentences(text, kept))
        covering = [found for span in items.spans if (found := table.covering(span))]
        table = split_at(table, text, [table.char_span(found) for found in covering])
        yield items.annotate(Document(key, text, table, fields))
    else:
        yield items.document(text, fields)


class _Task:
    """Reads one task.

    Attributes:
        tokens: The ranges of its tokens, white space ones too, ascending.
    """

    def __init__(self, text: str, items: CorpusItems, place: Place) -> None:
        self.items = items
        self.tokens: list[Span] = []
        self._by_number: dict[object, Span] = {}
        self._offsets = OffsetMap(text)
        self._place = place

    def read_tokens(self, listed: object) -> None:
        """Tokens first: spans and relations refer to them by their ``id``."""
        tokens, by_number = list[Span](), dict[object, Span]()
        for index, (token, field) in enumerate(objects_at(listed, "tokens", self._place)):
            tokens.append(self._span_at(token, field))
            number = token.get("id")
            by_number[number if type(number) is int else index] = tokens[-1]
        if not are_sound(tokens):
            raise self._place.error("they overlap, or are not in text order", field="tokens")
        self.tokens, self._by_number = tokens, by_number

    def _span_at(self, value: Record, field: str) -> Span:
        start, end, copy = (value.get(name) for name in ("start", "end", "text"))
        return self.items.span_at(start, end, copy, CODE_POINTS, self._offsets, field)

    def _token_at(self, number: object) -> Span | None:
        return self._by_number.get(number) if type(number) is int else None

    def read(self, record: Record) -> None:
        """Spans first: relations refer to them."""
        for value, field in self.items.objects(record.get("spans"), "spans"):
            with self.items.leaving_out():
                self._add_span(value, field)
        listed = record.get("relations")
        for value, field in self.items.objects(listed, "relations", LOOSE):
            with self.items.leaving_out(LOOSE):
                head, tail = (self._argument(value, name, field) for name in ("head", "child"))
                label, score = self._label(value, field), score_of(value.get("score"))
                self.items.add_relation(head, tail, label, score)
        with self.items.leaving_out(UNFIT_ATTRIBUTE):
            for chosen in list_at(record.get("accept"), "accept", self._place):
                # An option of our own names its question; others are there or not.
                label, _, said = str(chosen).partition(": ")
                self.items.attribute(None, label, said)

    def _add_span(self, value: Record, field: str) -> None:
        span = self._span_at(value, field)
        numbers = value.get("token_start"), value.get("token_end")
        if self.tokens and None not in numbers:
            # Token indices that contradict the characters are remarked: the characters count.
            first, last = map(self._token_at, numbers)
            if not first or not last or span != (first.char_start, last.char_end):
                self.items.remarks["span whose token indices do not fit its characters"] += 1
        self.items.entity([span], self._label(value, field), score_of(value.get("score")))

    def _argument(self, value: Record, name: str, field: str) -> Entity:
        """The entity that a relation means: on the span that it repeats, else at the token that it names."""
        if (given := value.get(f"{name}_span")) is not None:
            where = f"{field}.{name}_span"
            described = object_at(given, where, self._place)
            span, label = self._span_at(described, where), self._label(described, where)
            return self.items.find(span, label) or self.items.entity([span], label)
        token = self._token_at(value.get(name))
        if token is None:
            allowed = f"the id of one of the {len(self.tokens)} tokens of the task"
            raise self._place.unexpected(value.get(name), allowed, field=f"{field}.{name}")
        around = [entity for entity in self.items.entities if entity.span.contains(token)]
        # Prodigy names the last token of an argument; else the smallest entity around it is meant.
        ending = [entity for entity in around if entity.span.char_end == token.char_end]
        if ending:
            return min(ending, key=lambda entity: entity.span.char_start)
        if around:
            return min(around, key=lambda entity: entity.span.char_end - entity.span.char_start)
        return self.items.entity([token], "")

    def _label(self, value: Record, field: str) -> str:
        label = value.get("label")
        return "" if label is None else string_at(label, f"{field}.label", self._place)


class ProdigyWriter(LineWriter):
    """Writes one task a line; counts in ``losses`` what spans and relations cannot hold.

    Prodigy itself adds the hashes. A document that nobody has decided on, or not in all, gets no ``answer``;
    a task that was rejected or ignored keeps its answer, unless somebody has worked on it since.
    """

    def write(self, document: AnnotatedDocument) -> None:
        answer = _answer(document)
        if answer == "reject":
            # Prodigy has no rejected spans in a task: the answer rejects all of them.
            given = document.annotations
            accepted = Annotations(
                tuple([replace(entity, state=State.IMPORTED) for entity in given.entities]),
                tuple([replace(relation, state=State.IMPORTED) for relation in given.relations]),
                tuple([replace(cluster, state=State.IMPORTED) for cluster in given.clusters]),
                attributes=tuple(
                    [replace(said, state=State.IMPORTED) for said in given.attributes]
                ),
            )
            document = replace(document, annotations=accepted)
        layers = span_layers(document, repeated=False)
        self.losses.update(layers.losses)
        task = _task(document, layers)
        said = named_attributes(document, {"": ""}, self.losses).values()
        if chosen := [": ".join(filter(None, (item.label, item.value))) for item in said]:
            options = [{"id": option, "text": option} for option in chosen]
            task |= {"options": options, "accept": chosen}
        self._sink.write_line(dump_line(task | {ANSWER: answer} if answer else task))


def _answer(annotated: AnnotatedDocument) -> str | None:
    """``accept`` if somebody has decided the whole document; only then may Prodigy take it for an answer."""
    found, fields = annotated.annotations, annotated.document.fields
    states = states_of(found)
    if State.UNDECIDED in states or annotated.done is False:
        return None
    given = fields.get(ANSWER)
    # A document that is still as a task of Prodigy gave it keeps that task's answer.
    if given == "reject" and annotated.done is None and states <= {State.REJECTED}:
        return "reject" if states else None
    as_read = states <= {State.IMPORTED} and (ANSWER in fields or not states)
    if annotated.done or not as_read:
        return "accept"
    return given if given in ("accept", "ignore") else None


def _task(annotated: AnnotatedDocument, layers: SpanLayers) -> Record:
    document, text = annotated.document, annotated.document.text
    tokens = _token_spans(annotated, [entity.span for entity in layers.entities])
    starts = {span.char_start: index for index, span in enumerate(tokens)}
    ends = {span.char_end: index for index, span in enumerate(tokens)}
    spans: dict[str, Record] = {}
    for entity in layers.entities:
        start, end = entity.span.char_start, entity.span.char_end
        found = {"start": start, "end": end, "token_start": starts[start], "token_end": ends[end]}
        label = {"label": entity.label} if entity.label else {}
        score = {} if entity.score is None else {"score": entity.score}
        spans[entity.id] = {**found, **label, **score}
    nexts = [*(span.char_start for span in tokens[1:]), len(text)]
    words: list[Record] = []
    for index, (span, following) in enumerate(zip(tokens, nexts, strict=True)):
        word = {"text": span.of(text), "start": span.char_start, "end": span.char_end}
        # A single space belongs to the token before it.
        words.append({**word, "id": index, "ws": following > span.char_end})
    relations: list[Record] = []
    for head, tail, name in layers.relations:
        one, other = spans[head.id], spans[tail.id]
        last = {"head": one["token_end"], "child": other["token_end"]}
        relations.append({**last, "head_span": one, "child_span": other, "label": name})
    given = document.fields.get("meta")
    before = given if isinstance(given, dict) else {}
    # What Prodigy shows below the text.
    meta = {**before, **described(document.fields), "doc_key": document.doc_key}
    lists = {"tokens": words, "spans": list(spans.values()), "relations": relations}
    return {"text": text, **lists, "meta": meta}


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
        edges = (edge for edge in starts | ends if start < edge < token.char_start)
        bounds = pairwise([start, *sorted(edges), token.char_start])
        found += [Span(left, right) for left, right in bounds if left < right]
        found.append(token)
        position = token.char_end
    return found[:-1]
