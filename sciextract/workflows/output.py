"""Where the lines of a run go: a file or standard output, in whole lines or not at all."""

from __future__ import annotations

import io
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sciextract import atomic
from sciextract.errors import OutputError, UsageError, no_room
from sciextract.formats.base import STDIN
from sciextract.formats.inputs import expand_inputs
from sciextract.formats.packing import refuse_packed_output
from sciextract.formats.registry import FormatSpec, has_suffix, readable
from sciextract.formats.urls import is_url
from sciextract.text.characters import printable_on


class OutputFile(io.TextIOBase):
    """A text stream that takes whole lines and writes each one at once.

    The file is opened at the first line, so that a run without results leaves nothing behind. A line that
    does not fit on the disk is taken back; Ctrl-C waits for the end of the line.

    Args:
        path: The file.
        byte_start: Where to continue in an existing file, whose rest is cut off; ``None`` starts it anew.
    """

    def __init__(self, path: str, byte_start: int | None = None) -> None:
        self._path = path
        self._byte_start = byte_start
        self._byte_end = byte_start or 0
        self._raw: io.FileIO | None = None

    def writable(self) -> bool:
        """Whether lines can be written, which text streams have to say."""
        return True

    def write(self, text: str) -> int:
        """Append whole lines.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        data = text.encode("utf-8")
        with reported_as(self._path), uninterrupted():
            raw = self._raw or self._opened()
            try:
                _write_all(raw, data)
            except OSError:
                self._take_back(raw)
                raise
        self._byte_end += len(data)
        return len(text)

    def close(self) -> None:
        """Put everything on the disk and close.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        if self.closed:
            return
        super().close()
        with reported_as(self._path):
            if self._raw is not None:
                if _is_regular(self._path):
                    os.fsync(self._raw.fileno())
                self._raw.close()

    def _opened(self) -> io.FileIO:
        if self._byte_start is None:
            self._raw = io.FileIO(self._path, "w")
        else:
            self._raw = io.FileIO(self._path, "r+")
            self._raw.truncate(self._byte_start)
            self._raw.seek(self._byte_start)
        return self._raw

    def _take_back(self, raw: io.FileIO) -> None:
        if _is_regular(self._path):
            raw.truncate(self._byte_end)


class StandardOutput(io.TextIOBase):
    """Standard output as a stream of whole lines, each flushed at once for the next program in the pipe.

    Args:
        encoding: What a character is written in.
        is_view: Whether the lines are made for a terminal, colours included; data is shown there with symbols
            for its control characters.
    """

    def __init__(self, encoding: str = "utf-8", *, is_view: bool = False) -> None:
        self._stream: Any = getattr(sys.stdout, "buffer", None)
        self._encoding = encoding
        self._is_view = is_view

    def writable(self) -> bool:
        """Whether lines can be written, which text streams have to say."""
        return True

    def write(self, text: str) -> int:
        """Append whole lines; what the encoding lacks is written as an escape.

        Raises:
            OutputError: Standard output cannot be written.
            BrokenPipeError: The reader of a pipe has gone.
        """
        with reported_as("standard output"), uninterrupted():
            shown = text if self._is_view else printable_on(self._stream or sys.stdout, text)
            if self._stream is None:
                sys.stdout.write(shown)
            else:
                self._stream.write(shown.encode(self._encoding, "backslashreplace"))
                self._stream.flush()
        return len(text)


@contextmanager
def reported_as(name: str) -> Iterator[None]:
    """Turns operating system errors into an :class:`OutputError` that names the place.

    Raises:
        OutputError: The block raised an ``OSError``; a closed pipe stays what it is.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if reason := no_room(error):
            problem = f"{name}: {reason}; the lines written so far are complete"
            hint = "free some space, then resume with --resume" if _is_regular(name) else ""
            raise OutputError(problem, hint) from error
        problem = f"{name}: cannot be written: {error.strerror}"
        raise OutputError(problem, "choose another --output") from error


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Lets the first Ctrl-C wait for the end of the block; a second one breaks in.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed during the block.
    """
    ignored = not callable(signal.getsignal(signal.SIGINT))  # as in background jobs of scripts
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []

    def remember(number: int, _frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, previous)

    previous = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pressed:
        raise KeyboardInterrupt


