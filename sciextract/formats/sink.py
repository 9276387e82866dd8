"""Where writers write (a file, an open stream, standard output, a folder with a file for each document), and how what a format has no place for is counted."""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TextIO

from sciextract.documents.annotations import NOT_REJECTED
from sciextract.documents.bibliography import described
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import OutputError, explain_write_errors
from sciextract.formats.base import STDIN, Writer, quoted
from sciextract.formats.opening import refuse_packed_output
from sciextract.text.characters import visible


class LineSink:
    """Appends lines in UTF-8, each ended by one line feed; a subclass may have lines in front of them and behind."""

    _OPENING: ClassVar[str] = ""
    _CLOSING: ClassVar[str] = ""

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Open a path or ``-`` (standard output), or take an open text stream, which stays open.

        Raises:
            OutputError: The file cannot be opened, or its name says that it is packed.
        """
        self._name, self._stream, self._owned = _open(destination)
        self._on_terminal = self._stream.isatty()
        self._before = self._OPENING

    def write_line(self, line: str) -> None:
        """Append ``line``; on a terminal with symbols for its control characters.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
            BrokenPipeError: The reader of a pipe has gone.
        """
        self._write(f"{self._before}{line}\n")
        self._before = ""

    def close(self) -> None:
        """Flush, and close what was opened here.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
            BrokenPipeError: The reader of a pipe has gone.
        """
        # Where nothing was written, a file that is made at the first write must not be made now.
        if ending := self._before + self._CLOSING:
            self._write(ending)
        with explain_write_errors(self._name):
            self._stream.flush()
            if self._owned:
                self._stream.close()

    def _write(self, text: str) -> None:
        shown = visible(text, keep="\n\t") if self._on_terminal else text
        with explain_write_errors(self._name):
            self._stream.write(shown)


class ArraySink(LineSink):
    """Writes JSON objects as an array with one element a line, as a stream."""

    _OPENING = "[\n"
    _CLOSING = "]\n"

    def write_line(self, line: str) -> None:
        """Append an element; the line before ends once it is known that another follows."""
        self._write(f"{self._before}{line}")
        self._before = ",\n"

    def close(self) -> None:
        self._before = self._before.removeprefix(",")
        super().close()


class LossyWriter:
    """What writers to files and to folders share.

    Attributes:
        losses: What the format could not hold so far, by kind.
    """

    def __init__(self) -> None:
        self.losses: Counter[str] = Counter()

    def lose(self, kind: str, number: int = 1) -> None:
        self.losses += Counter({kind: int(number)})


class LineWriter(LossyWriter):
    """What writers to one file or stream share; a subclass has ``write``."""

    _SINK: ClassVar[type[LineSink]] = LineSink

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Write to a path, to ``-`` (standard output) or to an open text stream."""
        super().__init__()
        self._sink = self._SINK(destination)

    def close(self) -> None:
        self._sink.close()


class FolderWriter(LossyWriter):
    """What writers of a folder with a file for each document share; a subclass has ``write``."""

    def __init__(self, destination: Path | str) -> None:
        super().__init__()
        self._folder = new_folder(destination)
        self._names = FileNames()

    def close(self) -> None:
        """Nothing is open between documents."""

    def _save(self, name: str, content: str) -> None:
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error


def _open(destination: Path | str | TextIO) -> tuple[str, TextIO, bool]:
    if not isinstance(destination, (str, Path)):
        return str(getattr(destination, "name", "the stream")), destination, False
    if str(destination) == STDIN:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        return "standard output", sys.stdout, False
    refuse_packed_output(str(destination))
    with explain_write_errors(destination, "choose another --output"):
        return str(destination), open(destination, "w", encoding="utf-8", newline="\n"), True


_UNSAFE = re.compile(r"[^\w.,+=@() -]+")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_LONGEST = 120


