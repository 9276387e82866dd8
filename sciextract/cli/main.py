"""The command ``sciextract``. Command modules import only Typer and the standard library at their top."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.completion import shell_complete
from typer.core import TyperGroup

from sciextract import __version__
from sciextract.cli.console import HELP, flag, run_guarded
from sciextract.errors import ExitCode, UsageError
from sciextract.text.characters import visible

# The variable in which the script of ``--show-completion`` asks for the words that may follow.
_COMPLETE = "_SCIEXTRACT_COMPLETE"

# What SQLite takes for an integer.
_LARGEST = 2**63 - 1

# The commands in their order, as ``--help`` shows them.
_SECTIONS = {
    "Abstracts": "annotate convert evaluate",
    "Projects": "init import suggest tui done reopen remove export table status search stats queue schema vocabulary",
    "Safety of a project": "log undo redo backup doctor",
    "Several annotators": "divide merge agree adjudicate",
    "Models and training": "learn models retrain jobs",
    "Knowledge graph": "graph",
}
_COMMANDS = " ".join(_SECTIONS.values()).split()

# Modules of the commands that are not called like their module.
_MODULES = {
    "project_files": "convert init import export",
    "status": "search stats",
    "finishing": "done reopen remove",
    "maintenance": "log undo redo backup doctor",
    "teams": "divide merge agree adjudicate",
    "training": "learn retrain",
    "schemas": "schema",
}


class _Sections(TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        known = self.commands
        width = max(map(len, known))
        limit = formatter.width - 6 - width
        for title, names in _SECTIONS.items():
            shown = [(name, known[name]) for name in names.split()]
            # All columns begin at the same place.
            rows = [(name.ljust(width), made.get_short_help_str(limit)) for name, made in shown]
            with formatter.section(title):
                formatter.write_dl(rows)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Args:
        arguments: The words after ``sciextract``; those of the process when ``None``.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    # Looking for garbage takes a twentieth of a start's time, and at the desk longer than most keys may.
    gc.set_threshold(50_000, 20, 100)
    sys.exit(run_guarded(lambda: _run(words)))


def _start(context: typer.Context, version: bool = flag("Show the version.", "--version")) -> None:
    """Entities, relations and coreference from scientific abstracts, on your own machine.

    Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed or nothing
    usable, 2 usage error, 3 some records were bad, 4 model, project or input file missing, 130 interrupted.
    """
    if version:
        typer.echo(f"sciextract {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(ExitCode.USAGE)


@cache
def make_app(only: str | None = None) -> typer.Typer:
    """The command line with all commands, or with one of them.

    To import all of them and have Typer make them takes 70 ms, which whoever calls one does not pay.
    """
    app = typer.Typer(
        name="sciextract", cls=_Sections, rich_markup_mode=None, pretty_exceptions_enable=False,
        context_settings=HELP,
    )  # fmt: skip
    app.callback(invoke_without_command=True)(_start)
    modules = {name: module for module, names in _MODULES.items() for name in names.split()}
    for name in [only] if only else _COMMANDS:
        module = import_module(f"sciextract.cli.{modules.get(name, name)}")
        found = getattr(module, "import_" if name == "import" else name)
        if isinstance(found, typer.Typer):
            app.add_typer(found)
        else:
            app.command(name)(found)
    return app


def _run(words: list[str]) -> int:
    """Parse and invoke without Typer's own frame, which would answer for closed pipes and Ctrl-C."""
    instruction = os.environ.get(_COMPLETE)
    only = words[0] if words and words[0] in _COMMANDS and not instruction else None
    command = typer.main.get_command(make_app(only))
    if instruction:
        return shell_complete(command, {}, "sciextract", _COMPLETE, instruction)
    try:
        with command.make_context("sciextract", words) as context:
            command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.TyperException as error:
        at: typer.Context | None = getattr(error, "ctx", None)
        if at is not None:
            help_ = f"Try '{at.command_path} --help' for help."
            typer.echo(f"{at.get_usage()}\n{help_}\n", err=True)
        typer.echo(f"Error: {visible(error.format_message(), keep=chr(10))}", err=True)
        return error.exit_code
    except OverflowError as error:
        huge = [word.rpartition("=")[2] for word in words if re.search(r"\d{19}", word)]
        if not huge:
            raise
        raise UsageError(
            f"{', '.join(huge)}: too large a number", f"numbers go up to {_LARGEST:,}"
        ) from error
    return ExitCode.DONE
