"""A document as it holds in the project and as another source has it, and where the two differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.metrics.differences import Difference, Layer, differences
from sciextract.metrics.sides import Said
from sciextract.store.file.failures import translated
from sciextract.store.incoming.ingest import said_by
from sciextract.store.project import Project
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import IN_VIEW
from sciextract.store.state.views import annotated


@dataclass(frozen=True, slots=True)
class Dispute:
    """One difference that waits for a decision.

    Attributes:
        number: The document's number.
        source: The other source.
        key: What identifies the difference, the same in every listing.
        difference: Both sides; the first one is what holds in the project.
        company: For a link of the other side the fragments of all mentions in its cluster.
    """

    number: int
    source: str
    key: str
    difference: Difference
    company: tuple[tuple[Span, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The dispute as one JSON object."""
        one = self.difference
        return {
            "key": self.key,
            "number": self.number,
            "doc_key": one.doc_key,
            "source": self.source,
            "layer": one.layer.value,
            "kind": one.kind.value,
            "mine": _plain(one.first),
            "theirs": _plain(one.second),
        }


@dataclass(frozen=True, slots=True)
class BothSides:
    """One document, twice.

    Attributes:
        source: The other source.
        mine: What holds in the project.
        theirs: What the other source has.
        disputes: Where they differ, also what has been decided already.
    """

    source: str
    mine: AnnotatedDocument
    theirs: AnnotatedDocument
    disputes: tuple[Dispute, ...]

    def waiting(self, decided: Collection[str]) -> list[Dispute]:
        """The differences that are not among the decided ones."""
        return [each for each in self.disputes if each.key not in decided]


def both_sides(project: Project, draft: Draft, source_id: int) -> BothSides | None:
    """Hold a document against what a source said about it; ``None`` when there is nothing to compare.

    Args:
        project: The open project.
        draft: The document as it is, or would be.
        source_id: The other source.
    """
    with translated(project.path):
        said = said_by(project.connection, draft.stored.number, source_id)
        sources = project.sources
    if said is None or draft.progress is None:
        return None
    mine = annotated(draft, sources, IN_VIEW)
    theirs = AnnotatedDocument(mine.document, decided_part(said))
    found = differences([mine], [theirs], project.schema.symmetric_labels)
    number, source, sha = draft.stored.number, sources[source_id], mine.document.text_sha256
    listed = {_key(each, sha): each for each in found}
    disputes = tuple(
        Dispute(number, source, key, each, _company(each, theirs)) for key, each in listed.items()
    )
    return BothSides(source, mine, theirs, disputes)


def _company(one: Difference, theirs: AnnotatedDocument) -> tuple[tuple[Span, ...], ...]:
    if one.layer is not Layer.LINK or one.second is None:
        return ()
    said, wanted = theirs.annotations, one.second.id
    mentions = next(each.mentions for each in said.clusters if each.id == wanted)
    return tuple(said.entity(each).fragments for each in mentions)


def decided_part(said: Annotations) -> Annotations:
    """What a source had decided, with its undecided items left out; a model's say is all of it."""
    kept = {each.id for each in said.entities if each.state in IN_VIEW}
    if not kept:
        return said
    return replace(
        said,
        entities=tuple(each for each in said.entities if each.id in kept),
        relations=tuple(
            each
            for each in said.relations
            if each.state in IN_VIEW and {each.head, each.tail} <= kept
        ),
        clusters=tuple(
            each.only(kept.intersection(each.live_mentions))
            for each in said.clusters
            if each.state in IN_VIEW
        ),
    )


def _key(one: Difference, text_sha256: str) -> str:
    sides = [_plain(side, ids=False) for side in (one.first, one.second)]
    text = json.dumps([text_sha256, one.layer, one.kind, sides], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _plain(said: Said | None, *, ids: bool = True) -> dict[str, Any] | None:
    if said is None:
        return None
    spans = [[[s.char_start, s.char_end] for s in each] for each in said.fragments]
    plain = {"label": said.label, "fragments": spans, "entity_labels": list(said.entity_labels)}
    return plain | ({"id": said.id, "entities": list(said.entities)} if ids else {})
