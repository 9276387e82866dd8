"""What all commands share towards people: narration and progress on standard error, and the outermost frame."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self, TextIO, TypeVar

import typer

from sciextract.errors import ExitCode, SciextractError, no_room
from sciextract.text.characters import visible
from sciextract.text.english import counted, duration

if TYPE_CHECKING:
    from pathlib import Path

    from sciextract.store import Project


class Reportable(Protocol):
    """A report that JSON can hold."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""


_REDRAW_SECONDS = 0.1
_NARROWEST, _USUAL_WIDTH = 20, 80
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
# The next step where a file or folder cannot be used, by the number of the system's error.
_UNUSABLE = {
    **dict.fromkeys(_NOT_ALLOWED, "choose a place with read and write permission"),
    errno.ENAMETOOLONG: "most systems allow 255 bytes per file name and 4,095 per path; files created next to it count, too",
}


def say(kind: str, message: str, hint: str = "") -> None:
    """Print a message to standard error, and below it the next step; nothing in it can steer a terminal."""
    _print_error(f"{kind}: {visible(message)}" if kind else visible(message))
    if hint:
        _print_error(f"  {visible(hint)}")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at the stream."""
    return stream is not None and not stream.closed and stream.isatty()


def colours_wanted() -> bool:
    """Whether ``NO_COLOR`` (https://no-color.org) is absent or empty."""
    return not os.environ.get("NO_COLOR")


class ProgressLine:
    """One line on a terminal that tells count, rate and remaining time, drawn over itself.

    Args:
        shown: Whether to draw at all.
    """

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._drawn = False
        self._drawn_at = 0.0
        self._started = time.monotonic()

    def update(self, done: int, total: int | None = None, *, skipped: int = 0) -> None:
        """Draw, unless that was done a moment ago.

        Args:
            done: Records behind us.
            total: The expected count; ``None`` as long as it is unknown.
            skipped: Those of them that took no time.
        """
        now = time.monotonic()
        if not self._shown or now - self._drawn_at < _REDRAW_SECONDS:
            return
        line = progress_text(done, total, (done - skipped) / (now - self._started))
        width = _USUAL_WIDTH
        with suppress(OSError, ValueError):
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
            width = max(_NARROWEST, columns or _USUAL_WIDTH)
        # One column less: a full line wraps on some terminals, and \r no longer reaches its start.
        sys.stderr.write(f"\r\x1b[2K{line[: width - 1]}")
        sys.stderr.flush()
        self._drawn, self._drawn_at = True, now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Leave an empty line for a message."""
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
        self._drawn, self._drawn_at = False, 0.0


_MOST_WARNINGS = 5
# What differs between two warnings of one kind: quoted values and numbers.
_PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9][0-9,.]*")


class Screen:
    """Messages above a progress line; of many warnings about abstracts the first of each kind is shown.

    Args:
        shown: Whether to draw a progress line.
        more: Where the warnings that were not shown can be found.
    """

    def __init__(self, shown: bool, more: str) -> None:
        self.line = ProgressLine(shown)
        self._more = more
        self._warned = 0
        self._kinds: dict[str, tuple[str, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def say(self, kind: str, message: str, hint: str = "") -> None:
        self.line.clear()
        say(kind, message, hint)

    def warn(self, count: int, messages: Sequence[str]) -> None:
        """Count abstracts with warnings; ``messages`` (``KEY: WARNINGS``) are those of the first few of them."""
        self._warned += count
        for message in messages:
            kind = _PARTICULARS.sub("", message)
            first, like = self._kinds.get(kind, (message, 0))
            # All are counted, few are shown: a corpus in another language would fill the screen.
            if kind not in self._kinds and len(self._kinds) < _MOST_WARNINGS:
                self._kinds[kind] = (message, 0)
                self.say("Warning", message)
            elif kind in self._kinds:
                self._kinds[kind] = (first, like + 1)

    def end(self) -> None:
        """Clear the progress line and say how many warnings were not shown, by kind."""
        self.line.clear()
        kinds, more = self._kinds, self._warned - len(self._kinds)
        self._warned, self._kinds = 0, {}
        for message, like in kinds.values():
            if like:
                more -= like
                say("Warning", f"{counted(like, 'more abstract')} like {message}")
        if more > 0:
            say("Warning", f"{counted(more, 'more abstract')} with remarks; {self._more}")


def progress_text(done: int, total: int | None, per_second: float) -> str:
    """Count, rate and remaining time in words.

    >>> progress_text(1200, 10000, 40.0)
    '1,200 of 10,000 abstracts, 40.0 a second, 3 min 40 s left'
    """
    if total is None or total < done:
        return f"{done:,} abstracts, {per_second:.1f} a second"
    left = f", {duration((total - done) / per_second)} left" if per_second > 0 else ""
    return f"{done:,} of {total:,} abstracts, {per_second:.1f} a second{left}"


def run_guarded(command: Callable[[], int]) -> int:
    """Run a command as the outermost frame: every way to fail becomes a message and an exit code."""
    code: int = ExitCode.FAILED
    try:
        code = _run_command(command)
        sys.stdout.flush()
    # The reader, such as head, has what it wanted: not an error.
    except BrokenPipeError:
        _forget_standard_output()
        return ExitCode.DONE
    except OSError as error:
        _forget_standard_output()
        if code in (ExitCode.DONE, ExitCode.PARTIAL):
            say("Error", f"standard output: cannot be written: {error.strerror}")
        return code or ExitCode.FAILED
    return code


def _run_command(command: Callable[[], int]) -> int:
    try:
        return command()
    except SciextractError as error:
        say("Error", error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        say("", "interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        name = os.fsdecode(error.filename or "")
        if reason := no_room(error):
            say("Error", f"{name or 'standard output'}: {reason}")
        elif name and error.errno in _UNUSABLE:
            size = len(os.fsencode(name))
            length = f" ({size:,} bytes)" if error.errno == errno.ENAMETOOLONG else ""
            problem = f"{name} cannot be used: {error.strerror}{length}"
            say("Error", problem, _UNUSABLE[error.errno])
        else:
            return _unexpected(error)
        return ExitCode.USAGE if error.errno == errno.ENAMETOOLONG else ExitCode.FAILED
    except Exception as error:  # noqa: BLE001 - this is the outermost frame
        return _unexpected(error)


def _unexpected(error: Exception) -> int:
    from sciextract.errors import write_crash_report

    problem = f"sciextract failed unexpectedly ({type(error).__name__})"
    try:
        report = write_crash_report(error)
    except OSError as unwritten:
        say("Error", problem, f"no crash report could be written: {unwritten}")
    else:
        hint = f"please report it with {report}; the file contains none of your texts"
        say("Error", problem, hint)
    return ExitCode.FAILED


def _forget_standard_output() -> None:
    """Send what is still buffered nowhere, so that Python does not complain at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - lives until exit


def _print_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


_Options = TypeVar("_Options")


def command_with(
    options: type[_Options],
) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """Makes a command of a function that takes all its options as one dataclass.

    Typer reads the parameters of a command from its signature: here they are the fields of the dataclass.
    """

    def decorate(run: Callable[[_Options], None]) -> Callable[..., None]:
        @wraps(run)
        def command(**values: Any) -> None:
            run(options(**values))

        # The hints are strings here, and Typer needs the objects behind them.
        taken = signature(options, eval_str=True)
        command.__signature__ = taken  # type: ignore[attr-defined]
        command.__annotations__ = {name: of.annotation for name, of in taken.parameters.items()}
        return command

    return decorate


def given_options(options: object, *names: str) -> list[str]:
    """Those of some options, fields of a dataclass, that the command line holds: ``--like-this``."""
    values = ((name, getattr(options, name)) for name in names)
    given = [name for name, value in values if value not in (None, []) and value is not False]
    return [f"--{name.replace('_', '-')}" for name in given]


def input_formats(incomplete: str) -> list[str]:
    """The formats that can be read, for shell completion."""
    from sciextract.formats.registry import readable

    return [spec.id for spec in readable() if spec.id.startswith(incomplete)]


def output_formats(incomplete: str) -> list[str]:
    """The formats that can be written, for shell completion."""
    from sciextract.formats.registry import writable

    return [spec.id for spec in writable() if spec.id.startswith(incomplete)]


def model_names(incomplete: str) -> list[str]:
    """The bundled and registered models, for shell completion."""
    from sciextract.workflows.models.registry import known_models

    return [model.name for model in known_models() if model.name.startswith(incomplete)]


# Settings by metavar: every option or argument of that kind is a model.
_COMPLETED: dict[str, dict[str, Any]] = {"NAME|DIR": {"autocompletion": model_names}}


def option(metavar: str, help: str, *names: str, default: object = None, **settings: Any) -> Any:
    """An option as the default of a parameter; it is called after that, unless ``names`` say otherwise.

    Args:
        metavar: What stands for its value.
        help: Its help text.
        names: Such as ``--from``.
        default: Its value where it is not given; ``...`` where the parameter says it, with the option in its type.
        settings: Further ones of Typer.
    """
    settings = _COMPLETED.get(metavar, {}) | settings
    return typer.Option(default, *names, metavar=metavar, help=help, **settings)


def flag(help: str, *names: str, default: object = False) -> Any:
    """An option without a value, likewise."""
    return typer.Option(default, *names, help=help)


def argument(metavar: str, help: str, default: object = ..., **settings: Any) -> Any:
    """A positional argument; one without a default has to be given."""
    settings = _COMPLETED.get(metavar, {}) | settings
    return typer.Argument(default, metavar=metavar, help=help, **settings)


_WHICH = "The project file (default: $SCIEXTRACT_PROJECT, or the only *.sciextract file here)."
_WHO = "Name recorded for changes (default: $SCIEXTRACT_USER, or the login name)."
_OF_INPUT = "Format of the input (default: recognised by its content)."
ProjectOption = Annotated[str | None, option("DB", _WHICH, "--project", default=...)]
AuthorOption = Annotated[str | None, option("NAME", _WHO, "--author", default=...)]
InputFormatOption = Annotated[
    str | None, option("F", _OF_INPUT, "--from", autocompletion=input_formats, default=...)
]
JsonOption = Annotated[bool, flag("Print JSON, of lists one object a line.", "--json", default=...)]
JsonEventsOption = Annotated[bool, flag("Print progress as JSON lines.", "--json", default=...)]
QuietOption = Annotated[
    bool, flag("Show no progress and no summary.", "--quiet", "-q", default=...)
]
ForceOption = Annotated[bool, flag("Replace what is at --output.", "--force", default=...)]
StrictOption = Annotated[
    bool, flag("Fail and write nothing if the format would lose anything.", "--strict", default=...)
]


# The words that ask for help.
HELP = {"help_option_names": ["-h", "--help"]}


def command_group(name: str, help: str, *, alone: bool = False) -> typer.Typer:
    """A group of commands.

    Args:
        name: Its word.
        help: Its help text.
        alone: Whether it shows that text where no command of it is named; else that is an error.
    """
    group = typer.Typer(name=name, context_settings=HELP, rich_markup_mode=None, help=help)
    if alone:

        @group.callback(invoke_without_command=True, help=help)
        def show_help(context: typer.Context) -> None:
            if context.invoked_subcommand is None:
                typer.echo(context.get_help(), err=True)
                raise typer.Exit(ExitCode.USAGE)

    return group


def open_chosen_project(
    named: str | None, author: str | None = None, *, read: bool = False
) -> Project:
    """The project that a command means, opened.

    Raises:
        ProjectError: There is none, it cannot be opened, or not be written. UsageError: Several are here and none
        is named.
    """
    from sciextract.store import open_project

    return open_project(find_chosen_project(named), author, read=read)


def find_chosen_project(named: str | None) -> Path:
    """The path of the project that a command means; says it when that is not the one of the variable.

    Raises:
        ProjectMissingError: There is none. UsageError: Several are here and none is named.
    """
    from sciextract.resources import find_project

    return find_project(named, partial(say, "Note"))


def warn_of_network(project: Path) -> None:
    """Say it when a project lies on a network file system, where it is written in another way."""
    from sciextract.store.filesystem import is_network

    if is_network(project):
        slow = f"{project} lies on a network file system: it is slower there and allows one writer at a time"
        say("Warning", slow, "a project is one file: copy it to a local disk to work on it")


def report(
    summary: dict[str, Any], words: str, as_json: bool, *, aside: bool = False, quiet: bool = False
) -> None:
    """The end of a command: JSON or a sentence.

    Args:
        summary: What ``--json`` prints.
        words: The same for people, on standard error.
        as_json: Whether JSON was asked for.
        aside: Whether data went to standard output, so that JSON goes to standard error.
        quiet: Whether words are not wanted.
    """
    if as_json:
        typer.echo(json.dumps(summary), err=aside)
    elif not quiet:
        say("", words)


def print_report(report: Reportable, lines: Iterable[str], as_json: bool) -> None:
    """Print what a command tells: one JSON object, or lines for people."""
    if as_json:
        typer.echo(json.dumps(report.to_json()))
        return
    for line in lines:
        typer.echo(visible(line))


def print_row(values: Mapping[str, Any], line: str, as_json: bool) -> None:
    """Print an entry of a list: a JSON object, or a line for people."""
    typer.echo(json.dumps(values) if as_json else visible(line))
