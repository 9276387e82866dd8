"""Invented abstracts with what is right about them, what a model says, and desks that show them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakSet

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
    TokenRange,
)
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.schema_file import load_schema
from sciextract.store import EntityRef, Project, create_project
from sciextract.store.ingest import Import, ModelRun
from sciextract.text.analyse import analyse
from sciextract_app.review.keys.desk import Desk
from tests.unit.store.projects import FIRST_MODEL

TEXT = (
    "We present a graph tagger for noun chunking in legal contracts. "
    "The tagger combines a lattice encoder with a label lexicon and is trained on the Ledger corpus. "
    "It is compared with a window baseline that uses surface features. "
    "On the Ledger corpus, our approach improves chunk F1 and tagging speed over the baseline. "
    "An error study shows that nested clauses remain hard for the lattice encoder."
)
AGAIN = "The graph tagger is a graph tagger."
#: Name, string, its number among equal strings, type.
MENTIONS = (
    ("tagger1", "graph tagger", 0, "Method"),
    ("task", "noun chunking", 0, "Task"),
    ("contracts", "legal contracts", 0, "Material"),
    ("tagger2", "tagger", 1, "Generic"),
    ("encoder", "lattice encoder", 0, "Method"),
    ("lexicon", "label lexicon", 0, "Material"),
    ("corpus", "Ledger corpus", 0, "Material"),
    ("it", "It", 0, "Generic"),
    ("window", "window baseline", 0, "Method"),
    ("features", "surface features", 0, "OtherScientificTerm"),
    ("corpus2", "Ledger corpus", 1, "Material"),
    ("approach", "approach", 0, "Generic"),
    ("f1", "chunk F1", 0, "Metric"),
    ("speed", "tagging speed", 0, "Metric"),
    ("baseline2", "baseline", 1, "Generic"),
    ("clauses", "nested clauses", 0, "OtherScientificTerm"),
)
RELATIONS = (
    ("tagger1", "task", "USED-FOR"),
    ("encoder", "tagger2", "PART-OF"),
    ("lexicon", "tagger2", "PART-OF"),
    ("corpus", "tagger2", "USED-FOR"),
    ("it", "window", "COMPARE"),
    ("features", "window", "USED-FOR"),
    ("f1", "approach", "EVALUATE-FOR"),
    ("speed", "approach", "EVALUATE-FOR"),
    ("f1", "speed", "CONJUNCTION"),
)
CLUSTERS = (("tagger1", "tagger2", "it", "approach"), ("window", "baseline2"))
SCIERC = load_schema("scierc")
MADE: WeakSet[Project] = WeakSet()
"""Projects of the running test, which closes them."""
SYMMETRIC = SCIERC.symmetric_labels

Mention = tuple[int, int, str]
Truth = tuple[
    frozenset[Mention],
    frozenset[tuple[frozenset[Mention] | tuple[Mention, ...], str]],
    frozenset[frozenset[Mention]],
]


@dataclass(frozen=True)
class Said:
    """Annotations by name."""

    entities: dict[str, Entity]
    relations: tuple[Relation, ...]
    clusters: tuple[Cluster, ...]

    @property
    def annotations(self) -> Annotations:
        """Without what lost its mentions."""
        known = self.entities.keys()
        relations = tuple(r for r in self.relations if {r.head, r.tail} <= known)
        clusters = tuple(
            replace(c, mentions=kept, mention_scores=(0.9,) * len(kept))
            for c in self.clusters
            if len(kept := tuple(m for m in c.mentions if m in known)) > 1
        )
        return Annotations(tuple(self.entities.values()), relations, clusters)


def document(text: str = TEXT, doc_key: str = "d") -> Document:
    """A document with the tokens that sciextract gives it."""
    return Document(doc_key, text, analyse(text, []), {"title": doc_key})


def place(word: str, occurrence: int = 0, text: str = TEXT) -> Span:
    """Where a string stands, by its number from zero."""
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(word, start + 1)
    return Span(start, start + len(word))


def gold() -> Said:
    """What is right about the abstract."""
    entities = {
        name: Entity(name, (place(word, which),), label, 0.9)
        for name, word, which, label in MENTIONS
    }
    relations = tuple(
        Relation(f"{head} {tail}", head, tail, label, 0.9) for head, tail, label in RELATIONS
    )
    return Said(entities, relations, tuple(Cluster(f"of {c[0]}", c, 0.9) for c in CLUSTERS))


def corrupted(seed: int, wrong: float = 0.3) -> Said:
    """What a model says that is right about most of it; always the same for a seed."""
    chance, right = random.Random(seed), gold()
    entities = dict(right.entities)
    for name in chance.sample(sorted(entities), round(wrong * len(entities))):
        _spoil(entities, name, chance)
    spare = Span(*_edges("error study"))
    entities["spurious"] = Entity("spurious", (spare,), "Method", 0.6)
    relations = list(right.relations)
    for index in sorted(chance.sample(range(len(relations)), 3), reverse=True):
        _spoil_relation(relations, index, entities, chance)
    return Said(entities, tuple(relations), _spoiled_clusters(right.clusters, chance))


def _edges(word: str) -> tuple[int, int]:
    span = place(word)
    return span.char_start, span.char_end


def _spoil(entities: dict[str, Entity], name: str, chance: random.Random) -> None:
    """Another type, another edge, or nothing at all."""
    kind, entity = chance.choice(("type", "edge", "missing")), entities[name]
    if kind == "missing":
        del entities[name]
    elif kind == "type":
        others = [label for label in SCIERC.entity_labels if label != entity.label]
        entities[name] = replace(entity, label=chance.choice(others), score=0.6)
    else:
        tokens = document().tokens
        range_ = tokens.aligned(entity.span)
        assert range_ is not None
        step = -1 if len(range_) > 1 else 1
        moved = TokenRange(range_.token_start, range_.token_end + step)
        entities[name] = replace(entity, fragments=(tokens.char_span(moved),), score=0.6)


def _spoil_relation(
    relations: list[Relation], index: int, entities: dict[str, Entity], chance: random.Random
) -> None:
    """Another type, the wrong direction, or nothing at all."""
    kind, relation = chance.choice(("type", "direction", "missing")), relations[index]
    if kind == "missing":
        del relations[index]
    elif kind == "direction" and relation.label not in SYMMETRIC:
        turned = replace(relation, head=relation.tail, tail=relation.head, score=0.6)
        relations[index] = turned
    else:
        label = "FEATURE-OF" if relation.label != "FEATURE-OF" else "USED-FOR"
        relations[index] = replace(relation, label=label, score=0.6)


def _spoiled_clusters(clusters: tuple[Cluster, ...], chance: random.Random) -> tuple[Cluster, ...]:
    """One mention is deleted."""
    first = clusters[0]
    forgotten = chance.choice(first.mentions[1:])
    kept = tuple(mention for mention in first.mentions if mention != forgotten)
    return (replace(first, mentions=kept), *clusters[1:])


def project_with(
    folder: Path, said: Said | Annotations | None, texts: Iterable[str] = (TEXT,)
) -> Project:
    """A project of the SciERC schema, with a model's predictions on its first abstract."""
    project = create_project(folder / "p.sciextract", SCIERC, "ann")
    MADE.add(project)
    documents = [document(text, f"d{place}") for place, text in enumerate(texts, start=1)]
    job = Import(project, "import:a.jsonl", {"path": "a.jsonl"})
    job.add([(AnnotatedDocument(doc), ()) for doc in documents])
    if said is not None:
        predict(project, said, documents[0])
    return project


