"""Files into a project: read, held against the schema, written in transactions of many documents."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from sciextract.documents.annotations import Annotations, Cluster, Entity, Layer, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.papers import PaperIndex
from sciextract.documents.schema import LabelSchema, validate_annotations
from sciextract.documents.schema_file import is_label
from sciextract.errors import ExitCode, FormatError, SchemaError, UsageError, as_command
from sciextract.formats import read
from sciextract.formats.base import STDIN, BadRecord, FieldChoice, ReadItem, Side
from sciextract.formats.inputs import expand_inputs
from sciextract.store import Project
from sciextract.store.documents import known_papers
from sciextract.store.ingest import BATCH, Import, ImportCounts
from sciextract.store.known_texts import KnownTexts
from sciextract.store.project_settings import with_labels
from sciextract.store.text_versions import removed_numbers
from sciextract.store.travelling import with_former_names
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.workflows.corrections import Corrections

_PREDICTED = "#predicted"
_SHOWN = 5
"""Differences of a file that are listed."""
_Item = TypeVar("_Item", Entity, Relation, Cluster)


def read_layers(words: str) -> tuple[Layer, ...]:
    """Layers by their names, separated by commas; ``all`` for all of them, nothing for none.

    Raises:
        UsageError: No layer has such a name.
    """
    names = [word.strip() for word in words.split(",") if word.strip()]
    if names == ["all"]:
        return tuple(Layer)
    known = [layer.value for layer in Layer]
    for name in names:
        if name not in known:
            raise UsageError(
                f"--done {name!r} is not a layer", f"layers: {', '.join(known)}, or all"
            )
    return tuple(map(Layer, names))


def _ignore(*_: object) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class ImportListener:
    """Who hears of what happens during an import or a conversion.

    Attributes:
        bad_record: Called with the error of a record that could not be read; the import continues.
        warned: Called with the key of a document and the remarks about it.
        progress: Called with the number of documents behind us.
        note: Called with which fields of a file with gold and predictions were read, and which were left.
    """

    bad_record: Callable[[FormatError], None] = _ignore
    warned: Callable[[str, tuple[str, ...]], None] = _ignore
    progress: Callable[[int], None] = _ignore
    note: Callable[[str], None] = _ignore


def decisions_in_words(moved: Counter[str]) -> str:
    """What became of decisions whose text is another one now."""
    words = f"{counted(moved['kept'], 'decision')} kept"
    words += f", {moved['undecided']:,} undecided as their words changed" * bool(moved["undecided"])
    words += f", {moved['gone']:,} gone with their words" * bool(moved["gone"])
    reopened = f", {counted(moved['reopened'], 'finished abstract')} open again"
    return words + reopened * bool(moved["reopened"])


@dataclass(slots=True)
class ImportReport:
    """What an import did.

    Attributes:
        counts: Documents and items.
        bad: Records that could not be read.
        warned: Documents with remarks.
        added_labels: Types that were added to the schema.
        differing: Abstracts of which files say something else than was decided.
        differences: How many of each kind.
        uncompared: Abstracts with entities here and none in the file: these may be older.
        left: Those of the differences that nothing was done about.
        applied: Those that were applied.
        kept_as: The annotator that they were kept as.
        notes: Which fields of files with gold and predictions were read, and which were left.
        seconds: How long it took.
    """

    counts: ImportCounts = field(default_factory=ImportCounts)
    bad: int = 0
    warned: int = 0
    added_labels: list[str] = field(default_factory=list)
    differing: int = 0
    differences: Counter[str] = field(default_factory=Counter)
    uncompared: int = 0
    left: int = 0
    applied: int = 0
    kept_as: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or nothing usable."""
        counts = self.counts
        usable = counts.documents + counts.known + counts.already.total()
        usable += counts.updated + counts.removed
        return ExitCode.of(usable, self.bad + counts.refused + self.left)

    @property
    def versions(self) -> list[str]:
        """What came of new texts of abstracts, and of removed ones, in words; empty where there were none."""
        counts, moved, found = self.counts, self.counts.moved, []
        if counts.updated:
            found.append(f"{counts.updated:,} updated: {decisions_in_words(moved)}")
        if counts.changed:
            found.append(f"{counts.changed:,} with another text than here (--update takes it)")
        if counts.refused:
            found.append(
                f"{counts.refused:,} refused: no new version of the abstract with their key"
            )
        if counts.removed:
            found.append(f"{counts.removed:,} removed earlier, left out (--again takes them)")
        if self.differing:
            kinds = [counted(count, kind[:-1]) for kind, count in sorted(self.differences.items())]
            words = counted(self.differing, "abstract differs", "abstracts differ")
            words += f" from what was decided here ({', '.join(kinds)})"
            if self.left:
                words += ", left as they are: --apply takes the file's side, --as NAME keeps it as an annotator for adjudicate"
            elif self.kept_as:
                words += f", kept as {self.kept_as}: sciextract adjudicate decides"
            else:
                words += f": {self.applied:,} applied"
            found.append(words)
        if self.uncompared:
            found.append(f"{self.uncompared:,} without entities in the file, not compared")
        return found

    @property
    def papers(self) -> list[str]:
        """What came of papers that were there already, in words; empty where there were none."""
        already = self.counts.already
        if not already:
            return []
        count = already.total()
        are = f"{count:,} papers are" if count > 1 else "1 paper is"
        longer = f", {self.counts.longer:,} with the longer abstract" if self.counts.longer else ""
        once = f"kept once{longer} (--keep-duplicates keeps all)"
        return [f"{are} here already, from {', '.join(already)}; {once}"]

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        # Not by asdict: it makes a Counter from pairs, which counts them.
        owners = (self.counts, self)
        names = ((owner, known.name) for owner in owners for known in dataclass_fields(owner))
        values = {name: getattr(owner, name) for owner, name in names}
        del values["counts"], values["kept_as"]
        return values | {"seconds": round(self.seconds, 3)}


