"""What came of a training: both models beside each other, and what to do now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sciextract_app.presenter.retraining.live import NAMES, TASKS

TARGET = "mean of tasks"


@dataclass(frozen=True, slots=True)
class Compared:
    """A score of both models.

    Attributes:
        name: What is scored.
        before: F1 of the model that was in use, 0 to 100.
        after: F1 of the new one.
        low: Lower end of the 90 % interval of the difference.
        high: Upper end of it.
        probability: How likely the new one is better, 0 to 1.
        gold: Items that there are to find.
        deeper: Whether it is one label of the task above.
    """

    name: str
    before: float
    after: float
    low: float
    high: float
    probability: float
    gold: int
    deeper: bool = False

    @property
    def direction(self) -> str:
        """``better`` or ``worse`` where the whole interval says so, else ``unclear``."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "unclear"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a training.

    Attributes:
        words: The verdict in a sentence.
        reasons: Why, and what to mind.
        rows: The scores: all tasks, then each with its labels.
        documents: Held-out abstracts that they come from.
        model: Name of the new model, empty where none came of it.
        offered: Whether the new model is not in use and can be taken.
        blind: The scores on the abstracts that were not corrected from suggestions, where they were asked for.
        blind_told: What those are worth.
    """

    words: str
    reasons: tuple[str, ...]
    rows: tuple[Compared, ...]
    documents: int
    model: str
    offered: bool
    blind: tuple[Compared, ...] = ()
    blind_told: str = ""


def outcome_of(
    gate: Mapping[str, Any] | None,
    model: str,
    promoted: bool,
    used: bool = False,
    told: tuple[str, ...] = (),
) -> Outcome:
    """The verdict for people.

    Args:
        gate: The report of the comparison; ``None`` where there was none.
        model: Name of the new model.
        promoted: Whether the training put it in use.
        used: Whether the person has taken it since.
        told: What the training itself says at its end.
    """
    report = gate or {}
    listed = report.get("reasons")
    reasons = tuple(str(each) for each in listed) if isinstance(listed, list) else ()
    offered = bool(model) and not promoted and not used
    words = _words(str(report.get("verdict", "")), model, promoted, used)
    documents = report.get("documents")
    count = documents if isinstance(documents, int) else 0
    blind = _table(report.get("blind"))
    return Outcome(
        words, (*reasons, *(told if offered else ())), tuple(_rows(report)), count, model, offered,
        tuple(_rows(blind)), str(blind.get("told") or ""),
    )  # fmt: skip


def headline(rows: tuple[Compared, ...]) -> str:
    """Tasks with both scores, in a line: ``entities 66.1 to 68.4, relations 40.2 to 41.0``."""
    tasks = [row for row in rows if not row.deeper and row.name != TARGET]
    return ", ".join(f"{row.name} {row.before:.1f} to {row.after:.1f}" for row in tasks)


def _words(verdict: str, model: str, promoted: bool, used: bool) -> str:
    if used:
        return f"{model} is in use now, because you chose it"
    if promoted:
        return f"promoted: {model} is better and in use now"
    if not model:
        return "no model came of it"
    if verdict == "too few":
        return f"too few held-out abstracts to tell; the old model stays. Enter uses {model}"
    if verdict == "promote":
        return f"{model} is better, but not in use. Enter uses it"
    return f"kept the old model. Enter uses {model} all the same"


def _rows(report: Mapping[str, Any]) -> Iterator[Compared]:
    target = _compared(TARGET, report.get("target"))
    if target is not None:
        yield target
    tasks, labels = _table(report.get("tasks")), _table(report.get("labels"))
    for task in TASKS:
        found = _compared(NAMES[task], tasks.get(task))
        if found is None:
            continue
        yield found
        for label, scores in _table(labels.get(task)).items():
            row = _compared(label, scores, deeper=True)
            if row is not None:
                yield row


def _compared(name: str, scores: Any, deeper: bool = False) -> Compared | None:
    try:
        return Compared(
            name,
            before=float(scores["before"]),
            after=float(scores["after"]),
            low=float(scores["low"]),
            high=float(scores["high"]),
            probability=float(scores["probability"]),
            gold=int(scores["gold"]),
            deeper=deeper,
        )
    except (KeyError, TypeError, ValueError):
        return None


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
