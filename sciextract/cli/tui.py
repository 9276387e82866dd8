"""``sciextract tui``: the review desk. Textual is imported only when the command runs."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from sciextract.cli.console import AuthorOption, is_terminal
from sciextract.errors import ExitCode, MissingExtraError, UsageError


def tui(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROJECT | FILES...]",
            help="A project, or files of abstracts (default: the only project here).",
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Label schema of a new project (default: the model's)."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="M", help="sci, bio, auto (the words choose), a model folder or hub id."
        ),
    ] = None,
    author: AuthorOption = None,
    no_predict: Annotated[
        bool, typer.Option("--no-predict", help="Do not let a model predict.")
    ] = False,
) -> None:
    """Review and correct abstracts in the terminal, one key per decision; every decision is saved at once.

    Files get a project of their own beside them. Without arguments the start screen offers recent projects.

    Examples:

        sciextract tui refs.bib

        sciextract tui parsing.sciextract --author ann
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError(
            "the review desk needs a terminal, and standard input or output is none",
            "in scripts: sciextract annotate, import, export",
        )
    # Looking for garbage among the objects of a long abstract takes longer than most keys may.
    gc.set_threshold(50_000, 20, 100)
    try:
        from sciextract_app.app import run_desk
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("textual", "sciextract_app"):
            raise MissingExtraError("the review desk", "tui") from error
        raise
    code = run_desk(paths or [], schema=schema, model=model, author=author, predict=not no_predict)
    raise typer.Exit(ExitCode.DONE if code is None else code)
