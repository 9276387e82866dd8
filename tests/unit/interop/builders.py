"""Documents and a fake model for the spaCy tests."""

from __future__ import annotations

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument, Document, ModelId
from sciextract.text.analyse import make_document

TEXT = "Graph  parsing\nOur parser for graph parsing beats it. It scans α-trees."
MODEL = ModelId("fake", "0123456789abcdef")


def entity(
    entity_id: str, phrase: str, label: str, score: float | None = 0.9, text: str = TEXT
) -> Entity:
    start = text.index(phrase)
    return Entity(entity_id, (Span(start, start + len(phrase)),), label, score, source="model:fake")


def sample() -> AnnotatedDocument:
    """Nested entities, a relation between them, a cluster, and rejected items."""
    entities = (
        entity("E1", "Our parser for graph parsing", "Method", 0.6),
        entity("E2", "parser", "Method", 0.8),
        entity("E3", "graph parsing", "Task", 0.95),
        entity("E4", "It", "Generic", None),
        Entity("E5", (Span(0, 5),), "Task", 0.3, State.REJECTED),
    )
    relations = (
        Relation("R1", "E2", "E3", "USED-FOR", 0.7),
        Relation("R2", "E3", "E2", "PART-OF", 0.2, State.REJECTED),
    )
    clusters = (Cluster("C1", ("E1", "E4"), 0.75, mention_scores=(0.7, 0.8)),)
    document = make_document("sample-1", TEXT, {"year": 2020})
    annotations = Annotations(entities, relations, clusters)
    return AnnotatedDocument(document, annotations, MODEL, ("a remark",))


class FakeAnnotator:
    """Finds the words ``parser`` and ``graphs`` and relates them; remembers what it saw."""

    def __init__(self) -> None:
        self.seen: list[Document] = []

    def annotate(self, document: Document) -> AnnotatedDocument:
        self.seen.append(document)
        entities = [
            Entity(f"E{start}", (Span(start, start + len(word)),), label, score)
            for word, label, score in [("parser", "Method", 0.9), ("graphs", "Material", 0.8)]
            if (start := document.text.find(word)) >= 0
        ]
        relations = []
        if len(entities) == 2:
            relations.append(Relation("R1", entities[0].id, entities[1].id, "USED-FOR", 0.5))
        annotations = Annotations(tuple(entities), tuple(relations))
        return AnnotatedDocument(document, annotations, MODEL)
