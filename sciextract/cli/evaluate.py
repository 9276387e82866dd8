"""``sciextract evaluate``: score predictions, or a model, against gold; and the tables of scores of all commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import typer

from sciextract.cli.console import (
    InputFormatOption,
    JsonOption,
    argument,
    command_with,
    flag,
    option,
)
from sciextract.errors import ExitCode, UsageError
from sciextract.text.characters import visible

if TYPE_CHECKING:
    from sciextract.errors import FormatError
    from sciextract.inference.domain.auto import AutoExtractor
    from sciextract.inference.extractor import Extractor
    from sciextract.metrics.promotion import Compared, GateReport
    from sciextract.metrics.report import PRF, EvaluationReport, Interval
    from sciextract.workflows.models.compare import ComparedModels

_VARIANTS = ("ordered", "unordered", "doubled")
_KINDS = {"boundaries": "relations", "strict": "strict relations"}
_COREFERENCE = {"muc": "MUC", "b3": "B3", "ceafe": "CEAFe", "lea": "LEA", "conll": "average"}
_LEGEND = (
    "P, R, F1: 0 to 100. strict: argument types must match. doubled: symmetric\n"
    "relations without direction, counted twice. Coreference: clusters of\n"
    "{least} and more; average: mean of MUC, B3, CEAFe."
)
_NUMBERS = ("P", "R", "F1", "95 % of F1", "gold", "found", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """One field for each word of the command line; its help text says what it means."""

    gold: str = argument("GOLD", "Annotated documents, or -.")
    predicted: str | None = argument(
        "[PREDICTED]", "The same documents with predictions, or -.", default=None
    )
    input_format: InputFormatOption = None
    model: str | None = option("NAME|DIR", "Model to use without PREDICTED.")
    schema: str | None = option(
        "NAME|FILE", "Label schema that says which relations are symmetric."
    )
    only: list[str] | None = option(
        "LABEL,...", "Score only these entity labels, with their relations and mentions."
    )
    singletons: bool = flag("Include clusters of one mention.", "--singletons")
    fields: Literal["gold", "predicted"] | None = typer.Option(
        None,
        help="Read ner... or predicted_ner... from PREDICTED (default: predicted_ner... where present).",
    )
    as_json: JsonOption = False
    bootstrap: bool = typer.Option(True, help="Add 95 % bootstrap intervals.")


@command_with(EvaluateOptions)
def evaluate(options: EvaluateOptions) -> None:
    """Score predictions against gold: entities, relations and coreference.

    Documents are matched by doc_key, else by text. Without PREDICTED, a model predicts.

    Examples:

        sciextract evaluate gold.jsonl predicted.jsonl

        sciextract evaluate dev.jsonl --model sci --json
    """
    scored, bad_records = _evaluate(options)
    if options.as_json:
        typer.echo(json.dumps(scored.to_json(), indent=2))
    else:
        legend = _LEGEND.format(least="one mention" if options.singletons else "two mentions")
        print_table(f"Scores, documents: {scored.documents}", _NUMBERS, _rows(scored), legend, 0)
        of_kind = {"entity": scored.ner.labels, "relation": scored.relation.labels}
        labels = [
            (f"{kind} {label}", _cells(score))
            for kind, scores in of_kind.items()
            for label, score in scores.items()
        ]
        if labels:
            print_table("By label (relations: ordered, not strict)", _NUMBERS, labels, gap=0)
    _print_messages([*map(str, bad_records), *scored.warnings])
    if bad_records:
        raise typer.Exit(ExitCode.PARTIAL)


def _evaluate(options: EvaluateOptions) -> tuple[EvaluationReport, tuple[FormatError, ...]]:
    from sciextract.workflows.evaluate import evaluate_file
    from sciextract.workflows.model_choice import ModelChoice, parse_labels

    wanted = parse_labels(options.only or [])
    if options.predicted is None:
        if options.fields is not None:
            raise UsageError("--fields needs PREDICTED", "give a file of predictions")
        choice = ModelChoice(options.model, only=wanted)
        predicted: str | Extractor | AutoExtractor = choice.load()
        _print_messages(filter(None, [choice.message()]))
    else:
        predicted = options.predicted
        if options.model is not None:
            raise UsageError(
                f"PREDICTED {predicted!r} and --model {options.model!r} cannot be combined",
                "omit one of them",
            )
        if options.gold == predicted == "-":
            problem = "GOLD and PREDICTED cannot both be standard input"
            raise UsageError(problem, "name one file")
    return evaluate_file(
        options.gold, predicted, schema=options.schema, bootstrap=options.bootstrap, only=wanted,
        singletons=options.singletons, fields=options.fields, input_format=options.input_format,
    )  # fmt: skip


def _rows(report: EvaluationReport) -> Iterator[tuple[str, list[str]]]:
    intervals = report.intervals
    yield "entities", _cells(report.ner.all, intervals.get("ner.all"))
    yield "entities up to 8 tokens", _cells(report.ner.width8)
    for kind, title in _KINDS.items():
        for variant in _VARIANTS:
            score = getattr(getattr(report.relation, kind), variant)
            place = f"relation.{kind}.{variant}"
            yield f"{title}, {variant}", _cells(score, intervals.get(place))
    for name, title in _COREFERENCE.items():
        score = getattr(report.coreference, name)
        yield f"coreference {title}", _cells(score, intervals.get(f"coreference.{name}"))


def _cells(score: PRF, interval: Interval | None = None) -> list[str]:
    counts = [str(number) for number in (score.gold, score.predicted, score.correct)]
    if not score.gold and not score.predicted:
        return ["-", "-", "-", "", *counts]
    percents = [f"{value:.1f}" for value in (score.precision, score.recall, score.f1)]
    return [*percents, f"{interval.low:.1f}-{interval.high:.1f}" if interval else "", *counts]


def _print_messages(messages: Iterable[str]) -> None:
    for message in messages:
        typer.echo(visible(message), err=True)


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
    # Numbers must not wrap: a table that is too wide folds names instead.
    table.title_justify = table.caption_justify = "left"
    table.add_column("", overflow="fold")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, cells in rows:
        table.add_row(Text(visible(name)), *cells)
    # Made here and not kept: the width is that of the terminal now, and of a file 80.
    Console(highlight=False).print(table)


def comparison_table(comparison: ComparedModels) -> None:
    typer.echo(visible(f"A  {comparison.before.id}  ({comparison.before.folder})"))
    typer.echo(visible(f"B  {comparison.after.id}  ({comparison.after.folder})"))
    heads = ("A", "B", "B less A", "P(B better)")
    gate_table(comparison.report, heads, _VERDICTS[comparison.report.verdict])
    for remark in comparison.remarks:
        typer.echo(visible(remark), err=True)


def gate_table(report: GateReport, heads: tuple[str, str, str, str], verdict: str = "") -> None:
    """Print two models on the same documents, and the reasons of the verdict.

    Args:
        report: Both models.
        heads: For the first, the second, the difference and the probability.
        verdict: The verdict in words, empty where the caller reports the outcome.
    """
    _print_compared(f"F1 on {report.documents} documents", report, heads)
    if verdict:
        typer.echo(visible(verdict))
    for reason in report.reasons:
        typer.echo(visible(f"- {reason}"))


def _print_compared(title: str, compared: Compared, heads: tuple[str, str, str, str]) -> None:
    *columns, better = heads
    columns += ["90 % interval", better, "gold"]
    named = [] if compared.target is None else [("mean of the tasks", compared.target)]
    for task, score in compared.tasks.items():
        named.append((_TASKS[task], score))
        labels = compared.labels.get(task, {}).items()
        named += [(f"  {label}", of_label) for label, of_label in labels]
    rows = []
    for name, result in named:
        scores = (f"{result.before:.1f}", f"{result.after:.1f}", f"{result.difference:+.1f}")
        spread = (f"{result.low:+.1f} to {result.high:+.1f}", f"{result.probability:.2f}")
        rows.append((name, [*scores, *spread, str(result.gold)]))
    print_table(title, columns, rows)
