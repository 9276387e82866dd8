"""Errors that name the place, the value found, the values allowed and the next step.

Every error a user can cause is a :class:`SciextractError`. ``message`` says what is wrong, ``hint`` what
to do next, and ``exit_code`` what the command line returns (see :class:`ExitCode`).
"""

from __future__ import annotations

import errno
import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from urllib.parse import unquote, urlsplit

NO_ROOM = {
    getattr(errno, "EDQUOT", errno.ENOSPC): "the disk quota is used up",
    errno.EFBIG: "the file is larger than is allowed here",
    errno.ENOSPC: "the disk is full",
}
"""Why a file cannot grow, by the number of the operating system's error."""


class ExitCode(IntEnum):
    """Exit codes of every command; stable from the first release."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    PARTIAL = 3
    MISSING = 4
    INTERRUPTED = 130

    @classmethod
    def of(cls, usable: object, partly: object) -> ExitCode:
        """Failed where nothing came of it, else partly done where something was left out, else done."""
        return (cls.PARTIAL if partly else cls.DONE) if usable else cls.FAILED


def as_command(*words: object) -> str:
    """A command to paste into a shell: names with blanks or with signs of the shell stay single words.

    Examples:
        >>> as_command("sciextract", "init", "my abstracts.sciextract")
        "sciextract init 'my abstracts.sciextract'"
    """
    return shlex.join(map(str, words))


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation.

    A package that was installed from a checkout or from a file may be on no index, so the command names
    that place, as pip recorded it (PEP 610).
    """
    from importlib import metadata  # only a failing command pays for this import

    try:
        recorded = metadata.distribution("sciextract").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # run from a folder on PYTHONPATH
        recorded = None
    source = json.loads(recorded or "{}")
    url = urlsplit(source.get("url", ""))
    place = Path(unquote(url.path))
    if url.scheme != "file" or not place.exists():
        return as_command("pip", "install", f"sciextract[{extra}]")
    editable = ["--editable"] if source.get("dir_info", {}).get("editable") else []
    return as_command("pip", "install", *editable, f"{place}[{extra}]")


def no_room(error: OSError) -> str:
    """Why nothing more can be written; empty for an error of another kind."""
    return NO_ROOM.get(error.errno or 0, "")


def write_crash_report(error: BaseException) -> Path:
    """Write a report without any text of the user next to earlier ones, in ``$SCIEXTRACT_HOME`` or where the platform keeps the state of programs.

    Returns:
        Its path.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    # Imported here: only a program that fails pays for them.
    import platform
    import sys
    import time
    import traceback

    from sciextract import __version__

    if home := os.environ.get("SCIEXTRACT_HOME"):
        state = Path(home)
    else:
        from platformdirs import user_state_path

        state = user_state_path("sciextract", appauthor=False)
    # Names of options only: what stands behind them may be a file that is named after its content.
    options = [word.partition("=")[0] for word in sys.argv[1:] if word.startswith("--")]
    lines = [
        f"sciextract {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"options: {' '.join(options) or 'none'}",
    ]
    current: BaseException | None = error
    while current is not None:
        # No message: it may quote an abstract.
        lines.append(f"{type(current).__module__}.{type(current).__qualname__}")
        frames = traceback.extract_tb(current.__traceback__)
        lines += traceback.StackSummary.from_list(frames).format()
        current = current.__cause__ or current.__context__
    folder = state / "crashes"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
    return path


class SciextractError(Exception):
    """Base of all errors that a user can cause.

    Args:
        message: What is wrong, with the place and the value found.
        hint: The next step, empty when there is none.
    """

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SciextractError):
    """The words on the command line, or the arguments of a call, do not fit together."""

    exit_code = ExitCode.USAGE


class InputMissingError(SciextractError):
    """An input file, project or folder does not exist."""

    exit_code = ExitCode.MISSING


class OutputError(SciextractError):
    """The output cannot be written: read-only, full disk, or it would overwrite something."""


NOTHING_CHANGED = "nothing was changed"
"""What is whole when something that is written as a whole could not be."""


@contextmanager
def explain_write_errors(
    place: object,
    hint: str = "",
    *,
    kept: str = "",
    when_full: str = "free some space and repeat the command",
) -> Iterator[None]:
    """Turns operating system errors into an :class:`OutputError` that names the place.

    Args:
        place: The file or folder that is written.
        hint: The next step when it cannot be.
        kept: What is whole when the disk is full, for the message.
        when_full: The next step then.

    Raises:
        OutputError: The block raised an ``OSError``; a closed pipe stays what it is.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if reason := no_room(error):
            problem = f"{place}: {reason}; {kept}" if kept else f"{place}: {reason}"
            raise OutputError(problem, when_full) from error
        raise OutputError(f"{place}: cannot be written: {error.strerror or error}", hint) from error


