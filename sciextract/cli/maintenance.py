"""``sciextract log``, ``undo``, ``redo``, ``backup`` and ``doctor``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from sciextract.cli.console import (
    AuthorOption,
    JsonOption,
    ProjectOption,
    find_chosen_project,
    flag,
    open_chosen_project,
    option,
    print_report,
    print_row,
    report,
    say,
)
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.store import Project
    from sciextract.store.document_state import Outcome
    from sciextract.store.events import Event
    from sciextract.store.maintenance.backup import Backup
    from sciextract.store.maintenance.doctor import Examination, Repaired


# Abstracts of an event that are named: an import may have thousands.
_KEYS_SHOWN, _KEYS_IN_JSON = 3, 100


def log(
    project: ProjectOption = None,
    limit: int = option("N", "Maximum number of events.", min=1, default=20),
    as_json: JsonOption = False,
) -> None:
    """List the project's events, newest first, in local time; --json gives UTC."""
    from dataclasses import asdict

    from sciextract.store.events import keys_of_event, local_time
    from sciextract.store.undo import describe

    with open_chosen_project(project, read=True) as opened:
        most = _KEYS_IN_JSON if as_json else _KEYS_SHOWN
        events = [
            (event, keys_of_event(opened.connection, event.id, most)) for event in opened.log(limit)
        ]
    for event, keys in events:
        mark = "undone " if event.undone else ""
        target = f" of event {event.target}" if event.target else ""
        at = local_time(event.at)
        line = f"{event.id:>7}  {at}  {event.author}  {mark}{describe(event)}{target}"
        named = ", ".join(keys) + ", ..." * (event.documents > len(keys))
        line += f"  [{counted(event.documents, 'abstract')}{': ' * bool(keys)}{named}]"
        print_row({**asdict(event), "keys": keys}, line, as_json)


