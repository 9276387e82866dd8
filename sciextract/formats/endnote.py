"""EndNote's tagged export (``.enw``), the format of ``refer``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sciextract.documents.bibliography import authors_of, bare_doi, pmid_of, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import Place, ReadItem, Source
from sciextract.formats.bibliographic import (
    TaggedRecord,
    Tags,
    keep_unusable,
    make_record,
    read_tagged,
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
    return read_tagged(_records(source), _document, source, "EndNote", "%0 Journal Article")


def _records(source: Source) -> Iterator[TaggedRecord]:
    record: TaggedRecord | None = None
    gap = False
    for number, line in text_lines(source):
        if isinstance(line, FormatError):
            record = record or TaggedRecord(number)
            record.error = record.error or line
            continue
        if not line.strip():
            gap = True
            continue
        found = _TAG.match(line)
        if record and found and _begins(found[1], record, gap):
            yield record
            record = None
        gap = False
        record = record or TaggedRecord(number)
        tag, value = (found[1], found[2]) if found else ("", "")
        record.take(line, tag, value, Place(source.path, number), _ALLOWED)
    if record:
        yield record


def _begins(tag: str, record: TaggedRecord, gap: bool) -> bool:
    """Whether a tag begins the next record. Abstracts may hold blank lines, so these count only without ``%0``."""
    typed_first = next(iter(record.parts), "") == _TYPE
    return (tag == _TYPE and (_TYPE in record.parts or record.error is not None)) or (
        gap and not typed_first
    )


def _document(record: TaggedRecord, source: Source, number: int) -> AnnotatedDocument:
    tags = record.tags()
    fields = _fields(record, tags)
    key = " ".join(tags.get("%F", [])) or fields["doi"] or f"{source.stem}:{number}"
    place = Place(source.path, record.first_line, key)
    title, abstract = (" ".join(tags.get(tag, [])) for tag in ("%T", "%X"))
    return make_record(place, title, abstract, fields)


def _fields(record: TaggedRecord, tags: Tags) -> dict[str, Any]:
    venue = next((tag for tag in _VENUES if tag in tags), "")
    year = next((tag for tag in ("%D", "%8") if year_of(tags.get(tag))), "")
    doi = " ".join(tags.get("%R", []))
    found: dict[str, Any] = {
        "year": year_of(tags.get(year)),
        "doi": bare_doi(doi) or bare_doi(tags.get("%U")),
        "pmid": _pmid(tags),
        "venue": " ".join(tags.get(venue, [])),
        "authors": [name for each in record.lines_of("%A") for name in authors_of(each)],
        "url": next(iter(tags.get("%U", [])), None),
        "keywords": [
            word
            for line in record.lines_of("%K")
            for each in line.split(";")
            if (word := each.strip())
        ],
    }
    keep_unusable(found, {"doi": doi}, "endnote")
    derived = {"%D": str(found["year"]), "%U": found["url"], "%M": found["pmid"]}
    used = {
        *_INTERPRETED,
        venue,
        *(tag for tag, value in derived.items() if tags.get(tag) == [value]),
    }
    return found | {
        tag: values[0] if len(values) == 1 else values
        for tag, values in tags.items()
        if tag not in used
    }


def _pmid(tags: Tags) -> str | None:
    """PubMed's accession number; other databases have numbers of their own."""
    database = " ".join(tags.get("%~", []) + tags.get("%W", [])).lower()
    from_pubmed = any(name in database for name in ("pubmed", "medline", "nlm"))
    return pmid_of(tags.get("%M")) if from_pubmed else None
