"""What a training would be made of, before it begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sciextract.store import Project
from sciextract.store.file.failures import translated
from sciextract.store.looking.decided import known_documents
from sciextract.workflows.runs import Run
from sciextract.workflows.snapshot.remarks import too_few_to_compare
from sciextract.workflows.snapshot.splitting import split_of
from sciextract.workflows.snapshot.types import Split
from sciextract_app.presenter.dashboard.time import duration
from sciextract_app.presenter.retraining.live import Reader
from sciextract_app.presenter.retraining.setup import Setup
from sciextract_app.presenter.totals import totals
from sciextract_app.presenter.words import counted_many


@dataclass(frozen=True, slots=True)
class Material:
    """What a project has to train on.

    Attributes:
        done: Abstracts that are done in every layer.
        decisions: Items that a person accepted, edited, added or rejected.
        train: Abstracts with decisions that are trained on.
        dev: Abstracts with a done layer that choose the best epoch.
        gate: Abstracts with a done layer that are held out to compare the models.
    """

    done: int
    decisions: int
    train: int
    dev: int
    gate: int


def material_of(project: Project) -> Material:
    """Count; takes time with the abstracts of the project, so it is done beside the keys."""
    done = totals(project.connection).done
    with translated(project.path):
        decisions = project.connection.execute(
            "SELECT coalesce(sum(decided), 0) FROM summary"
        ).fetchone()[0]
        splits = Counter(
            split
            for each in known_documents(project.connection)
            if each.decided
            if (split := split_of(each.text_sha256)) is Split.TRAIN or each.done
        )
    return Material(done, decisions, splits[Split.TRAIN], splits[Split.DEV], splits[Split.GATE])


@dataclass(frozen=True, slots=True)
class Earlier:
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
        told = []
        if self.unwatched_on:
            told.append(f"A training may go on on {self.unwatched_on}: g watches it.")
        elif self.stopped is not None:
            told.append(f"A training was stopped {self.stopped_at}: g goes on with it.")
        return [*told, "l shows what came of the last one."] if self.last is not None else told


def earlier_of(runs: Sequence[Run]) -> Earlier:
    """What the trainings of a project tell, newest first."""
    told = [(run, status) for run in runs if (status := run.status()) is not None]
    done = [(run, status) for run, status in told if status.state == "done"]
    seconds = median(status.seconds for _, status in done[:5]) if done else None
    last = done[0][0] if done else None
    if not told:
        return Earlier(seconds, last=last)
    run, status = told[0]
    live = Reader(run).read(run.is_alive())
    if not live.unwatched and status.state != "stopped":
        return Earlier(seconds, last=last)
    where = (
        f"in epoch {status.epoch} of {status.epochs}" if status.epoch else "before its first epoch"
    )
    return Earlier(seconds, run, where, last, live.host if live.unwatched else "")


def plan_lines(
    material: Material, model: str, setup: Setup, earlier: Earlier
) -> list[tuple[str, str]]:
    """Names and values of what would be done."""
    abstracts = counted_many(material.train, "abstract")
    lines = [
        (
            "your work",
            f"{counted_many(material.decisions, 'decision')}, {counted_many(material.done, 'abstract')} done",
        ),
        ("trained on", f"{abstracts}; {material.dev:,} more choose the best epoch"),
        (
            "held out",
            f"{counted_many(material.gate, 'done abstract')}, to compare the new model with the present one",
        ),
        ("starts from", model),
        *setup.lines(),
        ("takes", _takes(earlier.seconds)),
    ]
    if few := too_few_to_compare(material.gate):
        lines.append(("mind", few))
    return lines


def nothing_to_learn(material: Material) -> str:
    """Why a training cannot begin; empty where it can."""
    if material.train:
        return ""
    if material.decisions:
        return "every abstract with decisions is held out: decide items of some more abstracts"
    return "nothing to learn from yet: decide some items first (Enter, x, 1-6)"


def _takes(seconds: float | None) -> str:
    if seconds is None:
        return "not known before the first training; the remaining time is shown as soon as it is"
    return f"about {duration(max(60, round(seconds / 60) * 60))}, as your earlier trainings did"
