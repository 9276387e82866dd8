"""Web of Science: the tagged export, ``savedrecs.txt`` or ``.ciw``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
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

CUT = "the record has no ER line: it may be cut"
_ALLOWED = "a tag of two characters and a space"
_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$", re.DOTALL)
#: Lines of the file, not of a record.
_OF_FILE = frozenset({"FN", "VR", "EF"})
#: Tags with one item a line; under all others the lines are one wrapped value.
_A_LINE_EACH = ("AU", "AF", "BA", "BF", "CA", "BE", "ED", "C1", "CR")
_GIVEN = {"year": "PY", "doi": "DI", "pmid": "PM"}
_AUTHORS = ("AF", "AU", "BF", "BA", "CA")
_INTERPRETED = frozenset({"TI", "AB", "SO", "DE", "UT", *_GIVEN.values()})


def read_wos(source: Source) -> Iterator[ReadItem]:
    """Read the records one after the other, each from ``PT`` to ``ER``.

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or holds no record.
    """
    return read_tagged(_records(source), _document, source, "Web of Science", "PT J")


def _records(source: Source) -> Iterator[TaggedRecord]:
    record: TaggedRecord | None = None
    for number, line in text_lines(source):
        if isinstance(line, FormatError):
            record = record or TaggedRecord(number)
            record.error = record.error or line
            continue
        found = _TAG.match(line)
        tag = found[1] if found else ""
        if record and (tag in ("ER", "EF", "FN") or tag == "PT"):
            if tag == "ER":
                record.add("ER", "")
            yield record
            record = None
        if not line.strip() or tag == "ER" or (record is None and tag in _OF_FILE):
            continue
        record = record or TaggedRecord(number)
        tag, value = (found[1], found[2]) if found else ("", "")
        record.take(line, tag, value, Place(source.path, number), _ALLOWED)
    if record:
        yield record


def _document(record: TaggedRecord, source: Source, number: int) -> AnnotatedDocument:
    tags = record.tags()
    tags |= {tag: lines for tag in _A_LINE_EACH if (lines := record.lines_of(tag))}
    fields = _fields(tags)
    key = " ".join(tags.get("UT", [])) or fields["doi"] or f"{source.stem}:{number}"
    place = Place(source.path, record.first_line, key)
    title, abstract = (" ".join(tags.get(tag, [])) for tag in ("TI", "AB"))
    return make_record(place, title, abstract, fields, () if "ER" in record.parts else (CUT,))


def _fields(tags: Tags) -> dict[str, Any]:
    authors = next((tag for tag in _AUTHORS if tag in tags), "")
    given = {name: " ".join(tags.get(tag, [])) for name, tag in _GIVEN.items()}
    found: dict[str, Any] = {
        "year": year_of(given["year"]) or year_of(tags.get("EA")),
        "doi": bare_doi(given["doi"]),
        "pmid": pmid_of(given["pmid"]),
        "venue": " ".join(tags.get("SO", [])),
        "authors": tags.get(authors, []),
        "keywords": [
            word for each in " ".join(tags.get("DE", [])).split(";") if (word := each.strip())
        ],
    }
    keep_unusable(found, given, "wos")
    return found | {
        tag: values[0] if len(values) == 1 else values
        for tag, values in tags.items()
        if tag not in {*_INTERPRETED, authors}
    }
