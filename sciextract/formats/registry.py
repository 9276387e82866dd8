"""The formats by id. A new format joins with one entry here and its module; no caller changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any, Literal, cast

from sciextract.errors import FormatError, UsageError
from sciextract.formats.base import Reader, WriterFactory


@dataclass(frozen=True, slots=True)
class FormatSpec:
    """One format and where its reader and writer live; they are imported on first use.

    Attributes:
        id: The word of ``--format`` and ``--export``.
        title: What it is, for help texts.
        suffixes: File name ends, lower case, with the dot.
        kind: Whether one source is a file or a whole folder.
        reader: ``module:function``, a :class:`~sciextract.formats.base.Reader`; empty if write-only.
        writer: ``module:callable`` that makes a :class:`~sciextract.formats.base.Writer` of a
            destination; empty if read-only.
        opening: Regular expression that the first non-blank line matches when a file of any name is
            of this format; empty when content alone cannot tell.
    """

    id: str
    title: str
    suffixes: tuple[str, ...]
    kind: Literal["file", "folder"] = "file"
    reader: str = ""
    writer: str = ""
    opening: str = ""

    @property
    def reads(self) -> bool:
        """Whether sciextract reads this format."""
        return bool(self.reader)

    @property
    def writes(self) -> bool:
        """Whether sciextract writes this format."""
        return bool(self.writer)

    def load_reader(self) -> Reader:
        """Import and return the reader."""
        return cast(Reader, _load(self.reader))

    def load_writer(self) -> WriterFactory:
        """Import and return the maker of writers."""
        return cast(WriterFactory, _load(self.writer))


_CELL = r"[\"']?[\w .-]{1,40}[\"']?"
_TEXT_CELL = r"[\"']?(?:text|abstract|abstract note|summary|ab)[\"']?"
_OTHER_CELL = r"[\"']?(?:doc_key|id|key|pmid|doi|ut|eid|(?:article |document )?title|ti|year)[\"']?"
_HERE = "sciextract.formats"

#: In the order in which content is tried.
FORMATS: list[FormatSpec] = [
    FormatSpec(
        "jsonl",
        "sciextract's own JSONL: text, title and abstract, or SciERC fields, one object a line",
        (".jsonl", ".json", ".ndjson"),
        reader=f"{_HERE}.jsonl:read_jsonl",
        writer=f"{_HERE}.jsonl:JsonlWriter",
        opening=r"\s*[\[{]\s*(?:[\"{}\]]|$)",
    ),
    FormatSpec(
        "scierc",
        "SciERC or DyGIE++ JSONL: tokens with token offsets",
        (".jsonl", ".json"),
        reader=f"{_HERE}.scierc:read_scierc",
        writer=f"{_HERE}.scierc_writer:SciercWriter",
    ),
    FormatSpec(
        "tsv",
        "tab-separated table with a header row",
        (".tsv", ".tab"),
        reader=f"{_HERE}.tabular:read_table",
        opening=rf"(?i)(?=.*\t)(?:{_CELL}\t)*{_TEXT_CELL}(?:\t{_CELL})*\s*$",
    ),
    FormatSpec(
        "csv",
        "comma- or semicolon-separated table with a header row",
        (".csv",),
        reader=f"{_HERE}.tabular:read_table",
        opening=rf"(?i)(?=(?:.*[,;])?{_OTHER_CELL}(?:[,;]|\s*$))"
        rf"(?:{_CELL}[,;])*{_TEXT_CELL}(?:[,;]{_CELL})*\s*$",
    ),
    FormatSpec(
        "text",
        "plain text, one abstract a file",
        (".txt", ".text"),
        reader=f"{_HERE}.plain:read_text",
    ),
    FormatSpec(
        "paragraphs",
        "plain text, one abstract a paragraph, blank lines between them",
        (".txt", ".text"),
        reader=f"{_HERE}.plain:read_paragraphs",
    ),
]


def get_format(format_id: str, use: Literal["read", "write"] = "read") -> FormatSpec:
    """The format of that id.

    Raises:
        UsageError: There is none, or it cannot be read (written); lists the allowed ids.
    """
    allowed = readable() if use == "read" else writable()
    for spec in allowed:
        if spec.id == format_id:
            return spec
    ids = ", ".join(spec.id for spec in allowed)
    known = any(spec.id == format_id for spec in FORMATS)
    problem = f"cannot {use} the format" if known else "unknown format"
    raise UsageError(f"{problem} {format_id!r}", f"formats to {use}: {ids}")


def readable() -> list[FormatSpec]:
    """The formats that can be read."""
    return [spec for spec in FORMATS if spec.reads]


def writable() -> list[FormatSpec]:
    """The formats that can be written."""
    return [spec for spec in FORMATS if spec.writes]


def recognise(name: str, first_line: str) -> FormatSpec:
    """The format of a file, by its first non-blank line first, by its name second, else ``text``.

    Raises:
        FormatError: Nothing readable has this name and content.
    """
    files = [spec for spec in readable() if spec.kind == "file"]
    by_name = [spec for spec in files if has_suffix(name, spec.suffixes)]
    for spec in [*by_name, *files]:
        if spec.opening and re.match(spec.opening, first_line):
            return spec
    for spec in [*by_name, *files]:
        if by_name or spec.id == "text":
            return spec
    raise FormatError("the format cannot be recognised", path=name, hint="name it with --format")


def recognise_folder(names: Sequence[str]) -> FormatSpec | None:
    """The format that takes a folder of such files as a whole, if one does."""
    for spec in readable():
        if spec.kind == "folder" and any(has_suffix(name, spec.suffixes) for name in names):
            return spec
    return None


def has_suffix(name: str, suffixes: Sequence[str]) -> bool:
    """Whether a file name ends in one of the suffixes, in any case."""
    return PurePath(name).suffix.lower() in suffixes


def _load(reference: str) -> Callable[..., Any]:
    module, _, name = reference.partition(":")
    return cast(Callable[..., Any], getattr(import_module(module), name))
