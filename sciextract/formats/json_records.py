"""Bibliographic records as JSON: CSL, as Zotero and other reference managers export it, and Semantic Scholar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sciextract.documents.bibliography import (
    authors_of,
    bare_doi,
    bibliography_of,
    family_first,
    year_of,
)
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import keep_unusable, make_record, string_of
from sciextract.formats.json_streams import read_items
from sciextract.formats.json_values import unknown_fields
from sciextract.formats.markup import plain_text

_CSL_INTERPRETED = frozenset(
    {"title", "abstract", "container-title", "author", "DOI", "PMID", "URL", "keyword"}
)


def read_csl(source: Source) -> Iterator[ReadItem]:
    """Read a list of items of CSL JSON, also inside an object under ``items``.

    Raises:
        FormatError: The file is empty, binary, or no JSON at all.
    """

    def document(record: dict[str, Any], place: Place) -> AnnotatedDocument:
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

    yield from read_items(source, document, "items")


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
