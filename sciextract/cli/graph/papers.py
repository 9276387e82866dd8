"""``sciextract graph papers`` and ``results``: answers that name papers and quote sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sciextract.cli.console import ForceOption, JsonOption, flag, option, say
from sciextract.cli.graph.group import (
    GraphOption,
    NodeArgument,
    WithNarrowerOption,
    answer,
    nothing,
    show,
    show_json,
)
from sciextract.errors import UsageError
from sciextract.text.english import counted

if TYPE_CHECKING:
    from sciextract.graph.queries.papers import Paper, Years

_SHOWN = 20
YearOption = Annotated[str | None, option("YEARS", "2020, 2015-2020, 2015- or -2020.", default=...)]
MostOption = Annotated[
    int | None,
    option(
        "N", "Maximum number of rows (default: 20 on screen, all in a file).", min=1, default=...
    ),
]


def papers(
    node: NodeArgument,
    graph: GraphOption,
    others: list[str] | None = option(
        "NODE", "Only papers that also mention this node; repeatable.", "--with"
    ),
    related: bool = flag("Only papers that state a relation to a --with NODE.", "--related"),
    year: YearOption = None,
    sentences: int = option("N", "Number of sentences per paper.", min=0, default=1),
    limit: MostOption = None,
    output: Path | None = option("FILE", "Write .csv or .bib (BibTeX) instead."),
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the papers that mention a node, newest first, with sentences.

    Example:

        sciextract graph papers Transformer --with "low-resource translation" --year 2018- --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import find_node
    from sciextract.graph.queries.papers import papers_of

    years = _years(year)
    if related and not others:
        raise UsageError("--related needs a second node", "name it with --with NODE")
    if output is None and limit is None and not as_json:
        limit = _SHOWN + 1  # one more tells whether there are more
    with open_graph(graph) as connection:
        first, *rest = [find_node(connection, name) for name in (node, *(others or ()))]
        found = papers_of(
            connection, first, rest,
            years=years, related=related, sentences=sentences, limit=limit,
        )  # fmt: skip
    if not found:
        names = " and ".join([repr(one.name) for one in (first, *rest)])
        raise nothing(f"no paper {'relates' if related else 'names'} {names} in these years")
    if output is not None:
        from sciextract.graph.answers import write_papers

        write_papers(found, graph, output, force=force)
        say("", f"{output} holds {counted(len(found), 'paper')}")
    if as_json:
        show_json(paper.to_json() for paper in found)
    elif output is None:
        more = limit == _SHOWN + 1 and len(found) == limit
        for paper in found[:_SHOWN] if more else found:
            show(_lines(paper))
        if more:
            say("", "there are more: --limit N, or all of them with --json or --output FILE")


def _years(text: str | None) -> Years:
    """The years of ``--year``.

    Raises:
        UsageError: They are written otherwise, or the last one comes before the first.
    """
    from sciextract.graph.queries.papers import Years

    if text is None:
        return Years()
    first, dash, last = text.partition("-")
    ends = (first, last if dash else first)
    if (
        text == "-"
        or not all(re.fullmatch("([0-9]{4})?", end) for end in ends)
        or "" < last < first
    ):
        raise UsageError(
            f"--year {text!r} found; expected a year and a range of years",
            "such as 2020, 2015-2020, 2015- or -2020",
        )
    return Years(*[int(end) if end else None for end in ends])


def _lines(paper: Paper) -> Iterator[str]:
    published = paper.published
    yield f"{published.year or '----'}  {published.title or paper.doc_key}"
    links = (
        ", ".join(published.authors[:3]) + (" et al." if len(published.authors) > 3 else ""),
        published.venue,
        published.doi and f"https://doi.org/{published.doi}",
        published.pmid and f"PMID {published.pmid}",
        paper.doc_key if published.title else None,
        ", ".join(paper.relations),
    )
    yield f"      {' | '.join([link for link in links if link])}"
    for sentence in paper.sentences:
        yield f"      > {' '.join(sentence.text.split())}"


def results(
    graph: GraphOption,
    metric: str | None = option("NODE", "Only values of this metric."),
    material: str | None = option("NODE", "Only values on this data set, material or task."),
    year: YearOption = None,
    differences: bool = flag("List improvements instead of values.", "--differences"),
    with_narrower: WithNarrowerOption = False,
    limit: MostOption = None,
    as_json: JsonOption = False,
) -> None:
    """List results that abstracts report, as leaderboards by material, metric and method.

    Numbers are read from single sentences that name a metric; ambiguous ones are left out. Check the sentence before
    you quote a number.

    Example:

        sciextract graph results --metric BLEU --year 2020- --graph field.graph
    """
    from sciextract.graph.database import open_graph
    from sciextract.graph.queries.nodes import find_node
    from sciextract.graph.queries.results import results as reported

    years = _years(year)
    with open_graph(graph) as connection:
        found = reported(
            connection,
            metric=find_node(connection, metric) if metric else None,
            material=find_node(connection, material) if material else None,
            years=years,
            differences=differences,
            with_narrower=with_narrower,
        )
    if not found:
        raise nothing("no sentence states a number for such a metric and material")
    if limit is None and not as_json:
        limit = _SHOWN
    chosen, board, lines = found[:limit], None, list[str]()
    for place in chosen:
        if board != (board := place.board):
            lines.append(" | ".join(place.board))
        value = f"{'±' if place.is_difference else ''}{place.amount}"
        known = place.paper.published
        about = [place.split, place.system.name if place.system else ""]
        system = "".join([f"  ({one})" for one in about if one])
        title = f"{known.year or '----'}  {known.title or place.paper.doc_key}{system}"
        lines.append(f"  {value:>8}  {title}")
        lines.append(f"            > {' '.join(place.sentence.text.split())}")
    answer((place.to_json() for place in chosen), lines, as_json)
    if len(chosen) < len(found) and not as_json:
        more = "--limit N shows more, graph table NODE writes those about a node"
        say("", f"{len(found):,} results; {more}")
