"""What a model sees again so that it does not forget: a published set, or what it says itself.

With a base, its documents are replayed beside the corrected ones. Without one, the start model labels
abstracts that nobody has decided anything about, and the new one learns to say the same (Li and Hoiem 2016,
"Learning without Forgetting", arXiv 1606.09282, section 3), while a pull draws its weights back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from sciextract.documents.document import Document
from sciextract.inference.cores import usable_cores
from sciextract.inference.folder import PAIRS_GRAPH
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Pipeline
from sciextract.workflows.snapshot import Origin, TrainingDocument, read_undecided
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.decided import decided_examples
from sciextract_trainer.data.examples import Example
from sciextract_trainer.data.soft import soft_examples
from sciextract_trainer.distil import label_softly
from sciextract_trainer.progress import Report
from sciextract_trainer.warm_start.start_model import StartModel


@dataclass(frozen=True, slots=True)
class Material:
    """What a round learns from.

    Attributes:
        examples: Of the documents that were decided.
        rehearsal: Against forgetting.
        config: The recipe, with the pull that goes with it.
        method: ``replay``, ``distillation`` or ``pull``.
        told: The method in words.
    """

    examples: Sequence[Example]
    rehearsal: Sequence[Example]
    config: TrainConfig
    method: str
    told: str


def gather(
    train: Sequence[TrainingDocument],
    snapshot: Path,
    start: StartModel,
    config: TrainConfig,
    folder: Path,
    report: Report,
) -> Material:
    """Examples of the decided documents, and what goes with them against forgetting.

    Args:
        train: The training split.
        snapshot: Its folder, which holds the abstracts that are free.
        start: The model that is trained on.
        config: The recipe.
        folder: Keeps the labels of the start model, so that an interrupted run has them.
        report: Told how the labelling goes.
    """
    labels, pieces, limit = start.labels, start.rules.encoder(), start.rules.limit
    own = [item for item in train if item.origin is not Origin.BASE]
    base = [item for item in train if item.origin is Origin.BASE]
    examples = list(decided_examples(own or base, labels, pieces, limit))
    if base:
        replayed = list(decided_examples(base, labels, pieces, limit)) if own else []
        told = (
            f"replay: {config.rehearsal:g} of {len(base)} base documents per decided one and epoch"
        )
        return Material(examples, replayed, replace(config, pull=0.0), "replay", told)
    wanted = round(config.rehearsal * len(examples)) * config.epochs
    free = list(islice(read_undecided(snapshot), wanted))
    if not free or labels != start.folder.config.labels:
        told = f"a pull of {config.pull:g} to the start weights"
        return Material(examples, (), config, "pull", told)
    soft = _distilled(free, start, folder, report)
    told = (
        f"distillation from the start model on {len(free)} undecided abstracts and a pull of "
        f"{config.pull:g} to the start weights"
    )
    return Material(examples, soft, config, "distillation", told)


def _distilled(
    free: Sequence[Document], start: StartModel, folder: Path, report: Report
) -> list[Example]:
    model, pieces, limit = start.folder, start.rules.encoder(), start.rules.limit
    network = OnnxNetwork(model.graph(None), model.path / PAIRS_GRAPH, usable_cores())
    teacher = Pipeline(network, pieces, start.labels, limit)
    named = [replace(each, doc_key=f"{each.doc_key} {each.text_sha256[:8]}") for each in free]
    labelled = label_softly(teacher, named, folder, report)
    return list(soft_examples(labelled, start.labels, pieces, limit))
