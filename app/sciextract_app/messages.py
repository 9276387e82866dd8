"""What workers post to the screens, and their errors in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from sciextract.errors import FormatError, SciextractError, write_crash_report
from sciextract_app.presenters.view_models import Feedback

if TYPE_CHECKING:
    from sciextract.store import Outcome
    from sciextract.store.actions.bulk import Count
    from sciextract.workflows.disagreements import OtherSource
    from sciextract.workflows.import_files import ImportReport
    from sciextract.workflows.learn import Learned
    from sciextract.workflows.predict_project import PredictReport
    from sciextract.workflows.suggest import SuggestReport
    from sciextract_app.presenters.bulk import BulkDecision


class ServiceMessage(Message):
    """What a thread reports to the service of the review screen that started it."""


@dataclass
class ModelLoaded(ServiceMessage):
    """The model is loaded; predictions begin.

    Attributes:
        model: Its name.
        skipped: Models that cannot be used, in words; empty for none.
    """

    model: str
    skipped: str = ""


@dataclass
class Predicted(ServiceMessage):
    """Some more abstracts are predicted and stored.

    Attributes:
        done: Abstracts predicted so far.
        total: All that needed it.
    """

    done: int
    total: int

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, Predicted)


@dataclass
class AcceptanceCounted(ServiceMessage):
    """The decisions of a large project are counted.

    Attributes:
        share: Of the model's decided items, those that were right as they stood; ``None`` without any.
    """

    share: float | None


@dataclass
class PredictionEnded(ServiceMessage):
    """The prediction has ended.

    Attributes:
        report: What was predicted, ``None`` when nothing was.
        error: Why it stopped, ``None`` where it did not.
        stopped: Whether it was cancelled before its end.
    """

    report: PredictReport | None = None
    error: SciextractError | None = None
    stopped: bool = False


@dataclass
class Imported(ServiceMessage):
    """Some more records of the files are read.

    Attributes:
        records: How many.
    """

    records: int

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, Imported)


@dataclass
class ImportEnded(ServiceMessage):
    """The import has ended.

    Attributes:
        files: What was imported.
        report: Counts, ``None`` when it failed.
        bad: Records that could not be read, as many as are shown.
        error: Why it failed.
    """

    files: tuple[str, ...]
    report: ImportReport | None
    bad: tuple[FormatError, ...] = ()
    error: SciextractError | None = None


@dataclass
class SuggestProgress(ServiceMessage):
    """Suggestions for some more abstracts are in the project.

    Attributes:
        done: Abstracts that were looked at.
        total: All of them.
    """

    done: int
    total: int

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, SuggestProgress)


@dataclass
class SuggestEnded(ServiceMessage):
    """Suggesting has ended.

    Attributes:
        report: What was suggested, ``None`` when it failed.
        error: Why it failed.
    """

    report: SuggestReport | None
    error: SciextractError | None = None


@dataclass
class LearningProgress(ServiceMessage):
    """An adapter has learned; suggestions for the next abstracts are made.

    Attributes:
        learned: What it has learned.
    """

    learned: Learned


@dataclass
class LearningEnded(ServiceMessage):
    """Suggestions of an adapter are in the project, or it could not learn.

    Attributes:
        learned: What it has learned, ``None`` when it could not.
        error: Why it could not.
    """

    learned: Learned | None = None
    error: Exception | None = None


@dataclass
class ModelInUse(ServiceMessage):
    """A model is in use in the project, or cannot be used.

    Attributes:
        model: Its name.
        error: Why it could not be.
    """

    model: str
    error: SciextractError | None = None


@dataclass
class DifferencesCounted(Message):
    """Differences of some more abstracts are counted.

    Attributes:
        sides: Between the project and whom.
        counts: How many, by abstract.
    """

    sides: tuple[OtherSource, ...]
    counts: Mapping[int, int]


@dataclass
class BulkProgress(ServiceMessage):
    """A decision for the whole project is some abstracts further.

    Attributes:
        decision: The decision.
        done: Abstracts that are done.
        total: All of them.
    """

    decision: BulkDecision
    done: int
    total: int

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, BulkProgress)


@dataclass
class BulkCounted(ServiceMessage):
    """The changes of a decision in the project are counted.

    Attributes:
        decision: The decision.
        count: What it would change.
    """

    decision: BulkDecision
    count: Count


@dataclass
class BulkEnded(ServiceMessage):
    """A decision for the whole project is done, or has failed.

    Attributes:
        decision: The decision.
        outcome: What was changed, ``None`` when it was not even counted.
        stopped: Whether it was cancelled before its end.
        why: Why it failed, empty where it did not.
    """

    decision: BulkDecision
    outcome: Outcome | None = None
    stopped: bool = False
    why: str = ""


def error_line(error: SciextractError | None) -> str:
    """An error and its hint in one line."""
    if error is None:
        return "stopped"
    return f"{error.message}; {error.hint}" if error.hint else error.message


def crash_feedback(work: str, error: BaseException) -> Feedback:
    """A worker failed unexpectedly: writes a report, and names it.

    Args:
        work: What the worker did, such as ``the import``.
        error: Why it failed.
    """
    message = f"{work} failed unexpectedly ({type(error).__name__})"
    try:
        return Feedback(
            f"{message}; please report it with {write_crash_report(error)}", problem=True
        )
    except OSError:
        return Feedback(message, problem=True)
