"""What an item says to a model, by its state, by those of its entities, and by what stands beside it."""

from __future__ import annotations

import pytest

from sciextract.documents.annotations import (
    Annotations,
    Cluster,
    Entity,
    Layer,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.snapshot.documents import TrainingDocument, Verdict, Verdicts, verdicts_of
from tests.unit.store.projects import cluster, document, entity, relation, said

POSITIVE, NEGATIVE, MASKED = Verdict.POSITIVE, Verdict.NEGATIVE, Verdict.MASKED
NET, GRAPH, LATER = Span(2, 7), Span(8, 11), Span(24, 27)


def judged(*items: Entity | Relation | Cluster, done: tuple[Layer, ...] = ()) -> Verdicts:
    annotated = AnnotatedDocument(document(), said(*items))
    return verdicts_of(TrainingDocument(annotated, frozenset(done)))


def with_state(state: State, span: Span = NET, entity_id: str = "A") -> Entity:
    return entity(entity_id, span, state=state)


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (State.IMPORTED, POSITIVE),
        (State.ACCEPTED, POSITIVE),
        (State.EDITED, POSITIVE),
        (State.ADDED, POSITIVE),
        (State.REJECTED, NEGATIVE),
        (State.UNDECIDED, MASKED),
    ],
)
def test_an_entity_says_what_its_state_says(state: State, verdict: Verdict) -> None:
    assert judged(with_state(state)).entities == {"A": verdict}


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        ((State.REJECTED, State.ACCEPTED), POSITIVE),
        ((State.REJECTED, State.UNDECIDED), MASKED),
        ((State.UNDECIDED, State.ADDED), POSITIVE),
        ((State.REJECTED, State.REJECTED), NEGATIVE),
    ],
)
def test_a_span_says_what_its_entities_say_together(
    states: tuple[State, State], verdict: Verdict
) -> None:
    first, second = (
        with_state(state, entity_id=name) for state, name in zip(states, "AB", strict=True)
    )
    assert judged(first, second).spans == {(NET,): verdict}


@pytest.mark.parametrize("done", [(), tuple(Layer)])
@pytest.mark.parametrize("state", [State.ACCEPTED, State.REJECTED, State.UNDECIDED])
def test_an_undecided_argument_masks_a_relation_in_any_layer(
    state: State, done: tuple[Layer, ...]
) -> None:
    found = judged(
        with_state(State.UNDECIDED),
        entity("B", GRAPH),
        relation("R", "A", "B", state=state),
        done=done,
    )
    assert found.relations == {"R": MASKED}


@pytest.mark.parametrize(
    ("state", "verdict"),
    [(State.EDITED, POSITIVE), (State.REJECTED, NEGATIVE), (State.UNDECIDED, MASKED)],
)
def test_a_relation_of_decided_entities_says_what_its_state_says(
    state: State, verdict: Verdict
) -> None:
    found = judged(entity("A", NET), entity("B", GRAPH), relation("R", "A", "B", state=state))
    assert found.relations == {"R": verdict}


def test_what_went_with_a_rejected_entity_is_negative() -> None:
    gone = with_state(State.REJECTED)
    lost = relation("R", "A", "B", state=State.REJECTED)
    assert judged(gone, entity("B", GRAPH), lost).relations == {"R": NEGATIVE}


@pytest.mark.parametrize(
    ("twin", "done", "verdict"),
    [
        (State.ADDED, False, MASKED),
        (State.ADDED, True, NEGATIVE),
        (State.UNDECIDED, False, MASKED),
        (State.UNDECIDED, True, MASKED),
    ],
)
def test_another_entity_on_the_span_of_a_rejected_one(
    twin: State, done: bool, verdict: Verdict
) -> None:
    found = judged(
        with_state(State.REJECTED),
        with_state(twin, entity_id="C"),
        entity("B", GRAPH),
        relation("R", "A", "B", state=State.REJECTED),
        done=tuple(Layer) if done else (),
    )
    assert found.relations == {"R": verdict}


