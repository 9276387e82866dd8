"""What a person sees of an ``annotate`` run or an import: problems, warnings, the progress line, the summary, and the readable view of the documents."""

from __future__ import annotations

import csv
import io
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from sciextract.cli.console import Screen, colours_wanted
from sciextract.errors import FormatError, SciextractError, as_command
from sciextract.formats.base import Source
from sciextract.formats.inputs import recognise_source, sources_below
from sciextract.formats.opening import open_bytes
from sciextract.formats.registry import has_suffix
from sciextract.text.characters import bracketed, visible
from sciextract.text.english import counted
from sciextract.workflows.annotate import Listener, RecordProblem, RunCounts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sciextract.documents.document import AnnotatedDocument
    from sciextract.documents.schema import LabelSchema
    from sciextract.inference.promise import Promise
    from sciextract.workflows.annotate_job import ProjectReport, Report, Target
    from sciextract.workflows.import_files import ImportListener


def describe_interruption(target: Target, documents: int) -> tuple[str, str]:
    """What was done before Ctrl-C, and how to continue."""
    if target.path is None:
        return f"interrupted after {counted(documents, 'abstract')}", ""
    return (
        f"interrupted; {target.path} ends with a complete line, {documents} of them from this run",
        "to resume, repeat the command with --resume" + (" instead of --force" * target.force),
    )


def describe_promise(promise: Promise) -> Iterator[str]:
    """What is promised, and what is not."""
    wanted = ", ".join(f"{task} {value:g}" for task, value in promise.wanted.items())
    yield f"precision of at least {wanted}, with confidence {promise.confidence:g}; chosen on {promise.source}"
    for label in promise.labels:
        name = f"{label.task} {label.label}"
        if label.threshold is not None:
            yield f"{name}: scores from {label.threshold:.2f}; held-out precision {label.precision:.2f}, recall {label.recall:.2f}{label.by_itself()}"
        elif label.further is not None:
            yield f"{name}: cannot be promised and is not written; it takes about {label.further} more abstracts"
        else:
            yield f"{name}: cannot be promised and is not written; too few held-out items, or too often wrong ({label.precision:.2f} right of all)"


def describe_run(report: Report) -> str:
    counts, (bad, quarantined) = report.counts, report.left_out
    words = (
        f"{counted(counts.documents, 'abstract')}: {counted(counts.entities, 'entity', 'entities')}"
    )
    words += f", {counted(counts.relations, 'relation')}, {counted(counts.clusters, 'cluster')}"
    words += f"; {report.seconds:.1f} s, {report.model}"
    if report.resumed:
        words += f"; {report.resumed} were done before"
    if bad:
        words += f"; {counted(bad, 'bad record')} left out"
    words += _held_back(counts.held_back)
    if quarantined:
        kept = f": {report.quarantine}" if report.quarantine else ""
        words += f"; {quarantined} quarantined{kept}"
    return words + "".join(
        f"; {report.export} cannot hold {kind}: {count}" for kind, count in report.losses.items()
    )


def _held_back(items: Mapping[str, int]) -> str:
    """How many items a promise left out, by label; nothing where it left none."""
    if not items:
        return ""
    by_label = ", ".join(f"{name} {count:,}" for name, count in sorted(items.items()))
    return f"; {counted(sum(items.values()), 'item')} held back ({by_label})"


def describe_project(done: ProjectReport) -> str:
    words = ""
    if done.imported is not None:
        new = counted(done.imported.counts.documents, "new abstract")
        words = f"{'; '.join([new, *done.imported.papers])}; "
        if done.imported.bad:
            words += f"{counted(done.imported.bad, 'bad record')} left out; "
    words += f"{counted(done.predicted.documents, 'abstract')} predicted by {done.predicted.model}"
    if done.predicted.skipped:
        words += f", {done.predicted.skipped:,} did not need it"
    words += _held_back(done.predicted.held_back)
    if done.exported is None:
        project = as_command("--project", done.project)
        return f"{words}; next: sciextract export, or sciextract status, {project}"
    words += f"; {counted(done.exported.documents, 'abstract')} exported"
    for kind, count in done.exported.losses.items():
        words += f"; {done.exported.format} cannot hold {kind}: {count}"
    return words


def count_records(paths: Sequence[str], format_id: str | None = None) -> int | None:
    """Records in files and folders, patterns expanded; ``None`` when a source has no end or no countable format.

    Bad records count, too; blank lines of JSONL are taken for records.
    """
    total = 0
    try:
        for path in paths:
            if not os.path.isfile(path) and not os.path.isdir(path):
                return None
            left_out, files = sources_below(path, format_id)
            counts = [_count_file(file, format_id) for file in files]
            total += left_out + sum(counts)
    except (OSError, ValueError, csv.Error, SciextractError):
        return None
    return total


