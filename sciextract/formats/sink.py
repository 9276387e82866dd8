"""Where writers put their lines: a file, an open stream, or standard output."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TextIO

from sciextract.errors import OutputError
from sciextract.formats.base import STDIN
from sciextract.formats.packing import refuse_packed_output
from sciextract.text.visible import shown_on


class LineSink:
    """Appends lines in UTF-8, each ended by one line feed."""

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Open a path or ``-`` (standard output), or take an open text stream, which stays open.

        Raises:
            OutputError: The file cannot be opened, or its name says that it is packed.
        """
        self._name, self._stream, self._owned = _opened(destination)

    def write_line(self, line: str) -> None:
        """Append ``line``; on a terminal with symbols for its control characters.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
            BrokenPipeError: The reader of a pipe has gone.
        """
        try:
            self._stream.write(shown_on(self._stream, line + "\n"))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Flush, and close what was opened here.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
            BrokenPipeError: The reader of a pipe has gone.
        """
        try:
            self._stream.flush()
            if self._owned:
                self._stream.close()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(f"{self._name}: cannot be written: {error.strerror}")


class ArraySink:
    """Writes JSON objects as an array with one element a line, as a stream."""

    def __init__(self, destination: Path | str | TextIO) -> None:
        """Open a path or ``-`` (standard output), or take an open text stream, which stays open.

        Raises:
            OutputError: The file cannot be opened, or its name says that it is packed.
        """
        self._sink = LineSink(destination)
        self._first = True
        self._waiting = "["

    def write_element(self, line: str) -> None:
        """Append an element; its line goes out once it is known whether another follows.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        self._sink.write_line(self._waiting if self._first else self._waiting + ",")
        self._first, self._waiting = False, line

    def close(self) -> None:
        """End the array, flush, and close what was opened here.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        if self._waiting:
            self._sink.write_line(self._waiting)
            self._sink.write_line("]")
            self._waiting = ""
        self._sink.close()


def _opened(destination: Path | str | TextIO) -> tuple[str, TextIO, bool]:
    if not isinstance(destination, (str, Path)):
        return str(getattr(destination, "name", "the stream")), destination, False
    if str(destination) == STDIN:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        return "standard output", sys.stdout, False
    refuse_packed_output(str(destination))
    try:
        return str(destination), open(destination, "w", encoding="utf-8", newline="\n"), True
    except OSError as error:
        problem = f"{destination}: cannot be written: {error.strerror}"
        raise OutputError(problem, "choose another --output") from error
