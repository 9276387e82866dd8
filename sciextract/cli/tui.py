"""``sciextract tui``: the review desk. Textual is imported only when the command runs."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import typer

from sciextract.cli.console import (
    AuthorOption,
    ProjectOption,
    argument,
    flag,
    is_terminal,
    option,
    say,
)
from sciextract.errors import ExitCode, MissingExtraError, UsageError


def tui(
    paths: list[str] | None = argument(
        "[PROJECT | FILES...]",
        "A project, or files of abstracts (default: the only project here).",
        default=None,
    ),
    schema: str | None = option(
        "NAME|FILE", "Label schema of a new project (default: the model's)."
    ),
    model: str | None = option(
        "M", "sci, bio, science, auto (by the abstract's words), a model folder or hub id."
    ),
    author: AuthorOption = None,
    project: ProjectOption = None,
    no_predict: bool = flag("Run no model.", "--no-predict"),
    web: bool = flag("Serve the desk to a browser; the link to open is printed.", "--web"),
    host: str = option("ADDRESS", "With --web: the address to listen on.", default="127.0.0.1"),
    port: int = option(
        "N", "With --web: the port; 0 for any free one.", min=0, max=65535, default=8000
    ),
) -> None:
    """Review and correct abstracts in the terminal, one key per decision.

    Every decision is saved immediately. For files, a project is created next to them. Without arguments, the start
    screen lists recent projects.

    Examples:

        sciextract tui refs.bib

        sciextract tui parsing.sciextract --author ben --web
    """
    paths = [*([project] if project else []), *(paths or [])]
    if web:
        options = {"--schema": schema, "--model": model, "--author": author}
        words = [word for name, value in options.items() if value for word in (name, value)]
        words += ["--no-predict"] * no_predict
        _serve(paths, words, host, port)
        return
    # textual-serve runs this command with pipes and names the driver that reads them.
    served = "web_driver" in os.environ.get("TEXTUAL_DRIVER", "")
    if not (served or (is_terminal(sys.stdin) and is_terminal(sys.stdout))):
        raise UsageError(
            "the review desk needs a terminal; standard input or output is not one",
            "in scripts: sciextract annotate, import, export",
        )
    try:
        from sciextract_app.app import run_desk

        code = run_desk(paths, schema=schema, model=model, author=author, predict=not no_predict)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("textual", "sciextract_app"):
            raise MissingExtraError("the review desk", "tui") from error
        raise
    raise typer.Exit(ExitCode.DONE if code is None else code)


def _serve(paths: list[str], words: list[str], host: str, port: int) -> None:
    """Serve the desk to browsers until Ctrl-C.

    Raises:
        MissingExtraError: The extra is not installed.
        SciextractError: The paths mean nothing that can be opened, or the address is taken.
    """
    try:
        from sciextract_app.opening import plan
        from sciextract_app.web import WebDesk
    except ModuleNotFoundError as error:
        raise MissingExtraError("the desk in a browser", "web") from error
    # Checked here, so that a wrong path is a message now and not an empty page in the browser.
    plan(paths)
    join = subprocess.list2cmdline if os.name == "nt" else shlex.join
    command = [sys.executable, "-m", "sciextract", "tui", *words, "--", *paths]
    desk = WebDesk(join(command), host, port)
    access = "anyone with the link has access; Ctrl-C stops the server"
    say("", f"the desk is at {desk.link}", access)
    if not desk.is_local:
        open_to = f"{host} can be reached from other machines"
        say("Warning", f"{open_to}, and the connection is not encrypted")
    desk.serve()
