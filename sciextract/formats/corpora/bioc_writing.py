"""A document as the ``bioc`` package's objects, which its encoders turn into XML or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bioc import BioCAnnotation, BioCDocument, BioCLocation, BioCNode, BioCPassage, BioCRelation

from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.corpora.bioc_documents import CLUSTER_ROLE, CLUSTER_TYPE
from sciextract.formats.corpora.bioc_fields import INFON_NAMES
from sciextract.formats.live import live
from sciextract.formats.standoff.standoff import live_entities

HEAD_ROLE = "head"
TAIL_ROLE = "tail"


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
    return _Encoder(document, safe).document


class _Encoder:
    def __init__(self, document: AnnotatedDocument, safe: Callable[[str], str]) -> None:
        self._text = document.document.text
        self._safe_text = safe(self._text)
        self._fields = document.document.fields
        self._doc_key = document.document.doc_key
        self._safe = safe
        self._refs: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self.document = BioCDocument()
        self.document.id = safe(self._doc_key)
        self._add_passages(live_entities(document))
        self._add_relations(live(document.annotations.relations))
        self._add_clusters(live(document.annotations.clusters))

    def _add_passages(self, entities: list[Entity]) -> None:
        cut = self._title_length(entities)
        ranges = [(0, cut), (cut + 1, len(self._text))] if cut else [(0, len(self._text))]
        kinds = ("title", "abstract") if cut else ("abstract",)
        for kind, (start, end) in zip(kinds, ranges, strict=True):
            passage = BioCPassage()
            passage.offset = start
            passage.infons["type"] = kind
            passage.text = self._safe_text[start:end]
            self.document.add_passage(passage)
        self.document.passages[0].infons |= self._bibliography()
        for entity in entities:
            behind = bool(cut) and entity.span.char_start > cut
            self.document.passages[int(behind)].add_annotation(self._annotation(entity))

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
        annotation.id = self._refs[entity.id] = f"T{len(self._refs) + 1}"
        annotation.infons |= self._infons(entity, "annotations")
        for span in entity.fragments:
            annotation.add_location(BioCLocation(span.char_start, span.char_end - span.char_start))
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
        self._counts[letter] += 1
        relation.id = f"{letter}{self._counts[letter]}"
        relation.infons |= infons
        self.document.add_relation(relation)
        return relation

    def _infons(self, item: Entity | Relation, kept: str) -> dict[str, str]:
        """Type and score, and the infons that came with the item when it was read from BioC."""
        label = {"type": self._safe(item.label)} if item.label else {}
        return {**label, **self._score(item), **self._read_infons(kept, item.id)}

    def _score(self, item: Entity | Relation | Cluster) -> dict[str, str]:
        return {} if item.score is None else {"score": str(item.score)}

    def _read_infons(self, kept: str, item_id: str) -> dict[str, str]:
        found: Any = self._fields.get("bioc")
        for key in (kept, item_id):
            found = found.get(key) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            return {}
        return {
            self._safe(str(key)): self._safe(str(value))
            for key, value in found.items()
            if key not in ("type", "score")
        }
