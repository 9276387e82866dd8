"""Answers of a graph as files: papers as a table, BibTeX or RIS, results as a table; whole or not at all.

Titles, names and notes are text from elsewhere: in references each value stays on its line, and no sign in it is markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sciextract.documents.bibliography import Bibliography, family_first
from sciextract.errors import UsageError
from sciextract.formats.tables import csv_row
from sciextract.graph.queries.papers import NamingSentence, Paper
from sciextract.graph.queries.results import Result
from sciextract.text.characters import visible
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
_MOST_COMMAS = 2


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
        yield "\n".join(_entry(each, key))


def _entry(citation: Citation, key: str) -> Iterator[str]:
    paper = citation.paper
    in_proceedings = bool(paper.venue and _PROCEEDINGS.search(paper.venue))
    kind = "inproceedings" if in_proceedings else "article" if paper.venue else "misc"
    venue = "booktitle" if in_proceedings else "journal"
    values = {
        "title": f"{{{_latex(paper.title or citation.key)}}}",
        "author": " and ".join(map(_author, paper.authors)),
        venue: _latex(paper.venue or ""),
        "year": str(paper.year or ""),
        "doi": "".join([_IN_DOI.get(sign, sign) for sign in _line(paper.doi or "")]),
        "pmid": _latex(paper.pmid or ""),
        "annote": _latex(citation.note),
    }
    yield f"@{kind}{{{key},"
    yield from [f"  {name} = {{{value}}}," for name, value in values.items() if value]
    yield "}\n"


def _author(name: str) -> str:
    """A name as BibTeX reads it; groups, and what its rules do not fit, in braces."""
    turned = family_first(_line(name))
    whole = "," not in turned or turned.count(",") > _MOST_COMMAS or " and " in turned.lower()
    return f"{{{_latex(turned)}}}" if whole else _latex(turned)


def _latex(text: str) -> str:
    return _MARKUP.sub(lambda found: _LATEX.get(found[0], "{}"), _line(text))


def ris(citations: Iterable[Citation]) -> Iterator[str]:
    """RIS records; the note is ``N1``."""
    for each in citations:
        yield "\n".join([f"{tag}  - {_line(value)}" for tag, value in _tags(each)]) + "\n"


def _tags(citation: Citation) -> Iterator[tuple[str, str]]:
    paper = citation.paper
    in_proceedings = bool(paper.venue and _PROCEEDINGS.search(paper.venue))
    yield "TY", "CONF" if in_proceedings else "JOUR" if paper.venue else "GEN"
    rest = [
        ("ID", citation.key),
        ("TI", paper.title or citation.key),
        *[("AU", family_first(_line(name))) for name in paper.authors],
        ("PY", str(paper.year or "")),
        ("T2", paper.venue or ""),
        ("DO", paper.doi or ""),
        *([("AN", paper.pmid), ("DB", "PubMed")] if paper.pmid else []),
        ("N1", citation.note),
    ]
    yield from [(tag, value) for tag, value in rest if value]
    yield "ER", ""


def _line(text: str) -> str:
    """The text on one line, without signs that steer a terminal."""
    return visible(" ".join(text.split()))
