"""What a model sees again so that it does not forget: a published set, and what it says itself.

With a base, its documents are replayed beside the corrected ones. The start model labels abstracts that nobody
has decided anything about, and the new one learns to say the same (Li and Hoiem 2016, "Learning without
Forgetting", arXiv 1606.09282, section 3): without a base that holds it, while a pull draws its weights back; beside
one it is further training data, and was worth 0.4 of the mean F1 (docs/training.md).
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
from sciextract.workflows.events import Report
from sciextract.workflows.snapshot import Origin, TrainingDocument, read_undecided
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.decided import decided_examples
from sciextract_trainer.data.examples import Example
from sciextract_trainer.data.soft import soft_examples
from sciextract_trainer.teaching.labelling import label_softly
from sciextract_trainer.warm_start.start_model import StartModel

SOFT_PER_BASE = 1.5
"""Abstracts to distil on per document of the base, so that neither drowns the other."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a round learns from.

    Attributes:
        examples: Of the documents that were decided.
        rehearsal: Against forgetting.
        config: The recipe, with the pull that goes with it.
        method: ``replay``, ``distillation``, ``replay and distillation``, or ``pull``.
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
    replayed = list(decided_examples(base, labels, pieces, limit)) if own else []
    soft = _distilled(_free(snapshot, start, config, examples, base), start, folder, report)
    kept = replace(config, pull=0.0) if base else config
    pool = [*replayed, *soft]
    each = min(config.rehearsed(len(examples)), len(pool))
    return Material(
        examples, pool, kept, *_told(len(base) if own else 0, len(soft), each, kept.pull)
    )


def _free(
    snapshot: Path,
    start: StartModel,
    config: TrainConfig,
    examples: Sequence[Example],
    base: Sequence[TrainingDocument],
) -> list[Document]:
    """Undecided abstracts to distil on: as many as all epochs can draw, and in balance with a base."""
    if start.labels != start.folder.config.labels:
        return []
    wanted = config.rehearsed(len(examples)) * config.epochs
    most = round(len(base) * SOFT_PER_BASE) if base else wanted
    return list(islice(read_undecided(snapshot), min(wanted, most)))


def _told(base: int, soft: int, each: int, pull: float) -> tuple[str, str]:
    """The method, and what it does in words."""
    ways = {
        "replay": f"{base} base documents" if base else "",
        "distillation": f"the start model's labels of {soft} undecided abstracts" if soft else "",
    }
    used = {name: words for name, words in ways.items() if words}
    drawn = f"{each} an epoch of {' and '.join(used.values())}" if used else ""
    pulled = f"a pull of {pull:g} to the start weights" if pull else ""
    words = ", ".join(part for part in (drawn, pulled) if part)
    return " and ".join(used) or "pull", words or "nothing: the base is all there is to learn from"


def _distilled(
    free: Sequence[Document], start: StartModel, folder: Path, report: Report
) -> list[Example]:
    if not free:
        return []
    model, pieces, limit = start.folder, start.rules.encoder(), start.rules.limit
    network = OnnxNetwork(model.graph(None), model.path / PAIRS_GRAPH, usable_cores())
    teacher = Pipeline(network, pieces, start.labels, limit)
    named = [replace(each, doc_key=f"{each.doc_key} {each.text_sha256[:8]}") for each in free]
    labelled = label_softly(teacher, named, folder, report)
    return list(soft_examples(labelled, start.labels, pieces, limit))
