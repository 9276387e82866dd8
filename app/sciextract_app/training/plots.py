"""A training in characters: what it would be made of, how it goes, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from sciextract.text.english import duration
from sciextract_app.training.progress import (
    NAMES,
    TASKS,
    RunProgress,
    ScoreComparison,
    TrainingResult,
    best,
)
from sciextract_app.widgets.lines import fit, padded
from sciextract_app.widgets.plots import (
    BAR,
    bar,
    column_rows,
    spread,
    word_lines,
)

_NAME = 12
_AFTER = 18
_SIGNS = {"better": ("▲", "good"), "worse": ("▼", "bad"), "unclear": ("·", "quiet")}
_TABLE = 50
"""Cells of the numbers of the table."""


def named_lines(rows: Sequence[tuple[str, str]], width: int) -> list[Text]:
    """Names and values; values wrap below themselves."""
    lines = []
    for name, value in rows:
        for place, part in enumerate(word_lines([value], width - _NAME)):
            first = padded(name if place == 0 else "", _NAME)
            lines.append(Text().append(first, "dim").append_text(part))
    return lines


def live_lines(live: RunProgress, width: int, height: int) -> list[Text]:
    """Phase, progress, losses and scores, as large as the height allows."""
    rate = f"{live.rate:,.1f} documents/s" if live.rate is not None and live.runs else ""
    device = f"on {live.device}" if live.device else ""
    parts = [device, f"from {live.model}" if live.model else "", rate]
    words = "   ".join(filter(None, parts))
    remaining = live.remaining_s if live.runs else None
    left = "" if remaining is None else f"  about {duration(remaining)} left"
    after = f" {live.share * 100:3.0f} %{left}"
    filled = bar(live.share, max(8, width - cell_len(after) - 2))
    lines = [Text(live.phase, "bold"), *([Text(fit(words, width))] if words else [])]
    lines.append(Text("▕").append(filled, BAR).append("▏").append(after))
    if not live.runs:
        lines += [Text(), *word_lines(filter(None, live.message.split("\n")), width, "bold")]
        lines += word_lines(filter(None, [live.hint]), width)
    elif live.lost:
        lines += word_lines([live.lost], width, "bold")
    elif live.message and live.message != live.phase:
        lines += word_lines([live.message], width, "dim")
    lines += word_lines(live.notes, width, "dim")
    curves = len(live.losses) + len(live.scores)
    rows = min(5, max(1, (height - len(lines) - 4) // curves)) if curves else 1
    if live.losses:
        lines += [Text(), _heading("loss", "now", width)]
        lines += _losses(live.losses, width, rows)
    if live.scores:
        lines += [
            Text(),
            _heading("F1 on the abstracts that select the best epoch", "now   best", width),
        ]
        lines += _scores(live.scores, width, rows)
    return lines


def outcome_lines(outcome: TrainingResult, width: int) -> list[Text]:
    """The verdict, then both models next to each other, per task and label."""
    lines = word_lines([outcome.words], width, "bold")
    lines += word_lines([f"· {each}" for each in outcome.reasons], width)
    if not outcome.rows:
        return lines
    title = f"F1 on {outcome.documents:,} held-out abstracts"
    lines += [Text(), *_score_table(title, outcome.rows, width)]
    if outcome.blind_note:
        lines += [Text(), *word_lines([outcome.blind_note], width)]
    if outcome.blind:
        title = "F1 on those that were not corrected from suggestions"
        lines += _score_table(title, outcome.blind, width)
    return lines


def _score_table(title: str, rows: Sequence[ScoreComparison], width: int) -> list[Text]:
    """Both models, a row a score."""
    name = min(width - _TABLE, max(cell_len(row.name) for row in rows) + 2)
    head = f"{'before':>6} {'after':>6} {'change':>8}  {'90 % interval':<15} {'better':>6}"
    lines = [Text(title, "bold"), Text(" " * name + head + "  items", "dim")]
    for row in rows:
        sign, style = _SIGNS[row.direction]
        shown = f"  {row.name}" if row.deeper else row.name
        line = Text().append(padded(shown, name), "" if row.deeper else "bold")
        line.append(f"{row.before:6.1f} {row.after:6.1f} ")
        line.append(f"{sign} {row.after - row.before:+6.1f}", style)
        interval = f"[{row.low:+.1f} to {row.high:+.1f}]"
        line.append(f"  {interval:<15} {row.probability * 100:4.0f} %  {row.gold:5,}")
        lines.append(line)
    return lines


def _heading(words: str, after: str, width: int) -> Text:
    room = max(0, width - _AFTER)
    return Text().append(padded(words, room), "bold").append(f"  {after}", "dim")


def _losses(losses: Mapping[str, Sequence[float]], width: int, rows: int) -> list[Text]:
    lines = []
    for task in TASKS:
        values = losses.get(task)
        if values:
            # A loss that is 0 from the beginning on has no scale.
            top = max(max(values), 1e-9)
            shares = [value / top for value in values]
            lines += _curve(NAMES[task], shares, f"{values[-1]:6.3f}", width, rows)
    return lines


def _scores(scores: Mapping[str, Sequence[float | None]], width: int, rows: int) -> list[Text]:
    lines = []
    for task in TASKS:
        values = scores.get(task)
        if values is None:
            continue
        shares = [None if value is None else value / 100 for value in values]
        highest, last = best(values), values[-1]
        after = "nothing to score" if highest is None else f"{_f1(last)}  {_f1(highest)}"
        lines += _curve(NAMES[task], shares, after, width, rows)
    return lines


def _curve(
    name: str, shares: Sequence[float | None], after: str, width: int, rows: int
) -> list[Text]:
    room = max(4, width - _NAME - _AFTER)
    columns = column_rows(spread(shares, room), rows)
    lines = [Text(" " * _NAME).append(row, BAR) for row in columns[:-1]]
    last = Text(padded(name, _NAME)).append(columns[-1].ljust(room), BAR).append(f"  {after}")
    return [*lines, last]


def _f1(value: float | None) -> str:
    return " none" if value is None else f"{value:5.1f}"
