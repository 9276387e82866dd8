"""A project into a file of any format: whole or not at all, with what the format could not hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import Annotations, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ExitCode, UsageError
from sciextract.formats import open_writer
from sciextract.formats.base import STDIN
from sciextract.formats.registry import FormatSpec, get_format
from sciextract.snapshot.gathering import Augmented
from sciextract.store import Project
from sciextract.store.coverage import find_missing
from sciextract.store.document_state import WITH_UNDECIDED
from sciextract.store.ingest import annotations_of_source
from sciextract.store.maintenance.backup import folder_of
from sciextract.store.queries import latest_predictions
from sciextract.store.rows import IN_VIEW, is_attribute
from sciextract.store.selection import Selection
from sciextract.store.text_versions import stream_former
from sciextract.store.travelling import state_of
from sciextract.workflows.output import check_target, refuse_standard_output, write_whole


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did.

    Attributes:
        format: The format's id.
        output: The file or folder, ``None`` for standard output.
        documents: Documents written; none where a loss is a failure.
        losses: What the format cannot hold, by kind.
        strict: Whether any loss is a failure; then nothing is left at the output.
        from_base: Documents that come from the base of an augmented training set.
        left_out: Documents that this set leaves out, by reason.
        bad: Records of the base that cannot be read.
        undecided: Undecided items that are left out of an export of the current annotations.
        unfinished: Abstracts that are left out of a training format because nobody has finished them.
        uncovered: Abstracts that are left out of it because they were finished before a type of the schema came.
        untouched: Abstracts that nobody has begun, written to a format in which they read as having nothing in them.
    """

    format: str
    output: str | None
    documents: int
    losses: dict[str, int] = field(default_factory=dict)
    strict: bool = False
    from_base: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    bad: int = 0
    undecided: int = 0
    unfinished: int = 0
    uncovered: int = 0
    untouched: int = 0

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or failed by losses where none are allowed."""
        return ExitCode.of(not (self.strict and self.losses), self.bad)


@dataclass(frozen=True, slots=True)
class ExportJob:
    """What to export, and where to.

    Attributes:
        format: The format's id.
        output: File or folder; ``None`` or ``-`` for standard output.
        strict: Whether a loss is a failure.
        undecided: Whether items that nobody has decided are included.
        source: Export the annotations of this source, not the current view.
        force: Whether to replace what is at the output.
        base: Gold that the project's abstracts are added to, for a training set of both.
        predicted: Whether predictions are written next to the current view: those of ``source``, else the
            latest ones of a model; abstracts without predictions are left out.
        everything: Whether a training format holds unfinished abstracts, too.
        former: Whether removed abstracts and earlier texts are written instead of those in the project.
        selection: Which abstracts.
        without_untouched: Whether abstracts that nobody has begun, and that hold nothing, are left out.
    """

    format: str
    output: str | None = None
    strict: bool = False
    undecided: bool = False
    source: str | None = None
    force: bool = False
    base: str | None = None
    predicted: bool = False
    everything: bool = False
    former: bool = False
    selection: Selection = field(default_factory=Selection)
    without_untouched: bool = False

    def check(self, project: Project, inputs: Iterable[str] = ()) -> None:
        """Refuse what cannot be written, before anything is done.

        Args:
            project: What is exported.
            inputs: Files and folders that the output must not replace.

        Raises:
            UsageError: No such format or source, words that do not go together, or the format cannot go to
                standard output.
            OutputError: The output exists, or cannot be written.
            MissingExtraError: The libraries of the format are not installed.
        """
        spec = get_format(self.format, "write")
        spec.load_writer()
        if self.source is not None:
            _find_source(project, self.source)
        if self.base is not None and (self.undecided or self.source is not None):
            problem = "--with-base writes a training set; it cannot be combined with --undecided and --source"
            raise UsageError(problem, "leave them out")
        if self.former and (self.base or self.predicted or self.source or self.undecided):
            problem = "--former writes what held last in abstracts that are gone"
            raise UsageError(problem, "leave out the other choices")
        if not self.selection.is_all and (self.base is not None or self.former):
            problem = "--queue, --keys, --since and --author choose abstracts that are in the project; --with-base takes them all, --former none"
            raise UsageError(problem, "leave them out")
        if self.predicted and "gold" not in spec.options:
            problem = f"--predicted writes predicted_* fields, which {spec.id} does not have"
            raise UsageError(problem, "name --to scierc")
        if self.predicted and (self.undecided or self.base is not None):
            problem = "--predicted writes the current annotations as gold; it cannot be combined with --undecided and --with-base"
            raise UsageError(problem, "leave them out")
        if self.output not in (None, STDIN):
            read = [*inputs, *([] if self.base is None else [self.base])]
            kept = [project.path, folder_of(project.path), *map(Path, read)]
            check_target(Path(str(self.output)), force=self.force, kept=kept)
        else:
            refuse_standard_output(spec, "--to")

    def run(self, project: Project) -> ExportReport:
        """Export all documents of a project, in constant memory.

        Raises:
            SciextractError: It is refused: see :meth:`check`.
            OutputError: The output cannot be written.
        """
        self.check(project)
        spec = get_format(self.format, "write")
        count = len(project.numbers()) if self._only_finished(spec) else 0
        if count and next(finished_numbers(project), None) is None:
            raise none_finished(project, f"{spec.id} is a training format")
        return write_whole(
            self.output, self.strict, lambda place: self._write(spec, place, project)
        )

    def _write(self, spec: FormatSpec, destination: Any, project: Project) -> ExportReport:
        source = None if self.source is None else _find_source(project, self.source)
        training = None if self.base is None else Augmented(project, self.base)
        numbers = self.selection.numbers(project)
        finished, written = self._only_finished(spec), numbers
        if finished:
            complete = {*finished_numbers(project)}
            written = [number for number in numbers if number in complete]
        gold = deque[Annotations](maxlen=1)
        if self.former:
            documents = stream_former(project)
        elif training:
            documents = training.documents()
        elif self.predicted:
            documents = _read_predicted(project, source, numbers, gold)
        elif source is not None:
            documents = _of_source(project, source, numbers)
        else:
            states = WITH_UNDECIDED if self.undecided else IN_VIEW
            documents = _current(project, written, states, "project_state" in spec.options)
        options: dict[str, Any] = {"schema": project.schema} if "schema" in spec.options else {}
        if self.predicted:
            options["gold"] = gold.pop
        writer, count, untouched = open_writer(spec.id, destination, **options), 0, 0
        for document in documents:
            holds_nothing = document.done is None and not document.annotations.entities
            is_untouched = spec.empty_is_none and holds_nothing
            untouched += is_untouched
            if not (is_untouched and self.without_untouched):
                writer.write(document)
                count += 1
        writer.close()
        skipped = untouched if self.without_untouched else 0
        # What was left out is known only now: the generators count on their way.
        losses, left_out = dict(writer.losses), {}
        if training is not None:
            losses |= training.losses
            left_out = dict(training.left_out)
        elif self.predicted and (missing := len(numbers) - count - skipped):
            left_out = {"no model has predicted them": missing}
        chosen = training or self.predicted or self.undecided or self.former or source is not None
        from_base, bad = (training.from_base, training.bad) if training else (0, 0)
        undecided = 0 if chosen else project.undecided_items(numbers)
        uncovered = len({*numbers}.intersection(uncovered_numbers(project))) if finished else 0
        unfinished = len(numbers) - count - uncovered if finished else 0
        if skipped:
            left_out, untouched = {**left_out, "untouched": skipped}, 0
        report = ExportReport(
            self.format, self.output, count, losses, self.strict, from_base, left_out, bad,
            undecided, unfinished, uncovered, untouched,
        )  # fmt: skip
        return replace(report, documents=0) if report.exit_code is ExitCode.FAILED else report

    def _only_finished(self, spec: FormatSpec) -> bool:
        """Whether a tool that is trained on the output would learn that unfinished abstracts hold nothing."""
        chosen = self.everything or self.undecided or self.predicted or self.former
        return spec.training and not chosen and self.source is None and self.base is None


def _read_predicted(
    project: Project, source_id: int | None, numbers: Iterable[int], gold: deque[Annotations]
) -> Iterator[AnnotatedDocument]:
    """The abstracts with a source's predictions, the latest of a model when ``None``; their current view waits in ``gold``."""
    for number in numbers:
        if source_id is None:
            found = latest_predictions(project.connection, number)
        else:
            found = annotations_of_source(project.connection, number, source_id)
        if found is not None:
            view = project.document(number, IN_VIEW)
            gold.append(view.annotations)
            yield AnnotatedDocument(view.document, found)


