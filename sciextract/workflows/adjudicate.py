"""Deciding where two sources differ: what holds in the project against what another source said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sciextract.documents.annotations import Annotations
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ActionRefusedError, UsageError
from sciextract.metrics.differences import Difference, Layer, differences
from sciextract.metrics.sides import Said
from sciextract.store.file.failures import translated
from sciextract.store.incoming.context import Context, Outcome
from sciextract.store.incoming.ingest import said_by
from sciextract.store.log.events import UNDONE, Event
from sciextract.store.project import Project
from sciextract.store.state import summary
from sciextract.store.state.draft import Draft
from sciextract.store.state.rows import IN_VIEW
from sciextract.workflows.taking import THEIRS

Verdict = Literal["mine", "theirs"]
KIND, MERGE = "adjudicate", "merge project"
_MOST_STEPS = 10_000  # a document with more differences than that is not one abstract


@dataclass(frozen=True, slots=True)
class Dispute:
    """One difference that waits for a decision.

    Attributes:
        number: The document's number.
        source: The other source.
        key: What identifies the difference, the same in every listing.
        difference: Both sides; the first one is what holds in the project.
    """

    number: int
    source: str
    key: str
    difference: Difference

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


@dataclass(slots=True)
class Verdicts:
    """What became of many differences.

    Attributes:
        decided: How many were decided.
        refused: Why some cannot be, by their keys.
    """

    decided: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def disputes(project: Project, source: str | None = None) -> Iterator[Dispute]:
    """All differences to decide, document by document; those that were decided are left out.

    Args:
        source: Hold the project against this source; by default against every merged project.

    Raises:
        UsageError: No source of that name has said anything.
    """
    decided = _decided(project)
    for name, source_id in _sources(project, source).items():
        for number in _documents_of(project, source_id):
            found = _differences(project, number, source_id)
            yield from (
                Dispute(number, name, key, each)
                for key, each in found.items()
                if (number, key) not in decided
            )


def decide(project: Project, dispute: Dispute, verdict: Verdict) -> Outcome:
    """Decide one difference; one event, which undo takes back.

    Raises:
        ActionRefusedError: It cannot be done (yet): the reason is in the message.
    """
    told = {
        "key": dispute.key,
        "verdict": verdict,
        "source": dispute.source,
        "number": dispute.number,
    }
    take = THEIRS[dispute.difference.layer]

    def work(draft: Draft, context: Context) -> None:
        if verdict == "theirs":
            take(draft, context, dispute.difference)

    outcome = project.perform(KIND, told, [dispute.number], work, always=True)
    refresh_disagreements(project, dispute.number)
    return outcome


def decide_all(
    project: Project, listed: Collection[Dispute], verdict: Verdict, *, only_these: bool
) -> Verdicts:
    """Decide many differences, in each document entities first, then relations, then links.

    One decision changes what is different in the rest of its document, so that is looked at anew each time.

    Args:
        project: Open for writing.
        listed: What :func:`disputes` gave.
        verdict: Whose side is taken.
        only_these: Whether differences that a decision brings about stay undecided.

    Raises:
        ProjectError: The project cannot be written; earlier decisions are in it.
    """
    verdicts = Verdicts()
    for number, source in dict.fromkeys((each.number, each.source) for each in listed):
        keys = {each.key for each in listed if (each.number, each.source) == (number, source)}
        for layer in Layer:
            tried: set[str] = set()
            for _ in range(_MOST_STEPS):
                waiting = [
                    each
                    for each in _waiting(project, number, source)
                    if each.difference.layer is layer and each.key not in tried
                    if each.key in keys or not only_these
                ]
                if not waiting:
                    break
                tried.add(waiting[0].key)
                _try(project, waiting[0], verdict, verdicts)
    return verdicts


def refresh_disagreements(project: Project, number: int) -> int:
    """Count what is undecided between the project and all merged ones in one document, for the lists."""
    sources = _sources(project, None)
    count = sum(len(_waiting(project, number, source)) for source in sources)
    with project.writing() as connection:
        summary.set_disagreements(connection, number, count)
    return count


def follow(project: Project, turned: Event) -> None:
    """Bring the lists of disagreements up to date when an event was undone or done again."""
    if turned.kind == KIND:
        refresh_disagreements(project, turned.params["number"])
    elif turned.kind == MERGE:
        present = set(project.numbers())
        for number in _documents_of(project, project.source_id(turned.params["source"])):
            if number in present:
                refresh_disagreements(project, number)


def _try(project: Project, dispute: Dispute, verdict: Verdict, verdicts: Verdicts) -> None:
    try:
        decide(project, dispute, verdict)
        verdicts.decided += 1
    except ActionRefusedError as error:
        verdicts.refused[dispute.key] = ": ".join(filter(None, (error.message, error.hint)))


def _waiting(project: Project, number: int, source: str) -> list[Dispute]:
    """What is undecided between the project and a source in one document."""
    decided = _decided(project)
    found = _differences(project, number, project.source_id(source))
    return [
        Dispute(number, source, key, each)
        for key, each in found.items()
        if (number, key) not in decided
    ]


def _documents_of(project: Project, source_id: int) -> list[int]:
    """Numbers of the documents about which a source has said something."""
    with translated(project.path):
        rows = project.connection.execute(
            "SELECT DISTINCT document_id FROM annotation_set WHERE source_id = ? ORDER BY document_id",
            (source_id,),
        )
        return [row[0] for row in rows]


def _differences(project: Project, number: int, source_id: int) -> dict[str, Difference]:
    said = said_by(project.connection, number, source_id)
    draft = project.draft(number)
    if said is None or draft.progress is None:
        return {}
    mine = project.document(number, IN_VIEW)
    kept = tuple(each for each in said.entities if each.state in IN_VIEW)
    theirs = AnnotatedDocument(mine.document, _only(said, {each.id for each in kept}))
    found = differences([mine], [theirs], project.schema.symmetric_labels)
    return {_key(each, mine.document.text_sha256): each for each in found}


def _only(said: Annotations, kept: set[str]) -> Annotations:
    """What a source had decided, with its undecided items left out; a model's say is all of it."""
    if not any(each.state in IN_VIEW for each in said.entities):
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
            replace(each, mentions=tuple(m for m in each.mentions if m in kept), mention_scores=())
            for each in said.clusters
            if each.state in IN_VIEW
        ),
    )


def _sources(project: Project, wanted: str | None) -> dict[str, int]:
    merged = f"""EXISTS (SELECT 1 FROM event e WHERE e.kind = '{MERGE}'
        AND json_extract(e.params, '$.source') = s.name AND NOT {UNDONE})"""
    rows = project.connection.execute(
        f"""SELECT s.name, s.id FROM source s WHERE s.id IN (SELECT source_id FROM annotation_set)
        AND {"1" if wanted is not None else merged} ORDER BY s.id"""
    )
    known = dict(rows.fetchall())
    if wanted is None:
        return known
    fitting = {name: number for name, number in known.items() if name.startswith(wanted)}
    if not fitting:
        listed = ", ".join(known) or "none"
        raise UsageError(f"no source {wanted!r} has said anything here", f"sources: {listed}")
    return fitting


def _decided(project: Project) -> set[tuple[int, str]]:
    """Documents and keys of the disputes that were decided and not undone."""
    rows = project.connection.execute(
        f"SELECT e.params FROM event e WHERE e.kind = ? AND NOT {UNDONE}", (KIND,)
    )
    told = [json.loads(row[0]) for row in rows]
    return {(each["number"], each["key"]) for each in told}


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
