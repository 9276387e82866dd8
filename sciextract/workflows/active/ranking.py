"""The abstracts of a project in the order in which a person had best correct them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sciextract.documents.annotations import Annotations, Candidates
from sciextract.documents.document import Document
from sciextract.errors import ActionRefusedError
from sciextract.store import documents
from sciextract.store.documents import known_documents
from sciextract.store.queries import predictions_of_model
from sciextract.workflows.active.uncertainty import (
    MEASURES,
    LayerScores,
    Votes,
    decisions,
    disagreement_per_word,
    find_settled,
    over_layers,
    per_word,
    votes_of,
)
from sciextract.workflows.models.registry import KnownModel
from sciextract.workflows.predict_project import check_config

if TYPE_CHECKING:
    from sciextract.inference.extractor import Extractor
    from sciextract.store import Project


Floats = NDArray[np.float32]


def k_centre_greedy(vectors: Floats, labelled: Floats) -> Iterator[int]:
    """Rows of the pool, each the one farthest from all that were taken before.

    The greedy 2-approximation of the k-centre problem: Sener and Savarese 2018 (arXiv 1708.00489),
    algorithm 1, with Euclidean distances. Without labelled abstracts the one nearest to the pool's mean
    begins. Each further row takes one pass over the pool.

    Args:
        vectors: float32 (abstracts, hidden), the pool.
        labelled: float32 (abstracts, hidden), what is labelled; may be empty.

    Yields:
        Every row once; of equally far ones the first.
    """
    if not len(vectors):
        return
    nearest = np.full(len(vectors), np.inf, dtype=np.float32)
    for vector in labelled:
        np.minimum(nearest, _square_distances(vectors, vector), out=nearest)
    central = np.argmin(_square_distances(vectors, vectors.mean(axis=0)))
    row = int(np.argmax(nearest) if len(labelled) else central)
    for _ in range(len(vectors)):
        yield row
        np.minimum(nearest, _square_distances(vectors, vectors[row]), out=nearest)
        # Taken: no distance may bring it back.
        nearest[row] = -np.inf
        row = int(np.argmax(nearest))


def _square_distances(vectors: Floats, centre: Floats) -> Floats:
    return np.asarray(np.square(vectors - centre).sum(axis=1), dtype=np.float32)


class ModelPredictions:
    """The predictions of one model about abstracts of one project; the project itself is left as it is.

    Args:
        project: The open project.
        model: The model; it is loaded only when the project lacks something.
        adapter: What predicts in its place, if an adapter does. Its predictions are always made anew: those in the
            project may be by an adapter that had learned less.

    Attributes:
        predicted: Abstracts that had to be predicted so far.
        id: The model's; of an adapter name and hash of its model, marked as adapted.

    Raises:
        ModelDamagedError: A file of the model is missing or changed.
        ModelMismatchError: It predicts labels that the project's schema lacks.
    """

    def __init__(
        self, project: Project, model: KnownModel, adapter: Extractor | None = None
    ) -> None:
        self.predicted = 0
        self.id = model.id if adapter is None else str(adapter.model)
        self._project = project
        self._model = model
        self._extractor = adapter and adapter.with_settings(candidates=True)
        self._kept_by: tuple[str, str] | None = None
        if adapter is None:
            folder = model.open()
            self._kept_by = folder.config.name, folder.hash
            check_config(project, folder.config, model.id)

    def about(self, numbers: Sequence[int]) -> Iterator[tuple[int, Annotations]]:
        """What the model says, candidates included: what the project holds first, the rest after it."""
        missing = []
        for number in numbers:
            connection, by = self._project.connection, self._kept_by
            kept = predictions_of_model(connection, number, *by) if by else None
            if kept is None or kept.candidates is None:
                missing.append(number)
            else:
                yield number, kept
        if missing:
            stream = self._load().stream(self._documents(missing))
            for number, found in zip(missing, stream, strict=True):
                self.predicted += 1
                yield number, found.annotations

    def vectors(self, numbers: Sequence[int]) -> Iterator[Floats]:
        """The mean over the encoder's states of each abstract's words; a project holds none, so the model runs."""
        yield from self._load().vectors(self._documents(numbers))

    def _documents(self, numbers: Sequence[int]) -> Iterator[Document]:
        for number in numbers:
            yield documents.load(self._project.connection, number).document

    def _load(self) -> Extractor:
        from sciextract.inference.extractor import Extractor

        if self._extractor is None:
            self._extractor = Extractor.load(self._model.folder).with_settings(candidates=True)
        return self._extractor


# Called with abstracts done and abstracts in all.
OnProgress = Callable[[int, int], None]


class By(StrEnum):
    """What an order goes by."""

    ENTROPY = "entropy"
    MARGIN = "margin"
    LEAST_CONFIDENCE = "least-confidence"
    COMMITTEE = "committee"
    DIVERSITY = "diversity"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class AbstractPool:
    """The abstracts that may be asked about.

    Attributes:
        open: Numbers of those that are not done, in the order in which they came.
        touched: Those of them about which something is decided.
        done: Numbers of the others.
    """

    open: tuple[int, ...]
    touched: frozenset[int]
    done: tuple[int, ...]


def pool_of(project: Project) -> AbstractPool:
    """What is left to correct in a project.

    Raises:
        ActionRefusedError: Nothing is.
    """
    known = list(known_documents(project.connection))
    unfinished = [abstract for abstract in known if not abstract.finished]
    if not unfinished:
        left = "no abstract of the project is left to correct"
        problem = left if known else "there is no abstract in the project"
        raise ActionRefusedError(problem, "sciextract import adds abstracts")
    return AbstractPool(
        tuple(abstract.number for abstract in unfinished),
        frozenset(abstract.number for abstract in unfinished if abstract.decided),
        tuple(abstract.number for abstract in known if abstract.finished),
    )


def by_uncertainty(
    project: Project,
    pool: AbstractPool,
    predictions: ModelPredictions,
    by: By,
    on_progress: OnProgress,
) -> list[int]:
    """Most uncertain first: see :mod:`~sciextract.workflows.active.uncertainty`."""
    scores: dict[int, LayerScores] = {}
    for number, found in predictions.about(pool.open):
        left = decisions(found.candidates or Candidates())
        if number in pool.touched:
            left = find_settled(project.document_state(number)).left(left)
        scores[number] = per_word(left, _words(project, number), MEASURES[by.value])
        on_progress(len(scores), len(pool.open))
    return _rank(scores)


def by_committee(
    project: Project,
    pool: AbstractPool,
    committee: Sequence[ModelPredictions],
    on_progress: OnProgress,
) -> list[int]:
    """Most disagreement first: see :mod:`~sciextract.workflows.active.uncertainty`."""
    votes: dict[int, list[Votes]] = {number: [] for number in pool.open}
    done, symmetric = 0, project.schema.symmetric_labels
    for member in committee:
        for number, found in member.about(pool.open):
            answers: Votes = votes_of(found, symmetric)
            if number in pool.touched:
                known = find_settled(project.document_state(number))
                answers = {place: said for place, said in answers.items() if known.is_open(*place)}
            votes[number].append(answers)
            done += 1
            on_progress(done // len(committee), len(pool.open))
    scores = {
        number: disagreement_per_word(members, _words(project, number))
        for number, members in votes.items()
    }
    return _rank(scores)


def by_diversity(
    pool: AbstractPool, predictions: ModelPredictions, most: int, on_progress: OnProgress
) -> list[int]:
    """Each the farthest from all before it and from all that are done: see :mod:`~.diversity`."""
    numbers = [*pool.done, *pool.open]
    vectors = []
    for vector in predictions.vectors(numbers):
        vectors.append(vector)
        on_progress(len(vectors), len(numbers))
    width = max(len(vector) for vector in vectors)
    table = np.stack([vector if len(vector) else np.zeros(width, np.float32) for vector in vectors])
    taken = k_centre_greedy(table[len(pool.done) :], table[: len(pool.done)])
    return [pool.open[row] for row in islice(taken, most)]


def by_chance(pool: AbstractPool, seed: int) -> list[int]:
    """In an order of its own for every seed, which abstracts that come later do not change."""

    def draw(number: int) -> bytes:
        return hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()

    return sorted(pool.open, key=draw)


def _rank(scores: Mapping[int, LayerScores]) -> list[int]:
    """Numbers, highest score first; of equal ones the one that came first."""
    numbers = sorted(scores)
    combined = over_layers([scores[number] for number in numbers])
    return [
        number for _, number in sorted(zip((-score for score in combined), numbers, strict=True))
    ]


def _words(project: Project, number: int) -> int:
    return len(documents.load(project.connection, number).document.tokens)
