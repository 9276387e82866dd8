"""RIS, as reference managers and databases export it.

``TY`` opens a record and ``ER`` closes it; one that has no ``ER`` ends where the next begins. rispy, the library for
this format, joins such a record with the next one, and drops the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.bibliography import authors_of, bare_doi, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import Block, Place, ReadItem, Source, read_each
from sciextract.formats.bibliographic import keep_unusable, make_record, no_record, text_lines
from sciextract.formats.tagged import (
    CUT,
    Tags,
    first_of,
    joined,
    other_tags,
    pubmed_number,
    split_keywords,
)

_TITLES = ("TI", "T1", "BT", "CT")
_ABSTRACTS = ("AB", "N2")
_VENUES = ("JF", "JO", "T2", "JA", "J2", "J1")
_YEARS = ("PY", "Y1", "DA")
_AUTHORS = ("AU", "A1")
_INTERPRETED = frozenset({*_AUTHORS, "KW", "ID"})
_TAG = re.compile(r"([A-Z][A-Z0-9])(  ?)-(.*)", re.DOTALL)


def read_ris(source: Source) -> Iterator[ReadItem]:
    """Read the records one after the other; what stands before the first ``TY`` is not part of any, nor are tags
    between records without a title or an abstract (Ovid's ``NL`` and ``C1``).

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or has no ``TY`` line.
    """

    def read(record: _Record, number: int) -> AnnotatedDocument:
        return _document(record, number, source)

    records = (each for each in _records(source) if not each.is_stray)
    return read_each(records, read, no_record("RIS", "TY  - JOUR", source))


@dataclass(slots=True)
class _Record(Block):
    lines: list[str] = field(default_factory=list)
    typed: bool = True
    ended: bool = False

    @property
    def is_stray(self) -> bool:
        """Whether these are lines of a vendor between two records, and no record that lost its ``TY`` line."""
        texts = any(line[:2] in (*_TITLES, *_ABSTRACTS) for line in self.lines)
        return not (self.typed or self.ended or self.error or texts)

    @property
    def is_loose(self) -> bool:
        """Whether its first line has one space before the hyphen only, as some programs write all lines."""
        return bool(self.lines) and self.lines[0][2:4] == " -"


def _records(source: Source) -> Iterator[_Record]:
    record: _Record | None = None
    started = False
    for number, line in text_lines(source):
        if isinstance(line, FormatError):
            record = record or _Record(number, typed=False)
            record.fail(line)
            continue
        found, tag = _TAG.match(line), None
        # One space before the hyphen counts in records whose first line has one, too.
        if found and (found[2] == "  " or found[1] == "TY" or (record and record.is_loose)):
            tag = found[1]
        if tag == "TY":
            if record:
                yield record
            record, started = _Record(number, [line]), True
        elif record is None and tag not in (None, "ER") and started:
            record = _Record(number, [line], typed=False)
        elif record is not None and tag != "ER":
            record.lines.append(line)
        if tag == "ER" and record:
            record.ended = True
            yield record
            record = None
    if record:
        yield record


def _document(record: _Record, number: int, source: Source) -> AnnotatedDocument:
    place = Place(source.path, record.first_line)
    if not record.typed:
        raise place.error("the record does not begin with a TY line")
    tags: Tags = {}
    # Lines without a tag are part of the value above them.
    tag = "untagged"
    for line in record.lines:
        found = _TAG.match(line)
        if found and (record.is_loose or found[2] == "  "):
            tag, line = found[1], found[3]
        if value := line.strip():
            tags.setdefault(tag, []).append(value)
        if tag == "TY":
            tag = "untagged"
    doi = bare_doi(tags.get("DO")) or bare_doi(tags.get("UR"))
    venue = first_of(tags, _VENUES)
    year = next((name for name in _YEARS if year_of(tags.get(name))), "")
    fields: dict[str, Any] = {
        "year": year_of(tags.get(year)),
        "doi": doi,
        "pmid": pubmed_number(tags, "AN", ("DB", "DP")),
        "venue": joined(tags, venue),
        "authors": [
            name for tag in _AUTHORS for each in tags.get(tag, []) for name in authors_of(each)
        ],
        "url": next(iter(tags.get("UR", [])), None),
        "keywords": split_keywords(tags.get("KW", [])),
    }
    # Tags whose whole content a field holds need no place of their own.
    whole = {"PY": str(fields["year"]), "UR": fields["url"], "AN": fields["pmid"]}
    held = {tag for tag, value in whole.items() if tags.get(tag) == [value]} | {"DO"}
    used = {*_INTERPRETED, *held, venue, first_of(tags, _TITLES), first_of(tags, _ABSTRACTS)}
    keep_unusable(fields, {"doi": joined(tags, "DO")}, "ris")
    fields |= other_tags(tags, used)
    key = next(iter(tags.get("ID", [])), "") or doi or f"{source.stem}:{number}"
    title, abstract = (joined(tags, first_of(tags, names)) for names in (_TITLES, _ABSTRACTS))
    warnings = () if record.ended else (CUT,)
    place = Place(source.path, record.first_line, key)
    return make_record(place, title, abstract, fields, warnings)
