"""Suggestions in the background, from lists, patterns, a model of other labels, or a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from sciextract.errors import SciextractError
from sciextract.store import open_project
from sciextract.text.english import counted
from sciextract.workflows.suggest import Sources, SuggestReport, suggest_by, suggest_from
from sciextract_app.messages import SuggestEnded, SuggestProgress, error_line
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.host import IsCancelled, ReviewHost
from sciextract_app.workers.importing import AT_A_TIME, BREATH_SECONDS


class _Cancelled(Exception):
    """Suggesting was cancelled; suggestions until then stay."""


@dataclass(frozen=True, slots=True)
class SuggestJob:
    """One event of suggestions.

    Attributes:
        path: The project.
        author: Who works on it.
        sources: What suggestions come from: lists and models, or an annotated file.
        is_cancelled: Whether to stop; checked after every few abstracts.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    sources: Sources | Path
    is_cancelled: IsCancelled
    post: Callable[[Message], object]

    def run(self) -> None:
        """Suggest, and post the result."""
        try:
            report = self._suggest()
        except _Cancelled:
            return
        except SciextractError as error:
            self.post(SuggestEnded(None, error))
        else:
            self.post(SuggestEnded(report))

    def _suggest(self) -> SuggestReport:
        with open_project(self.path, self.author) as project:
            if isinstance(self.sources, Path):
                return suggest_from(project, [str(self.sources)], None)
            return suggest_by(project, self.sources, self._progress, AT_A_TIME)

    def _progress(self, done: int, total: int) -> None:
        if self.is_cancelled():
            raise _Cancelled
        self.post(SuggestProgress(done, total))
        time.sleep(BREATH_SECONDS)


class SuggestService:
    """Suggests annotations in the background, before anything is corrected.

    Args:
        host: The screen.
        author: Who works on the project.
    """

    GROUP = "suggest"

    def __init__(self, host: ReviewHost, author: str | None) -> None:
        self._host = host
        self._author = author

    def start(self, sources: Sources | Path) -> None:
        """Suggest from lists and models, or from an annotated file."""
        if not self._host.writable:
            refused = "nothing suggested: the project is read-only here"
            self._host.show_reply(Feedback(refused, problem=True))
            return
        path, author, post = self._host.project.path, self._author, self._host.post_message
        self._host.show_notice(Feedback("suggesting"))
        self._host.start_thread(
            self.GROUP,
            lambda cancelled: SuggestJob(path, author, sources, cancelled, post).run(),
            exclusive=True,
        )

    def receive(self, message: SuggestProgress | SuggestEnded) -> None:
        """Show what the thread reports."""
        self._host.poll_changes()
        if isinstance(message, SuggestProgress):
            progress = Feedback(f"suggesting: {message.done:,} of {message.total:,} abstracts")
            self._host.show_notice(progress, passing=True)
        else:
            self._host.show_notice(suggest_feedback(message))


def suggest_feedback(ended: SuggestEnded) -> Feedback:
    """The result in words."""
    if ended.error is not None or ended.report is None:
        return Feedback(f"nothing suggested: {error_line(ended.error)}", problem=True)
    report = ended.report
    items = counted(sum(report.items.values()), "suggestion")
    parts = [f"{items} in {counted(report.documents, 'abstract')}"]
    if report.skipped:
        parts.append(f"{counted(report.skipped, 'abstract')} with done entities left out")
    if report.bad:
        parts.append(f"{counted(report.bad, 'record')} left out")
    parts += report.notes
    if report.items:
        parts.append("u undoes them")
    return Feedback("; ".join(parts))
