"""The options of ``sciextract annotate``, and what they ask for together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.errors import UsageError

if TYPE_CHECKING:
    from sciextract.workflows.annotate_job import Target
    from sciextract.workflows.model_choice import ModelChoice


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """One field for each word of the command line; its help text says what it means."""

    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT...|-]",
            help="Files, folders, or - for standard input.",
            show_default=False,
        ),
    ] = None
    export: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="Write data, not the readable view: jsonl, scierc, brat, csv..."
        ),
    ] = None
    output: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Write to a file; implies --export jsonl."),
    ] = None
    input_format: Annotated[
        str | None,
        typer.Option("--format", metavar="F", help="Format of the input (default: its content)."),
    ] = None
    project: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help="Import INPUT into this project, predict what it needs, and export the project.",
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="sci, bio, auto (the words of each abstract choose), a model folder or hub id.",
        ),
    ] = None
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Label schema for colours; its labels must be the model's."
        ),
    ] = None
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Export what stayed below the thresholds, too.")
    ] = False
    given_entities: Annotated[
        bool,
        typer.Option(
            "--given-entities",
            help="Keep the entities of the input, and predict only what relates them.",
        ),
    ] = False
    predicted: Annotated[
        bool,
        typer.Option(
            "--predicted",
            help="With --export scierc: the input's annotations as ner..., predictions as predicted_ner...",
        ),
    ] = False
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK=P",
            help="Least probability for entity, relation or coreference, without exception; may be repeated.",
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL,...", help="Entity labels to look for (default: all the model's)."
        ),
    ] = None
    batch_size: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Abstracts a call, for fp32 and fp16 models."),
    ] = None
    batch_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Word pieces a call, for fp32 and fp16 models."),
    ] = None
    threads: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Threads (default: all cores).")
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1024,
            help="Predict in N processes beside this one, for many abstracts.",
        ),
    ] = None
    parts: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Write a folder of parts (jsonl or parquet); the same command again goes on.",
        ),
    ] = None
    unordered: Annotated[
        bool, typer.Option("--unordered", help="With --workers: lines in any order.")
    ] = False
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            help="With --workers: most time for one abstract (default: 60).",
        ),
    ] = None
    engine: Annotated[
        Literal["processes", "ray"] | None,
        typer.Option(help="What the workers are: processes (default), or Ray of the extra scale."),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="auto|HOST:PORT", help="With --engine ray: the cluster (default: its own)."
        ),
    ] = None
    precision: Annotated[
        Literal["int8", "int4", "fp32", "fp16"] | None,
        typer.Option(help="Which graph of the model runs."),
    ] = None
    device: Annotated[
        Literal["cpu", "cuda", "auto"],
        typer.Option(help="Where it runs: the processor, a GPU, or a GPU if there is one."),
    ] = "cpu"
    as_json: Annotated[bool, typer.Option("--json", help="End with a JSON summary.")] = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the file of --output ends.")
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --output.")] = False
    sample: Annotated[
        bool, typer.Option("--sample", help="Annotate the sample abstracts that come along.")
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Neither progress nor a summary in words.")
    ] = False

    @property
    def export_format(self) -> str | None:
        """The format to write; ``None`` for the readable view."""
        return self.export or ("jsonl" if self.output else None)

    @property
    def output_path(self) -> str | None:
        """The file to write; ``None`` for standard output."""
        return None if self.output == "-" else self.output

    def model_choice(self) -> ModelChoice:
        """The model and its settings.

        Raises:
            UsageError: A threshold or a label cannot be read.
        """
        from sciextract.workflows.model_choice import ModelChoice, parse_labels, parse_thresholds

        return ModelChoice(
            model=self.model,
            thresholds=parse_thresholds(self.threshold or []),
            candidates=self.candidates,
            threads=self.threads,
            precision=self.precision,
            batch_size=self.batch_size,
            only=parse_labels(self.only or []),
            batch_tokens=self.batch_tokens,
            device=self.device,
        )

    def target(self) -> Target:
        """Where the results go."""
        from sciextract.workflows.annotate_job import Target

        return Target(self.export_format, self.output_path, self.resume, self.force)

    def check_for_project(self) -> None:
        """Refuse options that make no sense with a project.

        Raises:
            UsageError: One of them is given.
        """
        _refuse(
            "is not for projects",
            "leave it out, or name files instead of a project",
            resume=self.resume,
            candidates=self.candidates,
            schema=self.schema is not None,
            sample=self.sample,
            given_entities=self.given_entities,
            only=bool(self.only),
            workers=self.workers is not None,
            parts=self.parts is not None,
            engine=self.engine is not None,
            predicted=self.predicted,
        )

    def uses_workers(self) -> bool:
        """Whether several processes predict.

        Raises:
            UsageError: Options of such a run are given without one, or it does not take another option.
        """
        if self.workers is None and self.parts is None and self.engine is None:
            _refuse(
                "is for several workers",
                "add --workers N",
                unordered=self.unordered,
                timeout=bool(self.timeout),
                address=bool(self.address),
            )
            return False
        if self.predicted:
            raise UsageError("--predicted is not for --workers and --parts", "leave it or them out")
        if self.threads is not None:
            raise UsageError(
                "--threads and --workers exclude each other: a worker has one thread",
                "leave --threads out",
            )
        if self.address is not None and self.engine != "ray":
            raise UsageError("--address names a Ray cluster", "add --engine ray")
        if self.parts is not None:
            _refuse(
                "and --parts exclude each other",
                "--parts FOLDER is the output, fills up in any order, and the same command goes on",
                output=self.output_path is not None,
                resume=self.resume,
                force=self.force,
                unordered=self.unordered,
            )
        return True


def _refuse(reason: str, hint: str, **options: bool) -> None:
    for name, given in options.items():
        if given:
            raise UsageError(f"--{name.replace('_', '-')} {reason}", hint)
