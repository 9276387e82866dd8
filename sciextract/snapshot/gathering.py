"""What goes where: documents of the gate file, the project and the base, each text once.

Into a snapshot with states and complete layers, or as plain gold (:class:`Augmented`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sciextract.documents.annotations import Annotations, Cluster, Entity, Layer, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.papers import PaperIndex, PaperRecord, paper_of
from sciextract.documents.schema import LabelSchema
from sciextract.errors import SchemaError, TrainingDataError, UsageError, as_command
from sciextract.formats import BadRecord, read
from sciextract.formats.base import STDIN
from sciextract.snapshot.documents import (
    TRAINING,
    Origin,
    Split,
    TrainingDocument,
    from_read,
    mention_states,
    split_of,
    with_fields,
)
from sciextract.store import Project
from sciextract.store.coverage import uncovered_types
from sciextract.store.document_state import whole
from sciextract.store.documents import (
    first_texts,
    known_by_text,
    known_documents,
    known_papers,
    positive_labels,
)
from sciextract.store.rows import IN_VIEW, ProgressRow
from sciextract.store.sqlite import first_value


def describe_lacking(schema: LabelSchema, entities: Counter[str], relations: Counter[str]) -> str:
    """The labels among those counted that a schema lacks, in words; empty when it has all."""
    parts = []
    for kind, counts, known in (
        ("entities", entities, ("", *schema.entity_labels)),
        ("relations", relations, schema.relation_labels),
    ):
        lacking = [entry for entry in counts.most_common() if entry[0] not in known]
        listed = ", ".join(f"{label!r} ({count})" for label, count in lacking)
        parts += [f"{kind}: {listed}"] if lacking else []
    return "; ".join(parts)


def check_project_labels(project: Project, schema: LabelSchema) -> None:
    """Refuse a project whose items have labels that its schema lost.

    Raises:
        SchemaError: It has some; names them and where to change them.
    """
    kinds = (positive_labels(project.connection, kind) for kind in ("entity", "relation"))
    if lacking := describe_lacking(schema, *kinds):
        raise SchemaError(
            f"{project.path}: its schema {schema.name!r} lacks labels that its items have: {lacking}; "
            f"it has {_all(schema)}",
            as_command("sciextract", "search", "--label", "LABEL", "--project", project.path)
            + f" lists them, {as_command('sciextract', 'tui', project.path)} changes them",
        )


def _positive(items: Iterable[Entity | Relation]) -> Iterable[str]:
    return (item.label for item in items if item.state in IN_VIEW)


def _all(schema: LabelSchema) -> str:
    return ", ".join((*schema.entity_labels, *schema.relation_labels))


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A file (or folder) of gold that was read through once.

    Attributes:
        path: Where it is.
        origin: What it is for.
        layers: The layers that it annotates anywhere: complete in all its documents.
        schema: The project's schema; what is of no layer of it is left out.
        bad: Records that cannot be read, left out.
        first_problem: What is wrong with the first of them.
        undecided: Documents with undecided items, whose layers are not complete.
    """

    path: str
    origin: Origin
    layers: frozenset[Layer]
    schema: LabelSchema
    bad: int = 0
    first_problem: str = ""
    undecided: int = 0

    def documents(self) -> Iterator[TrainingDocument]:
        """Its documents one by one, complete in the layers of the file."""
        for item in read([self.path]):
            # The survey has counted and named it.
            if isinstance(item, BadRecord):
                continue
            document, known = from_read(item), self.schema.layers
            waiting = layers_with(item.annotations, {State.UNDECIDED})
            complete = document.complete if document else self.layers - waiting
            fields = {name: v for name, v in item.document.fields.items() if name != TRAINING}
            kept = fit_to_layers(with_fields(item.renamed(*self.schema.names), fields), known)
            yield TrainingDocument(kept, complete & known, self.origin)


def survey(path: Path | str, origin: Origin, schema: LabelSchema, project: Project) -> GoldFile:
    """Read a file through before any work, in constant memory.

    Raises:
        UsageError: It is standard input, which cannot be read twice, or the project itself.
        InputMissingError: It does not exist.
        FormatError: It cannot be read at all.
        SchemaError: It has labels that the project's schema lacks.
        TrainingDataError: Nobody has annotated anything in it.
    """
    option, name = f"--{origin.value}", str(path)
    if name == STDIN:
        problem = f"{option} - cannot be: the file is read twice, and standard input once"
        raise UsageError(problem, f"name a file: {option} FILE")
    if Path(name).exists() and project.path.samefile(name):  # opening it would cost SQLite's locks
        problem = f"{option} {name} is the project itself"
        raise UsageError(problem, "its abstracts are used anyway: omit the option")
    entities, relations, layers = Counter[str](), Counter[str](), set[Layer]()
    bad, undecided, first_problem = 0, 0, ""
    for item in read([str(path)]):
        if isinstance(item, BadRecord):
            bad += 1
            first_problem = first_problem or item.error.message
            continue
        named = item.renamed(*schema.names).annotations
        # Labels of rejected and undecided items teach nothing that needs a label.
        entities.update(_positive(named.entities))
        relations.update(_positive(named.relations))
        layers |= layers_with(item.annotations, IN_VIEW)
        undecided += bool(layers_with(item.annotations, {State.UNDECIDED}))
    if lacking := describe_lacking(schema, entities, relations):
        raise SchemaError(
            f"{path}: the project's schema {schema.name!r} lacks labels of it: {lacking}; "
            f"it has {_all(schema)}",
            "rename them in the file, or bring labels and abstracts into the project: "
            + as_command("sciextract", "import", path, "--add-labels", "--project", project.path),
        )
    known = schema.layers
    if not layers & known:
        problem = f"{path}: nothing in it is annotated, so it cannot be used for training"
        if bad:
            problem = f"{problem}; {bad} records cannot be read, the first: {first_problem}"
        hint = "a model's predictions are not gold: decide them in a project first (sciextract tui)"
        raise TrainingDataError(problem, hint)
    return GoldFile(
        str(path), origin, frozenset(layers) & known, schema, bad, first_problem, undecided
    )


