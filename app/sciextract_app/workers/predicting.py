"""Predictions in the background: the model is loaded in a thread, which has a connection of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from textual.message import Message

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
from sciextract_app.messages import ModelLoaded, Predicted, PredictionEnded, error_line
from sciextract_app.presenters.view_models import Feedback
from sciextract_app.workers.host import IsCancelled, ReviewHost


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

    The screen sets where the person is, the worker reads it. One thread only puts a new value in place, the
    other one only reads it: there is nothing to lock.
    """

    def __init__(self) -> None:
        self._aim = _Aim()
        self._seen: _Aim | None = None

    def aim(self, number: int, numbers: Sequence[int] | None) -> None:
        """Set the open abstract, and the order in which the person reads on."""
        aim = self._aim
        if number != aim.number or numbers is not aim.numbers:
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
            for number in _from(aim, needed):
                if number in left:
                    left.discard(number)
                    yield number
                if self._aim is not aim:
                    break


def _from(aim: _Aim, needed: Sequence[int]) -> Iterator[int]:
    own = _around(needed, bisect_left(needed, aim.number))
    if aim.numbers is None:
        return own
    try:
        place = aim.numbers.index(aim.number)
    except ValueError:
        place = 0
    return chain((aim.number,), _around(aim.numbers, place), own)


def _around(numbers: Sequence[int], place: int) -> Iterator[int]:
    """All of them, beginning at a place and going round."""
    for each in range(place, len(numbers)):
        yield numbers[each]
    for each in range(min(place, len(numbers))):
        yield numbers[each]


AT_A_TIME = 4
"""Abstracts a transaction: a key that decides something waits for it, so it is short."""


@dataclass(frozen=True, slots=True)
class PredictionJob:
    """One prediction of a project.

    Attributes:
        path: The project.
        author: Who works on it.
        load: Gives the model; called in the thread.
        order: In which order abstracts are wanted.
        is_cancelled: Whether to stop; checked before every abstract.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    load: Callable[[], Predictor]
    order: PredictionOrder
    is_cancelled: IsCancelled
    post: Callable[[Message], object]

    def run(self) -> None:
        """Predict what needs it, and post the result."""
        try:
            report = self._predict()
        except SciextractError as error:
            self.post(PredictionEnded(error=error))
        else:
            self.post(PredictionEnded(report, stopped=self.is_cancelled()))

    def _predict(self) -> PredictReport | None:
        model = _Stoppable(self.load(), self.is_cancelled, self.order.is_new)
        if self.is_cancelled():
            return None
        self.post(ModelLoaded(model.model.name, unusable_models()))
        with open_project(self.path, self.author) as project:
            needed = need_prediction(project.connection, model.model)
            return predict_project(
                project,
                model,
                order=self.order.over(needed),
                on_progress=self._progress,
                background=True,
            )

    def _progress(self, done: int, total: int) -> None:
        self.post(Predicted(done, total))


class _Stoppable:
    """A model that takes few documents at a time and whose stream ends when it is told to stop.

    The first one that is wanted after the person went elsewhere is taken alone: they look at it already.
    """

    def __init__(
        self, inner: Predictor, is_cancelled: IsCancelled, is_urgent: Callable[[], bool]
    ) -> None:
        self._inner = inner
        self._is_cancelled = is_cancelled
        self._is_urgent = is_urgent

    @property
    def config(self) -> ModelConfig:
        return self._inner.config

    @property
    def model(self) -> ModelId:
        return self._inner.model

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        rest = iter(documents)
        while few := list(islice(rest, 1 if self._is_urgent() else AT_A_TIME)):
            for predicted in self._inner.stream(few):
                if self._is_cancelled():
                    return
                yield predicted


NEWCOMER = "Enter accepts, x rejects, Tab skips; ? shows all"
"""Shown once, with the first predictions of the first project."""


class PredictionService:
    """Has a model predict in the background what needs it.

    Args:
        host: The screen.
        author: Who works on the project.
        load: Gives the model, called in a thread; ``None`` where none shall predict.

    Attributes:
        order: In which order abstracts are predicted.
        newcomer: Whether the next result explains the first keys.
    """

    GROUP = "predict"

    def __init__(
        self, host: ReviewHost, author: str | None, load: Callable[[], Predictor] | None
    ) -> None:
        self.order = PredictionOrder()
        self.newcomer = False
        self._host = host
        self._author = author
        self._load = load
        self._model = self._skipped = ""

    @property
    def model(self) -> str:
        """The name of the model that was loaded last, empty for none."""
        return self._model

    def start(self) -> None:
        """Predict what needs it; one prediction that still runs is replaced."""
        load, project = self._load, self._host.project
        if load is None or not self._host.writable or not project.numbers():
            return
        path, author = project.path, self._author

        def predict(is_cancelled: IsCancelled) -> None:
            post = self._host.post_message
            PredictionJob(path, author, load, self.order, is_cancelled, post).run()

        self._host.start_thread(self.GROUP, predict, exclusive=True)

    def use_model(self, name: str) -> None:
        """Let another model predict from now on, beginning with what is undecided."""
        if self._load is not None:
            self._load = ModelChoice(name, candidates=True).load
            self.start()

    def receive(self, message: ModelLoaded | Predicted | PredictionEnded) -> None:
        """Show what the thread reports."""
        match message:
            case ModelLoaded():
                self._model = message.model or self._model
                self._skipped = message.skipped
                self._show((0, 0))
            case Predicted():
                self._show((message.done, message.total))
                self._host.poll_changes()
            case PredictionEnded():
                self._show(None)
                self._host.poll_changes()
                self._host.show_notice(self._result(message))

    def fail(self) -> None:
        """The thread failed unexpectedly: nothing runs any more."""
        self._show(None)

    def _show(self, progress: tuple[int, int] | None) -> None:
        self._host.desk.predicting = progress
        self._host.draw_header()

    def _result(self, ended: PredictionEnded) -> Feedback:
        feedback = prediction_feedback(ended)
        if self._skipped and ended.error is None:
            words = "; ".join(filter(None, (feedback.message, self._skipped)))
            return Feedback(words, problem=True)
        if feedback.message and not feedback.problem and self.newcomer:
            self.newcomer = False
            return Feedback(f"{feedback.message}. {NEWCOMER}")
        return feedback


def prediction_feedback(ended: PredictionEnded) -> Feedback:
    """The result of a prediction in words; empty when nothing needed it."""
    if isinstance(ended.error, ModelMismatchError):
        return Feedback("no model predicts these labels: F9 offers other suggestions")
    if ended.error is not None:
        return Feedback(f"no predictions: {error_line(ended.error)}", problem=True)
    if ended.report is None or not ended.report.documents or ended.stopped:
        return Feedback()
    return Feedback(f"{counted(ended.report.documents, 'abstract')} predicted")
