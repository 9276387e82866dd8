from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sciextract.documents.annotations import ALL_LAYERS, Layer
from sciextract.metrics import promotion
from sciextract.metrics.counts import Scorable, ScoredEntity, ScoredRelation
from sciextract.metrics.promotion import (
    CROSS_VALIDATED,
    FAVOURS,
    HELD_OUT,
    TOLERANCES,
    GateReport,
    compare_models,
)
from sciextract.metrics.scorer import score
from tests.unit.metrics.builders import entity, relation, scored

ALL = ALL_LAYERS
SYMMETRIC = frozenset({"COMPARE"})
LABELS = ("Task", "Method", "Metric")


def gold_document() -> Scorable:
    """Twelve entities of three labels, six relations of two labels, three clusters."""
    entities = [entity(at, at + 1, LABELS[at % 3]) for at in range(12)]
    pairs = zip(entities[:6], entities[6:], strict=True)
    relations = [
        relation(head, tail, ("USED-FOR", "COMPARE")[at % 2])
        for at, (head, tail) in enumerate(pairs)
    ]
    return scored(entities, relations, "abc de fg")


GOLD = [gold_document() for _ in range(40)]


def predicted(rate: float, seed: int, gold: Sequence[Scorable] = tuple(GOLD)) -> list[Scorable]:
    """What a system says that finds each item with that probability and errs as often as it misses."""
    generator = np.random.default_rng(seed)
    return [_seen(document, rate, generator) for document in gold]


def _seen(gold: Scorable, rate: float, generator: np.random.Generator) -> Scorable:
    entities = {_or_wrong(entity, rate, generator) for entity in sorted(gold.entities)}
    relations = [relation for relation in sorted(gold.relations) if generator.random() < rate]
    clusters = [
        frozenset([mention for mention in sorted(cluster) if generator.random() < rate])
        for cluster in gold.clusters
    ]
    return replace(
        gold,
        entities=frozenset(entities),
        relations=frozenset(relations),
        clusters=tuple([cluster for cluster in clusters if cluster]),
    )


def _or_wrong(item: ScoredEntity, rate: float, generator: np.random.Generator) -> ScoredEntity:
    return item if generator.random() < rate else item._replace(label="Generic")


def compared(
    before: list[Scorable],
    after: list[Scorable],
    gold: Sequence[Scorable] = tuple(GOLD),
    complete: Sequence[frozenset[Layer]] | None = None,
    samples: int = 300,
) -> GateReport:
    layers = complete if complete is not None else [ALL] * len(gold)
    return compare_models(gold, before, after, SYMMETRIC, complete=layers, samples=samples)


