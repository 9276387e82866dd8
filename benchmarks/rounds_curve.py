"""The learning curve of correction rounds: every round's model on the same documents, which nothing has seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.active_curves import STYLES
from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract_trainer.evaluate import dev_scores

SHOWN = {
    "mean": "mean",
    "entity": "entities",
    "unordered": "relations",
    "coreference": "coreference",
}
"""Scores of the curve; relations count as in the gate."""


@dataclass(frozen=True)
class Point:
    """A model and its F1.

    Attributes:
        corrected: Abstracts that were corrected before.
        scores: F1 by task, and the mean of the three.
    """

    corrected: int
    scores: dict[str, float]


def point(model: Path, corrected: int, gold: Sequence[AnnotatedDocument]) -> Point:
    """A model's F1 on gold documents; what was found is kept beside its folder."""
    kept = model.parent / f"{model.name}-curve.json"
    if not kept.exists():
        extractor = Extractor.load(model)
        found = dev_scores(extractor.annotate, gold, load_schema("scierc").symmetric_labels)
        values = {key: value for key, value in asdict(found).items() if value is not None}
        mean = sum(values[key] for key in SHOWN if key != "mean") / 3
        kept.write_text(json.dumps({**values, "mean": mean}), "utf-8")
    scores: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return Point(corrected, scores)


def table(points: Sequence[Point]) -> str:
    """The curve in Markdown."""
    lines = [f"| corrected | {' | '.join(SHOWN.values())} |", "|---" * (1 + len(SHOWN)) + "|"]
    for each in points:
        values = " | ".join(f"{each.scores[key]:.1f}" for key in SHOWN)
        lines.append(f"| {each.corrected} | {values} |")
    return "\n".join(lines)


def draw(points: Sequence[Point], path: Path) -> None:
    """The curve as SVG: abstracts corrected to the right, F1 upwards."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "sciextract", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
    corrected = [each.corrected for each in points]
    for (key, words), (colour, marker) in zip(SHOWN.items(), STYLES, strict=False):
        values = [each.scores[key] for each in points]
        panel.plot(corrected, values, color=colour, marker=marker, label=words)
    panel.set(xlabel="abstracts corrected", ylabel="F1 on dev")
    panel.legend(ncols=4, loc="lower center")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
