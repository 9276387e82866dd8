from __future__ import annotations

from sciextract.metrics.counts import ScoredRelation, Tally
from sciextract.metrics.scorer import relation_tallies, tally
from tests.unit.metrics.builders import entity, relation, scored

SYMMETRIC = frozenset({"COMPARE"})
A, B, C = entity(0, 1, "Method"), entity(2, 3, "Task"), entity(4, 5, "Metric")


def tallies(
    gold: list[ScoredRelation], predicted: list[ScoredRelation], strict: bool = False
) -> tuple[Tally, ...]:
    found = relation_tallies(scored([], gold), scored([], predicted), SYMMETRIC, strict=strict)
    return found.ordered, found.unordered, found.doubled, found.directed


def test_a_flipped_symmetric_relation_is_wrong_only_when_directed() -> None:
    ordered, unordered, doubled, directed = tallies(
        [relation(A, B, "COMPARE")], [relation(B, A, "COMPARE")]
    )
    assert ordered == unordered == Tally(1, 1, 1, 1)
    assert doubled == Tally(2, 2, 2, 2)
    assert directed == Tally(0, 1, 0, 1)


def test_a_flipped_directed_relation_is_always_wrong() -> None:
    assert tallies([relation(A, B)], [relation(B, A)]) == (Tally(0, 1, 0, 1),) * 4


def test_doubled_counts_symmetric_relations_twice_on_every_side() -> None:
    gold = [relation(A, B), relation(B, C, "COMPARE"), relation(A, C, "COMPARE")]
    predicted = [relation(A, B), relation(C, B, "COMPARE"), relation(C, A, "PART-OF")]
    assert tallies(gold, predicted) == (
        Tally(2, 3, 2, 3),
        Tally(2, 3, 2, 3),
        Tally(3, 4, 3, 5),
        Tally(1, 3, 1, 3),
    )


def test_both_directions_of_one_symmetric_pair_count_once_unordered() -> None:
    both = [relation(A, B, "COMPARE"), relation(B, A, "COMPARE")]
    assert tallies([relation(A, B, "COMPARE")], both) == (
        Tally(1, 2, 1, 1), Tally(1, 1, 1, 1), Tally(2, 2, 2, 2), Tally(1, 2, 1, 1),
    )  # fmt: skip


def test_a_pair_may_have_two_labels() -> None:
    two = [relation(A, B), relation(A, B, "PART-OF")]
    assert tallies(two, two)[0] == Tally(2, 2, 2, 2)


def test_strict_wants_the_types_of_both_arguments() -> None:
    gold, predicted = [relation(A, B)], [relation(A, B._replace(label="Metric"))]
    assert tallies(gold, predicted)[0] == Tally(1, 1, 1, 1)
    assert tallies(gold, predicted, strict=True)[0] == Tally(0, 1, 0, 1)


def test_strict_types_move_with_their_argument_when_the_pair_is_turned() -> None:
    right = tallies([relation(A, B, "COMPARE")], [relation(B, A, "COMPARE")], strict=True)
    assert right[1] == Tally(1, 1, 1, 1)
    swapped = relation(entity(2, 3, "Method"), entity(0, 1, "Task"), "COMPARE")
    assert tallies([relation(A, B, "COMPARE")], [swapped], strict=True)[1] == Tally(0, 1, 0, 1)


def test_labels_are_counted_by_boundaries_and_in_order() -> None:
    gold = scored([], [relation(A, B), relation(B, C, "COMPARE"), relation(A, C, "PART-OF")])
    wrong = B._replace(label="Metric")
    found = [relation(A, wrong), relation(C, B, "COMPARE"), relation(C, A, "PART-OF")]
    counts = tally(gold, scored([], found), SYMMETRIC)
    assert {
        path[2]: variant for path, variant in counts.items() if path[:2] == ("relation", "labels")
    } == {"USED-FOR": Tally(1, 1, 1, 1), "COMPARE": Tally(1, 1, 1, 1), "PART-OF": Tally(0, 1, 0, 1)}
