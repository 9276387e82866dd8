"""Three invented abstracts, corrected by keys alone: how many keys beyond the ideal ones they take.

Ideal is one key for a decision and for each word that an edge moves, four for a new mention, three for a relation, two for a
place in a cluster, one for the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sciextract.documents.annotations import Cluster, Entity, Relation
from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import Said, place, project_with, truth_of
from tests.app.review.annotator import Annotator

MOST = 1.08
"""Keys that are pressed, per ideal key."""


@dataclass(frozen=True)
class Abstract:
    """A text with what is right about it, and where a model is wrong.

    Attributes:
        text: The text.
        mentions: String, its number among equal strings, type; named by their places in this tuple.
        relations: Head, tail, type.
        clusters: Mentions that mean the same.
        missed: Mentions that the model does not find.
        typed: The type that the model gives instead.
        shorter: Mentions that the model ends a word too early.
        unrelated: Places of the relations that it does not find.
        alone: Mentions that it leaves out of their cluster.
    """

    text: str
    mentions: tuple[tuple[str, int, str], ...]
    relations: tuple[tuple[int, int, str], ...]
    clusters: tuple[tuple[int, ...], ...]
    missed: frozenset[int]
    typed: dict[int, str]
    shorter: frozenset[int]
    unrelated: frozenset[int]
    alone: frozenset[int]

    def right(self) -> Said:
        """What is right."""
        entities = {
            f"m{at}": Entity(f"m{at}", (place(word, which, self.text),), label, 0.9)
            for at, (word, which, label) in enumerate(self.mentions)
        }
        relations = tuple(
            Relation(f"r{at}", f"m{head}", f"m{tail}", label, 0.9)
            for at, (head, tail, label) in enumerate(self.relations)
        )
        clusters = tuple(
            Cluster(f"c{at}", tuple(f"m{member}" for member in members), 0.9)
            for at, members in enumerate(self.clusters)
        )
        return Said(entities, relations, clusters)

    def predicted(self) -> Said:
        """What a model says."""
        right = self.right()
        entities = {
            name: entity
            for name, entity in right.entities.items()
            if int(name[1:]) not in self.missed
        }
        for at, label in self.typed.items():
            entities[f"m{at}"] = replace(entities[f"m{at}"], label=label, score=0.6)
        for at in self.shorter:
            span = entities[f"m{at}"].span
            end = span.char_start + self.text[span.char_start : span.char_end].rindex(" ")
            entities[f"m{at}"] = replace(
                entities[f"m{at}"], fragments=(span._replace(char_end=end),)
            )
        relations = tuple(
            relation for at, relation in enumerate(right.relations) if at not in self.unrelated
        )
        clusters = tuple(
            replace(cluster, mentions=kept)
            for cluster in right.clusters
            if len(kept := tuple(m for m in cluster.mentions if int(m[1:]) not in self.alone)) > 1
        )
        return Said(entities, relations, clusters)


ABSTRACTS = {
    "translation": Abstract(
        "We propose a pivot decoder for translation of rare dialects. The decoder shares subword tables "
        "with a copy network and is trained on the Harbour corpus. Compared with a phrase table, it "
        "raises chrF on sermon transcripts, and the copy network reduces omissions. The pivot decoder "
        "needs no aligned text.",
        (
            ("pivot decoder", 0, "Method"), ("translation of rare dialects", 0, "Task"),
            ("decoder", 1, "Generic"), ("subword tables", 0, "OtherScientificTerm"),
            ("copy network", 0, "Method"), ("Harbour corpus", 0, "Material"),
            ("phrase table", 0, "Method"), ("it", 2, "Generic"), ("chrF", 0, "Metric"),
            ("sermon transcripts", 0, "Material"), ("copy network", 1, "Method"),
            ("omissions", 0, "OtherScientificTerm"), ("pivot decoder", 1, "Method"),
            ("aligned text", 0, "Material"),
        ),
        (
            (0, 1, "USED-FOR"), (3, 2, "USED-FOR"), (4, 2, "CONJUNCTION"), (5, 2, "USED-FOR"),
            (6, 7, "COMPARE"), (8, 7, "EVALUATE-FOR"), (9, 7, "EVALUATE-FOR"), (10, 11, "USED-FOR"),
        ),
        ((0, 2, 7, 12), (4, 10)),
        frozenset({8, 13}), {3: "Method", 11: "Task"}, frozenset({1}), frozenset({3, 5, 7}), frozenset({12}),
    ),
    "parsing": Abstract(
        "Sentence skeletons are predicted by a two-stage tagger. The first stage marks clause borders, and a "
        "chart filter removes impossible spans. Both stages use character embeddings. On the Lantern "
        "treebank the tagger reaches a span accuracy above that of a transition parser. Errors of the "
        "parser concern coordination.",
        (
            ("Sentence skeletons", 0, "OtherScientificTerm"), ("two-stage tagger", 0, "Method"),
            ("clause borders", 0, "OtherScientificTerm"), ("chart filter", 0, "Method"),
            ("impossible spans", 0, "OtherScientificTerm"), ("character embeddings", 0, "Method"),
            ("Lantern treebank", 0, "Material"), ("tagger", 1, "Generic"),
            ("span accuracy", 0, "Metric"), ("transition parser", 0, "Method"),
            ("parser", 1, "Generic"), ("coordination", 0, "OtherScientificTerm"),
        ),
        (
            (1, 0, "USED-FOR"), (3, 4, "USED-FOR"), (6, 7, "EVALUATE-FOR"),
            (8, 7, "EVALUATE-FOR"), (7, 9, "COMPARE"),
        ),
        ((1, 7), (9, 10)),
        frozenset({2, 11}), {5: "OtherScientificTerm"}, frozenset({6, 8}), frozenset({1, 2}), frozenset({10}),
    ),
    "dialogue": Abstract(
        "A memory planner keeps the goals of a booking dialogue. The planner scores requests with a slot "
        "model and asks back when the slot model is unsure. Experiments on the Quay dialogues show fewer "
        "turns and a higher success rate than a rule script. The planner and the rule script share a "
        "request grammar.",
        (
            ("memory planner", 0, "Method"), ("booking dialogue", 0, "Task"),
            ("planner", 1, "Generic"), ("requests", 0, "OtherScientificTerm"),
            ("slot model", 0, "Method"), ("slot model", 1, "Method"),
            ("Quay dialogues", 0, "Material"), ("turns", 0, "Metric"), ("success rate", 0, "Metric"),
            ("rule script", 0, "Method"), ("planner", 2, "Generic"), ("rule script", 1, "Method"),
            ("request grammar", 0, "OtherScientificTerm"),
        ),
        (
            (0, 1, "USED-FOR"), (4, 3, "USED-FOR"), (7, 8, "CONJUNCTION"), (7, 9, "EVALUATE-FOR"),
            (10, 11, "CONJUNCTION"), (12, 10, "USED-FOR"),
        ),
        ((0, 2, 10), (4, 5), (9, 11)),
        frozenset({7}), {12: "Method"}, frozenset(), frozenset({2, 3, 5}), frozenset({10, 11}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ABSTRACTS)
def test_an_abstract_takes_hardly_more_keys_than_it_must(tmp_path: Path, name: str) -> None:
    abstract = ABSTRACTS[name]
    project = project_with(tmp_path, abstract.predicted(), (abstract.text,))
    annotator = Annotator(Desk(project), abstract.right())
    keys = annotator.work()
    ideal = keys - annotator.travel
    print(f"{name}: {keys} keys, {ideal} ideal, {keys / ideal:.2f}: {' '.join(annotator.keys)}")
    assert truth_of(project.document(1).annotations) == truth_of(abstract.right().annotations)
    assert keys <= MOST * ideal