def import_files(
    project: Project,
    paths: list[str],
    format_id: str | None = None,
    *,
    add_labels: bool = False,
    listener: ImportListener | None = None,
    at_a_time: int = BATCH,
    done: Collection[Layer] = (),
    fields: Side | None = None,
    keep_duplicates: bool = False,
    update: bool = False,
    again: bool = False,
    annotator: str | None = None,
    apply: bool = False,
) -> ImportReport:
    """Import files, folders or standard input (``-``); one event in the log for each of them.

    A text that the project has already is not doubled: its record is kept, and its annotations are added. Of a
    paper that it has with another text, the record is kept, and of both texts the longer one; one that has
    annotations or decisions stays.
    Before anything goes into a project that has documents, a backup is made.

    Args:
        project: Open for writing.
        paths: What to read.
        format_id: Its format; the content decides when ``None``.
        add_labels: Whether labels that the schema lacks are added to it.
        listener: Who hears of what happens.
        at_a_time: Documents a transaction. Whoever else writes waits for as long as one takes.
        done: Layers in which the files are complete, such as gold: what is not annotated there is not there.
        fields: What is read of records with gold and predictions. Predictions become undecided items of a
            source of their own, ``import:FILE#predicted``. ``None`` reads the gold, and imports the
            predictions of records without gold as if they were gold.
        keep_duplicates: Whether other texts of papers that the project has are kept, too.
        update: Whether another text of an abstract (of the same key, DOI, PubMed id or paper) takes its place.
        again: Whether abstracts come back that were removed.
        annotator: Who has annotated the files: what they say of abstracts that are here is kept for adjudication.
        apply: Whether what they say of abstracts that are here replaces what was decided; one event a file.

    Raises:
        SchemaError: A label is not in the project's schema; nothing of that file was imported.
        UsageError: No record of a file has the ``fields``; nothing of that file was imported. Or words exclude each other.
        FormatError: The only file is unusable.
        InputMissingError: A path does not exist, or nothing matches a pattern.
        ProjectError: The project cannot be written.
    """
    if keep_duplicates and update:
        raise UsageError("--update and --keep-duplicates exclude each other", "leave one out")
    if apply and annotator is not None:
        raise UsageError("--as and --apply exclude each other", "leave one out")
    paths = expand_inputs(paths)
    for path in paths:
        # Another reader of the project's own file would cost SQLite its locks (see ``store.peek``).
        if path != STDIN and os.path.exists(path) and project.path.samefile(path):
            raise UsageError(
                f"{path} is the project itself", "to add another project: sciextract merge"
            )
    choices = [FieldChoice(fields or "gold", strict=fields is not None) for _ in paths]
    sources = [
        (path, read([path], format_id, choice), choice, "")
        for path, choice in zip(paths, choices, strict=True)
    ]
    job = _Job(
        project, listener or ImportListener(), at_a_time, add_labels, done, keep_duplicates,
        update, again, annotator, apply,
    )  # fmt: skip
    return job.run_all(sources)


def import_items(
    project: Project,
    name: str,
    items: Iterable[ReadItem],
    *,
    listener: ImportListener | None = None,
    at_a_time: int = BATCH,
    source: str = "",
) -> ImportReport:
    """Import what was read already, as :func:`import_files` does with one file of that name, perhaps under another source."""
    job = _Job(project, listener or ImportListener(), at_a_time)
    return job.run_all([(name, items, FieldChoice(), source)])