def check_output(path: str, inputs: Sequence[str], *, overwrite: bool) -> None:
    """Refuse an output that cannot be written, or that would cost something.

    Args:
        path: The file that is to be written.
        inputs: Paths that will be read.
        overwrite: Whether content that is there already may be replaced or continued.

    Raises:
        OutputError: It is a folder, its folder does not exist, it is read-only, has content, or is to be packed.
        UsageError: It is one of the inputs, or would be read as one.
    """
    target = Path(path)
    refuse_packed_output(path)
    if target.is_dir():
        raise OutputError(f"{path} is a folder", f"give a file in it: {target / 'annotated.jsonl'}")
    if not target.parent.is_dir():
        raise OutputError(f"{path}: no such folder: {target.parent}", f"mkdir -p {target.parent}")
    refuse_as_input(path, inputs)
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise OutputError(f"{path}: cannot be written: read-only", "choose another --output")
    if not overwrite and _is_regular(path) and target.stat().st_size:
        raise OutputError(
            f"{path} exists already and would be overwritten",
            "--resume appends to it, --force overwrites it",
        )


def refuse_standard_output(spec: FormatSpec, option: str) -> None:
    """Refuse standard output for a format that is not a stream of text.

    Raises:
        UsageError: It is none; names the format as ``option`` does.
    """
    if spec.output != "stream":
        kind = "a folder" if spec.output == "folder" else "a binary file"
        problem = f"{option} {spec.id} makes {kind}, which cannot go to standard output"
        raise UsageError(problem, "name it with --output")


def refuse_as_input(path: str, inputs: Sequence[str]) -> None:
    """Refuse an output that is one of the inputs, or would be read as part of one.

    Raises:
        UsageError: It would be.
    """
    for each in local_inputs(inputs):
        if _would_be_read(Path(path), Path(each)):
            raise UsageError(
                f"the output {path} would be read as part of the input {each}",
                "choose an --output outside of the input",
            )


def check_standard_output(inputs: Sequence[str]) -> None:
    """Refuse a standard output that the shell sends into one of the inputs.

    Raises:
        UsageError: It would be read while it is written, without end.
    """
    try:
        out = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return
    if not stat.S_ISREG(out.st_mode):
        return
    for each in local_inputs(inputs):
        if any(os.path.samestat(out, os.stat(file)) for file in _files(each)):
            raise UsageError(
                f"standard output goes to a file that is part of the input {each}",
                "redirect it to a file outside of the input",
            )


def local_inputs(inputs: Sequence[str]) -> list[str]:
    """The files and folders of this machine that inputs mean."""
    return [each for each in expand_inputs(inputs) if each != STDIN and not is_url(each)]


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for parent, _, names in os.walk(path):
        files = (os.path.join(parent, name) for name in names)
        yield from (file for file in files if os.path.isfile(file))


def _would_be_read(target: Path, source: Path) -> bool:
    if not source.is_dir():
        return target.exists() and target.samefile(source)
    inside = source.resolve() in target.resolve().parents
    suffixes = [suffix for spec in readable() for suffix in spec.suffixes]
    return inside and has_suffix(target.name, suffixes) and not target.name.startswith(".")


def _is_regular(path: str) -> bool:
    return os.path.isfile(path)


def _write_all(raw: io.RawIOBase | BinaryIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[raw.write(rest) or 0 :]


def check_target(target: Path, *, force: bool, kept: Iterable[Path] = ()) -> None:
    """Refuse a target whose folder is missing, or that has content which may not be replaced.

    Args:
        target: The file or folder to write.
        force: Whether its present content may be replaced.
        kept: Files and folders that must never be replaced, nor a folder that they lie in.

    Raises:
        OutputError: It cannot be written so.
    """
    refuse_packed_output(str(target))
    place = target.resolve()
    for each in (Path.cwd(), Path(os.path.expanduser("~")), *kept):
        if each.resolve().is_relative_to(place):
            problem = f"{target} cannot be replaced: it is {each}, or a folder around it"
            raise OutputError(problem, "choose another --output")
    if not target.parent.is_dir():
        raise OutputError(f"{target}: no such folder: {target.parent}", f"mkdir -p {target.parent}")
    if target.exists() and not (target.is_file() or target.is_dir()):
        problem = f"{target} is neither a file nor a folder"
        raise OutputError(problem, "without --output the data goes to standard output")
    if not force and target.exists() and not _is_empty_folder(target):
        raise OutputError(
            f"{target} exists already and would be overwritten", "--force replaces it"
        )


@contextmanager
def whole_output(target: Path) -> Iterator[Path]:
    """A path next to the target to write to; it takes the target's place when the block ends well.

    Raises:
        OutputError: The target cannot be replaced.
    """
    partial = atomic.partial_path(target, alone=True)
    atomic.remove(partial)
    try:
        yield partial
        if partial.exists():
            with reported_as(str(target)):
                atomic.put_in_place(partial, target)
    finally:
        atomic.remove(partial)


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
