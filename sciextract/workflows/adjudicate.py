"""Deciding where two sources differ: what holds in the project against the annotations of another source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sciextract.documents.annotations import Layer
from sciextract.errors import ActionRefusedError, UsageError
from sciextract.store import DocumentState, Outcome, Project, state_tables
from sciextract.store.document_state import Context
from sciextract.store.events import Event
from sciextract.workflows.disagreements import (
    KIND,
    MERGE,
    Decisions,
    Dispute,
    DocumentComparison,
    Majority,
    compare_with_source,
    take_theirs,
)
from sciextract.workflows.majority import propose

Verdict = Literal["mine", "theirs"]
Choice = Literal["mine", "theirs", "majority"]
"""Whose side is taken in many differences; that of the majority where there is one."""


@dataclass(slots=True)
class AdjudicationResult:
    """What became of many differences.

    Attributes:
        decided: How many were decided.
        refused: Why some cannot be, by their keys.
    """

    decided: int = 0
    refused: dict[str, str] = field(default_factory=dict)


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


def disputes(project: Project, source: str | None = None) -> Iterator[Dispute]:
    """All differences to decide, document by document; those that were decided are left out.

    Args:
        source: Compare the project with this source; by default against every merged project.

    Raises:
        UsageError: No source of that name has said anything.
    """
    decisions = Decisions(project)
    merged = decisions.merged()
    known = merged if source is None else sources(project, source)
    for source_id in known.values():
        for number in documents_of(project, [source_id]):
            doc = project.document_state(number)
            found = waiting(project, doc, source_id, decisions.keys(number))
            most = propose(project, number, compare(project, doc, merged.values())) if found else {}
            yield from (replace(dispute, proposal=most.get(dispute.key)) for dispute in found)


def decide(
    project: Project,
    dispute: Dispute,
    verdict: Verdict,
    decisions: Decisions | None = None,
    *,
    compare_with: Iterable[int] = (),
    seconds: float | None = None,
) -> Decided:
    """Decide one difference; one event, which undo takes back.

    The document is read and compared once: those who go on in it have the comparisons.

    Args:
        project: Open for writing.
        dispute: The difference.
        verdict: Whose side is taken.
        decisions: What was decided before; read anew without it.
        compare_with: Sources that the document is compared with, besides the merged ones.
        seconds: Time the person spent.

    Raises:
        ActionRefusedError: It cannot be done (yet): the reason is in the message.
    """
    decisions = decisions or Decisions(project)
    key, number = dispute.key, dispute.number
    params = {"key": key, "verdict": verdict, "source": dispute.source, "number": number}
    # Read before the transaction: what the log says inside of it might be taken back with it.
    decided, merged = decisions.keys(number) | {key}, set(decisions.merged().values())
    results: list[tuple[DocumentState, dict[int, DocumentComparison]]] = []

    def work(doc: DocumentState, context: Context) -> None:
        if verdict == "theirs":
            take_theirs(doc, context, dispute)
        compared = compare(project, doc, {*merged, *compare_with})
        results.append((doc, compared))
        left = sum(len(compared[by].waiting(decided)) for by in merged & compared.keys())
        state_tables.set_disagreements(project.connection, number, left)

    outcome = project.perform(KIND, params, [number], work, seconds, always=True)
    if not results:
        raise ActionRefusedError(f"the project has no document {number} (any more)")
    return Decided(outcome, *results[0])


def decide_all(
    project: Project, listed: Collection[Dispute], verdict: Choice, *, only_these: bool
) -> AdjudicationResult:
    """Decide many differences, document by document, each as :func:`decide_document` does.

    Args:
        project: Open for writing.
        listed: What :func:`disputes` gave.
        verdict: Whose side is taken.
        only_these: Whether differences that a decision brings about stay undecided.

    Raises:
        ProjectError: The project cannot be written; earlier decisions are in it.
    """
    result, decisions = AdjudicationResult(), Decisions(project)
    if only_these and verdict == "majority":
        alone = (dispute.key for dispute in listed if dispute.proposal is None)
        result.refused = dict.fromkeys(alone, "no side has most of the annotators")
    wanted: dict[tuple[int, str], set[str]] = {}
    for dispute in listed:
        wanted.setdefault((dispute.number, dispute.source), set()).add(dispute.key)
    for (number, source), keys in wanted.items():
        source_id, only = project.source_id(source), keys if only_these else None
        done = decide_document(project, number, source_id, verdict, decisions, only)
        result.decided += done.decided
        result.refused |= done.refused
    return result


def decide_document(
    project: Project,
    number: int,
    source_id: int,
    verdict: Choice,
    decisions: Decisions | None = None,
    only: Collection[str] | None = None,
) -> AdjudicationResult:
    """Take one side in everything that waits in a document: entities first, then relations, then links.

    One event, which undo takes back as a whole. What cannot be taken over stays undecided.

    Args:
        project: Open for writing.
        number: The document.
        source_id: The other source.
        verdict: Whose side is taken; that of the majority against all merged projects.
        decisions: What was decided before; read anew without it.
        only: Keys of the differences to decide; all when ``None``.

    Raises:
        ProjectError: The project cannot be written; nothing has changed.
    """
    decisions = decisions or Decisions(project)
    before, merged = decisions.keys(number), decisions.merged().values()
    keys: list[str] = []
    refused: dict[str, str] = {}
    proposed: dict[str, Majority] = {}

    def look(doc: DocumentState) -> list[Dispute]:
        if verdict != "majority":
            return waiting(project, doc, source_id, before)
        # All annotators: what is taken from one differs from others then, whom the majority is against.
        compared = compare(project, doc, merged)
        proposed.update(propose(project, number, compared))
        found = (
            dispute for both in compared.values() for dispute in both.waiting(before.union(keys))
        )
        return [dispute for dispute in found if dispute.key in proposed]

    def take_all(doc: DocumentState, context: Context) -> None:
        keys.clear()
        refused.clear()
        # A link that is taken changes the clusters that the other links speak of: they are looked at one by one.
        # And what is taken from one annotator settles the differences with others.
        single = {"mine": [], "theirs": [Layer.COREFERENCE], "majority": [*Layer]}[verdict]
        for dispute in in_order(lambda: look(doc), *single):
            if only is not None and dispute.key not in only:
                continue
            side = proposed[dispute.key].side if verdict == "majority" else verdict
            problem = try_to_take(doc, context, dispute) if side == "theirs" else None
            if problem is not None:
                refused[dispute.key] = explain(problem)
            else:
                keys.append(dispute.key)

    def work(doc: DocumentState, context: Context) -> None:
        take_all(doc, context)
        decided = before.union(keys)
        left = sum(len(waiting(project, doc, source, decided)) for source in merged)
        state_tables.set_disagreements(project.connection, number, left)

    # The event names what it decides, and that is only known once it was tried.
    project.dry_run([number], take_all)
    if keys:
        source = project.sources[source_id]
        params = {"keys": [*keys], "verdict": verdict, "source": source, "number": number}
        project.perform(KIND, params, [number], work, always=True)
    return AdjudicationResult(len(keys), dict(refused))


def in_order(look: Callable[[], list[Dispute]], *single: Layer) -> Iterator[Dispute]:
    """What waits in a document, layer by layer, each difference once.

    A decision changes what is different in the rest of the document, so that is looked at again: after every
    one of the layers ``single``, else when all that was found in the layer is decided.
    """
    tried: set[str] = set()
    for layer in Layer:
        while found := [
            one for one in look() if one.difference.layer is layer and one.key not in tried
        ]:
            for dispute in found[:1] if layer in single else found:
                tried.add(dispute.key)
                yield dispute


def try_to_take(
    doc: DocumentState, context: Context, dispute: Dispute
) -> ActionRefusedError | None:
    """Take the other side of a difference, or leave the document as it is and give the reason."""
    try:
        with doc.whole():
            take_theirs(doc, context, dispute)
    except ActionRefusedError as error:
        return error
    return None


def compare(
    project: Project, doc: DocumentState, source_ids: Iterable[int]
) -> dict[int, DocumentComparison]:
    """A document as it is, or would be, against the annotations of sources, as far as they have any."""
    looked = ((source_id, compare_with_source(project, doc, source_id)) for source_id in source_ids)
    return {source_id: both for source_id, both in looked if both is not None}


def waiting(
    project: Project, doc: DocumentState, source_id: int, decided: frozenset[str]
) -> list[Dispute]:
    """What is undecided between a document as it is, or would be, and a source's annotations of it."""
    both = compare_with_source(project, doc, source_id)
    return both.waiting(decided) if both else []