def fit_to_layers(annotated: AnnotatedDocument, layers: frozenset[Layer]) -> AnnotatedDocument:
    """A document without candidates, and without items of layers that a schema lacks."""
    original = annotated.annotations
    kept = Annotations(
        original.entities,
        original.relations if Layer.RELATIONS in layers else (),
        original.clusters if Layer.COREFERENCE in layers else (),
    )
    return replace(annotated, annotations=kept, model=None, warnings=())


def layers_with(annotations: Annotations, states: Collection[State]) -> set[Layer]:
    """The layers in which something is in one of these states."""
    places = {state for cluster in annotations.clusters for state in mention_states(cluster)}
    found = {
        Layer.ENTITIES: {entity.state for entity in annotations.entities},
        Layer.RELATIONS: {relation.state for relation in annotations.relations},
        Layer.COREFERENCE: places,
    }
    return {layer for layer, there in found.items() if not there.isdisjoint(states)}


def training_document(project: Project, number: int) -> TrainingDocument:
    """An abstract of a project with all that was decided about it, as far as the schema has layers for it."""
    doc, layers = project.document_state(number), project.schema.layers
    progress = doc.progress or ProgressRow()
    done = layers.intersection(progress.done)
    annotated = whole(doc, project.sources)
    uncovered = uncovered_types(progress, project.schema)
    return TrainingDocument(fit_to_layers(annotated, layers), done, Origin.PROJECT, uncovered)


MOST_UNDECIDED = 2_000
"""Abstracts for distillation at most."""

NOT_DONE = "held out, but no layer is done"
GATE_HAS_IT = "the gate file has the text"
HELD_OUT = "the project holds the text out"
PROJECT_HAS_IT = "the project has decisions on the text"
TWICE = "the same text a second time"
NOT_COMPLETE = "of the gate file, but no layer is complete"

Placed = tuple[Split, TrainingDocument]


class Gathering:
    """Takes every text once: from the gate file, else from the project, else from the base.

    Args:
        project: The open project.
        base: The user's copy of a published set.
        gate: Held-out gold.
    """

    def __init__(
        self, project: Project, base: GoldFile | None = None, gate: GoldFile | None = None
    ) -> None:
        self.left_out: Counter[str] = Counter()
        self._project = project
        self._base = base
        self._gate = gate
        self._layers = project.schema.layers
        # Bytes take half the memory of hexadecimal text, for every text of a large base.
        self._taken: set[bytes] = set()
        self._gate_papers: list[PaperRecord] = []
        self._in_gate = PaperIndex(self._gate_papers.__getitem__)
        self._papers = known_papers(project.connection)
        self._firsts = first_texts(project.connection)

    def documents(self) -> Iterator[Placed]:
        """All documents of the splits, one by one; what goes into none is counted in ``left_out``."""
        for document in self._gate.documents() if self._gate else ():
            if self._is_second(document) or self._gate_has(document):
                self.left_out[TWICE] += 1
                continue
            self._in_gate.add(len(self._gate_papers), paper_of(document.annotated.document))
            self._gate_papers.append(paper_of(document.annotated.document))
            if not document.complete:
                self.left_out[NOT_COMPLETE] += 1
            else:
                yield Split.GATE, document
        for known in known_documents(self._project.connection):
            if not known.decided:
                continue
            document = training_document(self._project, known.number)
            split = self._split_of(known.text_sha256)
            if bytes.fromhex(known.text_sha256) in self._taken or self._gate_has(document):
                self.left_out[GATE_HAS_IT] += 1
            elif split is not Split.TRAIN and not document.complete:
                self.left_out[NOT_DONE] += 1
            else:
                yield split, document
        gate_texts = frozenset(self._taken)
        for document in self._base.documents() if self._base else ():
            if reason := self._why_not_of_base(document, gate_texts):
                self.left_out[reason] += 1
            else:
                yield Split.TRAIN, document

    def choose_undecided(self, most: int = MOST_UNDECIDED) -> list[int]:
        """Numbers of the project's abstracts that nobody has decided anything about, chosen by hash.

        None of them is, or will be, in dev or gate. To be called after :meth:`documents`.
        """
        known = known_documents(self._project.connection)
        free = (
            document
            for document in known
            if not document.decided
            and self._split_of(document.text_sha256) is Split.TRAIN
            and bytes.fromhex(document.text_sha256) not in self._taken
        )
        # By hash, so that the choice does not depend on the order of imports.
        chosen = heapq.nsmallest(most, free, key=lambda document: document.text_sha256)
        return [document.number for document in chosen]

    def _why_not_of_base(self, document: TrainingDocument, gate_texts: frozenset[bytes]) -> str:
        """Why a document of the base goes into no split; empty when it does.

        It never chooses an epoch or thresholds and never judges, for the start model has learned from it: what
        a model has seen makes it look better than it is. A text that the project holds out stays out of
        training whether or not anybody has decided about it yet: it may be in dev or gate tomorrow.
        """
        text_sha256 = document.annotated.document.text_sha256
        if self._is_second(document):
            return GATE_HAS_IT if bytes.fromhex(text_sha256) in gate_texts else TWICE
        if self._gate_has(document):
            return GATE_HAS_IT
        connection = self._project.connection
        known = known_by_text(connection, text_sha256)
        if (
            known is None
            and (number := self._papers.find(paper_of(document.annotated.document))) is not None
        ):
            query = "SELECT sha256 FROM document WHERE id = ?"
            known = known_by_text(connection, first_value(connection, query, number))
        if known is None:
            return ""
        if self._split_of(known.text_sha256) is not Split.TRAIN:
            return HELD_OUT
        return PROJECT_HAS_IT if known.decided else ""

    def _split_of(self, text_sha256: str) -> Split:
        """The split of a project's text: that of the first text of its paper."""
        return split_of(self._firsts.get(text_sha256, text_sha256))

    def _gate_has(self, document: TrainingDocument) -> bool:
        """Whether the gate file has the paper, perhaps with another text."""
        return self._in_gate.find(paper_of(document.annotated.document)) is not None

    def _is_second(self, document: TrainingDocument) -> bool:
        text = bytes.fromhex(document.annotated.document.text_sha256)
        if text in self._taken:
            return True
        self._taken.add(text)
        return False


