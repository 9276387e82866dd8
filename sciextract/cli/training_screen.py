"""How a training looks: live progress for people on stderr, JSON lines for machines, the end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from sciextract.errors import MissingExtraError
from sciextract.text.characters import visible
from sciextract.workflows.events import Report, json_report

if TYPE_CHECKING:
    from sciextract.retraining.request import Ending


def reporting(as_json: bool, first: bool = True) -> AbstractContextManager[Report]:
    """Who gets the events: a person, or a program that reads lines; nobody, of all but the first process."""
    if not first:
        return nullcontext(lambda event: None)
    return nullcontext(json_report) if as_json else live_report()


def show_ending(ending: Ending) -> None:
    """Print both models on the held-out abstracts, and what came of it."""
    from sciextract.cli.console import say
    from sciextract.cli.models_view import gate_table

    gate_table(ending.report, ("before", "after", "difference", "P(better)"))
    say("", ending.told, ending.hint)


def show_seeds(scores: Mapping[str, Any]) -> None:
    """Print F1 of each seed and task, their mean and sample standard deviation."""
    import typer

    def line(name: str, of: Mapping[str, Any]) -> str:
        return f"{name:>6}" + "".join(f"{of[task]:>14.2f}" for task in tasks)

    tasks = list(scores["mean"])
    typer.echo("dev F1" + "".join(f"{task:>14}" for task in tasks))
    for seed, found in scores["seeds"].items():
        typer.echo(line(seed, found))
    typer.echo(line("mean", scores["mean"]))
    if len(scores["seeds"]) > 1:
        typer.echo(line("sd", scores["sd"]))


@contextmanager
def live_report() -> Iterator[Report]:
    """A progress line with losses, rate and remaining time, and a line per event, on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[losses]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=None, visible=False, epoch=0, epochs=1, losses="")

        def report(event: dict[str, Any]) -> None:
            kind = event["event"]
            if kind == "start":
                progress.update(task, epochs=event["epochs"])
            if kind == "step":
                progress.update(task, visible=True, **_step_fields(event, progress.tasks[0].fields))
            elif line := line_of(event):
                console.print(visible(line), highlight=False, markup=False, soft_wrap=True)

        yield report


def _step_fields(event: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    loss = event["loss"]
    done = (event["epoch"] - 1) * event["of"] + event["documents"]
    return {
        "completed": done,
        "total": known["epochs"] * event["of"],
        "epoch": event["epoch"],
        "losses": f"loss entity {loss['entity']:.1f} relation {loss['relation']:.1f} "
        f"coreference {loss['coreference']:.1f}, {event['documents_per_second']:.1f} documents/s",
    }


def line_of(event: Mapping[str, Any]) -> str:
    """An event in words; empty for what is told elsewhere.

    >>> line_of({"event": "memory", "device": "cpu", "documents": 2})
    'memory is short on cpu: going on with 2 documents at once'
    """
    template = _LINES.get(event["event"])
    if template is None:
        return " ".join(f"{key} {value}" for key, value in event.items())
    return template(event)


def _start(event: Mapping[str, Any]) -> str:
    if "start_model" not in event:
        return f"up to {event['epochs']} epochs on {event['device']}"
    return (
        f"training on from {event['start_model']} ({event['weights']} weights) on {event['device']}, "
        f"up to {event['epochs']} epochs; run folder {event['folder']}"
    )


def _snapshot(event: Mapping[str, Any]) -> str:
    base = (
        f", {event['share_of_base']:.0%} of train from the base" if event["share_of_base"] else ""
    )
    return (
        f"snapshot: {event['train']} abstracts to train on, {event['dev']} to choose by, "
        f"{event['gate']} to compare on, {event['undecided']} undecided{base}"
    )


def _dev(event: Mapping[str, Any]) -> str:
    def score(key: str) -> str:
        return "-" if event.get(key) is None else f"{event[key]:.1f}"

    return (
        f"epoch {event['epoch']}: dev entity {score('entity')} relation {score('relation')} "
        f"(unordered {score('unordered')}, strict {score('strict')}) coreference {score('coreference')}"
    )


def _done(event: Mapping[str, Any]) -> str:
    written = [] if "message" in event else [f"written: {event['output']}"]
    curves = [f"learning curves: {event['curves']}"] if "curves" in event else []
    return "; ".join([*written, *curves])


def _stopped(event: Mapping[str, Any]) -> str:
    return f"{event['message']}; go on with: {event['hint']}"


_LINES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "start": _start,
    "snapshot": _snapshot,
    "data": lambda event: f"{event['train']} documents to train on, {event['dev']} to choose by",
    "warning": lambda event: f"note: {event['message']}",
    "forgetting": lambda event: f"against forgetting: {event['message']}",
    "labelled": lambda event: f"labelled {event['documents']} of {event['of']} abstracts",
    "resumed": lambda event: f"going on after epoch {event['epoch']}",
    "memory": lambda event: (
        f"memory is short on {event['device']}: going on with {event['documents']} documents at once"
    ),
    "dev": _dev,
    "export": lambda event: "exporting",
    "seed": lambda event: f"seed {event['seed']} ({event['number']} of {event['of']})",
    "seed_scores": lambda event: "",  # the table is printed at the end
    "gate": lambda event: "",  # the table is printed at the end, and what came of it
    "done": _done,
    "error": lambda event: "",  # the outermost frame prints it
    "stopped": _stopped,
}


_EXTRA = frozenset({"torch", "transformers", "safetensors", "onnx", "onnxscript"})


@contextmanager
def needs_extra() -> Iterator[None]:
    """Names the extra where an import needs its packages."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name in _EXTRA:
            raise MissingExtraError("training", "train") from error
        raise


@contextmanager
def stoppable() -> Iterator[None]:
    """Lets an interrupt and a polite kill stop at a resumable point, also in the background of a shell."""
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, signal.default_int_handler) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def same_command(words: Mapping[str, Any]) -> list[str]:
    """The command again, for each of several processes."""
    command = [sys.executable, "-m", "sciextract", "retrain"]
    for key, value in words.items():
        name = "--json" if key == "as_json" else f"--{key.replace('_', '-')}"
        command += [name if value is True else f"{name}={value}"]
    return command