# A path, what is read of it, which fields, and the source that it becomes; its own when empty.
_Source = tuple[str, Iterable[ReadItem], FieldChoice, str]


@dataclass(slots=True)
class _Job:
    """The import of one path after the other."""

    project: Project
    listener: ImportListener
    at_a_time: int
    add_labels: bool = False
    done: Collection[Layer] = ()
    keep_duplicates: bool = False
    update: bool = False
    again: bool = False
    annotator: str | None = None
    apply: bool = False
    papers: PaperIndex | None = None
    removed: PaperIndex | None = None
    report: ImportReport = field(default_factory=ImportReport)
    seen: int = 0

    def run_all(self, sources: Sequence[_Source]) -> ImportReport:
        """Import one after the other; a file that cannot be used is a bad record where it is not alone."""
        started = time.monotonic()
        # The first import needs none: there is nothing that it could spoil.
        if self.project.numbers():
            self.project.backup("before import")
        if not self.keep_duplicates:
            self.papers = known_papers(self.project.connection)
        if not self.again:
            gone = removed_numbers(self.project.connection)
            self.removed = known_papers(self.project.connection, gone)
        for path, items, choice, source in sources:
            try:
                self.run(path, items, choice, source)
            except FormatError as error:
                if len(sources) == 1:
                    raise
                self.bad(error)
        self.report.seconds = time.monotonic() - started
        return self.report

    def run(self, path: str, items: Iterable[ReadItem], choice: FieldChoice, source: str) -> None:
        """Import one path; what was imported of it before a label or a missing field stops it is taken back."""
        readable, source = self._read(items), source or source_of(path)
        if choice.side == "predicted":
            readable, source = map(propose, readable), f"{source}{_PREDICTED}"
        readable = map(self._with_current_names, readable)
        texts = KnownTexts(self.project, source, self.papers, self.removed, self.update)
        target = Import(self.project, source, {"path": path}, self.done, texts)
        target.counts = self.report.counts
        corrections = self._corrections(source) if choice.side == "gold" else None
        if corrections is not None:
            target.hold = corrections.hold
        try:
            while batch := list(islice(readable, self.at_a_time)):
                self._take_former_names(batch)
                schema = self._schema_for(path, batch, readable)
                checked = []
                for document in batch:
                    warnings = validate_annotations(document, schema)
                    if warnings or document.warnings:
                        self.report.warned += 1
                        key = document.document.doc_key
                        self.listener.warned(key, (*document.warnings, *warnings))
                    checked.append((document, warnings))
                target.add(checked)
                for key, words in texts.remarks:
                    self.report.warned += 1
                    self.listener.warned(key, (words,))
                texts.remarks.clear()
                self.listener.progress(self.seen)
            choice.check(path)
            if corrections is not None:
                self._settle(corrections, choice.formats)
        # Batches are written as they come, so what came before the bad one is in the project already.
        except (SchemaError, UsageError):
            if target.event_id is not None:
                self.project.undo(target.event_id)
            raise
        finally:
            self.report.counts = target.counts
        for note in choice.messages(path):
            self.report.notes.append(note)
            self.listener.note(note)

    def _corrections(self, source: str) -> Corrections | None:
        """Who compares what comes with what is here; nobody where nothing is."""
        if not self.project.numbers():
            return None
        # Comparing takes numpy, which most imports need not wait for.
        from sciextract.workflows.corrections import Corrections

        by = f"import:{self.annotator}" if self.annotator else source
        return Corrections(self.project, by, everything=self.annotator is not None)

    def _settle(self, corrections: Corrections, format_ids: Collection[str]) -> None:
        """Report how a file differs from what was decided, or do with it what is asked for."""
        found, report = corrections.settle(format_ids), self.report
        report.uncompared += corrections.empty * corrections.has_items
        if not corrections.said:
            return
        report.differing += len({dispute.number for dispute in found})
        report.differences.update(dispute.change for dispute in found)
        if self.apply:
            taken, refused = corrections.apply()
            report.applied += taken
            report.bad += refused.total()
            for (key, reason), count in refused.items():
                self.listener.warned(key, (f"{count:,} not applied: {reason}",))
        elif self.annotator:
            corrections.keep()
            report.kept_as = self.annotator
        else:
            report.left += len(found)
            for dispute in found[:_SHOWN]:
                words = dispute.in_words(self.project.document_state(dispute.number).text)
                words = f"{dispute.difference.layer.item}  {words}"
                self.listener.warned(dispute.difference.doc_key, (words,))

    def bad(self, error: FormatError) -> None:
        """Count and report a record that cannot be read."""
        self.report.bad += 1
        self.listener.bad_record(error)

    def _read(self, items: Iterable[ReadItem]) -> Iterator[AnnotatedDocument]:
        for item in items:
            self.seen += 1
            if isinstance(item, BadRecord):
                self.bad(item.error)
            else:
                yield item

    def _with_current_names(self, document: AnnotatedDocument) -> AnnotatedDocument:
        """The document with the names that types have here, where they were renamed here or in the project of the file."""
        schema, state = self.project.schema, document.project_state
        attributes = tuple(kind.label for kind in schema.attributes)
        tables = ("entities", "relations", "attributes")
        known = dict(
            zip(tables, (schema.entity_labels, schema.relation_labels, attributes), strict=True)
        )
        names = dict(zip(tables, schema.names, strict=True))
        for name, former in state.formerly.items() if state else ():
            table, _, label = name.partition(":")
            here = {*former}.intersection(known.get(table, ()))
            if here and label not in known[table] and len(here) == 1:
                names[table][label] = here.pop()
        return document.renamed(*names.values())

    def _take_former_names(self, batch: Iterable[AnnotatedDocument]) -> None:
        """Names that types had in the project of the file, into one without abstracts: models that predict them fit."""
        states = (document.project_state for document in batch)
        former = {
            name: names for state in states if state for name, names in state.formerly.items()
        }
        if former and not self.project.numbers():
            wider = with_former_names(self.project.schema, former)
            if wider != self.project.schema:
                self.project.set_schema(wider)

    def _schema_for(
        self, path: str, batch: list[AnnotatedDocument], rest: Iterator[AnnotatedDocument]
    ) -> LabelSchema:
        """The project's schema, with the labels of the batch added if that is wanted.

        Raises:
            SchemaError: It lacks labels that are not to be added or that no schema can have; names all that
                the file has, and the next step.
        """
        schema = self.project.schema
        unknown = _unknown_labels(batch, schema)
        if not any(unknown):
            return schema
        if self.add_labels and not _impossible_labels(unknown):
            wider = with_labels(schema, *(sorted(labels) for labels in unknown))
            self.project.set_schema(wider)
            self.report.added_labels += [label for labels in unknown for label in sorted(labels)]
            return wider
        # An import that goes well does not wait for numpy, which the snapshot takes.
        from sciextract.snapshot.gathering import describe_lacking

        # Read to the end, so that the message names all labels and not those of the first batch.
        for document in rest:
            more = _unknown_labels([document], schema)
            unknown = (unknown[0] + more[0], unknown[1] + more[1])
        if impossible := _impossible_labels(unknown):
            hint = (
                f"no schema can have {', '.join(map(repr, impossible))}: a label is printable, not empty, "
                "without a blank at either end and not '*'; change it in the file"
            )
        else:
            hint = (
                as_command("sciextract", "import", path, "--add-labels")
                + " adds them to the schema; for another schema: "
                "sciextract init NEW.sciextract --schema NAME"
            )
        raise SchemaError(
            f"{path}: the project's schema {schema.name!r} lacks labels of it: {describe_lacking(schema, *unknown)}; "
            f"it has {', '.join((*schema.entity_labels, *schema.relation_labels))}; "
            "nothing of it was imported",
            hint,
        )