class TestVerdicts:
    def test_a_better_model_is_promoted(self) -> None:
        found = compared(predicted(0.6, 1), predicted(0.8, 2))
        assert found.verdict == "promote"
        assert found.target is not None and found.target.probability == 1.0
        assert found.reasons[0].startswith("the mean of entities, relations, coreference improves")

    def test_a_worse_model_is_not(self) -> None:
        found = compared(predicted(0.8, 1), predicted(0.78, 2))
        assert found.verdict == "keep"
        assert any("entities may lose" in reason for reason in found.reasons)

    def test_the_same_predictions_are_no_improvement(self) -> None:
        same = predicted(0.7, 1)
        found = compared(same, same)
        assert found.verdict == "keep"
        assert found.target is not None
        assert (found.target.probability, found.target.low, found.target.high) == (0.5, 0, 0)
        assert "probability 0.50; at least 0.80" in found.reasons[0]

    def test_one_task_that_falls_stops_a_better_mean(self) -> None:
        before, after = predicted(0.5, 1), predicted(0.95, 2)
        after = [
            replace(mine, clusters=theirs.clusters[:1])
            for mine, theirs in zip(after, before, strict=True)
        ]
        found = compared(before, after)
        assert found.target is not None and found.target.probability == 1.0
        assert found.verdict == "keep"
        (reason,) = [reason for reason in found.reasons if "may lose" in reason]
        lost = f"{-found.tasks['coreference'].low:.2f}"
        assert reason == f"coreference may lose {lost} F1 (90 % interval); 5.00 are tolerated"

    def test_the_tolerance_decides_about_a_small_loss(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before, after = predicted(0.5, 1), predicted(0.95, 2)
        after = [
            replace(mine, clusters=theirs.clusters)
            for mine, theirs in zip(after, predicted(0.48, 3), strict=True)
        ]
        lost = -compared(before, after).tasks["coreference"].low
        assert lost > 0
        for tolerated, verdict in ((lost + 0.01, "promote"), (lost - 0.01, "keep")):
            monkeypatch.setattr(promotion, "TOLERANCES", dict.fromkeys(TOLERANCES, tolerated))
            assert compared(before, after).verdict == verdict

    @pytest.mark.parametrize(("documents", "verdict"), [(4, "too few"), (5, "promote")])
    def test_five_documents_are_the_least(self, documents: int, verdict: str) -> None:
        gold = GOLD[:documents]
        found = compared(predicted(0.5, 1, gold), predicted(0.95, 2, gold), gold)
        assert found.verdict == verdict
        assert (f"{documents} gate documents with {12 * documents}" in found.reasons[0]) == (
            verdict == "too few"
        )

    @pytest.mark.parametrize(("done", "verdict"), [(2, "too few"), (3, "promote")])
    def test_thirty_entities_are_the_least(self, done: int, verdict: str) -> None:
        layers = [ALL] * done + [ALL - {Layer.ENTITIES}] * (len(GOLD) - done)
        assert compared(predicted(0.5, 1), predicted(0.9, 2), complete=layers).verdict == verdict

    @pytest.mark.parametrize(("done", "verdict"), [(7, "promote"), (8, "keep")])
    def test_a_layer_decides_from_two_dozen_items_on(self, done: int, verdict: str) -> None:
        """Three clusters a document, all lost by the later model, which is better otherwise."""
        after = [replace(document, clusters=()) for document in predicted(0.9, 2)]
        layers = [ALL] * done + [ALL - {"coreference"}] * (len(GOLD) - done)
        found = compared(predicted(0.5, 1), after, complete=layers)
        assert found.verdict == verdict
        assert found.target is not None and (found.target.after > 85) == (verdict == "promote")
        few = [reason for reason in found.reasons if "too few to decide" in reason]
        assert (
            few
            == ["coreference: 21 gold items are too few to decide; 24 are the minimum"][: done == 7]
        )
        assert found.tasks["coreference"].after == 0, "shown all the same"

    def test_a_clear_gain_on_fourteen_documents_is_adopted(self) -> None:
        """Fourteen documents with some sixty entities each: the interval decides, not their number."""
        gold = [scored([entity(at, at + 1, LABELS[at % 3]) for at in range(58)]) for _ in range(14)]
        found = compared(predicted(0.33, 1, gold), predicted(0.54, 2, gold), gold)
        assert found.target is not None and found.target.low > 10
        assert found.verdict == "promote"

    def test_a_clear_loss_on_one_document_is_no_open_question(self) -> None:
        found = compared(predicted(0.95, 1, GOLD[:1]), predicted(0.3, 2, GOLD[:1]), GOLD[:1])
        assert found.verdict == "worse"
        assert "far worse than what predicts now" in found.reasons[0]
        assert "1 gate documents" in found.reasons[1]

    @pytest.mark.parametrize(("documents", "required"), [(29, "0.95"), (30, "0.80")])
    def test_many_documents_need_less_certainty(self, documents: int, required: str) -> None:
        gold = GOLD[:documents]
        found = compared(predicted(0.5, 1, gold), predicted(0.9, 2, gold), gold)
        assert f"at least {required} is required" in found.reasons[0]

    def test_no_document_at_all(self) -> None:
        found = compared([], [], [])
        assert (found.verdict, found.target, found.tasks) == ("too few", None, {})
        assert json.loads(json.dumps(found.to_json()))["target"] is None

    def test_no_layer_that_is_done(self) -> None:
        found = compared(predicted(0.5, 1), predicted(0.9, 2), complete=[frozenset()] * len(GOLD))
        assert (found.verdict, found.documents, found.tasks) == ("too few", 0, {})


class TestLayers:
    def test_a_document_counts_only_in_what_is_done(self) -> None:
        """Half of the documents are worse, in a layer that is not done there."""
        before = predicted(0.7, 1)
        after = [*before[:20], *predicted(0.1, 2)[20:]]
        layers = [ALL] * 20 + [ALL - {"relations"}] * 20
        found = compared(before, after, complete=layers)
        assert found.tasks["relation"].difference == 0
        assert (found.tasks["relation"].documents, found.tasks["relation"].gold) == (20, 120)
        assert found.tasks["entity"].difference < -20
        assert found.documents == 40

    def test_a_task_without_gold_is_left_out_of_the_mean(self) -> None:
        gold = [replace(document, clusters=()) for document in GOLD]
        found = compared(predicted(0.6, 1), predicted(0.8, 2), gold)
        assert set(found.tasks) == {"entity", "relation"}
        mean = np.mean([task.after for task in found.tasks.values()])
        assert found.target is not None and found.target.after == pytest.approx(mean)
        assert any(reason.startswith("coreference: not compared") for reason in found.reasons)


class TestNumbers:
    def test_scores_are_those_of_the_scorer(self) -> None:
        before, after = predicted(0.6, 1), predicted(0.7, 2)
        found = compared(before, after)
        for side, when in ((before, "before"), (after, "after")):
            report = score(GOLD, side, SYMMETRIC)
            expected = {
                "entity": report.ner.all.f1,
                "relation": report.relation.boundaries.unordered.f1,
                "coreference": report.coreference.conll.f1,
            }
            for task, f1 in expected.items():
                assert getattr(found.tasks[task], when) == pytest.approx(f1)
            for label, prf in report.ner.labels.items():
                assert getattr(found.labels["entity"][label], when) == pytest.approx(prf.f1)
        assert found.labels["entity"]["Task"].gold == 4 * len(GOLD)
        assert found.labels["entity"]["Generic"].gold == 0

    def test_symmetric_relations_have_no_direction(self) -> None:
        turned = [
            replace(document, relations=frozenset([_turned(one) for one in document.relations]))
            for document in GOLD
        ]
        found = compared(turned, list(GOLD))
        assert found.labels["relation"]["COMPARE"].before == 100
        assert found.labels["relation"]["USED-FOR"].before == 0
        assert found.tasks["relation"].before == pytest.approx(50)

    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_intervals_equal_a_plain_loop_over_documents(self, seed: int) -> None:
        gold = GOLD[:33]
        before, after = predicted(0.6, seed, gold), predicted(0.65, seed + 9, gold)
        found = compared(before, after, gold, samples=60)
        differences = plain_differences(gold, before, after, 60)
        for name, expected in differences.items():
            mine = found.target if name == "target" else found.tasks.get(name)
            mine = mine or found.labels["relation"][name]
            assert (mine.low, mine.high) == pytest.approx(tuple(np.percentile(expected, [5, 95])))
            wins = np.mean(
                [(difference > 1e-9) + (abs(difference) <= 1e-9) / 2 for difference in expected]
            )
            assert mine.probability == pytest.approx(wins)

    def test_equal_seeds_give_equal_reports(self) -> None:
        before, after = predicted(0.6, 1), predicted(0.65, 2)
        assert compared(before, after) == compared(before, after)

    def test_lengths_must_match(self) -> None:
        with pytest.raises(ValueError, match="shorter"):
            compared(predicted(0.5, 1)[:-1], predicted(0.5, 1))


def plain_differences(
    gold: Sequence[Scorable], before: list[Scorable], after: list[Scorable], samples: int
) -> dict[str, list[float]]:
    """After less before for every draw, scored document list by document list."""
    draws = np.random.default_rng(0).multinomial(
        len(gold), np.full(len(gold), 1 / len(gold)), size=samples
    )
    found: dict[str, list[float]] = {}
    for draw in draws:
        drawn = [at for at, times in enumerate(draw) for _ in range(times)]
        first, second = (
            plain_scores([gold[at] for at in drawn], [side[at] for at in drawn])
            for side in (before, after)
        )
        for name in first:
            found.setdefault(name, []).append(second[name] - first[name])
    return found


def plain_scores(gold: list[Scorable], side: list[Scorable]) -> dict[str, float]:
    report = score(gold, side, SYMMETRIC)
    scores = {
        "entity": report.ner.all.f1,
        "relation": report.relation.boundaries.unordered.f1,
        "coreference": report.coreference.conll.f1,
    }
    target = sum(scores.values()) / 3
    return {**scores, "target": target, "USED-FOR": report.relation.labels["USED-FOR"].f1}


def _turned(one: ScoredRelation) -> ScoredRelation:
    return ScoredRelation(one.tail, one.head, one.label)


def first(number: int) -> list[bool]:
    """The first so many of forty documents were corrected from suggestions."""
    return [place < number for place in range(40)]


class TestSuggestions:
    def test_that_suggestions_favour_a_model_is_always_said(self) -> None:
        assert FAVOURS in compared(predicted(0.6, 1), predicted(0.8, 2)).reasons

    @pytest.mark.parametrize(("number", "said"), [(0, False), (7, True)])
    def test_unless_none_was_corrected_from_them(self, number: int, said: bool) -> None:
        side = predicted(0.6, 1)
        found = compare_models(
            GOLD, side, side, SYMMETRIC, complete=[ALL] * 40, samples=10, suggested=first(number)
        )
        assert (
            any(f"7 of 40 gate documents: {FAVOURS}" == reason for reason in found.reasons) is said
        )
        assert any(FAVOURS in reason for reason in found.reasons) is said


@pytest.mark.parametrize(("documents", "strict", "usual"), [(10, 0.08, 0.22), (20, 0.07, 0.22)])
def test_equal_models_rarely_meet_the_standard_of_few_documents(
    documents: int, strict: float, usual: float
) -> None:
    """The shares that docs/adoption.md states: normal differences of two equal models, bootstrapped."""
    generator = np.random.default_rng(7)
    differences = generator.standard_normal((4_000, documents))
    draws = generator.multinomial(documents, np.full(documents, 1 / documents), size=1_000)
    better = (differences @ draws.T > 0).mean(axis=1)
    assert (better >= CROSS_VALIDATED.probability).mean() == pytest.approx(strict, abs=0.01)
    assert (better >= HELD_OUT.probability_of_many).mean() == pytest.approx(usual, abs=0.01)
