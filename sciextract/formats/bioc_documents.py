"""BioC documents, as they stand in XML and in JSON alike: text, mentions, relations and clusters.

Both readers hand over a document as the objects of BioC JSON. The reading code of the ``bioc`` package is
not used: its XML reader keeps the whole collection in memory, expands entities and fails without a place;
its JSON reader demands fields that PubTator leaves out. Its data structures and encoders do the writing.

Comeau et al. (2013): BioC: a minimalist approach to interoperability for biomedical text processing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bioc import BioCAnnotation, BioCDocument, BioCLocation, BioCNode, BioCPassage, BioCRelation

from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument, Document, warnings_of
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.alignment import token_table
from sciextract.formats.base import Place, Source, quoted
from sciextract.formats.bioc_passages import (
    INFON_NAMES,
    UNITS,
    BiocText,
    Passage,
    bibliography,
    label_of,
    passages_at,
    relation_label_of,
    score_of,
    unused,
)
from sciextract.formats.items import UNLABELLED, CorpusItems, not_rejected
from sciextract.formats.json_values import Record, objects_at, unknown_fields
from sciextract.formats.layers import entities_in_text

OWN_SOURCE = "sciextract"
"""The source that our own collections name; what they say about themselves is not kept."""
CLUSTER_TYPE = "COREF"
CLUSTER_ROLE = "mention"
_HEAD_ROLES = frozenset({"head", "source", "subject", "subj", "arg1", "governor", "from", "agent"})
_TAIL_ROLES = frozenset({"tail", "target", "object", "obj", "arg2", "dependent", "to", "theme"})
_USUAL_PASSAGES = ([{"type": "title"}, {"type": "abstract"}], [{"type": "abstract"}])
_KNOWN = frozenset({"id", "bioctype", "infons", "passages", "annotations", "relations"})


def parse_document(
    record: Record, source: Source, number: int, line: int | None = None
) -> AnnotatedDocument:
    """One BioC document.

    Args:
        record: The document as an object of BioC JSON.
        source: The file.
        number: Its 1-based position in the file, for a document without an id.
        line: Where it starts, when known.

    Raises:
        FormatError: It has no passages, a field has a wrong shape, an annotation lies outside the text or on
            other characters than it quotes, or a relation refers to an annotation that is not there.
    """
    found = record.get("id")
    key = str(found) if isinstance(found, str | int) and str(found) else f"{source.stem}:{number}"
    place = Place(source.path, line, key)
    if record.get("passages") is None:
        raise place.error("no text: the document has no `passages`")
    passages = passages_at(record, place)
    return _Reading(record, passages, source, place).document()


class _Reading:
    """Reads one document; what is not an entity, relation or cluster is kept and counted."""

    def __init__(
        self, record: Record, passages: list[Passage], source: Source, place: Place
    ) -> None:
        self._record = record
        self._passages = passages
        self._place = place
        self._items = CorpusItems(place.doc_key, source.provenance)
        self._by_ref: dict[str, Entity] = {}
        self._by_place: dict[tuple[int, str], Entity] = {}
        self._kept: dict[str, Any] = {}
        self._remarks: Counter[str] = Counter()

    def document(self) -> AnnotatedDocument:
        containers = [part for passage in self._passages for part in passage.containers]
        containers.append((self._record, "document"))
        text, located = self._located(containers)
        self._add_entities(located)
        for index, (container, field) in enumerate(containers):
            self._add_relations(container, field, index)
        tokens = token_table(
            text.text, [], text.sentences, self._items.spans, title_length=text.title_length
        )
        document = Document(self._place.doc_key, text.text, tokens, self._fields(text))
        warnings = warnings_of(self._remarks)
        return AnnotatedDocument(document, self._items.annotations(), warnings=warnings)

    def _located(
        self, containers: list[tuple[Record, str]]
    ) -> tuple[BiocText, list[tuple[int, Record, list[Span]]]]:
        """Text and annotations in the first unit of offsets with which all quotations agree."""
        problems: list[FormatError] = []
        for unit in UNITS:
            try:
                text = BiocText(self._passages, unit, self._place)
                located = [
                    (index, annotation, self._fragments(annotation, text, name))
                    for index, (container, field) in enumerate(containers)
                    for annotation, name in self._objects(container, "annotations", field)
                ]
            except FormatError as error:
                problems.append(error)
                continue
            if unit is not UNITS[0]:
                self._remarks[f"offsets count {unit.name}; converted to characters"] = 1
            return text, located
        raise problems[0]

    def _fragments(self, annotation: Record, text: BiocText, field: str) -> list[Span]:
        locations = self._objects(annotation, "locations", field)
        spans = sorted({text.span_at(location, name) for location, name in locations})
        if any(left.overlaps(right) for left, right in pairwise(spans)):
            raise self._place.error("locations that overlap", field=field)
        written = annotation.get("text")
        if spans and isinstance(written, str) and written.strip():
            self._check_quotation(written, spans, text.text, field)
        return spans

    def _check_quotation(self, written: str, spans: Sequence[Span], text: str, field: str) -> None:
        whole = Span(spans[0].char_start, spans[-1].char_end).of(text)
        parts = [span.of(text) for span in spans]
        if written.split() not in (whole.split(), " ".join(parts).split(), "".join(parts).split()):
            ranges = ", ".join(f"[{span.char_start}, {span.char_end})" for span in spans)
            problem = (
                f"{quoted(written)} found, but the text has {quoted(' '.join(parts))} at {ranges}"
            )
            raise self._place.error(problem, field=f"{field}.text")

    def _add_entities(self, located: list[tuple[int, Record, list[Span]]]) -> None:
        for index, annotation, spans in located:
            if not spans:
                self._keep("annotation without a location", {"locations": [], **annotation})
                continue
            infons = _infons(annotation)
            entity = self._items.entity(spans, label_of(infons), score_of(infons))
            ref = str(annotation.get("id", ""))
            if ref in self._by_ref:
                self._remarks["annotation whose id occurs before in the document"] += 1
            self._by_ref.setdefault(ref, entity)
            self._by_place.setdefault((index, ref), entity)
            if rest := unused(infons):
                self._kept.setdefault("annotations", {})[entity.id] = rest

    def _add_relations(self, container: Record, field: str, index: int) -> None:
        for relation, name in self._objects(container, "relations", field):
            nodes = self._objects(relation, "nodes", name)
            infons = _infons(relation)
            roles = [str(node.get("role", "")) for node, _ in nodes]
            if infons.get("type") == CLUSTER_TYPE and {*roles} == {CLUSTER_ROLE}:
                mentions = [self._argument(node, where, index) for node, where in nodes]
                self._items.cluster(mentions, score_of(infons))
            elif len(nodes) == 2:
                self._add_pair(relation, roles, nodes, index)
            else:
                self._keep("relation that is not a pair of mentions", relation)
                for node, _ in nodes:
                    self._keep_reference(str(node.get("refid", "")), index)

    def _add_pair(
        self, relation: Record, roles: list[str], nodes: list[tuple[Record, str]], index: int
    ) -> None:
        ends = [self._argument(node, where, index) for node, where in nodes]
        if roles[0].lower() in _TAIL_ROLES or roles[1].lower() in _HEAD_ROLES:
            ends.reverse()
        infons = _infons(relation)
        label = relation_label_of(infons)
        if not label:
            label = UNLABELLED
            self._remarks[f"relation without a label, read as {UNLABELLED!r}"] += 1
        head, tail = ends
        made = self._items.relation(head, tail, label, score_of(infons))
        if rest := unused(infons):
            self._kept.setdefault("relation_infons", {})[made.id] = rest

    def _argument(self, node: Record, field: str, index: int) -> Entity:
        ref = str(node.get("refid", ""))
        entity = self._by_place.get((index, ref)) or self._by_ref.get(ref)
        if entity is None:
            known = ", ".join(sorted(self._by_ref)[:8]) or "none"
            raise self._place.unexpected(
                ref, f"ids of annotations: {known}", field=f"{field}.refid"
            )
        return entity

    def _objects(self, parent: Record, name: str, field: str) -> list[tuple[Record, str]]:
        where = name if field == "document" else f"{field}.{name}"
        return list(objects_at(parent.get(name), where, self._place))

    def _keep_reference(self, ref: str, index: int) -> None:
        """Keep which entity a node means, since annotations get other ids when they are written again."""
        entity = self._by_place.get((index, ref)) or self._by_ref.get(ref)
        if entity is not None:
            self._kept.setdefault("refs", {})[ref] = entity.id

    def _keep(self, what: str, item: Record) -> None:
        """Keep an object as it is under the field ``bioc``, and say so."""
        self._remarks[f"{what}: kept in the fields, not read"] += 1
        self._kept.setdefault("unread", []).append(item)

    def _fields(self, text: BiocText) -> dict[str, Any]:
        kept = dict(self._kept)
        if infons := _infons(self._record):
            kept["infons"] = infons
        if text.offset:
            kept["offset"] = text.offset
        passages = [passage.infons for passage in self._passages]
        if any(passages) and passages not in _USUAL_PASSAGES:
            kept["passages"] = passages
            kept["ranges"] = [text.ranges.get(number) for number in range(len(passages))]
        kept |= unknown_fields(self._record, _KNOWN, self._place)
        about = kept.get("collection")
        if isinstance(about, dict) and about.get("source") == OWN_SOURCE:
            del kept["collection"]
        fields = bibliography(self._record, self._passages)
        return unknown_fields({**fields, "bioc": kept} if kept else fields, (), self._place)


def _infons(parent: Record) -> dict[str, Any]:
    infons = parent.get("infons")
    return infons if isinstance(infons, dict) else {}


_Passage = tuple[dict[str, str], int, int]
_KEPT = frozenset(
    {"annotations", "collection", "infons", "offset", "passages", "ranges", "refs"}
    | {"relation_infons", "unread"}
)
HEAD_ROLE = "head"
TAIL_ROLE = "tail"


def to_bioc(
    document: AnnotatedDocument, losses: Counter[str], safe: Callable[[str], str] = str
) -> BioCDocument:
    """The document without its rejected items, with what was kept when it was read from BioC.

    Annotations are ``T1``, ``T2``... in the passage where they start, relations ``R1``... and clusters ``C1``...
    at the document. What was only kept has its old ids.

    Args:
        document: The document.
        losses: Counts what was kept and fits no more.
        safe: Replaces characters that the file cannot hold, one for one.

    Raises:
        OutputError: An entity lies outside the text.
    """
    return _Encoder(document, losses, safe).document


class Collection:
    """What a file says about itself: that of the first document, or our own.

    A collection has one head: that of a document from another file has no place, and is counted.
    """

    def __init__(self, losses: Counter[str]) -> None:
        self._losses = losses
        self._about: Record | None = None

    def see(self, document: AnnotatedDocument) -> bool:
        """Add a document; whether it is the first, so that the head can be written."""
        found = _kept(document.document.fields).get("collection")
        about = found if isinstance(found, dict) else {}
        if self._about is None:
            self._about = about
            return True
        if about and about != self._about:
            self._losses["bioc head of a second collection"] += 1
        return False

    def head(self) -> Record:
        """``source``, ``date``, ``key`` and ``infons``; our own where no document came from BioC."""
        about = self._about or {"source": OWN_SOURCE, "key": "sciextract.key"}
        named = {name: _word(about.get(name)) for name in ("source", "date", "key")}
        infons = about.get("infons")
        given = {**about, **(infons if isinstance(infons, dict) else {})}
        rest = {str(key): _word(given[key]) for key in given if key not in {*named, "infons"}}
        return {**named, "infons": rest}


def other_fields(document: AnnotatedDocument) -> Record:
    """What the document's object had next to the fields of BioC."""
    kept = _kept(document.document.fields)
    return {name: value for name, value in kept.items() if name not in _KEPT}


