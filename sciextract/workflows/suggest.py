"""Suggestions for a project before anything is corrected: from terms, patterns, a model of other labels, or a file.

Suggestions are undecided items. Those of one call are one event, so that one undo takes them back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sciextract.documents.annotations import Annotations, Cluster, Entity, Layer, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats import BadRecord, read
from sciextract.inference.model_folder import AUTO, DEFAULT_MODEL, locate_model, open_folder
from sciextract.store import Project
from sciextract.store.coverage import uncovered_types
from sciextract.store.document_state import DocumentState
from sciextract.store.documents import known_by_text
from sciextract.store.events import SUGGESTIONS
from sciextract.store.ingest import BATCH
from sciextract.store.rows import ProgressRow, covered_name
from sciextract.store.sqlite import first_value
from sciextract.workflows.convert import parse_renames
from sciextract.workflows.import_files import import_items, propose, source_of
from sciextract.workflows.model_choice import ModelChoice, suited_to
from sciextract.workflows.suggesters import Mapped, Patterns, Suggester, read_terms

_BATCH = 64
_LAST = "SELECT max(id) FROM event"
_NEW = " UNION ALL ".join(
    f"""SELECT s.name, i.document_id FROM {table} i JOIN source s ON s.id = i.source_id
    WHERE i.event_id > ?1 AND i.state = 'undecided'"""
    for table in ("entity", "relation", "link")
)
# Terms that a remark names.
_NAMED = 5


@dataclass(slots=True)
class SuggestReport:
    """What was suggested.

    Attributes:
        documents: Abstracts with new suggestions.
        items: New entities, relations and links by source.
        skipped: Abstracts whose entities are done; they get none.
        bad: Records of a file that could not be read.
        notes: What was left out, and why.
        located: How many quotes were found in their texts, by how they stand there.
        missing: Quotes that were not found, each with its document.
    """

    documents: int = 0
    items: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    bad: int = 0
    notes: list[str] = field(default_factory=list)
    located: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def count(self, project: Project, last: int) -> None:
        """Count what was suggested after an event."""
        found = project.connection.execute(_NEW, (last,)).fetchall()
        self.items.update(source for source, _ in found)
        self.documents = len({number for _, number in found})

    def reject(self, error: FormatError) -> None:
        """Count and note a record that is left out."""
        self.bad += 1
        self.notes.append(str(error))

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return asdict(self) | {"items": dict(self.items)}


@dataclass(frozen=True, slots=True)
class Sources:
    """What suggestions come from.

    Attributes:
        terms: CSV or TSV files of terms and labels.
        patterns: JSON Lines of patterns.
        labels: ``OLD=NEW,...``: a model's labels with those of the project; empty for none.
        spans: Whether a model's mentions without their labels are suggested.
        model: The model of these two; ``None`` for the default one, ``auto`` for the bundled one that fits the texts
            (and for mentions without labels the default one besides).
    """

    terms: Sequence[Path] = ()
    patterns: Sequence[Path] = ()
    labels: str = ""
    spans: bool = False
    model: str | None = None

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.terms or self.patterns or self.labels or self.spans)


def suggest_by(
    project: Project,
    sources: Sources,
    on_progress: Callable[[int, int], None] | None = None,
    at_a_time: int = BATCH,
) -> SuggestReport:
    """Suggest from lists, then from patterns, then from a model, see :func:`suggest`.

    Raises:
        InputMissingError: A file does not exist.
        FormatError: A file cannot be read.
        UsageError: A label is not in the schema, or not in the model.
        MissingExtraError: Patterns need spaCy.
        ModelNotFoundError: The model is not on this machine.
        ProjectError: The project cannot be written.
    """
    lists = [read_terms(path, project.schema) for path in sources.terms]
    notes = [
        f"{path}: terms with several labels left out ({len(terms.ambiguous):,}): "
        + ", ".join(sorted(terms.ambiguous)[:_NAMED])
        for path, terms in zip(sources.terms, lists, strict=True)
        if terms.ambiguous
    ]
    patterns = [Patterns(path, project.schema) for path in sources.patterns]
    wanted: dict[str, list[Mapping[str, str]]] = {}
    if sources.labels or sources.spans:
        named = sources.model or DEFAULT_MODEL
        fitting = suited_to(project) if named == AUTO else named
        if sources.labels:
            wanted[fitting] = [parse_renames(sources.labels, "--map")]
        if sources.spans:  # every model finds mentions that the others miss
            for model in dict.fromkeys([fitting, DEFAULT_MODEL] if named == AUTO else [named]):
                wanted.setdefault(model, []).append({})
    # All are loaded before the first runs, so that one that is missing stops the command with nothing done.
    predictors = {model: ModelChoice(model).load(project) for model in wanted}
    models = [
        Mapped(predictors[model], labels, project.schema)
        for model, maps in wanted.items()
        for labels in maps
    ]
    report = suggest(project, [*lists, *patterns, *models], on_progress, at_a_time)
    report.notes += notes
    return report


def suggest(
    project: Project,
    suggesters: Sequence[Suggester],
    on_progress: Callable[[int, int], None] | None = None,
    at_a_time: int = BATCH,
    *,
    among: Sequence[int] | None = None,
    source: str = "",
) -> SuggestReport:
    """Put suggestions into the abstracts whose entities are not done, and of types that came later into the others.

    A mention that the project has already is not suggested again, nor one that overlaps a decided or an
    earlier suggested mention.

    Args:
        project: Open for writing.
        suggesters: Earlier ones win where mentions overlap.
        on_progress: Called with abstracts done and abstracts in all.
        at_a_time: Documents a transaction. Whoever else writes waits for as long as one takes.
        among: Numbers of the abstracts that may get suggestions; all when ``None``.
        source: Under what name all that is suggested can be exported.

    Raises:
        ProjectError: The project cannot be written.
    """
    report, last = SuggestReport(), first_value(project.connection, _LAST)
    numbers = []
    asked = project.numbers() if among is None else among
    for number in asked:
        progress = project.document_state(number).progress or ProgressRow()
        if Layer.ENTITIES not in progress.done or uncovered_types(progress, project.schema):
            numbers.append(number)
    report.skipped = len(asked) - len(numbers)

    def suggest_all() -> Iterator[AnnotatedDocument]:
        for start in range(0, len(numbers), _BATCH):
            # In batches, so that a model predicts several abstracts at once.
            states = [project.document_state(number) for number in numbers[start : start + _BATCH]]
            documents = [state.stored.document for state in states]
            of_each = zip(*(suggester(documents) for suggester in suggesters), strict=True)
            for state, document, found in zip(states, documents, of_each, strict=True):
                annotations, ends = _join(found, state)
                if state.progress and Layer.ENTITIES in state.progress.done:
                    said = AnnotatedDocument(document, annotations)
                    annotations = _left_to_find(project, said).annotations
                if annotations.entities or annotations.relations:
                    both = replace(annotations, entities=(*annotations.entities, *ends))
                    yield AnnotatedDocument(document, both)
            if on_progress:
                on_progress(start + len(states), len(numbers))

    import_items(project, SUGGESTIONS, suggest_all(), at_a_time=at_a_time, source=source)
    report.count(project, last)
    return report


def suggest_from(project: Project, files: Sequence[str], format_id: str | None) -> SuggestReport:
    """Import annotated files with every item undecided, whatever the files say of it.

    Raises:
        SchemaError: A label is not in the project's schema.
        InputMissingError: A path does not exist.
        FormatError: The only file is unusable.
    """
    report, last = SuggestReport(), first_value(project.connection, _LAST)

    def items() -> Iterator[AnnotatedDocument | BadRecord]:
        for file in files:
            for item in read([file], format_id):
                if isinstance(item, BadRecord):
                    report.reject(item.error)
                    yield item
                else:
                    key = item.document.doc_key
                    report.notes += (f"{key!r}: {remark}" for remark in item.warnings)
                    yield _left_to_find(project, propose(item, source_of(file)))

    import_items(project, SUGGESTIONS, items())
    report.count(project, last)
    return report


def _left_to_find(project: Project, suggested: AnnotatedDocument) -> AnnotatedDocument:
    """Without new mentions of types that somebody has looked for in the abstract, and what stands on them."""
    known = known_by_text(project.connection, suggested.document.text_sha256)
    if known is None:
        return suggested
    doc, entities = project.document_state(known.number), []
    looked_for = doc.progress.looked_for if doc.progress else frozenset()
    here = {(row.fragments, row.label) for row in doc.all_entities}
    for entity in suggested.annotations.entities:
        is_here = (entity.fragments, entity.label) in here
        if not is_here and covered_name(Layer.ENTITIES, entity.label) in looked_for:
            entity = replace(entity, state=State.REJECTED)
        entities.append(entity)
    said = replace(suggested.annotations, entities=tuple(entities))
    return replace(suggested, annotations=said.in_states({State.UNDECIDED}))


def fitting_labels(project: Project) -> tuple[str, tuple[str, ...]]:
    """The bundled model that fits a project's texts, and its labels.

    Raises:
        ModelNotFoundError: It is not on this machine.
        ModelDamagedError: It was changed.
    """
    name = suited_to(project)
    labels = open_folder(locate_model(name), hashes=False).config.labels
    return name, (*labels.types, *labels.relations.labels)


def _join(found: Sequence[Annotations], state: DocumentState) -> tuple[Annotations, list[Entity]]:
    """What several suggesters found, without what the document has and mentions that overlap decided or earlier ones.

    Also the mentions that the document has, under the labels that they have there, which new relations join.
    """
    entities: list[Entity] = []
    ends: list[Entity] = []
    relations: list[Relation] = []
    clusters: list[Cluster] = []
    taken = [span for row in state.entities if row.in_view for span in row.fragments]
    living = {row.fragments: row.label for row in state.entities if row.state is not State.REJECTED}
    # Rejected ones, too: what a person said no to is not suggested again.
    places = {row.id: row.fragments for row in state.entities}
    same = set(places.values())
    drawn = {
        (places[relation.head], places[relation.tail], relation.label)
        for relation in state.relations
    }
    for suggested in found:
        fresh = [
            entity
            for entity in suggested.entities
            if entity.fragments not in same
            and not any(span.overlaps(other) for span in entity.fragments for other in taken)
        ]
        taken += [span for entity in fresh for span in entity.fragments]
        known = [entity for entity in suggested.entities if entity.fragments in living]
        at = {entity.id: entity.fragments for entity in (*fresh, *known)}
        kept = [
            relation
            for relation in suggested.relations
            if {relation.head, relation.tail} <= at.keys()
            and (at[relation.head], at[relation.tail], relation.label) not in drawn
        ]
        needed = {end for relation in kept for end in (relation.head, relation.tail)}
        entities += fresh
        ends += [replace(e, label=living[e.fragments]) for e in known if e.id in needed]
        relations += kept
        ids = {entity.id for entity in fresh}
        clusters += [cluster for cluster in suggested.clusters if ids.issuperset(cluster.mentions)]
    return Annotations(tuple(entities), tuple(relations), tuple(clusters)), ends