def propose(document: AnnotatedDocument, source: str = "") -> AnnotatedDocument:
    """The document with its items undecided.

    Args:
        document: With items in any state.
        source: The source of the items; each one's own with ``#predicted`` behind it when empty.
    """

    def make_undecided(item: _Item) -> _Item:
        return replace(item, state=State.UNDECIDED, source=source or f"{item.source}{_PREDICTED}")

    found = document.annotations
    entities, relations = map(make_undecided, found.entities), map(make_undecided, found.relations)
    proposed = (tuple(entities), tuple(relations), tuple(map(make_undecided, found.clusters)))
    proposal = Annotations(*proposed, found.candidates)
    return replace(document, annotations=proposal, project_state=None)


def source_of(path: str) -> str:
    """The source that an imported path is: ``import:NAME`` without folders."""
    return "import:" + ("stdin" if path == STDIN else PurePath(path).name or path)


Labels = tuple[Counter[str], Counter[str]]


def _unknown_labels(batch: Iterable[AnnotatedDocument], schema: LabelSchema) -> Labels:
    entities: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    for document in batch:
        state = document.project_state
        found = document.annotations if state is None else state.everything
        entities.update(entity.label for entity in found.entities)
        relations.update(relation.label for relation in found.relations)
    for known in ("", *schema.entity_labels):
        del entities[known]
    for known in schema.relation_labels:
        del relations[known]
    return entities, relations


def _impossible_labels(unknown: Labels) -> list[str]:
    """Those that no schema can have."""
    return sorted(label for labels in unknown for label in labels if not is_label(label))
