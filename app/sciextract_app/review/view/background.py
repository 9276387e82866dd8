"""Work of the review beside the keys: imports, suggestions and bulk decisions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract.errors import FormatError, SciextractError
from sciextract.resources import SUFFIX
from sciextract.store import Outcome, Project, open_project
from sciextract.store.actions.bulk import Count, counting, spreading
from sciextract.text.english import counted
from sciextract.workflows.import_files import ImportListener, ImportReport, import_files
from sciextract.workflows.pasted import import_pasted
from sciextract.workflows.suggest import Sources, SuggestReport, suggest_by, suggest_from
from sciextract_app.opening import Remembered, not_yet_imported, note_imported, remember
from sciextract_app.review.keys import bulk
from sciextract_app.review.model.bulk_decision import BulkDecision
from sciextract_app.shared.actions import key_of, undo_hint
from sciextract_app.shared.jobs import BREATH_SECONDS, Job, error_line
from sciextract_app.shared.view_models import Feedback, Mode, problem

if TYPE_CHECKING:
    from sciextract_app.review.view.screen import ReviewScreen


MOST_SHOWN = 200
"""Bad records that are kept for the dialog; the others are only counted."""
# Abstracts in a transaction: a key that decides something waits for it, so it is short.
AT_A_TIME = 25


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
        if any(file.endswith(SUFFIX) or Path(file).resolve() == opened.resolve() for file in files):
            refused = f"a project cannot be imported: {key_of('app.open')} opens another one"
            self._screen.show_reply(problem(refused))
            return

        def bring_in(project: Project, listener: ImportListener) -> ImportReport:
            return import_files(project, list(files), listener=listener, at_a_time=AT_A_TIME)

        self._start(", ".join(Path(file).name for file in files), files, bring_in)

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
        remarks = Counter[str]()

        def work(job: Job) -> None:
            def progress(records: int) -> None:
                words = Feedback(f"importing: {records:,} records so far")
                job.progress(self._show, words, True)
                job.breathe()

            def keep_bad(error: FormatError) -> None:
                if len(bad) < MOST_SHOWN:
                    bad.append(error)

            with open_project(path, self._author) as project:
                listener = ImportListener(
                    bad_record=keep_bad,
                    warned=lambda key, found: remarks.update(found),
                    progress=progress,
                )
                report = bring_in(project, listener)
            job.call(tell_imported, report)

        def tell_imported(report: ImportReport) -> None:
            self._show(import_feedback(report, remarks))
            note_imported(self._record, files)
            remember(self._record)
            self._imported()
            if bad:
                self._screen.dialogs.bad_records(bad, report.bad)

        def show_error(error: SciextractError) -> None:
            self._show(problem(f"nothing imported: {error_line(error)}"))
            if bad:
                self._screen.dialogs.bad_records(bad, len(bad))

        self._screen.show_notice(Feedback(f"importing {name}"))
        self._screen.run_job("the import", work, show_error)

    def suggest(self, sources: Sources | Path) -> None:
        """Suggest from lists and models, or from an annotated file; one call that still runs is replaced."""
        if self.is_refused("suggested"):
            return
        path = self._screen.project.path

        def work(job: Job) -> None:
            def progress(done: int, total: int) -> None:
                words = Feedback(f"suggesting: {done:,} of {total:,} abstracts")
                job.progress(self._show, words, True)
                job.breathe()

            with open_project(path, self._author) as project:
                if isinstance(sources, Path):
                    report = suggest_from(project, [str(sources)], None)
                else:
                    report = suggest_by(project, sources, progress, AT_A_TIME)
            job.call(self._show, suggest_feedback(report))

        def show_error(error: SciextractError) -> None:
            self._show(problem(f"nothing suggested: {error_line(error)}"))

        self._screen.show_notice(Feedback("suggesting"))
        self._screen.run_job("the suggestions", work, show_error, exclusive=True)

    def is_refused(self, verb: str = "imported") -> bool:
        """Say that nothing can be imported where the project can only be read."""
        if not self._screen.writable:
            self._screen.show_reply(problem(f"nothing {verb}: the project is read-only here"))
        return not self._screen.writable

    def _show(self, feedback: Feedback, passing: bool = False) -> None:
        """Show how far it is with what has come in; what came in before a failure stays."""
        self._screen.poll_changes()
        self._screen.show_notice(feedback, passing=passing)


def import_feedback(report: ImportReport, remarks: Counter[str]) -> Feedback:
    """The result of an import in words, with the remarks about abstracts that came most often."""
    counts = report.counts
    parts = [counted(counts.documents, "new abstract")]
    if counts.known:
        parts.append(f"{counts.known:,} known already")
    parts += report.papers
    if counts.flagged:
        parts.append(f"{counts.flagged:,} flagged: labels against the schema")
    if report.bad:
        parts.append(f"{report.bad:,} left out")
    if report.differing:
        differing = counted(report.differing, "abstract")
        parts.append(f"{differing} differ from what was decided here: sciextract import lists them")
    shown = [f"{counted(count, 'abstract')}: {remark}" for remark, count in remarks.most_common(2)]
    if len(remarks) > len(shown):
        shown.append(f"{len(remarks) - len(shown):,} more kinds of remarks")
    return Feedback("; ".join([*parts, *report.notes, *shown]))


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
        parts.append(undo_hint("them"))
    return Feedback("; ".join(parts))


_GONE = "the abstract is not in the project any more"


class BulkWork:
    """Counts one decision in the whole project and does it, while the person continues.

    Args:
        screen: The review screen.
    """

    NAME = "the decision for the whole project"

    def __init__(self, screen: ReviewScreen) -> None:
        self._screen = screen
        self._reply: Feedback | None = None
        """The reply to the key that began it: cleared as soon as there is news of it."""

    def request(self, request: str) -> None:
        """Do what the presenter asks for: count, do, or stop."""
        screen, decision = self._screen, self._screen.desk.bulk.pending
        self._reply = screen.messages.answer
        if request == bulk.STOP or decision is None:
            screen.cancel_jobs(self.NAME)
            return
        path, count = screen.project.path, decision.count
        author = screen.project.author.removeprefix("person:")

        def count_changes(job: Job) -> None:
            found = None
            with open_project(path, author) as project:
                for found in counting(project, decision.number, decision.entity_id):
                    if job.is_cancelled:
                        return
                    self._report(job, decision, found.looked, found.total)
            if found is not None:
                job.call(self._show_question, decision, found)

        def decide(job: Job, count: Count) -> None:
            outcome, total = Outcome(None, 0, 0), len(count.numbers)
            with open_project(path, author) as project:
                for outcome in spreading(project, decision.number, decision.entity_id, count):
                    if outcome.documents < total and job.is_cancelled:
                        # Whoever stops it has said so: what is done is one event, which u takes back.
                        job.call(self._show_end, decision, outcome, stopped=True)
                        return
                    self._report(job, decision, outcome.documents, total)
                    time.sleep(BREATH_SECONDS)
            job.call(self._show_end, decision, outcome)

        if request == bulk.COUNT:
            self._start(decision, count_changes)
        elif count is not None:
            self._start(decision, lambda job: decide(job, count))

    def _start(self, decision: BulkDecision, work: Callable[[Job], object]) -> None:
        def run(job: Job) -> None:
            try:
                work(job)
            except KeyError:
                job.call(lambda: self._show_failure(decision, _GONE))

        def show_error(error: SciextractError) -> None:
            self._show_failure(decision, error_line(error))

        self._screen.run_job(self.NAME, run, show_error, exclusive=True)

    def _report(self, job: Job, decision: BulkDecision, done: int, total: int) -> None:
        job.progress(self._show_progress, decision, done, total)

    def _show_progress(self, decision: BulkDecision, done: int, total: int) -> None:
        progress = self._screen.desk.bulk.progress(decision, done, total)
        if progress.message:
            self._clear_reply()
            self._screen.show_notice(progress, passing=True)

    def _show_question(self, decision: BulkDecision, count: Count) -> None:
        """The question that a person waits for is the reply to their key; else it is news."""
        question = self._screen.desk.bulk.ask(decision, count)
        self._show(question, reply=self._screen.desk.mode is Mode.CONFIRM)

    def _show_end(self, decision: BulkDecision, outcome: Outcome, stopped: bool = False) -> None:
        self._screen.poll_changes()
        self._show(self._screen.desk.bulk.end(decision, outcome, stopped))

    def _show_failure(self, decision: BulkDecision, why: str) -> None:
        self._screen.poll_changes()
        self._show(self._screen.desk.bulk.fail(decision, why))

    def _show(self, feedback: Feedback, reply: bool = False) -> None:
        if not feedback.message:
            return
        self._screen.messages.over()
        self._clear_reply()
        self._screen.draw(rows=feedback.changed)
        if reply:
            self._screen.show_reply(feedback)
            self._screen.dialogs.open(feedback.request)
        else:
            self._screen.show_notice(feedback)

    def _clear_reply(self) -> None:
        if self._screen.messages.answer is self._reply:
            self._screen.show_reply(Feedback())
