"""What rises and falls by year."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sciextract.errors import UsageError
from sciextract.graph.queries.nodes import Node, label_number, node_of

_CLEAR = 1.96
"""Standard errors from no trend at which one is shown: five in a hundred nodes without a trend pass it."""


@dataclass(frozen=True, slots=True)
class Trend:
    """How the share of the abstracts that name a node changes.

    Attributes:
        node: The node.
        years: Abstracts that name it, by year.
        shares: The same as a share of the year's abstracts.
        totals: All abstracts of each of these years.
        slope: Change of the share a year, fitted with the abstracts of each year as weights.
        z: The Cochran-Armitage statistic: the slope in standard errors (P. Armitage: Tests for linear trends in
            proportions and frequencies, Biometrics 11, 1955).
    """

    node: Node
    years: dict[int, int]
    shares: dict[int, float]
    totals: dict[int, int]
    slope: float
    z: float

    def halves(self) -> tuple[float, float]:
        """The share among the older half of all abstracts of these years, and among the newer one.

        The year that lies in both counts as the newer one, unless it is the first.
        """
        everything, before = sum(self.totals.values()), 0
        older: list[int] = []
        for year, total in self.totals.items():
            before += total
            if older and 2 * before > everything:
                break
            older.append(year)
        newer = [year for year in self.totals if year not in older]
        return self._share(older), self._share(newer)

    def _share(self, years: Sequence[int]) -> float:
        named, total = (sum(each[year] for year in years) for each in (self.years, self.totals))
        return named / total if total else 0.0

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def trends(
    connection: sqlite3.Connection,
    direction: Literal["rising", "falling"],
    *,
    label: str | None = "Method",
    since: int | None = None,
    until: int | None = None,
    least: int = 10,
    avoid: Iterable[Node] = (),
    limit: int = 20,
) -> list[Trend]:
    """Nodes whose share of abstracts rises or falls clearly, the steepest first.

    Args:
        connection: The graph.
        direction: Which way.
        label: Only nodes that are mostly of this type.
        since: The first year to look at.
        until: The last one.
        least: How many abstracts of these years must name a node.
        avoid: Nodes to leave out.
        limit: At most so many.

    Raises:
        UsageError: No such type, or fewer than two years with abstracts.
    """
    totals = year_totals(connection, since, until)
    if len(totals) < 2:
        years = ", ".join(map(str, totals)) or "none"
        problem = f"a trend needs abstracts of two years or more; years found: {years}"
        raise UsageError(
            problem,
            "give years with sciextract graph build --years FILE, or widen --since and --until",
        )
    sign = 1 if direction == "rising" else -1
    counts = _by_year(connection, label, totals, least)
    unwanted = {node.id for node in avoid}
    found = [
        (node, *slope_and_z(by_year, totals))
        for node, by_year in counts.items()
        if node not in unwanted
    ]
    clear = [each for each in found if sign * each[2] > _CLEAR]
    clear.sort(key=lambda each: (-sign * each[1], each[0]))
    return [_trend(connection, each, counts[each[0]], totals) for each in clear[:limit]]


def year_totals(
    connection: sqlite3.Connection, since: int | None, until: int | None
) -> dict[int, int]:
    """Abstracts by year."""
    rows = connection.execute(
        """SELECT year, documents FROM year_total
        WHERE year >= coalesce(?, year) AND year <= coalesce(?, year) ORDER BY year""",
        (since, until),
    )
    return dict(rows.fetchall())


def slope_and_z(counts: dict[int, int], totals: dict[int, int]) -> tuple[float, float]:
    """The weighted least squares slope of ``counts / totals`` over the years, and Armitage's statistic.

    >>> slope_and_z({2000: 10, 2001: 20}, {2000: 100, 2001: 100})
    (0.1, 1.9802950859533488)
    """
    everything = sum(totals.values())
    share = sum(counts.values()) / everything
    middle = sum(year * total for year, total in totals.items()) / everything
    spread = sum(total * (year - middle) ** 2 for year, total in totals.items())
    moved = sum(
        (year - middle) * (counts.get(year, 0) - total * share) for year, total in totals.items()
    )
    error = math.sqrt(share * (1 - share) * spread)
    return moved / spread, moved / error if error else 0.0


def _by_year(
    connection: sqlite3.Connection, label: str | None, totals: dict[int, int], least: int
) -> dict[int, dict[int, int]]:
    """Abstracts by year by node, of nodes that enough abstracts of these years name."""
    number = label_number(connection, label, "entity")
    rows = connection.execute(
        """SELECT n.id, y.year, y.documents FROM node n JOIN node_year y ON y.node = n.id
        WHERE n.documents >= ? AND (? IS NULL OR n.label = ?) AND y.year BETWEEN ? AND ?""",
        (least, number, number, min(totals), max(totals)),
    )
    counts: dict[int, dict[int, int]] = {}
    for node, year, documents in rows:
        counts.setdefault(node, {})[year] = documents
    return {node: years for node, years in counts.items() if sum(years.values()) >= least}


def _trend(
    connection: sqlite3.Connection,
    trend: tuple[int, float, float],
    years: dict[int, int],
    totals: dict[int, int],
) -> Trend:
    node, slope, z = trend
    counts = {year: years.get(year, 0) for year in totals}
    shares = {year: counts[year] / totals[year] for year in totals}
    return Trend(node_of(connection, node), counts, shares, totals, slope, z)