def predict(
    project: Project,
    said: Said | Annotations,
    on: Document,
    number: int = 1,
    *,
    background: bool = False,
) -> None:
    """One run of a model on one abstract."""
    annotations = said.annotations if isinstance(said, Said) else said
    run = ModelRun(project, FIRST_MODEL, {}, background=background)
    run.add([(number, AnnotatedDocument(on, annotations, FIRST_MODEL))])
    run.finish()


def truth_of(annotations: Annotations) -> Truth:
    """What annotations say, without ids."""
    mentions = {e.id: (e.span.char_start, e.span.char_end, e.label) for e in annotations.entities}
    relations: set[tuple[frozenset[Mention] | tuple[Mention, ...], str]] = set()
    for relation in annotations.relations:
        ends = (mentions[relation.head], mentions[relation.tail])
        relations.add((frozenset(ends) if relation.label in SYMMETRIC else ends, relation.label))
    clusters = {frozenset(mentions[m] for m in c.mentions) for c in annotations.clusters}
    return frozenset(mentions.values()), frozenset(relations), frozenset(clusters)


def share_right(said: Said) -> float:
    """The share of predicted items that are exactly right: mentions, relations, links to the first mention."""
    found, right = _items(said), _items(gold())
    return len(found & right) / len(found)


def _items(said: Said) -> set[object]:
    mentions, relations, _ = truth_of(said.annotations)
    links = {
        ("link", said.entities[c.mentions[0]].span, said.entities[m].span)
        for c in said.annotations.clusters
        for m in c.mentions[1:]
    }
    return {*mentions, *relations, *links}


def press(desk: Desk, keys: str) -> int:
    """Press keys, separated by spaces; returns how many. A refusal is a mistake of the test."""
    found = keys.split()
    for key in found:
        feedback = desk.press(key)
        assert not feedback.problem, f"{key}: {feedback.message}"
    return len(found)


def states(desk: Desk) -> dict[str, State]:
    """States of all mentions by id, rejected ones too."""
    return {row.id: row.state for row in desk.state.open_view.document.entities}


def focus(desk: Desk, name: str) -> None:
    """Make a mention the focus."""
    assert not desk.focus_item(EntityRef(name)).problem


def row(desk: Desk, name: str) -> Entity:
    """A mention of the first abstract, in any state."""
    return desk.state.project.document(1, frozenset(State)).annotations.entity(name)
