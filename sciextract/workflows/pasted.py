"""Abstracts that were pasted: text of any readable format, held as a file of a name of its own while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from sciextract.errors import FormatError, UsageError
from sciextract.formats import read
from sciextract.formats.base import BadRecord, ReadItem
from sciextract.formats.registry import (
    FormatSpec,
    get_format,
    needs_more,
    recognise,
    recognise_export,
)
from sciextract.store import Project
from sciextract.store.sqlite import to_sql
from sciextract.workflows.import_files import ImportListener, ImportReport, import_items

STEM = "pasted"
_HEAD_CHARS = 1 << 14
_PLAIN = "text"


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a pasted text is so far.

    Attributes:
        title: The format in words.
        documents: Abstracts that can be read.
        bad: Records that cannot be read.
        problem: Why nothing of it can be read, empty where something can.
    """

    title: str
    documents: int = 0
    bad: int = 0
    problem: str = ""


def format_of(text: str) -> FormatSpec:
    """The format that a pasted text is in; plain text has one abstract a paragraph.

    Raises:
        FormatError: It is of a kind that is not read.
    """
    # Formats are recognised by their first lines, from the first that is not blank.
    start = text[:_HEAD_CHARS].removeprefix("\ufeff").lstrip("\r\n")
    first = start.lstrip().partition("\n")[0]
    if not needs_more(first.strip()):
        start = start[: len(start) - len(start.lstrip()) + len(first)]
    spec = recognise(f"{STEM}.txt", start)
    if spec.id == _PLAIN:
        spec = recognise_export(f"{STEM}.txt", text[:_HEAD_CHARS])
    return get_format("paragraphs") if spec.id == _PLAIN else spec


def look(text: str) -> Iterator[Recognised]:
    """What a pasted text holds: after every record that is read, and in the end."""
    seen = Recognised("")
    try:
        spec = format_of(text)
        seen = Recognised(spec.title)
        with _as_file(text, STEM, spec) as path:
            for item in read([path], spec.id):
                if isinstance(item, BadRecord):
                    seen = replace(seen, bad=seen.bad + 1)
                else:
                    seen = replace(seen, documents=seen.documents + 1)
                yield seen
    except FormatError as error:
        seen = replace(seen, problem="" if seen.documents else error.problem)
    yield seen


def import_pasted(
    project: Project,
    text: str,
    *,
    listener: ImportListener | None = None,
    today: date | None = None,
) -> ImportReport:
    """Import a pasted text: one event, so one step takes it back.

    Its source is ``import:pasted-DATE`` with the ending of the format, numbered from the second one of a day
    on. A key that another text of the project has gets a number, too.

    Args:
        project: Open for writing.
        text: What was pasted.
        listener: Who hears of what happens.
        today: The date in the name; today's when ``None``.

    Raises:
        UsageError: The text is blank.
        FormatError: Nothing of it can be read.
        SchemaError: A label is not in the project's schema; nothing was imported.
        ProjectError: The project cannot be written.
    """
    if not text.strip():
        raise UsageError("nothing was pasted", "copy abstracts: BibTeX, RIS, JSONL, plain text")
    spec = format_of(text)
    name = stem = f"{STEM}-{(today or date.today()).isoformat()}"
    taken = {PurePath(source.removeprefix("import:")).stem for source in project.sources.values()}
    number = 1
    while stem in taken:
        number += 1
        stem = f"{name}-{number}"
    with _as_file(text, stem, spec) as path:
        items = _free_keys(project, read([path], spec.id))
        try:
            return import_items(project, path.name, items, listener=listener)
        except FormatError as error:
            raise _name_record(error) from error


@contextmanager
def _as_file(text: str, stem: str, spec: FormatSpec) -> Iterator[Path]:
    """The text in a file, since that is what readers read; gone afterwards."""
    with TemporaryDirectory(prefix="sciextract-") as folder:
        path = Path(folder) / f"{stem}{spec.suffixes[0]}"
        path.write_bytes(text.encode("utf-8", "replace"))
        yield path


def _free_keys(project: Project, items: Iterator[ReadItem]) -> Iterator[ReadItem]:
    """The items; one whose key another text has, here or in the project, gets a number behind it."""
    other = "SELECT 1 FROM document WHERE doc_key = ? AND sha256 != ? LIMIT 1"
    given: dict[str, str] = {}
    for item in items:
        if isinstance(item, BadRecord):
            yield BadRecord(_name_record(item.error))
            continue
        key, text = item.document.doc_key, item.document.text_sha256
        number, free = 1, key
        while (
            given.get(free, text) != text
            or project.connection.execute(other, (to_sql(free), text)).fetchone()
        ):
            number += 1
            free = f"{key}-{number}"
        given[free] = text
        yield replace(item, document=replace(item.document, doc_key=free))


def _name_record(error: FormatError) -> FormatError:
    """The error with the name of the pasted text: its file is none that the person could open."""
    name = PurePath(error.path).name
    return FormatError(
        error.problem, path=name, line=error.line, column=error.column, hint=error.hint
    )
