"""Files of gold beside the project: ``--base`` to replay, ``--gate`` to be measured on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sciextract.documents.annotations import Annotations, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.errors import TrainingDataError, UsageError
from sciextract.formats import BadRecord, read
from sciextract.formats.base import STDIN
from sciextract.store.project import Project
from sciextract.store.state.rows import IN_VIEW, Layer
from sciextract.workflows.snapshot.labels import LabelCounts, lacking_labels, layers_of
from sciextract.workflows.snapshot.lines import TRAINING, from_read, with_fields
from sciextract.workflows.snapshot.types import Origin, TrainingDocument
from sciextract.workflows.snapshot.verdicts import mention_states


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A file (or folder) of gold that was read through once.

    Attributes:
        path: Where it is.
        origin: What it is for.
        layers: The layers that it annotates anywhere: complete in all its documents.
        schema_layers: The layers of the project's schema; what is of no such layer is left out.
        bad: Records that cannot be read, left out.
        first_problem: What is wrong with the first of them.
        undecided: Documents with undecided items, whose layers are not complete.
    """

    path: str
    origin: Origin
    layers: frozenset[Layer]
    schema_layers: frozenset[Layer]
    bad: int = 0
    first_problem: str = ""
    undecided: int = 0

    def documents(self) -> Iterator[TrainingDocument]:
        """Its documents one by one, complete in the layers of the file."""
        for item in read([self.path]):
            if not isinstance(item, BadRecord):
                yield self._document(item)

    def _document(self, item: AnnotatedDocument) -> TrainingDocument:
        told = from_read(item)
        complete = told.complete if told else self.layers - undecided_layers(item.annotations)
        complete &= self.schema_layers
        fields = {name: v for name, v in item.document.fields.items() if name != TRAINING}
        kept = fitted(with_fields(item, fields), self.schema_layers)
        return TrainingDocument(kept, complete, self.origin)


def survey(path: Path | str, origin: Origin, schema: LabelSchema, project: Project) -> GoldFile:
    """Read a file through before any work, in constant memory.

    Raises:
        UsageError: It is standard input, which cannot be read twice, or the project itself.
        InputMissingError: It does not exist.
        FormatError: It cannot be read at all.
        SchemaError: It has labels that the project's schema lacks.
        TrainingDataError: Nobody has annotated anything in it.
    """
    _check_path(str(path), origin, project)
    labels, layers = LabelCounts(), set[Layer]()
    bad, undecided, first_problem = 0, 0, ""
    for item in read([str(path)]):
        if isinstance(item, BadRecord):
            bad += 1
            first_problem = first_problem or item.error.message
            continue
        labels.add(item)
        layers |= annotated_layers(item.annotations)
        undecided += bool(undecided_layers(item.annotations))
    if lacking := labels.lacking_in(schema):
        raise lacking_labels(str(path), lacking, schema, project)
    if not layers & layers_of(schema):
        raise _nothing_annotated(str(path), bad, first_problem)
    known = layers_of(schema)
    return GoldFile(
        str(path), origin, frozenset(layers) & known, known, bad, first_problem, undecided
    )


def fitted(annotated: AnnotatedDocument, layers: frozenset[Layer]) -> AnnotatedDocument:
    """A document without candidates, and without items of layers that a schema lacks."""
    found = annotated.annotations
    kept = Annotations(
        found.entities,
        found.relations if Layer.RELATIONS in layers else (),
        found.clusters if Layer.COREFERENCE in layers else (),
    )
    return replace(annotated, annotations=kept, model=None, warnings=())


def annotated_layers(annotations: Annotations) -> set[Layer]:
    """The layers in which something is positive."""
    return {layer for layer, states in _states(annotations).items() if states & IN_VIEW}


def undecided_layers(annotations: Annotations) -> set[Layer]:
    """The layers in which something is undecided."""
    return {layer for layer, states in _states(annotations).items() if State.UNDECIDED in states}


def _states(annotations: Annotations) -> dict[Layer, set[State]]:
    places = {state for each in annotations.clusters for state in mention_states(each)}
    return {
        Layer.ENTITIES: {each.state for each in annotations.entities},
        Layer.RELATIONS: {each.state for each in annotations.relations},
        Layer.COREFERENCE: places,
    }


def _check_path(path: str, origin: Origin, project: Project) -> None:
    option = f"--{origin.value}"
    if path == STDIN:
        problem = f"{option} - cannot be: the file is read twice, and standard input once"
        raise UsageError(problem, f"name a file: {option} FILE")
    if Path(path).exists() and project.path.samefile(path):  # opening it would cost SQLite's locks
        problem = f"{option} {path} is the project itself"
        raise UsageError(problem, "its abstracts are taken anyway: leave the option out")


def _nothing_annotated(path: str, bad: int, first_problem: str) -> TrainingDataError:
    problem = f"{path}: nothing in it is annotated, so there is nothing to learn from it"
    if bad:
        problem = f"{problem}; {bad} records cannot be read, the first: {first_problem}"
    return TrainingDataError(
        problem,
        "a model's predictions are no gold: decide them in a project first (sciextract tui)",
    )
