"""A document as the ``bioc`` package's objects, which its encoders turn into XML or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bioc import BioCAnnotation, BioCDocument, BioCLocation, BioCNode, BioCPassage, BioCRelation

from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.formats.corpora.bioc_documents import CLUSTER_ROLE, CLUSTER_TYPE, OWN_SOURCE
from sciextract.formats.corpora.bioc_fields import INFON_NAMES
from sciextract.formats.json_lines import Record
from sciextract.formats.live import live
from sciextract.formats.standoff.standoff import live_entities

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
    """What the document's object had beside the fields of BioC."""
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
        self._add_passages(live_entities(document))
        self._add_relations(live(document.annotations.relations))
        self._add_clusters(live(document.annotations.clusters))
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
