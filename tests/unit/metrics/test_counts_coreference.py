"""Published cases: the 36 of the reference scorer (TC-A to TC-N), and CoVal's LEA values for them.

Values are (recall, precision) as fractions, from the test configuration of
github.com/conll/reference-coreference-scorers and the unit tests of github.com/ns-moosavi/coval.
"""

from __future__ import annotations

import pytest

from sciextract.metrics.counts import (
    Overlap,
    Scorable,
    b_cubed,
    ceaf_e,
    lea,
    muc,
    partition,
    without_singletons,
)
from sciextract.metrics.scorer import score
from tests.unit.metrics.builders import partition_of, scored

Expected = dict[str, tuple[float, float]]
METRICS = {"muc": muc, "b3": b_cubed, "ceafe": ceaf_e, "lea": lea}
KEY_A = "a bc def"
SINGLES = "a b c d e f"
REPEATED: Expected = {
    "muc": (1 / 3, 1 / 3),
    "b3": (5 / 9, 17 / 42),
    "ceafe": (11 / 15, 0.55),
    "lea": (0.5, 2 / 7),
}
BY_DEFAULT = {"A1", "B1", "C1", "D1", "E1", "F1", "G1", "H1", "I1", "J1", "K1", "L1", "M1", "M4"}

PUBLISHED: dict[str, tuple[str, str, Expected]] = {
    "A1": (KEY_A, KEY_A, dict.fromkeys(METRICS, (1, 1))),
    "A2": (
        KEY_A,
        "a de",
        {"muc": (1 / 3, 1), "b3": (7 / 18, 1), "ceafe": (0.6, 0.9), "lea": (2 / 6, 1)},
    ),
    "A3": (
        KEY_A,
        "a bcx defy z",
        {
            "muc": (1, 3 / 5),
            "b3": (1, 55 / 108),
            "ceafe": ((1 + 4 / 5 + 6 / 7) / 3, (1 + 4 / 5 + 6 / 7) / 4),
            "lea": (1, (1 + 1 + 2) / 9),
        },
    ),
    "A4": (
        KEY_A,
        "a bcx dy z",
        {
            "muc": (1 / 3, 1 / 3),
            "b3": (5 / 9, 17 / 42),
            "ceafe": (11 / 15, 0.55),
            "lea": (0.5, 2 / 7),
        },
    ),
    "A5": (
        KEY_A,
        "a bcxB dy z",
        {
            "muc": (1 / 3, 1 / 4),
            "b3": (5 / 9, 5 / 16),
            "ceafe": ((1 + 4 / 6 + 2 / 5) / 3, (1 + 4 / 6 + 2 / 5) / 4),
            "lea": (0.5, 5 / 24),
        },
    ),
    "A6": (
        KEY_A,
        "a bcx dy Bz",
        {
            "muc": (1 / 3, 1 / 4),
            "b3": (5 / 9, 17 / 48),
            "ceafe": (11 / 15, 0.55),
            "lea": (0.5, 1 / 4),
        },
    ),
    "A7": (KEY_A, "a bcxb dy z", REPEATED),
    "A8": (KEY_A, "a bcx dy bz", REPEATED),
    "A9": (KEY_A, "a bcx dy bbbbbbbbbbz", REPEATED),
    "A10": (KEY_A, SINGLES, {"muc": (0, 0), "b3": (0.5, 1), "lea": (1 / 6, 1 / 6)}),
    "A11": (KEY_A, "abcdef", {"muc": (1, 3 / 5), "b3": (1, 7 / 18), "lea": (5 / 6, 4 / 15)}),
    "A12": (
        KEY_A,
        "a x y c d e z",
        {"muc": (0, 0), "b3": (13 / 36, 4 / 7), "lea": (1 / 6, 1 / 7)},
    ),
    "A13": (
        KEY_A,
        "axycdez",
        {"muc": (1 / 3, 1 / 6), "b3": (17 / 36, 6 / 49), "lea": (1 / 6, 1 / 21)},
    ),
    "B1": ("ab cde", "bcx de", {"lea": (1 / 5, 2 / 5)}),
    "C1": ("ab cde fg", "bcx de fg", {"lea": (3 / 7, 4 / 7)}),
    "D1": (
        "12345 67 89ABC",
        "12345 6789ABC",
        {"muc": (1, 9 / 10), "b3": (1, 16 / 21), "lea": (1, (5 + 77 / 21) / 12)},
    ),
    "E1": (
        "12345 67 89ABC",
        "1234589ABC 67",
        {"muc": (1, 9 / 10), "b3": (1, 7 / 12), "lea": (1, (200 / 45 + 2) / 12)},
    ),
    "F1": ("ABCD", "AB CD", {"muc": (2 / 3, 1), "lea": (2 / 6, 1)}),
    "G1": ("AB CD", "ABCD", {"muc": (1, 2 / 3), "lea": (1, 2 / 6)}),
    "H1": ("ABCD", "ABCD", {"muc": (1, 1), "lea": (1, 1)}),
    "I1": ("ABCD", "AB CD", {"muc": (2 / 3, 1), "lea": (2 / 6, 1)}),
    "J1": ("ABC", "AC", {"muc": (1 / 2, 1), "lea": (1 / 3, 1)}),
    "K1": ("BCDEGHJ", "ABC DEF GHI", {"muc": (1 / 2, 1 / 2), "lea": (3 / 21, 3 / 9)}),
    "L1": (
        "ABC DEFG",
        "AB CD FGH",
        {"muc": (2 / 5, 2 / 4), "lea": ((1 + 4 / 6) / 7, 3 / 7)},
    ),
    "M1": ("abcdef", "abcdef", dict.fromkeys(METRICS, (1, 1))),
    "M2": ("abcdef", SINGLES, {"muc": (0, 0), "lea": (0, 0)}),
    "M3": ("abcdef", "ab cde f", {"lea": (4 / 15, 5 / 6)}),
    "M4": ("abcdef", "abcxyz", {"lea": (3 / 15, 3 / 15)}),
    "M5": ("abcdef", "a b c x y z", {"muc": (0, 0), "lea": (0, 0)}),
    "M6": ("abcdef", "ab cxy z", {"lea": (1 / 15, 2 / 6)}),
    "N1": (SINGLES, SINGLES, {"muc": (0, 0), "b3": (1, 1), "ceafe": (1, 1), "lea": (1, 1)}),
    "N2": (SINGLES, "abcdef", {"muc": (0, 0), "lea": (0, 0)}),
    "N3": (SINGLES, "ab cde f", {"lea": (1 / 6, 1 / 6)}),
    "N4": (SINGLES, "a b c x y z", {"muc": (0, 0), "lea": (3 / 6, 3 / 6)}),
    "N5": (SINGLES, "abcxyz", {"lea": (0, 0)}),
    "N6": (SINGLES, "ab cxy z", {"lea": (0, 0)}),
}


