"""BioC, XML and JSON: text in passages, mentions, relations and clusters.

JSON comes as a collection, or as documents the way PubTator gives them (in a list, one a line, or under another
name). Both readers hand over a document as the objects of BioC JSON. The reading code of the ``bioc`` package is
not used: its XML reader keeps the whole collection in memory, expands entities and fails without a place;
its JSON reader demands fields that PubTator leaves out. Its data structures and encoders do the writing.

Comeau et al. (2013): BioC: a minimalist approach to interoperability for biomedical text processing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TypeAlias
from xml.etree.ElementTree import Element

from bioc import BioCAnnotation, BioCDocument, BioCLocation, BioCNode, BioCPassage, BioCRelation
from bioc.biocjson import toJSON
from bioc.biocxml.encoder import encode_document
from lxml import etree

from sciextract.documents.annotations import NOT_REJECTED, Cluster, Entity, Relation, Span
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema import LINK
from sciextract.formats.alignment import repeats, token_table
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bioc_passages import (
    FLAG,
    IDENTIFIER,
    INFON_NAMES,
    RELATION_KEYS,
    VALUE,
    BiocText,
    attributes_of,
    bibliography,
    has_others,
    infons_of,
    label_of,
    other_infons,
    passages_at,
    score_of,
)
from sciextract.formats.items import (
    COREFERENCE,
    LOOSE,
    LOST_MEMBER,
    UNLABELLED,
    CorpusItems,
    in_fitting_unit,
    title_length_of,
)
from sciextract.formats.json_streams import read_items
from sciextract.formats.json_values import Record, dump_line, objects_at, unknown_fields
from sciextract.formats.layers import entities_in_text
from sciextract.formats.safe_xml import local_name, read_elements, xml_safe
from sciextract.formats.sink import ArraySink, LineSink, LineWriter
from sciextract.text.offsets import Unit

#: PubTator gives the list a name of its own, with a number that rises.
_LISTS_OF_DOCUMENTS = r"documents|PubTator\w*"
_LISTED = ("passage", "sentence", "annotation", "relation", "location", "node")
_LISTS = {name: f"{name}s" for name in _LISTED}
CLUSTER_ROLE = "mention"
_HEAD_ROLES = frozenset({"head", "source", "subject", "subj", "arg1", "governor", "from", "agent"})
_TAIL_ROLES = frozenset({"tail", "target", "object", "obj", "arg2", "dependent", "to", "theme"})
_KNOWN = frozenset({"id", "bioctype", "infons", "passages", "annotations", "relations", "pmid"})


def read_bioc_json(source: Source) -> Iterator[ReadItem]:
    """Read the documents of a BioC JSON file: of a collection, of a list, or one behind the other."""
    parse = partial(parse_document, source=source)
    nothing = "no document found; expected a BioC collection with `documents`"
    return read_items(source, parse, _LISTS_OF_DOCUMENTS, nothing)


def read_bioc_xml(source: Source) -> Iterator[ReadItem]:
    """Read the documents of a BioC XML collection."""

    def read(element: Element, place: Place) -> AnnotatedDocument:
        return parse_document(_record(element), place, source)

    nothing = "no document found; expected a BioC collection with `document` elements"
    return read_elements(source, {"document"}, read, nothing)


def _record(element: Element) -> Record:
    """An element as the object that BioC JSON has for it; nested no deeper than the XML may be."""
    record: Record = dict(element.attrib)
    if local_name(element) == "document":
        record["passages"] = None
    for child in element:
        name = local_name(child)
        if name == "infon":
            record.setdefault("infons", {})[child.get("key", "")] = child.text or ""
        elif name in _LISTS or len(child):
            name = _LISTS.get(name, name)
            if not isinstance(record.get(name), list):
                record[name] = []
            record[name].append(_record(child))
        else:
            record[name] = child.text or ""
    return record


def parse_document(record: Record, place: Place, source: Source) -> AnnotatedDocument:
    """One BioC document.

    Args:
        record: The document as an object of BioC JSON.
        place: Where it starts, with a key for a document without an id.
        source: The file.

    Raises:
        FormatError: It has no passages, or a field has a wrong shape.
    """
    found = record.get("id")
    if isinstance(found, str | int) and str(found):
        place = replace(place, doc_key=str(found))
    if record.get("passages") is None:
        raise place.error("no text: the document has no `passages`")
    return _Reading(record, source, place).document()


_ByRef: TypeAlias = dict[str, Entity]
_ByPlace: TypeAlias = dict[tuple[int, str], Entity]


class _Reading:
    """Reads one document; what is not an entity, relation or cluster is counted."""

    def __init__(self, record: Record, source: Source, place: Place) -> None:
        self._record = record
        self._passages = passages_at(record, place)
        self._place = place
        self._provenance = source.provenance
        self._items: CorpusItems
        self._by_ref: _ByRef
        self._by_place: _ByPlace

    def document(self) -> AnnotatedDocument:
        record = self._record
        containers = [part for passage in self._passages for part in passage.containers]
        containers.append((record, ""))
        read = partial(self._read_mentions, containers)
        items, (text, self._by_ref, self._by_place) = in_fitting_unit(read)
        self._items = items
        for index, (container, prefix) in enumerate(containers):
            listed = container.get("relations")
            for relation, name in items.objects(listed, f"{prefix}relations", LOOSE):
                with items.leaving_out(LOOSE):
                    self._add_relation(relation, name, index)
        self._add_attributes(None, infons_of(record))
        others = unknown_fields(record, _KNOWN, self._place)
        items.unread["other data of a bioc document"] += sum(map(bool, others.values()))
        items.unread["bioc infon of a document"] += other_infons(infons_of(record))
        for passage in self._passages:
            items.unread["bioc infon of a passage"] += other_infons(passage.infons)
        title_length = text.title_length
        tokens = token_table(text.text, [], text.sentences, items.spans, title_length=title_length)
        fields = unknown_fields(bibliography(record, self._passages), (), self._place)
        return items.annotate(Document(self._place.doc_key, text.text, tokens, fields))

    def _read_mentions(
        self, containers: list[tuple[Record, str]], unit: Unit
    ) -> tuple[CorpusItems, tuple[BiocText, _ByRef, _ByPlace]]:
        """Text and mentions with offsets of a unit."""
        text = BiocText(self._passages, unit, self._place)
        self._items = items = CorpusItems(self._place, self._provenance)
        self._by_ref, self._by_place = {}, {}
        for index, (container, prefix) in enumerate(containers):
            listed = container.get("annotations")
            for annotation, name in items.objects(listed, f"{prefix}annotations"):
                with items.leaving_out():
                    self._add_mention(annotation, text, name, index)
        return items, (text, self._by_ref, self._by_place)

    def _add_mention(self, annotation: Record, text: BiocText, field: str, index: int) -> None:
        items = self._items
        locations = objects_at(annotation.get("locations"), f"{field}.locations", self._place)
        spans = sorted({text.span_at(location, name) for location, name in locations})
        if not spans:
            items.unread["bioc annotation without a location"] += 1
            return
        if any(left.overlaps(right) for left, right in pairwise(spans)):
            raise self._place.error("locations that overlap", field=field)
        written = annotation.get("text")
        whole = Span(spans[0].char_start, spans[-1].char_end).of(text.text)
        # Some files copy all from the first to the last character.
        if isinstance(written, str) and written.strip() and not repeats(written, [whole]):
            parts = [span.of(text.text) for span in spans]
            items.check_copy(written, parts, self._place, f"{field}.text")
        infons = infons_of(annotation)
        entity = items.entity(spans, label_of(infons), score_of(infons))
        ref = str(annotation.get("id", ""))
        if ref in self._by_ref:
            items.remarks["annotation whose id occurs before in the document"] += 1
        self._by_ref.setdefault(ref, entity)
        self._by_place.setdefault((index, ref), entity)
        self._add_attributes(entity, infons)
        items.unread["bioc identifier or other infon of an annotation"] += has_others(infons)

    def _add_attributes(self, target: Entity | Relation | None, infons: Record) -> None:
        for label, value in attributes_of(infons).items():
            self._items.attribute(target, label, value)

    def _add_relation(self, relation: Record, field: str, index: int) -> None:
        items, infons = self._items, infons_of(relation)
        nodes = list(objects_at(relation.get("nodes"), f"{field}.nodes", self._place))
        roles = [str(node.get("role", "")) for node, _ in nodes]
        is_cluster = infons.get("type") == COREFERENCE and {*roles} == {CLUSTER_ROLE}
        if not is_cluster and len(nodes) != 2:
            items.unread["bioc relation that is not a pair of mentions"] += 1
            return
        mentions: list[Entity] = []
        for node, where in nodes:
            with items.leaving_out(LOST_MEMBER) if is_cluster else nullcontext():
                mentions.append(self._mention_of(node, where, index))
        if is_cluster:
            if mentions:
                items.cluster(mentions, score_of(infons))
            return
        # The standard leaves the names of roles open: those that say so turn the pair around.
        if roles[0].lower() in _TAIL_ROLES or roles[1].lower() in _HEAD_ROLES:
            mentions.reverse()
        label = label_of(infons, RELATION_KEYS)
        if not label:
            label = UNLABELLED
            items.remarks[f"relation without a label, read as {UNLABELLED!r}"] += 1
        made = items.relation(mentions[0], mentions[1], label, score_of(infons))
        self._add_attributes(made, infons)
        items.unread["bioc infon of a relation"] += has_others(infons)

    def _mention_of(self, node: Record, field: str, index: int) -> Entity:
        # Ids are unique in a passage, in some files in the document.
        ref = str(node.get("refid", ""))
        entity = self._by_place.get((index, ref)) or self._by_ref.get(ref)
        if entity is None:
            allowed = f"ids of annotations: {', '.join(sorted(self._by_ref)[:8]) or 'none'}"
            raise self._place.unexpected(ref, allowed, field=f"{field}.refid")
        return entity


def to_bioc(document: AnnotatedDocument, safe: Callable[[str], str] = str) -> BioCDocument:
    """The document without its rejected items.

    Annotations are ``T1``, ``T2``... in the passage where they start, relations ``R1``... and clusters ``C1``...
    at the document.

    Args:
        document: The document.
        safe: Replaces characters that the file cannot hold, one for one.

    Raises:
        OutputError: An entity lies outside the text.
    """
    made = BioCDocument()
    made.id = safe(document.document.doc_key)
    text, entities = safe(document.document.text), entities_in_text(document)
    _add_passages(made, document.document, text, entities, safe)
    annotations = document.annotations.in_states(NOT_REJECTED)
    said = defaultdict[str, dict[str, str]](dict)
    for item in annotations.attributes:
        key = IDENTIFIER if item.label == LINK else (VALUE if item.value else FLAG) + item.label
        key = safe(key)
        said[item.target][key] = safe(item.value) or "true"
    made.infons |= said[""]
    refs: dict[str, str] = {}
    for number, entity in enumerate(entities, start=1):
        annotation = BioCAnnotation()
        annotation.id = refs[entity.id] = f"T{number}"
        annotation.infons |= {"type": safe(entity.label)} if entity.label else {}
        annotation.infons |= _score(entity) | said[entity.id]
        for span in entity.fragments:
            annotation.add_location(BioCLocation(span.char_start, span.char_end - span.char_start))
        annotation.text = entity.text_of(text)
        starts = [passage.offset <= entity.span.char_start for passage in made.passages]
        made.passages[max(sum(starts), 1) - 1].add_annotation(annotation)

    def add_relation(
        letter: str, number: int, infons: dict[str, str], nodes: list[BioCNode]
    ) -> None:
        relation = BioCRelation()
        relation.id = f"{letter}{number}"
        relation.infons |= infons
        for node in nodes:
            relation.add_node(node)
        made.add_relation(relation)

    for number, link in enumerate(annotations.relations, start=1):
        nodes = [BioCNode(refs[link.head], "head"), BioCNode(refs[link.tail], "tail")]
        add_relation("R", number, {"type": safe(link.label)} | _score(link) | said[link.id], nodes)
    for number, cluster in enumerate(filter(lambda c: c.mentions, annotations.clusters), start=1):
        nodes = [BioCNode(refs[mention], CLUSTER_ROLE) for mention in cluster.mentions]
        add_relation("C", number, {"type": COREFERENCE} | _score(cluster), nodes)
    return made


def _add_passages(
    made: BioCDocument,
    document: Document,
    text: str,
    entities: list[Entity],
    safe: Callable[[str], str],
) -> None:
    """Add the title, if it is known and no entity crosses its end, and the rest; the first has the bibliography."""
    cut = title_length_of(document.text, document.fields)
    crossed = any(entity.span.char_start <= cut < entity.span.char_end for entity in entities)
    layout = [("abstract", 0, len(text))]
    if cut and not crossed and len(text) > cut + 1:
        layout = [("title", 0, cut), ("abstract", cut + 1, len(text))]
    for kind, start, end in layout:
        passage = BioCPassage()
        passage.offset = start
        passage.infons |= {"type": kind}
        passage.text = text[start:end]
        made.add_passage(passage)
    found = {key: document.fields.get(name) for name, key in INFON_NAMES.items()}
    made.passages[0].infons |= {key: safe(str(value)) for key, value in found.items() if value}


def _score(item: Entity | Relation | Cluster) -> dict[str, str]:
    return {} if item.score is None else {"score": str(item.score)}


_HEAD = {"source": "sciextract", "date": "", "key": "sciextract.key"}


class _JsonSink(ArraySink):
    _OPENING = f'{dump_line({**_HEAD, "infons": {}})[:-1]},"documents":[\n'
    _CLOSING = "]}\n"


class BiocJsonWriter(LineWriter):
    """Writes a BioC JSON collection, one document a line."""

    _SINK = _JsonSink

    def write(self, document: AnnotatedDocument) -> None:
        self._sink.write_line(dump_line(toJSON(to_bioc(document))))


class _XmlSink(LineSink):
    _OPENING = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n<collection>'
        + "".join(f"<{name}>{value}</{name}>" for name, value in _HEAD.items())
        + "\n"
    )
    _CLOSING = "</collection>\n"


class BiocXmlWriter(LineWriter):
    """Writes a BioC collection, one document a line.

    Characters that XML cannot hold become visible ones and are counted.
    """

    _SINK = _XmlSink

    def write(self, document: AnnotatedDocument) -> None:
        def safe(text: str) -> str:
            return xml_safe(text, self.losses)

        encoded = encode_document(to_bioc(document, safe))
        self._sink.write_line(etree.tostring(encoded, encoding="unicode"))
