"""Answers of a graph as files: papers as a table or BibTeX; whole or not at all.

Titles, names and notes are text from elsewhere: in references each value stays on its line, and no sign in it is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sciextract.documents.bibliography import Bibliography, family_first
from sciextract.errors import UsageError
from sciextract.formats.table_rows import csv_row
from sciextract.graph.queries.papers import quoted
from sciextract.text.characters import visible
from sciextract.workflows.output import check_target, reported_as, whole_output

if TYPE_CHECKING:
    from sciextract.graph.queries.papers import Paper


def write_papers(papers: Sequence[Paper], graph: Path, output: Path, *, force: bool) -> None:
    """Write papers as CSV or BibTeX, as the name of the file ends.

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
    rows = [
        {**_describe(paper), "mentions": paper.mentions, "relations": "; ".join(paper.relations)}
        | {"sentences": quoted(paper.sentences)}
        for paper in papers
    ]
    lines = {".csv": _table(rows), ".bib": bibtex(papers)}
    write_files({"": lines[checked_ending(output, lines)]}, graph, output, force=force)


def checked_ending(output: Path, endings: Iterable[str]) -> str:
    """The ending of a file's name.

    Raises:
        UsageError: It is none of the endings.
    """
    kind = output.suffix.lower()
    if kind not in endings:
        allowed = ", ".join(ending or "nothing" for ending in endings)
        problem = f"{output}: the name ends in {kind or 'nothing'}; expected {allowed}"
        raise UsageError(problem, "choose another --output")
    return kind


def write_files(
    files: Mapping[str, Iterable[str]], graph: Path, output: Path, *, force: bool = False
) -> None:
    """Write lines as they come to a file, or to files in a folder: whole or not at all.

    Args:
        files: Lines by the name in the folder; "" alone is the file itself.
        graph: The graph's file, which is never replaced.
        output: Where to.
        force: Whether to replace what is there.

    Raises:
        OutputError: Something is there and may not be replaced, or it cannot be written.
    """
    check_target(output, force=force, kept=[graph])
    # The byte order mark tells spreadsheets that this is UTF-8; all other readers take it for text.
    encoding = "utf-8-sig" if "" in files and output.suffix.lower() == ".csv" else "utf-8"
    with reported_as(str(output)), whole_output(output) as partial:
        for name, lines in files.items():
            path = partial / name
            path.parent.mkdir(exist_ok=True)
            with path.open("w", encoding=encoding, newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)


def _table(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    yield from map(csv_row, rows[:1])
    for row in rows:
        yield csv_row([" ".join(str(cell or "").split()) for cell in row.values()])


def _describe(paper: Paper) -> dict[str, object]:
    known = asdict(paper.published) | {"authors": "; ".join(paper.published.authors)}
    names = ("title", "authors", "year", "venue", "doi", "pmid")
    return {"doc_key": paper.doc_key, **{name: known[name] for name in names}}


_NO_KEY = re.compile(r"[^A-Za-z0-9:./+-]+")
_PROCEEDINGS = re.compile(r"(?i)\b(?:proc|proceedings|conference|workshop|symposium|meeting)\b")
# BibTeX counts braces behind a backslash, too, so braces are named. The empty groups keep apart what LaTeX would
# join into one sign: -- is a dash, `` and '' are quotation marks.
_SPELLED = ("backslash", "braceleft", "braceright", "asciitilde", "asciicircum")
_LATEX = {sign: rf"\{sign}" for sign in "&%$#_"}
_LATEX |= {sign: rf"\text{name}{{}}" for sign, name in zip("\\{}~^", _SPELLED, strict=True)}
_MARKUP = re.compile(r"[\\{}~^&%$#_]|(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')")
_IN_DOI = {"{": "%7B", "}": "%7D", "\\": "%5C"}


def citation_keys(names: Iterable[str]) -> list[str]:
    """Keys for BibTeX, one for each paper, all different whatever the case.

    >>> citation_keys(["a b", "A,b", "{}"])
    ['a_b', 'A_b-2', 'paper']
    """
    keys: dict[str, str] = {}
    for name in names:
        plain = key = _NO_KEY.sub("_", name).strip("_") or "paper"
        number = 1
        while key.casefold() in keys:
            number += 1
            key = f"{plain}-{number}"
        keys[key.casefold()] = key
    return list(keys.values())


def bibtex(papers: Sequence[Paper]) -> Iterator[str]:
    """BibTeX entries, each with a key of its own; quoted sentences are ``annote``, which no style prints."""
    keys = citation_keys(paper.doc_key for paper in papers)
    for place, (key, paper) in enumerate(zip(keys, papers, strict=True)):
        published, arxiv = paper.published, arxiv_of(paper.doc_key)
        kind, container = "article" if published.venue else "misc", "journal"
        if _PROCEEDINGS.search(published.venue or ""):
            kind, container = "inproceedings", "booktitle"
        authors = []
        for name in published.authors:
            turned = family_first(_line(name))
            # "Family, Jr, Given" is the longest form that BibTeX knows; a bare "and" would begin another author.
            parts = turned.count(",")
            whole = parts not in (1, 2) or " and " in turned.lower()
            authors.append(f"{{{_latex(turned)}}}" if whole else _latex(turned))
        values = {
            "title": f"{{{_latex(published.title or paper.doc_key)}}}",
            "author": " and ".join(authors),
            container: _latex(published.venue or ""),
            "year": str(published.year or ""),
            "doi": "".join([_IN_DOI.get(sign, sign) for sign in _line(published.doi or "")]),
            "pmid": _latex(published.pmid or ""),
            "eprint": arxiv,
            "archiveprefix": "arXiv" if arxiv else "",
            "url": f"https://arxiv.org/abs/{arxiv}" if arxiv else "",
            "annote": _latex(quoted(paper.sentences)),
        }
        fields = [f"  {name} = {{{value}}}," for name, value in values.items() if value]
        yield "\n" * bool(place) + "\n".join([f"@{kind}{{{key},", *fields, "}"])


_ARXIV = re.compile(
    r"(?i)(?:arxiv[:./]\s*|https?://arxiv\.org/(?:abs|pdf)/)?([0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7})(?:v[0-9]+)?"
)


def arxiv_of(key: str) -> str:
    """The arXiv number in a key; empty where it is none.

    >>> [arxiv_of(key) for key in ("arXiv:2305.16065v2", "cs/0501001", "acl:2020.1")]
    ['2305.16065', 'cs/0501001', '']
    """
    found = _ARXIV.fullmatch(key.strip())
    return found[1] if found else ""


def link_of(key: str, paper: Bibliography) -> str:
    """Where a paper can be read: by its DOI, at arXiv or at PubMed; empty where nothing is known."""
    if paper.doi:
        return f"https://doi.org/{quote(paper.doi, safe='/.:;()-_')}"
    if arxiv := arxiv_of(key):
        return f"https://arxiv.org/abs/{arxiv}"
    return f"https://pubmed.ncbi.nlm.nih.gov/{quote(paper.pmid)}/" if paper.pmid else ""


def _latex(text: str) -> str:
    return _MARKUP.sub(lambda found: _LATEX.get(found[0], "{}"), _line(text))


def _line(text: str) -> str:
    """The text on one line, without signs that steer a terminal."""
    return visible(" ".join(text.split()))
