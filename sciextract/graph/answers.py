"""Answers of a graph as files: papers as a table or as references, results as a table; whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from sciextract.errors import UsageError
from sciextract.formats.citations import Citation, bibtex, ris
from sciextract.formats.tables import csv_row
from sciextract.graph.queries.papers import NamingSentence, Paper
from sciextract.graph.queries.results import Result
from sciextract.workflows.output import check_target, reported_as, whole_output

_Answer = TypeVar("_Answer")
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
    writers: dict[str, Callable[[Sequence[Paper]], Iterator[str]]] = {
        ".csv": _paper_table,
        ".bib": lambda some: bibtex(_citations(some)),
        ".ris": lambda some: ris(_citations(some)),
    }
    _write(papers, writers, graph, output, force=force)


def write_results(
    results: Sequence[Result], graph: Path, output: Path, *, force: bool = False
) -> None:
    """Write results as CSV: see :func:`write_papers`.

    Raises:
        UsageError: The name ends in something else.
        OutputError: The file exists and may not be replaced, or cannot be written.
    """
    _write(results, {".csv": _result_table}, graph, output, force=force)


def _write(
    answers: Sequence[_Answer],
    writers: dict[str, Callable[[Sequence[_Answer]], Iterator[str]]],
    graph: Path,
    output: Path,
    *,
    force: bool,
) -> None:
    kind = output.suffix.lower()
    if kind not in writers:
        problem = f"{output}: the name ends in {kind or 'nothing'}; expected {', '.join(writers)}"
        raise UsageError(problem, "choose another --output")
    check_target(output, force=force, kept=[graph])
    # The byte order mark tells spreadsheets that this is UTF-8; readers of references take it for text.
    encoding = "utf-8-sig" if kind == ".csv" else "utf-8"
    with reported_as(str(output)), whole_output(output) as partial:
        content = "\n".join(writers[kind](answers))
        partial.write_text(content, encoding=encoding, newline="\n")


def _paper_table(papers: Iterable[Paper]) -> Iterator[str]:
    yield csv_row(PAPER_COLUMNS)
    for each in papers:
        known = (*_published(each), each.mentions, "; ".join(each.relations))
        yield _row(*known, _quoted(each.sentences))
    yield ""


def _result_table(results: Iterable[Result]) -> Iterator[str]:
    yield csv_row(RESULT_COLUMNS)
    for each in results:
        kind = "yes" if each.is_difference else "no"
        system = each.system.name if each.system else ""
        measured = (
            each.material.name,
            each.metric.name,
            f"{each.value:g}",
            each.unit,
            kind,
            system,
        )
        yield _row(*measured, *_published(each.paper), _quoted([each.sentence]))
    yield ""


def _published(paper: Paper) -> tuple[object, ...]:
    known = paper.published
    authors = "; ".join(known.authors)
    return paper.doc_key, known.title, authors, known.year, known.venue, known.doi, known.pmid


def _row(*cells: object) -> str:
    return csv_row([" ".join(str(cell or "").split()) for cell in cells])


def _quoted(sentences: Iterable[NamingSentence]) -> str:
    return " […] ".join([" ".join(each.text.split()) for each in sentences])


def _citations(papers: Iterable[Paper]) -> Iterator[Citation]:
    return (Citation(each.doc_key, each.published, _quoted(each.sentences)) for each in papers)
