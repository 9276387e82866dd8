"""What a person sees of an ``annotate`` run: problems, warnings, the progress line, the summary, and the readable view of the documents."""

from __future__ import annotations

import csv
import io
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from sciextract.cli.console import ProgressLine, colours_wanted, say
from sciextract.errors import InputMissingError, SciextractError, as_command
from sciextract.formats.base import leads_outside
from sciextract.formats.inputs import expand_inputs, results_in
from sciextract.formats.packing import open_bytes, unpacked_name
from sciextract.formats.registry import has_suffix, readable, recognise
from sciextract.text.characters import bracketed, visible
from sciextract.text.english import counted
from sciextract.workflows.annotate import Listener, RecordProblem, RunCounts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sciextract.documents.annotations import Relation
    from sciextract.documents.document import AnnotatedDocument
    from sciextract.documents.schema import LabelSchema
    from sciextract.inference.promise import Promise
    from sciextract.workflows.annotate_job import ProjectReport, Report, Target


def interrupted(target: Target, documents: int) -> tuple[str, str]:
    """What was done before Ctrl-C, and how to continue."""
    if target.path is None:
        return f"interrupted after {counted(documents, 'abstract')}", ""
    return (
        f"interrupted; {target.path} ends with a complete line, {documents} of them from this run",
        "to resume, repeat the command with --resume" + (" instead of --force" * target.force),
    )


def promise_in_words(promise: Promise) -> Iterator[str]:
    """What is promised of each label, and what is not."""
    wanted = ", ".join(f"{task} {value:g}" for task, value in promise.wanted.items())
    yield f"precision of at least {wanted}, each label with confidence {promise.confidence:g}; chosen on {promise.source}"
    for each in promise.labels:
        name = f"{each.task} {each.label}"
        if each.threshold is not None:
            yield f"{name}: scores from {each.threshold:.2f}; held-out precision {each.precision:.2f}, recall {each.recall:.2f}"
        elif each.further is not None:
            yield f"{name}: cannot be promised and is not written; it takes about {each.further} more abstracts"
        else:
            yield f"{name}: cannot be promised and is not written; too few held-out items, or too often wrong ({each.precision:.2f} right of all)"


def in_words(report: Report) -> str:
    """The summary of a run."""
    counts, (bad, quarantined) = report.counts, report.left_out
    predicted = ", ".join(
        [
            counted(counts.entities, "entity", "entities"),
            counted(counts.relations, "relation"),
            counted(counts.clusters, "cluster"),
        ]
    )
    words = f"{counted(counts.documents, 'abstract')}: {predicted}; {report.seconds:.1f} s, {report.model}"
    if report.resumed:
        words += f"; {report.resumed} were done before"
    if bad:
        words += f"; {counted(bad, 'bad record')} left out"
    if quarantined:
        kept = f": {report.quarantine}" if report.quarantine else ""
        words += f"; {quarantined} quarantined{kept}"
    return words + "".join(
        f"; {report.export} cannot hold {kind}: {count}" for kind, count in report.losses.items()
    )


def project_in_words(done: ProjectReport) -> str:
    """The summary of a run on a project."""
    words = ""
    if done.imported is not None:
        words = f"{counted(done.imported.counts.documents, 'new abstract')}; "
        if done.imported.bad:
            words += f"{counted(done.imported.bad, 'bad record')} left out; "
    words += f"{counted(done.predicted.documents, 'abstract')} predicted by {done.predicted.model}"
    if done.predicted.skipped:
        words += f", {done.predicted.skipped:,} did not need it"
    if done.exported is None:
        project = as_command("--project", done.project)
        return f"{words}; next: sciextract export, or sciextract status, {project}"
    words += f"; {counted(done.exported.documents, 'abstract')} exported"
    for kind, count in done.exported.losses.items():
        words += f"; {done.exported.format} cannot hold {kind}: {count}"
    return words


_BLOCK_BYTES = 1 << 20
_FIRST_LINES = 20


class TotalCounter:
    """Counts in the background, so that the first result does not wait for it.

    Attributes:
        total: Records of all inputs; ``None`` until they are counted, and where they cannot be.
    """

    def __init__(self, paths: Sequence[str], format_id: str | None) -> None:
        self.total: int | None = None
        self._paths = paths
        self._format = format_id

    def start(self) -> threading.Thread:
        """Begin to count."""
        thread = threading.Thread(target=self._count, daemon=True)
        thread.start()
        return thread

    def _count(self) -> None:
        self.total = count_records(self._paths, self._format)


