"""The figure of the size ladder: F1 against processor time, with published scores for orientation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TASKS = {"ner": "entities", "relation": "relations, boundaries", "coreference": "coreference"}

Point = tuple[str, float, Mapping[str, float]]
"""Name of a model, processor milliseconds an abstract, F1 by task."""


@dataclass(frozen=True)
class Published:
    """F1 on SciERC test as a paper prints it; no paper prints the processor time of an abstract.

    Attributes:
        name: System and encoder.
        f1: By task.
        colour: Of its line.
    """

    name: str
    f1: Mapping[str, float]
    colour: str


PUBLISHED = (
    Published(
        "SciDeBERTa (CS), three models",
        {"ner": 71.1, "relation": 46.0, "coreference": 57.4},
        "#D55E00",
    ),
    Published(
        "BERT base, three models", {"ner": 67.9, "relation": 44.7, "coreference": 55.0}, "#E69F00"
    ),
    Published("SciIE (ELMo)", {"ner": 64.2, "relation": 39.3, "coreference": 48.2}, "#999999"),
)
"""Jeong and Kim 2022 (SciDeBERTa, IEEE Access 10, table 5), which quotes SciIE (Luan et al. 2018), too."""


def draw(points: Sequence[Point], path: Path) -> None:
    """A panel a task as SVG; dashed lines are published scores on test, points ours on dev."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "sciextract", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(TASKS), figsize=(10, 4), layout="constrained")
    for panel, (task, title) in zip(panels, TASKS.items(), strict=True):
        _panel(panel, points, task)
        panel.set_title(title)
    panels[0].set_ylabel("F1")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _panel(panel: Axes, points: Sequence[Point], task: str) -> None:
    ranked = sorted(points, key=lambda point: point[1])
    times = [milliseconds for _, milliseconds, _ in ranked]
    panel.plot(
        times, [f1[task] for _, _, f1 in ranked], color="#0072B2", marker="o", linestyle="",
        label="ours: SciERC dev, int8, one model for all tasks",
    )  # fmt: skip
    for name, milliseconds, f1 in ranked:
        panel.annotate(
            name, (milliseconds, f1[task]), textcoords="offset points", xytext=(4, -11), fontsize=8
        )
    for each in PUBLISHED:
        label = f"published, SciERC test, no time stated: {each.name}"
        panel.axhline(each.f1[task], color=each.colour, linestyle="--", linewidth=1, label=label)
    panel.set_xlabel("ms of one processor core an abstract")
    panel.set_xlim(0, 1.25 * max(times))
    panel.margins(y=0.1)
    panel.grid(alpha=0.3)
