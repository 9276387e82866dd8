from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciextract.errors import UsageError
from sciextract.graph.database import open_graph
from sciextract.graph.queries.trends import Period, TrendQuestion, pool, slope_and_z, trends
from tests.graph_samples import abstract, build


def periods(counts: Mapping[int, int], totals: Mapping[int, int]) -> list[Period]:
    return [Period(year, year, year, counts.get(year, 0), totals[year]) for year in totals]


def test_the_slope_is_the_weighted_line() -> None:
    totals = {2000: 50, 2001: 80, 2003: 20, 2004: 90}
    counts = {2000: 5, 2001: 12, 2004: 40}
    years = np.array(list(totals), float)
    shares = np.array([counts.get(year, 0) / totals[year] for year in totals])
    # polyfit squares its weights.
    expected, _ = np.polyfit(years, shares, 1, w=np.sqrt(list(totals.values())))
    assert slope_and_z(periods(counts, totals))[0] == pytest.approx(expected)


def test_armitages_statistic() -> None:
    # Chi-square for trend as in A. Agresti, Categorical Data Analysis: z squared is its value.
    _, z = slope_and_z(periods({0: 10, 1: 20, 2: 30}, {0: 100, 1: 100, 2: 100}))
    assert z**2 == pytest.approx(12.5)


@given(st.dictionaries(st.integers(1950, 2030), st.integers(1, 60), max_size=30))
def test_pooled_years_lose_nothing(counts: dict[int, int]) -> None:
    totals = dict(sorted(counts.items()))
    groups = pool(totals, 30)
    if sum(totals.values()) < 30:
        assert groups == []
    else:
        assert [year for group in groups for year in group] == list(totals)
        assert all(sum(totals[year] for year in group) >= 30 for group in groups)


SHARES = {  # abstracts of 40 by year, 2010 to 2021
    "riser": [0, 0, 0, 0, 0, 0, 0, 2, 6, 12, 20, 28],
    "fad": [0, 0, 2, 10, 20, 30, 30, 12, 1, 0, 0, 3],
    "faller": [30, 30, 30, 30, 30, 30, 30, 30, 24, 14, 8, 2],
    "steady": [10] * 12,
    "rare": [0] * 11 + [4],
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty abstracts a year; then a year with a single one, which names the fad."""
    documents = []
    for place, year in enumerate(range(2010, 2022)):
        for number in range(40):
            names = [name for name, counts in SHARES.items() if number < counts[place]]
            text = f"Text {number} of {year} on {', '.join(names) or 'nothing'}."
            documents.append(abstract(text, text, dict.fromkeys(names, "Method"), year=year))
    last = "The fad again."
    documents.append(abstract("last", last, {"fad": "Method"}, year=2022))
    path = tmp_path_factory.mktemp("trends") / "t.graph"
    build(path, *documents)
    return path


def test_only_what_rises_now_is_rising(graph: Path) -> None:
    with open_graph(graph) as connection:
        rising = trends(connection, TrendQuestion("rising", least=1))
        falling = trends(connection, TrendQuestion("falling", least=1))
    (up,) = rising.found
    assert (up.node.name, rising.tested) == ("riser", 5)
    assert [trend.node.name for trend in falling.found] == ["faller"]
    assert 0 < up.certain < up.slope
    assert falling.found[0].slope < falling.found[0].certain < 0


def test_a_graph_without_methods_shows_its_commonest_type(tmp_path: Path) -> None:
    rocks = []
    for place, year in enumerate(range(2000, 2006)):
        for number in range(40):
            rock = "shale" if number < 6 * place else "sand"
            text = f"Layer {number} of {year} is {rock}."
            rocks.append(abstract(text, text, {rock: "Rock"}, year=year))
    build(tmp_path / "g.graph", *rocks)
    with open_graph(tmp_path / "g.graph") as connection:
        found = trends(connection, TrendQuestion("rising"))
    assert [trend.node.name for trend in found.found] == ["shale"]


def test_a_collapsed_method_does_not_rise_whatever_its_slope(graph: Path) -> None:
    """Over all years its line rises, and its last year has more than the one before."""
    with open_graph(graph) as connection:
        for recent in (3, 5, 20):
            found = trends(connection, TrendQuestion("rising", least=1, recent=recent)).found
            assert "fad" not in {trend.node.name for trend in found}
        early = TrendQuestion("rising", least=1, until=2016)
        assert [trend.node.name for trend in trends(connection, early).found] == ["fad"]


def test_a_thin_year_is_pooled_with_the_one_before(graph: Path) -> None:
    with open_graph(graph) as connection:
        (found,) = trends(connection, TrendQuestion("rising", least=1)).found
        last = found.periods[-1]
        assert (last.years, last.documents, last.total) == ("2021-2022", 28, 41)
        assert last.middle == pytest.approx(2021 + 1 / 41)
        assert found.peak == last
        with pytest.raises(UsageError, match=r"two periods of 400 .*; 481 abstracts of 13 years"):
            trends(connection, TrendQuestion("rising", thin=400))
        assert not trends(connection, TrendQuestion("rising", least=1000)).found