class _Encoder:
    def __init__(
        self, document: AnnotatedDocument, losses: Counter[str], safe: Callable[[str], str]
    ) -> None:
        self._losses = losses
        self._text = document.document.text
        self._safe_text = safe(self._text)
        self._fields = document.document.fields
        self._kept = _kept(self._fields)
        offset = self._kept.get("offset")
        self._offset = offset if isinstance(offset, int) else 0
        found = self._kept.get("unread")
        listed = found if isinstance(found, list) else []
        self._unread = [each for each in listed if isinstance(each, dict)]
        self._taken = {str(each.get("id")) for each in self._unread}
        self._doc_key = document.document.doc_key
        self._safe = safe
        self._refs: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self.document = BioCDocument()
        self.document.id = safe(self._doc_key)
        self.document.infons |= self._words(self._kept.get("infons"))
        self._add_passages(entities_in_text(document))
        self._add_relations(not_rejected(document.annotations.relations))
        self._add_clusters(not_rejected(document.annotations.clusters))
        for item in self._unread:
            self._add_unread(item)

    def _add_passages(self, entities: list[Entity]) -> None:
        layout = self._read_layout() or self._layout(entities)
        for infons, start, end in layout:
            passage = BioCPassage()
            passage.offset = start + self._offset
            passage.infons |= infons
            passage.text = self._safe_text[start:end]
            self.document.add_passage(passage)
        there = {key for infons, *_ in layout for key in infons} | {*self.document.infons}
        missing = {k: v for k, v in self._bibliography().items() if k not in there}
        self.document.passages[0].infons |= missing
        for entity in entities:
            start = entity.span.char_start
            before = [
                (a, number) for number, (_, a, b) in enumerate(layout) if a <= start and a < b
            ]
            number = max(before, default=(0, 0))[1]
            self.document.passages[number].add_annotation(self._annotation(entity))

    def _layout(self, entities: list[Entity]) -> list[_Passage]:
        """Infons and range of the title, if it is known, and of the rest."""
        cut = self._title_length(entities)
        if not cut:
            return [({"type": "abstract"}, 0, len(self._text))]
        return [({"type": "title"}, 0, cut), ({"type": "abstract"}, cut + 1, len(self._text))]

    def _read_layout(self) -> list[_Passage]:
        """Infons and range of each passage as it was read; none where they are not those of the text."""
        infons, ranges = self._kept.get("passages"), self._kept.get("ranges") or ()
        if not infons:
            return []
        try:
            spans = [Span(*each) if each else None for each in ranges]
            layout = [
                (self._words(each), *((span.char_start, span.char_end) if span else (0, 0)))
                for each, span in zip(infons, spans, strict=True)
            ]
            end = 0
            for span in sorted(span for span in spans if span):
                gap = self._text[end : span.char_start]
                if not end <= span.char_start <= span.char_end or gap.strip(" ") not in ("", "\n"):
                    raise ValueError(span)
                end = span.char_end
            if end != len(self._text):
                raise ValueError(end)
        except (TypeError, ValueError):
            self._losses["bioc infons of a passage"] += len(infons)
            return []
        return layout

    def _title_length(self, entities: Iterable[Entity]) -> int:
        """Where the line feed behind the title stands; 0 without a title, or where an entity covers it."""
        title = self._fields.get("title")
        if not isinstance(title, str) or not title or not self._text.startswith(f"{title}\n"):
            return 0
        cut = len(title)
        crossed = any(e.span.char_start <= cut < e.span.char_end for e in entities)
        return 0 if crossed or len(self._text) == cut + 1 else cut

    def _bibliography(self) -> dict[str, str]:
        found = {key: self._fields.get(name) for name, key in INFON_NAMES.items()}
        return {key: self._safe(str(value)) for key, value in found.items() if value}

    def _annotation(self, entity: Entity) -> BioCAnnotation:
        annotation = BioCAnnotation()
        annotation.id = self._refs[entity.id] = self._fresh("T")
        annotation.infons |= self._infons(entity, "annotations")
        for span in entity.fragments:
            length = span.char_end - span.char_start
            annotation.add_location(BioCLocation(span.char_start + self._offset, length))
        annotation.text = entity.text_of(self._safe_text)
        return annotation

    def _add_relations(self, relations: Iterable[Relation]) -> None:
        for relation in relations:
            head, tail = self._refs.get(relation.head), self._refs.get(relation.tail)
            if head is None or tail is None:
                continue
            made = self._relation("R", relation, self._infons(relation, "relation_infons"))
            made.add_node(BioCNode(head, HEAD_ROLE))
            made.add_node(BioCNode(tail, TAIL_ROLE))

    def _add_clusters(self, clusters: Iterable[Cluster]) -> None:
        for cluster in clusters:
            mentions = [self._refs[each] for each in cluster.live_mentions if each in self._refs]
            if not mentions:
                continue
            infons = {"type": CLUSTER_TYPE} | self._score(cluster)
            made = self._relation("C", cluster, infons)
            for mention in mentions:
                made.add_node(BioCNode(mention, CLUSTER_ROLE))

    def _relation(
        self, letter: str, item: Relation | Cluster, infons: Mapping[str, str]
    ) -> BioCRelation:
        relation = BioCRelation()
        relation.id = self._fresh(letter)
        relation.infons |= infons
        self.document.add_relation(relation)
        return relation

    def _fresh(self, letter: str) -> str:
        """The next id that no kept item has."""
        while True:
            self._counts[letter] += 1
            name = f"{letter}{self._counts[letter]}"
            if name not in self._taken:
                return name

    def _add_unread(self, item: Record) -> None:
        """Write an item that was only kept, unless it names an annotation that is gone."""
        infons, name = self._words(item.get("infons")), self._safe(_word(item.get("id")))
        if "locations" in item:
            annotation = BioCAnnotation()
            annotation.id, annotation.text = name, self._safe(_word(item.get("text")))
            annotation.infons |= infons
            self.document.passages[0].add_annotation(annotation)
            return
        refs, nodes = self._kept.get("refs"), item.get("nodes")
        relation = BioCRelation()
        relation.id = name
        relation.infons |= infons
        for node in nodes if isinstance(nodes, list) else []:
            ref = _word(node.get("refid"))
            entity = refs.get(ref) if isinstance(refs, dict) else None
            if entity is not None and entity not in self._refs:
                self._losses["bioc relation of an annotation that is gone"] += 1
                return
            role = self._safe(_word(node.get("role")))
            relation.add_node(BioCNode(self._refs[entity] if entity else self._safe(ref), role))
        self.document.add_relation(relation)

    def _infons(self, item: Entity | Relation, kept: str) -> dict[str, str]:
        """Type and score, and the infons that came with the item when it was read from BioC."""
        label = {"type": self._safe(item.label)} if item.label else {}
        return {**label, **self._score(item), **self._read_infons(kept, item.id)}

    def _score(self, item: Entity | Relation | Cluster) -> dict[str, str]:
        return {} if item.score is None else {"score": str(item.score)}

    def _read_infons(self, kept: str, item_id: str) -> dict[str, str]:
        found = self._kept.get(kept)
        infons = self._words(found.get(item_id) if isinstance(found, dict) else None)
        return {key: value for key, value in infons.items() if key not in ("type", "score")}

    def _words(self, infons: object) -> dict[str, str]:
        """Infons as they are written."""
        given = infons if isinstance(infons, dict) else {}
        return {self._safe(str(key)): self._safe(_word(value)) for key, value in given.items()}


def _kept(fields: Mapping[str, Any]) -> Record:
    found = fields.get("bioc")
    return found if isinstance(found, dict) else {}


def _word(value: object) -> str:
    return "" if value is None else str(value)
