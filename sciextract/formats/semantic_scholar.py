"""Semantic Scholar: replies of the API, lists of papers, and the data sets as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sciextract.documents.bibliography import bare_doi, bibliography_of, family_first
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import keep_unusable, make_record, string_of
from sciextract.formats.json_streams import read_items
from sciextract.formats.json_values import unknown_fields

_LISTS = "data|papers|recommendedPapers"
_KEYS = ("paperId", "corpusId", "corpusid")
_IDS = ("externalIds", "externalids")
_INTERPRETED = frozenset({"title", "abstract", "year", "venue", "authors", "url"})


def read_semantic_scholar(source: Source) -> Iterator[ReadItem]:
    """Read one paper, a list, a reply of the API (``data``), or JSON lines of any of these.

    Raises:
        FormatError: The file is empty, binary, or no JSON at all.
    """
    yield from read_items(source, _record, _LISTS)


def _record(record: dict[str, Any], place: Place) -> AnnotatedDocument:
    bibliography = bibliography_of(record)
    key = next((str(record[name]) for name in _KEYS if record.get(name)), "")
    place = replace(place, doc_key=key or bibliography.doi or _arxiv_id(record) or place.doc_key)
    fields = unknown_fields(record, _INTERPRETED, place)
    found: dict[str, Any] = {
        "year": bibliography.year,
        "doi": bare_doi(_external_ids(record).get("DOI")) or bibliography.doi,
        "pmid": bibliography.pmid,
        "venue": bibliography.venue,
        "authors": [family_first(name) for name in bibliography.authors],
        "url": record.get("url"),
    }
    keep_unusable(found, {"year": record.get("year"), "authors": record.get("authors")}, "s2")
    title, abstract = string_of(record, "title", place), string_of(record, "abstract", place)
    return make_record(place, title, abstract, {**fields, **found})


def _arxiv_id(record: dict[str, Any]) -> str | None:
    found = _external_ids(record).get("ArXiv")
    return found if isinstance(found, str) else None


def _external_ids(record: dict[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {}
    return next((record[key] for key in _IDS if isinstance(record.get(key), dict)), empty)
