"""What workers post to the screens, and their errors in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.message import Message

from sciextract.errors import FormatError, SciextractError
from sciextract.workflows.crash import write_report
from sciextract_app.presenters.view_models import Feedback

if TYPE_CHECKING:
    from sciextract.store import Outcome
    from sciextract.store.actions.bulk import Count
    from sciextract.workflows.disagreements import OtherSource
    from sciextract.workflows.import_files import ImportReport
    from sciextract.workflows.predict_project import PredictReport
    from sciextract_app.presenters.bulk import BulkDecision


class ServiceMessage(Message):
    """What a thread reports to the service of the review screen that started it."""


class ModelLoaded(ServiceMessage):
    """The model is loaded; predictions begin.

    Attributes:
        model: Its name.
    """

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model


class Predicted(ServiceMessage):
    """Some more abstracts are predicted and stored.

    Attributes:
        done: Abstracts predicted so far.
        total: All that needed it.
    """

    def __init__(self, done: int, total: int) -> None:
        super().__init__()
        self.done = done
        self.total = total

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, Predicted)


class AcceptanceCounted(ServiceMessage):
    """The decisions of a large project are counted.

    Attributes:
        share: Of the model's decided items, those that were right as they stood; ``None`` without any.
    """

    def __init__(self, share: float | None) -> None:
        super().__init__()
        self.share = share


class PredictionEnded(ServiceMessage):
    """The prediction has ended.

    Attributes:
        report: What was predicted, ``None`` when nothing was.
        error: Why it stopped, ``None`` where it did not.
        stopped: Whether it was cancelled before its end.
    """

    def __init__(
        self,
        report: PredictReport | None = None,
        error: SciextractError | None = None,
        stopped: bool = False,
    ) -> None:
        super().__init__()
        self.report = report
        self.error = error
        self.stopped = stopped


class Imported(ServiceMessage):
    """Some more records of the files are read.

    Attributes:
        records: How many.
    """

    def __init__(self, records: int) -> None:
        super().__init__()
        self.records = records

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, Imported)


class ImportEnded(ServiceMessage):
    """The import has ended.

    Attributes:
        files: What was imported.
        report: Counts, ``None`` when it failed.
        bad: Records that could not be read, as many as are shown.
        error: Why it failed.
    """

    def __init__(
        self,
        files: tuple[str, ...],
        report: ImportReport | None,
        bad: tuple[FormatError, ...] = (),
        error: SciextractError | None = None,
    ) -> None:
        super().__init__()
        self.files = files
        self.report = report
        self.bad = bad
        self.error = error


class ModelInUse(ServiceMessage):
    """A model is in use in the project, or cannot be used.

    Attributes:
        model: Its name.
        error: Why it could not be.
    """

    def __init__(self, model: str, error: SciextractError | None = None) -> None:
        super().__init__()
        self.model = model
        self.error = error


class DifferencesCounted(Message):
    """Differences of some more abstracts are counted.

    Attributes:
        sides: Between the project and whom.
        counts: How many, by abstract.
    """

    def __init__(self, sides: tuple[OtherSource, ...], counts: Mapping[int, int]) -> None:
        super().__init__()
        self.sides = sides
        self.counts = counts


class BulkProgress(ServiceMessage):
    """A decision for the whole project is some abstracts further.

    Attributes:
        decision: The decision.
        done: Abstracts that are done.
        total: All of them.
    """

    def __init__(self, decision: BulkDecision, done: int, total: int) -> None:
        super().__init__()
        self.decision = decision
        self.done = done
        self.total = total

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, BulkProgress)


class BulkCounted(ServiceMessage):
    """The changes of a decision in the project are counted.

    Attributes:
        decision: The decision.
        count: What it would change.
    """

    def __init__(self, decision: BulkDecision, count: Count) -> None:
        super().__init__()
        self.decision = decision
        self.count = count


class BulkEnded(ServiceMessage):
    """A decision for the whole project is done, or has failed.

    Attributes:
        decision: The decision.
        outcome: What was changed, ``None`` when it was not even counted.
        stopped: Whether it was cancelled before its end.
        why: Why it failed, empty where it did not.
    """

    def __init__(
        self,
        decision: BulkDecision,
        outcome: Outcome | None = None,
        stopped: bool = False,
        why: str = "",
    ) -> None:
        super().__init__()
        self.decision = decision
        self.outcome = outcome
        self.stopped = stopped
        self.why = why


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
        return Feedback(f"{message}; please report it with {write_report(error)}", problem=True)
    except OSError:
        return Feedback(message, problem=True)
