"""The model at work in a thread: loaded there, with a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from textual.message import Message

from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.errors import SciextractError
from sciextract.inference.model_config import ModelConfig
from sciextract.store import Project, open_project
from sciextract.store.incoming.ingest import Run, need_prediction
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.predict_project import PredictReport, check_labels, predict_project
from sciextract_app.messages import ModelLoaded, Predicted, PredictionEnded

AT_A_TIME = 4
"""Abstracts a transaction: a key that decides something waits for it, so it is short."""


@dataclass(frozen=True, slots=True)
class PredictionJob:
    """What a prediction needs.

    Attributes:
        path: The project.
        author: Who works on it.
        load: Gives the model; called in the thread.
        first: The abstract that the person looks at, 0 for none.
        stopped: Whether to stop; asked before every abstract.
        post: Takes the messages; must not mind the thread.
    """

    path: Path
    author: str | None
    load: Callable[[], Predictor]
    first: int
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
        model = _Stoppable(self.load(), self.stopped)
        if self.stopped():
            return None
        self.post(ModelLoaded(model.model.name))
        with open_project(self.path, self.author) as project:
            check_labels(project, model)
            first = self._predict_first(project, model)
            total = first + len(need_prediction(project.connection, model.model))

            def tell(done: int, _: int) -> None:
                self.post(Predicted(first + done, total))

            report = predict_project(project, model, on_progress=tell, background=True)
        return replace(report, documents=first + report.documents)

    def _predict_first(self, project: Project, model: Predictor) -> int:
        """The abstract that the person looks at does not wait for the others; gives how many that are."""
        waiting = need_prediction(project.connection, model.model)
        if self.first not in waiting:
            return 0
        run = Run(project, model.model, {}, background=True)
        document = project.draft(self.first).stored.document
        run.add([(self.first, predicted) for predicted in model.stream([document])])
        run.finish()
        self.post(Predicted(run.documents, len(waiting)))
        return run.documents


class _Stoppable:
    """A model that takes few documents at a time and whose stream ends when it is told to stop."""

    def __init__(self, inner: Predictor, stopped: Callable[[], bool]) -> None:
        self._inner = inner
        self._stopped = stopped

    @property
    def config(self) -> ModelConfig:
        return self._inner.config

    @property
    def model(self) -> ModelId:
        return self._inner.model

    def stream(self, documents: Iterable[Document], /) -> Iterator[AnnotatedDocument]:
        rest = iter(documents)
        while few := list(islice(rest, AT_A_TIME)):
            for predicted in self._inner.stream(few):
                if self._stopped():
                    return
                yield predicted
