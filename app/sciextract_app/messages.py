"""What workers tell the app: one frozen value per message."""

from __future__ import annotations

from textual.message import Message

from sciextract.errors import FormatError, SciextractError
from sciextract.workflows.import_files import ImportReport
from sciextract.workflows.predict_project import PredictReport


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
