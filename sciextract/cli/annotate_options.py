"""The options of ``sciextract annotate``, and what they ask for together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sciextract.cli.console import (
    InputFormatOption,
    argument,
    flag,
    given_options,
    option,
    output_formats,
)
from sciextract.errors import UsageError

if TYPE_CHECKING:
    from sciextract.workflows.annotate_job import Target
    from sciextract.workflows.model_choice import ModelChoice


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """One field for each word of the command line; its help text says what it means."""

    inputs: Annotated[
        list[str] | None,
        argument("[INPUT...|-]", "Files, folders, or - for standard input.", show_default=False),
    ] = None
    export: Annotated[
        str | None,
        option(
            "FORMAT",
            "Write data, not the readable view: jsonl, scierc, brat, csv...",
            autocompletion=output_formats,
        ),
    ] = None
    output: Annotated[str | None, option("PATH", "Write to a file; implies --export jsonl.")] = None
    input_format: InputFormatOption = None
    project: Annotated[
        str | None,
        option(
            "DB", "Import INPUT into this project, predict new abstracts, and export the project."
        ),
    ] = None
    model: Annotated[
        str | None,
        option(
            "NAME|DIR",
            "sci, bio, auto (chosen per abstract by its words), a model folder or hub id.",
        ),
    ] = None
    schema: Annotated[
        str | None, option("NAME|FILE", "Label schema for colours; must have the model's labels.")
    ] = None
    candidates: Annotated[
        bool, flag("Also export candidates below the thresholds.", "--candidates")
    ] = False
    given_entities: Annotated[
        bool,
        flag(
            "Keep the entities of the input; predict only relations and coreference between them.",
            "--given-entities",
        ),
    ] = False
    predicted: Annotated[
        bool,
        flag(
            "With --export scierc: write the input's annotations as ner..., predictions as predicted_ner...",
            "--predicted",
        ),
    ] = False
    threshold: Annotated[
        list[str] | None,
        option(
            "TASK=P",
            "Minimum score per task (entity, relation or coreference); repeatable.",
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        option("LABEL,...", "Entity labels to predict (default: all of the model's)."),
    ] = None
    batch_size: Annotated[
        int | None, option("N", "Abstracts per batch, for fp32 and fp16 models.", min=1)
    ] = None
    batch_tokens: Annotated[
        int | None, option("N", "Subwords per batch, for fp32 and fp16 models.", min=1)
    ] = None
    threads: Annotated[int | None, option("N", "Threads (default: all cores).", min=1)] = None
    workers: Annotated[
        int | None,
        option("N", "Predict in N worker processes, for large collections.", min=1, max=1024),
    ] = None
    parts: Annotated[
        str | None,
        option(
            "FOLDER", "Write a folder of parts (jsonl or parquet); repeat the command to resume."
        ),
    ] = None
    unordered: Annotated[bool, flag("With --workers: write lines in any order.", "--unordered")] = (
        False
    )
    timeout: Annotated[
        float | None,
        option("SECONDS", "With --workers: time limit per abstract (default: 60).", min=0.1),
    ] = None
    engine: Annotated[
        Literal["processes", "ray"] | None,
        typer.Option(help="How workers run: as processes (default), or on Ray (extra scale)."),
    ] = None
    address: Annotated[
        str | None,
        option("auto|HOST:PORT", "With --engine ray: the cluster to use (default: start one)."),
    ] = None
    precision: Annotated[
        Literal["int8", "int4", "fp32", "fp16"] | None,
        typer.Option(help="Numeric precision of the model (default: what the device prefers)."),
    ] = None
    device: Annotated[
        Literal["cpu", "cuda", "auto"],
        typer.Option(help="Run on the CPU, on a GPU, or on a GPU if there is one."),
    ] = "cpu"
    as_json: Annotated[bool, flag("Print a JSON summary at the end.", "--json")] = False
    resume: Annotated[bool, flag("Resume at the end of the --output file.", "--resume")] = False
    force: Annotated[bool, flag("Overwrite the --output file.", "--force")] = False
    sample: Annotated[bool, flag("Annotate the bundled sample abstracts.", "--sample")] = False
    quiet: Annotated[bool, flag("Show no progress and no summary.", "--quiet", "-q")] = False

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
        self._refuse(
            "is not for projects",
            "omit it, or give files instead of a project",
            "resume", "candidates", "schema", "sample", "given_entities", "only", "workers", "parts",
            "engine", "predicted",
        )  # fmt: skip

    def uses_workers(self) -> bool:
        """Whether several processes predict.

        Raises:
            UsageError: Options of such a run are given without one, or it does not take another option.
        """
        if self.workers is None and self.parts is None and self.engine is None:
            self._refuse(
                "is for several workers", "add --workers N", "unordered", "timeout", "address"
            )
            return False
        if self.predicted:
            raise UsageError("--predicted is not for --workers and --parts", "omit the option")
        if self.threads is not None:
            raise UsageError(
                "--threads and --workers cannot be combined: a worker has one thread",
                "leave --threads out",
            )
        if self.address is not None and self.engine != "ray":
            raise UsageError("--address names a Ray cluster", "add --engine ray")
        if self.parts is not None:
            self._refuse(
                "and --parts cannot be combined",
                "--parts FOLDER is the output; it is filled in any order, and the same command resumes it",
                *(["output"] if self.output_path is not None else []),
                "resume",
                "force",
                "unordered",
            )
        return True

    def _refuse(self, reason: str, hint: str, *names: str) -> None:
        for word in given_options(self, *names):
            raise UsageError(f"{word} {reason}", hint)
