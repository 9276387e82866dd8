"""The training snapshot: what of a project a model is trained, chosen and judged on."""

from sciextract.workflows.snapshot.building import build_snapshot
from sciextract.workflows.snapshot.manifest import Manifest, SplitCounts
from sciextract.workflows.snapshot.reading import read_snapshot, read_undecided
from sciextract.workflows.snapshot.types import (
    ALL_LAYERS,
    Origin,
    Snapshot,
    Split,
    TrainingDocument,
)
from sciextract.workflows.snapshot.verdicts import Verdict, Verdicts, verdicts_of

__all__ = [
    "ALL_LAYERS",
    "Manifest",
    "Origin",
    "Snapshot",
    "Split",
    "SplitCounts",
    "TrainingDocument",
    "Verdict",
    "Verdicts",
    "build_snapshot",
    "read_snapshot",
    "read_undecided",
    "verdicts_of",
]
