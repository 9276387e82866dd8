"""What a run over many abstracts is asked for, and the work that an engine makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from sciextract.documents.schema_file import load_schema
from sciextract.inference.locate import AUTO
from sciextract.workflows.model_choice import ModelChoice, check_schema
from sciextract.workflows.scale.identify import Identified, identify
from sciextract.workflows.scale.report import ManyListener
from sciextract.workflows.scale.seam import PREDICTOR, Counts, Shard, Work


@dataclass(frozen=True, slots=True)
class Request:
    """What to annotate with which model.

    Attributes:
        inputs: Files, folders, patterns, ``-``.
        choice: The model and its settings.
        input_format: Format of the inputs; their content decides when ``None``.
        schema: Name or file of a label schema, which must be the model's.
        given: Whether the input's entities stay, and only relations between them are predicted.
        predictor: ``module:function`` that makes the predictor of a worker.
        identified: The model, where ``predictor`` makes another than ``choice`` names.
    """

    inputs: list[str]
    choice: ModelChoice = field(default_factory=ModelChoice)
    input_format: str | None = None
    schema: str | None = None
    given: bool = False
    predictor: str = PREDICTOR
    identified: Identified | None = None

    def model(self, listener: ManyListener) -> Identified:
        """The model, found and verified.

        Raises:
            SciextractError: It cannot be had, or its labels are not those of the schema.
        """
        found = self.identified or identify(self.choice)
        for note in found.notes:
            listener.note(note)
        if self.schema is not None:
            check_schema(found.config, load_schema(self.schema))
        return found

    def work(
        self, shards: tuple[Shard, ...], model: Identified, chunk_size: int, ordered: bool
    ) -> Work:
        """What an engine is to do."""
        return Work(
            shards,
            model.choice,
            model.model,
            self.input_format,
            self.given,
            chunk_size,
            ordered,
            self.predictor,
        )

    def last_notes(self, counts: Counts, listener: ManyListener) -> None:
        """What is worth a remark when all is done."""
        if self.choice.model == AUTO and counts.models:
            chosen = ", ".join(
                f"{count} by {name}" for name, count in sorted(counts.models.items())
            )
            listener.note(f"model {AUTO} chose for each abstract: {chosen}")
        if self.given and counts.documents and not counts.entities:
            listener.note("the input has no entities, so that there is nothing to relate")
