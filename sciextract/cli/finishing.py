"""``sciextract done``, ``reopen`` and ``remove``: many abstracts at once."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import (
    AuthorOption,
    JsonOption,
    ProjectOption,
    open_chosen_project,
    option,
    report,
)
from sciextract.errors import ExitCode
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.store.selection import Selection

QUEUE = option("NAME", "Only abstracts of this saved queue.")
KEYS = option("FILE", "Only abstracts whose keys are in this file, one a line.")
SINCE = option("DATE", "Only abstracts that a person worked on since then (2026-11-28).")
BY = option("NAME", "Only abstracts that this person worked on.")
_Layers = option(
    "LAYERS",
    "Some of entities,relations,coreference (default: those that the project has items of).",
)


def done(
    queue: str | None = QUEUE,
    keys: Path | None = KEYS,
    since: str | None = SINCE,
    by: str | None = BY,
    layers: str | None = _Layers,
    undecided: Literal["skip", "accept", "reject"] = typer.Option(
        "skip", help="What to do with abstracts that have undecided items."
    ),
    project: ProjectOption = None,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Mark abstracts as done: somebody has looked for every type in them.

    In a queue of abstracts that lack a type (queue make --missing), only that type is marked as looked for.

    Examples:

        sciextract done --queue "first round"

        sciextract done --keys finished.txt --layers entities --undecided reject
    """
    from sciextract.workflows.finishing import mark_done

    chosen = selection(queue, keys, since, by)
    with open_chosen_project(project, author) as opened:
        made = mark_done(opened, chosen, layers, undecided)
    words = f"{counted(made.documents, 'abstract')} done: {' and '.join(made.layers)}"
    if made.waiting:
        words += f"; {made.waiting:,} skipped, items wait there (--undecided accept or reject)"
    report(asdict(made), words, as_json)
    raise typer.Exit(made.exit_code)


def reopen(
    queue: str | None = QUEUE,
    keys: Path | None = KEYS,
    since: str | None = SINCE,
    by: str | None = BY,
    layers: str | None = _Layers,
    project: ProjectOption = None,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open finished abstracts again; their items stay as they are.

    Example:

        sciextract reopen --by anna --since 2026-11-01 --layers relations
    """
    from sciextract.workflows.finishing import reopen as open_again

    chosen = selection(queue, keys, since, by)
    with open_chosen_project(project, author) as opened:
        made = open_again(opened, chosen, layers)
    words = f"{counted(made.documents, 'abstract')} opened again: {' and '.join(made.layers)}"
    report(asdict(made), words, as_json)
    raise typer.Exit(made.exit_code)


def remove(
    queue: str | None = QUEUE,
    keys: Path | None = KEYS,
    since: str | None = SINCE,
    by: str | None = BY,
    project: ProjectOption = None,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove abstracts from the project; undo brings them back with all decisions.

    Import leaves removed abstracts out (import --again takes them). export --former writes them.

    Example:

        sciextract remove --keys off-topic.txt
    """
    from sciextract.store.text_versions import remove as take_out
    from sciextract.workflows.finishing import chosen_numbers

    chosen = selection(queue, keys, since, by)
    with open_chosen_project(project, author) as opened:
        made = take_out(opened, chosen_numbers(opened, chosen))
    words = f"{counted(made.documents, 'abstract')} removed; undo takes it back"
    summary = {"documents": made.documents, "event": made.event_id}
    report(summary, words, as_json)
    raise typer.Exit(ExitCode.of(made.documents, False))


def selection(
    queue: str | None, keys: Path | None, since: str | None, author: str | None
) -> Selection:
    """The abstracts that the options choose.

    Raises:
        InputMissingError: There is no such file of keys.
    """
    from sciextract.errors import InputMissingError
    from sciextract.store.selection import Selection

    if keys is None:
        return Selection(queue, None, since, author)
    try:
        lines = keys.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputMissingError(
            f"{keys}: {error}", "give a text file with one key a line"
        ) from None
    return Selection(queue, frozenset(filter(None, map(str.strip, lines))), since, author)
