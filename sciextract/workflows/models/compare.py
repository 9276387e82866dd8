"""Two models side by side: on held-out documents, or on documents of the user's.

Where too few abstracts are held out, models that left out a part of the finished abstracts predict it (cross-validation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract import atomic
from sciextract.documents.annotations import ALL_LAYERS, NOT_REJECTED, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError, TrainingDataError
from sciextract.formats.exchange import encode
from sciextract.metrics.counts import scorable
from sciextract.metrics.promotion import (
    CROSS_VALIDATED,
    HELD_OUT,
    GateReport,
    Standard,
    compare_models,
)
from sciextract.snapshot.documents import (
    Origin,
    TrainingDocument,
    covered_part,
    in_folds,
    positive_part,
)
from sciextract.snapshot.files import Snapshot, SplitCounts, read_lines, suggesting_models
from sciextract.store import Project
from sciextract.store.documents import first_texts
from sciextract.store.finished import finished_abstracts
from sciextract.workflows.annotate import Predictor
from sciextract.workflows.evaluate import DocumentMismatchError, read_gold
from sciextract.workflows.models.registry import KnownModel, find_model

if TYPE_CHECKING:
    from sciextract.inference.model_config import ModelConfig
    from sciextract.inference.model_folder import ModelFolder


def gate(
    documents: Sequence[TrainingDocument],
    before: Predictor,
    after: Predictor,
) -> GateReport:
    """Judge whether one model may replace another, on the gate documents of a snapshot.

    Gold is what is positive in a layer that is done. Documents with gold that a model had proposed are
    reported as corrected from suggestions.

    Args:
        documents: The held-out documents with their complete layers.
        before: The model that predicts now.
        after: The model that wants to.
    """
    texts = [document.annotated.document for document in documents]
    found = (list(before.stream(texts)), list(after.stream(texts)))
    return gate_predictions(documents, *found, symmetric_of(before, after))


def gate_predictions(
    documents: Sequence[TrainingDocument],
    before: Iterable[AnnotatedDocument],
    after: Iterable[AnnotatedDocument],
    symmetric: frozenset[str],
    *,
    standard: Standard = HELD_OUT,
) -> GateReport:
    """The same for what was predicted already, in the order of the documents.

    Args:
        documents: As for :func:`gate`.
        before: What predicts now.
        after: What wants to.
        symmetric: Relation labels without direction.
        standard: How much gold, and how sure a difference, the verdict requires.
    """
    gold = [scorable(positive_part(document)) for document in documents]
    first, second = (
        [scorable(covered_part(*pair)) for pair in zip(side, documents, strict=True)]
        for side in (before, after)
    )
    complete = [document.complete for document in documents]
    suggested = [bool(suggesting_models(document.annotated.annotations)) for document in documents]
    sides = (gold, first, second)
    return compare_models(
        *sides, symmetric, complete=complete, suggested=suggested, standard=standard
    )


def gate_gold(
    documents: Sequence[AnnotatedDocument],
    before: Predictor,
    after: Predictor,
) -> GateReport:
    """The same for plain gold, as ``evaluate`` reads it: every layer is complete, all but rejected items count.

    Only formats that tell who proposed an item, such as our own, tell of suggestions.
    """
    texts = [document.document for document in documents]
    first, second = (list(map(scorable, predictor.stream(texts))) for predictor in (before, after))
    suggested = [
        bool(suggesting_models(document.annotations, NOT_REJECTED)) for document in documents
    ]
    complete, symmetric = [ALL_LAYERS] * len(documents), symmetric_of(before, after)
    gold = list(map(scorable, documents))
    return compare_models(gold, first, second, symmetric, complete=complete, suggested=suggested)


def symmetric_of(*models: Predictor) -> frozenset[str]:
    """The relation labels without direction of any of the models."""
    return frozenset(chain(*[predictor.config.labels.relations.symmetric for predictor in models]))


# The scores that models state, and what people call them.
STATED = {
    "ner": "entities",
    "relation": "relations",
    "relation_strict": "strict relations",
    "relation_macro": "relations (macro)",
    "coreference": "coreference",
}


@dataclass(frozen=True, slots=True)
class ComparedModels:
    """Two models on the same documents.

    Attributes:
        before: The first.
        after: The second.
        report: How they differ.
        remarks: What to mind.
        bad_records: Records of the file that could not be read.
    """

    before: KnownModel
    after: KnownModel
    report: GateReport
    remarks: tuple[str, ...] = ()
    bad_records: tuple[FormatError, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object of ``models compare --json``."""
        models = {"before": self.before.id, "after": self.after.id}
        return models | {"report": self.report.to_json(), "remarks": list(self.remarks)}


def compare(first: str, second: str, data: str) -> ComparedModels:
    """Hold two models against each other.

    Args:
        first: ``NAME``, ``NAME-hash8``, a folder or a hub id: the model before.
        second: The model after.
        data: A file or folder of gold that both predict.

    Raises:
        ModelNotFoundError: There is no such model; lists the known ones.
        ModelDamagedError: A file of one is missing or changed.
        InputMissingError: The file does not exist.
        DocumentMismatchError: It holds no document.
    """
    from sciextract.inference.extractor import Extractor

    before, after = find_model(first), find_model(second)
    configs = before.open().config, after.open().config
    remarks = []
    mine, theirs = ({*config.labels.types, *config.labels.relations.labels} for config in configs)
    for model, only in ((before, mine - theirs), (after, theirs - mine)):
        if only:
            remarks.append(f"labels of {model.id} only: {', '.join(sorted(only))}")
    documents, bad = read_gold(data)
    if not documents:
        raise DocumentMismatchError(f"{data} holds no document to compare on")
    report = gate_gold(documents, *(Extractor.load(model.folder) for model in (before, after)))
    return ComparedModels(before, after, report, tuple(remarks), bad)


