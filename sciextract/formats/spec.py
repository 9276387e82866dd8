"""What is known about a format before its module is imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, cast

from sciextract.errors import MissingExtraError
from sciextract.formats.base import Reader, WriterFactory


@dataclass(frozen=True, slots=True)
class UnreadSpec:
    """A kind of file that is known and not read.

    Attributes:
        title: What it is, for the error.
        suffixes: As in :class:`FormatSpec`.
        opening: As in :class:`FormatSpec`.
        hint: The next step.
    """

    title: str
    suffixes: tuple[str, ...]
    opening: str
    hint: str


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
            of this format; empty when content alone cannot tell. Where that line is not enough to tell (see
            :func:`~sciextract.formats.registry.needs_more`), the expression sees the first 16 KB.
        binary: Whether its files are no text: they are known by their names, and are not for a terminal.
        output: Whether a writer makes a text stream (also to standard output), one file, or a folder.
        options: Keyword arguments that the writer takes, of ``candidates``, ``gold`` and ``schema``.
        holds: Fields of a document that the writer has a place for, as names or ``FIELD.KEY``; ``*`` for all.
        extra: The extra of the package that its libraries come with; empty for the core's own.
        record: ``module:function`` that parses one line, where every line is a record of its own; what
            :mod:`sciextract.formats.lazy` leaves for later.
    """

    id: str
    title: str
    suffixes: tuple[str, ...]
    kind: Literal["file", "folder"] = "file"
    reader: str = ""
    writer: str = ""
    opening: str = ""
    binary: bool = False
    output: Literal["stream", "file", "folder"] = "stream"
    options: frozenset[str] = frozenset()
    holds: frozenset[str] = frozenset()
    extra: str = ""
    record: str = ""

    @property
    def reads(self) -> bool:
        """Whether sciextract reads this format."""
        return bool(self.reader)

    @property
    def writes(self) -> bool:
        """Whether sciextract writes this format."""
        return bool(self.writer)

    def load_reader(self) -> Reader:
        """Import and return the reader.

        Raises:
            MissingExtraError: Its libraries are not installed.
        """
        return cast(Reader, self._load(self.reader))

    def load_writer(self) -> WriterFactory:
        """Import and return the maker of writers.

        Raises:
            MissingExtraError: Its libraries are not installed.
        """
        return cast(WriterFactory, self._load(self.writer))

    def load_record(self) -> Callable[..., Any]:
        """Import and return what parses a line: see :func:`sciextract.formats.json_lines.read_records`."""
        return self._load(self.record)

    def _load(self, reference: str) -> Callable[..., Any]:
        module, _, name = reference.partition(":")
        try:
            return cast(Callable[..., Any], getattr(import_module(module), name))
        except ModuleNotFoundError as error:
            if not self.extra:
                raise
            raise MissingExtraError(f"the format {self.id!r}", self.extra) from error
