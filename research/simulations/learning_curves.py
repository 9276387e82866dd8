"""Learning curves of a simulation of active learning: means over seeds, what is needed for a score, a drawing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.rows import svg_figure

SHARE = 0.95
"""Of the F1 of all documents: what counts as having learned."""
SCORES = {"mean": "mean of the three", "entity": "entities", "relation": "relations",
          "coreference": "coreference"}  # fmt: skip
STYLES = (
    *(("#000000", "o"), ("#0072B2", "s"), ("#D55E00", "^")),
    *(("#009E73", "D"), ("#CC79A7", "v"), ("#E69F00", "P")),
)
"""Colours of Okabe and Ito 2008 ("Color Universal Design"); markers differ, too."""


@dataclass(frozen=True)
class Curve:
    """One strategy with one seed.

    Attributes:
        strategy: Its name.
        seed: Its seed.
        points: After each round the documents, words and items labelled so far, and the F1 of each task.
    """

    strategy: str
    seed: int
    points: list[dict[str, Any]]


def tables(curves: Sequence[Curve]) -> str:
    """The curves in Markdown: a table per score, and what was needed for 95 % of the last one."""
    parts = [_table(curves, score, words) for score, words in SCORES.items()]
    return "\n\n".join([*parts, _needed(curves)])


def mean_points(curves: Sequence[Curve], strategy: str) -> list[dict[str, float]]:
    """The points of a strategy, each the mean over its seeds."""
    own = [curve.points for curve in curves if curve.strategy == strategy]
    return [
        {name: statistics.fmean(point[name] for point in points) for name in points[0]}
        for points in zip(*own, strict=False)
    ]


def needed(
    points: Sequence[dict[str, float]], score: str, effort: str, share: float
) -> float | None:
    """Documents (or words, or items) at which a curve first reaches a share of its last score.

    Between two points the curve is taken for a straight line.
    """
    goal = share * points[-1][score]
    if points[0][score] >= goal:
        return points[0][effort]
    for before, after in pairwise(points):
        if after[score] >= goal:
            part = (goal - before[score]) / (after[score] - before[score])
            return before[effort] + part * (after[effort] - before[effort])
    return None


def draw(curves: Sequence[Curve], path: Path) -> None:
    """The curves as SVG: a panel for each score, documents to the right, F1 upwards, the range of the seeds shaded."""
    with svg_figure(path, 2, 2, figsize=(9, 6.5), sharex=True) as (_, panels):
        for panel, (score, words) in zip(panels.flat, SCORES.items(), strict=True):
            for strategy, (colour, marker) in zip(_strategies(curves), STYLES, strict=False):
                points = mean_points(curves, strategy)
                documents = [point["documents"] for point in points]
                panel.plot(
                    documents, [point[score] for point in points], color=colour, marker=marker,
                    markersize=4, linewidth=1.2, label=strategy,
                )  # fmt: skip
                low, high = zip(*_ranges(curves, strategy, score), strict=True)
                panel.fill_between(documents, low, high, color=colour, alpha=0.12, linewidth=0)
            panel.set_title(words)
            panel.set_ylabel("F1 on dev")
            panel.grid(alpha=0.3)
        for panel in panels[1]:
            panel.set_xlabel("documents labelled")
        panels[0][0].legend(frameon=False)


def _ranges(curves: Sequence[Curve], strategy: str, score: str) -> Iterator[tuple[float, float]]:
    """Lowest and highest score of the seeds, point by point."""
    for points in zip(
        *(curve.points for curve in curves if curve.strategy == strategy), strict=False
    ):
        values = [point[score] for point in points]
        yield min(values), max(values)


def _strategies(curves: Sequence[Curve]) -> list[str]:
    return list(dict.fromkeys(curve.strategy for curve in curves))


def _table(curves: Sequence[Curve], score: str, words: str) -> str:
    """Mean F1 ± half the range of the seeds, a row per strategy."""
    sizes = [int(point["documents"]) for point in curves[0].points]
    lines = [
        f"| F1, {words} | " + " | ".join(map(str, sizes)) + " |",
        "|---" * (len(sizes) + 1) + "|",
    ]
    for strategy in _strategies(curves):
        means = [point[score] for point in mean_points(curves, strategy)]
        ranges = _ranges(curves, strategy, score)
        cells = [_spread(mean, *ends) for mean, ends in zip(means, ranges, strict=True)]
        lines.append(f"| {strategy} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _spread(mean: float, low: float, high: float) -> str:
    return f"{mean:.1f} ±{(high - low) / 2:.1f}" if high > low else f"{mean:.1f}"


def _needed(curves: Sequence[Curve]) -> str:
    """Documents and words for 95 % of the F1 of all documents, read off the mean curve."""
    head = " | ".join(f"{words}: documents / words" for words in SCORES.values())
    lines = [
        f"| for {SHARE:.0%} of the F1 of all documents | {head} |",
        "|---" * (len(SCORES) + 1) + "|",
    ]
    for strategy in _strategies(curves):
        points = mean_points(curves, strategy)
        cells = [
            " / ".join(
                _told(needed(points, score, effort, SHARE)) for effort in ("documents", "words")
            )
            for score in SCORES
        ]
        lines.append(f"| {strategy} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _told(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