def graph_scores(config: ModelConfig) -> dict[str, float]:
    """F1 as a model states it, for the default graph; that of an adapter is cross-validated."""
    # int8 first, since it is what runs when nobody names a graph.
    for graph in ("int8", "fp32", "heads"):
        scores = config.scores.get(graph)
        if isinstance(scores, dict):
            return {
                name: float(value)
                for name, value in scores.items()
                if isinstance(value, int | float) and not isinstance(value, bool)
            }
    return {}


FOLDS = 5
FOLDER = "folds"
"""In the run folder: what the model of each fold predicts for the abstracts that it left out."""

Fold = tuple[int, ...]
"""Places in ``train.jsonl`` of the abstracts that one model is trained without."""

TrainedOn = Callable[[Sequence[TrainingDocument]], Predictor]
"""What predicts after learning from some abstracts; a fixed model pays no attention to them."""


def plan_folds(snapshot: Snapshot, start: ModelFolder, project: Project) -> tuple[Fold, ...] | None:
    """The folds of a retraining; ``None`` where enough is held out, or too little is finished.

    Abstracts that the start model may have learned from are in no fold: of a model that was itself trained on
    decisions, only those are that it had predicted before they were corrected.
    """
    held_out = (*snapshot.gate, *snapshot.dev)
    if HELD_OUT.has_many(*_counts(snapshot.gate)):
        return None
    places = [
        place
        for place, training in enumerate(snapshot.train)
        if training.origin is Origin.PROJECT and training.complete
    ]
    if "trained on from" in start.config.origin:
        model = f"{start.config.name}@{start.hash[:8]}"
        unseen = {
            abstract.gold.document.text_sha256
            for abstract in finished_abstracts(project)
            if abstract.model == model  # it had suggested for the text before anybody corrected it
        }
        places = [place for place in places if _text(snapshot.train[place]) in unseen]
    judged = [*held_out, *(snapshot.train[place] for place in places)]
    if not CROSS_VALIDATED.is_met(*_counts(judged)):
        return None
    # By hash, so that a fold does not hold the abstracts of one import.
    places.sort(key=lambda place: _text(snapshot.train[place]))
    firsts = first_texts(project.connection)
    texts = [_text(snapshot.train[place]) for place in places]
    folds = in_folds([firsts.get(text, text) for text in texts], FOLDS)
    return tuple(tuple(sorted(places[index] for index in fold)) for fold in folds)


def without(documents: Sequence[TrainingDocument], fold: Fold) -> list[TrainingDocument]:
    """The training documents of the model that leaves a fold out."""
    left_out = set(fold)
    return [document for place, document in enumerate(documents) if place not in left_out]


def fold_file(run_folder: Path, number: int) -> Path:
    """The predictions for a fold, counted from 1."""
    return run_folder / FOLDER / f"{number}.jsonl"


def write_fold(path: Path, predicted: Iterable[AnnotatedDocument]) -> None:
    """Keep what the model of a fold predicts, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, "".join(f"{encode(document, split=False)}\n" for document in predicted))


def cross_validate(
    run_folder: Path,
    snapshot: Snapshot,
    folds: Sequence[Fold],
    today: TrainedOn,
    after: Predictor,
) -> GateReport:
    """Compare the retraining with what predicts today on all finished abstracts, each predicted by what left it out.

    Abstracts of the dev and gate splits are predicted by the new model itself, the others by the models of the
    folds. So the scores are of the recipe, with a fifth less to learn from, rather than of the one model.

    Args:
        run_folder: Holds the predictions for the folds.
        snapshot: What the new model was trained on, and what is held out.
        folds: Those of the run.
        today: What predicts in the project now; where that is an adapter, it leaves out the same abstracts.
        after: The new model.

    Raises:
        TrainingDataError: The predictions for a fold are missing or damaged, or are about other texts.
    """
    documents = [*snapshot.gate, *snapshot.dev]
    texts = [document.annotated.document for document in documents]
    first = today(snapshot.train)
    before, later = list(first.stream(texts)), list(after.stream(texts))
    for number, fold in enumerate(folds, start=1):
        left_out = [snapshot.train[place] for place in fold]
        known = today(without(snapshot.train, fold))
        documents += left_out
        before += known.stream([document.annotated.document for document in left_out])
        path = fold_file(run_folder, number)  # it may come from another machine
        predicted = list(read_lines(path))
        wanted = [document.annotated.document.text for document in left_out]
        if [document.document.text for document in predicted] != wanted:
            raise TrainingDataError(
                f"{path} has predictions for other texts than those that the model was trained without",
                "start another run: sciextract retrain --project DB",
            )
        later += predicted
    count = sum(map(len, folds))
    report = gate_predictions(
        documents, before, later, symmetric_of(first, after), standard=CROSS_VALIDATED
    )
    used = (
        f"too few abstracts are held out, so {count} finished ones were compared as well, each predicted by a "
        f"model that was trained without it ({len(folds)} folds); {len(documents) - count} are held out"
    )
    return replace(report, reasons=[used, *report.reasons], cross_validated=count)


def _counts(documents: Sequence[TrainingDocument]) -> tuple[int, int]:
    """How many documents, and gold entities in them."""
    counts = SplitCounts()
    for document in documents:
        counts.add(document)
    return counts.documents, counts.positives(Layer.ENTITIES)


def _text(document: TrainingDocument) -> str:
    return document.annotated.document.text_sha256
