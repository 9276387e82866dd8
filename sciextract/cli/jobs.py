"""``sciextract jobs``: trainings on other machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from sciextract.cli.console import say
from sciextract.errors import as_command

if TYPE_CHECKING:
    from sciextract.retraining.remote.jobs import Line

jobs = typer.Typer(
    name="jobs",
    help="List, attach to, cancel, fetch and clean trainings on other machines.\n\n"
    "`sciextract retrain --remote HOST` begins one. It runs on when the line breaks or this machine sleeps.",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)

_Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="The job's name, or how it begins or ends.", show_default=False
    ),
]


@jobs.command("list")
def list_(
    offline: Annotated[
        bool, typer.Option("--offline", help="Only what this machine knows; ask no other one.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the jobs and how each one stands, newest first.

    Examples:

        sciextract jobs list

        sciextract jobs list --offline --json
    """
    from sciextract.retraining.remote.jobs import overview

    found = overview(ask=not offline)
    for line in found:
        typer.echo(json.dumps(line.to_json()) if as_json else _line_of(line))
    if not found and not as_json:
        say("", "no jobs", "sciextract retrain --remote HOST begins one")


def _line_of(line: Line) -> str:
    from sciextract.text.characters import visible

    share = "" if line.epochs == 0 else f"epoch {line.epoch}/{line.epochs}"
    return visible(f"{line.name:<36}  {line.host:<20}  {line.state:<12}  {share}".rstrip())


@jobs.command()
def attach(
    job: _Job,
    as_json: Annotated[bool, typer.Option("--json", help="Print progress as JSON lines.")] = False,
) -> None:
    """Follow a job to its end; then its model comes here, is compared with the old one, and used if better.

    Example:

        sciextract jobs attach 4f2a
    """
    _attend(job, as_json=as_json)


@jobs.command()
def fetch(
    job: _Job,
    as_json: Annotated[bool, typer.Option("--json", help="Print progress as JSON lines.")] = False,
) -> None:
    """Bring the model of a finished job here, compare and register it. A running job is refused.

    Example:

        sciextract jobs fetch 4f2a
    """
    from sciextract.errors import RemoteError
    from sciextract.retraining.remote.jobs import find_job, standing

    run, place = find_job(job)
    if place.state == "started" and standing(place).runs:
        raise RemoteError(
            f"{run.name} still runs on {place.host}",
            f"follow it: {as_command('sciextract', 'jobs', 'attach', run.name)}",
        )
    _attend(run.name, as_json=as_json)


def _attend(job: str, *, as_json: bool) -> None:
    from sciextract.cli.training_screen import reporting, show_result
    from sciextract.retraining.remote.jobs import find_job
    from sciextract.retraining.remote.trainer import attach as follow

    run, _ = find_job(job)
    with reporting(as_json) as listener:
        result = follow(run, listener)
    if not as_json:
        show_result(result)


@jobs.command()
def cancel(job: _Job) -> None:
    """Stop a job at a point from which it can go on; what it has finished stays there.

    Example:

        sciextract jobs cancel 4f2a
    """
    from sciextract.retraining.remote.jobs import find_job
    from sciextract.retraining.remote.trainer import cancel_job

    run, place = find_job(job)
    cancel_job(run, place)
    say(
        "",
        f"{run.name} on {place.host} is stopped",
        as_command("sciextract", "jobs", "clean", run.name),
    )


@jobs.command()
def clean(job: _Job) -> None:
    """Remove a job's files on its machine; the run folder on this one stays. A running job is refused.

    Example:

        sciextract jobs clean 4f2a
    """
    from sciextract.retraining.remote import results
    from sciextract.retraining.remote.jobs import find_job

    run, place = find_job(job)
    results.clean(run, place)
    say("", f"{run.name} is removed from {place.host}")
