"""Soft labels of a joint teacher, with a second opinion on their relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sciextract.documents.document import Document
from sciextract.errors import UsageError
from sciextract.inference.mentions import Mentions
from sciextract.workflows.events import Report
from sciextract_trainer.data.examples import Floats, Ints, Targets
from sciextract_trainer.data.soft import SoftDocument, load_targets, save_targets
from sciextract_trainer.markers.scoring import MarkerScorer
from sciextract_trainer.sessions import require_time

SHARD_DOCUMENTS = 250
"""Documents of a shard: some minutes of work for one teacher on two cores."""


@dataclass(frozen=True, slots=True)
class Second:
    """Teachers of relations, and how much they say.

    Attributes:
        scorers: The teachers; their mean counts.
        share: Weight of their mean against the relations that are there, 0 to 1.
        least: Least probability of a mention that they are asked about.

    Raises:
        UsageError: A number is not possible, or there is no teacher.
    """

    scorers: Sequence[MarkerScorer]
    share: float
    least: float

    def __post_init__(self) -> None:
        """Refuses what cannot work."""
        for name, value in (("share", self.share), ("least", self.least)):
            if not 0 <= value <= 1:
                raise UsageError(
                    f"{name} = {value:g} is not possible", f"{name} lies between 0 and 1"
                )
        if not self.scorers:
            raise UsageError("there is no teacher with markers", 'name stages of kind = "markers"')

    def of(self, document: Document, targets: Targets) -> Targets:
        """Targets with mixed relations; spans, types and links stay."""
        rows = np.flatnonzero(targets.types[:, 1:].max(axis=1, initial=0.0) >= self.least)
        types = targets.types[rows]
        every = np.ones(len(rows), dtype=np.bool_)
        mentions = Mentions(targets.spans[rows], types, types, every)
        said = self._said(document, mentions, rows)
        mixed = targets.relations.copy()
        for at, (head, tail) in enumerate(targets.pairs.tolist()):
            if (head, tail) in said:
                mixed[at] += self.share * (said[head, tail] - mixed[at])
        return replace(targets, relations=mixed)

    def _said(
        self, document: Document, mentions: Mentions, rows: Ints
    ) -> dict[tuple[int, int], Floats]:
        """The mean of the teachers by head and tail, both directions."""
        found: dict[tuple[int, int], Floats] = {}
        for scorer in self.scorers:
            scored = scorer.pairs(document, mentions)
            for (a, b), said in zip(rows[scored.pairs].tolist(), scored.probabilities, strict=True):
                share = said / np.float32(len(self.scorers))
                found[a, b] = found.get((a, b), 0) + share
                found[b, a] = found.get((b, a), 0) + share[scorer.mirror]
        return found


def relabel_softly(
    second: Second,
    labelled: Sequence[SoftDocument],
    folder: Path,
    report: Report,
    until: float = float("inf"),
) -> None:
    """Mixes relations of labelled texts, in shards that an interrupted run does not repeat.

    Args:
        second: Whose opinion, and how much of it.
        labelled: Texts with soft labels.
        folder: Where the shards are.
        report: Told after each shard.
        until: ``time.monotonic()`` at which to stop after a shard.

    Raises:
        ModelDamagedError: A finished shard is damaged; names the file.
        OutputError: The disk is full; the shards so far are kept.
        TimeIsUp: It is later than ``until``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = 0
    for number, chunk in enumerate(_chunks(labelled)):
        path = folder / f"soft-{number:04d}.npz"
        if not path.is_file() or len(load_targets(path).keys) < len(chunk):
            require_time(until)
            mixed = [
                replace(each, targets=second.of(each.document, each.targets)) for each in chunk
            ]
            save_targets(path, mixed)
        done += len(chunk)
        report({"event": "labelled", "documents": done, "of": len(labelled)})


def _chunks(labelled: Sequence[SoftDocument]) -> Iterator[Sequence[SoftDocument]]:
    for start in range(0, len(labelled), SHARD_DOCUMENTS):
        yield labelled[start : start + SHARD_DOCUMENTS]
