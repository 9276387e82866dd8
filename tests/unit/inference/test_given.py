"""Given entities stay what they are; only relations and clusters between them are predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import Annotations, Entity, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.inference.results import annotate_given, given_of
from sciextract.inference.settings import DecodeSettings, PerTask
from tests.tiers import examples
from tests.unit.inference import fakes

SETTINGS = DecodeSettings(thresholds=PerTask(0.5, 0.3, 0.4))
MODEL = ModelId("fake", "0" * 64)


def document(spans: list[tuple[int, int]], labels: str = "TM", seed: int = 1) -> AnnotatedDocument:
    """A random document whose entities cover the given words; labels are taken in turn."""
    plain = fakes.random_document(seed, sentences=4, words=10)
    words = plain.tokens.spans
    names = {"T": "Task", "M": "Method", "X": "Gadget", "-": ""}
    entities = tuple(
        Entity(
            f"e{row}",
            (Span(words[first].char_start, words[last].char_end),),
            names[labels[row % len(labels)]],
        )
        for row, (first, last) in enumerate(spans)
    )
    return AnnotatedDocument(plain, Annotations(entities))


def test_the_entities_come_back_as_they_were() -> None:
    gold = document([(0, 1), (3, 3), (5, 9), (11, 12), (21, 21)])
    found = annotate_given(fakes.pipeline(), gold, SETTINGS, MODEL)
    assert found.annotations.entities == gold.annotations.entities
    assert found.annotations.relations and found.annotations.clusters
    ids = {entity.id for entity in gold.annotations.entities}
    for relation in found.annotations.relations:
        assert {relation.head, relation.tail} <= ids and relation.source == f"model:{MODEL}"
    assert all(set(cluster.mentions) <= ids for cluster in found.annotations.clusters)


def test_relations_of_the_input_are_not_looked_at() -> None:
    gold = document([(0, 1), (3, 3), (5, 6)])
    hint = Relation("r", "e0", "e1", "COMPARE")
    hinted = replace(gold, annotations=replace(gold.annotations, relations=(hint,)))
    first, second = (
        annotate_given(fakes.pipeline(), document, SETTINGS) for document in (gold, hinted)
    )
    assert first == second


def test_types_are_certain_and_unknown_ones_are_said() -> None:
    found = given_of(document([(0, 0), (2, 2), (4, 4), (6, 6)], "TMX-"), fakes.LABELS)
    np.testing.assert_array_equal(found.mentions.types.argmax(axis=1), [1, 2, 0, 0])
    np.testing.assert_array_equal(found.mentions.types.sum(axis=1), [1, 1, 1, 1])
    assert found.unknown == {"Gadget": 1}
    result = annotate_given(fakes.pipeline(), document([(0, 0)], "X"), SETTINGS)
    assert result.warnings == (
        "given entities with types that the model does not know: Gadget (1)",
    )


def test_an_entity_that_cuts_a_word_takes_the_whole_word() -> None:
    gold = document([])
    spans = enumerate(gold.document.tokens.spans)
    word, span = next(entry for entry in spans if entry[1].char_end - entry[1].char_start > 1)
    cut = Entity("cut", (Span(span.char_start, span.char_end - 1),), "Task")
    found = given_of(replace(gold, annotations=Annotations((cut,))), fakes.LABELS)
    np.testing.assert_array_equal(found.mentions.spans, [[word, word]])


def test_rejected_entities_take_no_part_and_stay() -> None:
    gold = document([(0, 1), (3, 3)])
    rejected = replace(gold.annotations.entities[0], state=State.REJECTED)
    entities = (rejected, gold.annotations.entities[1])
    decided = replace(gold, annotations=Annotations(entities))
    found = annotate_given(fakes.pipeline(), decided, SETTINGS)
    assert found.annotations.entities == entities and not found.annotations.relations


def test_wider_than_any_predicted_entity() -> None:
    wide = document([(0, 7), (8, 9)])
    found = annotate_given(fakes.pipeline(), wide, replace(SETTINGS, thresholds=PerTask(0.5, 0, 0)))
    assert len(found.annotations.relations) == 1


def test_two_entities_on_the_same_words_are_judged_once() -> None:
    gold = document([(0, 1), (0, 1), (3, 3)])
    found = annotate_given(fakes.pipeline(), gold, replace(SETTINGS, thresholds=PerTask(0.5, 0, 0)))
    assert len(found.annotations.entities) == 3
    [relation] = found.annotations.relations
    assert {relation.head, relation.tail} == {"e0", "e2"}


def test_without_entities_there_is_nothing() -> None:
    found = annotate_given(fakes.pipeline(), document([]), SETTINGS)
    assert not found.annotations.entities and not found.annotations.relations


def test_windows_change_nothing() -> None:
    spans = [(word, word + word % 2) for word in range(0, 38, 3)]
    gold = document(spans)
    whole = annotate_given(fakes.pipeline(limit=100_000), gold, SETTINGS)
    cut = annotate_given(fakes.pipeline(limit=60), gold, SETTINGS)
    assert whole == cut and whole.annotations.relations


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 6)), max_size=12),
    st.text("TMX-", min_size=1, max_size=4),
    st.integers(0, 5),
)
def test_any_entities_come_back(starts: list[tuple[int, int]], labels: str, seed: int) -> None:
    spans = [(first, min(39, first + width)) for first, width in starts]
    gold = document(spans, labels, seed)
    found = annotate_given(fakes.pipeline(), gold, SETTINGS)
    assert found.annotations.entities == gold.annotations.entities
    known = {entity.id for entity in gold.annotations.entities}
    assert all({r.head, r.tail} <= known for r in found.annotations.relations)
