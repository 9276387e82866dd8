"""Task distillation: an ensemble labels unlabelled abstracts softly, one student learns from it.

Targets are entity distributions of all spans, relation distributions of pairs and antecedent
probabilities (hard and soft labels on a transfer set: Hinton et al. 2015, arXiv 1503.02531, section 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from sciextract.documents.document import Document
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract_trainer.data.soft import SoftDocument, load_targets, save_targets, targets_from
from sciextract_trainer.progress import Report

SHARD = 500
TEACHER_SETTINGS = DecodeSettings(
    thresholds=PerTask(0.3, 0.5, 0.5), nesting=True, candidates=True, candidate_score=0.05
)
"""Low enough that the student also learns what the teacher doubts."""


def label_softly(
    teacher: Pipeline, documents: Sequence[Document], folder: Path, report: Report
) -> list[SoftDocument]:
    """Soft targets for all documents, in shards that an interrupted run does not repeat.

    Raises:
        ModelDamagedError: A finished shard is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: list[SoftDocument] = []
    source = iter(documents)
    number = 0
    while chunk := list(islice(source, SHARD)):
        path = folder / f"soft-{number:04d}.npz"
        if not path.is_file():
            _label_shard(teacher, chunk, path)
        targets = load_targets(path)
        found += [SoftDocument(item, targets[item.doc_key]) for item in chunk]
        number += 1
        report({"event": "labelled", "documents": len(found), "of": len(documents)})
    return found


def _label_shard(teacher: Pipeline, documents: Sequence[Document], path: Path) -> None:
    layout = teacher.labels.relations
    targets = [
        targets_from(teacher.predict(document, TEACHER_SETTINGS), layout) for document in documents
    ]
    save_targets(path, [document.doc_key for document in documents], targets)
