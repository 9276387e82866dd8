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
    from sciextract.workflows.disagreements import OtherSide
    from sciextract.workflows.import_files import ImportReport
    from sciextract.workflows.predict_project import PredictReport
    from sciextract_app.presenters.bulk import BulkDecision


class ModelLoaded(Message):
    """The model is there; predicting begins.

    Attributes:
        model: Its name.
    """

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model


class Predicted(Message):
    """Some more abstracts are predicted and in the project.

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


class AcceptanceCounted(Message):
    """The decisions of a large project are counted.

    Attributes:
        share: Of the model's decided items, those that were right as they stood; ``None`` without any.
    """

    def __init__(self, share: float | None) -> None:
        super().__init__()
        self.share = share


class PredictionEnded(Message):
    """The prediction has come to its end, or to a stop.

    Attributes:
        report: What was predicted, ``None`` when nothing was.
        error: Why it stopped, ``None`` where it did not.
        stopped: Whether it was told to stop before its end.
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


class Imported(Message):
    """Some more records of the files are behind us.

    Attributes:
        records: How many.
    """

    def __init__(self, records: int) -> None:
        super().__init__()
        self.records = records

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, Imported)


class ImportEnded(Message):
    """The import has come to its end.

    Attributes:
        files: What was brought in.
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


class ModelInUse(Message):
    """A model was taken for the project, or could not be.

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

    def __init__(self, sides: tuple[OtherSide, ...], counts: Mapping[int, int]) -> None:
        super().__init__()
        self.sides = sides
        self.counts = counts


class BulkProgress(Message):
    """A decision that goes through the project is some abstracts further.

    Attributes:
        spread: The decision.
        done: Abstracts behind it.
        total: All of them.
    """

    def __init__(self, spread: BulkDecision, done: int, total: int) -> None:
        super().__init__()
        self.spread = spread
        self.done = done
        self.total = total

    def can_replace(self, message: Message) -> bool:
        """Only the latest count matters."""
        return isinstance(message, BulkProgress)


class BulkCounted(Message):
    """What a decision would change in the project is counted.

    Attributes:
        spread: The decision.
        count: What it would change.
    """

    def __init__(self, spread: BulkDecision, count: Count) -> None:
        super().__init__()
        self.spread = spread
        self.count = count


class BulkEnded(Message):
    """A decision has gone through the project, or could not.

    Attributes:
        spread: The decision.
        outcome: What was changed, ``None`` when it was not even counted.
        stopped: Whether it was told to stop before its end.
        why: Why it failed, empty where it did not.
    """

    def __init__(
        self,
        spread: BulkDecision,
        outcome: Outcome | None = None,
        stopped: bool = False,
        why: str = "",
    ) -> None:
        super().__init__()
        self.spread = spread
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
