"""MEDLINE/nbib, the text export of PubMed and PubMed Central."""

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
    TagSyntax,
    joined,
    keep_unusable,
    make_record,
    other_tags,
    read_tagged,
    text_lines,
)

_ALLOWED = "a tag of four characters, a hyphen and a space"
_TAG = re.compile(r"([A-Z][A-Z0-9 ]{3})-(?: (.*))?$", re.DOTALL)
_DOI = re.compile(r"(\S+) \[doi\]")
_VENUES = ("JT", "TA", "BTI")
_INTERPRETED = frozenset({"TI", "AB", "PMID", "FAU", "OT"})


def read_nbib(source: Source) -> Iterator[ReadItem]:
    """Read the records one after the other; blank lines lie between them.

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or holds no record.
    """
    syntax = TagSyntax("nbib", "PMID- 12345", _TAG, _ALLOWED, _begins)
    return read_tagged(source, _from_first_tag(source), _document, syntax)


def _from_first_tag(source: Source) -> Iterator[tuple[int, str | FormatError]]:
    started = False
    for number, line in text_lines(source):
        started = started or (isinstance(line, str) and _TAG.match(line) is not None)
        if started or isinstance(line, FormatError) or not line.strip():
            yield number, line


def _begins(tag: str, record: TaggedRecord, gap: bool) -> bool:
    return gap or (tag == "PMID" and "PMID" in record.parts)


def _document(record: TaggedRecord, source: Source, number: int) -> AnnotatedDocument:
    tags = record.tags()
    fields = _fields(tags)
    pmc = next(iter(tags.get("PMC", [])), None)
    key = fields["pmid"] or pmc or fields["doi"] or f"{source.stem}:{number}"
    title = _first(tags, "TI") or _first(tags, "BTI") or _first(tags, "TT")
    place = Place(source.path, record.first_line, key)
    return make_record(place, title, joined(tags, "AB"), fields)


def _first(tags: Tags, tag: str) -> str:
    return next(iter(tags.get(tag, [])), "")


def _fields(tags: Tags) -> dict[str, Any]:
    venue = next((tag for tag in _VENUES if tag in tags and (tag != "BTI" or "TI" in tags)), "")
    found: dict[str, Any] = {
        "year": year_of(tags.get("DP")),
        "doi": _doi(tags),
        "pmid": pmid_of(tags.get("PMID")),
        "venue": _first(tags, venue),
        "authors": [
            *(tags.get("FAU") or map(_family_first, tags.get("AU", []))),
            *tags.get("CN", []),
        ],
        "keywords": [word.removeprefix("*") for word in tags.get("OT", [])],
    }
    given = {"pmid": joined(tags, "PMID")}
    keep_unusable(found, given, "nbib")
    return found | other_tags(tags, {*_INTERPRETED, venue})


def _doi(tags: Tags) -> str | None:
    for value in [*tags.get("LID", []), *tags.get("AID", [])]:
        found = _DOI.fullmatch(value)
        if found and (doi := bare_doi(found[1])):
            return doi
    return None


def _family_first(name: str) -> str:
    """``Brinjikji W`` as ``Brinjikji, W``."""
    family, _, initials = name.rpartition(" ")
    return f"{family}, {initials}" if family and initials.isupper() else name
