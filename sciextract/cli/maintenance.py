"""``sciextract log``, ``undo``, ``redo``, ``backup`` and ``doctor``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import AuthorOption, JsonOption, ProjectOption, counted, report, say

if TYPE_CHECKING:
    from sciextract.store import Project
    from sciextract.store.events import Event
    from sciextract.store.maintenance.doctor import Repaired
    from sciextract.store.maintenance.findings import Findings


def log(
    project: ProjectOption = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="At most so many events.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List what was done to the project, newest first.

    Examples:

        sciextract log --project parsing.sciextract

        sciextract log --limit 1000 --json
    """
    import json
    from dataclasses import asdict

    from sciextract.store import open_project
    from sciextract.store.undo import describe
    from sciextract.text.characters import visible
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), read=True) as opened:
        found = opened.log(limit)
    for event in found:
        if as_json:
            typer.echo(json.dumps(asdict(event)))
            continue
        mark = "undone " if event.undone else ""
        target = f" of event {event.target}" if event.target else ""
        line = f"{event.id:>7}  {event.at[:19]}  {event.author}  {mark}{describe(event)}{target}"
        typer.echo(visible(f"{line}  [{counted(event.documents, 'abstract')}]"))


def undo(
    project: ProjectOption = None,
    event: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="This event of the log, not your latest one."),
    ] = None,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="How many actions.")] = 1,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back your latest action: also a bulk action, an import or a model run.

    Undo is unlimited and itself an event, so that redo can bring back what it took. It refuses, with the
    reason, what others have built on.

    Examples:

        sciextract undo --project parsing.sciextract

        sciextract undo --event 118
    """
    from sciextract.errors import UsageError
    from sciextract.store import open_project
    from sciextract.store.undo import describe
    from sciextract.workflows.project_choice import find_project

    if event is not None and steps > 1:
        raise UsageError("--event and --steps exclude each other", "leave one of them out")
    with open_project(find_project(project), author) as opened:
        for _ in range(steps):
            undone, outcome = opened.undo(event)
            _follow(opened, undone)
            summary = {"event": undone.id, "kind": undone.kind, "documents": outcome.documents}
            words = f"undone: {describe(undone)}, in {counted(outcome.documents, 'abstract')}"
            report(summary, words, as_json=as_json, aside=False, quiet=False)


def redo(
    project: ProjectOption = None,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="How many actions.")] = 1,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Do again what you undid last; a new action ends what can be redone.

    Examples:

        sciextract redo --project parsing.sciextract

        sciextract redo --steps 3
    """
    from sciextract.store import open_project
    from sciextract.store.undo import describe
    from sciextract.workflows.project_choice import find_project

    with open_project(find_project(project), author) as opened:
        for _ in range(steps):
            again, outcome = opened.redo()
            _follow(opened, again)
            summary = {"event": again.id, "kind": again.kind, "documents": outcome.documents}
            words = f"done again: {describe(again)}, in {counted(outcome.documents, 'abstract')}"
            report(summary, words, as_json=as_json, aside=False, quiet=False)


def backup(
    project: ProjectOption = None,
    list_only: Annotated[bool, typer.Option("--list", help="List the backups, make none.")] = False,
    restore: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Put this backup in the project's place."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a dated backup beside the project; the newest ten are kept.

    Backups are also made before imports into a project with content, before migrations, retraining and
    project-wide actions: of these the newest ten are kept as well, and they push out none that was asked for.

    Examples:

        sciextract backup --project parsing.sciextract

        sciextract backup --list
    """
    import json
    from pathlib import Path

    from sciextract.store import open_project
    from sciextract.store.connection import check_header
    from sciextract.store.maintenance import backup as backups
    from sciextract.text.characters import visible
    from sciextract.workflows.project_choice import find_project

    path = find_project(project)
    if restore is not None:
        kept = backups.restore(Path(restore), path)
        words = f"{path} is {restore} now" + (f"; what it was before is {kept}" if kept else "")
        summary = {"restored": restore, "kept": kept and str(kept)}
        report(summary, words, as_json=as_json, aside=False, quiet=False)
        return
    if not list_only:
        with open_project(path) as opened:
            made = opened.backup(backups.MANUAL)
        words = f"{made.path} ({made.bytes:,} bytes)"
        report(_plain(made), words, as_json=as_json, aside=False, quiet=False)
        return
    found = backups.list_backups(path)
    for each in found:
        words = f"{each.at}  {each.bytes:>13,} bytes  {each.reason}  {each.path}"
        typer.echo(json.dumps(_plain(each)) if as_json else visible(words))
    if not found:
        check_header(path)  # a missing project is an error; one that is gone still has its backups
        say("", f"{path} has no backups yet")


def _follow(opened: Project, turned: Event) -> None:
    """Merges and adjudications have lists of differences, which follow their undo and redo."""
    if turned.kind in ("adjudicate", "merge project"):
        from sciextract.workflows.adjudicate import follow

        follow(opened, turned)


def _plain(each: object) -> dict[str, object]:
    return {name: str(getattr(each, name)) for name in ("path", "at", "reason")} | {
        "bytes": getattr(each, "bytes")  # noqa: B009
    }


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
    from sciextract.store.maintenance.doctor import examine
    from sciextract.store.maintenance.doctor import repair as mend
    from sciextract.text.characters import visible
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
