"""Web of Science: the tagged export, ``savedrecs.txt`` or ``.ciw``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sciextract.documents.bibliography import bare_doi, pmid_of, year_of
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
    read_tagged,
    split_keywords,
    text_lines,
)

CUT = "the record has no ER line: it may be cut"
_ALLOWED = "a tag of two characters and a space"
_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$", re.DOTALL)
#: Lines of the file between records, or the end of one that did not begin.
_OUTSIDE = frozenset({"FN", "VR", "EF", "ER"})
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
    syntax = TagSyntax("Web of Science", "PT J", _TAG, _ALLOWED, _begins, _OUTSIDE)
    return read_tagged(source, text_lines(source), _document, syntax)


def _begins(tag: str, record: TaggedRecord, gap: bool) -> bool:
    """Whether a line begins what is not part of the record: another one, or lines of the file."""
    return "ER" in record.parts or tag in ("PT", "EF", "FN")


def _document(record: TaggedRecord, source: Source, number: int) -> AnnotatedDocument:
    tags = record.tags()
    tags |= {tag: lines for tag in _A_LINE_EACH if (lines := record.lines_of(tag))}
    fields = _fields(tags)
    key = joined(tags, "UT") or fields["doi"] or f"{source.stem}:{number}"
    place = Place(source.path, record.first_line, key)
    title, abstract = (joined(tags, tag) for tag in ("TI", "AB"))
    return make_record(place, title, abstract, fields, () if "ER" in record.parts else (CUT,))


def _fields(tags: Tags) -> dict[str, Any]:
    authors = first_of(tags, _AUTHORS)
    given = {name: joined(tags, tag) for name, tag in _GIVEN.items()}
    found: dict[str, Any] = {
        "year": year_of(given["year"]) or year_of(tags.get("EA")),
        "doi": bare_doi(given["doi"]),
        "pmid": pmid_of(given["pmid"]),
        "venue": joined(tags, "SO"),
        "authors": tags.get(authors, []),
        "keywords": split_keywords([joined(tags, "DE")]),
    }
    keep_unusable(found, given, "wos")
    return found | other_tags(tags, {*_INTERPRETED, authors})
