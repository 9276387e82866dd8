"""The training snapshot: what of a project a model is trained, chosen and judged on."""

from sciextract.snapshot.documents import Origin, Snapshot, Split, TrainingDocument
from sciextract.snapshot.files import build_snapshot, read_snapshot, read_undecided
from sciextract.snapshot.manifest import Manifest, SplitCounts
from sciextract.snapshot.supervision import Verdict, Verdicts, verdicts_of

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
