"""Deciding where two sources differ: what holds in the project against the annotations of another source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sciextract.documents.annotations import Layer
from sciextract.errors import ActionRefusedError, UsageError
from sciextract.store import DocumentState, Outcome, Project, state_tables
from sciextract.store.document_state import Context
from sciextract.store.events import Event
from sciextract.store.sqlite import translated
from sciextract.workflows.disagreements import (
    KIND,
    MERGE,
    THEIRS,
    Decisions,
    Dispute,
    DocumentComparison,
    compare_with_source,
)

__all__ = [
    "KIND",
    "MERGE",
    "AdjudicationResult",
    "Dispute",
    "Verdict",
    "decide",
    "decide_all",
    "disputes",
    "follow",
]

Verdict = Literal["mine", "theirs"]
_MOST_STEPS = 10_000  # a document with more differences than that is not one abstract


@dataclass(slots=True)
class AdjudicationResult:
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
        source: Compare the project with this source; by default against every merged project.

    Raises:
        UsageError: No source of that name has said anything.
    """
    decisions = Decisions(project)
    known = decisions.merged() if source is None else sources(project, source)
    for source_id in known.values():
        for number in documents_of(project, [source_id]):
            yield from waiting(
                project, project.document_state(number), source_id, decisions.keys(number)
            )


def decide(
    project: Project,
    dispute: Dispute,
    verdict: Verdict,
    decisions: Decisions | None = None,
) -> Outcome:
    """Decide one difference; one event, which undo takes back.

    Args:
        project: Open for writing.
        dispute: The difference.
        verdict: Whose side is taken.
        decisions: What was decided before; read anew without it.

    Raises:
        ActionRefusedError: It cannot be done (yet): the reason is in the message.
    """
    decisions = decisions or Decisions(project)
    return decide_and_compare(project, dispute, verdict, (), decisions).outcome


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision with the document as it is behind it.

    Attributes:
        outcome: What the decision did.
        doc: The document.
        compared: It and the annotations of each source, by the source's number.
    """

    outcome: Outcome
    doc: DocumentState
    compared: Mapping[int, DocumentComparison]


def decide_and_compare(
    project: Project,
    dispute: Dispute,
    verdict: Verdict,
    source_ids: Iterable[int],
    decisions: Decisions,
    seconds: float | None = None,
) -> Decided:
    """The same, for those who go on in the document: it is read and compared once.

    Args:
        project: Open for writing.
        dispute: The difference.
        verdict: Whose side is taken.
        source_ids: The sources that the document is compared with.
        decisions: What was decided before.
        seconds: Time the person spent.

    Raises:
        ActionRefusedError: It cannot be done (yet): the reason is in the message.
    """
    params = {
        "key": dispute.key,
        "verdict": verdict,
        "source": dispute.source,
        "number": dispute.number,
    }
    decided, merged = decisions.keys(dispute.number) | {dispute.key}, decisions.merged()
    results: list[tuple[DocumentState, dict[int, DocumentComparison]]] = []

    def work(doc: DocumentState, context: Context) -> None:
        if verdict == "theirs":
            THEIRS[dispute.difference.layer](doc, context, dispute)
        looked = (
            (each, compare_with_source(project, doc, each))
            for each in {*merged.values(), *source_ids}
        )
        compared = {each: both for each, both in looked if both is not None}
        results.append((doc, compared))
        left = (both.waiting(decided) for each, both in compared.items() if each in merged.values())
        count = sum(len(each) for each in left)
        state_tables.set_disagreements(project.connection, dispute.number, count)

    outcome = project.perform(KIND, params, [dispute.number], work, seconds, always=True)
    if not results:
        raise ActionRefusedError(f"the project has no document {dispute.number} (any more)")
    return Decided(outcome, *results[0])


def decide_all(
    project: Project, listed: Collection[Dispute], verdict: Verdict, *, only_these: bool
) -> AdjudicationResult:
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
    verdicts, decisions = AdjudicationResult(), Decisions(project)
    for number, source in dict.fromkeys((each.number, each.source) for each in listed):
        keys = {each.key for each in listed if (each.number, each.source) == (number, source)}
        for layer in Layer:
            tried: set[str] = set()
            for _ in range(_MOST_STEPS):
                doc, decided = project.document_state(number), decisions.keys(number)
                left = waiting(project, doc, project.source_id(source), decided)
                fitting = [
                    each
                    for each in left
                    if each.difference.layer is layer and each.key not in tried
                    if each.key in keys or not only_these
                ]
                if not fitting:
                    break
                key = fitting[0].key
                tried.add(key)
                try:
                    decide(project, fitting[0], verdict, decisions)
                    verdicts.decided += 1
                except ActionRefusedError as error:
                    verdicts.refused[key] = reason(error)
    return verdicts


def refresh_disagreements(project: Project, number: int, decisions: Decisions | None = None) -> int:
    """Count what is undecided between the project and all merged ones in one document, for the lists."""
    decisions = decisions or Decisions(project)
    decided, merged = decisions.keys(number), decisions.merged()
    doc = project.document_state(number)
    with project.writing():
        return note_left(project, doc, decided, merged.values())


def note_left(
    project: Project, doc: DocumentState, decided: Collection[str], source_ids: Collection[int]
) -> int:
    """Note how much waits between a document and these sources, inside the caller's transaction."""
    count = sum(len(waiting(project, doc, each, decided)) for each in source_ids)
    state_tables.set_disagreements(project.connection, doc.stored.number, count)
    return count


