"""Output of a training: live progress for people on stderr, JSON lines for programs, the result."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING

from sciextract.errors import MissingExtraError
from sciextract.text.characters import visible
from sciextract.text.english import counted

if TYPE_CHECKING:
    from pathlib import Path

    from sciextract.retraining.events import Listener, TrainingEvent
    from sciextract.retraining.run import RetrainResult
    from sciextract.retraining.run_folder import Run
    from sciextract.workflows.models.learned import LearnedModel


def report_events(as_json: bool, first: bool = True) -> AbstractContextManager[Listener]:
    """The listener: for a person, or a program that reads lines; of all but the first process, for nobody."""
    from sciextract.retraining.events import print_json

    if not first:
        return nullcontext(lambda event: None)
    return nullcontext(print_json) if as_json else live_report()


def show_result(result: RetrainResult | Run) -> None:
    """Print both models on the held-out abstracts, and what follows."""
    from sciextract.cli.console import say
    from sciextract.cli.evaluate import gate_table
    from sciextract.retraining.run import RetrainResult

    if isinstance(result, RetrainResult):
        gate_table(result.report, ("before", "after", "difference", "P(better)"))
        say("", result.message, result.hint)


def show_learned(learned: LearnedModel, project: Path, as_json: bool) -> None:
    """Print what is known of a model that was learned, and how to use it."""
    from sciextract.cli.console import report, say
    from sciextract.cli.evaluate import gate_table
    from sciextract.errors import as_command
    from sciextract.learning.validation import LEAST

    model, validation = learned.model, learned.validation
    taken = {
        "learned_from": learned.documents,
        "seconds": round(learned.seconds, 2),
        "bases": learned.bases,
    }
    gate = learned.gate and learned.gate.to_json()
    taken["attributes"] = [asdict(said) for said in learned.attributes]
    found = model.to_json() | taken | {"scores": validation.to_json(), "gate": gate}
    place = model.id if model.registered else str(model.folder)
    words = f"{model.id}: learned from {counted(learned.documents, 'abstract')} in {learned.seconds:.1f} s"
    if not as_json:
        if learned.bases:
            say("Note", learned.bases)
        for line in validation.lines():
            say("", line)
        for said in learned.attributes:
            found_right = (
                f"{round(100 * said.right)} % of {counted(said.places, 'place')} right by folds"
            )
            common = f"{round(100 * said.commonest)} % have the commonest value"
            say("", f"{said.label}: {found_right}, {common}; suggested at the desk")
        if not validation.layers:
            say("Note", f"not measured: that takes {LEAST} finished abstracts")
        if learned.unseen:
            why = "abstracts finished before a type came say nothing about it"
            say("Note", f"no abstract has {', '.join(learned.unseen)}: {why}")
        if learned.gate is not None:
            gate_table(learned.gate, ("base", "learned", "difference", "P(better)"))
    use = as_command("sciextract", "models", "use", place, "--project", project)
    annotate = as_command("sciextract", "annotate", "FILE", "--model", place, "--to", "jsonl")
    report(found, f"{words}; {annotate} predicts with it, {use} makes it the project's", as_json)


@contextmanager
def live_report() -> Iterator[Listener]:
    """A progress line with losses, rate and remaining time, and a line per event, on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from sciextract.retraining.events import FilesStarted, RunStarted, Step

    console = Console(stderr=True)
    epoch = TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}")
    losses = TextColumn("{task.fields[losses]}")
    columns = (epoch, BarColumn(bar_width=20), losses, TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=None, visible=False, epoch=0, epochs=1, losses="")

        def listen(event: TrainingEvent) -> None:
            if isinstance(event, RunStarted | FilesStarted):
                progress.update(task, epochs=event.epochs)
            if isinstance(event, Step):
                progress.update(
                    task,
                    visible=True,
                    completed=(event.epoch - 1) * event.of + event.documents,
                    total=progress.tasks[0].fields["epochs"] * event.of,
                    epoch=event.epoch,
                    losses=f"loss entity {event.loss.entity:.1f} relation {event.loss.relation:.1f} "
                    f"coreference {event.loss.coreference:.1f}, "
                    f"{event.documents_per_second:.1f} documents/s",
                )
            elif line := line_of(event):
                console.print(visible(line), highlight=False, markup=False, soft_wrap=True)

        yield listen


def line_of(event: TrainingEvent) -> str:
    """An event in words; empty for what is printed elsewhere.

    >>> from sciextract.retraining.events import MemoryShort
    >>> line_of(MemoryShort(device="cpu", documents=2))
    'out of memory on cpu: continuing with 2 documents per batch'
    """
    from sciextract.retraining import events

    match event:
        case events.RunStarted():
            still = f" (stops when dev stands still for {event.patience})" if event.patience else ""
            why = f", {event.why}" if event.why else ""
            return (
                f"training on from {event.start_model} ({event.weights} weights{why}) on {event.device}, "
                f"up to {event.epochs} epochs{still}; run folder {event.folder}"
            )
        case events.FilesStarted():
            kind = "bfloat16" if event.bf16 else "float32"
            return f"up to {event.epochs} epochs on {event.device}, in {kind}"
        case events.SnapshotOpened():
            share = event.share_of_base
            base = f", {share:.0%} of train from the base" if share else ""
            return (
                f"snapshot: {event.train} abstracts to train on, {event.dev} to choose by, "
                f"{event.gate} to compare on, {event.undecided} undecided{base}"
            )
        case events.DataRead():
            return f"{event.train} documents to train on, {event.dev} to choose by"
        case events.Warned():
            return f"note: {event.message}"
        case events.ForgettingMethod():
            return f"against forgetting: {event.message}"
        case events.DocumentsLabelled():
            return f"labelled {event.documents} of {event.of} abstracts"
        case events.Resumed():
            return f"resuming after epoch {event.epoch}"
        case events.MemoryShort():
            return (
                f"out of memory on {event.device}: "
                f"continuing with {event.documents} documents per batch"
            )
        case events.DevScored():
            names = ("entity", "relation", "unordered", "strict", "coreference")
            found = {name: getattr(event, name) for name in names}
            f1 = {name: "-" if score is None else f"{score:.1f}" for name, score in found.items()}
            return (
                f"epoch {event.epoch}: dev entity {f1['entity']} relation {f1['relation']} "
                f"(unordered {f1['unordered']}, strict {f1['strict']}) coreference {f1['coreference']}"
            )
        case events.Exporting():
            return "exporting"
        case events.FoldStarted():
            return (
                f"cross-validation, training {event.number} of {event.of}: "
                f"without {event.documents} of the finished abstracts, to predict them"
            )
        case events.FilesDone():
            return f"written: {event.output}"
        case events.Stopped():
            return f"{event.message}; continue with: {event.hint}"
    return ""  # scores are printed at the end, errors by the outermost frame


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
def stop_on_signals(*kinds: signal.Signals) -> Iterator[None]:
    """Lets an interrupt and a polite kill stop at a resumable point, also in the background of a shell.

    Args:
        kinds: Only these signals.
    """
    # Shells start background jobs with SIGINT ignored, which a process inherits.
    kinds = kinds or (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, signal.default_int_handler) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
