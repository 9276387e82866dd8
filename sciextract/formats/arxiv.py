"""arXiv: the Atom feed of its API, and its metadata snapshot as JSON lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from sciextract.documents.bibliography import bare_doi, family_first, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import STDIN, Place, ReadItem, Source
from sciextract.formats.bibliographic import join_lines, keep_unusable, make_record, string_of
from sciextract.formats.json_streams import read_items
from sciextract.formats.json_values import unknown_fields
from sciextract.formats.safe_xml import read_elements

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_ADDRESS = re.compile(r"https?://arxiv\.org/abs/(.+?)(v[0-9]+)?")
_XML_STARTS = (b"<", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_INTERPRETED = frozenset(
    {"id", "title", "abstract", "authors", "authors_parsed", "doi", "journal-ref", "categories"}
)


def read_arxiv(source: Source) -> Iterator[ReadItem]:
    """Read the entries of a feed, or the records of a snapshot; keys are arXiv ids without their version.

    Titles and abstracts are wrapped in both: line breaks in them become one space.
    """
    head = b""
    with closing(source.lines()) as lines:
        for line in lines:
            head += line
            if line.strip():
                break
    if source.path == STDIN:
        # What was taken from standard input to see its first line is put back.
        source = Source(STDIN, head + source.start[len(head) :])
    if head.removeprefix(codecs.BOM_UTF8).strip().startswith(_XML_STARTS):
        return read_elements(source, {"entry"}, _entry, "the feed holds no entry")
    return read_items(source, _record)


def _entry(entry: Element, place: Place) -> AnnotatedDocument:
    url = _text(entry, f"{_ATOM}id")
    address = _ADDRESS.fullmatch(url)
    title, abstract = _text(entry, f"{_ATOM}title"), _text(entry, f"{_ATOM}summary")
    if "/api/errors" in url:
        raise replace(place, doc_key="").error(f"arXiv answered with an error: {abstract}")
    doi = bare_doi(_text(entry, f"{_ARXIV}doi"))
    key = (address[1] if address else url) or doi or place.doc_key
    fields = {
        "year": year_of(_text(entry, f"{_ATOM}published")),
        "doi": doi,
        "venue": _text(entry, f"{_ARXIV}journal_ref"),
        "authors": [
            family_first(_text(author, f"{_ATOM}name")) for author in entry.iter(f"{_ATOM}author")
        ],
        "url": url,
        "categories": [element.get("term", "") for element in entry.findall(f"{_ATOM}category")],
        "published": _text(entry, f"{_ATOM}published"),
        "updated": _text(entry, f"{_ATOM}updated"),
        "comment": _text(entry, f"{_ARXIV}comment"),
    }
    return make_record(replace(place, doc_key=key), title, abstract, fields)


def _text(element: Element, path: str) -> str:
    return join_lines(element.findtext(path) or "")


def _record(record: dict[str, Any], place: Place) -> AnnotatedDocument:
    place = replace(place, doc_key=str(record.get("id") or place.doc_key))
    title = join_lines(string_of(record, "title", place))
    abstract = join_lines(string_of(record, "abstract", place))
    # The year of the first version, else of the last change.
    versions = record.get("versions")
    first = versions[0] if isinstance(versions, list) and versions else None
    created = first.get("created") if isinstance(first, dict) else None
    found: dict[str, Any] = {
        "year": year_of(created) or year_of(record.get("update_date")),
        "doi": bare_doi(record.get("doi")),
        "venue": join_lines(string_of(record, "journal-ref", place)),
        "authors": [*filter(None, _authors(record, place))],
        "url": f"https://arxiv.org/abs/{record['id']}" if record.get("id") else None,
        "categories": string_of(record, "categories", place).split(),
    }
    keep_unusable(found, {"doi": record.get("doi")}, "arxiv")
    fields = {**unknown_fields(record, _INTERPRETED, place), **found}
    return make_record(place, title, abstract, fields)


def _authors(record: dict[str, Any], place: Place) -> Iterator[str]:
    """``Family, Given`` from the parsed names, else from the line of names."""
    parsed = record.get("authors_parsed")
    if not isinstance(parsed, list) or not parsed:
        line = join_lines(string_of(record, "authors", place))
        yield from map(family_first, re.split(r",\s+(?:and\s+)?|\s+and\s+", line))
        return
    for parts in parsed:
        listed = parts if isinstance(parts, list) else []
        words = [part.strip() if isinstance(part, str) else "" for part in listed]
        family, given, suffix = [*words, "", "", ""][:3]
        yield ", ".join(filter(None, (" ".join(filter(None, (family, suffix))), given)))
