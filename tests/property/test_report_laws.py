"""What must hold for every pair of documents, whatever is in them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.metrics.counts import Scorable, ScoredEntity, ScoredRelation
from sciextract.metrics.report import PRF, EvaluationReport
from sciextract.metrics.scorer import score
from tests.tiers import examples

SYMMETRIC = frozenset({"COMPARE"})
spans = st.tuples(st.integers(0, 4), st.sampled_from([1, 2, 9])).map(lambda p: (p[0], sum(p)))
entities = st.builds(ScoredEntity, spans, st.sampled_from(["Task", "Method"]))
relations = st.builds(ScoredRelation, entities, entities, st.sampled_from(["COMPARE", "PART-OF"]))
clusters = st.lists(st.frozensets(spans, max_size=4), max_size=3).map(tuple)
documents = st.builds(
    Scorable,
    st.just("d"),
    st.frozensets(entities, max_size=6),
    st.frozensets(relations, max_size=6),
    clusters,
)


def all_scores(report: EvaluationReport) -> dict[str, PRF]:
    scores = {"all": report.ner.all, "width8": report.ner.width8}
    for kind in ("boundaries", "strict"):
        for variant in ("ordered", "unordered", "doubled", "directed"):
            scores[f"{kind} {variant}"] = getattr(getattr(report.relation, kind), variant)
    for name in ("muc", "b3", "ceafe", "lea", "conll"):
        scores[name] = getattr(report.coreference, name)
    return scores


@settings(max_examples=examples(80), deadline=None)
@given(documents)
def test_a_document_against_itself_is_perfect(document: Scorable) -> None:
    for name, prf in all_scores(score([document], [document], SYMMETRIC)).items():
        assert prf.gold == prf.predicted == prf.correct, name
        assert {prf.precision, prf.recall, prf.f1} == {100.0 if prf.gold else 0.0}, name


@settings(max_examples=examples(80), deadline=None)
@given(documents, documents)
def test_exchanging_the_sides_exchanges_precision_and_recall(
    gold: Scorable, predicted: Scorable
) -> None:
    there = all_scores(score([gold], [predicted], SYMMETRIC))
    back = all_scores(score([predicted], [gold], SYMMETRIC))
    for name, prf in there.items():
        other = back[name]
        assert (prf.gold, prf.predicted, prf.correct) == (
            other.predicted,
            other.gold,
            other.correct,
        )
        assert (prf.precision, prf.recall) == pytest.approx((other.recall, other.precision))


@settings(max_examples=examples(80), deadline=None)
@given(documents, documents)
def test_the_direction_of_symmetric_relations_does_not_matter_without_direction(
    gold: Scorable, predicted: Scorable
) -> None:
    flipped = replace(predicted, relations=frozenset(map(_flipped, predicted.relations)))
    there = score([gold], [predicted], SYMMETRIC).relation
    turned = score([gold], [flipped], SYMMETRIC).relation
    for kind in ("boundaries", "strict"):
        for variant in ("unordered", "doubled"):
            assert getattr(getattr(there, kind), variant) == getattr(getattr(turned, kind), variant)


def _flipped(relation: ScoredRelation) -> ScoredRelation:
    head, tail, label = relation
    return ScoredRelation(tail, head, label) if label in SYMMETRIC else relation


@settings(max_examples=examples(80), deadline=None)
@given(documents, documents)
def test_variants_are_ordered_as_they_must(gold: Scorable, predicted: Scorable) -> None:
    relation = score([gold], [predicted], SYMMETRIC).relation
    for variants in (relation.boundaries, relation.strict):
        assert variants.unordered.correct <= variants.doubled.correct
        assert variants.unordered.gold <= variants.ordered.gold
        assert variants.directed.correct <= variants.ordered.correct
    without = score([gold], [predicted]).relation
    assert without.boundaries.ordered == without.boundaries.unordered == without.boundaries.doubled


@settings(max_examples=examples(60), deadline=None)
@given(documents, documents)
def test_labels_add_up_to_the_whole(gold: Scorable, predicted: Scorable) -> None:
    report = score([gold], [predicted], SYMMETRIC)
    for whole, labels in (
        (report.ner.all, report.ner.labels),
        (report.relation.boundaries.ordered, report.relation.labels),
    ):
        for count in ("gold", "predicted", "correct"):
            parts = [getattr(prf, count) for prf in labels.values()]
            assert getattr(whole, count) == sum(parts)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(documents, documents), max_size=3))
def test_the_order_of_documents_does_not_matter(pairs: list[tuple[Scorable, Scorable]]) -> None:
    def scored(some: list[tuple[Scorable, Scorable]]) -> dict[str, PRF]:
        return all_scores(score([g for g, _ in some], [p for _, p in some], SYMMETRIC))

    there, back = scored(pairs), scored(pairs[::-1])
    assert {name: prf.f1 for name, prf in there.items()} == pytest.approx(
        {name: prf.f1 for name, prf in back.items()}
    )
