"""Bibliographic records as JSON: CSL, as Zotero and other reference managers export it, Semantic Scholar, OpenAlex, Europe PMC, DataCite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType
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


class Works(NamedTuple):
    """Where the records of a database have what.

    Attributes:
        lists: Keys of an outer object under which the records stand: a regular expression.
        paths: By field of the document the paths to try, ``*`` for all elements of a list, ``,`` for what commas
            separate in a string. What has no path stands under one of the usual names.
        used: The fields that the document holds completely.
        given: By field of the document the one of the record that is kept under ``id`` where it has no usable form.
        id: The format.
        inner: The fields that hold the record itself, one inside the other.
        is_natural: Whether names of persons may be in natural order.
    """

    lists: str
    paths: Mapping[str, tuple[str, ...]]
    used: frozenset[str] = frozenset()
    given: Mapping[str, str] = MappingProxyType({})
    id: str = ""
    inner: tuple[str, ...] = ()
    is_natural: bool = True


_OPENALEX = Works(
    "results",
    {
        "key": ("id", "ids.openalex", "doi"),
        "title": ("title", "display_name"),
        "abstract": ("abstract_inverted_index", "abstract"),
        "venue": ("primary_location.source.display_name", "host_venue.display_name"),
        "authors": ("authorships.*.author.display_name",),
        "keywords": ("keywords.*.display_name", "keywords.*.keyword"),
    },
    frozenset({"title", "abstract_inverted_index"}),
)
_EUROPE_PMC = Works(
    r'resultList"\s*:\s*\{\s*"result',
    {
        "key": ("pmid", "pmcid", "doi", "id"),
        "abstract": ("abstractText",),
        "year": ("pubYear", "firstPublicationDate"),
        "venue": ("journalInfo.journal.title", "journalTitle", "bookOrReportDetails.publisher"),
        "authors": ("authorList.author.*",),
        "keywords": ("keywordList.keyword.*",),
    },
    frozenset({"title", "abstractText"}),
)
_DATACITE = Works(
    "data",
    {
        "key": ("doi", "identifiers.*.identifier", "id"),
        "title": ("titles", "title"),
        "abstract": ("descriptions", "abstract", "description"),
        "doi": ("doi", "identifiers.*.identifier", "id"),
        "venue": ("container.title", "publisher.name", "publisher"),
        "authors": ("creators.*.name",),
        "keywords": ("subjects.*.subject",),
    },
    frozenset({"title"}),
    inner=("data", "attributes"),
)
_CSL = Works(
    r'items|message"\s*:\s*\{[^\[\]]*"items',
    {
        "key": ("citation-key", "id"),
        "year": ("issued",),
        "venue": ("container-title",),
        "authors": ("author.*",),
        "keywords": ("keyword.*", "keyword.,"),
    },
    frozenset({"title", "abstract", "container-title", "author", "DOI", "PMID", "URL", "keyword"}),
    {"doi": "DOI", "pmid": "PMID", "authors": "author"},
    "csl",
    inner=("message",),
    is_natural=False,
)
# The API and the data sets spell the names of numbers differently.
_SEMANTIC_SCHOLAR = Works(
    "data|papers|recommendedPapers",
    {
        "key": ("paperId", "corpusId", "corpusid"),
        "doi": ("externalIds.DOI", "externalids.DOI"),
    },
    frozenset({"title", "abstract", "year", "venue", "authors", "url"}),
    {"year": "year", "authors": "authors"},
    "s2",
)


def _read_works(layout: Works, source: Source) -> Iterator[ReadItem]:
    """Read one record, a list, a reply of the API, or JSON lines of any of these."""

    def document(record: dict[str, Any], place: Place) -> AnnotatedDocument:
        for name in layout.inner:
            inner = record.get(name)
            record = inner if isinstance(inner, dict) else record
        known = bibliography_of(record)

        def values(name: str) -> Iterator[Any]:
            paths = layout.paths.get(name, ())
            return chain.from_iterable(values_at(record, path) for path in paths)

        def first(name: str, use: Callable[[Any], Any]) -> Any:
            return next(filter(None, map(use, values(name))), "")

        authors = authors_of([*values("authors")] if "authors" in layout.paths else known.authors)
        words = [word.strip() for word in values("keywords") if isinstance(word, str)]
        found: dict[str, Any] = {
            "year": first("year", year_of) if "year" in layout.paths else known.year,
            "doi": first("doi", bare_doi) or known.doi,
            "pmid": first("pmid", pmid_of) or known.pmid,
            "venue": plain_text(first("venue", running_string)) or known.venue,
            "authors": [family_first(name) if layout.is_natural else name for name in authors],
            "url": record.get("url") or record.get("URL"),
            "keywords": [*filter(None, words)],
        }
        key = first("key", lambda value: str(value) if isinstance(value, str | int) else "")
        arxiv_ids = map(running_string, values_at(record, "externalIds.ArXiv"))
        arxiv_id = next(filter(None, arxiv_ids), "")
        place = replace(place, doc_key=key or found["doi"] or arxiv_id or place.doc_key)
        title, abstract = (
            first(name, running_string) if name in layout.paths else string_of(record, name, place)
            for name in ("title", "abstract")
        )
        given = {name: record.get(key) for name, key in layout.given.items()}
        keep_unusable(found, given, layout.id)
        fields = unknown_fields(record, layout.used, place)
        fields |= {name: value for name, value in found.items() if value}
        return make_record(place, title, abstract, fields)

    return read_items(source, document, layout.lists)


def values_at(value: object, path: str) -> list[Any]:
    """What stands at a path of keys: see :class:`Works`.

    >>> values_at({"authors": [{"name": "Doe"}, {"name": "Roe"}]}, "authors.*.name")
    ['Doe', 'Roe']
    """
    found = [value]
    for part in path.split("."):
        if part == ",":
            found = [word for inner in found if isinstance(inner, str) for word in inner.split(",")]
        elif part == "*":
            found = [item for inner in found if isinstance(inner, list) for item in inner]
        else:
            found = [inner[part] for inner in found if isinstance(inner, dict) and part in inner]
    return found


read_openalex = partial(_read_works, _OPENALEX)
read_europe_pmc = partial(_read_works, _EUROPE_PMC)
read_datacite = partial(_read_works, _DATACITE)
read_csl = partial(_read_works, _CSL)
read_semantic_scholar = partial(_read_works, _SEMANTIC_SCHOLAR)
