"""The training snapshot: what of a project a model is trained, chosen and judged on."""

from sciextract.snapshot.documents import (
    Origin,
    Split,
    TrainingDocument,
    Verdict,
    Verdicts,
    verdicts_of,
)
from sciextract.snapshot.files import (
    Manifest,
    Snapshot,
    SplitCounts,
    build_snapshot,
    read_snapshot,
    read_undecided,
)

__all__ = [
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
