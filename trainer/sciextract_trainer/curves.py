"""Learning curves of a run as figures: losses per task and dev F1 over the epochs.

``python -m sciextract_trainer.curves RUN [FOLDER]`` draws them in a process of its own, so that whoever trains
need not carry matplotlib, and nothing that goes wrong here can harm a training.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sciextract import atomic
from sciextract.errors import install_command
from sciextract.retraining.curves import FIGURES
from sciextract.retraining.events import DevScored, RunStarted, Step, known_events
from sciextract.retraining.run_folder import Run
from sciextract.text.characters import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Marker = Literal["o", "s", "^", "D"]

NOTHING = "no learning curves are drawn: the run has no losses and no dev scores yet"

_Style = tuple[str, str, str, "Marker"]
_LOSSES: Mapping[str, _Style] = {
    "entity": ("entities", "#0072B2", "-", "o"),
    "relation": ("relations", "#D55E00", "--", "s"),
    "coreference": ("coreference", "#009E73", "-.", "^"),
}
"""Colours of Okabe and Ito 2008 ("Color Universal Design"); lines and markers differ, too."""
_SCORES: Mapping[str, _Style] = {
    **_LOSSES,
    "unordered": ("relations, unordered", "#E69F00", (0, (1, 1)), "s"),  # type: ignore[dict-item]
    "mean": ("mean of the tasks", "#000000", ":", "D"),
}
_STYLE = {
    "text.parse_math": False,  # a name with $ or _ is not a formula
    "svg.fonttype": "none",
    "svg.hashsalt": "sciextract",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}
_DOTS_PER_INCH = 150
_TITLE_CHARACTERS = 90

Points = list[tuple[float, float]]
"""Epochs, with parts of one, and values."""


@dataclass(slots=True)
class Curves:
    """What a run's events say.

    Attributes:
        losses: By task the mean loss of a document, at the end of each epoch or as far as the last one came.
        scores: By score F1 (0 to 100) on the dev documents.
        model: The model it started from, empty for none.
    """

    losses: dict[str, Points] = field(default_factory=dict)
    scores: dict[str, Points] = field(default_factory=dict)
    model: str = ""

    @classmethod
    def of(cls, lines: Iterable[Mapping[str, Any]]) -> Curves:
        """The curves in a run's events; an epoch that began anew counts once."""
        curves = cls()
        for event in known_events(lines):
            match event:
                case RunStarted():
                    curves.model = event.start_model or ""
                case Step():
                    place = event.epoch - 1 + event.documents / max(1, event.of)
                    _add(curves.losses, place, asdict(event.loss), _LOSSES, after=event.epoch - 1)
                case DevScored():
                    after = event.epoch - 1
                    _add(curves.scores, event.epoch, asdict(event), _SCORES, after=after)
        return curves


def draw(run: Run, folder: Path | None = None) -> list[Path]:
    """Draw the curves of a run as PNG and SVG.

    Args:
        run: The run.
        folder: Where to write; the run's own when ``None``.

    Returns:
        The figures; none where the run has nothing to draw yet.

    Raises:
        ModuleNotFoundError: There is no matplotlib.
        OSError: A figure cannot be written.
    """
    curves = Curves.of(run.metrics())
    if not curves.losses and not curves.scores:
        return []
    from matplotlib import style, use
    from matplotlib.figure import Figure

    use("agg")
    with warnings.catch_warnings(), style.context(["default", _STYLE]):
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands there then
        wanted = [each for each in ("losses", "scores") if getattr(curves, each)]
        figure = Figure(figsize=(8, 1 + 2.6 * len(wanted)), layout="constrained")
        panels = figure.subplots(len(wanted), 1, sharex=True, squeeze=False)[:, 0]
        for panel, which in zip(panels, wanted, strict=True):
            if which == "losses":
                _plot(panel, curves.losses, _LOSSES)
                panel.set_ylabel("loss (mean per document\nof the epoch)")
                panel.set_ylim(bottom=0)
            else:
                _plot(panel, curves.scores, _SCORES)
                panel.set_ylabel("F1 on dev (0 to 100)")
        panels[-1].set_xlabel("epochs of training")
        after = f", from {curves.model}" if curves.model else ""
        figure.suptitle(visible(f"{run.name}{after}")[:_TITLE_CHARACTERS])
        paths = [(folder or run.folder) / name for name in FIGURES]
        for path in paths:
            # Without date and program, the same run gives the same bytes.
            metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            with atomic.replacing(path) as partial:
                figure.savefig(
                    partial, format=path.suffix[1:], dpi=_DOTS_PER_INCH, metadata=metadata
                )
        return paths


def main(words: Sequence[str]) -> int:
    """Draw; a sentence on stderr where that cannot be."""
    run, folder = Run(Path(words[0])), Path(words[1]) if len(words) > 1 else None
    try:
        figures = draw(run, folder)
    except ModuleNotFoundError as error:
        missing = f"matplotlib is not installed; {install_command('train')}"
        reason = missing if error.name == "matplotlib" else str(error)
        print(f"no learning curves are drawn: {reason}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"no learning curves are drawn: {error}", file=sys.stderr)
        return 1
    if not figures:
        print(NOTHING, file=sys.stderr)
    return 0 if figures else 1


def _plot(panel: Axes, series: Mapping[str, Points], styles: Mapping[str, _Style]) -> None:
    for key, (title, colour, line, marker) in styles.items():
        points = series.get(key, [])
        if points:
            epochs, values = zip(*points, strict=True)
            panel.plot(
                epochs, values, color=colour, linestyle=line, marker=marker, markersize=4,
                linewidth=1.4, label=title,
            )  # fmt: skip
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))


def _add(
    series: dict[str, Points], at: float, values: Mapping[str, Any], keys: Iterable[str],
    after: float,
) -> None:  # fmt: skip
    """A point of each, instead of those of the same epoch: it went on since, or was cut and began again."""
    for key in keys:
        if values[key] is not None:
            points = series.setdefault(key, [])
            while points and points[-1][0] > after:
                points.pop()
            points.append((at, values[key]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
