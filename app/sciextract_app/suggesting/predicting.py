"""PredictionWork in the background: the model is loaded in a thread, which has a connection of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import ModelMismatchError, SciextractError
from sciextract.inference.model_config import ModelConfig
from sciextract.store import open_project
from sciextract.store.ingest import need_prediction
from sciextract.text.english import counted
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.model_choice import ModelChoice
from sciextract.workflows.models.choice import unusable_models
from sciextract.workflows.predict_project import PredictReport, predict_project
from sciextract_app.shared.actions import key_of
from sciextract_app.shared.jobs import DeskPort, Job, error_line
from sciextract_app.shared.view_models import Feedback

# A key that decides something waits for the transaction that runs, so each holds few abstracts; fewer would
# not fill a batch of the model.
AT_A_TIME = 4


@dataclass(frozen=True, slots=True)
class _Aim:
    """Where the person is.

    Attributes:
        number: The open abstract, 0 for none.
        numbers: The way they go, ``None`` for the project's own order.
    """

    number: int = 0
    numbers: Sequence[int] | None = None


class PredictionOrder:
    """The order of predictions: from the open abstract on, wherever the person goes meanwhile.

    Attributes:
        lock: Held while the person goes to another abstract or writes into one, and while suggestions of an
            adapter are written.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        # One thread only puts a new value in place, the other one only reads it: nothing to lock for that.
        self._aim = _Aim()
        self._seen: _Aim | None = None

    @property
    def number(self) -> int:
        """The open abstract, 0 for none."""
        return self._aim.number

    def aim(self, number: int, numbers: Sequence[int] | None) -> None:
        """Set the open abstract, and the order in which the person reads on."""
        if number != self._aim.number or numbers is not self._aim.numbers:
            self._aim = _Aim(number, numbers)

    def is_new(self) -> bool:
        """Whether the person went elsewhere since this was asked last."""
        seen, self._seen = self._seen, self._aim
        return seen is not self._seen

    def over(self, needed: Sequence[int]) -> Iterator[int]:
        """Every one of the abstracts once: the open one, what is behind it on the way, what is before it.

        Where the person goes elsewhere it continues from there.

        Args:
            needed: Numbers of abstracts, ascending.
        """
        left = set(needed)
        while left:
            aim = self._aim
            for number in _on_the_way(aim, needed):
                if number in left:
                    left.discard(number)
                    yield number
                if self._aim is not aim:
                    break


def _on_the_way(aim: _Aim, needed: Sequence[int]) -> Iterator[int]:
    """The list that the person follows, then all abstracts; both from the open one on and around."""
    if aim.numbers is not None:
        place = aim.numbers.index(aim.number) if aim.number in aim.numbers else 0
        yield aim.number
        yield from aim.numbers[place:]
        yield from aim.numbers[:place]
    place = bisect_left(needed, aim.number)
    yield from needed[place:]
    yield from needed[:place]


class _StoppablePredictor:
    """A model that takes few documents at a time and whose stream ends when its job is cancelled.

    The first one that is wanted after the person went elsewhere is taken alone: they look at it already.
    """

    def __init__(self, inner: Predictor, job: Job, order: PredictionOrder) -> None:
        self._inner = inner
        self._job = job
        self._order = order

    @property
    def config(self) -> ModelConfig:
        return self._inner.config

    @property
    def model(self) -> ModelId:
        return self._inner.model

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        rest = iter(documents)
        while few := list(islice(rest, 1 if self._order.is_new() else AT_A_TIME)):
            for predicted in self._inner.stream(few):
                if self._job.is_cancelled:
                    return
                yield predicted


class PredictionWork:
    """Has a model predict in the background what needs it.

    Args:
        desk: The desk.
        author: Who works on the project.
        load: Gives the model, called in a thread; ``None`` where none shall predict.
        ended: Called at the end, with the error that stopped it.

    Attributes:
        order: In which order abstracts are predicted.
        newcomer: Whether the next result explains the first keys.
        model: The name of the model that was loaded last, empty for none.
        progress: Abstracts predicted so far and all that need it, ``None`` when nothing runs.
    """

    def __init__(
        self,
        desk: DeskPort,
        author: str | None,
        load: Callable[[], Predictor] | None,
        ended: Callable[[SciextractError | None], object],
    ) -> None:
        self.order = PredictionOrder()
        self.newcomer = False
        self.model = ""
        self.progress: tuple[int, int] | None = None
        self._desk = desk
        self._author = author
        self._load = load
        self._ended = ended
        self._skipped = ""

    def start(self) -> None:
        """Predict what needs it; one prediction that still runs is replaced."""
        load, project = self._load, self._desk.project
        if load is None or not self._desk.writable or not project.numbers():
            return
        path = project.path

        def work(job: Job) -> None:
            model, report = _StoppablePredictor(load(), job, self.order), None
            # Loading takes time, in which the person may have left the project.
            if not job.is_cancelled:
                job.call(self._show_model, model.model.name, unusable_models())
                with open_project(path, self._author) as opened:
                    needed = need_prediction(opened.connection, model.model)
                    report = predict_project(
                        opened,
                        model,
                        order=self.order.over(needed),
                        on_progress=lambda done, total: job.progress(self._count, (done, total)),
                        background=True,
                    )
            job.call(self._end, None if job.is_cancelled else report)

        self._desk.run_job("the prediction", work, self._fail, exclusive=True)

    def use_model(self, name: str) -> None:
        """Let another model predict from now on, beginning with what is undecided."""
        if self._load is not None:
            self._load = ModelChoice(name, candidates=True).load
            self.start()

    def _show_model(self, name: str, skipped: str) -> None:
        self.model, self._skipped = name or self.model, skipped
        self._show_progress((0, 0))

    def _count(self, progress: tuple[int, int]) -> None:
        self._show_progress(progress)
        self._desk.poll_changes()

    def _show_progress(self, progress: tuple[int, int] | None) -> None:
        self.progress = progress
        self._desk.draw_header()

    def _end(self, report: PredictReport | None, error: SciextractError | None = None) -> None:
        """Show the result; nothing is said where nothing needed a prediction."""
        if isinstance(error, ModelMismatchError):
            self.model = ""  # it was loaded, but suggests nothing here
        self._show_progress(None)
        self._desk.poll_changes()
        documents = report.documents if report else 0
        words = f"{counted(documents, 'abstract')} predicted" if documents else ""
        if isinstance(error, ModelMismatchError):
            known = bool(self._desk.project.schema.entities)
            other = f"{key_of('app.suggest')} offers other suggestions"
            words = f"no model predicts these labels: {other}" if known else ""
        elif error is not None:
            words = f"no predictions: {error_line(error)}"
        problem = error is not None and not isinstance(error, ModelMismatchError)
        if self._skipped and error is None:
            words, problem = "; ".join(filter(None, (words, self._skipped))), True
        elif words and not problem and self.newcomer:
            self.newcomer = False
            keys = map(key_of, ("relations", "accept", "reject", "help"))
            first = "{} first: relations bring their mentions along; {} accepts, {} rejects, {}: all keys"
            words = f"{words}. {first.format(*keys)}"
        self._desk.show_notice(Feedback(words, problem))
        self._ended(error)

    def _fail(self, error: SciextractError) -> None:
        self._end(None, error)
