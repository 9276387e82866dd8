"""Files of one format into another, without a project: streamed, whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ExitCode, UsageError
from sciextract.formats import open_writer, read
from sciextract.formats.base import STDIN, BadRecord
from sciextract.formats.inputs import expand_inputs
from sciextract.formats.registry import FormatSpec, get_format
from sciextract.workflows.import_files import ImportListener
from sciextract.workflows.output import (
    check_standard_output,
    check_target,
    local_inputs,
    refuse_as_input,
    refuse_standard_output,
    write_whole,
)


@dataclass(slots=True)
class ConvertReport:
    """What a conversion did.

    Attributes:
        format: The format that was written.
        output: The file or folder, ``None`` for standard output.
        documents: Documents written; none where a loss is a failure.
        bad: Records that cannot be read.
        warned: Documents with remarks of their reader.
        losses: What the format cannot hold, by kind.
        renamed: By label that was to be renamed, how many items had it.
        strict: Whether any loss is a failure; then nothing is left at the output.
    """

    format: str
    output: str | None
    documents: int = 0
    bad: int = 0
    warned: int = 0
    losses: dict[str, int] = field(default_factory=dict)
    renamed: Counter[str] = field(default_factory=Counter)
    strict: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or failed: nothing usable, or losses where none are allowed."""
        return ExitCode.of(self.documents and not (self.strict and self.losses), self.bad)

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return asdict(self) | {"renamed": dict(self.renamed)}


@dataclass(frozen=True, slots=True)
class ConvertJob:
    """What to convert, and where to.

    Attributes:
        inputs: Files, folders, patterns, ``-``.
        format: The id of the format to write.
        input_format: The id of the format to read; the content decides when ``None``.
        output: File or folder; ``None`` or ``-`` for standard output.
        rename: New labels of entities and relations by the old ones.
        strict: Whether a loss is a failure.
        force: Whether to replace what is at the output.
        texts: A file with the texts of a release that has none; any format, matched by their SHA-256.
    """

    inputs: Sequence[str]
    format: str
    input_format: str | None = None
    output: str | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    force: bool = False
    texts: str | None = None

    def run(self, listener: ImportListener) -> ConvertReport:
        """Convert all records, in constant memory as far as both formats allow it.

        Args:
            listener: Who hears of what happens.

        Raises:
            UsageError: No such format, or it cannot go to standard output, or the output would be read.
            InputMissingError: An input does not exist.
            FormatError: The only input is unusable.
            OutputError: The output exists, or cannot be written.
            MissingExtraError: The libraries of a format are not installed.
        """
        spec = get_format(self.format, "write")
        spec.load_writer()
        inputs = expand_inputs(self.inputs)
        if self.output not in (None, STDIN):
            refuse_as_input(str(self.output), inputs)
            kept = map(Path, local_inputs(inputs))
            check_target(Path(str(self.output)), force=self.force, kept=kept)
        else:
            refuse_standard_output(spec, "--to")
            check_standard_output(inputs)
        items = read(inputs, self.input_format, texts=self._read_texts())
        return write_whole(
            self.output, self.strict, lambda place: self._write(spec, place, items, listener)
        )

    def _read_texts(self) -> dict[str, str] | None:
        if self.texts is None:
            return None
        documents = (
            item.document for item in read([self.texts]) if not isinstance(item, BadRecord)
        )
        return {document.text_sha256: document.text for document in documents}

    def _write(
        self,
        spec: FormatSpec,
        destination: Any,
        items: Iterator[AnnotatedDocument | BadRecord],
        listener: ImportListener,
    ) -> ConvertReport:
        report = ConvertReport(self.format, self.output, strict=self.strict)
        report.renamed.update(dict.fromkeys(self.rename, 0))
        options = {"candidates": True} if "candidates" in spec.options else {}
        writer = open_writer(spec.id, destination, **options)
        for number, item in enumerate(items, start=1):
            if isinstance(item, BadRecord):
                report.bad += 1
                listener.bad_record(item.error)
            else:
                if item.warnings:
                    report.warned += 1
                    listener.warned(item.document.doc_key, item.warnings)
                for layer in (item.annotations.entities, item.annotations.relations):
                    labels = (annotation.label for annotation in layer)
                    report.renamed.update(label for label in labels if label in self.rename)
                writer.write(item.renamed(self.rename, self.rename))
                report.documents += 1
            listener.progress(number)
        writer.close()
        report.losses = dict(writer.losses)
        # Nothing of it is left at the output.
        if report.exit_code is ExitCode.FAILED:
            report.documents = 0
        return report


def parse_renames(words: str, option: str = "--rename") -> dict[str, str]:
    """New labels by old ones, of ``OLD=NEW,...``.

    >>> parse_renames("Method=Technique, Task=Problem")
    {'Method': 'Technique', 'Task': 'Problem'}

    Raises:
        UsageError: A part is not a pair, or a label is to get two new names.
    """
    pairs = [part.partition("=") for part in words.split(",") if part.strip()]
    labels: dict[str, str] = {}
    for part in pairs:
        old, new = part[0].strip(), part[2].strip()
        if not old or not new or "=" in new:
            raise UsageError(
                f"{option} has {''.join(part).strip()!r}; expected OLD=NEW",
                f"several are separated by commas: {option} Method=Technique,Task=Problem",
            )
        if labels.setdefault(old, new) != new:
            raise UsageError(f"{option} gives {old!r} two names", "give it one of them")
    return labels
