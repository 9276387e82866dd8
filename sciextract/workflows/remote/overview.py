"""How all jobs stand, for a list."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from sciextract.errors import RemoteError
from sciextract.workflows.remote import jobs
from sciextract.workflows.remote.jobs import Place, Standing
from sciextract.workflows.runs import Run

AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One job.

    Attributes:
        name: Its name.
        host: Its machine.
        project: The project that it trains for, empty for none.
        state: ``sending``, ``running``, ``finished``, ``failed``, ``stopped``, ``gone``, ``unreachable``,
            ``fetched``, ``cleaned``; ``started`` when its machine was not asked.
        epoch: Epochs begun, as far as events have come.
        epochs: Epochs there will be at most, 0 while unknown.
        problem: Why its machine does not answer, empty when it does.
    """

    name: str
    host: str
    project: str
    state: str
    epoch: int
    epochs: int
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The line as one JSON object."""
        return asdict(self)


def overview(*, ask: bool = True) -> list[Line]:
    """All jobs, newest first; machines are asked side by side, one that is silent holds up no other.

    Args:
        ask: Whether to ask the machines of jobs that were started and not fetched.
    """
    known = list(jobs.jobs())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda each: _line(*each, ask=ask), known))


def _line(run: Run, place: Place, *, ask: bool) -> Line:
    state, problem = place.state, ""
    if ask and place.state == "started":
        try:
            state = _state(jobs.standing(place))
        except RemoteError as error:
            state, problem = "unreachable", error.message
    status, project = run.status(), run.run().get("project")
    epochs = (status.epoch, status.epochs) if status else (0, 0)
    return Line(run.name, place.host, str(project or ""), state, *epochs, problem)


def _state(found: Standing) -> str:
    if not found.there:
        return "gone"
    if found.runs:
        return "running"
    return {0: "finished", 130: "stopped", None: "failed"}.get(found.exit, "failed")
