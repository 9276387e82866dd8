"""CSL JSON, as Zotero and other reference managers export it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sciextract.documents.bibliography import authors_of, bare_doi, pmid_of, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import keep_unusable, make_record, string_of
from sciextract.formats.json_streams import read_items
from sciextract.formats.json_values import unknown_fields

#: The rich-text tags of CSL 1.0.2; any other angle bracket is text.
_RICH_TEXT = re.compile(
    r"""<(?P<tag>i|b|sub|sup|sc|span)(?:(?<=span)\ (?:class|style)="[^"<>]*")?>
        (?P<text>[^<]{0,999}(?:<(?!/(?P=tag)>)[^<]{0,999}){0,20})
        </(?P=tag)>""",
    re.VERBOSE,
)
_KEYS = ("citation-key", "id")
_NOTE_PMID = re.compile(r"(?m)^PMID:\s*([0-9]+)\s*$")
_INTERPRETED = frozenset(
    {"title", "abstract", "container-title", "author", "DOI", "PMID", "URL", "keyword"}
)


def read_csl(source: Source) -> Iterator[ReadItem]:
    """Read a list of items, also inside an object under ``items``.

    Raises:
        FormatError: The file is empty, binary, or no JSON at all.
    """
    yield from read_items(source, _record, "items")


def _record(record: dict[str, Any], place: Place) -> AnnotatedDocument:
    key = next(
        (
            str(record[name])
            for name in _KEYS
            if isinstance(record.get(name), str | int) and record[name] != ""
        ),
        "",
    )
    place = replace(place, doc_key=key or bare_doi(record.get("DOI")) or place.doc_key)
    title = without_rich_text(string_of(record, "title", place))
    abstract = without_rich_text(string_of(record, "abstract", place))
    fields = {**unknown_fields(record, _INTERPRETED, place), **_fields(record, place)}
    return make_record(place, title, abstract, fields)


def without_rich_text(text: str) -> str:
    """The text without CSL's own markup; tags that are not closed, and all others, are text.

    >>> without_rich_text("CO<sub>2</sub> in <i>E. coli</i> if a<b and <p> 3")
    'CO2 in E. coli if a<b and <p> 3'
    """
    for _ in range(8):
        plain = _RICH_TEXT.sub(lambda found: found["text"], text)
        if plain == text:
            break
        text = plain
    return text


def _fields(record: dict[str, Any], place: Place) -> dict[str, Any]:
    note = record.get("note")
    in_note = _NOTE_PMID.search(note) if isinstance(note, str) else None
    found: dict[str, Any] = {
        "year": year_of(record.get("issued")),
        "doi": bare_doi(record.get("DOI")) or bare_doi(record.get("URL")),
        "pmid": pmid_of(record.get("PMID")) or (in_note[1] if in_note else None),
        "venue": without_rich_text(string_of(record, "container-title", place)),
        "authors": list(authors_of(record.get("author"))),
        "url": record.get("URL"),
        "keywords": _keywords(record.get("keyword")),
    }
    given = {"doi": record.get("DOI"), "pmid": record.get("PMID"), "authors": record.get("author")}
    keep_unusable(found, given, "csl")
    return found


def _keywords(value: object) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [word for part in parts if isinstance(part, str) and (word := part.strip())]
