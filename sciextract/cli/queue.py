"""``sciextract queue``: saved queues of abstracts, and their orders."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from sciextract.cli.console import (
    JsonOption,
    ProjectOption,
    QuietOption,
    argument,
    command_group,
    open_chosen_project,
    option,
    print_row,
    report,
)
from sciextract.text.english import counted

queue = command_group(
    "queue",
    "Make, list, show and drop saved queues: the abstracts to correct next.\n\n"
    "To work through one at the desk: sciextract tui, then F3.",
    alone=True,
)
_Name = Annotated[str, argument("NAME", "The queue's name.", show_default=False)]


@queue.command()
def make(
    by: Literal["entropy", "random"] = typer.Option(
        "entropy", help="By the model's uncertainty, or in random order."
    ),
    model: str | None = option("NAME|DIR", "The model (default: the one in use)."),
    missing: str | None = option(
        "TYPE", "Instead: abstracts finished before the project had this type."
    ),
    likely: str | None = option(
        "ATTRIBUTE=VALUE", "Instead: abstracts that likely have this value of an attribute first."
    ),
    most: int = option("N", "Maximum number of abstracts.", min=1, default=200),
    name: str | None = option("NAME", "Name of the queue (default: that of --by)."),
    seed: int = option("N", "Seed of the random order.", min=0, default=0),
    project: ProjectOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Rank the abstracts that are not done yet, and save the first of them as a queue.

    Predictions in the project are reused; others are computed and not stored.

    Examples:

        sciextract queue make --by entropy --most 50

        sciextract queue make --missing Metric
    """
    from sciextract.cli.console import ProgressLine, is_terminal
    from sciextract.workflows.active.queues import (
        QueueOrder,
        make_queue,
        queue_likely,
        queue_missing,
    )
    from sciextract.workflows.active.ranking import By

    progress = ProgressLine(not quiet and is_terminal(sys.stderr))
    with open_chosen_project(project) as opened, progress as line:
        if missing is not None:
            kept = queue_missing(opened, missing, name or "")
            summary = {"name": kept.name, "missing": missing, "abstracts": len(kept.numbers)}
            words = f"{counted(len(kept.numbers), 'abstract')} finished before {missing} came"
        elif likely is not None:
            kept, shares = queue_likely(opened, likely, name or "", most, line.update)
            summary = {"name": kept.name, "likely": likely, "probabilities": shares}
            words = counted(len(kept.numbers), "abstract")
            words += f", {likely} with {shares[0]:.2f} to {shares[-1]:.2f}"
        else:
            # The words are written out above: importing By costs numpy, and --help would pay for it.
            order = QueueOrder(By(by), model or "", most, name or "", seed)
            made = make_queue(opened, order, line.update)
            kept, summary = made.queue, made.to_json()
            words = f"{len(kept.numbers):,} of {counted(made.pool, 'abstract')} that are not done"
            words += f", as {made.model} would have it" if made.model else ""
            if made.predicted:
                words += f" ({counted(made.predicted, 'prediction')} made for it)"
    words = f"queue {kept.name!r}: {words}; to work through it: sciextract tui, then F3"
    report(summary, words, as_json, quiet=quiet)


@queue.command("list")
def list_(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """List the saved queues."""
    from sciextract.cli.console import say
    from sciextract.store.queries import queue_lengths

    with open_chosen_project(project, read=True) as opened:
        lengths = queue_lengths(opened)
    for name, length in lengths.items():
        print_row({"name": name, "abstracts": length}, f"{length:>7,}  {name}", as_json)
    if not lengths and not as_json:
        say("", "no queue is saved", "sciextract queue make creates one, as does F4 in the desk")


@queue.command()
def show(name: _Name, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Show the abstracts of a queue in order, with their undecided items."""
    from dataclasses import asdict

    from sciextract.workflows.active.queues import abstracts_of

    with open_chosen_project(project, read=True) as opened:
        abstracts = abstracts_of(opened, name)
    for place, row in enumerate(abstracts, 1):
        progress = "done" if row.done else counted(row.undecided, "undecided", "undecided")
        line = f"{place:>5}  {row.doc_key}  {row.title[:80]}  {progress}"
        print_row(asdict(row), line, as_json)


@queue.command()
def drop(name: _Name, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Delete a queue; its abstracts and their annotations stay unchanged."""
    from sciextract.workflows.active.queues import drop_queue

    with open_chosen_project(project) as opened:
        drop_queue(opened, name)
    words = f"the queue {name} is deleted; its abstracts are unchanged"
    report({"dropped": name}, words, as_json)
