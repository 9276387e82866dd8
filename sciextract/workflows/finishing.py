"""Finishing many abstracts and opening them again: each is one event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sciextract.documents.annotations import Layer
from sciextract.errors import ExitCode, UsageError
from sciextract.store import Completeness
from sciextract.store.actions.editing import Edit
from sciextract.store.coverage import find_layers, read_sought
from sciextract.store.events import COVER
from sciextract.store.queries import read_queue
from sciextract.workflows.import_files import read_layers

if TYPE_CHECKING:
    from sciextract.store import DocumentState, Project
    from sciextract.store.document_state import Context
    from sciextract.store.selection import Selection


@dataclass(frozen=True, slots=True)
class Finishing:
    """What was finished or opened.

    Attributes:
        documents: Abstracts that changed.
        layers: The layers, or types.
        event: The event; ``None`` where nothing changed.
        waiting: Abstracts that were skipped because items wait in them.
    """

    documents: int
    layers: tuple[str, ...]
    event: int | None
    waiting: int = 0

    @property
    def exit_code(self) -> ExitCode:
        """Failed where nothing changed, partly done where abstracts were skipped."""
        return ExitCode.of(bool(self.documents), self.waiting)


def mark_done(
    project: Project,
    selection: Selection,
    layers: str | None,
    undecided: Literal["skip", "accept", "reject"],
) -> Finishing:
    """Mark abstracts as done; those of a queue that was made for some types in these types alone, as the desk does.

    Raises:
        UsageError: The words choose no layer or no abstract.
    """
    queue = read_queue(project, selection.queue) if selection.queue and not layers else None
    sought = read_sought(queue.sort, project.schema) if queue else ()
    chosen = (sought[0][0],) if sought else _layers(project, layers)
    labels, waiting = [label for _, label in sought if label], 0

    def work(doc: DocumentState, context: Context) -> None:
        nonlocal waiting
        if undecided == "skip" and doc.count_undecided(*chosen, labels=labels):
            waiting += 1
            return
        verdict = "reject" if undecided == "skip" else undecided
        Edit(doc, context).mark_done(chosen, verdict, labels)

    params: dict[str, Any] = {"layers": sorted(chosen), "undecided": undecided}
    kind, params = (COVER, params | {"types": labels}) if labels else ("done", params)
    outcome = project.perform(kind, params, chosen_numbers(project, selection), work, backup=True)
    return Finishing(outcome.documents, tuple(labels or chosen), outcome.event_id, waiting)


def reopen(project: Project, selection: Selection, layers: str | None) -> Finishing:
    """Open finished abstracts again.

    Raises:
        UsageError: The words choose no layer or no abstract.
    """
    chosen = _layers(project, layers) if layers else tuple(Layer)

    def work(doc: DocumentState, context: Context) -> None:
        done = doc.progress.done if doc.progress else ()
        if finished := [layer for layer in chosen if layer in done]:
            Edit(doc, context).set_completeness(finished, Completeness.IN_PROGRESS)

    params = {"layers": sorted(chosen), "completeness": Completeness.IN_PROGRESS}
    numbers = chosen_numbers(project, selection)
    outcome = project.perform("completeness", params, numbers, work, backup=True)
    return Finishing(outcome.documents, tuple(chosen), outcome.event_id)


def _layers(project: Project, named: str | None) -> tuple[Layer, ...]:
    chosen = read_layers(named) if named else find_layers(project.connection, project.schema)
    return tuple(sorted(chosen))


def chosen_numbers(project: Project, selection: Selection) -> list[int]:
    """The abstracts of a selection that names some.

    Raises:
        UsageError: It names none.
    """
    if selection.is_all:
        raise UsageError(
            "no abstracts are named",
            "name them: --queue NAME, --keys FILE, --since DATE, --by NAME",
        )
    return selection.numbers(project)
