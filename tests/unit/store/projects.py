"""Small projects for the tests of the store: a schema, abstracts, annotations, and ways to put them in."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.documents.schema import LabelSchema
from sciextract.documents.schema_file import parse_schema
from sciextract.store import DocumentState, Outcome, Project, create_project, open_project
from sciextract.store.actions.bulk import counting, spreading
from sciextract.store.ingest import Import, ImportCounts, ModelRun
from sciextract.store.state_tables import StateValues as StateRows
from sciextract.store.state_tables import all_numbers, current_state
from sciextract.text.analyse import analyse

#: ``net`` stands alone three times, and inside of ``network``; ``graph`` twice.
TEXT = "A graph net learns. The net reads a network of graph parts; each net 😀 is α-tuned."
OTHER_TEXT = "Another net, another graph.\r\nNetworks vary."
FIRST_MODEL = ModelId("first", "a" * 64)
SECOND_MODEL = ModelId("second", "b" * 64)


def small_schema(*, coreference: bool = True) -> LabelSchema:
    """Two entity types; ``Uses`` leads from Method to Task only, ``Like`` is symmetric between all; two attributes."""
    return parse_schema(
        {
            "name": "small",
            "coreference": coreference,
            "entities": [
                {"label": "Method", "key": "m", "colour": "#112233"},
                {"label": "Task", "key": "t", "colour": "#223344"},
            ],
            "relations": [
                {"label": "Uses", "key": "u", "colour": "#334455", "pairs": [["Method", "Task"]]},
                {"label": "Like", "key": "l", "colour": "#445566", "symmetric": True},
            ],
            "attributes": [
                {"label": "negated", "key": "n", "on": ["*", "relation:Uses"]},
                {
                    "label": "design",
                    "key": "d",
                    "on": ["abstract", "Method"],
                    "kind": "choice",
                    "values": ["trial", "review"],
                },
            ],
        },
        "small schema of the tests",
    )


def document(text: str = TEXT, doc_key: str = "d", **fields: object) -> Document:
    """A document with the tokens that sciextract gives it."""
    return Document(doc_key, text, analyse(text, []), fields)


def place(word: str, occurrence: int = 0, text: str = TEXT) -> Span:
    """Where a string stands in the text, by its number from zero, inside of words too."""
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(word, start + 1)
    return Span(start, start + len(word))


def entity(
    entity_id: str,
    span: Span | Sequence[Span],
    label: str = "Method",
    score: float | None = None,
    state: State = State.IMPORTED,
) -> Entity:
    """An entity on one span, or on several fragments."""
    return Entity(
        entity_id, (span,) if isinstance(span, Span) else tuple(span), label, score, state
    )


def relation(
    relation_id: str,
    head: str,
    tail: str,
    label: str = "Uses",
    score: float | None = None,
    state: State = State.IMPORTED,
) -> Relation:
    """A relation between two entities."""
    return Relation(relation_id, head, tail, label, score, state)


def cluster(cluster_id: str, *mentions: str, state: State = State.IMPORTED) -> Cluster:
    """A cluster of mentions."""
    return Cluster(cluster_id, mentions, state=state)


def said(*items: Entity | Relation | Cluster) -> Annotations:
    """Items of all kinds, sorted into their places."""
    return Annotations(
        tuple(item for item in items if isinstance(item, Entity)),
        tuple(item for item in items if isinstance(item, Relation)),
        tuple(item for item in items if isinstance(item, Cluster)),
    )


def new_project(folder: Path, author: str = "ann", *, coreference: bool = True) -> Project:
    """An empty project of the small schema; it does not wait for the disk, since power loss is not tested."""
    path = folder / "p.sciextract"
    path.write_bytes(_empty(coreference))
    project = open_project(path, author)
    project.connection.execute("PRAGMA synchronous = OFF")
    return project


@cache
def _empty(coreference: bool) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.sciextract"
        create_project(path, small_schema(coreference=coreference), "ann").close()
        return path.read_bytes()


def reopened(project: Project, author: str | None = None) -> Project:
    """The project, closed and opened again."""
    project.close()
    return open_project(project.path, author or project.author.removeprefix("person:"))


def put(
    project: Project,
    *items: Entity | Relation | Cluster,
    text: str = TEXT,
    doc_key: str = "d",
    source: str = "import:gold.jsonl",
    warnings: tuple[str, ...] = (),
) -> ImportCounts:
    """Import one document with annotations; it gets the next number, the first one is 1."""
    return put_all(project, [(document(text, doc_key), items)], source, warnings)


def put_all(
    project: Project,
    documents: Iterable[tuple[Document, Iterable[Entity | Relation | Cluster]]],
    source: str = "import:gold.jsonl",
    warnings: tuple[str, ...] = (),
) -> ImportCounts:
    """Import documents with annotations as one event."""
    job = Import(project, source, {"path": source})
    job.add([(AnnotatedDocument(doc, said(*items)), warnings) for doc, items in documents])
    return job.counts


def predict(
    project: Project,
    *items: Entity | Relation | Cluster,
    number: int = 1,
    model: ModelId = FIRST_MODEL,
    background: bool = False,
) -> ModelRun:
    """One run of a model on one document."""
    run = ModelRun(project, model, {"entities": 0.5}, background=background)
    text = project.document_state(number).stored.document
    run.add([(number, AnnotatedDocument(text, said(*items), model))])
    run.finish()
    return run


def guess(
    entity_id: str, span: Span | Sequence[Span], label: str = "Method", score: float = 0.8
) -> Entity:
    """An entity that a model proposes."""
    return entity(entity_id, span, label, score, State.UNDECIDED)


def guess_relation(
    relation_id: str, head: str, tail: str, label: str = "Uses", score: float = 0.7
) -> Relation:
    """A relation that a model proposes."""
    return relation(relation_id, head, tail, label, score, State.UNDECIDED)


def guess_cluster(cluster_id: str, *mentions: str, score: float = 0.6) -> Cluster:
    """A cluster that a model proposes."""
    return Cluster(cluster_id, mentions, score, mention_scores=(score,) * len(mentions))


def states(doc: DocumentState) -> dict[str, State]:
    """The state of every entity and relation by id, of every link by ``cluster entity``."""
    found = {mention.id: mention.state for mention in doc.entities}
    found |= {edge.id: edge.state for edge in doc.relations}
    return found | {f"{link.cluster_id} {link.entity_id}": link.state for link in doc.links}


def all_state(project: Project) -> dict[int, StateRows]:
    """All state rows of the project, by document; documents that were taken back have none."""
    connection = project.connection
    found = {number: current_state(connection, number) for number in all_numbers(connection)}
    return {number: rows for number, rows in found.items() if rows}


def counted(project: Project, number: int, entity_id: str) -> Outcome:
    """What deciding about all identical strings of the project would change."""
    count = list(counting(project, number, entity_id))[-1]
    return Outcome(None, len(count.numbers), count.items)


def spread(project: Project, number: int, entity_id: str) -> Outcome:
    """Decide about all identical strings of the project, as the desk does."""
    count = list(counting(project, number, entity_id))[-1]
    return [Outcome(None, 0, 0), *spreading(project, number, entity_id, count)][-1]
