"""SpERT's JSON: an array of sentences with tokens, entities by token offsets, relations by entity numbers.

``start`` counts from 0 in the record, ``end`` is exclusive; ``head`` and ``tail`` are positions in ``entities``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sciextract.documents.annotations import Annotations, Entity
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import TokenRange
from sciextract.formats.base import Place, ReadItem, Source, quoted
from sciextract.formats.items import CorpusItems, not_rejected
from sciextract.formats.json_streams import read_objects
from sciextract.formats.json_values import (
    Record,
    dump_line,
    key_of,
    label_at,
    list_at,
    objects_at,
    unknown_fields,
)
from sciextract.formats.layers import token_layers
from sciextract.formats.scierc import sentences_at
from sciextract.formats.sink import ArraySink, LineWriter
from sciextract.text.tokenizer import from_token_lists

_KEY = "orig_id"


def read_spert(source: Source) -> Iterator[ReadItem]:
    """Read SpERT's data sets and predictions; each record is a document, called by its ``orig_id``.

    Raises:
        FormatError: The file is empty or not UTF-8 text at all.
    """
    return read_objects(source, _documents, numbered=True)


def _documents(record: Record, source: Source, line: int) -> Iterator[AnnotatedDocument]:
    given = record.get(_KEY)
    named = {"doc_key": given} if given is not None else record
    key, key_field = key_of(named, source, line)
    place = Place(source.path, line, key)
    strings = sentences_at([list_at(record.get("tokens"), "tokens", place)], place)
    if not strings[0]:
        raise place.error("no text: the record has no `tokens`")
    text, tokens = from_token_lists(strings)
    items = CorpusItems(key, source.provenance)
    found: list[Entity] = []
    for given_entity, field in objects_at(record.get("entities"), "entities", place):
        span = tokens.char_span(_range_at(given_entity, len(tokens), field, place))
        found.append(
            items.entity([span], label_at(given_entity.get("type"), f"{field}.type", place))
        )
    for relation, field in objects_at(record.get("relations"), "relations", place):
        head, tail = (_entity_at(relation, name, found, field, place) for name in ("head", "tail"))
        label = label_at(relation.get("type"), f"{field}.type", place)
        items.relation(head, tail, label, None)
    used = {_KEY, key_field, "tokens", "entities", "relations"}
    document = Document(key, text, tokens, unknown_fields(record, used, place))
    yield AnnotatedDocument(document, items.annotations())


def _range_at(entity: Record, count: int, field: str, place: Place) -> TokenRange:
    start, end = entity.get("start"), entity.get("end")
    if type(start) is int and type(end) is int and 0 <= start < end <= count:
        return TokenRange(start, end)
    allowed = f"0 <= start < end <= {count} (tokens of the record, end exclusive)"
    problem = f"start {quoted(start)} and end {quoted(end)} found; expected {allowed}"
    raise place.error(problem, field=field)


def _entity_at(
    relation: Record, name: str, entities: list[Entity], field: str, place: Place
) -> Entity:
    number = relation.get(name)
    if type(number) is int and 0 <= number < len(entities):
        return entities[number]
    raise place.unexpected(
        number, f"the position of one of the {len(entities)} entities", field=f"{field}.{name}"
    )


class SpertWriter(LineWriter):
    """Writes a record a sentence; counts in ``losses`` what it cannot hold.

    Records of a document of several sentences are called ``KEY_0``, ``KEY_1`` and so on.
    """

    _SINK = ArraySink

    def write(self, document: AnnotatedDocument) -> None:
        """Append the sentences of one document."""
        for record in self._records(document):
            self._sink.write_line(dump_line(record))

    def _records(self, annotated: AnnotatedDocument) -> list[Record]:
        given = annotated.annotations
        only = replace(annotated, annotations=Annotations(given.entities))
        layers = token_layers(only, keep_given=True)
        self.losses.update(layers.losses)
        table, key = layers.table, annotated.document.doc_key
        strings = table.slices(annotated.document.text)
        records: list[Record] = []
        places: dict[tuple[TokenRange, str], tuple[int, int]] = {}
        for index, (sentence, entities) in enumerate(zip(table.sentences, layers.ner, strict=True)):
            first = sentence.token_start
            for number, (tokens, entity) in enumerate(entities):
                places[tokens, entity.label] = index, number
            records.append(
                {
                    "tokens": list(strings[first : sentence.token_end]),
                    "entities": [
                        {
                            "type": entity.label,
                            "start": tokens.token_start - first,
                            "end": tokens.token_end - first,
                        }
                        for tokens, entity in entities
                    ],
                    "relations": [],
                    _KEY: key if len(table.sentences) == 1 else f"{key}_{index}",
                }
            )
        by_id = {
            each.id: places.get((covered, each.label))
            for each in not_rejected(given.entities)
            if len(each.fragments) == 1 and (covered := table.covering(each.span))
        }
        self._add_relations(records, given, by_id)
        self._count(given, records)
        return records

    def _add_relations(
        self,
        records: list[Record],
        given: Annotations,
        places: dict[str, tuple[int, int] | None],
    ) -> None:
        living = {each.id for each in not_rejected(given.entities)}
        seen: set[tuple[object, ...]] = set()
        for relation in not_rejected(given.relations):
            head, tail = places.get(relation.head), places.get(relation.tail)
            if not {relation.head, relation.tail} <= living:
                continue
            if head is None or tail is None:
                self.losses["relation of an entity that does not fit"] += 1
            elif head[0] != tail[0]:
                self.losses["relation across sentences"] += 1
            else:
                key = (*head, *tail, relation.label)
                if key in seen:
                    self.losses["second relation in the same place"] += 1
                    continue
                seen.add(key)
                made = {"type": relation.label, "head": head[1], "tail": tail[1]}
                records[head[0]]["relations"].append(made)

    def _count(self, given: Annotations, records: list[Record]) -> None:
        clusters = len(not_rejected(given.clusters))
        self.losses += Counter({"cluster": clusters, "document without tokens": not records})