def refresh_disagreements(
    project: Project, numbers: Iterable[int], decisions: Decisions | None = None
) -> Counter[int]:
    """Count what is undecided between the project and all merged ones in some documents, for the lists.

    Returns:
        How many differences there are with each of them, by the source's number.
    """
    decisions, found = decisions or Decisions(project), {}
    merged = [*decisions.merged().values()]
    for number in numbers:
        doc, keys = project.document_state(number), decisions.keys(number)
        found[number] = Counter(
            {source: len(waiting(project, doc, source, keys)) for source in merged}
        )
    with project.writing() as connection:
        for number, counts in found.items():
            state_tables.set_disagreements(connection, number, counts.total())
    return sum(found.values(), Counter())


def note(project: Project, number: int, count: int) -> None:
    """Note a count that is known."""
    with project.writing() as connection:
        state_tables.set_disagreements(connection, number, count)


def follow(project: Project, turned: Event, decisions: Decisions | None = None) -> None:
    """Bring the lists of disagreements up to date when an event was undone or done again."""
    if turned.kind == KIND:
        refresh_disagreements(project, [turned.params["number"]], decisions)
    elif turned.kind == MERGE:
        # A merge that was taken back may have brought documents, which are gone now.
        numbers = documents_of(project, [project.source_id(turned.params["source"])])
        refresh_disagreements(project, numbers, decisions)


def documents_of(project: Project, source_ids: Collection[int]) -> list[int]:
    """Numbers of the documents in the project that one of these sources has annotated."""
    marks = ", ".join("?" * len(source_ids))
    rows = project.connection.execute(
        f"""SELECT DISTINCT a.document_id FROM annotation_set a JOIN progress p ON p.document_id = a.document_id
        WHERE a.source_id IN ({marks}) ORDER BY a.document_id""",
        tuple(source_ids),
    )
    return [row[0] for row in rows]


def sources(project: Project, wanted: str) -> dict[str, int]:
    """Names and numbers of the sources that begin like that and have annotations.

    Raises:
        UsageError: There is none.
    """
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


def explain(error: ActionRefusedError) -> str:
    """Why something cannot be done, in one line."""
    return ": ".join(filter(None, (error.message, error.hint)))
