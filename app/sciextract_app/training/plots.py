"""A training in characters: what it would be made of, how it goes, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from sciextract.text.english import duration
from sciextract_app.training.progress import TASKS, RunProgress, TrainingResult
from sciextract_app.widgets.cells import bar, fit, padded, word_lines
from sciextract_app.widgets.plots import BAR, column_rows, spread

if TYPE_CHECKING:
    from sciextract.metrics.promotion import Compared

NAME = 12
"""Cells of names before their values."""
_AFTER = 18
_TABLE = 50
"""Cells of the numbers of the table."""


def live_lines(live: RunProgress, width: int, height: int) -> list[Text]:
    """Phase, progress, losses and scores, as large as the height allows."""
    rate = f"{live.rate:,.1f} documents/s" if live.rate is not None and live.runs else ""
    device = f"on {live.device}" if live.device else ""
    parts = [device, f"from {live.model}" if live.model else "", rate]
    words = "   ".join(filter(None, parts))
    remaining = live.status.remaining_seconds if live.runs else None
    left = "" if remaining is None else f"  about {duration(remaining)} left"
    after = f" {live.status.share * 100:3.0f} %{left}"
    filled = bar(live.status.share, max(8, width - cell_len(after) - 2))
    lines = [Text(live.phase, "bold"), *([Text(fit(words, width))] if words else [])]
    lines.append(Text("▕").append(filled, BAR).append("▏").append(after))
    if not live.runs:
        lines += [Text(), *word_lines(filter(None, live.message.split("\n")), width, "bold")]
        lines += word_lines(filter(None, [live.hint]), width)
    elif live.status.lost:
        lines += word_lines([live.status.lost], width, "bold")
    elif live.message and live.message != live.phase:
        lines += word_lines([live.message], width, "dim")
    lines += word_lines(live.notes, width, "dim")
    curves = len(live.losses) + len(live.scores)
    rows = min(5, max(1, (height - len(lines) - 4) // curves)) if curves else 1
    if live.losses:
        lines += [Text(), _draw_heading("loss", "now", width)]
        lines += _losses(live.losses, width, rows)
    if live.scores:
        lines += [
            Text(),
            _draw_heading("F1 on the abstracts that select the best epoch", "now   best", width),
        ]
        lines += _scores(live.scores, width, rows)
    return lines


def outcome_lines(outcome: TrainingResult, width: int) -> list[Text]:
    """The verdict, then both models next to each other, per task and label."""
    lines = word_lines([outcome.words], width, "bold")
    lines += word_lines([f"· {reason}" for reason in outcome.reasons], width)
    if outcome.compared is not None:
        title = f"F1 on {outcome.compared.documents:,} held-out abstracts"
        lines += [Text(), *_score_table(title, outcome.compared, width)]
    return lines


def _score_table(title: str, compared: Compared, width: int) -> list[Text]:
    """Both models, a row a score."""
    rows = [("mean of tasks", compared.target)] if compared.target else []
    for task, score in compared.tasks.items():
        rows.append((TASKS.get(task, task), score))
        rows += [(f"  {label}", row) for label, row in compared.labels.get(task, {}).items()]
    name = min(width - _TABLE, max((cell_len(row[0]) for row in rows), default=0) + 2)
    head = f"{'before':>6} {'after':>6} {'change':>8}  {'90 % interval':<15} {'better':>6}"
    lines = [Text(title, "bold"), Text(" " * name + head + "  items", "dim")]
    for shown, score in rows:
        line = Text().append(padded(shown, name), "" if shown.startswith(" ") else "bold")
        line.append(f"{score.before:6.1f} {score.after:6.1f} ")
        # Better or worse only where the whole interval says so.
        sign, style = ("▲", "good") if score.low > 0 else ("▼", "bad")
        sign, style = (sign, style) if score.low > 0 or score.high < 0 else ("·", "quiet")
        line.append(f"{sign} {score.difference:+6.1f}", style)
        interval = f"[{score.low:+.1f} to {score.high:+.1f}]"
        line.append(f"  {interval:<15} {score.probability * 100:4.0f} %  {score.gold:5,}")
        lines.append(line)
    return lines


def _draw_heading(words: str, after: str, width: int) -> Text:
    room = max(0, width - _AFTER)
    return Text().append(padded(words, room), "bold").append(f"  {after}", "dim")


def _losses(losses: Mapping[str, Sequence[float]], width: int, rows: int) -> list[Text]:
    lines = []
    for task, values in losses.items():
        # A loss that is 0 from the beginning on has no scale.
        top = max(*values, 1e-9)
        shares = [value / top for value in values]
        lines += _curve(TASKS[task], shares, f"{values[-1]:6.3f}", width, rows)
    return lines


def _scores(scores: Mapping[str, Sequence[float | None]], width: int, rows: int) -> list[Text]:
    lines = []
    for task, values in scores.items():
        known = [value for value in values if value is not None]
        now = " none" if values[-1] is None else f"{values[-1]:5.1f}"
        after = f"{now}  {max(known):5.1f}" if known else "nothing to score"
        shares = [None if value is None else value / 100 for value in values]
        lines += _curve(TASKS[task], shares, after, width, rows)
    return lines


def _curve(
    name: str, shares: Sequence[float | None], after: str, width: int, rows: int
) -> list[Text]:
    room = max(4, width - NAME - _AFTER)
    columns = column_rows(spread(shares, room), rows)
    lines = [Text(" " * NAME).append(row, BAR) for row in columns[:-1]]
    last = Text(padded(name, NAME)).append(columns[-1].ljust(room), BAR).append(f"  {after}")
    return [*lines, last]
