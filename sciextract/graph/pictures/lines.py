"""Trends as lines in an SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sciextract.graph.pictures.colours import colours_of
from sciextract.graph.pictures.svg import safe
from sciextract.graph.queries.trends import Trend

_WIDTH, _HEIGHT = 960, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 260, 20, 40
_TICKS = 5
_MOST_YEARS_NAMED = 12
_LONGEST = 30
_STYLE = "text{font:12px sans-serif;fill:#222}polyline{fill:none;stroke-width:2}.grid{stroke:#ddd}"
_DASHES = ("none", "6 3", "2 2")


def trends_svg(trends: Sequence[Trend]) -> str:
    """The share of each year's abstracts that name each node, as an SVG document.

    Args:
        trends: One or more, over the same years.
    """
    return "\n".join(_lines(trends))


def _lines(trends: Sequence[Trend]) -> Iterator[str]:
    years = list(trends[0].shares)
    highest = max(max(trend.shares.values()) for trend in trends) or 1.0
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
    yield f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
    yield from _axes(years, highest)
    colours = colours_of(map(str, range(min(len(trends), 8))))
    for place, trend in enumerate(trends):
        points = " ".join(
            [
                f"{_x(year, years):.1f},{_y(share, highest):.1f}"
                for year, share in trend.shares.items()
            ]
        )
        stroke = f'stroke="{colours[str(place % 8)]}" stroke-dasharray="{_DASHES[place // 8 % 3]}"'
        yield f'<polyline points="{points}" {stroke}/>'
        y = _TOP + 10 + 20 * place
        yield f'<polyline points="{_WIDTH - _RIGHT + 10},{y - 4} {_WIDTH - _RIGHT + 34},{y - 4}" {stroke}/>'
        yield f'<text x="{_WIDTH - _RIGHT + 40}" y="{y}">{safe(trend.node.name, _LONGEST)}</text>'
    yield "</svg>"


def _axes(years: Sequence[int], highest: float) -> Iterator[str]:
    for tick in range(_TICKS + 1):
        share = highest * tick / _TICKS
        y = _y(share, highest)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.1%}</text>'
    every = -(-len(years) // _MOST_YEARS_NAMED)
    for year in years[::every]:
        x, y = _x(year, years), _HEIGHT - _BOTTOM + 18
        yield f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{year}</text>'


def _x(year: int, years: Sequence[int]) -> float:
    span = max(years[-1] - years[0], 1)
    return _LEFT + (year - years[0]) / span * (_WIDTH - _RIGHT - _LEFT)


def _y(share: float, highest: float) -> float:
    return _HEIGHT - _BOTTOM - share / highest * (_HEIGHT - _TOP - _BOTTOM)
