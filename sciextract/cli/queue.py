"""``sciextract queue``: saved queues of abstracts, and the orders of active learning."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import JsonOption, ProjectOption, QuietOption, counted, report
from sciextract.errors import ExitCode

if TYPE_CHECKING:
    from sciextract.workflows.active.queues import MadeQueue

queue = typer.Typer(
    name="queue",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The queue's name.", show_default=False)]


class OrderWord(StrEnum):
    """What ``--by`` knows; the words of :class:`sciextract.workflows.active.ranking.By`."""

    ENTROPY = "entropy"
    MARGIN = "margin"
    LEAST_CONFIDENCE = "least-confidence"
    COMMITTEE = "committee"
    DIVERSITY = "diversity"
    RANDOM = "random"


@queue.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Make, list, show and drop saved queues: the abstracts to correct next, in order.

    A queue lies in the project. The desk goes along it: sciextract tui, then F3.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(ExitCode.USAGE)


@queue.command()
def make(
    by: Annotated[
        OrderWord,
        typer.Option(
            help="Doubt of one model (entropy, margin, least-confidence), disagreement of several "
            "(committee), unlikeness to all others (diversity), or chance (random)."
        ),
    ] = OrderWord.ENTROPY,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|DIR",
            help="The model (default: the one that predicts); for a committee two or more times.",
        ),
    ] = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="At most so many abstracts.")] = 200,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call it (default: after --by).")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the random order.")] = 0,
    project: ProjectOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Rank the abstracts that are not done yet, and save the first of them as a queue.

    Predictions that the project holds are used; others are made now and not kept. What is decided already
    counts no longer. Nothing but the queue is written, and that at the very end.

    Examples:

        sciextract queue make --by entropy --most 50 --project parsing.sciextract

        sciextract queue make --by committee --model sci --model parsing-1a2b3c4d

        sciextract queue make --by diversity --name "first round"
    """
    from sciextract.cli.console import ProgressLine, is_terminal
    from sciextract.store import open_project
    from sciextract.workflows.active.queues import QueueOrder, make_queue
    from sciextract.workflows.active.ranking import By
    from sciextract.workflows.project_choice import find_project

    order = QueueOrder(By(by.value), tuple(model or ()), most, name or "", seed)
    line = ProgressLine(not quiet and is_terminal(sys.stderr))
    with open_project(find_project(project)) as opened:
        try:
            made = make_queue(opened, order, line.update)
        finally:
            line.clear()
    report(made.to_json(), _in_words(made), as_json=as_json, aside=False, quiet=quiet)


@queue.command("list")
def list_(
    project: ProjectOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the saved queues.

    Examples:

        sciextract queue list --project parsing.sciextract

        sciextract queue list --json
    """
    from sciextract.cli.console import say
    from sciextract.store import open_project
    from sciextract.store.queries import queue_lengths
    from sciextract.text.characters import visible
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), read=True) as opened:
        lengths = queue_lengths(opened)
    for name, length in lengths.items():
        entry = {"name": name, "abstracts": length}
        typer.echo(json.dumps(entry) if as_json else visible(f"{length:>7,}  {name}"))
    if not lengths and not as_json:
        say("", "no queue is saved", "sciextract queue make makes one; F4 at the desk, too")


@queue.command()
def show(
    name: _Name,
    project: ProjectOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show the abstracts of a queue in their order, with how many items of each are undecided.

    Examples:

        sciextract queue show entropy --project parsing.sciextract

        sciextract queue show "first round" --json
    """
    from dataclasses import asdict

    from sciextract.store import open_project
    from sciextract.text.characters import visible
    from sciextract.workflows.active.queues import abstracts_of
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), read=True) as opened:
        found = abstracts_of(opened, name)
    for place, each in enumerate(found, 1):
        progress = "done" if each.done else counted(each.undecided, "undecided", "undecided")
        line = f"{place:>5}  {each.doc_key}  {each.title[:80]}  {progress}"
        typer.echo(json.dumps(asdict(each)) if as_json else visible(line))


@queue.command()
def drop(name: _Name, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Forget a queue; its abstracts and everything decided about them stay as they are.

    Example:

        sciextract queue drop entropy --project parsing.sciextract
    """
    from sciextract.store import open_project
    from sciextract.workflows.active.queues import drop_queue
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project)) as opened:
        drop_queue(opened, name)
    words = f"the queue {name} is forgotten, its abstracts stay as they are"
    report({"dropped": name}, words, as_json=as_json, aside=False, quiet=False)


def _in_words(made: MadeQueue) -> str:
    words = f"queue {made.queue.name!r}: {len(made.queue.numbers):,} of "
    words += f"{counted(made.pool, 'abstract')} that are not done"
    if made.models:
        words += f", as {' and '.join(made.models)} would have it"
    if made.predicted:
        words += f" ({counted(made.predicted, 'prediction')} made for it)"
    return f"{words}; sciextract tui, then F3, goes along it"