def test_a_file_that_contradicts_itself_says_nothing() -> None:
    kept = relation("R", "A", "B", state=State.ACCEPTED)
    found = judged(with_state(State.REJECTED), entity("B", GRAPH), kept)
    assert found.relations == {"R": MASKED}


def three(*states: State) -> Annotations:
    """Three mentions, the cluster of them with a state for each."""
    mentions = (entity("A", NET), entity("B", GRAPH), entity("C", LATER))
    return Annotations(
        mentions, (), (Cluster("X", ("A", "B", "C"), state=State.ACCEPTED, mention_states=states),)
    )


@pytest.mark.parametrize(
    ("states", "pairs"),
    [
        ((State.ACCEPTED, State.ACCEPTED, State.ADDED), (POSITIVE, POSITIVE, POSITIVE)),
        ((State.ACCEPTED, State.REJECTED, State.ACCEPTED), (NEGATIVE, POSITIVE, NEGATIVE)),
        ((State.ACCEPTED, State.UNDECIDED, State.ACCEPTED), (MASKED, POSITIVE, MASKED)),
        ((State.ACCEPTED, State.REJECTED, State.REJECTED), (NEGATIVE, NEGATIVE, MASKED)),
        ((State.UNDECIDED, State.REJECTED, State.REJECTED), (MASKED, MASKED, MASKED)),
    ],
)
def test_pairs_of_a_cluster(
    states: tuple[State, State, State], pairs: tuple[Verdict, Verdict, Verdict]
) -> None:
    annotated = AnnotatedDocument(document(), three(*states))
    found = verdicts_of(TrainingDocument(annotated, frozenset())).pairs
    assert (found["A", "B"], found["A", "C"], found["B", "C"]) == pairs


def test_two_that_left_a_cluster_are_apart_where_coreference_is_done() -> None:
    states = (State.ACCEPTED, State.REJECTED, State.REJECTED)
    annotated = AnnotatedDocument(document(), three(*states))
    found = verdicts_of(TrainingDocument(annotated, frozenset({Layer.COREFERENCE})))
    assert set(found.pairs.values()) == {NEGATIVE}
    assert found.settled == {"A", "B", "C"}


def test_two_that_are_all_a_rejected_cluster_had_do_not_mean_the_same() -> None:
    apart = cluster("X", "A", "B", state=State.REJECTED)
    assert judged(entity("A", NET), entity("B", GRAPH), apart).pairs == {("A", "B"): NEGATIVE}


def test_one_cluster_may_say_what_another_does_not() -> None:
    apart = cluster("X", "A", "B", state=State.REJECTED)
    together = cluster("Y", "B", "A")
    proposed = cluster("Z", "A", "B", state=State.UNDECIDED)
    entities = (entity("A", NET), entity("B", GRAPH))
    assert judged(*entities, apart, together).pairs == {("A", "B"): POSITIVE}
    assert judged(*entities, proposed, apart).pairs == {("A", "B"): NEGATIVE}


@pytest.mark.parametrize("done", [(), tuple(Layer)])
def test_an_undecided_mention_masks_its_links_in_any_layer(done: tuple[Layer, ...]) -> None:
    found = judged(
        with_state(State.UNDECIDED), entity("B", GRAPH), cluster("X", "A", "B"), done=done
    )
    assert found.mentions == {("X", "A"): MASKED, ("X", "B"): POSITIVE}
    assert found.pairs == {("A", "B"): MASKED}
    assert "A" not in found.settled


def test_links_are_complete_where_coreference_is_done_and_nothing_of_the_mention_is_undecided() -> (
    None
):
    items = (
        entity("A", NET),
        entity("B", GRAPH),
        entity("C", LATER),
        Cluster(
            "X", ("A", "B"), mention_states=(State.ACCEPTED, State.UNDECIDED), state=State.ACCEPTED
        ),
    )
    assert judged(*items, done=(Layer.COREFERENCE,)).settled == {"C"}
    assert judged(*items, done=(Layer.ENTITIES, Layer.RELATIONS)).settled == frozenset()