def note(project: Project, number: int, count: int) -> None:
    """Note a count that is known."""
    with project.writing() as connection:
        state_tables.set_disagreements(connection, number, count)


def follow(project: Project, turned: Event, decisions: Decisions | None = None) -> None:
    """Bring the lists of disagreements up to date when an event was undone or done again."""
    if turned.kind == KIND:
        refresh_disagreements(project, turned.params["number"], decisions)
    elif turned.kind == MERGE:
        present, decisions = set(project.numbers()), decisions or Decisions(project)
        for number in documents_of(project, [project.source_id(turned.params["source"])]):
            if number in present:
                refresh_disagreements(project, number, decisions)


def waiting(
    project: Project, doc: DocumentState, source_id: int, decided: Collection[str]
) -> list[Dispute]:
    """What is undecided between a document as it is, or would be, and a source's annotations of it."""
    both = compare_with_source(project, doc, source_id)
    return both.waiting(decided) if both else []


def documents_of(project: Project, source_ids: Collection[int]) -> list[int]:
    """Numbers of the documents that one of these sources has annotated."""
    marks = ", ".join("?" * len(source_ids))
    with translated(project.path):
        rows = project.connection.execute(
            f"""SELECT DISTINCT document_id FROM annotation_set WHERE source_id IN ({marks})
            ORDER BY document_id""",
            tuple(source_ids),
        )
        return [row[0] for row in rows]


def sources(project: Project, wanted: str) -> dict[str, int]:
    """Names and numbers of the sources that begin like that and have annotations.

    Raises:
        UsageError: There is none.
    """
    with translated(project.path):
        rows = project.connection.execute(
            """SELECT s.name, s.id FROM source s
            WHERE EXISTS (SELECT 1 FROM annotation_set a WHERE a.source_id = s.id) ORDER BY s.id"""
        )
        known = dict(rows.fetchall())
    fitting = {name: number for name, number in known.items() if name.startswith(wanted)}
    if not fitting:
        listed = ", ".join(known) or "none"
        raise UsageError(f"no source {wanted!r} has annotations here", f"sources: {listed}")
    return fitting


def reason(error: ActionRefusedError) -> str:
    """Why something cannot be done, in one line."""
    return ": ".join(filter(None, (error.message, error.hint)))


def decide_document(
    project: Project,
    number: int,
    source_id: int,
    verdict: Verdict,
    decisions: Decisions | None = None,
) -> AdjudicationResult:
    """Take one side in everything that waits in a document: entities first, then relations, then links.

    One event, which undo takes back as a whole. What cannot be taken over stays undecided.

    Args:
        project: Open for writing.
        number: The document.
        source_id: The other source.
        verdict: Whose side is taken.
        decisions: What was decided before; read anew without it.

    Raises:
        ProjectError: The project cannot be written; nothing has changed.
    """
    decisions = decisions or Decisions(project)
    merged = list(decisions.merged().values())
    sweep = _Sweep(project, source_id, verdict, decisions.keys(number))
    project.dry_run([number], sweep)
    keys = sweep.done
    if not keys:
        return AdjudicationResult(0, sweep.refused)
    params = {"keys": keys, "verdict": verdict, "source": sweep.source, "number": number}

    def work(doc: DocumentState, context: Context) -> None:
        sweep(doc, context)
        note_left(project, doc, sweep.decided, merged)

    project.perform(KIND, params, [number], work, always=True)
    return AdjudicationResult(len(keys), sweep.refused)


class _Sweep:
    """The work of one such action; what becomes of each difference depends on those before it.

    Attributes:
        done: Keys of what was decided.
        refused: Why some cannot be, by their keys.
        source: The other source's name.
    """

    def __init__(
        self, project: Project, source_id: int, verdict: Verdict, before: frozenset[str]
    ) -> None:
        self.done: list[str] = []
        self.refused: dict[str, str] = {}
        self.source = ""
        self._project = project
        self._source_id = source_id
        self._verdict = verdict
        self._before = before

    @property
    def decided(self) -> frozenset[str]:
        """Keys of what was decided before and now."""
        return self._before.union(self.done)

    def __call__(self, doc: DocumentState, context: Context) -> None:
        """Decide in a document."""
        self.done, self.refused = [], {}
        for layer in Layer:
            while found := self._next(doc, layer):
                for dispute in found:
                    self._decide(doc, context, dispute)

    def _next(self, doc: DocumentState, layer: Layer) -> list[Dispute]:
        """What can be decided without another look: links one by one, since each changes the clusters."""
        left = waiting(self._project, doc, self._source_id, self.decided)
        fitting = [
            each for each in left if each.difference.layer is layer and each.key not in self.refused
        ]
        taken_singly = layer is Layer.COREFERENCE and self._verdict == "theirs"
        return fitting[:1] if taken_singly else fitting

    def _decide(self, doc: DocumentState, context: Context, dispute: Dispute) -> None:
        self.source = dispute.source
        try:
            with doc.whole():
                if self._verdict == "theirs":
                    THEIRS[dispute.difference.layer](doc, context, dispute)
        except ActionRefusedError as error:
            self.refused[dispute.key] = reason(error)
        else:
            self.done.append(dispute.key)