def count_records(paths: Sequence[str], format_id: str | None = None) -> int | None:
    """Records in files and folders; ``None`` when a source has no end or no countable format.

    Bad records count, too; blank lines of JSONL are taken for records.
    """
    total = 0
    try:
        expanded = expand_inputs(paths)
    except InputMissingError:
        return None
    for path in expanded:
        if not os.path.isfile(path) and not os.path.isdir(path):
            return None
        for file in _files(path):
            try:
                count = _records_in(file, format_id)
            except (OSError, csv.Error, SciextractError):
                return None
            if count is None:
                return None
            total += count
    return total


def _files(path: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    suffixes = [suffix for spec in readable() for suffix in spec.suffixes]
    for parent, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        wanted = (
            name
            for name in results_in(names)
            if not name.startswith(".") and has_suffix(unpacked_name(name), suffixes)
        )
        files = (os.path.join(parent, name) for name in wanted)
        yield from (file for file in files if not leads_outside(file, path))


def _records_in(file: str, format_id: str | None) -> int | None:
    if has_suffix(file, (".zip",)):
        return None
    format_name = format_id or recognise(unpacked_name(file), _first_line(file)).id
    if format_name == "text":
        return 1
    if format_name in ("jsonl", "scierc"):
        return _lines_in(file)
    if format_name in ("csv", "tsv"):
        return _rows_in(file)
    return None


def _first_line(file: str) -> str:
    with open_bytes(file) as stream:
        lines = (stream.readline(_BLOCK_BYTES) for _ in range(_FIRST_LINES))
        first = next((line for line in lines if line.strip()), b"")
    return first.decode("utf-8-sig", "replace")


def _lines_in(file: str) -> int:
    count, last = 0, b"\n"
    with open_bytes(file) as stream:
        while block := stream.read(_BLOCK_BYTES):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def _rows_in(file: str) -> int:
    with (
        open_bytes(file) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", errors="replace", newline="") as stream,
    ):
        rows = sum(1 for row in csv.reader(stream) if row)
    return max(0, rows - 1)


_MOST_WARNINGS = 5


_KINDS = {"bad": "Bad record", "quarantined": "Quarantined"}


class RunScreen(Listener):
    """Messages and the progress line of a run.

    Args:
        inputs: What is read, to know how much is left.
        input_format: Its format, when it was named.
        progress: Whether to draw a progress line.

    Attributes:
        documents: Documents written so far.
    """

    def __init__(self, inputs: list[str], input_format: str | None, *, progress: bool) -> None:
        self.documents = 0
        self._before = 0
        self._done = 0
        self._warned = 0
        self._shown = 0
        self._counter = TotalCounter(inputs, input_format)
        self._progress = ProgressLine(progress)
        if progress:
            self._counter.start()

    def note(self, message: str) -> None:
        """Say it."""
        self._show("Note", message)

    def problem(self, problem: RecordProblem) -> None:
        """Say which record is left out and why."""
        self._show(_KINDS[problem.kind], problem.message, problem.hint)

    def before(self, records: int) -> None:
        """Count them as done, without having taken time."""
        self._before = records
        self.under_way(0)

    def done(self, counts: RunCounts, warned: int, warnings: Sequence[str]) -> None:
        """Say the warnings of the first few documents, and count."""
        self.documents = counts.documents
        self._warned += warned
        for warning in warnings[: _MOST_WARNINGS - self._shown]:
            self._shown += 1
            self._show("Warning", warning)
        self._done = counts.records
        self.under_way(0)

    def under_way(self, records: int) -> None:
        """Draw how many records are done, those on their way into a part among them."""
        done = self._before + self._done + records
        self._progress.update(done, self._counter.total, skipped=self._before)

    def end(self) -> None:
        """Clear the progress line and say how many warnings were not shown."""
        self._progress.clear()
        more, self._warned, self._shown = self._warned - self._shown, 0, 0
        if more > 0:
            self._show("Warning", f"{more} more with warnings; see `warnings` in --to jsonl")

    def _show(self, kind: str, message: str, hint: str = "") -> None:
        """Say something above the progress line."""
        self._progress.clear()
        say(kind, message, hint)


_INDENT = 2
_SCORE_COLUMNS = 6
_NARROWEST = 20


class ViewWriter:
    """Writes documents in a readable form; a mention reads ``[beam search|Method]``, coloured where possible.

    Args:
        stream: Where the lines go.
        schema: Colours of the labels and relations without direction; plain when ``None``.

    Attributes:
        losses: Stays empty.
    """

    def __init__(self, stream: TextIO, schema: LabelSchema | None) -> None:
        self.losses: Counter[str] = Counter()
        self._stream = stream
        self._console = _console()
        self._styles = _styles(schema)
        self._symmetric = schema.symmetric_labels if schema else frozenset()

    def write(self, document: AnnotatedDocument) -> None:
        """Append one document."""
        page = io.StringIO()
        self._console.file = page
        for line in self._lines(document):
            self._console.print(line, soft_wrap=True)
        self._stream.write(page.getvalue())

    def close(self) -> None:
        """Nothing is left to do: every document is written at once."""

    def _lines(self, document: AnnotatedDocument) -> Iterator[Text]:
        from rich.text import Text

        yield Text(visible(document.document.doc_key), style="bold reverse")
        yield from self._wrapped(self._marked_text(document), " " * _INDENT)
        yield from self._section("Relations", self._relations(document))
        yield from self._section("Same thing", self._clusters(document))
        if not document.annotations.entities:
            yield Text("  nothing found", style="italic")
        yield Text()

    def _marked_text(self, document: AnnotatedDocument) -> Text:
        from rich.text import Text

        shown = visible(document.document.text, keep="\n")
        marked = Text()
        for piece, label in bracketed(shown, document.annotations.entities):
            marked.append(piece, self._styles.get(label, ""))
        return marked

    def _relations(self, document: AnnotatedDocument) -> Iterator[tuple[float | None, Text]]:
        from rich.text import Text

        for relation in document.annotations.relations:
            line = Text()
            line.append_text(self._mention(document, relation.head))
            line.append(f" {self._arrow(relation)} ", self._styles.get(relation.label, ""))
            line.append_text(self._mention(document, relation.tail))
            yield relation.score, line

    def _arrow(self, relation: Relation) -> str:
        start = "<-" if relation.label in self._symmetric else "-"
        return f"{start}{visible(relation.label)}->"

    def _clusters(self, document: AnnotatedDocument) -> Iterator[tuple[float | None, Text]]:
        from rich.text import Text

        for cluster in document.annotations.clusters:
            mentions = [self._mention(document, mention) for mention in cluster.mentions]
            yield cluster.score, Text(" = ").join(mentions)

    def _mention(self, document: AnnotatedDocument, entity_id: str) -> Text:
        from rich.text import Text

        entity = document.annotations.entity(entity_id)
        words = visible(entity.text_of(document.document.text))
        return Text(words, style=self._styles.get(entity.label, ""))

    def _section(self, title: str, rows: Iterable[tuple[float | None, Text]]) -> Iterator[Text]:
        from rich.text import Text

        for number, (score, row) in enumerate(rows):
            if number == 0:
                yield Text(f"  {title}", style="bold")
            shown = "" if score is None else f"{score:.2f}"
            first = shown.rjust(_INDENT + _SCORE_COLUMNS) + "  "
            yield from self._wrapped(row, first, " " * len(first))

    def _wrapped(self, text: Text, first: str, later: str | None = None) -> Iterator[Text]:
        from rich.text import Text

        width = max(_NARROWEST, self._console.width - len(first))
        start = first
        for line in text.wrap(self._console, width):
            line.rstrip()
            yield Text(start).append_text(line) if line else Text()
            start = first if later is None else later


def _console() -> Console:
    """A console that knows standard output but never writes there: Rich answers closed pipes its own way."""
    from rich.console import Console

    console = Console(
        file=sys.stdout, color_system="auto" if colours_wanted() else None, highlight=False
    )
    console.width, console.height = console.size
    return console


def _styles(schema: LabelSchema | None) -> dict[str, str]:
    if schema is None:
        return {}
    relations = {each.label: f"bold {each.colour}" for each in schema.relations}
    return relations | {each.label: f"bold {each.colour}" for each in schema.entities}
