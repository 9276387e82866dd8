"""What rises and falls by year."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from sqlite3 import Connection
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from sciextract.errors import UsageError
from sciextract.graph.queries.nodes import Node, label_number, nodes_where, usual_type

THIN = 30
"""Years with fewer abstracts are pooled with others by default: of 30 abstracts none says that a share is below 11 %."""
RECENT = 5
"""How many years the slope is fitted to by default."""
FEWEST = 5
"""Of fewer abstracts in the recent years the statistic is far from normal, and one abstract decides."""

Z_95 = 1.959964
"""Standard errors of a normal distribution on either side of 95 % of it."""


def wilson(found: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, Journal of the American Statistical Association 22, 1927).

    >>> [round(end, 3) for end in wilson(45, 50)]
    [0.786, 0.957]
    """
    share, weight = found / total, Z_95**2 / total
    middle = (share + weight / 2) / (1 + weight)
    reach = Z_95 * math.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True, slots=True)
class Period:
    """A year with enough abstracts, or several that together have enough.

    Attributes:
        first: The first year.
        last: The last one.
        middle: The mean year of its abstracts.
        documents: Abstracts that name the node by itself, not only within longer names.
        total: All abstracts.
    """

    first: int
    last: int
    middle: float
    documents: int
    total: int

    @property
    def share(self) -> float:
        """The share of the abstracts that name the node, 0 to 1."""
        return self.documents / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share: see :func:`~.wilson`."""
        return wilson(self.documents, self.total)

    @property
    def years(self) -> str:
        """Such as ``2020`` or ``1993-2006``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        low, high = self.interval
        return {**asdict(self), "share": self.share, "low": low, "high": high}


class Trend(NamedTuple):
    """How the share of the abstracts that name a node changes.

    Attributes:
        node: The node.
        periods: Its shares over all years in question.
        recent: The last periods, to which the slope is fitted.
        slope: Change of the share a year in them, fitted by least squares with the abstracts as weights.
        z: The Cochran-Armitage statistic of them: the slope in standard errors (P. Armitage: Tests for linear
            trends in proportions and frequencies, Biometrics 11, 1955).
    """

    node: Node
    periods: tuple[Period, ...]
    recent: tuple[Period, ...]
    slope: float
    z: float

    @property
    def certain(self) -> float:
        """The end of the slope's 95 % interval that is nearer to no change; 0 where the interval holds 0."""
        return self.slope * (1 - Z_95 / abs(self.z)) if abs(self.z) > Z_95 else 0.0

    @property
    def peak(self) -> Period:
        """The period in which the share was highest for certain: the highest lower end of an interval."""
        return max(self.periods, key=lambda period: period.interval[0])

    @property
    def collapsed(self) -> bool:
        """Whether the last share is below the one of the peak for certain: their intervals do not meet."""
        return self.periods[-1].interval[1] < self.peak.interval[0]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "node": self.node.to_json(),
            "slope": self.slope,
            "z": self.z,
            "certain_slope": self.certain,
            "slope_since": self.recent[0].first,
            "peak": self.peak.to_json(),
            "periods": [period.to_json() for period in self.periods],
        }


class TrendQuestion(NamedTuple):
    """What trends to look for.

    Attributes:
        direction: Which way.
        label: Only nodes that are mostly of this type; any when ``None``, when empty Method or the commonest one.
        since: The first year to look at.
        until: The last one.
        recent: To how many of the last years the slope is fitted.
        thin: Years with fewer abstracts are pooled.
        least: How many abstracts of these years must name a node.
        generic: Generic nodes, too.
    """

    direction: Literal["rising", "falling"]
    label: str | None = ""
    since: int | None = None
    until: int | None = None
    recent: int = RECENT
    thin: int = THIN
    least: int = 10
    generic: bool = False


_Found = TypeVar("_Found")


class Passed(NamedTuple, Generic[_Found]):
    """What passed a test, of many things.

    Attributes:
        found: The most certain first.
        tested: How many things were looked at.
        by_chance: How many of these would pass by chance.
    """

    found: tuple[_Found, ...]
    tested: int
    by_chance: float


