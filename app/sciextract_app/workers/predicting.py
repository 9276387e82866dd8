"""The model at work in a thread: loaded there, with a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from textual.message import Message

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import SciextractError
from sciextract.inference.model_config import ModelConfig
from sciextract.store import open_project
from sciextract.store.incoming.ingest import need_prediction
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.predict_project import PredictReport, predict_project
from sciextract_app.messages import ModelLoaded, Predicted, PredictionEnded
from sciextract_app.workers.plan import Plan

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
