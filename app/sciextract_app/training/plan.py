"""What a training would be made of, before it begins."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from sciextract.errors import UsageError
from sciextract.retraining.run_folder import Run, runs_of
from sciextract.snapshot.documents import Split, split_of
from sciextract.snapshot.files import too_few_to_compare
from sciextract.store import Project, open_project, review
from sciextract.store.documents import first_texts, known_documents
from sciextract.text.english import counted, duration
from sciextract.workflows.models import choice
from sciextract_app.shared.actions import key_of
from sciextract_app.training.progress import RunReader

USUAL = "as usual: on this computer, on a GPU if PyTorch finds one"
"""What a training without options does."""


def check_options(typed: str) -> None:
    """Refuse options that cannot be told apart. What they mean is judged by the command.

    Raises:
        UsageError: They cannot.
    """
    try:
        shlex.split(typed)
    except ValueError as error:
        hint = "put a value with blanks between two quotation marks"
        raise UsageError(str(error), hint) from None


@dataclass(frozen=True, slots=True)
class TrainingCounts:
    """What a project has to train on.

    Attributes:
        done: Abstracts that are done.
        decisions: Items that a person accepted, edited, added or rejected.
        train: Abstracts with decisions that are trained on.
        dev: Abstracts with a done layer that choose the best epoch.
        gate: Abstracts with a done layer that are held out to compare the models.
        finished: All abstracts with a done layer.
    """

    done: int
    decisions: int
    train: int
    dev: int
    gate: int
    finished: int


def training_data(project: Project) -> TrainingCounts:
    """Count what a project has to train on, by the same split as the training."""
    done = review.count_done(project.connection)[1]
    decisions = review.count_decided(project.connection)
    known = [abstract for abstract in known_documents(project.connection) if abstract.decided]
    firsts = first_texts(project.connection)
    placed = (
        (split_of(firsts.get(abstract.text_sha256, abstract.text_sha256)), abstract)
        for abstract in known
    )
    splits = Counter(split for split, abstract in placed if split is Split.TRAIN or abstract.done)
    train, dev, gate = (splits[split] for split in Split)
    finished = sum(bool(abstract.done) for abstract in known)
    return TrainingCounts(done, decisions, train, dev, gate, finished)


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    """What earlier trainings of a project tell.

    Attributes:
        seconds: How long they took, ``None`` without any.
        stopped: The latest one, where it was stopped and can go on.
        stopped_at: Where that was, in words.
        last: The latest one that came to its end.
        unwatched_on: The machine on which the latest one may go on while nobody watches it, empty for none.
    """

    seconds: float | None = None
    stopped: Run | None = None
    stopped_at: str = ""
    last: Run | None = None
    unwatched_on: str = ""

    @property
    def words(self) -> list[str]:
        """What earlier ones there are, and the keys that lead to them."""
        lines = []
        if self.unwatched_on:
            lines.append(f"A training may go on on {self.unwatched_on}: g watches it.")
        elif self.stopped is not None:
            lines.append(f"A training was stopped {self.stopped_at}: g resumes it.")
        return [*lines, "l shows the result of the last one."] if self.last is not None else lines


def earlier_runs(runs: Sequence[Run]) -> EarlierRuns:
    """What the trainings of a project tell, newest first."""
    known = [(run, status) for run in runs if (status := run.status()) is not None]
    done = [(run, status) for run, status in known if status.state == "done"]
    # The latest five: earlier ones had fewer abstracts, and perhaps another machine.
    seconds = median(status.seconds for _, status in done[:5]) if done else None
    last = done[0][0] if done else None
    if not known:
        return EarlierRuns(seconds, last=last)
    run, status = known[0]
    live = RunReader(run).read(run.is_alive())
    if not live.unwatched and status.state != "stopped":
        return EarlierRuns(seconds, last=last)
    where = (
        f"in epoch {status.epoch} of {status.epochs}" if status.epoch else "before its first epoch"
    )
    return EarlierRuns(seconds, run, where, last, live.host if live.unwatched else "")


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What a training would be made of.

    Attributes:
        earlier: Earlier trainings.
        material: What there is to train on.
        model: The model that a training starts from.
    """

    earlier: EarlierRuns
    material: TrainingCounts
    model: str


def read_plan(path: Path, model: str | None) -> TrainingPlan:
    """Count what there is to train on; takes time with the abstracts, so it is done in the background.

    Args:
        path: The project.
        model: The model that the person named, ``None`` for the one in use.

    Raises:
        SciextractError: The project cannot be read, or has no model.
    """
    with open_project(path, read=True) as project:
        used = choice.current(project)
        if model is None and used.open().config.labels_unknown_to(project.schema):
            model = "the base that suits your labels best, as learn chooses it"
        model = model or used.name
        return TrainingPlan(earlier_runs(runs_of(path)), training_data(project), model)


def plan_lines(
    material: TrainingCounts, model: str, options: str, earlier: EarlierRuns
) -> list[tuple[str, str]]:
    """Names and values of what would be done."""
    abstracts = counted(material.train, "abstract")
    takes = "not known before the first training; the remaining time is shown as soon as it is"
    if earlier.seconds is not None:
        minutes = max(1, round(earlier.seconds / 60))
        takes = f"about {duration(minutes * 60)}, as your earlier trainings did"
    lines = [
        (
            "your work",
            f"{counted(material.decisions, 'decision')}, {counted(material.done, 'abstract')} done",
        ),
        ("trained on", f"{abstracts}; {material.dev:,} more select the best epoch"),
        (
            "held out",
            f"{counted(material.gate, 'done abstract')}, to compare the new model with the current one",
        ),
        ("starts from", model),
        ("options", f"{options or USUAL}  (o)"),
        ("takes", takes),
    ]
    if few := too_few_to_compare(material.gate, material.finished):
        lines.append(("mind", few))
    return lines


def nothing_to_learn(material: TrainingCounts) -> str:
    """Why a training cannot begin; empty where it can."""
    if material.train:
        return ""
    if material.decisions:
        return "every abstract with decisions is held out: decide items of some more abstracts"
    deciding = ", ".join(map(key_of, ("accept", "reject", "type-1")))
    return f"no training data yet: decide some items first ({deciding} …)"


EVERY = 20
"""Abstracts."""


def is_due(done: int, offered: int) -> bool:
    """Whether to offer it.

    Args:
        done: Abstracts that are done now.
        offered: How many were done at the last offer or training; 0 for none so far.

    >>> is_due(19, 0), is_due(20, 0), is_due(39, 20), is_due(41, 20)
    (False, True, False, True)
    """
    return done - offered >= EVERY


def offer(done: int) -> str:
    """The offer, in a line that nobody has to answer."""
    return f"Retrain on your {done:,} abstracts? {key_of('app.retrain')} says how; or just go on"
