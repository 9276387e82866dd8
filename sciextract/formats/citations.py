r"""Papers as BibTeX entries and RIS records, for reference managers.

Titles, names and notes are text from elsewhere: each value stays on its line, and no sign in it is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sciextract.documents.bibliography import Bibliography, family_first
from sciextract.text.characters import visible

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
