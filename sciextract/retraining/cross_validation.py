"""Cross-validation of a retraining where too few abstracts are held out: models that left out a part of the finished abstracts predict it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sciextract import atomic
from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import TrainingDataError
from sciextract.formats.jsonl import encode
from sciextract.metrics.promotion import CROSS_VALIDATED, HELD_OUT, GateReport
from sciextract.retraining.run_folder import Run
from sciextract.snapshot import Origin, Snapshot, SplitCounts, TrainingDocument
from sciextract.snapshot.files import read_lines
from sciextract.store import Project
from sciextract.store.finished import finished_abstracts
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.models.compare import gate_predictions, symmetric_of

if TYPE_CHECKING:
    from sciextract.inference.model_folder import ModelFolder
    from sciextract.retraining.run_folder import RetrainRequest

FOLDS = 5
FOLDER = "folds"
"""In the run folder: what the model of each fold predicts for the abstracts that it left out."""

Fold = tuple[int, ...]
"""Places in ``train.jsonl`` of the abstracts that one model is trained without."""

TrainedOn = Callable[[Sequence[TrainingDocument]], Predictor]
"""What predicts after learning from some abstracts; a fixed model pays no attention to them."""


def plan_folds(
    snapshot: Snapshot, request: RetrainRequest, start: ModelFolder, project: Project
) -> tuple[Fold, ...] | None:
    """The folds of a run; ``None`` where enough is held out, too little is finished, or nobody wants any.

    Abstracts that the start model may have learned from are in no fold: of a model that was itself trained on
    decisions, only those are that it had predicted before they were corrected.
    """
    held_out = (*snapshot.gate, *snapshot.dev)
    if request.no_cross_validation or HELD_OUT.has_many(*_counts(snapshot.gate)):
        return None
    places = [
        place
        for place, each in enumerate(snapshot.train)
        if each.origin is Origin.PROJECT and each.complete
    ]
    if "trained on from" in start.config.origin:
        model = f"{start.config.name}@{start.hash[:8]}"
        unseen = {
            each.gold.document.text_sha256
            for each in finished_abstracts(project)
            if each.model == model  # it had suggested for the text before anybody corrected it
        }
        places = [place for place in places if _text(snapshot.train[place]) in unseen]
    judged = [*held_out, *(snapshot.train[place] for place in places)]
    if not CROSS_VALIDATED.is_met(*_counts(judged)):
        return None
    # By hash, so that a fold does not hold the abstracts of one import.
    places.sort(key=lambda place: _text(snapshot.train[place]))
    return tuple(tuple(sorted(places[n::FOLDS])) for n in range(min(FOLDS, len(places))))


def without(documents: Sequence[TrainingDocument], fold: Fold) -> list[TrainingDocument]:
    """The training documents of the model that leaves a fold out."""
    left_out = set(fold)
    return [each for place, each in enumerate(documents) if place not in left_out]


def fold_file(run: Run, number: int) -> Path:
    """The predictions for a fold, counted from 1."""
    return run.folder / FOLDER / f"{number}.jsonl"


def write_fold(path: Path, predicted: Iterable[AnnotatedDocument]) -> None:
    """Keep what the model of a fold predicts, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, "".join(f"{encode(each, split=False)}\n" for each in predicted))


def cross_validated(
    run: Run,
    snapshot: Snapshot,
    folds: Sequence[Fold],
    today: TrainedOn,
    after: Predictor,
    *,
    blind: bool = False,
) -> GateReport:
    """Compare the retraining with what predicts today on all finished abstracts, each predicted by what left it out.

    Abstracts of the dev and gate splits are predicted by the new model itself, the others by the models of the
    folds. So the scores are of the recipe, with a fifth less to learn from, rather than of the one model.

    Args:
        run: Holds the predictions for the folds.
        snapshot: What the new model was trained on, and what is held out.
        folds: Those of the run.
        today: What predicts in the project now; where that is an adapter, it leaves out the same abstracts.
        after: The new model.
        blind: Whether to report abstracts that were not corrected from suggestions apart, too.

    Raises:
        TrainingDataError: The predictions for a fold are missing or damaged, or are about other texts.
    """
    documents = [*snapshot.gate, *snapshot.dev]
    texts = [each.annotated.document for each in documents]
    first = today(snapshot.train)
    before, later = list(first.stream(texts)), list(after.stream(texts))
    for number, fold in enumerate(folds, start=1):
        left_out = [snapshot.train[place] for place in fold]
        known = today(without(snapshot.train, fold))
        documents += left_out
        before += known.stream([each.annotated.document for each in left_out])
        path = fold_file(run, number)  # it may come from another machine
        predicted = list(read_lines(path))
        wanted = [each.annotated.document.text for each in left_out]
        if [each.document.text for each in predicted] != wanted:
            raise TrainingDataError(
                f"{path} has predictions for other texts than those that the model was trained without",
                "start another run: sciextract retrain --project DB",
            )
        later += predicted
    count = sum(map(len, folds))
    report = gate_predictions(
        documents, before, later, symmetric_of(first, after), blind=blind, standard=CROSS_VALIDATED
    )
    used = (
        f"too few abstracts are held out, so {count} finished ones were compared as well, each predicted by a "
        f"model that was trained without it ({len(folds)} folds); {len(documents) - count} are held out"
    )
    return replace(report, reasons=[used, *report.reasons], cross_validated=count)


def _counts(documents: Sequence[TrainingDocument]) -> tuple[int, int]:
    """How many documents, and gold entities in them."""
    counts = SplitCounts()
    for each in documents:
        counts.add(each)
    return counts.documents, counts.positives(Layer.ENTITIES)


def _text(document: TrainingDocument) -> str:
    return document.annotated.document.text_sha256
