"""``sciextract doctor``: is the project file sound, and what to do if it is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.options import AuthorOption, JsonOption, ProjectOption

if TYPE_CHECKING:
    from sciextract.store.health.findings import Findings
    from sciextract.store.health.repair import Repaired


def doctor(
    project: ProjectOption = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended, after a backup.")
    ] = False,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the whole project file: SQLite's own checks, the state against the log, offsets, counts.

    Nothing is changed without --repair, which rebuilds the state from the log and the search indexes, and
    saves what can be read of a damaged file into a new project beside it.

    Examples:

        sciextract doctor --project parsing.sciextract

        sciextract doctor --repair --project parsing.sciextract
    """
    from sciextract.errors import ExitCode
    from sciextract.store.health.doctor import examine
    from sciextract.store.health.doctor import repair as mend
    from sciextract.text.visible import visible
    from sciextract.workflows.project_choice import find_project

    path = find_project(project)
    repaired = mend(path, author) if repair else None
    found = repaired.after if repaired is not None else examine(path)
    if as_json:
        typer.echo(json.dumps((repaired or found).to_json()))
    else:
        for line in (*_lines(found), *(_mended(repaired) if repaired is not None else ())):
            typer.echo(visible(line))
    raise typer.Exit(ExitCode.DONE if found.sound else ExitCode.FAILED)


def _lines(found: Findings) -> Iterator[str]:
    hint = ""
    for finding in found.findings:
        if hint and finding.hint != hint:
            yield f"         {hint}"
        yield f"{finding.severity.value:<8} {finding.check}: {finding.message}"
        hint = finding.hint
    if hint:
        yield f"         {hint}"
    yield "the project is sound" if found.sound else "the project has errors"


def _mended(repaired: Repaired) -> Iterator[str]:
    """What was mended, in words."""
    if repaired.kept is not None:
        yield f"the file as it was: {repaired.kept}"
    for words, count in (
        ("abstracts rebuilt from the log", len(repaired.rebuilt)),
        ("abstracts counted anew", len(repaired.counted)),
        ("marks of unclean closes removed", repaired.forgotten),
    ):
        if count:
            yield f"{count:,} {words}"
    if repaired.indexed:
        yield "search indexes made anew"
    if repaired.salvaged is not None:
        saved = repaired.salvaged
        place = f"in {saved.path}" if saved.path else "nothing could be read"
        yield (
            f"saved from the damaged file: {saved.documents:,} of {saved.documents + saved.lost_documents:,} "
            f"abstracts, {saved.items:,} items: {place}"
        )
    if repaired.sound_backup is not None:
        yield f"newest sound backup: {repaired.sound_backup}"
