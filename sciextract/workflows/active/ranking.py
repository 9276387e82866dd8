"""The abstracts of a project in the order in which a person had best correct them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from sciextract.documents.annotations import Annotations, Candidates
from sciextract.errors import ActionRefusedError
from sciextract.store.content import documents
from sciextract.store.looking.decided import Known, known_documents
from sciextract.store.state.rows import Layer
from sciextract.workflows.active.committee import Votes, disagreement_per_word, votes_of
from sciextract.workflows.active.decisions import Decision, decisions
from sciextract.workflows.active.said import Sayings
from sciextract.workflows.active.settled import settled
from sciextract.workflows.active.uncertainty import MEASURES, TaskScores, over_tasks, per_word

if TYPE_CHECKING:
    from sciextract.store.project import Project

OnProgress = Callable[[int, int], None]
"""Called with abstracts done and abstracts in all."""


class By(StrEnum):
    """What an order goes by."""

    ENTROPY = "entropy"
    MARGIN = "margin"
    LEAST_CONFIDENCE = "least-confidence"
    COMMITTEE = "committee"
    DIVERSITY = "diversity"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Pool:
    """The abstracts that may be asked about.

    Attributes:
        open: Numbers of those that are not done in every layer, in the order in which they came.
        touched: Those of them about which something is decided.
        done: Numbers of the others.
    """

    open: tuple[int, ...]
    touched: frozenset[int]
    done: tuple[int, ...]


def pool_of(project: Project) -> Pool:
    """What is left to correct in a project.

    Raises:
        ActionRefusedError: Nothing is.
    """
    known = list(known_documents(project.connection))
    found = [each for each in known if not _is_done(each)]
    if not found:
        raise ActionRefusedError(
            "no abstract of the project is left to correct"
            if known
            else "there is no abstract in the project",
            "sciextract import brings abstracts in",
        )
    return Pool(
        tuple(each.number for each in found),
        frozenset(each.number for each in found if each.decided),
        tuple(each.number for each in known if _is_done(each)),
    )


def by_uncertainty(
    project: Project, pool: Pool, sayings: Sayings, by: By, on_progress: OnProgress
) -> list[int]:
    """Most uncertain first: see :mod:`~sciextract.workflows.active.uncertainty`."""
    scores: dict[int, TaskScores] = {}
    for number, found in sayings.about(pool.open):
        considered = decisions(found.candidates or Candidates())
        left = _open_part(project, pool, number, considered)
        scores[number] = per_word(left, _words(project, number), MEASURES[by.value])
        on_progress(len(scores), len(pool.open))
    return _ranked(scores)


def by_committee(
    project: Project, pool: Pool, committee: Sequence[Sayings], on_progress: OnProgress
) -> list[int]:
    """Most disagreement first: see :mod:`~sciextract.workflows.active.committee`."""
    votes: dict[int, list[Votes]] = {number: [] for number in pool.open}
    done, symmetric = 0, project.schema.symmetric_labels
    for member in committee:
        for number, found in member.about(pool.open):
            votes[number].append(_open_votes(project, pool, number, found, symmetric))
            done += 1
            on_progress(done // len(committee), len(pool.open))
    scores = {
        number: disagreement_per_word(members, _words(project, number))
        for number, members in votes.items()
    }
    return _ranked(scores)


def by_diversity(pool: Pool, sayings: Sayings, most: int, on_progress: OnProgress) -> list[int]:
    """Each the farthest from all before it and from all that are done: see :mod:`~.diversity`."""
    import numpy as np

    from sciextract.workflows.active.diversity import k_centre_greedy

    numbers = [*pool.done, *pool.open]
    vectors = []
    for vector in sayings.vectors(numbers):
        vectors.append(vector)
        on_progress(len(vectors), len(numbers))
    width = max(len(each) for each in vectors)
    table = np.stack([each if len(each) else np.zeros(width, np.float32) for each in vectors])
    taken = k_centre_greedy(table[len(pool.done) :], table[: len(pool.done)])
    return [pool.open[row] for row in islice(taken, most)]


def by_chance(pool: Pool, seed: int) -> list[int]:
    """In an order of its own for every seed, which abstracts that come later do not change."""
    return sorted(pool.open, key=lambda number: _chance(seed, number))


def _ranked(scores: Mapping[int, TaskScores]) -> list[int]:
    """Numbers, highest score first; of equal ones the one that came first."""
    numbers = sorted(scores)
    combined = over_tasks([scores[each] for each in numbers])
    return [number for _, number in sorted(zip((-each for each in combined), numbers, strict=True))]


def _open_part(
    project: Project, pool: Pool, number: int, considered: Iterator[Decision]
) -> Iterator[Decision]:
    if number not in pool.touched:
        return considered
    return settled(project.draft(number)).left(considered)


def _open_votes(
    project: Project, pool: Pool, number: int, found: Annotations, symmetric: frozenset[str]
) -> Votes:
    votes = votes_of(found, symmetric)
    if number not in pool.touched:
        return votes
    known = settled(project.draft(number))
    return {place: answer for place, answer in votes.items() if known.is_open(place[0], place[1])}


def _is_done(known: Known) -> bool:
    return known.done == frozenset(Layer)


def _words(project: Project, number: int) -> int:
    return len(documents.load(project.connection, number).document.tokens)


def _chance(seed: int, number: int) -> bytes:
    return hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