def _count_file(file: str, format_id: str | None) -> int:
    """Records of a file.

    Raises:
        ValueError: Its format is not counted.
    """
    if has_suffix(file, (".zip",)):
        raise ValueError(file)
    try:
        name = format_id or recognise_source(Source(file))[1].id
    except FormatError:
        return 1  # a bad record
    if name == "text":
        return 1
    if name in ("jsonl", "scierc"):
        return sum(1 for _ in Source(file).lines())
    if name not in ("csv", "tsv"):
        raise ValueError(name)
    with open_bytes(file) as stream:
        # Not lines: a field in quotes may go on over several.
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        return max(0, sum(1 for row in csv.reader(text) if row) - 1)


_KINDS = {"bad": "Bad record", "quarantined": "Quarantined"}


class RunScreen(Screen, Listener):
    """Messages and the progress line of a run.

    Args:
        inputs: What is read, patterns expanded, to know how much is left.
        input_format: Its format, when it was named.
        progress: Whether to draw a progress line.

    Attributes:
        documents: Documents written so far.
    """

    def __init__(self, inputs: list[str], input_format: str | None, *, progress: bool) -> None:
        super().__init__(progress, "see `warnings` in --to jsonl")
        self.documents = 0
        self._before = 0
        self._done = 0
        self._total: int | None = None
        if progress:
            # In the background, so that the first result does not wait until a large folder is counted.
            threading.Thread(target=self._count, args=(inputs, input_format), daemon=True).start()

    def _count(self, inputs: list[str], input_format: str | None) -> None:
        self._total = count_records(inputs, input_format)

    def note(self, message: str) -> None:
        self.say("Note", message)

    def problem(self, problem: RecordProblem) -> None:
        self.say(_KINDS[problem.kind], problem.message, problem.hint)

    def before(self, records: int) -> None:
        """Count them as done, without having taken time."""
        self._before = records
        self.under_way(0)

    def done(self, counts: RunCounts, warned: int, warnings: Sequence[str]) -> None:
        """Say the warnings of the first few documents, and count."""
        self.documents, self._done = counts.documents, counts.records
        self.warn(warned, warnings)
        self.under_way(0)

    def under_way(self, records: int) -> None:
        """Draw how many records are done, those on their way into a part among them."""
        done = self._before + self._done + records
        self.line.update(done, self._total, skipped=self._before)


class ImportScreen(Screen):
    """Messages and the progress line of an import or a conversion.

    Args:
        shown: Whether to draw a progress line.
        more: Where the warnings that were not shown can be found.
    """

    def __init__(
        self, shown: bool, more: str = "sciextract search --flagged lists what was flagged"
    ) -> None:
        super().__init__(shown, more)

    def listener(self) -> ImportListener:
        """The functions that an import calls."""
        from sciextract.workflows.import_files import ImportListener

        either = "--fields gold or --fields predicted decides which are imported"
        return ImportListener(
            bad_record=lambda error: self.say("Bad record", error.message, error.hint),
            warned=lambda key, found: self.warn(1, [f"{key!r}: {'; '.join(found)}"]),
            progress=self.line.update,
            note=lambda note: self.say("", note, either),
        )


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
        # Rich writes to a page of its own: the stream sees whole documents, and answers for a closed pipe.
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
        annotations = document.annotations
        marked = Text()
        shown = visible(document.document.text, keep="\n")
        for piece, label in bracketed(shown, annotations.entities):
            marked.append(piece, self._styles.get(label, ""))
        yield from self._wrap(marked, " " * _INDENT)
        relations = []
        for relation in annotations.relations:
            start = "<-" if relation.label in self._symmetric else "-"
            arrow = f" {start}{visible(relation.label)}-> "
            line = self._mention(document, relation.head)
            line.append(arrow, self._styles.get(relation.label, ""))
            line.append_text(self._mention(document, relation.tail))
            relations.append((relation.score, line))
        yield from self._section("Relations", relations)
        clusters = []
        for cluster in annotations.clusters:
            mentions = [self._mention(document, mention) for mention in cluster.mentions]
            clusters.append((cluster.score, Text(" = ").join(mentions)))
        yield from self._section("Same thing", clusters)
        if not annotations.entities:
            yield Text("  nothing found", style="italic")
        yield Text()

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
            yield from self._wrap(row, first, " " * len(first))

    def _wrap(self, text: Text, first: str, later: str | None = None) -> Iterator[Text]:
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
    # Fixed now: later its file is a page in memory, which has no width.
    console.width, console.height = console.size
    return console


def _styles(schema: LabelSchema | None) -> dict[str, str]:
    if schema is None:
        return {}
    relations = {relation.label: f"bold {relation.colour}" for relation in schema.relations}
    return relations | {entity.label: f"bold {entity.colour}" for entity in schema.entities}
