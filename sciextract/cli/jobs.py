"""``sciextract jobs``: trainings on other machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from sciextract.cli.console import (
    JsonEventsOption,
    JsonOption,
    argument,
    command_group,
    flag,
    print_row,
    say,
)
from sciextract.errors import as_command

jobs = command_group(
    "jobs",
    "List, follow, cancel, fetch and clean up training jobs on other machines.\n\n"
    "`sciextract retrain --remote HOST` starts one; it outlives the connection.",
)

_Job = Annotated[
    str, argument("JOB", "The job's name, or the start or end of it.", show_default=False)
]


@jobs.command("list")
def list_(
    offline: bool = flag("Show the last known status; contact no other machine.", "--offline"),
    as_json: JsonOption = False,
) -> None:
    """List the jobs and their status, newest first."""
    from sciextract.retraining.remote.jobs import overview

    known = overview(ask=not offline)
    for job in known:
        share = "" if job.epochs == 0 else f"epoch {job.epoch}/{job.epochs}"
        line = f"{job.name:<36}  {job.host:<20}  {job.state:<12}  {share}".rstrip()
        print_row(asdict(job), line, as_json)
    if not known and not as_json:
        say("", "no jobs", "sciextract retrain --remote HOST begins one")


@jobs.command()
def attach(job: _Job, as_json: JsonEventsOption = False) -> None:
    """Follow a job to its end, fetch its model, and use it if it is better.

    Example:

        sciextract jobs attach 4f2a
    """
    _attend(job, as_json=as_json)


@jobs.command()
def fetch(job: _Job, as_json: JsonEventsOption = False) -> None:
    """Fetch the model of a finished job, compare and register it. Fails while the job is running.

    Example:

        sciextract jobs fetch 4f2a
    """
    from sciextract.errors import RemoteError
    from sciextract.retraining.remote.jobs import find_job, job_state

    run, location = find_job(job)
    if location.state == "started" and job_state(location).runs:
        raise RemoteError(
            f"{run.name} still runs on {location.host}",
            f"follow it: {as_command('sciextract', 'jobs', 'attach', run.name)}",
        )
    _attend(run.name, as_json=as_json)


def _attend(job: str, *, as_json: bool) -> None:
    from sciextract.cli.training_screen import report_events, show_result
    from sciextract.retraining.remote.jobs import find_job
    from sciextract.retraining.remote.trainer import attach as follow

    run, _ = find_job(job)
    with report_events(as_json) as listener:
        result = follow(run, listener)
    if not as_json:
        show_result(result)


@jobs.command()
def cancel(job: _Job) -> None:
    """Stop a job so that it can be resumed; finished stages stay on its machine.

    Example:

        sciextract jobs cancel 4f2a
    """
    from sciextract.retraining.remote.jobs import find_job
    from sciextract.retraining.remote.trainer import cancel_job

    run, location = find_job(job)
    cancel_job(run, location)
    clean_up = as_command("sciextract", "jobs", "clean", run.name)
    say("", f"{run.name} on {location.host} is stopped", clean_up)


@jobs.command()
def clean(job: _Job) -> None:
    """Remove a job's files from its machine; the local run folder stays. Fails while the job is running.

    Example:

        sciextract jobs clean 4f2a
    """
    from sciextract.retraining.remote import results
    from sciextract.retraining.remote.jobs import find_job

    run, location = find_job(job)
    results.clean(run, location)
    say("", f"{run.name} is removed from {location.host}")