HELD_OUT_FOR_GATE = "held out for the gate"
NO_LAYER_DONE = "no layer is done"
NOT_COVERED = "finished before a type came"


class Augmented:
    """What a training sees, positives only: for formats that can tell neither masks nor negatives.

    Files of gold read as "everything else is wrong", so a project's abstract comes along only with a done
    layer, and its other layers are counted in ``losses``. Abstracts of the gate stay out: a model that was
    trained on the set can still be measured on them.

    Args:
        project: The open project.
        base: The user's copy of a published set.

    Raises:
        SciextractError: The base cannot be used: see :func:`~sciextract.snapshot.gathering.survey`.
    """

    def __init__(self, project: Project, base: Path | str) -> None:
        schema = project.schema
        check_project_labels(project, schema)
        read = survey(base, Origin.BASE, schema, project)
        self._gathering = Gathering(project, read)
        self._layers = schema.layers
        self._left_out: Counter[str] = Counter()
        self.bad = read.bad
        self.from_base = 0
        self.losses: Counter[str] = Counter()

    def documents(self) -> Iterator[AnnotatedDocument]:
        """The project's documents, then those of the base, each text once."""
        for split, document in self._gathering.documents():
            if split is Split.GATE:
                self._left_out[HELD_OUT_FOR_GATE] += 1
            elif not document.complete and document.origin is Origin.PROJECT:
                self._left_out[NO_LAYER_DONE] += 1
            elif document.uncovered:
                self._left_out[NOT_COVERED] += 1
            else:
                self.from_base += document.origin is Origin.BASE
                for layer in sorted(self._layers - document.complete):
                    self.losses[f"{layer.value} that are not complete in an abstract"] += 1
                yield positives(document.annotated)

    @property
    def left_out(self) -> dict[str, int]:
        """Documents left out so far, by reason."""
        return {**self._left_out, **self._gathering.left_out}


def positives(annotated: AnnotatedDocument) -> AnnotatedDocument:
    """A document with nothing but its positive items."""
    original = annotated.annotations
    found = original.in_states(IN_VIEW)
    kept = {entity.id for entity in found.entities}
    # Of clusters in any state: that of each place counts.
    clusters = (_positive_part(cluster, kept) for cluster in original.clusters)
    filled = tuple(cluster for cluster in clusters if cluster.mentions)
    return replace(annotated, annotations=Annotations(found.entities, found.relations, filled))


def _positive_part(cluster: Cluster, kept: set[str]) -> Cluster:
    """A cluster without the mentions that are not positive; a rest of one refers to nothing, and goes.

    A cluster that was read with one mention stays as it was read.
    """
    places = zip(cluster.mentions, mention_states(cluster), strict=True)
    positive = {mention for mention, state in places if state in IN_VIEW} & kept
    if len(positive) == 1 and cluster.state is not State.IMPORTED:
        positive.clear()
    state = cluster.state if cluster.state in IN_VIEW else State.ACCEPTED
    return replace(cluster.only(positive), state=state)
