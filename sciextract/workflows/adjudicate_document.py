"""Deciding everything that waits between one document and one source at once, as one action."""

from __future__ import annotations

from sciextract.errors import ActionRefusedError
from sciextract.metrics.differences import Layer
from sciextract.store.incoming.context import Context
from sciextract.store.project import Project
from sciextract.store.state.draft import Draft
from sciextract.workflows.adjudicate import (
    Verdict,
    Verdicts,
    note_left,
    reason,
    waiting,
)
from sciextract.workflows.decisions import KIND, Decisions
from sciextract.workflows.disputed import Dispute
from sciextract.workflows.taking import THEIRS


def decide_document(
    project: Project,
    number: int,
    source_id: int,
    verdict: Verdict,
    decisions: Decisions | None = None,
) -> Verdicts:
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
    project.rehearse([number], sweep)
    keys = sweep.done
    if not keys:
        return Verdicts(0, sweep.refused)
    told = {"keys": keys, "verdict": verdict, "source": sweep.source, "number": number}

    def work(draft: Draft, context: Context) -> None:
        sweep(draft, context)
        note_left(project, draft, sweep.decided, merged)

    project.perform(KIND, told, [number], work, always=True)
    return Verdicts(len(keys), sweep.refused)


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

    def __call__(self, draft: Draft, context: Context) -> None:
        """Decide in a draft."""
        self.done, self.refused = [], {}
        for layer in Layer:
            while found := self._next(draft, layer):
                for dispute in found:
                    self._decide(draft, context, dispute)

    def _next(self, draft: Draft, layer: Layer) -> list[Dispute]:
        """What can be decided without another look: links one by one, since each changes the clusters."""
        left = waiting(self._project, draft, self._source_id, self.decided)
        found = [
            each for each in left if each.difference.layer is layer and each.key not in self.refused
        ]
        taken_singly = layer is Layer.LINK and self._verdict == "theirs"
        return found[:1] if taken_singly else found

    def _decide(self, draft: Draft, context: Context, dispute: Dispute) -> None:
        self.source = dispute.source
        try:
            with draft.whole():
                if self._verdict == "theirs":
                    THEIRS[dispute.difference.layer](draft, context, dispute)
        except ActionRefusedError as error:
            self.refused[dispute.key] = reason(error)
        else:
            self.done.append(dispute.key)
