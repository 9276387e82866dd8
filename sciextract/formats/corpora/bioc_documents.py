"""BioC documents, as they stand in XML and in JSON alike: text, mentions, relations and clusters.

Both readers hand over a document as the objects of BioC JSON. The reading code of the ``bioc`` package is
not used: its XML reader keeps the whole collection in memory, expands entities and fails without a place;
its JSON reader demands fields that PubTator leaves out. Its data structures and encoders do the writing.

Comeau et al. (2013): BioC: a minimalist approach to interoperability for biomedical text processing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sciextract.documents.annotations import Entity
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Place, Source, shown
from sciextract.formats.checks import list_at, object_at
from sciextract.formats.corpora.bioc_fields import (
    bibliography,
    label_of,
    relation_label_of,
    score_of,
    unused,
)
from sciextract.formats.corpora.bioc_text import UNITS, BiocText, Passage, passages_at
from sciextract.formats.corpus_items import UNLABELLED, CorpusItems, warnings_of
from sciextract.formats.given_tokens import token_table
from sciextract.formats.json_lines import Record, unknown_fields

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
    """Reads one document; what is no entity, relation or cluster is kept and counted."""

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
        quoted = annotation.get("text")
        if spans and isinstance(quoted, str) and quoted.strip():
            self._check_quotation(quoted, spans, text.text, field)
        return spans

    def _check_quotation(self, quoted: str, spans: Sequence[Span], text: str, field: str) -> None:
        whole = Span(spans[0].char_start, spans[-1].char_end).of(text)
        parts = [span.of(text) for span in spans]
        if quoted.split() not in (whole.split(), " ".join(parts).split(), "".join(parts).split()):
            ranges = ", ".join(f"[{span.char_start}, {span.char_end})" for span in spans)
            problem = (
                f"{shown(quoted)} found, but the text has {shown(' '.join(parts))} at {ranges}"
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
                self._keep("relation that is no pair of mentions", relation)
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
            problem = f"{shown(ref)} found, allowed are ids of annotations: {known}"
            raise self._place.error(problem, field=f"{field}.refid")
        return entity

    def _objects(self, parent: Record, name: str, field: str) -> list[tuple[Record, str]]:
        where = name if field == "document" else f"{field}.{name}"
        listed = list_at(parent.get(name), where, self._place)
        return [
            (object_at(item, f"{where}[{number}]", self._place), f"{where}[{number}]")
            for number, item in enumerate(listed)
        ]

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
