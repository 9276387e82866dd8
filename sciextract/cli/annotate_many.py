"""``sciextract annotate --workers``, ``--parts``: the side of the command for many abstracts."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from sciextract.cli.annotate_progress import interrupted, many_in_words
from sciextract.cli.console import is_terminal, report, say
from sciextract.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from sciextract.scale.interface import Engine
    from sciextract.scale.request import ManyListener, ManyReport, Request
    from sciextract.workflows.annotate_job import Target


@dataclass(frozen=True, slots=True)
class Many:
    """The options for many abstracts.

    Attributes:
        workers: Worker processes, if their number was given.
        parts: A folder of parts, if one was named.
        unordered: Whether results may come in any order.
        timeout: Seconds that an abstract may take, if they were given.
        engine: ``ray`` for a cluster, else processes of this machine.
        address: The cluster, if it was named.
    """

    workers: int | None
    parts: str | None
    unordered: bool
    timeout: float | None
    engine: str | None
    address: str | None

    def wanted(self) -> bool:
        """Whether this is a run of several workers.

        Raises:
            UsageError: An option for many abstracts has nothing to work on.
        """
        if self.workers is not None or self.parts is not None or self.engine is not None:
            return True
        alone = {"unordered": self.unordered, "timeout": self.timeout, "address": self.address}
        for name, given in alone.items():
            if given:
                raise UsageError(f"--{name} is for several workers", "add --workers N")
        return False


def annotate_many(
    request: Request, many: Many, target: Target, as_json: bool, quiet: bool
) -> ExitCode:
    """Run it, tell what was done.

    Raises:
        SciextractError: Nothing could be done, or the run cannot go on.
        Exit: Ctrl-C was pressed, or the process was asked to end.
    """
    from sciextract.cli.annotate_progress import ManyScreen

    _check(request, many, target)
    aside = many.parts is None and target.path is None
    shown = not quiet and is_terminal(sys.stderr) and not (aside and is_terminal(sys.stdout))
    screen = ManyScreen(request.inputs, request.input_format, progress=shown)
    try:
        with _ended_like_ctrl_c():
            done = _run(request, many, target, screen)
    except KeyboardInterrupt:
        screen.end()
        say("", *_interrupted(many, target, screen.documents))
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        screen.end()
    report(done.to_json(), many_in_words(done), as_json=as_json, aside=aside, quiet=quiet)
    return done.exit_code


def _run(request: Request, many: Many, target: Target, listener: ManyListener) -> ManyReport:
    from sciextract.scale.run import annotate_into_parts, annotate_into_stream

    engine = _engine(many, listener)
    if many.parts is not None:
        export = target.export or "jsonl"
        return annotate_into_parts(request, engine, many.parts, export, listener)
    return annotate_into_stream(request, engine, target, not many.unordered, listener)


def _engine(many: Many, listener: ManyListener) -> Engine:
    from sciextract.scale.processes import TIMEOUT_SECONDS, ProcessEngine

    timeout = many.timeout or TIMEOUT_SECONDS
    if many.engine == "ray":
        from sciextract.scale.ray.engine import RayEngine

        return RayEngine(many.workers, many.address, timeout, listener.note)
    from sciextract.inference.batching import usable_cores

    workers = many.workers or usable_cores()
    return ProcessEngine(workers, timeout, listener.note, listener.under_way)


def _check(request: Request, many: Many, target: Target) -> None:
    if request.choice.threads is not None:
        raise UsageError(
            "--threads and --workers exclude each other: a worker has one thread",
            "leave --threads out",
        )
    if many.address is not None and many.engine != "ray":
        raise UsageError("--address names a Ray cluster", "add --engine ray")
    if many.parts is None:
        return
    for name, given in {
        "output": target.path is not None,
        "resume": target.resume,
        "force": target.force,
        "unordered": many.unordered,
    }.items():
        if given:
            raise UsageError(
                f"--{name} and --parts exclude each other",
                "--parts FOLDER is the output, fills up in any order, and the same command goes on",
            )


def _interrupted(many: Many, target: Target, documents: int) -> tuple[str, str]:
    if many.parts is None and many.unordered:
        return f"interrupted after {documents} abstracts", "--parts FOLDER goes on in any order"
    if many.parts is None:
        return interrupted(target, documents)
    return (
        f"interrupted; the parts in {many.parts} are whole, {documents} abstracts from this run",
        "to go on: the same command again",
    )


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """What a scheduler sends before it kills ends a run as Ctrl-C does: workers first, then the last words."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
