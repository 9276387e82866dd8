from __future__ import annotations

from sciextract.metrics.counts import Scorable, Tally
from sciextract.metrics.scorer import tally
from tests.unit.metrics.builders import entity, scored


def count(gold: Scorable, predicted: Scorable, rule: str = "all") -> Tally:
    return tally(gold, predicted, frozenset())["ner", rule]


def test_mention_and_label_must_be_right() -> None:
    gold = scored([entity(0, 2), entity(3, 4, "Method"), entity(5, 6)])
    predicted = scored([entity(0, 2), entity(3, 4, "Task")])
    assert count(gold, predicted) == Tally(1, 2, 1, 3)


def test_nested_entities_count_each() -> None:
    gold = scored([entity(0, 4), entity(1, 2)])
    assert count(gold, scored([entity(1, 2)])) == Tally(1, 1, 1, 2)


def test_the_dygie_rule_forgets_gold_wider_than_eight_tokens() -> None:
    gold = scored([entity(0, 8), entity(10, 19)])
    predicted = scored([entity(0, 8), entity(30, 31)])
    assert count(gold, predicted) == Tally(1, 2, 1, 2)
    assert count(gold, predicted, "width8") == Tally(1, 2, 1, 1)


def test_the_dygie_rule_forgets_wide_predictions_too() -> None:
    gold, predicted = scored([entity(0, 9)]), scored([entity(0, 9), entity(20, 30)])
    assert count(gold, predicted, "width8") == Tally(0, 0, 0, 0)


def test_labels_of_either_side_are_listed() -> None:
    gold = scored([entity(0, 1, "Task"), entity(1, 2, "Method")])
    predicted = scored([entity(0, 1, "Task"), entity(1, 2, "Metric")])
    found = tally(gold, predicted, frozenset())
    assert {path[2]: counts for path, counts in found.items() if path[1] == "labels"} == {
        "Task": Tally(1, 1, 1, 1),
        "Method": Tally(0, 0, 0, 1),
        "Metric": Tally(0, 1, 0, 0),
    }
