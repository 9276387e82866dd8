"""Keys that a scripted annotator needs for a whole abstract; the tests hold the limits of single decisions."""

from __future__ import annotations

from pathlib import Path

from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import corrupted, gold, project_with, share_right, truth_of
from tests.app.review.annotator import Annotator


def measure(folder: Path, seeds: int) -> list[tuple[int, float]]:
    """Keys, and the share of predictions that were right, for each way of spoiling 30 % of them."""
    found = []
    for seed in range(seeds):
        place = folder / f"keys-{seed}"
        place.mkdir()
        said = corrupted(seed)
        with project_with(place, said) as project:
            keys = Annotator(Desk(project), gold()).work()
            if truth_of(project.document(1).annotations) != truth_of(gold().annotations):
                raise SystemExit(f"seed {seed}: the corrected abstract is not the gold")
        found.append((keys, share_right(said)))
    return found
