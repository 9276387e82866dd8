"""Collects the items of one imported document: unique ids that do not change between runs, clusters from links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.ids import stable_id
from sciextract.documents.spans import Span

COREFERENCE = "COREF"
"""The label of relations that link mentions of the same thing, as Prodigy's coreference recipe has it."""

UNLABELLED = "relation"
"""The label of relations that have none in their file."""

BIBLIOGRAPHIC = ("title", "year", "doi", "pmid", "venue", "authors", "url", "keywords")
"""Names of the bibliographic fields of a document."""


@dataclass(slots=True)
class ImportedItems:
    """The items of one document.

    Attributes:
        doc_key: The document's key, part of every id.
        source: The ``source`` of all items.
        state: The state of all items.
        owner: Part of every id where several sources annotate one document.
        remarks: What was not read as it stands, by kind.
    """

    doc_key: str
    source: str
    state: State = State.IMPORTED
    owner: str = ""
    remarks: Counter[str] = field(default_factory=Counter)
    entities: list[Entity] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    _links: list[tuple[Entity, Entity]] = field(default_factory=list)
    _seen: Counter[tuple[object, ...]] = field(default_factory=Counter)

    def add_entity(self, span: Span, label: str, score: float | None = None) -> Entity:
        """A new entity of one fragment; an equal one gets an id of its own."""
        item_id = self._id("entity", span.char_start, span.char_end, label)
        entity = Entity(item_id, (span,), label, score, self.state, self.source)
        self.entities.append(entity)
        return entity

    def add_relation(
        self, head: Entity, tail: Entity, label: str, score: float | None = None
    ) -> None:
        """A new relation; one labelled ``COREF`` links two mentions of a cluster."""
        if label == COREFERENCE:
            self._links.append((head, tail))
            return
        item_id = self._id("relation", head.id, tail.id, label or UNLABELLED)
        if not label:
            self.remarks[f"relation without a label, read as {UNLABELLED!r}"] += 1
        name = label or UNLABELLED
        relation = Relation(item_id, head.id, tail.id, name, score, self.state, self.source)
        self.relations.append(relation)

    def annotations(self) -> Annotations:
        """All items; links are joined into clusters, mentions in text order."""
        return Annotations(tuple(self.entities), tuple(self.relations), self._clusters())

    def warnings(self) -> tuple[str, ...]:
        """One warning a kind, with its count."""
        return warnings_of(self.remarks)

    def _clusters(self) -> tuple[Cluster, ...]:
        groups: dict[str, dict[str, Entity]] = {}
        for head, tail in self._links:
            joined = groups.get(head.id, {head.id: head}) | groups.get(tail.id, {tail.id: tail})
            groups |= dict.fromkeys(joined, joined)
        unique = {id(group): group for group in groups.values()}.values()
        members = [sorted(group.values(), key=lambda each: each.span) for group in unique]
        return tuple(map(self._cluster, sorted(members, key=lambda each: each[0].span)))

    def _cluster(self, mentions: list[Entity]) -> Cluster:
        ids = tuple([mention.id for mention in mentions])
        return Cluster(self._id("cluster", *ids), ids, state=self.state, source=self.source)

    def _id(self, kind: str, *parts: object) -> str:
        key = (kind, *parts)
        ordinal = self._seen[key]
        self._seen[key] += 1
        extra = [part for part in (self.owner, ordinal) if part]
        return stable_id(kind, self.doc_key, *parts, *extra)


def warnings_of(remarks: Mapping[str, int]) -> tuple[str, ...]:
    """One warning a kind, with how often it occurred."""
    return tuple(
        [f"{kind} ({'once' if n == 1 else f'{n} times'})" for kind, n in remarks.items() if n]
    )


def score_of(value: Any) -> float | None:
    """``value`` if it is a probability."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def title_length_of(text: str, fields: Mapping[str, Any]) -> int:
    """How many characters at the start of a text are the title that its fields name, on a line of its own."""
    title = fields.get("title")
    is_first = isinstance(title, str) and title and text.startswith(f"{title}\n")
    return len(str(title)) if is_first else 0


def bibliographic(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The bibliographic fields of a document that have a value."""
    return {name: fields[name] for name in BIBLIOGRAPHIC if fields.get(name) not in (None, "", [])}
