"""Papers of a graph as a table or as references: whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from sciextract.errors import UsageError
from sciextract.formats.citations import Citation, bibtex, ris
from sciextract.formats.tables import csv_row
from sciextract.graph.queries.papers import Paper
from sciextract.workflows.output import check_target, reported_as, whole_output

COLUMNS = (
    *("doc_key", "title", "authors", "year", "venue", "doi", "pmid"),
    *("mentions", "relations", "sentences"),
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
    kind = output.suffix.lower()
    if kind not in _WRITERS:
        problem = (
            f"{output}: the name ends in {kind or 'nothing'}, allowed are {', '.join(_WRITERS)}"
        )
        raise UsageError(problem, "choose another --output")
    check_target(output, force=force, kept=[graph])
    # The byte order mark tells spreadsheets that this is UTF-8; readers of references take it for text.
    encoding = "utf-8-sig" if kind == ".csv" else "utf-8"
    with reported_as(str(output)), whole_output(output) as partial:
        content = "\n".join(_WRITERS[kind](papers))
        partial.write_text(content, encoding=encoding, newline="\n")


def _table(papers: Iterable[Paper]) -> Iterator[str]:
    yield csv_row(COLUMNS)
    for each in papers:
        published = each.published
        cells = (
            *(each.doc_key, published.title, "; ".join(published.authors), published.year),
            *(published.venue, published.doi, published.pmid, each.mentions),
            *("; ".join(each.relations), _quoted(each)),
        )
        yield csv_row([" ".join(str(cell or "").split()) for cell in cells])
    yield ""


def _quoted(paper: Paper) -> str:
    return " […] ".join([" ".join(each.text.split()) for each in paper.sentences])


def _citations(papers: Iterable[Paper]) -> Iterator[Citation]:
    return (Citation(each.doc_key, each.published, _quoted(each)) for each in papers)


_WRITERS: dict[str, Callable[[Iterable[Paper]], Iterator[str]]] = {
    ".csv": _table,
    ".bib": lambda papers: bibtex(_citations(papers)),
    ".ris": lambda papers: ris(_citations(papers)),
}