class FormatError(SciextractError):
    """A file, or one record of it, does not have the format it should have.

    Args:
        problem: What is wrong, with the value found.
        path: The file, or ``-`` for standard input.
        line: 1-based line number, when known.
        column: 1-based column in characters, when known.
        hint: The next step.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path = "",
        line: int | None = None,
        column: int | None = None,
        hint: str = "",
    ) -> None:
        self.problem = problem
        self.path = str(path)
        self.line = line
        self.column = column
        super().__init__(f"{self.place}: {problem}" if self.place else problem, hint)

    @property
    def place(self) -> str:
        """``file:line:column``, as far as each is known."""
        parts = [self.path or None, self.line, self.column if self.line is not None else None]
        return ":".join(str(part) for part in parts if part is not None)


class SchemaError(SciextractError):
    """A label schema has a mistake, or annotations do not fit the schema."""


class TrainingDataError(SciextractError):
    """There is nothing to train on, or a training snapshot is incomplete or damaged."""


class ModelNotFoundError(SciextractError):
    """No model has that name, folder or hub id."""

    exit_code = ExitCode.MISSING


class ModelDamagedError(SciextractError):
    """A model folder lacks a file, or a file does not have the recorded size or hash."""


class ModelMismatchError(SciextractError):
    """A model does not fit its own configuration, or the schema it is used with."""


class ModelVersionError(SciextractError):
    """A model folder was written by a newer version of sciextract."""


class DeviceError(SciextractError):
    """The device that a model is to run on cannot be used."""


class MissingExtraError(SciextractError):
    """A feature needs packages of an extra that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs packages that are not installed",
            install_command(extra),
        )


class ProjectError(SciextractError):
    """A project file cannot be used, or an action on it cannot be done."""


class ProjectMissingError(ProjectError):
    """There is no project file of that name, or none can be found."""

    exit_code = ExitCode.MISSING


class NotAProjectError(ProjectError):
    """The file is not an SQLite file, or an SQLite file of another program."""


class ProjectVersionError(ProjectError):
    """A sciextract with other tables wrote the project."""


class ProjectDamagedError(ProjectError):
    """SQLite finds the project file damaged."""


class ProjectBusyError(ProjectError):
    """Another process has been writing to the project for too long."""


class ProjectReadOnlyError(ProjectError):
    """The project lies on read-only media, or the user may not write it."""


class ProjectReplacedError(ProjectError):
    """The file under the project's name is not the one that was opened; the action was not saved."""


class ProjectFullError(ProjectError):
    """The disk is full; the action was not saved, what was saved before is whole."""


class ActionRefusedError(ProjectError):
    """An action breaks a rule, or its result exists already; nothing was changed."""


class IllegalPairError(ActionRefusedError):
    """The schema does not allow a relation between these entities; nothing was changed."""


class UndoRefusedError(ProjectError):
    """There is nothing to undo or redo, or later actions depend on it; nothing was changed."""


class RemoteError(SciextractError):
    """Another machine cannot be reached, lacks something, or a job on it failed."""


class JobStoppedError(RemoteError):
    """A job on another machine was stopped by the user and can be resumed."""