@pytest.mark.parametrize("case", PUBLISHED)
def test_published_values_with_singletons(case: str) -> None:
    found = scores(case, singletons=True)
    for name, values in PUBLISHED[case][2].items():
        assert found[name] == pytest.approx(values), name


def test_which_published_cases_singletons_do_not_change() -> None:
    assert len(PUBLISHED) == 36
    same = {case for case in PUBLISHED if scores(case) == scores(case, singletons=True)}
    assert same == BY_DEFAULT


@pytest.mark.parametrize("case", PUBLISHED)
def test_all_three_metrics_of_a_case_equal_scorchs(case: str) -> None:
    """Also those that the reference publishes no value of: eight cases have only BLANC."""
    scorch = pytest.importorskip("scorch.scores")
    sides = [[*map(set, partition(partition_of(side)))] for side in PUBLISHED[case][:2]]
    found = scores(case, singletons=True)
    for name, metric in (("muc", "muc"), ("b3", "b_cubed"), ("ceafe", "ceaf_e")):
        assert found[name] == pytest.approx(getattr(scorch, metric)(*sides)[:2]), name


def test_which_cases_have_no_published_value_but_blanc() -> None:
    only_lea = {case for case, (_, _, expected) in PUBLISHED.items() if set(expected) == {"lea"}}
    assert only_lea == {"B1", "C1", "M3", "M4", "M6", "N3", "N5", "N6"}


def scores(case: str, *, singletons: bool = False) -> Expected:
    """Recall and precision by metric."""
    gold, predicted = ([scored(clusters=letters)] for letters in PUBLISHED[case][:2])
    return values(gold, predicted, singletons=singletons)


def values(gold: list[Scorable], predicted: list[Scorable], *, singletons: bool) -> Expected:
    found = score(gold, predicted, singletons=singletons).coreference
    return {
        name: (getattr(found, name).recall / 100, getattr(found, name).precision / 100)
        for name in METRICS
    }


def test_a_repeated_mention_stays_in_the_first_cluster_whatever_the_order() -> None:
    expected = partition_of("ab c")
    assert partition(partition_of("ab bc")) == expected
    assert partition(partition_of("bc ab")) == expected


def test_singletons_are_left_out() -> None:
    assert without_singletons(partition_of("a bc d")) == partition_of("bc")


def test_nothing_on_one_side_scores_zero() -> None:
    empty, some = partition_of(""), partition_of("ab cd")
    for metric in METRICS.values():
        for gold, predicted in ((empty, some), (some, empty), (empty, empty)):
            tally = metric(Overlap.of(gold, predicted))
            assert (tally.precision, tally.recall, tally.f1) == (0, 0, 0)


def test_ceafe_aligns_globally_not_greedily() -> None:
    tally = ceaf_e(Overlap.of(partition_of("abcd eh"), partition_of("abe cdfg")))
    best_pair_first = 2 * 2 / 7
    assert tally.precision_hits == pytest.approx(2 * 2 / 8 + 2 * 1 / 5)
    assert tally.precision_hits > best_pair_first
