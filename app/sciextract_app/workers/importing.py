"""Abstracts and suggestions that come into the project in the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.errors import FormatError, SciextractError
from sciextract.store import Project, open_project
from sciextract.store.opening import SUFFIX
from sciextract.text.english import counted
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files
from sciextract.workflows.pasted import import_pasted
from sciextract.workflows.suggest import Sources, SuggestReport, suggest_by, suggest_from
from sciextract_app.opening import Remembered, not_yet_imported, note_imported, remember
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.jobs import Job, error_line, start_job

if TYPE_CHECKING:
    from sciextract_app.screens.review import ReviewScreen

MOST_SHOWN = 200
"""Bad records that are kept for the dialog; the others are only counted."""
# Abstracts in a transaction: a key that decides something waits for it, so it is short.
AT_A_TIME = 25
PROGRESS_SECONDS = 0.3
"""Between two messages of progress; the screen reads its lists anew at each."""


class ImportWork:
    """ImportWork files and pasted texts, and suggests before anything is corrected.

    Args:
        screen: The review screen.
        author: Who works on the project.
        record: What is remembered of the project: files that were imported.
        imported: Called after an import, so that what is new can be predicted.
    """

    def __init__(
        self,
        screen: ReviewScreen,
        author: str | None,
        record: Remembered,
        imported: Callable[[], object],
    ) -> None:
        self._screen = screen
        self._author = author
        self._record = record
        self._imported = imported

    def pending(self, files: Sequence[str]) -> Sequence[str]:
        """Those of the files that are not in the project; of an empty one, made anew perhaps, none is."""
        if files and self._screen.project.numbers():
            return not_yet_imported(self._record, files)
        return files

    def import_files(self, files: Sequence[str]) -> None:
        """Import files."""
        opened = self._screen.project.path
        if self.is_refused():
            return
        # By the name only: to open and close the file of the open project would drop SQLite's locks on it.
        if any(each.endswith(SUFFIX) or Path(each).resolve() == opened.resolve() for each in files):
            refused = "a project cannot be imported: Ctrl+O opens another one"
            self._screen.show_reply(Feedback(refused, problem=True))
            return

        def bring_in(project: Project, listener: ImportListener) -> ImportReport:
            return import_files(project, list(files), listener=listener, at_a_time=AT_A_TIME)

        self._start(", ".join(Path(each).name for each in files), files, bring_in)

    def import_text(self, text: str | None) -> None:
        """Import a pasted text; ``None`` where the person did not want to."""
        if text is not None:
            self._start(
                "the pasted text",
                (),
                lambda project, listener: import_pasted(project, text, listener=listener),
            )

    def _start(
        self,
        name: str,
        files: Sequence[str],
        bring_in: Callable[[Project, ImportListener], ImportReport],
    ) -> None:
        path, bad = self._screen.project.path, list[FormatError]()

        def work(job: Job) -> None:
            def progress(records: int) -> None:
                words = f"importing: {records:,} records so far"
                job.progress(self._show_progress, words, every_seconds=PROGRESS_SECONDS)
                job.breathe()

            def keep_bad(error: FormatError) -> None:
                if len(bad) < MOST_SHOWN:
                    bad.append(error)

            with open_project(path, self._author) as project:
                report = bring_in(project, ImportListener(bad_record=keep_bad, progress=progress))
            job.call(ended, report)

        def ended(report: ImportReport) -> None:
            self._screen.poll_changes()
            self._screen.show_notice(import_feedback(report))
            note_imported(self._record, files)
            remember(self._record)
            self._imported()
            if bad:
                self._screen.dialogs.bad_records(bad, report.bad)

        def failed(error: SciextractError) -> None:
            self._show_failure(f"nothing imported: {error_line(error)}")
            if bad:
                self._screen.dialogs.bad_records(bad, len(bad))

        self._screen.show_notice(Feedback(f"importing {name}"))
        start_job(self._screen, "the import", work, failed, self._screen.show_notice)

    def suggest(self, sources: Sources | Path) -> None:
        """Suggest from lists and models, or from an annotated file; one call that still runs is replaced."""
        if self.is_refused("suggested"):
            return
        path = self._screen.project.path

        def work(job: Job) -> None:
            def progress(done: int, total: int) -> None:
                words = f"suggesting: {done:,} of {total:,} abstracts"
                job.progress(self._show_progress, words)
                job.breathe()

            with open_project(path, self._author) as project:
                if isinstance(sources, Path):
                    report = suggest_from(project, [str(sources)], None)
                else:
                    report = suggest_by(project, sources, progress, AT_A_TIME)
            job.call(ended, report)

        def ended(report: SuggestReport) -> None:
            self._screen.poll_changes()
            self._screen.show_notice(suggest_feedback(report))

        def failed(error: SciextractError) -> None:
            self._show_failure(f"nothing suggested: {error_line(error)}")

        self._screen.show_notice(Feedback("suggesting"))
        show = self._screen.show_notice
        start_job(self._screen, "the suggestions", work, failed, show, exclusive=True)

    def is_refused(self, verb: str = "imported") -> bool:
        """Say that nothing can be imported where the project can only be read."""
        if not self._screen.writable:
            refused = f"nothing {verb}: the project is read-only here"
            self._screen.show_reply(Feedback(refused, problem=True))
        return not self._screen.writable

    def _show_progress(self, words: str) -> None:
        self._screen.poll_changes()
        self._screen.show_notice(Feedback(words), passing=True)

    def _show_failure(self, words: str) -> None:
        self._screen.poll_changes()  # what came in before the failure stays
        self._screen.show_notice(Feedback(words, problem=True))


def import_feedback(report: ImportReport) -> Feedback:
    """The result of an import in words."""
    counts = report.counts
    parts = [counted(counts.documents, "new abstract")]
    if counts.known:
        parts.append(f"{counts.known:,} known already")
    if counts.flagged:
        parts.append(f"{counts.flagged:,} flagged: labels against the schema")
    if report.bad:
        parts.append(f"{report.bad:,} left out")
    return Feedback("; ".join([*parts, *report.notes]))


def suggest_feedback(report: SuggestReport) -> Feedback:
    """What was suggested, in words."""
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
