"""Answers of a graph as files: papers as a table, BibTeX or RIS, results as a table, trends as lines; whole or not at all.

Titles, names and notes are text from elsewhere: in references each value stays on its line, and no sign in it is markup.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from sciextract.documents.bibliography import Bibliography, family_first
from sciextract.errors import UsageError
from sciextract.formats.tables import csv_row
from sciextract.graph.export import xml_text
from sciextract.text.characters import visible
from sciextract.workflows.output import check_target, reported_as, whole_output

if TYPE_CHECKING:
    from sciextract.graph.queries.papers import NamingSentence, Paper
    from sciextract.graph.queries.results import Result
    from sciextract.graph.queries.trends import Trend

_PUBLISHED = ("title", "authors", "year", "venue", "doi", "pmid")
PAPER_COLUMNS = ("doc_key", *_PUBLISHED, "mentions", "relations", "sentences")
RESULT_COLUMNS = (
    *("material", "metric", "value", "unit", "is_difference", "system"),
    *("doc_key", *_PUBLISHED, "sentence"),
)


def write_papers(
    papers: Sequence[Paper], graph: Path, output: Path, *, force: bool = False
) -> None:
    """Write papers as CSV, BibTeX or RIS, as the name of the file ends.

    In CSV a cell that a spreadsheet would run has an apostrophe before it.

    Args:
        papers: In this order.
        graph: The graph's file, which is never replaced.
        output: Where to.
        force: Whether to replace what is there.

    Raises:
        UsageError: The name ends in something else.
        OutputError: The file exists and may not be replaced, or cannot be written.
    """
    rows = (
        (*_published(each), each.mentions, "; ".join(each.relations), _quoted(each.sentences))
        for each in papers
    )
    citations = (Citation(each.doc_key, each.published, _quoted(each.sentences)) for each in papers)
    writers: dict[str, Callable[[], Iterable[str]]] = {
        ".csv": lambda: _table(PAPER_COLUMNS, rows),
        ".bib": lambda: bibtex(citations),
        ".ris": lambda: ris(citations),
    }
    _write(writers, graph, output, force=force)


def write_results(
    results: Sequence[Result], graph: Path, output: Path, *, force: bool = False
) -> None:
    """Write results as CSV: see :func:`write_papers`.

    Raises:
        UsageError: The name ends in something else.
        OutputError: The file exists and may not be replaced, or cannot be written.
    """
    rows = (
        (
            *(each.material.name, each.metric.name, f"{each.value:g}", each.unit),
            *("yes" if each.is_difference else "no", each.system and each.system.name),
            *(*_published(each.paper), _quoted([each.sentence])),
        )
        for each in results
    )
    _write({".csv": lambda: _table(RESULT_COLUMNS, rows)}, graph, output, force=force)


def write_trends(
    trends: Sequence[Trend], graph: Path, output: Path, *, force: bool = False
) -> None:
    """Draw trends as lines into an SVG file.

    Raises:
        UsageError: The name ends in something else.
        OutputError: The file exists and may not be replaced, or cannot be written.
    """
    _write({".svg": lambda: trends_svg(trends)}, graph, output, force=force)


def check_output(output: Path, endings: Iterable[str], graph: Path, *, force: bool) -> str:
    """The ending of a file that may be written.

    Raises:
        UsageError: It is none of the endings.
        OutputError: The file exists and may not be replaced, or it is the graph.
    """
    kind = output.suffix.lower()
    if kind not in endings:
        problem = f"{output}: the name ends in {kind or 'nothing'}; expected {', '.join(endings)}"
        raise UsageError(problem, "choose another --output")
    check_target(output, force=force, kept=[graph])
    return kind


def _write(
    writers: Mapping[str, Callable[[], Iterable[str]]], graph: Path, output: Path, *, force: bool
) -> None:
    kind = check_output(output, writers, graph, force=force)
    # The byte order mark tells spreadsheets that this is UTF-8; readers of references take it for text.
    encoding = "utf-8-sig" if kind == ".csv" else "utf-8"
    with reported_as(str(output)), whole_output(output) as partial:
        partial.write_text("\n".join(writers[kind]()), encoding=encoding, newline="\n")


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield csv_row(columns)
    for row in rows:
        yield csv_row([" ".join(str(cell or "").split()) for cell in row])
    yield ""


def _published(paper: Paper) -> tuple[object, ...]:
    known = paper.published
    authors = "; ".join(known.authors)
    return paper.doc_key, known.title, authors, known.year, known.venue, known.doi, known.pmid


def _quoted(sentences: Iterable[NamingSentence]) -> str:
    return " […] ".join([" ".join(each.text.split()) for each in sentences])


_NO_KEY = re.compile(r"[^A-Za-z0-9:./+-]+")
_PROCEEDINGS = re.compile(
    r"\b(?:proc|proceedings|conference|workshop|symposium|meeting)\b", re.IGNORECASE
)
# BibTeX counts braces behind a backslash, too, so braces are named. The empty groups keep apart what LaTeX would
# join into one sign: -- is a dash, `` and '' are quotation marks.
_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_"},
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_MARKUP = re.compile(r"[\\{}~^&%$#_]|(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')")
_IN_DOI = {"{": "%7B", "}": "%7D", "\\": "%5C"}


@dataclass(frozen=True, slots=True)
class Citation:
    """A paper to cite.

    Attributes:
        key: Its name in the collection it comes from; the title where none is known.
        paper: What is known of its publication.
        note: What a reader wants to know of it; empty for nothing.
    """

    key: str
    paper: Bibliography
    note: str = ""

    @property
    def in_proceedings(self) -> bool:
        """Whether its venue sounds like a conference."""
        return bool(self.paper.venue and _PROCEEDINGS.search(self.paper.venue))


def bibtex(citations: Iterable[Citation]) -> Iterator[str]:
    """BibTeX entries, each with a key of its own; the note is ``annote``, which no style prints."""
    used: set[str] = set()
    for each in citations:
        plain = key = _NO_KEY.sub("_", each.key).strip("_") or "paper"
        number = 1
        while key.casefold() in used:
            number += 1
            key = f"{plain}-{number}"
        used.add(key.casefold())
        paper = each.paper
        kind = "inproceedings" if each.in_proceedings else "article" if paper.venue else "misc"
        authors = []
        for name in paper.authors:
            turned = family_first(_line(name))
            # "Family, Jr, Given" is the longest form that BibTeX knows; a bare "and" would begin another author.
            parts = turned.count(",")
            whole = parts not in (1, 2) or " and " in turned.lower()
            authors.append(f"{{{_latex(turned)}}}" if whole else _latex(turned))
        values = {
            "title": f"{{{_latex(paper.title or each.key)}}}",
            "author": " and ".join(authors),
            "booktitle" if each.in_proceedings else "journal": _latex(paper.venue or ""),
            "year": str(paper.year or ""),
            "doi": "".join([_IN_DOI.get(sign, sign) for sign in _line(paper.doi or "")]),
            "pmid": _latex(paper.pmid or ""),
            "annote": _latex(each.note),
        }
        fields = [f"  {name} = {{{value}}}," for name, value in values.items() if value]
        yield "\n".join([f"@{kind}{{{key},", *fields, "}\n"])


def _latex(text: str) -> str:
    return _MARKUP.sub(lambda found: _LATEX.get(found[0], "{}"), _line(text))


def ris(citations: Iterable[Citation]) -> Iterator[str]:
    """RIS records; the note is ``N1``."""
    for each in citations:
        paper = each.paper
        kind = "CONF" if each.in_proceedings else "JOUR" if paper.venue else "GEN"
        tags = [
            ("TY", kind),
            ("ID", each.key),
            ("TI", paper.title or each.key),
            *[("AU", family_first(_line(name))) for name in paper.authors],
            ("PY", str(paper.year or "")),
            ("T2", paper.venue or ""),
            ("DO", paper.doi or ""),
            *([("AN", paper.pmid), ("DB", "PubMed")] if paper.pmid else []),
            ("N1", each.note),
        ]
        lines = [f"{tag}  - {_line(value)}" for tag, value in tags if value]
        # The tag that ends a record has a space behind its hyphen, too.
        yield "\n".join([*lines, "ER  - ", ""])


def _line(text: str) -> str:
    """The text on one line, without signs that steer a terminal."""
    return visible(" ".join(text.split()))


_WIDTH, _HEIGHT = 960, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 260, 20, 40
_MOST_TICKS = 6
_MOST_YEARS_NAMED = 12
_LONGEST = 30
_STYLE = (
    "text{font:12px sans-serif;fill:#222}polyline{fill:none;stroke-width:2}.grid{stroke:#ddd}"
    "polygon{stroke:none;fill-opacity:.12}"
)
_DASHES = ("none", "6 3", "2 2")
# The colours of M. Okabe and K. Ito, which colour-blind people can tell apart.
_COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#f0e442", "#999999")


def trends_svg(trends: Sequence[Trend]) -> Iterator[str]:
    """The share of the abstracts that name each node by period, as an SVG document; all have the same periods."""
    periods = [period for trend in trends for period in trend.periods]
    first, last = min(each.middle for each in periods), max(each.middle for each in periods)
    # The axes reach as far as the shares do; the bands of the intervals are cut there.
    highest = max(each.share for each in periods) * 1.05 or 1.0

    def x(year: float) -> float:
        return _LEFT + (year - first) / ((last - first) or 1) * (_WIDTH - _RIGHT - _LEFT)

    def y(share: float) -> float:
        return _HEIGHT - _BOTTOM - min(share, highest) / highest * (_HEIGHT - _TOP - _BOTTOM)

    def points(shares: Iterable[tuple[float, float]]) -> str:
        return " ".join([f"{x(year):.1f},{y(share):.1f}" for year, share in shares])

    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
    yield f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
    # Ticks are 1, 2, 5 or 10 times a power of ten apart; 0.999 is for numbers that are a little off it.
    least = highest / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(round(power * each, 12) for each in (1, 2, 5, 10) if power * each >= least * 0.999)
    for tick in range(math.floor(highest / step) + 1):
        at = y(tick * step)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{100 * tick * step:g} %</text>'
    years = range(math.ceil(first), math.floor(last) + 1)
    for year in years[:: -(-len(years) // _MOST_YEARS_NAMED) or 1]:
        yield f'<text x="{x(year):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{year}</text>'
    for place, trend in enumerate(trends):
        colour = _COLOURS[place % len(_COLOURS)]
        low = [(each.middle, each.interval[0]) for each in trend.periods]
        high = [(each.middle, each.interval[1]) for each in trend.periods]
        yield f'<polygon points="{points([*low, *reversed(high)])}" fill="{colour}"/>'
        stroke = f'stroke="{colour}" stroke-dasharray="{_DASHES[place // len(_COLOURS) % 3]}"'
        shares = [(each.middle, each.share) for each in trend.periods]
        yield f'<polyline points="{points(shares)}" {stroke}/>'
        at = _TOP + 10 + 20 * place
        yield f'<polyline points="{_WIDTH - _RIGHT + 10},{at - 4} {_WIDTH - _RIGHT + 34},{at - 4}" {stroke}/>'
        name = xml_text(visible(trend.node.name))
        name = escape(
            name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…", {'"': "&quot;"}
        )
        yield f'<text x="{_WIDTH - _RIGHT + 40}" y="{at}">{name}</text>'
    yield "</svg>\n"
