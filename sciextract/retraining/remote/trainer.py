"""A retraining whose training runs on another machine; prepared and compared here, where the project is."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from sciextract.errors import (
    ExitCode,
    FormatError,
    JobStoppedError,
    RemoteError,
    SciextractError,
    UsageError,
    as_command,
)
from sciextract.retraining.events import (
    Exporting,
    Failed,
    FoldStarted,
    Listener,
    RunStarted,
    Step,
    Stopped,
    TrainingEvent,
    Warned,
    known_events,
    parse_event,
)
from sciextract.retraining.remote import jobs, results
from sciextract.retraining.remote.jobs import REMOTE_FILES
from sciextract.retraining.remote.start import Machine, RemoteTarget, RemoteTask, start, start_again
from sciextract.retraining.run import Prepared, RetrainResult, Trainer, complete
from sciextract.retraining.run_folder import (
    RUN,
    SNAPSHOT,
    JobLocation,
    Run,
    is_begun,
    stored_request,
)
from sciextract.retraining.status import StatusWriter, go_on_command, stopped_here

MODULE = "sciextract_trainer.remote_job"
_NOTES = ("config", "device", "hardware", "versions", "forgetting")
"""What ``run.json`` takes over from the job's."""


class RemoteTrainer(Trainer):
    """Sends a training to another machine and follows it to its end.

    Args:
        target: The machine.
        machine: What it has; looked at when something is sent, where it is ``None``.
        detach: Whether to come back as soon as the job runs.
    """

    def __init__(
        self, target: RemoteTarget, machine: Machine | None = None, *, detach: bool = False
    ) -> None:
        self._target = target
        self._machine = machine
        self._detach = detach

    @classmethod
    def on(
        cls, target: RemoteTarget, folder: Path | None, listener: Listener, *, detach: bool = False
    ) -> RemoteTrainer:
        """A trainer on a machine that was looked at before any work.

        A run folder that was made for the run (by the desk) keeps the reason where the machine cannot be used.

        Raises:
            UsageError: The host name is not valid.
            RemoteError: The machine cannot be reached or lacks something.
        """
        if folder is None or not folder.is_dir() or is_begun(folder):
            return cls(target, target.inspect(), detach=detach)
        with StatusWriter(Run(folder), listener).recording(first=f"looking at {target.host}"):
            return cls(target, target.inspect(), detach=detach)

    def begin(self, run: Run) -> None:
        """Note the new job in the run."""
        jobs.new_location(run, **asdict(self._target))

    def train(self, prepared: Prepared, status: StatusWriter) -> bool:
        """Send the job and start it; unless detached, follow it and bring its model here."""
        location = self._send(prepared, status)
        if self._detach:
            status.enter("training", f"on {location.host}; {_attach_command(prepared.run)}")
            return False
        _follow(prepared.run, location, status)
        return True

    def interruption(self, run: Run) -> tuple[str, str]:
        """A job that runs continues, nothing else does."""
        location = jobs.location_of(run)
        if location is not None and location.state == "started":
            message = f"no longer following the job; it keeps running on {location.host}"
            return message, _attach_command(run)
        return stopped_here(run)

    def finish(self, run: Run) -> None:
        """Remove the job's files there; `jobs clean` finds what stays."""
        location = jobs.location_of(run)
        if location is not None:
            with suppress(SciextractError):
                results.clean(run, location)

    def _send(self, prepared: Prepared, status: StatusWriter) -> JobLocation:
        """Send everything that the job needs, and start it; what has arrived is not sent again."""
        for warning in prepared.snapshot.manifest.warnings:
            status.event(Warned(message=warning))
        target, run = self._target, prepared.run
        status.enter("preparing", f"sending to {target.host}")
        words = ["-m", MODULE, "run", prepared.start_model.path.name, "--device", target.device]
        files = [run.folder / RUN, run.folder / SNAPSHOT]
        task = RemoteTask(target, prepared.start_model.path, files, words)
        return start(run, task, self._machine or target.inspect())


class _AttachedTrainer(RemoteTrainer):
    """Takes up a job of an earlier command.

    Args:
        location: Where it is.
        again: Whether a job that was stopped shall go on.
    """

    def __init__(self, location: JobLocation, *, again: bool) -> None:
        super().__init__(
            RemoteTarget(location.host, location.python, location.device, location.slurm)
        )
        self.first_step = f"asking {location.host}"
        self._location = location
        self._again = again

    def begin(self, run: Run) -> None:
        """The job is noted already; one that was not wholly sent is not followed.

        Raises:
            RemoteError: It was not, and shall not be sent now.
        """
        if self._location.state == "sending" and not self._again:
            raise RemoteError(
                f"{run.name} was not sent completely to {self._location.host}",
                f"send the rest: {go_on_command(run)}",
            )

    def train(self, prepared: Prepared, status: StatusWriter) -> bool:
        """Go on where the job is: send the rest, start it again, follow it, or take the model that is here."""
        run, location = prepared.run, self._location
        if location.state == "sending":
            location = self._send(prepared, status)
        elif location.state == "started":
            job_state = jobs.job_state(location)
            if self._again and job_state.exists and not job_state.runs and job_state.exit != 0:
                location = start_again(run, location)
        if location.state == "started":
            _follow(run, location, status)
        return True


