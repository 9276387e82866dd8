"""F1 on SciERC test against speed, ours and published: ``python tools/held_out_picture.py docs/images/held-out.svg``.

Ours: F1 from docs/models.md (measured once), speeds from docs/benchmarks.md (``make bench-annotate``, two machines).
Others: F1 from the papers, or as re-run for SURE (2025), which also timed PL-Marker (Ye et al. 2022) and HGERE
(Yan et al. 2023) on one A30 GPU. Systems without a published speed are drawn as lines.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rows import svg_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OURS, OTHERS = "#0072B2", "#B24C00"
LARGE = "2 x 110 M, 880 MB"


@dataclass(frozen=True)
class System:
    """A system on SciERC test.

    Attributes:
        name: Its name, with size and hardware where they are known.
        f1: By panel; relations count symmetric ones in both orders, as PL-Marker does.
        speed: Documents a second, on the slowest and the fastest machine.
    """

    name: str
    f1: dict[str, float]
    speed: tuple[float, float] | None = None


SYSTEMS = (
    System(
        "sci: 24 M, 27.5 MB,\ntwo CPU cores", {"entities": 68.7, "relations": 51.7}, (51.6, 93.5)
    ),
    System(f"PL-Marker: {LARGE}, A30", {"entities": 69.9, "relations": 53.2}, (12, 12)),
    System("HGERE, A30", {"entities": 73.4, "relations": 54.3}, (14, 14)),
    System("SURE", {"relations": 56.9}),
    System("SciDeBERTa(CS), a model a task", {"entities": 71.1}),
    System(f"PURE: {LARGE}", {"entities": 68.9}),
)


def main() -> None:
    """Draw a panel for entities and one for relations."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/held_out_picture.py SVG")
    with svg_figure(Path(sys.argv[1]), 1, 2, figsize=(10, 4.4), font_size=9) as (_, panels):
        for panel, task in zip(panels, ("entities", "relations"), strict=True):
            for system in SYSTEMS:
                if task in system.f1:
                    _draw(panel, system, system.f1[task])
            panel.set(xscale="log", xlim=(9, 200), title=task)
            panel.set_xlabel("documents a second (log scale)")
            panel.set_xticks([10, 20, 50, 100], ["10", "20", "50", "100"])
            panel.minorticks_off()
            panel.margins(y=0.3)
            panel.grid(alpha=0.3)
        panels[0].vlines(69.5, 65.9, 71.3, color=OURS, linewidth=1)  # 95 % interval of sci
        panels[0].set_ylabel("F1, SciERC test")


def _draw(panel: Axes, system: System, score: float) -> None:
    colour = OURS if system.name.startswith("sci:") else OTHERS
    if system.speed is None:
        panel.axhline(score, color=colour, linestyle=":", linewidth=1)
        panel.annotate(f"{system.name} (no speed published)", (195, score), ha="right", va="bottom")
        return
    middle = (system.speed[0] * system.speed[1]) ** 0.5
    panel.hlines(score, *system.speed, color=colour, linewidth=1)
    panel.plot([middle], [score], color=colour, marker="o", linestyle="")
    panel.annotate(
        system.name,
        (middle, score),
        textcoords="offset points",
        xytext=(4, -7 if colour == OURS else 3),
        va="top" if colour == OURS else "bottom",
    )


if __name__ == "__main__":
    main()
