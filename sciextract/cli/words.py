"""Small pieces of the language in which commands report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from sciextract.cli.console import say

if TYPE_CHECKING:
    from pathlib import Path


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "abstract"), counted(3, "entity", "entities")
    ('1 abstract', '3 entities')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def warn_of_network(project: Path) -> None:
    """Say it when a project lies on a network file system, where it is written in another way."""
    from sciextract.store.file.filesystem import is_network

    if is_network(project):
        say(
            "Warning",
            f"{project} lies on a network file system: slower, and for one writer at a time",
            "a project is one file: copy it to a local disk to work on it",
        )


def report(summary: dict[str, Any], words: str, *, as_json: bool, aside: bool, quiet: bool) -> None:
    """The end of a command: JSON or a sentence.

    Args:
        summary: What ``--json`` prints.
        words: The same for people, on standard error.
        as_json: Whether JSON was asked for.
        aside: Whether data went to standard output, so that JSON goes to standard error.
        quiet: Whether words are not wanted.
    """
    if as_json:
        typer.echo(json.dumps(summary), err=aside)
    elif not quiet:
        say("", words)
