"""Tables of scores: of one model, and of two models side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import typer

from sciextract.text.characters import visible

if TYPE_CHECKING:
    from sciextract.metrics.promotion import Compared, GateReport, ScoreDifference
    from sciextract.workflows.models.compare import ComparedModels

_VERDICTS = {
    "promote": "B is better: as a retrained model it would replace A",
    "keep": "B is not clearly better: as a retrained model it would not replace A",
    "worse": "B is far worse: as a retrained model it would not replace A",
    "too few": "too few documents to tell",
}
_TASKS = {
    "entity": "entities",
    "relation": "relations, unordered",
    "coreference": "coreference average",
}


def print_table(
    title: str,
    heads: Iterable[str],
    rows: Iterable[tuple[str, list[str]]],
    caption: str = "",
    gap: int = 1,
) -> None:
    """Print a table: a name, then numbers under their heads.

    Args:
        gap: Blanks behind each column.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, gap, 0, 0))
    table.title_justify = table.caption_justify = "left"
    table.add_column("", overflow="fold")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, cells in rows:
        table.add_row(Text(visible(name)), *cells)
    Console(highlight=False).print(table)


def comparison_table(comparison: ComparedModels) -> None:
    """Print two models with their differences."""
    typer.echo(visible(f"A  {comparison.before.id}  ({comparison.before.folder})"))
    typer.echo(visible(f"B  {comparison.after.id}  ({comparison.after.folder})"))
    if comparison.report is not None:
        gate_table(
            comparison.report,
            ("A", "B", "B less A", "P(B better)"),
            _VERDICTS[comparison.report.verdict],
        )
    else:
        _print_stated(comparison)
    for remark in comparison.remarks:
        typer.echo(visible(remark), err=True)


def gate_table(report: GateReport, heads: tuple[str, str, str, str], verdict: str = "") -> None:
    """Print two models on the same documents, and the reasons of the verdict.

    Args:
        report: Both models.
        heads: For the first, the second, the difference and the probability.
        verdict: The verdict in words, empty where the caller reports the outcome.
    """
    _print_compared(f"F1 on {report.documents} documents", report.compared, heads)
    blind = report.blind
    if blind is not None and blind.compared.documents:
        title = (
            f"F1 on the {blind.compared.documents} of them that were not corrected from suggestions"
        )
        _print_compared(title, blind.compared, heads)
    if blind is not None:
        typer.echo(visible(blind.message))
    if verdict:
        typer.echo(visible(verdict))
    for reason in report.reasons:
        typer.echo(visible(f"- {reason}"))


def _print_compared(title: str, compared: Compared, heads: tuple[str, str, str, str]) -> None:
    first, second, less, better = heads
    columns = (first, second, less, "90 % interval", better, "gold")
    print_table(title, columns, [(name, _cells(each)) for name, each in _rows(compared)])


def _rows(report: Compared) -> Iterator[tuple[str, ScoreDifference]]:
    if report.target is not None:
        yield "mean of the tasks", report.target
    for task, each in report.tasks.items():
        yield _TASKS[task], each
        for label, of_label in report.labels.get(task, {}).items():
            yield f"  {label}", of_label


def _cells(each: ScoreDifference) -> list[str]:
    return [
        *(f"{each.before:.1f}", f"{each.after:.1f}", f"{each.difference:+.1f}"),
        f"{each.low:+.1f} to {each.high:+.1f}",
        f"{each.probability:.2f}",
        str(each.gold),
    ]


def _print_stated(comparison: ComparedModels) -> None:
    from sciextract.workflows.models.compare import STATED

    print_table(
        "F1 on dev as the models state it",
        ("A", "B", "B less A"),
        [
            (STATED[name], [*map(_number, pair), _signed(*pair)])
            for name, pair in comparison.stated.items()
        ],
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _signed(first: float | None, second: float | None) -> str:
    return "-" if first is None or second is None else f"{second - first:+.1f}"
