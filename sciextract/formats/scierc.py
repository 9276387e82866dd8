"""The SciERC (DyGIE++) format: one object a line, tokens in sentences, token offsets in the document.

Spans are ``[first, last]``, both inclusive, counted over the whole document. The text of a record is its
unescaped tokens joined by one space; the tokens themselves are kept and written back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TextIO

from sciextract.documents.annotations import Annotations, Entity, Span, TokenRange
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.formats.base import FieldChoice, Place, ReadItem, Source
from sciextract.formats.items import CorpusItems, score_of
from sciextract.formats.json_values import (
    Bounds,
    Record,
    dump_line,
    key_of,
    label_at,
    list_at,
    range_at,
    read_lines,
    unknown_fields,
)
from sciextract.formats.layers import TokenLayers, token_layers, with_split_tokens
from sciextract.formats.sink import LineWriter
from sciextract.text.tokenizer import from_token_lists

LAYERS = ("ner", "relations", "clusters")
#: By layer the fields of predictions: of DyGIE++ and PURE; of HGERE; of PL-Marker's relations next to their texts.
PREDICTED = {
    "ner": ("predicted_ner",),
    "relations": ("predicted_relations", "predicted_rel", "predicted_re"),
    "clusters": ("predicted_clusters",),
}
_INDEXED = "predicted_re"
Chosen = Mapping[str, str]
"""By layer the field that it is read from; a layer that is missing has no annotations."""


def read_scierc(source: Source) -> Iterator[ReadItem]:
    """Read SciERC or DyGIE++ JSONL, gold or predictions as ``source.fields`` chooses."""
    return read_lines(source, parse_record)


def parse_record(record: Record, source: Source, line: int) -> AnnotatedDocument:
    """One record as a document with imported annotations.

    Raises:
        FormatError: A field has a wrong shape, or a span leaves its sentence or document.
    """
    key, key_field = key_of(record, source, line)
    place = Place(source.path, line, key)
    if record.get("sentences") is None:
        raise place.error("no text: the record has no `sentences`")
    sentences = sentences_at(record["sentences"], place)
    text, tokens = from_token_lists(sentences)
    chosen = chosen_fields(record, source.fields)
    annotations = annotations_at(record, chosen, sentences, tokens, source, place)
    fields = unknown_fields(record, {key_field} | used_fields(record, chosen), place)
    return AnnotatedDocument(Document(key, text, tokens, fields), annotations)


def chosen_fields(record: Record, choice: FieldChoice) -> Chosen:
    """The fields that a record's layers are read from: all gold, or all predictions, never some of each.

    What ``choice`` met is noted in it.
    """
    gold = {layer: layer for layer in LAYERS if record.get(layer) is not None}
    present = {
        layer: [name for name in names if record.get(name) is not None]
        for layer, names in PREDICTED.items()
    }
    predicted = {layer: names[0] for layer, names in present.items() if names}
    wanted, other = (gold, predicted) if choice.side == "gold" else (predicted, gold)
    chosen = wanted if wanted or choice.strict else other
    known = [*gold.values(), *(name for names in present.values() for name in names)]
    if known:
        left = tuple([name for name in known if name not in chosen.values()])
        choice.met[tuple(chosen.values()), left] += 1
    return chosen


def used_fields(record: Record, chosen: Chosen) -> set[str]:
    """The fields of a record that this format interprets, but for its key; those that it left are kept."""
    return {"sentences", *chosen.values(), *(name for name in LAYERS if record.get(name) is None)}


def annotations_at(
    record: Record,
    chosen: Chosen,
    sentences: list[list[str]],
    tokens: TokenTable,
    source: Source,
    place: Place,
) -> Annotations:
    """The imported annotations of the SciERC layers of a record, read from the chosen fields.

    Raises:
        FormatError: A layer has a wrong shape, or a span leaves its sentence or document.
    """
    return _Importer(tokens, sentences, source.provenance, place).annotations(record, chosen)


def sentences_at(value: object, place: Place) -> list[list[str]]:
    """``sentences``: lists of tokens, none of them empty.

    Raises:
        FormatError: It has another shape.
    """
    sentences = list_at(value, "sentences", place)
    for index, sentence in enumerate(sentences):
        if not isinstance(sentence, list):
            raise place.unexpected(sentence, "a list of tokens", field=f"sentences[{index}]")
        for number, token in enumerate(sentence):
            if not isinstance(token, str) or not token:
                field = f"sentences[{index}][{number}]"
                raise place.unexpected(token, "a non-empty string", field=field)
    return sentences


class _Importer:
    """Collects the items of one record; equal items collapse into the first."""

    def __init__(
        self, tokens: TokenTable, sentences: list[list[str]], provenance: str, place: Place
    ) -> None:
        self._tokens = tokens
        self._place = place
        edges = pairwise([0, *accumulate(map(len, sentences))])
        self._sentences = [
            Bounds(start, end - 1, f"sentence {number}")
            for number, (start, end) in enumerate(edges)
        ]
        self._document = Bounds(0, len(tokens) - 1, "the document")
        self._items = CorpusItems(place, provenance)

    def annotations(self, record: Record, chosen: Chosen) -> Annotations:
        """All items of the record, entities with a type first."""
        ner, relations, clusters = (chosen.get(layer, layer) for layer in LAYERS)
        layers = {name: record.get(name) for name in chosen.values()}
        if relations == _INDEXED:
            layers[relations] = self._by_sentence(layers[relations], relations)
        seen: set[tuple[Span, str]] = set()
        # The last value after a label may be a probability (DyGIE++ appends logit and softmax).
        for values, bounds, field in self._per_sentence(layers.get(ner), ner, 3):
            span = self._span(values[0], values[1], bounds, field)
            label = label_at(values[2], f"{field}[2]", self._place)
            if (span, label) not in seen:
                seen.add((span, label))
                self._items.entity([span], label, score_of(values[-1]))
        # Heads lie in the sentence that lists the relation, tails anywhere.
        for values, bounds, field in self._per_sentence(layers.get(relations), relations, 5):
            head = self._mention(values[0], values[1], bounds, f"{field} head")
            tail = self._mention(values[2], values[3], self._document, f"{field} tail")
            label = label_at(values[4], f"{field}[4]", self._place)
            self._items.relation(head, tail, label, score_of(values[-1]))
        for index, mentions in enumerate(list_at(layers.get(clusters), clusters, self._place)):
            found, field = [], f"{clusters}[{index}]"
            for number, mention in enumerate(list_at(mentions, field, self._place)):
                where = f"{field}[{number}]"
                start, end, *_ = self._values(mention, 2, where)
                found.append(self._mention(start, end, self._document, where))
            if found:
                self._items.cluster(found, None)
        return self._items.annotations()

    def _by_sentence(self, value: object, field: str) -> list[list[Any]]:
        """``[[index of a sentence, [[head, tail, label], ...]], ...]`` as one list a sentence."""
        found: list[list[Any]] = [[] for _ in self._sentences]
        for number, item in enumerate(list_at(value, field, self._place)):
            where = f"{field}[{number}]"
            index, relations, *_ = self._values(item, 2, where)
            if type(index) is not int or not 0 <= index < len(found):
                allowed = f"a sentence from 0 to {len(found) - 1}"
                raise self._place.unexpected(index, allowed, field=where)
            for relation in list_at(relations, where, self._place):
                head, tail, label, *_ = self._values(relation, 3, where)
                ends = (self._values(end, 2, where) for end in (head, tail))
                found[index].append([at for end in ends for at in end[:2]] + [label])
        return found

    def _per_sentence(
        self, value: object, field: str, count: int
    ) -> Iterator[tuple[list[Any], Bounds, str]]:
        """The items of a layer, of so many values or more, each with the bounds of its sentence and its field."""
        lists = list_at(value, field, self._place)
        if value is not None and len(lists) != len(self._sentences):
            problem = f"{len(lists)} lists found; expected {len(self._sentences)}, one a sentence"
            raise self._place.error(problem, field=field)
        for index, items in enumerate(lists):
            for number, item in enumerate(list_at(items, f"{field}[{index}]", self._place)):
                where = f"{field}[{index}][{number}]"
                yield self._values(item, count, where), self._sentences[index], where

    def _values(self, value: object, count: int, field: str) -> list[Any]:
        if not isinstance(value, list) or len(value) < count:
            raise self._place.unexpected(value, f"a list of {count} values", field=field)
        return value

    def _span(self, start: object, end: object, bounds: Bounds, field: str) -> Span:
        return self._tokens.char_span(range_at(start, end, bounds, field, self._place))

    def _mention(self, start: object, end: object, bounds: Bounds, field: str) -> Entity:
        """The first entity on a span; a mention that is not an entity gets one without a label."""
        return self._items.mention(self._span(start, end, bounds, field), "")


class SciercWriter(LineWriter):
    """Writes one object a line; counts in ``losses`` what token offsets cannot hold."""

    def __init__(
        self, destination: Path | str | TextIO, *, gold: Callable[[], Annotations] | None = None
    ) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream.

        Args:
            destination: Where the lines go.
            gold: Gives the gold of the document that is written next; the document's own annotations are
                then its predictions, in ``predicted_*`` fields.
        """
        super().__init__(destination)
        self._gold = gold

    def write(self, document: AnnotatedDocument) -> None:
        record: dict[str, Any] = {"doc_key": document.document.doc_key}
        if "dataset" in document.document.fields:
            record["dataset"] = document.document.fields["dataset"]
        sides = {"": document.annotations}
        if self._gold is not None:
            sides = {"": self._gold(), "predicted_": document.annotations}
        split = with_split_tokens(document.document, sides.values())
        record["sentences"] = sentence_strings(split.tokens, split.text)
        for prefix, side in sides.items():
            layers = token_layers(AnnotatedDocument(split, side), split=False)
            self.losses.update(layers.losses)
            record |= {f"{prefix}{name}": value for name, value in layer_fields(layers).items()}
        self._sink.write_line(dump_line(record))


def sentence_strings(table: TokenTable, text: str) -> list[list[str]]:
    """Per sentence its token strings, in the forms they were given."""
    strings = table.strings(text)
    return [list(strings[part.token_start : part.token_end]) for part in table.sentences]


def layer_fields(layers: TokenLayers) -> dict[str, Any]:
    """``ner``, ``relations`` and ``clusters`` in inclusive document-level token offsets."""
    ner = [[[*_inclusive(at), entity.label] for at, entity in part] for part in layers.ner]
    relations = [
        [[*_inclusive(head), *_inclusive(tail), link.label] for head, tail, link in part]
        for part in layers.relations
    ]
    clusters = [[_inclusive(at) for at, _ in cluster] for cluster in layers.clusters]
    return {"ner": ner, "relations": relations, "clusters": clusters}


def _inclusive(tokens: TokenRange) -> list[int]:
    return [tokens.token_start, tokens.token_end - 1]
