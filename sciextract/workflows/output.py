"""Where the lines of a run go: a file or standard output, in whole lines or not at all; and going on with a file."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol, TypeVar

from sciextract import atomic
from sciextract.documents.document import Document, ModelId
from sciextract.errors import (
    ExitCode,
    ModelMismatchError,
    OutputError,
    UsageError,
    as_command,
    explain_write_errors,
)
from sciextract.formats.base import STDIN, BadRecord, ReadItem, quoted
from sciextract.formats.opening import is_url, refuse_packed_output
from sciextract.formats.registry import FormatSpec, has_suffix, readable
from sciextract.text.characters import printable_on

CHECKSUMS = "SHA256SUMS"
"""In the folder of a release: its files with their hashes."""


class OutputFile(io.TextIOBase):
    """A text stream that takes whole lines and writes each one at once.

    The file is opened at the first line, so that a run without results leaves nothing behind. A line that
    does not fit on the disk is taken back.

    Args:
        path: The file.
        append: Whether to continue at the end of the file; else it starts anew.
    """

    def __init__(self, path: str, append: bool = False) -> None:
        self._path = path
        self._append = append
        self._byte_end = 0
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
        with reported_as(self._path):
            if self._raw is None:
                self._byte_end = os.path.getsize(self._path) if self._append else 0
                self._raw = io.FileIO(self._path, "a" if self._append else "w")
            rest = memoryview(data)
            try:
                while rest:  # an unbuffered file may take less than it is given
                    rest = rest[self._raw.write(rest) or 0 :]
            except OSError:
                if os.path.isfile(self._path):
                    self._raw.truncate(self._byte_end)
                raise
        self._byte_end += len(data)
        return len(text)

    def close(self) -> None:
        """Put everything on the disk and close.

        Raises:
            OutputError: The disk is full, or the file cannot be written.
        """
        # ``with`` closes it, and the garbage collector again.
        if self.closed:
            return
        super().close()
        with reported_as(self._path):
            if self._raw is not None:
                # A pipe or a device cannot be synced.
                if os.path.isfile(self._path):
                    os.fsync(self._raw.fileno())
                self._raw.close()


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
        with reported_as(_STANDARD_OUTPUT):
            shown = text if self._is_view else printable_on(self._stream or sys.stdout, text)
            if self._stream is None:
                sys.stdout.write(shown)
            else:
                self._stream.write(shown.encode(self._encoding, "backslashreplace"))
                self._stream.flush()
        return len(text)


_STANDARD_OUTPUT = "standard output"


@contextmanager
def reported_as(name: str) -> Iterator[None]:
    """Turns operating system errors of what is written in lines into an :class:`OutputError` that names the place.

    Args:
        name: The file, folder or stream.

    Raises:
        OutputError: The block raised an ``OSError``; a closed pipe stays what it is.
    """
    # Standard output and devices cannot be resumed; what is not there yet will be a file.
    is_file = name != _STANDARD_OUTPUT and (os.path.isfile(name) or not os.path.exists(name))
    kept = "the lines written so far are complete"
    again = "free some space, then resume with --resume" if is_file else ""
    with explain_write_errors(
        name, "close it where it is open, or choose another --output", kept=kept, when_full=again
    ):
        yield


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
        raise OutputError(
            f"{path}: no such folder: {target.parent}", as_command("mkdir", "-p", target.parent)
        )
    refuse_as_input(path, inputs)
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise OutputError(f"{path}: cannot be written: read-only", "choose another --output")
    _refuse_database(target)
    if not overwrite and os.path.isfile(path) and target.stat().st_size:
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
    for local in local_inputs(inputs):
        target, source = Path(path), Path(local)
        if source.is_dir():
            inside = source.resolve() in target.resolve().parents
            suffixes = [suffix for spec in readable() for suffix in spec.suffixes]
            fits = has_suffix(target.name, suffixes) and not target.name.startswith(".")
            is_read = inside and fits
        else:
            is_read = target.exists() and target.samefile(source)
        if is_read:
            raise UsageError(
                f"the output {path} would be read as part of the input {local}",
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
    for local in local_inputs(inputs):
        inside = ((parent, name) for parent, _, names in os.walk(local) for name in names)
        files = [local] if not os.path.isdir(local) else (os.path.join(*place) for place in inside)
        if any(os.path.samestat(out, os.stat(file)) for file in files if os.path.isfile(file)):
            raise UsageError(
                f"standard output goes to a file that is part of the input {local}",
                "redirect it to a file outside of the input",
            )


def local_inputs(inputs: Sequence[str]) -> list[str]:
    """The files and folders of this machine among expanded inputs."""
    return [path for path in inputs if path != STDIN and not is_url(path)]


def check_target(target: Path, *, force: bool, kept: Iterable[Path] = ()) -> None:
    """Refuse a target whose folder is missing, or that has content which may not be replaced.

    Args:
        target: The file or folder to write.
        force: Whether its present content may be replaced.
        kept: Files and folders that must never be replaced, nor a folder that they lie in.

    Raises:
        OutputError: It cannot be written so; or it is a database, or a folder that is no output of a command.
    """
    refuse_packed_output(str(target))
    place = target.resolve()
    # --force replaces whole folders: never the one that the person stands in, or their home.
    for kept_path in (Path.cwd(), Path(os.path.expanduser("~")), *kept):
        if kept_path.resolve().is_relative_to(place):
            problem = f"{target} cannot be replaced: it is {kept_path}, or a folder around it"
            raise OutputError(problem, "choose another --output")
    if not target.parent.is_dir():
        raise OutputError(
            f"{target}: no such folder: {target.parent}", as_command("mkdir", "-p", target.parent)
        )
    if target.exists() and not (target.is_file() or target.is_dir()):
        problem = f"{target} is neither a file nor a folder"
        raise OutputError(problem, "without --output the data goes to standard output")
    _refuse_database(target)
    is_empty = target.is_dir() and not any(target.iterdir())
    if not force and target.exists() and not is_empty:
        raise OutputError(
            f"{target} exists already and would be overwritten", "--force replaces it"
        )
    if target.is_dir() and not is_empty and (foreign := _foreign_in(target)):
        problem = f"{target} cannot be replaced: it holds {foreign}, which no command of sciextract writes to such a folder"
        raise OutputError(problem, "choose another --output, or move what is there")


def _refuse_database(target: Path) -> None:
    """Refuse to replace a project or a graph, which hold decisions that nothing else has.

    Raises:
        OutputError: The file is an SQLite database, and none that a table was written to.
    """
    if target.is_file():
        with target.open("rb") as file, suppress(OSError):
            head = file.read(72)  # the last four bytes are the application id
            if head.startswith(_DATABASE) and head[68:] != OF_TABLES:
                problem = f"{target} cannot be replaced: it is a project, a graph or another SQLite database"
                raise OutputError(problem, "choose another --output")


_DATABASE = b"SQLite format 3\0"
OF_TABLES = b"SciT"
"""The application id of databases that ``table`` writes, which can be written again."""
# The files of each kind of folder that commands write; the first one is always there.
_OWN_FOLDERS = (
    ("annotation.conf", "visual.conf", "*.ann", "*.txt", "sciextract.jsonl"),
    ("TypeSystem.xml", "*.xmi"),
    ("survey.md", "survey.html", "survey.bib", "trend.svg"),
    ("nodes.csv", "relationships.csv", "papers.csv", "mentions.csv"),
    ("map.txt", "network.txt"),
)


def _foreign_in(folder: Path) -> str:
    """Something in a folder that no command wrote there; empty where all of it looks like output."""
    known = next((own for own in _OWN_FOLDERS if (folder / own[0]).is_file()), ())
    listed = {CHECKSUMS}
    with suppress(OSError, UnicodeError):  # a release lists its files
        sums = (folder / CHECKSUMS).read_text("utf-8").splitlines()
        listed |= {line.partition("  ")[2] for line in sums}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        fits = name in listed or (
            "/" not in name and any(fnmatchcase(name, pattern) for pattern in known)
        )
        if not fits and not (path.is_dir() and not path.is_symlink()):
            return name
    return ""


@contextmanager
def whole_output(target: Path) -> Iterator[Path]:
    """A path next to the target to write to; it takes the target's place when the block ends well.

    Raises:
        OutputError: The target cannot be replaced.
    """
    with reported_as(str(target)), atomic.replacing(target, alone=True) as partial:
        yield partial


class _Report(Protocol):
    @property
    def exit_code(self) -> ExitCode: ...


_Made = TypeVar("_Made", bound=_Report)
_COPIED_CHARACTERS = 1 << 20


def write_whole(output: str | None, strict: bool, write: Callable[[Any], _Made]) -> _Made:
    """Write a file or folder whole or not at all, or standard output.

    Args:
        output: The file or folder; ``None`` or ``-`` for standard output.
        strict: Whether nothing may go to standard output before it is known that ``write`` does not fail.
        write: Writes to a path or stream; what it gives says by its exit code whether it failed.

    Raises:
        OutputError: The output cannot be written.
    """
    if output not in (None, STDIN):
        with whole_output(Path(str(output))) as partial:
            report = write(partial)
            if report.exit_code is ExitCode.FAILED:
                atomic.remove(partial)
            return report
    if not strict:
        with StandardOutput() as stream:
            return write(stream)
    # What has gone into a pipe cannot be taken back.
    with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="") as spool:
        report = write(spool)
        if report.exit_code is not ExitCode.FAILED:
            spool.seek(0)
            with StandardOutput() as stream:
                shutil.copyfileobj(spool, stream, _COPIED_CHARACTERS)
        return report


_OTHER_RUN = "give the inputs of the first run in the same order, or choose another --output"


@dataclass(slots=True)
class EarlierRun:
    """The complete lines of an output file, one at a time, so that memory stays constant.

    Attributes:
        path: The file.
        model_of: The model that predicts a document now.
        documents: Documents found done so far.
    """

    path: str
    model_of: Callable[[Document], ModelId]
    documents: int = 0

    def remaining(
        self, items: Iterable[ReadItem], on_skipped: Callable[[int], None]
    ) -> Iterator[ReadItem]:
        """The items without the documents that the file holds already; bad records come again.

        ``on_skipped`` is called with the number of documents that were found done so far.

        Raises:
            OutputError: A line is of another format or document, or there are more lines than documents.
            ModelMismatchError: Another model wrote the file.
        """
        lines = self._read()
        for item in items:
            line = None if isinstance(item, BadRecord) else next(lines, None)
            if line is None or isinstance(item, BadRecord):
                yield item
            else:
                self._check(line, item.document)
                on_skipped(self.documents)
        if next(lines, None) is not None:
            problem = f"{self.path} holds more than the {self.documents} documents of the inputs"
            raise OutputError(problem, _OTHER_RUN)

    def _read(self) -> Iterator[bytes]:
        """Complete lines; a torn rest is cut off after the last one, when all have been found right."""
        end = 0
        with open(self.path, "rb") as stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                yield line
        with reported_as(self.path):
            os.truncate(self.path, end)

    def _check(self, line: bytes, document: Document) -> None:
        """Count a line, and hold it against the document that should have made it.

        Raises:
            OutputError: It is of another format or document.
            ModelMismatchError: Another model wrote it.
        """
        self.documents += 1
        place = f"{self.path}:{self.documents}"
        record = None
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
        if not isinstance(record, dict) or "schema_version" not in record:
            problem = f"{place}: this is not a line of --to jsonl"
            raise OutputError(problem, "choose another --output")
        model, found = self.model_of(document), record.get("model")
        if found != {"name": model.name, "hash": model.hash}:
            other = "no model"
            if isinstance(found, dict):
                other = str(ModelId(str(found.get("name")), str(found.get("hash"))))
            raise ModelMismatchError(
                f"{place}: written by {other}, this run uses {model}",
                "use the model of the file, or choose another --output",
            )
        if record.get("doc_key") != document.doc_key:
            names = f"{quoted(record.get('doc_key'))}, the input has {quoted(document.doc_key)}"
            raise OutputError(f"{place}: the line holds {names}", _OTHER_RUN)
        if record.get("text_sha256") != document.text_sha256:
            text = f"a different text of {quoted(document.doc_key)} than the input"
            raise OutputError(f"{place}: the line holds {text}", _OTHER_RUN)