def undo(
    project: ProjectOption = None,
    event: int | None = option(
        "N", "Undo this event of the log instead of your latest one.", min=1
    ),
    steps: int = option("N", "Number of actions.", min=1, default=1),
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Undo your latest action; a bulk action, an import or a model run counts as one.

    Of suggestions it takes back those that nobody has decided. An action that later actions of others depend on is not
    undone.

    Example:

        sciextract undo --event 118
    """
    from sciextract.errors import UsageError

    if event is not None and steps > 1:
        raise UsageError("--event and --steps cannot be combined", "omit one of them")
    with open_chosen_project(project, author) as opened:
        # Each step by itself, and told: what was undone stays undone where a later step is refused.
        for _ in range(steps):
            _report_turn("undone", opened, *opened.undo(event), as_json)


def redo(
    project: ProjectOption = None,
    steps: int = option("N", "Number of actions.", min=1, default=1),
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Redo what you undid last; a new action clears what can be redone."""
    with open_chosen_project(project, author) as opened:
        for _ in range(steps):
            _report_turn("done again", opened, *opened.redo(), as_json)


def _report_turn(
    turned: str, opened: Project, event: Event, outcome: Outcome, as_json: bool
) -> None:
    """Say what was undone or redone; the lists of differences of merges and adjudications follow it."""
    from sciextract.store.undo import describe

    # The words of workflows.disagreements, which is imported only where one of them was undone.
    if event.kind in ("adjudicate", "merge project"):
        from sciextract.workflows.adjudicate import follow

        follow(opened, event)
    summary = {"event": event.id, "kind": event.kind, "documents": outcome.documents}
    words = f"{turned}: {describe(event)}, in {counted(outcome.documents, 'abstract')}"
    report(summary, words, as_json)


def backup(
    project: ProjectOption = None,
    list_only: bool = flag("List the backups instead of creating one.", "--list"),
    restore: str | None = option("FILE", "Replace the project with this backup."),
    as_json: JsonOption = False,
) -> None:
    """Create a dated backup next to the project; the newest ten are kept.

    Imports, training and project-wide actions make backups of their own, of which ten are kept as well.
    """
    from pathlib import Path

    from sciextract.resources import VARIABLE
    from sciextract.store import open_project
    from sciextract.store.maintenance import backup as backups
    from sciextract.store.sqlite import check_project

    if restore is not None:
        # A lost project comes back to its own place, not over the only other one here.
        project = project or os.environ.get(VARIABLE)
    path = find_chosen_project(project)
    for left, removed in ({} if list_only else backups.clear_killed(path)).items():
        if removed:
            say("note", f"removed {left}, which a killed restore left")
        else:
            problem = f"{left} was left by a killed restore, or one is running"
            say("note", problem, "if none is, remove it")
    if restore is not None:
        # The project as it is becomes a backup itself, so that a restore can be taken back.
        kept = backups.restore(Path(restore), path)
        words = f"{path} is {restore} now" + (
            f"; the previous state is saved as {kept}" if kept else ""
        )
        summary = {"restored": restore, "kept": kept and str(kept)}
        report(summary, words, as_json)
        return
    if not list_only:
        with open_project(path) as opened:
            made = opened.backup(backups.MANUAL)
        words = f"{made.path} ({made.bytes:,} bytes)"
        report(_backup_json(made), words, as_json)
        return
    made_before = backups.list_backups(path)
    for file in made_before:
        words = f"{file.at} UTC  {file.bytes:>13,} bytes  {file.reason}  {file.path}"
        print_row(_backup_json(file), words, as_json)
    if not made_before:
        check_project(path)  # a missing project is an error; one that is gone still has its backups
        say("", f"{path} has no backups yet")


def _backup_json(made: Backup) -> dict[str, object]:
    values = {"path": str(made.path), "at": str(made.at), "reason": str(made.reason)}
    return {**values, "bytes": made.bytes}


def doctor(
    project: ProjectOption = None,
    repair: bool = flag("Repair the file as far as possible, after a backup.", "--repair"),
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the project file: SQLite integrity, state, log, offsets, counts.

    Without --repair nothing changes. For a damaged file it names the newest sound backup.
    """
    from sciextract.errors import ExitCode
    from sciextract.store.maintenance.doctor import examine
    from sciextract.store.maintenance.doctor import repair as mend

    path = find_chosen_project(project)
    repaired = mend(path, author) if repair else None
    findings = repaired.after if repaired is not None else examine(path)
    lines = [*_finding_lines(findings), *(_repair_lines(repaired) if repaired else ())]
    print_report(repaired or findings, lines, as_json)
    raise typer.Exit(ExitCode.DONE if findings.sound else ExitCode.FAILED)


def _finding_lines(findings: Examination) -> Iterator[str]:
    hint = ""
    for finding in findings.findings:
        if hint and finding.hint != hint:
            yield f"         {hint}"
        yield f"{finding.severity.value:<8} {finding.check}: {finding.message}"
        hint = finding.hint
    if hint:
        yield f"         {hint}"
    yield "the project is sound" if findings.sound else "the project has errors"


def _repair_lines(repaired: Repaired) -> Iterator[str]:
    from sciextract.errors import as_command

    if repaired.kept is not None:
        yield f"the file as it was: {repaired.kept}"
    if repaired.rebuilt:
        yield f"{len(repaired.rebuilt):,} abstracts rebuilt from the log"
    if repaired.counted:
        yield f"{len(repaired.counted):,} abstracts counted anew"
    if repaired.indexed:
        yield "search indexes rebuilt"
    if repaired.sound_backup is not None:
        backup, path = repaired.sound_backup, repaired.after.path
        restore = as_command("sciextract", "backup", "--restore", backup, "--project", path)
        yield f"newest sound backup: {backup}; to restore it: {restore}"
    elif repaired.after.damaged:
        yield "no sound backup; SQLite's own tool may read the rest: sqlite3 FILE .recover"