def attach(run: Run, listener: Listener, *, again: bool = False) -> RetrainResult | Run:
    """Follow a job of an earlier command to its end, bring its model here and compare it.

    Args:
        run: The local run.
        listener: Gets every event from now on.
        again: Whether a job that was stopped shall go on.

    Raises:
        UsageError: The run is none of another machine.
        RemoteError: The machine cannot be reached at first, or the job failed.
    """
    location = jobs.location_of(run)
    if location is None:
        raise UsageError(f"{run.name} is not a job on another machine", "sciextract jobs list")
    return complete(run, stored_request(run), _AttachedTrainer(location, again=again), listener)


def cancel_job(run: Run, location: JobLocation) -> None:
    """Stop a job at a point from which it can go on, and note that where nobody follows it.

    Args:
        run: Its local run.
        location: Where it is.

    Raises:
        RemoteError: The machine cannot be reached.
    """
    results.cancel(location)
    status = run.status()
    if location.state != "started" or status is None or status.state in ("done", "failed"):
        return
    if status.state != "stopped" and run.is_alive():  # who follows the job sees that it stops
        return
    message = f"{run.name} was stopped on {location.host}"
    hint = f"go on: {go_on_command(run)}"
    run.append(Failed(message=message, hint=hint).to_json())
    run.write_status(replace(status, state="stopped", message=message, hint=hint, lost=""))


def _attach_command(run: Run) -> str:
    return as_command("sciextract", "jobs", "attach", run.name)


def _follow(run: Run, location: JobLocation, status: StatusWriter) -> None:
    """From a job that runs to its model in the local run folder."""
    copy = Run(run.folder / REMOTE_FILES)
    copy.folder.mkdir(exist_ok=True)
    relay = EventRelay(run, copy, location, status)
    relay.pass_on()
    job_state = results.follow(copy, location, relay.pass_on, relay.connection_lost)
    relay.pass_on()
    if job_state.exit != 0:
        # The reason that the job gave itself comes first, then what its exit code says, then its log.
        errors = [event for event in known_events(copy.metrics()) if isinstance(event, Failed)]
        if errors:
            raise RemoteError(f"{location.host}: {errors[-1].message}", errors[-1].hint)
        if job_state.exit == ExitCode.INTERRUPTED:
            raise JobStoppedError(
                f"{run.name} was stopped on {location.host}", f"go on: {go_on_command(run)}"
            )
        last = job_state.log.strip().splitlines()[-1:] or [f"exit code {job_state.exit}"]
        raise RemoteError(
            f"{location.host}: {last[0]}", f"its log: {location.host}:{location.path}/log"
        )
    status.enter("exporting", f"fetching the model from {location.host}")
    results.fetch_model(run, location)
    there = results.fetch_record(run, location)
    run.note(**{name: getattr(there, name) for name in _NOTES})


class EventRelay:
    """Passes the job's events on, each one once, also over several commands.

    Every event is kept with its number among the job's, so that a command which was killed in between
    leaves no gap and the next one no double.

    Args:
        run: The local run.
        copy: The folder with the events as they came.
        location: Where the job is.
        status: Gets the events.
    """

    def __init__(self, run: Run, copy: Run, location: JobLocation, status: StatusWriter) -> None:
        self._run = run
        self._copy = copy
        self._location = location
        self._status = status
        known = list(known_events(run.metrics()))
        passed = [event for event in known if event.there is not None]
        # The number of the last event that was passed on, by this process or an earlier one.
        self._seen = 1 + max([event.there or 0 for event in passed], default=-1)
        self._warned = {
            event.message for event in known if isinstance(event, Warned) and event.there is None
        }
        for event in passed:
            self._enter(event)
        steps = [event for event in passed if isinstance(event, Step)]
        if steps:
            status.enter_step(steps[-1])

    def pass_on(self) -> None:
        """Pass on what has come.

        Raises:
            RemoteError: An event is none of a job's.
        """
        for values in self._copy.metrics(self._seen):
            try:
                event = parse_event(values)
            except FormatError as error:
                raise RemoteError(
                    f"{self._location.host}: event {self._seen + 1} of the job cannot be used: {error.message}",
                    "check that this is the intended machine; jobs run the same version as this one",
                ) from None
            # This machine shows the end and the snapshot's warnings in its own words.
            known = isinstance(event, Failed | Stopped)
            known |= isinstance(event, Warned) and event.message in self._warned
            if not known:
                self._enter(event)
                if isinstance(event, RunStarted) and event.folder is not None:
                    event = replace(event, folder=str(self._run.folder))
                self._status.event(replace(event, there=self._seen))
            self._seen += 1

    def connection_lost(self, why: str, seconds: float) -> None:
        """The connection is down for a while; the job continues."""
        self._status.connection_lost(f"{why}; next try in {seconds:g} seconds, the job continues")

    def _enter(self, event: TrainingEvent) -> None:
        if isinstance(event, RunStarted):
            message = f"training on {self._location.host}, {event.device}"
            self._status.enter("training", message, epochs=event.epochs)
        elif isinstance(event, Exporting):
            self._status.enter("exporting", f"exporting on {self._location.host}")
        elif isinstance(event, FoldStarted):
            self._status.enter_fold(event)