def trends(connection: Connection, question: TrendQuestion, limit: int = 20) -> Passed[Trend]:
    """Nodes whose share of abstracts rises or falls clearly in the last years.

    They are ranked by :attr:`Trend.certain`. What has collapsed since its peak does not rise, whatever its slope.

    Args:
        connection: The graph.
        question: What to look for.
        limit: At most so many.

    Raises:
        UsageError: No such type, or fewer than two periods with enough abstracts.
    """
    totals = _totals(connection, question.since, question.until)
    pooled = _pool_totals(totals, question.thin)
    if len(pooled) < 2:
        counted = f"{sum(totals.values()):,} abstracts of {len(totals)} years found"
        hint = "lower --thin, widen --since and --until, or give the records that have none a year"
        needed = f"a trend needs two periods of {question.thin} abstracts or more"
        raise UsageError(f"{needed}; {counted}", hint)
    wanted = (
        "WHERE n.alone >= :least AND (:label IS NULL OR n.label = :label) AND n.generic <= :generic"
    )
    label = usual_type(connection, "Method") if question.label == "" else question.label
    number = label_number(connection, label, "entity")
    values = {"least": question.least, "label": number, "generic": question.generic}
    values |= {"first": min(totals), "last": max(totals)}
    counts: dict[int, dict[int, int]] = defaultdict(dict)
    for node, year, documents in connection.execute(f"{_BY_YEAR} {wanted}", values):
        counts[node][year] = documents
    sign = 1 if question.direction == "rising" else -1
    tested, clear = 0, []
    recent = [period for period in pooled if period.middle > pooled[-1].last - question.recent]
    for node in nodes_where(connection, f"{wanted} ORDER BY n.id", values):
        years = counts[node.id]
        if sum(years.values()) < question.least:
            continue
        tested += 1
        # A slope needs two periods, however few years are recent.
        last = _count_in(recent if len(recent) > 1 else pooled[-2:], years)
        trend = Trend(node, (), last, *slope_and_z(last))
        enough = sum(period.documents for period in last) >= FEWEST
        if enough and sign * trend.certain > 0:
            trend = trend._replace(periods=_count_in(pooled, years))
            if sign < 0 or not trend.collapsed:
                clear.append(trend)
    clear.sort(key=lambda trend: (-sign * trend.certain, trend.node.id))
    # Without a trend 2.5 in a hundred pass, for each direction.
    return Passed(tuple(clear[:limit]), tested, 0.025 * tested)


_BY_YEAR = """SELECT n.id, y.year, y.alone FROM node n
JOIN node_year y ON y.node = n.id AND y.year BETWEEN :first AND :last"""


def periods_of(connection: Connection, node: int) -> tuple[Period, ...]:
    """The share of the abstracts that name a node over all years; none where too few years are known."""
    totals = _totals(connection, None, None)
    alone = connection.execute("SELECT year, alone FROM node_year WHERE node = ?", (node,))
    return _count_in(_pool_totals(totals, THIN), dict(alone.fetchall()))


def _totals(connection: Connection, since: int | None, until: int | None) -> dict[int, int]:
    query = """SELECT year, count(*) FROM document
    WHERE year >= coalesce(?, year) AND year <= coalesce(?, year) GROUP BY year ORDER BY year"""
    return dict(connection.execute(query, (since, until)).fetchall())


def _pool_totals(totals: Mapping[int, int], thin: int) -> list[Period]:
    """Periods with enough abstracts, and none of a node."""
    periods = []
    for group in pool(totals, thin):
        total = sum(totals[year] for year in group)
        middle = sum(year * totals[year] for year in group) / total
        periods.append(Period(group[0], group[-1], middle, 0, total))
    return periods


def _count_in(pooled: Iterable[Period], years: Mapping[int, int]) -> tuple[Period, ...]:
    def documents_in(period: Period) -> int:
        return sum([years.get(year, 0) for year in range(period.first, period.last + 1)])

    return tuple([replace(period, documents=documents_in(period)) for period in pooled])


def pool(totals: Mapping[int, int], thin: int) -> list[tuple[int, ...]]:
    """Years in groups that have at least ``thin`` abstracts each, in order; none when there are too few.

    A thin year goes with the ones after it; those at the end go with the last group.

    >>> pool({1990: 1, 1993: 3, 1994: 40, 1995: 30, 1996: 2}, 30)
    [(1990, 1993, 1994), (1995, 1996)]
    """
    groups: list[tuple[int, ...]] = []
    waiting: tuple[int, ...] = ()
    for year in totals:
        waiting = (*waiting, year)
        if sum(totals[thin_year] for thin_year in waiting) >= thin:
            groups.append(waiting)
            waiting = ()
    if groups:
        groups[-1] = (*groups[-1], *waiting)
    return groups


def slope_and_z(periods: Sequence[Period]) -> tuple[float, float]:
    """The weighted least squares slope of the shares a year, and Armitage's statistic.

    >>> slope_and_z([Period(2000, 2000, 2000, 10, 100), Period(2001, 2001, 2001, 20, 100)])
    (0.1, 1.9802950859533488)
    """
    everything = sum(period.total for period in periods)
    share = sum(period.documents for period in periods) / everything
    middle = sum(period.middle * period.total for period in periods) / everything
    spread = sum(period.total * (period.middle - middle) ** 2 for period in periods)
    moved = sum(
        (period.middle - middle) * (period.documents - period.total * share) for period in periods
    )
    error = math.sqrt(share * (1 - share) * spread)
    return moved / spread, moved / error if error else 0.0
