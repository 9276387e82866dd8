"""Bibliographic data of a document, whatever its input called the fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Bibliography:
    """What identifies and describes a paper; ``None`` or empty where it is not known.

    Attributes:
        doi: Lower case, without ``https://doi.org/`` or ``doi:``.
        pmid: PubMed id, digits only.
        title: On one line.
        year: Of publication.
        venue: Journal, proceedings or book.
        authors: ``Family, Given`` where the input tells them apart.
    """

    doi: str | None = None
    pmid: str | None = None
    title: str | None = None
    year: int | None = None
    venue: str | None = None
    authors: tuple[str, ...] = ()


#: Names by meaning, in order of preference; compared without case, spaces, dots, hyphens and underscores.
_DOI = (
    "doi", "digitalobjectidentifier", "do", "di", "articleiddoi", "doilink", "lid", "aid", "url", "ur",
)  # fmt: skip
_PMID = ("pmid", "pubmedid", "pubmed", "articleidpmid", "pm")
_TITLE = ("title", "articletitle", "documenttitle", "papertitle", "ti", "t1", "primarytitle")
_YEAR = (
    "year", "publicationyear", "pubyear", "py", "y1", "issued", "date", "publicationdate", "pubdate",
    "publisheddate", "published", "coverdate", "dp", "da", "updatedate",
)  # fmt: skip
_VENUE = (
    "venue", "journal", "journaltitle", "containertitle", "booktitle", "publicationtitle", "publicationname",
    "sourcetitle", "journalname", "secondarytitle", "conferencename", "publicationvenue", "jf", "jo", "jt", "t2",
    "ta", "ja", "journalabbreviation", "so",
)  # fmt: skip
_AUTHORS = (
    "authors", "author", "fau", "au", "a1", "af", "authornames", "authorfullnames", "creators",
)  # fmt: skip
_NESTED = ("externalids", "identifiers")

_BARE_DOI = re.compile(r"10\.[0-9]{4,9}/\S+")
_ONLY_PMID = re.compile(r"(?:pmid:?\s*|\S*pubmed\S*/)?([0-9]{1,9})(?:\.0|/)?", re.IGNORECASE)
_FOUR_DIGITS = re.compile(r"(?<![0-9])(1[4-9][0-9]{2}|2[01][0-9]{2})(?![0-9])")
_COMPACT_DATE = re.compile(r"([0-9]{4})(?:0[1-9]|1[0-2])(?:[0-2][0-9]|3[01])")
_PARTICLES = frozenset((
    "van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "ten", "ter", "zu",
    "af", "al", "bin", "ibn", "st.",
))  # fmt: skip
_GROUP = re.compile(
    r"\b(?:collaboration|consortium|group|team|network|society|association|committee|organi[sz]ation)\b",
    re.IGNORECASE,
)


def bibliography_of(fields: Mapping[str, Any]) -> Bibliography:
    """The bibliographic data in a document's fields; what cannot be used is left out, nothing raises.

    >>> bibliography_of({"DOI": "https://doi.org/10.1000/ABC", "PY": "2019///"}).doi
    '10.1000/abc'
    """
    named: dict[str, list[Any]] = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            continue
        plain = re.sub(r"[\s._-]", "", name.lower())
        if plain in _NESTED and isinstance(value, Mapping):
            for inner, held in value.items():
                named.setdefault(str(inner).lower(), []).append(held)
        named.setdefault(plain, []).append(value)
    return Bibliography(
        doi=next(_found(named, _DOI, bare_doi), None),
        pmid=next(_found(named, _PMID, pmid_of), None),
        title=next(_found(named, _TITLE, _line_of), None),
        year=next(_found(named, _YEAR, year_of), None),
        venue=next(_found(named, _VENUE, _line_of), None),
        authors=next(_found(named, _AUTHORS, authors_of), ()),
    )


def bare_doi(value: object) -> str | None:
    """A DOI in lower case without prefix, from a DOI, its address, or a list of them.

    >>> bare_doi("doi:10.1000/ABC [doi]")
    '10.1000/abc'
    """
    if isinstance(value, list | tuple):
        return next((doi for doi in map(bare_doi, value) if doi), None)
    if not isinstance(value, str):
        return None
    found = _BARE_DOI.search(unquote(value) if "%2f" in value.lower() else value)
    if not found:
        return None
    doi = found[0].rstrip(".,;\"'>")
    if doi.endswith(")") and doi.count(")") > doi.count("("):
        doi = doi[:-1]
    return doi.lower()


def pmid_of(value: object) -> str | None:
    """A PubMed id as digits, from a number, its digits or its address.

    >>> pmid_of("PMID: 12345"), pmid_of(12345.0), pmid_of("PMC12345")
    ('12345', '12345', None)
    """
    if isinstance(value, list | tuple):
        return next((pmid for pmid in map(pmid_of, value) if pmid), None)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = _ONLY_PMID.fullmatch(_digits(value).strip())
    return found[1] if found and int(found[1]) else None


def year_of(value: object) -> int | None:
    """A year between 1400 and 2199 from a number, a date in words or figures, or CSL date parts.

    >>> year_of("2019///"), year_of(2019.0), year_of({"date-parts": [[2019, 3]]}), year_of("in press")
    (2019, 2019, 2019, None)
    """
    for each in _leaves(value, 4):
        text = _digits(each).strip()
        compact = _COMPACT_DATE.fullmatch(text)
        found = _FOUR_DIGITS.search(compact[1] if compact else text)
        if found:
            return int(found[1])
    return None


def authors_of(value: object) -> tuple[str, ...]:
    """Author names from a string that separates them, a list of strings, or a list of name records.

    >>> authors_of("Lovelace, Ada and Babbage, Charles")
    ('Lovelace, Ada', 'Babbage, Charles')
    >>> authors_of([{"family": "Lovelace", "given": "Ada"}, {"name": "Bourbaki"}])
    ('Lovelace, Ada', 'Bourbaki')
    """
    if isinstance(value, str):
        names: Iterable[str] = re.split(r"\s*[;\n]\s*|\s+and\s+", value)
    elif isinstance(value, list | tuple):
        names = map(_name_of, value)
    else:
        return ()
    return tuple([name for each in names if (name := " ".join(each.split()))])


def family_first(name: str) -> str:
    """``Family, Given`` for a name in natural order; groups and single words stay as they are.

    >>> family_first("Ludwig van Beethoven")
    'van Beethoven, Ludwig'
    """
    words = name.split()
    if len(words) < 2 or "," in name or _GROUP.search(name):
        return " ".join(words)
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    return f"{' '.join(words[start:])}, {' '.join(words[:start])}"


def _found(named: Mapping[str, list[Any]], names: Iterable[str], use: Any) -> Iterator[Any]:
    """The usable values under any of the names, best first."""
    for name in names:
        for value in named.get(name, ()):
            used = use(value)
            if used:
                yield used


def _line_of(value: object) -> str | None:
    """A string on one line; the first of a list; the name or title of a record."""
    for _ in range(3):
        if isinstance(value, list | tuple):
            value = value[0] if value else None
        elif isinstance(value, Mapping):
            value = value.get("name") or value.get("title")
    return " ".join(value.split()) or None if isinstance(value, str) else None


def _name_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return ""
    parts = {re.sub(r"[\s._-]", "", str(key).lower()): part for key, part in value.items()}
    family = _first_string(parts, ("family", "lastname", "surname", "last"))
    given = _first_string(parts, ("given", "forename", "firstname", "first", "initials"))
    particle = _first_string(parts, ("nondroppingparticle", "droppingparticle"))
    whole = " ".join(part for part in (particle, family) if part)
    if whole and given:
        return f"{whole}, {given}"
    return whole or _first_string(parts, ("literal", "name", "collectivename", "authorname"))


def _first_string(parts: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((part for name in names if isinstance(part := parts.get(name), str) and part), "")


def _leaves(value: object, depth: int) -> Iterator[int | float | str]:
    """The numbers and strings in a value, in order, lists and records opened down to a depth."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        yield value
    elif depth and isinstance(value, list | tuple | Mapping):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner, depth - 1)


def _digits(value: float | str) -> str:
    """A number without an empty fraction, however long; a string as it is."""
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if abs(value) < 10**9 and value == int(value) else ""
