"""Promised precision: the thresholds that are chosen, what is written by them, and how often a promise is broken."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from random import Random

import pytest

from sciextract import Extractor
from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.errors import UsageError
from sciextract.inference.held_out import HeldOut, HeldOutItem, held_out, read_held_out
from sciextract.inference.promise import (
    ANY,
    NoPromiseError,
    keep_promise,
    keepable_promise,
    make_promise,
)
from sciextract.text.analyse import make_document


def world(random: Random, documents: int, skill: float) -> HeldOut:
    """Held-out items whose probability of being right is their score to a power; abstracts differ in difficulty."""
    items = []
    for number in range(documents):
        hard = random.uniform(0.7, 1.3)
        for _ in range(random.randint(3, 9)):
            score = random.random()
            items.append(HeldOutItem(number, "A", score, random.random() < score ** (skill * hard)))
    gold = sum(item.right for item in items)
    return HeldOut(
        "test",
        documents,
        {"entity": tuple(items), "relation": ()},
        {"entity": {"A": gold}, "relation": {}},
    )


def test_a_promise_is_broken_at_most_as_often_as_stated() -> None:
    random, broken, made = Random(7), 0, 0
    for _ in range(200):
        [label] = make_promise(world(random, 60, 1.0), {"entity": 0.8}, 0.9).labels
        if label.threshold is None:
            continue
        made += 1
        new = [e for e in world(random, 1000, 1.0).items["entity"] if e.score >= label.threshold]
        broken += sum(item.right for item in new) / len(new) < 0.8
    assert made >= 150, "the promise is possible here, and is made"
    assert broken <= 20


def test_a_promise_for_all_together_names_labels_that_are_worse_and_those_that_nothing_is_known_of() -> (
    None
):
    random = Random(3)
    items = [
        HeldOutItem(n % 50, "good", random.random(), random.random() < 0.97) for n in range(900)
    ]
    items += [
        HeldOutItem(n % 50, "bad", random.random(), random.random() < 0.4) for n in range(150)
    ]
    items += [HeldOutItem(n, "rare", 0.99, True) for n in range(3)]
    # A mention without a type is no entity: a promise does not count it.
    items += [HeldOutItem(n % 50, "", 0.99, False) for n in range(900)]
    gold = {"entity": {"good": 900, "bad": 90, "rare": 3, "never": 1}, "relation": {}}
    held = HeldOut("test", 50, {"entity": tuple(items), "relation": ()}, gold)
    [together] = make_promise(held, {"entity": 0.8}, 0.9).labels
    assert together.label == ANY and together.threshold is not None and together.precision > 0.8
    assert together.lower.keys() == {"bad"} and together.lower["bad"] < 0.6
    assert together.unknown == ("never", "rare")
    alone = make_promise(held, {"entity": 0.8}, 0.9, by_label=True).labels
    assert [part.label for part in alone if part.threshold is not None] == ["good"]


def test_what_cannot_be_promised_says_how_many_more_abstracts_it_takes() -> None:
    few = world(Random(1), 12, 0.2)
    [label] = make_promise(few, {"entity": 0.9}, 0.95).labels
    assert label.threshold is None and label.recall == 0
    assert label.further is not None
    [later] = make_promise(world(Random(1), 200, 0.2), {"entity": 0.9}, 0.95).labels
    assert later.threshold is not None and later.recall > 0
    [hopeless] = make_promise(world(Random(1), 60, 9.0), {"entity": 0.97}, 0.9).labels
    assert (hopeless.threshold, hopeless.further) == (None, None)


def test_a_promise_that_no_label_keeps_names_one_that_some_label_does() -> None:
    held = world(Random(1), 60, 1.0)
    with pytest.raises(NoPromiseError) as refused:
        keepable_promise(held, {"entity": 0.99}, 0.9)
    weaker = re.findall(r"entity=([0-9.]+) could", refused.value.hint)
    assert 0.5 < float(weaker[0]) < 0.99
    assert keepable_promise(held, {"entity": float(weaker[0])}, 0.9).labels[0].threshold


@pytest.mark.parametrize(
    ("wanted", "confidence"),
    [({"entity": 1.0}, 0.9), ({"entity": 0.0}, 0.9), ({"link": 0.5}, 0.9), ({"entity": 0.5}, 1.0)],
)
def test_impossible_promises_are_refused(wanted: dict[str, float], confidence: float) -> None:
    with pytest.raises(UsageError, match="is not possible"):
        make_promise(world(Random(1), 20, 1.0), wanted, confidence)


def entity(name: str, start: int, end: int, label: str, score: float) -> Entity:
    return Entity(
        id=name, fragments=(Span(start, end),), label=label, score=score, state=State.UNDECIDED
    )


def test_items_below_go_with_what_stands_on_them() -> None:
    document = make_document("d", "Alpha beats beta on gamma.")
    entities = (
        entity("a", 0, 5, "A", 0.9),
        entity("b", 12, 16, "A", 0.4),
        entity("c", 20, 25, "B", 0.9),
    )
    relations = (
        Relation(id="r", head="a", tail="b", label="R", score=0.9),
        Relation(id="s", head="a", tail="c", label="R", score=0.9),
    )
    clusters = (Cluster(id="k", mentions=("a", "b")),)
    found = AnnotatedDocument(document, Annotations(entities, relations, clusters))
    kept = keep_promise(found, [("entity", "A", 0.5), ("entity", "B", 0.5)]).annotations
    assert [entity.id for entity in kept.entities] == ["a", "c"]
    assert [relation.id for relation in kept.relations] == ["s"]
    assert kept.clusters == ()
    counts = keep_promise(found, [("entity", "A", 0.5), ("entity", "B", 0.5)]).held_back
    assert counts == {"entity A": 1, "relation R": 1}
    none = keep_promise(found, [("entity", "A", 0.5)]).annotations
    assert [entity.id for entity in none.entities] == ["a"], (
        "B is a promised task's label without a threshold"
    )
    assert keep_promise(found, [("relation", "R", 0.95)]).annotations.entities == entities


def test_a_relation_counts_where_both_of_its_ends_are_written() -> None:
    document = make_document("d", "Alpha beats beta.")
    gold = AnnotatedDocument(
        document,
        Annotations(
            (entity("a", 0, 5, "A", 1.0), entity("b", 12, 16, "A", 1.0)),
            (Relation(id="r", head="a", tail="b", label="R", score=1.0),),
        ),
    )
    held = held_out("test", [gold] * 40, [gold] * 40)
    assert held.gold == {"entity": {"A": 80}, "relation": {"R": 40}}
    promise = make_promise(held, {"entity": 0.8, "relation": 0.8}, 0.9, by_label=True)
    assert [(part.label, part.threshold, part.recall) for part in promise.labels] == [
        ("A", 1.0, 1.0),
        ("R", 1.0, 1.0),
    ]


def test_the_same_abstracts_give_the_same_bytes_in_every_process() -> None:
    script = (
        "import json; from sciextract.codec import plain; from sciextract.inference.held_out import held_out\n"
        "from tests.unit.inference.test_promise import *\n"
        "found = Annotations(tuple(entity(name, 0, 5, name, 1.0) for name in 'ABCDEFGH'))\n"
        "gold = [AnnotatedDocument(make_document('d', 'Alpha beats beta.'), found)]\n"
        "print(json.dumps(plain(held_out('test', gold, gold))))"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", script], env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(written) == 1


@pytest.mark.parametrize(
    ("model", "source", "text"),
    [
        (
            "sci",
            "SciERC dev",
            "We train a parser for dependency parsing. The parser beats a tagger.",
        ),
        ("bio", "BC5CDR", "Aspirin relieved migraine in mice and inhibited cyclooxygenase-2."),
    ],
)
def test_a_bundled_model_promises_by_labels_and_writes_nothing_else(
    model: str, source: str, text: str
) -> None:
    extractor, promise = Extractor.load(model, threads=1).promising({"entity": 0.8}, by_label=True)
    made = {part.label: part.threshold for part in promise.labels if part.threshold is not None}
    assert made and source in promise.source
    assert extractor.annotate(text).annotations.entities
    for entity in extractor.annotate(text).annotations.entities:
        assert entity.score is not None and entity.score >= made[entity.label]


def test_a_model_without_held_out_predictions_promises_nothing() -> None:
    with pytest.raises(UsageError, match="no precision can be promised of x@"):
        read_held_out(ModelId("x", "0" * 64), None)
