"""A project into a folder that others can use and cite: data by splits, pages that describe it, and a checksum for every file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from sciextract import atomic
from sciextract.codec import encode
from sciextract.documents.schema_file import schema_to_toml
from sciextract.errors import UsageError, explain_write_errors
from sciextract.formats import Writer, open_writer
from sciextract.formats.json_values import dump_line
from sciextract.formats.registry import FormatSpec, get_format
from sciextract.snapshot.documents import Split, split_of
from sciextract.store import Project
from sciextract.store.document_state import EVERYTHING
from sciextract.store.documents import first_texts
from sciextract.store.maintenance.backup import folder_of
from sciextract.store.project_settings import ReleaseTerms
from sciextract.store.sqlite import first_value
from sciextract.workflows.agreement import agree_when_merged
from sciextract.workflows.export_project import ExportReport, finished_numbers, none_finished
from sciextract.workflows.output import CHECKSUMS, check_target, write_whole
from sciextract.workflows.release.contents import Contents, release_record
from sciextract.workflows.release.figures import Figures
from sciextract.workflows.release.pages import describe_croissant, write_card, write_guideline

_NAMES = {Split.TRAIN: "train", Split.DEV: "dev", Split.GATE: "test"}
_SURROGATE = "lone surrogate that UTF-8 cannot hold"


@dataclass(frozen=True, slots=True)
class ReleaseJob:
    """What to release, and where to.

    Attributes:
        terms: Licence and citation.
        folder: The folder to make.
        format: The second format, next to JSON lines.
        with_text: Whether texts are in it; without them there is no second format, for all formats hold texts.
        everything: Whether unfinished abstracts are in it.
        strict: Whether a loss of the second format is a failure.
        force: Whether to replace what is at the folder.
    """

    terms: ReleaseTerms
    folder: Path
    format: str = "brat"
    with_text: bool = True
    everything: bool = False
    strict: bool = False
    force: bool = False

    def run(self, project: Project) -> ExportReport:
        """Write the release: whole, or not at all.

        Raises:
            UsageError: There is no licence, no such format, or no finished abstract.
            OutputError: The folder is there already and not empty, or cannot be written.
            MissingExtraError: The libraries of the format are not installed.
        """
        if not self.terms.licence:
            hint = "--licence CC-BY-4.0, for instance; the project keeps it for the next release"
            raise UsageError("a release needs a licence, and none was named yet", hint)
        spec = get_format(self.format, "write")
        spec.load_writer()
        check_target(self.folder, force=self.force, kept=[project.path, folder_of(project.path)])
        numbers = project.numbers() if self.everything else [*finished_numbers(project)]
        if not numbers:
            raise none_finished(project, "a release holds finished abstracts")
        return write_whole(
            str(self.folder.absolute()),
            self.strict,
            lambda root: self._write(project, numbers, spec, root),
        )

    def _write(
        self, project: Project, numbers: list[int], spec: FormatSpec, root: Path
    ) -> ExportReport:
        with explain_write_errors(self.folder):
            (root / "data").mkdir(parents=True)
            data = _Data(root, spec if self.with_text else None, project)
            for number in numbers:
                data.add(number)
            losses = data.close()
            self._describe(project, numbers, data, root)
        left_out = len(project.numbers()) - len(numbers)
        formats = f"jsonl and {spec.id}" if self.with_text else "jsonl"
        written = 0 if self.strict and losses else len(numbers)
        return ExportReport(
            formats, str(self.folder), written, losses, self.strict, unfinished=left_out
        )

    def _describe(self, project: Project, numbers: list[int], data: _Data, root: Path) -> None:
        """Everything but the data."""
        last = first_value(project.connection, "SELECT max(at) FROM event")
        splits = [split for split in _NAMES.values() if split in data.files]
        places = {split: f"data/{split}.jsonl" for split in splits}
        files = {split: (place, atomic.sha256_of(root / place)) for split, place in places.items()}
        # Examples may be strings of the abstracts: `schema from` takes them from there.
        schema = project.schema if self.with_text else project.schema.without_examples()
        contents = Contents(
            name=project.path.stem,
            schema=schema,
            terms=self.terms,
            figures=data.figures,
            data=files,
            with_text=self.with_text,
            everything=self.everything,
            agreement=agree_when_merged(project, {*numbers}),
            changed_at=str(last or "")[:10],
        )
        pages = {
            "README.md": write_card(contents),
            "guideline.md": write_guideline(contents),
            "schema.toml": schema_to_toml(schema),
            "croissant.json": describe_croissant(contents),
        }
        if contents.agreement:
            pages["agreement.json"] = encode(contents.agreement)
        for name, text in pages.items():
            (root / name).write_text(text, encoding="utf-8", newline="\n")
        written = sorted(path for path in root.rglob("*") if path.is_file())
        with (root / CHECKSUMS).open("w", encoding="utf-8", newline="\n") as sums:
            for path in written:
                sums.write(f"{atomic.sha256_of(path)}  {path.relative_to(root).as_posix()}\n")


class _Data:
    """The files of a release's splits; those of a split are opened with its first abstract.

    Args:
        root: The folder of the release.
        spec: The second format; ``None`` for a release without texts, which all formats hold.
        project: What is released.
    """

    def __init__(self, root: Path, spec: FormatSpec | None, project: Project) -> None:
        self._root = root
        self._spec = spec
        self._project = project
        self._firsts = first_texts(project.connection)
        self._writers: dict[str, Writer] = {}
        self._losses: Counter[str] = Counter()
        self.files: dict[str, TextIO] = {}
        self.figures = Figures()

    def add(self, number: int) -> None:
        """Write an abstract and count it."""
        document = self._project.document(number)
        text_sha256 = document.document.text_sha256
        split = _NAMES[split_of(self._firsts.get(text_sha256, text_sha256))]
        if split not in self.files:
            path = self._root / "data" / f"{split}.jsonl"
            self.files[split] = path.open("w", encoding="utf-8", newline="\n")
            if self._spec:
                self._writers[split] = self._open(self._spec, split)
        record, replaced = release_record(document, self._spec is not None)
        self._losses += Counter({_SURROGATE: replaced})
        self.files[split].write(f"{dump_line(record)}\n")
        if self._spec:
            self._writers[split].write(document)
        self.figures.add(split, document)
        # Others are to be measured on dev and test: their texts are no examples of a guideline.
        if split == _NAMES[Split.TRAIN]:
            self.figures.add_examples(self._project.document(number, EVERYTHING))

    def close(self) -> dict[str, int]:
        """Everything is written; gives what the second format could not hold, by kind."""
        for file in self.files.values():
            file.close()
        for writer in self._writers.values():
            writer.close()
            self._losses += writer.losses
        return dict(self._losses)

    def _open(self, spec: FormatSpec, split: str) -> Writer:
        name = split if spec.output == "folder" else split + spec.suffixes[0]
        (self._root / spec.id).mkdir(exist_ok=True)
        options = {"schema": self._project.schema} if "schema" in spec.options else {}
        return open_writer(spec.id, self._root / spec.id / name, **options)
