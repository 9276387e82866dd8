"""Bibliographic data of a document, whatever its input called the fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
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


#: What files call each kind of content, best first; compared by letters and digits alone, without case. The one list
#: of readers, exports, desk, graph and releases.
NAMES: Mapping[str, tuple[str, ...]] = {
    "key": ("ut", "ut (unique wos id)", "unique wos id", "id", "key", "eid", "lens id", "publication id"),
    "text": ("text",),
    "title": (
        "title", "article title", "document title", "paper title", "ti", "t1", "primary title", "title primary",
        "display name",
    ),
    "abstract": ("abstract", "abstract note", "abstract text", "paper abstract", "summary", "ab", "n2"),
    "doi": ("doi", "digital object identifier", "do", "di", "article-id_doi", "doi link", "lid", "aid"),
    "pmid": ("pmid", "pubmed id", "pubmed", "article-id_pmid", "pm", "medline pmid"),
    "year": (
        "year", "publication year", "published year", "pub year", "py", "y1", "issued", "date", "publication date",
        "pub date", "published date", "date published", "published", "cover date", "dp", "da", "update date",
    ),
    "venue": (
        "venue", "journal", "journal title", "container title", "booktitle", "publication title",
        "publication name", "source title", "journal name", "journal/book", "periodical full", "secondary title",
        "conference name", "publication venue", "jf", "jo", "jt", "t2", "ta", "ja", "journal abbreviation",
        "periodical abbrev", "so",
    ),
    "authors": (
        "authors", "author", "author/s", "author(s)", "authors, primary", "fau", "au", "a1", "af", "author names",
        "author full names", "creators", "authorships",
    ),
    "keywords": ("keywords", "author keywords", "keyword", "kw", "de", "ot", "keywords plus", "manual tags"),
    "url": ("url", "ur", "urls", "link", "source urls", "external url"),
}  # fmt: skip
_NESTED = ("externalids", "identifiers", "ids")
# Where Zotero and Mendeley put numbers that they have no field for, each on a line: "PMID: 123".
_NOTES = ("extra", "note", "notes")
_NOTED = re.compile(r"(?mi)^[ \t]*(pmid|doi):\s*(\S+)\s*$")

_BARE_DOI = re.compile(r"10\.[0-9]{4,9}/\S+")
_ONLY_PMID = re.compile(r"(?:pmid:?\s*|\S*pubmed\S*/)?([0-9]{1,9})(?:\.0|/)?", re.IGNORECASE)
_FOUR_DIGITS = re.compile(r"(?<![0-9])(1[4-9][0-9]{2}|2[01][0-9]{2})(?![0-9])")
_COMPACT_DATE = re.compile(r"([0-9]{4})(?:0[1-9]|1[0-2])(?:[0-2][0-9]|3[01])")
_PARTICLES = frozenset((
    "van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "ten", "ter", "zu",
    "af", "al", "bin", "ibn", "st.",
))  # fmt: skip
# "Smith J.A., Doe A." of PubMed and Scopus.
_WITH_INITIALS = re.compile(r"\w [A-Z]\.?(?:-?[A-Z]\.?){0,3}$")
_GROUP = re.compile(
    r"\b(?:collaboration|consortium|group|team|network|society|association|committee|organi[sz]ation)\b",
    re.IGNORECASE,
)


def bibliography_of(fields: Mapping[str, Any]) -> Bibliography:
    """The bibliographic data in a document's fields; what cannot be used is left out, nothing raises.

    >>> bibliography_of({"DOI": "https://doi.org/10.1000/ABC", "PY": "2019///"}).doi
    '10.1000/abc'
    """
    named = _by_plain_name(fields)
    noted = {
        name.lower(): value
        for note in _NOTES
        for line in named.get(note, ())
        if isinstance(line, str)
        for name, value in _NOTED.findall(line)
    }
    dois, pmids = _usable(named, "doi", bare_doi), _usable(named, "pmid", pmid_of)
    # Of addresses, only an own one: Scopus links to itself with more than a DOI in the address.
    pages = (bare_doi(url) for name in ("url", "ur") for url in named.get(name, ()))
    return Bibliography(
        doi=next(dois, None) or next(filter(None, pages), None) or bare_doi(noted.get("doi")),
        pmid=next(pmids, None) or pmid_of(noted.get("pmid")),
        title=next(_usable(named, "title", _line_of), None),
        year=next(_usable(named, "year", year_of), None),
        venue=next(_usable(named, "venue", _line_of), None),
        authors=next(_usable(named, "authors", authors_of), ()),
    )


def key_of_row(fields: Mapping[str, Any]) -> str:
    """What names a row of a table: its ``doc_key``, else DOI, PubMed id, or the first other number that it has; or ""."""
    known, named = bibliography_of(fields), _by_plain_name(fields)
    # The tables of Web of Science call KeyWords Plus "ID", and name their records by "UT", as its tagged files do.
    is_wos = "ID" in fields and not named.keys().isdisjoint(("ut", "de", "pt"))
    own = next(_usable(named, "key", _key_in, {"id"} if is_wos else ()), "")
    first = ("dockey", "ut") if "pt" in named else ("dockey",)
    given = (_key_in(value) for name in first for value in named.get(name, ()))
    return next(filter(None, given), "") or known.doi or known.pmid or own


def described(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The bibliographic fields that a document has, each under its first name in :data:`NAMES`.

    Numbers in their usual form where they have one, everything else as it was given.
    """
    known, named = bibliography_of(fields), _by_plain_name(fields)
    found: dict[str, Any] = {"title": known.title, "venue": known.venue}
    found["authors"] = list(known.authors)
    for name in DESCRIBING:
        given = fields.get(name) or found.get(name) or next(_usable(named, name), None)
        number = getattr(known, name) if name in ("year", "doi", "pmid") else None
        found[name] = number or given
    return {name: found[name] for name in DESCRIBING if found[name] not in (None, "", [])}


