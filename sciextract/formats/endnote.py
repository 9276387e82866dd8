"""EndNote's tagged export (``.enw``), the format of ``refer``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sciextract.documents.bibliography import authors_of, bare_doi, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import (
    TaggedRecord,
    Tags,
    TagSyntax,
    first_of,
    joined,
    keep_unusable,
    make_record,
    other_tags,
    pubmed_number,
    read_tagged,
    split_keywords,
    text_lines,
)

_ALLOWED = "a percent sign, one character and a space"
_TAG = re.compile(r"(%\S)(?:[ \t](.*))?$", re.DOTALL)
_TYPE = "%0"
_VENUES = ("%J", "%B")
_INTERPRETED = frozenset({"%T", "%X", "%A", "%R", "%K", "%F"})


def read_endnote(source: Source) -> Iterator[ReadItem]:
    """Read the records one after the other: each begins with ``%0``, or behind a blank line where none has it first.

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or holds no record.
    """
    syntax = TagSyntax("EndNote", "%0 Journal Article", _TAG, _ALLOWED, _begins)
    return read_tagged(source, text_lines(source), _document, syntax)


def _begins(tag: str, record: TaggedRecord, gap: bool) -> bool:
    """Whether a tag begins the next record. Abstracts may hold blank lines, so these count only without ``%0``."""
    typed_first = next(iter(record.parts), "") == _TYPE
    return (tag == _TYPE and (_TYPE in record.parts or record.error is not None)) or (
        tag != "" and gap and not typed_first
    )


def _document(record: TaggedRecord, source: Source, number: int) -> AnnotatedDocument:
    tags = record.tags()
    fields = _fields(record, tags)
    key = joined(tags, "%F") or fields["doi"] or f"{source.stem}:{number}"
    place = Place(source.path, record.first_line, key)
    title, abstract = (joined(tags, tag) for tag in ("%T", "%X"))
    return make_record(place, title, abstract, fields)


def _fields(record: TaggedRecord, tags: Tags) -> dict[str, Any]:
    venue = first_of(tags, _VENUES)
    year = next((tag for tag in ("%D", "%8") if year_of(tags.get(tag))), "")
    doi = joined(tags, "%R")
    found: dict[str, Any] = {
        "year": year_of(tags.get(year)),
        "doi": bare_doi(doi) or bare_doi(tags.get("%U")),
        "pmid": pubmed_number(tags, "%M", ("%~", "%W"), ("nlm",)),
        "venue": joined(tags, venue),
        "authors": [name for each in record.lines_of("%A") for name in authors_of(each)],
        "url": next(iter(tags.get("%U", [])), None),
        "keywords": split_keywords(record.lines_of("%K")),
    }
    keep_unusable(found, {"doi": doi}, "endnote")
    derived = {"%D": str(found["year"]), "%U": found["url"], "%M": found["pmid"]}
    held = {tag for tag, value in derived.items() if tags.get(tag) == [value]}
    return found | other_tags(tags, {*_INTERPRETED, venue, *held})
