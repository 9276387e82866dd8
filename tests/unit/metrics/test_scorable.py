from __future__ import annotations

import pickle
from dataclasses import replace

from sciextract.documents.annotations import Annotations, Entity, Span, State
from sciextract.metrics.counts import ScoredEntity, TokenWidths, mention_of, scorable
from tests.unit.metrics.builders import annotated, words

TEXT = "graph parser for β-sheets 🧬 data"


def test_offsets_are_characters() -> None:
    document = scorable(annotated(TEXT, [("β-sheets", "Material"), ("🧬", "Material")]))
    assert document.entities == {
        ScoredEntity((17, 25), "Material"),
        ScoredEntity((26, 27), "Material"),
    }


def test_equal_items_with_different_ids_count_once() -> None:
    first = Entity("1", (Span(0, 5),), "Method")
    document = replace(
        annotated(TEXT), annotations=Annotations((first, replace(first, id="2", score=0.5)))
    )
    assert len(scorable(document).entities) == 1


def test_mentions_without_a_type_are_no_entities_but_stay_in_clusters() -> None:
    document = scorable(annotated(TEXT, [("graph", ""), ("data", "")], [], [("graph", "data")]))
    assert document.entities == frozenset()
    assert document.clusters == (frozenset({(0, 5), (28, 32)}),)


def test_a_rejected_entity_takes_its_relations_and_cluster_places_with_it() -> None:
    document = annotated(
        TEXT,
        [("graph", "Method"), ("data", "Material")],
        [("graph", "data", "USED-FOR")],
        [("graph", "data")],
    )
    graph, data = document.annotations.entities
    rejected = replace(document.annotations, entities=(graph, replace(data, state=State.REJECTED)))
    result = scorable(replace(document, annotations=rejected))
    assert result.entities == {ScoredEntity((0, 5), "Method")}
    assert result.relations == frozenset()
    assert result.clusters == (frozenset({(0, 5)}),)


def test_relations_carry_the_types_of_their_arguments() -> None:
    entities = [("graph", "Method"), ("data", "Material")]
    (only,) = scorable(annotated(TEXT, entities, [("graph", "data", "USED-FOR")])).relations
    assert (only.head.label, only.tail.label, only.label) == ("Method", "Material", "USED-FOR")


def test_all_fragments_make_a_mention() -> None:
    split = Entity("1", (Span(0, 5), Span(13, 16)), "Method")
    assert mention_of(split) == (0, 5, 13, 16)
    assert mention_of(split) != mention_of(Entity("2", (Span(0, 16),), "Method"))


def test_width_counts_touched_tokens() -> None:
    width = TokenWidths(words(TEXT))
    assert width((0, 12)) == 2
    assert width((3, 7)) == 2  # cuts both tokens
    assert width((5, 6)) == 0  # the space between
    assert width((0, 5, 28, 32)) == 6  # from the first to the last fragment


def test_a_scorable_travels_between_processes() -> None:
    document = scorable(annotated(TEXT, [("graph", "Method")]))
    assert pickle.loads(pickle.dumps(document)) == document
