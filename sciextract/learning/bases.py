"""Which bundled encoder suits labels of one's own: the one on which adapters do best by folds over the finished abstracts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sciextract.documents.annotations import Layer
from sciextract.documents.schema import LabelSchema
from sciextract.errors import SciextractError
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.batching import RunOptions
from sciextract.inference.extractor import Extractor
from sciextract.inference.model_folder import BIOMEDICAL_MODEL, DEFAULT_MODEL, SCIENCE_MODEL
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.metrics.counts import scorable
from sciextract.metrics.scorer import Floats, counts_of, f1_of, probability_better, tally
from sciextract.snapshot.documents import TrainingDocument, positive_part
from sciextract.text.english import counted

BASES = (DEFAULT_MODEL, SCIENCE_MODEL, BIOMEDICAL_MODEL)

FOLDS = 5

LEAST = 3
"""Finished abstracts below which nothing is compared."""

# How likely another base must be better on other abstracts of the kind: a standard error, as the folds have it.
_CLEARLY = 0.84

# Links of own labels come from the base itself, and follow its mentions.
_LAYERS = {Layer.ENTITIES: ("ner", "all"), Layer.RELATIONS: ("relation", "boundaries", "ordered")}


class BaseComparison:
    """Adapters on each bundled base, each scored on abstracts that it has not learned from.

    Args:
        finished: Abstracts with a complete layer.
        schema: The labels.
        today: The base so far, which need not be a bundled one.
    """

    def __init__(
        self, finished: Sequence[TrainingDocument], schema: LabelSchema, today: EncoderStates
    ) -> None:
        # As in validation the fold of an abstract depends on its text.
        self._finished = sorted(finished, key=lambda doc: doc.annotated.document.text_sha256)
        self._schema, self._today = schema, today.extractor.model.name
        self._states = {self._today: today}
        nothing = np.zeros((len(finished), len(_LAYERS), 4))
        self._counts = {name: nothing.copy() for name in dict.fromkeys((self._today, *BASES))}
        self._left_out: list[str] = []
        self._trainings = self._train()

    def step(self) -> bool:
        """Train once more: a person waits for one training at most; whether there was one to do."""
        return next(self._trainings, False)

    def best(self) -> EncoderStates:
        """That of today, unless another one is better by more than the folds differ."""
        while self.step():
            pass
        first = max(self._counts, key=lambda name: self._f1(name).mean())
        sure = probability_better(self._counts[first], self._counts[self._today])
        return self._states[first if sure >= _CLEARLY else self._today]

    def words(self) -> str:
        """The scores of all bases, the one of today first."""
        scores = {name: self._f1(name) for name in self._counts}
        found = (f"{name} {f1[0]:.0f} / {f1[1]:.0f}" for name, f1 in scores.items())
        many = counted(len(self._finished), "finished abstract")
        words = f"F1 of entities / relations by folds over {many}: {', '.join(found)}"
        return "; ".join([words, *self._left_out])

    def _f1(self, name: str) -> Floats:
        return f1_of(self._counts[name].sum(axis=0))

    def _train(self) -> Iterator[bool]:
        folds = min(FOLDS, len(self._finished))
        for name, counts in list(self._counts.items()):
            try:
                if name not in self._states:
                    self._states[name] = EncoderStates(Extractor.load(name, RunOptions(threads=1)))
            except SciextractError as error:
                del self._counts[name]
                self._left_out.append(f"{name} left out: {error.message}")
                continue
            for fold in range(folds):
                held_out = self._finished[fold::folds]
                rest = [e for row, e in enumerate(self._finished) if row % folds != fold]
                adapter = learn(rest, self._schema, self._states[name], WRITTEN)
                predicted = adapter.stream([document.annotated.document for document in held_out])
                symmetric = self._schema.symmetric_labels
                tallies = [
                    tally(scorable(positive_part(one)), scorable(other), symmetric)
                    for one, other in zip(held_out, predicted, strict=True)
                ]
                complete = [[layer in paper.complete for layer in _LAYERS] for paper in held_out]
                found = counts_of(tallies, tuple(_LAYERS.values()))
                counts[fold::folds] = found * np.array(complete)[:, :, None]
                yield True