def finished_numbers(project: Project) -> Iterator[int]:
    """Abstracts that a person has finished, or that came with annotations; nothing waits in them.

    Those that were finished before a type of the schema came are left out: they would say that it is absent.
    """
    waiting, lacking = set(project.documents_with_undecided()), set(uncovered_numbers(project))
    for number in project.numbers():
        document = project.document(number)
        has_gold = bool(document.annotations.entities) and number not in waiting
        is_done = has_gold if document.done is None else document.done
        if is_done and number not in lacking:
            yield number


def uncovered_numbers(project: Project) -> list[int]:
    """Abstracts with a done layer in which nobody has looked for some type of the schema."""
    missing = find_missing(project.connection, project.schema)
    types = (numbers for (_, label), numbers in missing.items() if not is_attribute(label))
    return sorted({number for numbers in types for number in numbers})


def none_finished(project: Project, words: str) -> UsageError:
    """The error where finished abstracts are asked for, and why there are none."""
    words += f", and none of the {len(project.numbers()):,} abstracts is finished"
    hint = "mark abstracts as done: D in sciextract tui"
    if missing := len(uncovered_numbers(project)):
        words += f" in all types ({missing:,} before a type came)"
        hint = "sciextract status names the type, sciextract queue make --missing TYPE queues them"
    return UsageError(words, f"{hint}; or --all writes unfinished abstracts, too")


def _current(
    project: Project, numbers: Iterable[int], states: frozenset[State], with_state: bool
) -> Iterator[AnnotatedDocument]:
    for number in numbers:
        document = project.document(number, states)
        state = state_of(project, number, states) if with_state else None
        yield replace(document, project_state=state)


def _of_source(
    project: Project, source_id: int, numbers: Iterable[int]
) -> Iterator[AnnotatedDocument]:
    for number in numbers:
        annotations = annotations_of_source(project.connection, number, source_id)
        document = project.document_state(number).stored.document
        # Of another project it is known what was rejected there.
        kept = (annotations or Annotations()).in_states(frozenset(State) - {State.REJECTED})
        yield AnnotatedDocument(document, kept)


def _find_source(project: Project, name: str) -> int:
    """The number of a source by its name, or by the beginning of it where that is unique.

    Raises:
        UsageError: No source is called so, or several are; lists them.
    """
    query = "SELECT DISTINCT s.id, s.name FROM annotation_set a JOIN source s ON s.id = a.source_id"
    known = {found: number for number, found in project.connection.execute(query)}
    fitting = [found for found in known if found == name] or [
        found for found in known if found.startswith(name)
    ]
    if len(fitting) == 1:
        return int(known[fitting[0]])
    problem = "several sources begin with" if fitting else "no source is called"
    listed = ", ".join(sorted(fitting or known)) or "none"
    raise UsageError(f"{problem} {name!r}", f"sources: {listed}")
