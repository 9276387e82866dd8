"""``sciextract evaluate``: score predictions, or a model, against gold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import argument, command_with, flag, option
from sciextract.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from sciextract.metrics.report import PRF, EvaluationReport, Interval
    from sciextract.workflows.evaluate import Evaluation

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

    gold: Annotated[str, argument("GOLD", "Annotated documents, or -.")]
    predicted: Annotated[
        str | None, argument("[PREDICTED]", "The same documents with predictions, or -.")
    ] = None
    model: Annotated[str | None, option("NAME|DIR", "Model to use without PREDICTED.")] = None
    schema: Annotated[
        str | None,
        option(
            "NAME|FILE",
            "Label schema that defines the symmetric relations (default: the model's, else scierc).",
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        option(
            "LABEL,...",
            "Score only these entity labels (default: all), with their relations and mentions.",
        ),
    ] = None
    singletons: Annotated[bool, flag("Include clusters of one mention.", "--singletons")] = False
    fields: Annotated[
        Literal["gold", "predicted"] | None,
        typer.Option(
            help=(
                "Fields to read from PREDICTED: ner... or predicted_ner... (default: predicted_ner... "
                "where present)."
            )
        ),
    ] = None
    as_json: Annotated[bool, flag("Print JSON instead of tables.", "--json")] = False
    bootstrap: Annotated[bool, typer.Option(help="Add 95 % bootstrap intervals.")] = True


@command_with(EvaluateOptions)
def evaluate(options: EvaluateOptions) -> None:
    """Score predictions against gold: entities, relations and coreference.

    Documents are matched by doc_key, or by text where doc_keys differ. Without PREDICTED, the model of --model or
    the default model predicts.

    Examples:

        sciextract evaluate gold.jsonl predicted.jsonl

        sciextract evaluate dev.jsonl --model sci --json

        sciextract evaluate test.jsonl plmarker.json --only Method,Task
    """
    evaluation = _evaluation(options)
    if options.as_json:
        typer.echo(json.dumps(evaluation.report.to_json(), indent=2))
    else:
        _print_tables(evaluation.report, options.singletons)
    _print_messages([*map(str, evaluation.bad_records), *evaluation.report.warnings])
    if evaluation.bad_records:
        raise typer.Exit(ExitCode.PARTIAL)


def _evaluation(options: EvaluateOptions) -> Evaluation:
    from sciextract.workflows import evaluate as workflow
    from sciextract.workflows.model_choice import ModelChoice, parse_labels

    wanted = parse_labels(options.only or [])
    if options.predicted is None:
        if options.fields is not None:
            raise UsageError("--fields needs PREDICTED", "give a file of predictions")
        choice = ModelChoice(options.model, only=wanted)
        annotator = choice.load()
        _print_messages(filter(None, [choice.message()]))
        return workflow.evaluate_model(
            options.gold,
            annotator,
            schema=options.schema,
            bootstrap=options.bootstrap,
            only=wanted,
            singletons=options.singletons,
        )
    if options.model is not None:
        raise UsageError(
            f"PREDICTED {options.predicted!r} and --model {options.model!r} cannot be combined",
            "omit one of them",
        )
    if options.gold == options.predicted == "-":
        raise UsageError("GOLD and PREDICTED cannot both be standard input", "name one file")
    labels = options.schema or workflow.DEFAULT_SCHEMA
    return workflow.evaluate_files(
        options.gold,
        options.predicted,
        schema=labels,
        bootstrap=options.bootstrap,
        only=wanted,
        singletons=options.singletons,
        fields=options.fields,
    )


def _print_tables(report: EvaluationReport, singletons: bool) -> None:
    from sciextract.cli.score_tables import print_table

    legend = _LEGEND.format(least="one mention" if singletons else "two mentions")
    labels = [*_labels("entity", report.ner.labels), *_labels("relation", report.relation.labels)]
    print_table(f"Scores, documents: {report.documents}", _NUMBERS, _scores(report), legend, 0)
    if labels:
        print_table("By label (relations: ordered, not strict)", _NUMBERS, labels, gap=0)


_Row = tuple[str, list[str]]


def _scores(report: EvaluationReport) -> Iterator[_Row]:
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


def _labels(kind: str, scores: Mapping[str, PRF]) -> Iterator[_Row]:
    for label, score in scores.items():
        yield f"{kind} {label}", _cells(score)


def _cells(score: PRF, interval: Interval | None = None) -> list[str]:
    counts = [str(number) for number in (score.gold, score.predicted, score.correct)]
    if not score.gold and not score.predicted:
        return ["-", "-", "-", "", *counts]
    percents = [f"{value:.1f}" for value in (score.precision, score.recall, score.f1)]
    return [*percents, f"{interval.low:.1f}-{interval.high:.1f}" if interval else "", *counts]


def _print_messages(messages: Iterable[str]) -> None:
    from sciextract.text.characters import visible

    for message in messages:
        typer.echo(visible(message), err=True)