def new_folder(destination: Path | str) -> Path:
    """The folder, made if it is not there.

    Raises:
        OutputError: It is a file, has files in it, or cannot be made.
    """
    folder = Path(destination)
    with explain_write_errors(folder, "choose another --output"):
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir())
    if occupied:
        raise OutputError(f"{folder}: the folder is not empty", "name a new or an empty folder")
    return folder


class FileNames:
    """File names for document keys, no two the same, also where the system ignores case.

    >>> names = FileNames()
    >>> names.name_of("a/b"), names.name_of("A:b"), names.name_of("")
    ('a_b', 'A_b-2', 'document')
    """

    def __init__(self, refused: re.Pattern[str] = _UNSAFE, suffixes: tuple[str, ...] = ()) -> None:
        """Start without names.

        Args:
            refused: Characters that no name may have.
            suffixes: What files end in where a slash in a key separates folders, none of which may end so; else a
                slash is a character like others.
        """
        self._refused = refused
        self._suffixes = suffixes
        self._taken: set[str] = set()

    def name_of(self, doc_key: str) -> str:
        """A name without suffix; each part is at most 120 bytes long, never hidden, and no device of Windows."""
        parts = []
        for part in doc_key.split("/") if self._suffixes else [doc_key]:
            safe = self._refused.sub("_", part).strip(" .") or "document"
            short = safe.encode("utf-8")[:_LONGEST].decode("utf-8", "ignore").rstrip(" .")
            parts.append(f"{short}_" if _RESERVED.fullmatch(short) else short)
        *folders, last = parts
        folders = [f"{name}_" if name.endswith(self._suffixes) else name for name in folders]
        base = name = "/".join([*folders, last])
        number = 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{base}-{number}"
        self._taken.add(name.casefold())
        return name


EVERYTHING = "*"
"""In :attr:`FormatSpec.holds` of formats that keep every field."""

#: What Prodigy adds to each task: how it was answered, and what it makes anew.
_MANAGED = {
    *("answer", "_input_hash", "_task_hash", "_view_id"),
    *("_session_id", "_annotator_id", "_timestamp"),
}
_MOST_KINDS = 50
_OTHERS = "other fields"


class CountingWriter:
    """A writer that also counts, in the same ``losses``, what reading has lost, and attributes and fields without a place."""

    def __init__(self, writer: Writer, held: Container[str], *, has_attributes: bool) -> None:
        """Wrap ``writer``, whose format has a place for the fields ``held``, and perhaps for attributes."""
        self._has_attributes = has_attributes
        self._writer = writer
        self._held = held
        self.losses = writer.losses

    def write(self, document: AnnotatedDocument) -> None:
        self._writer.write(document)
        self.losses.update(document.unread)
        if not self._has_attributes and (given := document.annotations).attributes:
            self.losses += Counter(attribute=len(given.in_states(NOT_REJECTED).attributes))
        for kind in unheld(document.document.fields, self._held):
            known = kind in self.losses or len(self.losses) < _MOST_KINDS
            self.losses[kind if known else _OTHERS] += 1

    def close(self) -> None:
        self._writer.close()


def unheld(fields: Mapping[str, Any], held: Container[str]) -> Iterator[str]:
    """What lies in a document's fields and has no place among the fields ``held``, one kind a field.

    What describes the paper is left out: fields with bibliographic data, and next to them all values but lists
    with numbers in them, which refer to the text.
    """
    if EVERYTHING in held:
        return
    is_record = bool(described(fields))
    for name, value in fields.items():
        has_place = name in held or name in _MANAGED or (is_record and not _has_numbers(value))
        if not has_place and _has_content(value):
            yield f"field {quoted(name)}"


def _has_content(value: object) -> bool:
    if isinstance(value, Mapping | list):
        return any(map(_has_content, value.values() if isinstance(value, Mapping) else value))
    return value not in (None, "")


def _has_numbers(value: object) -> bool:
    """Whether a list holds numbers, at whatever depth of lists."""
    listed = value if isinstance(value, list) else ()
    return any(isinstance(inner, int | float) or _has_numbers(inner) for inner in listed)
