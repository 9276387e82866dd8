"""Agreement on small documents that can be counted by hand."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from sciextract.documents.annotations import Annotations, Entity, Span, State, TokenRange
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.metrics.agreement import agreement, alpha
from sciextract.metrics.report import AgreementReport, F1Agreement
from tests.unit.metrics.builders import annotated, words

TEXT = "tree kernels rank large proteins quickly"


def compared(
    first: AnnotatedDocument, second: AnnotatedDocument, symmetric: frozenset[str] = frozenset()
) -> AgreementReport:
    return agreement([first], [second], symmetric)


def counts(score: F1Agreement) -> tuple[int, int, int]:
    return score.first, score.second, score.both


def spanning(*fragments: tuple[int, int], label: str = "A", key: str = "e") -> AnnotatedDocument:
    entity = Entity(key, tuple([Span(*ends) for ends in fragments]), label)
    return AnnotatedDocument(Document("d", TEXT, words(TEXT)), Annotations((entity,)))


def test_spans_exact_boundaries_and_overlap() -> None:
    first = annotated(TEXT, [("tree kernels", "A"), ("proteins", "B"), ("quickly", "A")])
    second = annotated(TEXT, [("kernels", "A"), ("proteins", "A"), ("quickly", "A")])
    spans = compared(first, second).spans
    assert counts(spans.exact) == (3, 3, 1) and spans.exact.f1 == pytest.approx(100 / 3)
    assert counts(spans.boundaries) == (3, 3, 2)
    assert counts(spans.overlap) == (3, 3, 2)
    assert sorted(spans.labels) == ["A", "B"]
    assert counts(spans.labels["A"].exact) == (2, 3, 1)
    assert counts(spans.labels["A"].overlap) == (2, 3, 2)
    assert spans.labels["B"].overlap.f1 == 0


def test_overlaps_are_matched_one_to_one_and_as_many_as_can_be() -> None:
    many = annotated(TEXT, [("tree", "A"), ("kernels", "A"), ("rank", "A")])
    one = annotated(TEXT, [("tree kernels rank", "A")])
    assert counts(compared(many, one).spans.overlap) == (3, 1, 1)
    chain = annotated(TEXT, [("tree kernels", "A"), ("rank large", "A")])
    shifted = annotated(TEXT, [("kernels rank", "A"), ("large proteins", "A")])
    assert counts(compared(chain, shifted).spans.overlap) == (2, 2, 2)


def test_the_gap_of_a_discontinuous_mention_is_no_overlap() -> None:
    split = spanning((0, 4), (13, 17))
    assert counts(compared(split, spanning((5, 12))).spans.overlap) == (1, 1, 0)
    assert counts(compared(split, spanning((5, 14))).spans.overlap) == (1, 1, 1)


def test_nothing_at_all_is_undefined_and_one_side_alone_is_no_agreement() -> None:
    empty, some = annotated(TEXT), annotated(TEXT, [("rank", "A")])
    report = compared(empty, empty)
    for score in (report.spans.exact, report.relations.strict, report.coreference.conll):
        assert score.f1 is None and counts(score) == (0, 0, 0) and score.interval is None
    assert report.tokens.all.kappa is None and report.tokens.all.tokens == 6
    assert report.spans.labels == {} and report.tokens.labels == {}
    assert compared(empty, some).spans.exact.f1 == 0
    assert compared(empty, some).tokens.all.kappa == 0
    nothing = agreement([], [])
    assert nothing.documents == 0 and nothing.spans.exact.f1 is None
    assert nothing.tokens.all.observed is None
    json.dumps(nothing.to_json(), allow_nan=False)


def test_kappa_of_tokens() -> None:
    first = annotated(TEXT, [("tree kernels", "A"), ("proteins", "B")])
    second = annotated(TEXT, [("tree", "A"), ("proteins", "B"), ("quickly", "B")])
    found = compared(first, second).tokens
    assert found.all.tokens == 6 and found.all.observed == pytest.approx(4 / 6)
    chance = (2 * 1 + 1 * 2 + 3 * 3) / 36  # A, B, no label
    assert found.all.expected == pytest.approx(chance)
    assert found.all.kappa == pytest.approx((4 / 6 - chance) / (1 - chance))
    chance = (2 * 1 + 4 * 5) / 36
    assert found.labels["A"].kappa == pytest.approx((5 / 6 - chance) / (1 - chance))


def test_a_token_has_the_labels_of_all_entities_that_touch_it() -> None:
    nested = annotated(TEXT, [("tree kernels", "A"), ("tree", "B")])
    outer = annotated(TEXT, [("tree kernels", "A")])
    found = compared(nested, outer).tokens
    assert found.all.observed == pytest.approx(5 / 6)
    assert found.labels["A"].kappa == 1
    cut = spanning((2, 8))
    assert compared(cut, outer).tokens.all.kappa == 1
    assert compared(spanning((0, 4), (13, 17)), spanning((0, 17))).tokens.all.observed == 5 / 6


def test_all_tokens_with_one_label_tell_nothing_beyond_chance() -> None:
    whole = spanning((0, len(TEXT)))
    found = compared(whole, whole).tokens.all
    assert (found.kappa, found.observed, found.expected) == (None, 1, 1)


def test_different_token_tables_are_compared_by_the_pieces_of_both() -> None:
    def document(*cuts: int) -> AnnotatedDocument:
        spans = tuple([Span(*cut) for cut in pairwise(cuts)])
        table = TokenTable(spans, (TokenRange(0, len(spans)),))
        entity = Entity("e", (Span(0, 4),), "A")
        return AnnotatedDocument(Document("d", "abcdefgh", table), Annotations((entity,)))

    one, other = document(0, 4, 8), document(0, 2, 6)
    found = agreement([one], [other]).tokens.all
    assert found == agreement([other], [one]).tokens.all
    assert (found.tokens, found.kappa) == (4, 1)


def test_rejected_items_are_left_out() -> None:
    first = annotated(
        TEXT, [("tree", "A"), ("rank", "A")], [("tree", "rank", "r")], [("tree", "rank")]
    )
    rejected = annotated(TEXT, [("tree", "A"), ("rank", "A")], state=State.REJECTED)
    report = compared(first, rejected)
    assert counts(report.spans.exact) == (2, 0, 0)
    assert counts(report.relations.strict) == (1, 0, 0)
    assert counts(report.coreference.muc) == (1, 0, 0)
    assert compared(rejected, rejected).spans.exact.f1 is None


def test_relations_on_own_and_on_shared_spans() -> None:
    entities = [("tree", "A"), ("rank", "A"), ("proteins", "B")]
    other = [("tree", "A"), ("rank", "B"), ("large proteins", "B")]
    first = annotated(TEXT, entities, [("tree", "rank", "r"), ("tree", "proteins", "s")])
    second = annotated(TEXT, other, [("tree", "rank", "r"), ("tree", "large proteins", "s")])
    found = compared(first, second).relations
    assert counts(found.strict) == (2, 2, 0)
    assert counts(found.boundaries) == (2, 2, 1)
    assert counts(found.shared_spans) == (1, 1, 1) and found.shared_spans.f1 == 100
    assert found.labels["r"].boundaries.f1 == 100 and found.labels["r"].strict.f1 == 0
    assert found.labels["s"].boundaries.f1 == 0 and found.labels["s"].shared_spans.f1 is None


def test_symmetric_relations_have_no_direction() -> None:
    entities = [("tree", "A"), ("rank", "B")]
    there = annotated(TEXT, entities, [("tree", "rank", "Compare")])
    back = annotated(TEXT, entities, [("rank", "tree", "Compare")])
    assert compared(there, back).relations.strict.f1 == 0
    found = compared(there, back, frozenset({"Compare"})).relations
    assert found.strict.f1 == found.labels["Compare"].shared_spans.f1 == 100


def test_coreference_counts_clusters_and_mentions() -> None:
    entities = [(word, "") for word in TEXT.split()]
    first = annotated(TEXT, entities, [], [("tree", "kernels", "rank"), ("large", "proteins")])
    second = annotated(TEXT, entities, [], [("tree", "kernels"), ("large", "proteins"), ("rank",)])
    found = compared(first, second).coreference
    assert counts(found.muc) == (2, 2, 1)
    assert (found.muc.first_mentions, found.muc.second_mentions, found.muc.both_mentions) == (
        5,
        4,
        4,
    )
    assert found.muc.f1 == pytest.approx(2 * 100 * (2 / 3) / (1 + 2 / 3))
    values = [found.muc.f1, found.b3.f1, found.ceafe.f1]
    assert found.conll.f1 == pytest.approx(sum(value or 0 for value in values) / 3)


def test_intervals_hold_the_score_and_are_reproducible() -> None:
    first = [annotated(TEXT, [("tree", "A"), ("rank", "A")]) for _ in range(20)]
    second = [annotated(TEXT, [("tree", "A"), (word, "A")]) for word in ["rank", "large"] * 10]
    report = agreement(first, second, resamples=200)
    for value, spread in (
        (report.spans.exact.f1, report.spans.exact.interval),
        (report.tokens.all.kappa, report.tokens.all.interval),
    ):
        assert spread is not None and value is not None
        assert spread.low < value < spread.high
    assert report == agreement(first, second, resamples=200)
    assert report != agreement(first, second, resamples=200, seed=1)
    assert agreement(first, second, resamples=0).spans.exact.interval is None


def test_a_rare_label_has_no_zeros_from_resamples_without_it() -> None:
    some, none = annotated(TEXT, [("tree", "A")]), annotated(TEXT)
    report = agreement([some, some, *[none] * 50], [some, some, *[none] * 50], resamples=200)
    spread = report.spans.labels["A"].exact.interval
    assert spread is not None and spread.low == spread.high == 100
    one = agreement([some, none], [some, none], resamples=200)
    assert one.spans.exact.interval is None


def test_documents_must_be_the_same() -> None:
    with pytest.raises(ValueError, match="different texts"):
        agreement([annotated(TEXT)], [annotated("other")])
    with pytest.raises(ValueError, match="shorter"):
        agreement([annotated(TEXT)], [])


def test_the_json_is_plain() -> None:
    document = annotated(TEXT, [("tree", "A"), ("rank", "B")], [("tree", "rank", "r")])
    values = json.loads(json.dumps(agreement([document], [document]).to_json(), allow_nan=False))
    assert values["spans"]["exact"] == {
        "f1": 100.0,
        "first": 2,
        "second": 2,
        "both": 2,
        "interval": None,
    }
    assert values["relations"]["labels"]["r"]["strict"]["f1"] == 100
    assert values["coreference"]["lea"]["f1"] is None
    assert values["tokens"]["labels"]["B"]["kappa"] == 1


def test_alpha_of_the_published_example() -> None:
    """Krippendorff 2011, section D: four observers, twelve units, some of them missing; nominal alpha is 0.743."""
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [
        [[label] for label in column if label != "."] for column in zip(*observers, strict=True)
    ]
    found = alpha(units)
    assert found.alpha == pytest.approx(0.743, abs=0.0005)
    assert found.tokens == 11 and found.interval is not None
    assert found.interval.low < 0.743 < found.interval.high
    assert alpha([[["Method"], ["Method"]]]).alpha is None