DESCRIBING = ("title", "year", "doi", "pmid", "venue", "authors", "url", "keywords")
"""The names of :func:`described`."""


@lru_cache(4096)
def plain_name(name: str) -> str:
    """A name of a field as it is compared.

    >>> plain_name("Article Title"), plain_name("UT (Unique WOS ID)")
    ('articletitle', 'utuniquewosid')
    """
    return "".join(filter(str.isalnum, name.lower()))


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
    for leaf in _leaves(value, 4):
        text = _digits(leaf).strip()
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
        listed = value.strip().split(", ")
        if len(listed) > 1 and all(map(_WITH_INITIALS.search, listed)):
            names = listed
    elif isinstance(value, list | tuple):
        names = map(_name_of, value)
    else:
        return ()
    return tuple([name for given in names if (name := " ".join(given.split()))])


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


def _by_plain_name(fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """All values under each plain name, those inside records of numbers first."""
    named: dict[str, list[Any]] = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            continue
        plain = plain_name(name)
        if plain in _NESTED and isinstance(value, Mapping):
            for inner, held in value.items():
                named.setdefault(plain_name(str(inner)), []).append(held)
        named.setdefault(plain, []).append(value)
    return named


def _usable(
    named: Mapping[str, list[Any]],
    meaning: str,
    use: Callable[[Any], Any] = lambda value: value,
    without: Collection[str] = (),
) -> Iterator[Any]:
    """The usable values of a meaning, best first."""
    for name in _plain_names(meaning):
        for value in named.get(name, ()) if name not in without else ():
            used = use(value)
            if used:
                yield used


@cache
def _plain_names(meaning: str) -> tuple[str, ...]:
    return tuple(map(plain_name, NAMES[meaning]))


def _key_in(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value if isinstance(value, str) and value.strip() else ""


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
    inner = value.get("author")  # as OpenAlex nests it
    value = inner if isinstance(inner, Mapping) else value
    parts = {plain_name(str(key)): part for key, part in value.items()}
    family = _first_string(parts, ("family", "lastname", "surname", "last"))
    given = _first_string(parts, ("given", "forename", "firstname", "first", "initials"))
    particle = _first_string(parts, ("nondroppingparticle", "droppingparticle"))
    whole = " ".join(part for part in (particle, family) if part)
    if whole and given:
        return f"{whole}, {given}"
    others = ("literal", "name", "collectivename", "authorname", "displayname")
    return whole or _first_string(parts, others)


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
