"""What ``sciextract annotate`` reads: files, a pipe, the sample, or the project of this folder."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import typer

from sciextract.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

_WAYS = """Nothing to annotate. Ways to call it:
  sciextract annotate papers.jsonl                     show files or folders here
  sciextract annotate papers/ --export jsonl --output results.jsonl
  cat abstract.txt | sciextract annotate               read a pipe
  sciextract annotate --project my.sciextract          predict what a project still needs
  sciextract annotate --sample                         try it with the sample abstracts"""


def meant_project(named: str | None, inputs: list[str], sample: bool) -> Path | None:
    """The project that is meant, if any: a named one, else that of this folder when nothing comes in."""
    from sciextract.workflows.project_choice import implied_project

    if named is not None:
        return implied_project(named)
    if inputs or sample or (_comes_in() and not _is_at_its_end()):
        return None
    return implied_project(None)


def meant_sources(words: list[str], sample: bool) -> list[str]:
    """What to read.

    Raises:
        UsageError: Nothing is named and nothing comes in through standard input.
    """
    if sample:
        if words:
            raise UsageError("--sample and INPUT exclude each other", "leave one of them out")
        from sciextract.resources import data_root

        return [str(data_root() / "sample_data" / "abstracts.jsonl")]
    if words or _comes_in():
        return words or ["-"]
    typer.echo(_WAYS, err=True)
    raise typer.Exit(ExitCode.USAGE)


def refuse_with_project(**options: bool) -> None:
    """Options that make no sense with a project.

    Raises:
        UsageError: One of them is given.
    """
    for name, given in options.items():
        if given:
            raise UsageError(
                f"--{name.replace('_', '-')} is not for projects",
                "leave it out, or name files instead of a project",
            )


def _comes_in() -> bool:
    """Whether standard input is a pipe, a file, or a test's stand-in for one."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _is_at_its_end() -> bool:
    """Whether a pipe holds nothing, as scripts leave it; waits for its first byte."""
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and not peek(1)
