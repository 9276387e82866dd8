"""The model at work in a thread: loaded there, with a connection of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from textual.message import Message

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import SciextractError
from sciextract.inference.model_config import ModelConfig
from sciextract.store import open_project
from sciextract.store.ingest import need_prediction
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.predict_project import PredictReport, predict_project
from sciextract_app.messages import ModelLoaded, Predicted, PredictionEnded


@dataclass(frozen=True, slots=True)
class _Aim:
    """Where the person is.

    Attributes:
        number: The open abstract, 0 for none.
        numbers: The way they go, ``None`` for the project's own order.
    """

    number: int = 0
    numbers: Sequence[int] | None = None


class Plan:
    """Told by the desk where the person goes, asked by the worker what to predict next.

    The one thread only puts a new value in place, the other one only reads it: there is nothing to lock.
    """

    def __init__(self) -> None:
        self._aim = _Aim()
        self._seen: _Aim | None = None

    def aim(self, number: int, numbers: Sequence[int] | None) -> None:
        """The person looks at this abstract, on this way."""
        aim = self._aim
        if number != aim.number or numbers is not aim.numbers:
            self._aim = _Aim(number, numbers)

    def is_new(self) -> bool:
        """Whether the person went elsewhere since this was asked last."""
        seen, self._seen = self._seen, self._aim
        return seen is not self._seen

    def over(self, needed: Sequence[int]) -> Iterator[int]:
        """Every one of the abstracts once: the open one, what is behind it on the way, what is before it.

        Where the person goes elsewhere it goes on from there.

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
    """What a prediction needs.

    Attributes:
        path: The project.
        author: Who works on it.
        load: Gives the model; called in the thread.
        plan: In which order abstracts are wanted.
        stopped: Whether to stop; asked before every abstract.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    load: Callable[[], Predictor]
    plan: Plan
    stopped: Callable[[], bool]
    post: Callable[[Message], object]

    def run(self) -> None:
        """Predict what needs it, and say how it ended."""
        try:
            report = self._predict()
        except SciextractError as error:
            self.post(PredictionEnded(error=error))
        else:
            self.post(PredictionEnded(report, stopped=self.stopped()))

    def _predict(self) -> PredictReport | None:
        model = _Stoppable(self.load(), self.stopped, self.plan.is_new)
        if self.stopped():
            return None
        self.post(ModelLoaded(model.model.name))
        with open_project(self.path, self.author) as project:
            needed = need_prediction(project.connection, model.model)
            return predict_project(
                project,
                model,
                order=self.plan.over(needed),
                on_progress=self._tell,
                background=True,
            )

    def _tell(self, done: int, total: int) -> None:
        self.post(Predicted(done, total))


class _Stoppable:
    """A model that takes few documents at a time and whose stream ends when it is told to stop.

    The first one that is wanted after the person went elsewhere is taken alone: they look at it already.
    """

    def __init__(
        self, inner: Predictor, stopped: Callable[[], bool], urgent: Callable[[], bool]
    ) -> None:
        self._inner = inner
        self._stopped = stopped
        self._urgent = urgent

    @property
    def config(self) -> ModelConfig:
        return self._inner.config

    @property
    def model(self) -> ModelId:
        return self._inner.model

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        rest = iter(documents)
        while few := list(islice(rest, 1 if self._urgent() else AT_A_TIME)):
            for predicted in self._inner.stream(few):
                if self._stopped():
                    return
                yield predicted
