"""Bibliographic records as JSON: CSL, as Zotero and other reference managers export it, Semantic Scholar, OpenAlex, Europe PMC, DataCite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from sciextract.documents.bibliography import (
    authors_of,
    bare_doi,
    bibliography_of,
    family_first,
    pmid_of,
    year_of,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import keep_unusable, make_record, string_of
from sciextract.formats.json_streams import read_items
from sciextract.formats.json_values import running_string, unknown_fields
from sciextract.formats.markup import plain_text

_CSL_INTERPRETED = frozenset(
    {"title", "abstract", "container-title", "author", "DOI", "PMID", "URL", "keyword"}
)


def read_csl(source: Source) -> Iterator[ReadItem]:
    """Read a list of items of CSL JSON, also inside an object under ``items``, and replies of the Crossref API.

    Raises:
        FormatError: The file is empty, binary, or no JSON at all.
    """

    def document(record: dict[str, Any], place: Place) -> AnnotatedDocument:
        record = record["message"] if isinstance(record.get("message"), dict) else record
        keys = (record.get(name) for name in ("citation-key", "id"))
        key = next((str(each) for each in keys if isinstance(each, str | int) and each != ""), "")
        place = replace(place, doc_key=key or bare_doi(record.get("DOI")) or place.doc_key)
        title, abstract, venue = (
            string_of(record, name, place) for name in ("title", "abstract", "container-title")
        )
        words, bibliography = record.get("keyword"), bibliography_of(record)
        parts = words.split(",") if isinstance(words, str) else words
        found: dict[str, Any] = {
            "year": year_of(record.get("issued")),
            "doi": bibliography.doi,
            "pmid": bibliography.pmid,
            "venue": plain_text(venue),
            "authors": list(authors_of(record.get("author"))),
            "url": record.get("URL"),
            "keywords": [
                word
                for part in (parts if isinstance(parts, list) else [])
                if isinstance(part, str) and (word := part.strip())
            ],
        }
        given = {name: record.get(name.upper()) for name in ("doi", "pmid")}
        keep_unusable(found, {**given, "authors": record.get("author")}, "csl")
        fields = {**unknown_fields(record, _CSL_INTERPRETED, place), **found}
        return make_record(place, title, abstract, fields)

    yield from read_items(source, document, r'items|message"\s*:\s*\{[^\[\]]*"items')


_S2_INTERPRETED = frozenset({"title", "abstract", "year", "venue", "authors", "url"})


def read_semantic_scholar(source: Source) -> Iterator[ReadItem]:
    """Read one paper of Semantic Scholar, a list, a reply of the API (``data``), or JSON lines of any of these.

    Raises:
        FormatError: The file is empty, binary, or no JSON at all.
    """

    def document(record: dict[str, Any], place: Place) -> AnnotatedDocument:
        bibliography = bibliography_of(record)
        # The API and the data sets spell the name of this field differently.
        listed = record.get("externalIds") or record.get("externalids")
        ids: dict[str, Any] = listed if isinstance(listed, dict) else {}
        arxiv_id = ids["ArXiv"] if isinstance(ids.get("ArXiv"), str) else None
        keys = (record.get(name) for name in ("paperId", "corpusId", "corpusid"))
        key = next((str(each) for each in keys if each), "")
        place = replace(place, doc_key=key or bibliography.doi or arxiv_id or place.doc_key)
        fields = unknown_fields(record, _S2_INTERPRETED, place)
        found: dict[str, Any] = {
            "year": bibliography.year,
            "doi": bare_doi(ids.get("DOI")) or bibliography.doi,
            "pmid": bibliography.pmid,
            "venue": bibliography.venue,
            "authors": [family_first(name) for name in bibliography.authors],
            "url": record.get("url"),
        }
        keep_unusable(found, {"year": record.get("year"), "authors": record.get("authors")}, "s2")
        title, abstract = string_of(record, "title", place), string_of(record, "abstract", place)
        return make_record(place, title, abstract, {**fields, **found})

    yield from read_items(source, document, "data|papers|recommendedPapers")


class Works(NamedTuple):
    """Where the records of a database have what: for each field the paths to try, ``*`` for all elements of a list.

    Attributes:
        lists: Keys of an outer object under which the records stand: a regular expression.
        inner: The fields that hold the record itself, one inside the other.
        used: The fields that the document holds completely.
        paths: By field of the document.
    """

    lists: str
    inner: tuple[str, ...]
    used: frozenset[str]
    paths: Mapping[str, tuple[str, ...]]


_OPENALEX = Works(
    "results",
    (),
    frozenset({"abstract_inverted_index"}),
    {
        "key": ("id", "ids.openalex", "doi"),
        "title": ("title", "display_name"),
        "abstract": ("abstract_inverted_index", "abstract"),
        "year": ("publication_year", "publication_date"),
        "doi": ("doi", "ids.doi"),
        "pmid": ("ids.pmid",),
        "venue": ("primary_location.source.display_name", "host_venue.display_name"),
        "authors": ("authorships.*.author.display_name",),
        "keywords": ("keywords.*.display_name", "keywords.*.keyword"),
    },
)
_EUROPE_PMC = Works(
    r'resultList"\s*:\s*\{\s*"result',
    (),
    frozenset({"abstractText"}),
    {
        "key": ("pmid", "pmcid", "doi", "id"),
        "title": ("title",),
        "abstract": ("abstractText",),
        "year": ("pubYear", "firstPublicationDate"),
        "doi": ("doi",),
        "pmid": ("pmid",),
        "venue": ("journalInfo.journal.title", "journalTitle", "bookOrReportDetails.publisher"),
        "authors": ("authorList.author.*",),
        "keywords": ("keywordList.keyword.*",),
    },
)
_DATACITE = Works(
    "data",
    ("data", "attributes"),
    frozenset(),
    {
        "key": ("doi", "identifiers.*.identifier", "id"),
        "title": ("titles", "title"),
        "abstract": ("descriptions", "abstract", "description"),
        "year": ("publicationYear",),
        "doi": ("doi", "identifiers.*.identifier", "id"),
        "pmid": (),
        "venue": ("container.title", "publisher.name", "publisher"),
        "authors": ("creators.*.name",),
        "keywords": ("subjects.*.subject",),
    },
)


def _read_works(layout: Works, source: Source) -> Iterator[ReadItem]:
    def document(record: dict[str, Any], place: Place) -> AnnotatedDocument:
        for name in layout.inner:
            inner = record.get(name)
            record = inner if isinstance(inner, dict) else record

        def values(name: str) -> Iterator[Any]:
            return chain.from_iterable(values_at(record, path) for path in layout.paths[name])

        def first(name: str, use: Callable[[Any], Any]) -> Any:
            return next(filter(None, map(use, values(name))), "")

        found: dict[str, Any] = {
            "year": first("year", year_of),
            "doi": first("doi", bare_doi),
            "pmid": first("pmid", pmid_of),
            "venue": first("venue", running_string),
            "authors": [family_first(name) for name in authors_of([*values("authors")])],
            "keywords": [word for word in values("keywords") if isinstance(word, str)],
        }
        key = first("key", lambda value: str(value) if isinstance(value, str | int) else "")
        title, abstract = (first(name, running_string) for name in ("title", "abstract"))
        given = unknown_fields(record, {"title", *layout.used}, place)
        kept = {name: value for name, value in found.items() if value}
        return make_record(
            replace(place, doc_key=key or place.doc_key), title, abstract, given | kept
        )

    return read_items(source, document, layout.lists)


def values_at(value: object, path: str) -> list[Any]:
    """What stands at a path of keys, ``*`` for all elements of a list.

    >>> values_at({"authors": [{"name": "Doe"}, {"name": "Roe"}]}, "authors.*.name")
    ['Doe', 'Roe']
    """
    found = [value]
    for part in path.split("."):
        if part == "*":
            found = [item for each in found if isinstance(each, list) for item in each]
        else:
            found = [each[part] for each in found if isinstance(each, dict) and part in each]
    return found


read_openalex = partial(_read_works, _OPENALEX)
read_europe_pmc = partial(_read_works, _EUROPE_PMC)
read_datacite = partial(_read_works, _DATACITE)
