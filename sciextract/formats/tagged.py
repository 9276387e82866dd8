"""Tagged exports of reference managers and databases: EndNote (``refer``), Web of Science, and MEDLINE/nbib of PubMed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.bibliography import authors_of, bare_doi, pmid_of, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import Block, Place, ReadItem, Source, quoted, read_each
from sciextract.formats.bibliographic import keep_unusable, make_record, no_record, text_lines

CUT = "the record has no ER line: it may be cut"

Tags = dict[str, list[str]]


def first_of(tags: Tags, names: Iterable[str]) -> str:
    """The first of some tags that the record has; empty for none."""
    return next((tag for tag in names if tag in tags), "")


def joined(tags: Tags, tag: str) -> str:
    """The values of a tag, joined by one space; empty for none."""
    return " ".join(tags.get(tag, []))


def pubmed_number(
    tags: Tags, number: str, databases: Iterable[str], also: Iterable[str] = ()
) -> str | None:
    """PubMed's accession number; other databases have numbers of their own."""
    database = " ".join(joined(tags, tag) for tag in databases).lower()
    from_pubmed = any(name in database for name in ("pubmed", "medline", *also))
    return pmid_of(tags.get(number)) if from_pubmed else None


def split_keywords(lines: Iterable[str]) -> list[str]:
    """Keywords that semicolons separate."""
    return [word for line in lines for each in line.split(";") if (word := each.strip())]


def other_tags(tags: Tags, used: AbstractSet[str]) -> dict[str, str | list[str]]:
    """The tags that no field holds; one value stands by itself."""
    return {
        tag: values[0] if len(values) == 1 else values
        for tag, values in tags.items()
        if tag not in used
    }


@dataclass(slots=True)
class TaggedRecord(Block):
    """A record's values by tag, each value as its wrapped lines.

    Attributes:
        parts: The lines of every value under a tag.
        last: The tag of the value that a line without a tag continues with; empty before the first.
    """

    parts: dict[str, list[list[str]]] = field(default_factory=dict)
    last: str = ""

    def add(self, tag: str, value: str) -> None:
        """Begin a value."""
        self.parts.setdefault(tag, []).append([value.strip()])
        self.last = tag

    def tags(self) -> Tags:
        """The values that are not empty, wrapped lines joined by one space."""
        joined = {
            tag: [text for parts in values if (text := " ".join(filter(None, parts)))]
            for tag, values in self.parts.items()
        }
        return {tag: values for tag, values in joined.items() if values}

    def lines_of(self, tag: str) -> list[str]:
        """The lines under a tag that are not empty, for tags with an item a line."""
        return [line for parts in self.parts.get(tag, []) for line in parts if line]


@dataclass(frozen=True, slots=True)
class TagSyntax:
    """How records of a tagged format look.

    Attributes:
        kind: What a file holds, for the error that it holds none.
        first_line: How a record begins.
        pattern: A line with a tag: the tag, and the value behind it.
        allowed: What a record may begin with, for the error of one that begins with another line.
        begins: Whether a line begins the next record. Arguments: the line's tag (empty if it has none), the
            record so far, and whether blank lines lie between them.
        outside: Tags that are no part of a record and begin none.
    """

    kind: str
    first_line: str
    pattern: re.Pattern[str]
    allowed: str
    begins: Callable[[str, TaggedRecord, bool], bool]
    outside: AbstractSet[str] = frozenset()


def read_tagged(
    source: Source,
    lines: Iterable[tuple[int, str | FormatError]],
    document: Callable[[TaggedRecord, int], AnnotatedDocument],
    syntax: TagSyntax,
) -> Iterator[ReadItem]:
    """The documents of a file of tagged records; a record with an error becomes a bad record.

    Args:
        source: The file.
        lines: Its lines, as :func:`text_lines` gives them.
        document: The document of a record and its number; may raise :class:`FormatError`.
        syntax: Where records begin and end.

    Raises:
        FormatError: There is no record.
    """

    def records() -> Iterator[TaggedRecord]:
        # Lines without a tag continue with the value above them; blank ones are part of no record.
        record: TaggedRecord | None = None
        gap = False
        for number, line in lines:
            if isinstance(line, str) and not line.strip():
                gap = True
                continue
            found = syntax.pattern.match(line) if isinstance(line, str) else None
            tag, value = (found[1].rstrip(), found[2]) if found else ("", "")
            if record and syntax.begins(tag, record, gap):
                yield record
                record, gap = None, False
            if record is None and tag in syntax.outside:
                continue
            record = record or TaggedRecord(number)
            if isinstance(line, FormatError):
                record.fail(line)
                continue
            gap = False
            if tag:
                record.add(tag, value or "")
            elif record.last:
                record.parts[record.last][-1].append(line.strip())
            else:
                place = Place(source.path, number)
                record.fail(place.error(f"{quoted(line)} found; expected {syntax.allowed}"))
        if record:
            yield record

    nothing = no_record(syntax.kind, syntax.first_line, source)
    return read_each(records(), document, nothing)


_ENDNOTE_TAG = re.compile(r"(%\S)(?:[ \t](.*))?$", re.DOTALL)
_ENDNOTE_INTERPRETED = frozenset({"%T", "%X", "%A", "%R", "%K", "%F"})


def read_endnote(source: Source) -> Iterator[ReadItem]:
    """Read the records one after the other: each begins with ``%0``, or behind a blank line where none has it first.

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or holds no record.
    """

    def begins(tag: str, record: TaggedRecord, gap: bool) -> bool:
        # Abstracts may hold blank lines, so these count only without %0.
        typed_first = next(iter(record.parts), "") == "%0"
        typed = tag == "%0" and ("%0" in record.parts or record.error is not None)
        return typed or (tag != "" and gap and not typed_first)

    def document(record: TaggedRecord, number: int) -> AnnotatedDocument:
        tags = record.tags()
        venue = first_of(tags, ("%J", "%B"))
        year = next((tag for tag in ("%D", "%8") if year_of(tags.get(tag))), "")
        doi = joined(tags, "%R")
        fields: dict[str, Any] = {
            "year": year_of(tags.get(year)),
            "doi": bare_doi(doi) or bare_doi(tags.get("%U")),
            "pmid": pubmed_number(tags, "%M", ("%~", "%W"), ("nlm",)),
            "venue": joined(tags, venue),
            "authors": [name for each in record.lines_of("%A") for name in authors_of(each)],
            "url": next(iter(tags.get("%U", [])), None),
            "keywords": split_keywords(record.lines_of("%K")),
        }
        keep_unusable(fields, {"doi": doi}, "endnote")
        derived = {"%D": str(fields["year"]), "%U": fields["url"], "%M": fields["pmid"]}
        held = {tag for tag, value in derived.items() if tags.get(tag) == [value]}
        fields |= other_tags(tags, {*_ENDNOTE_INTERPRETED, venue, *held})
        key = joined(tags, "%F") or fields["doi"] or f"{source.stem}:{number}"
        place = Place(source.path, record.first_line, key)
        return make_record(place, joined(tags, "%T"), joined(tags, "%X"), fields)

    allowed = "a percent sign, one character and a space"
    syntax = TagSyntax("EndNote", "%0 Journal Article", _ENDNOTE_TAG, allowed, begins)
    return read_tagged(source, text_lines(source), document, syntax)


_WOS_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$", re.DOTALL)
#: Lines of the file between records, or the end of one that did not begin.
_WOS_OUTSIDE = frozenset({"FN", "VR", "EF", "ER"})
#: Tags with one item a line; under all others the lines are one wrapped value.
_A_LINE_EACH = ("AU", "AF", "BA", "BF", "CA", "BE", "ED", "C1", "CR")
_WOS_GIVEN = {"year": "PY", "doi": "DI", "pmid": "PM"}
_WOS_INTERPRETED = frozenset({"TI", "AB", "SO", "DE", "UT", *_WOS_GIVEN.values()})


def read_wos(source: Source) -> Iterator[ReadItem]:
    """Read the records of a Web of Science export (``savedrecs.txt``, ``.ciw``), each from ``PT`` to ``ER``.

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or holds no record.
    """

    def begins(tag: str, record: TaggedRecord, gap: bool) -> bool:
        return "ER" in record.parts or tag in ("PT", "EF", "FN")

    def document(record: TaggedRecord, number: int) -> AnnotatedDocument:
        tags = record.tags()
        tags |= {tag: lines for tag in _A_LINE_EACH if (lines := record.lines_of(tag))}
        # Full names before abbreviated ones, authors before those of the book, and groups last.
        authors = first_of(tags, ("AF", "AU", "BF", "BA", "CA"))
        given = {name: joined(tags, tag) for name, tag in _WOS_GIVEN.items()}
        fields: dict[str, Any] = {
            "year": year_of(given["year"]) or year_of(tags.get("EA")),
            "doi": bare_doi(given["doi"]),
            "pmid": pmid_of(given["pmid"]),
            "venue": joined(tags, "SO"),
            "authors": tags.get(authors, []),
            "keywords": split_keywords([joined(tags, "DE")]),
        }
        keep_unusable(fields, given, "wos")
        fields |= other_tags(tags, {*_WOS_INTERPRETED, authors})
        key = joined(tags, "UT") or fields["doi"] or f"{source.stem}:{number}"
        place = Place(source.path, record.first_line, key)
        warnings = () if "ER" in record.parts else (CUT,)
        return make_record(place, joined(tags, "TI"), joined(tags, "AB"), fields, warnings)

    allowed = "a tag of two characters and a space"
    syntax = TagSyntax("Web of Science", "PT J", _WOS_TAG, allowed, begins, _WOS_OUTSIDE)
    return read_tagged(source, text_lines(source), document, syntax)


_NBIB_TAG = re.compile(r"([A-Z][A-Z0-9 ]{3})-(?: (.*))?$", re.DOTALL)
_NBIB_DOI = re.compile(r"(\S+) \[doi\]")
_NBIB_INTERPRETED = frozenset({"TI", "AB", "PMID", "FAU", "OT"})


def read_nbib(source: Source) -> Iterator[ReadItem]:
    """Read the records of PubMed's text export one after the other; blank lines lie between them.

    Raises:
        FormatError: The file is empty, binary, in UTF-16 or UTF-32, or holds no record.
    """

    def lines_from_first_tag() -> Iterator[tuple[int, str | FormatError]]:
        started = False
        for number, line in text_lines(source):
            started = started or (isinstance(line, str) and _NBIB_TAG.match(line) is not None)
            if started or isinstance(line, FormatError) or not line.strip():
                yield number, line

    def begins(tag: str, record: TaggedRecord, gap: bool) -> bool:
        return gap or (tag == "PMID" and "PMID" in record.parts)

    def document(record: TaggedRecord, number: int) -> AnnotatedDocument:
        tags = record.tags()
        firsts = {tag: values[0] for tag, values in tags.items()}
        # The title of a book is the venue of its chapters, and the title of a record without chapter.
        venue = next(
            (tag for tag in ("JT", "TA", "BTI") if tag in tags and (tag != "BTI" or "TI" in tags)),
            "",
        )
        dois = (_NBIB_DOI.fullmatch(each) for tag in ("LID", "AID") for each in tags.get(tag, []))
        # "Brinjikji W" is a person; a name without initials is that of a group.
        short_names = [
            f"{family}, {initials}"
            if family and initials.isupper()
            else f"{family}{blank}{initials}"
            for family, blank, initials in (each.rpartition(" ") for each in tags.get("AU", []))
        ]
        fields: dict[str, Any] = {
            "year": year_of(tags.get("DP")),
            "doi": next((doi for found in dois if found and (doi := bare_doi(found[1]))), None),
            "pmid": pmid_of(tags.get("PMID")),
            "venue": firsts.get(venue, ""),
            "authors": [*(tags.get("FAU") or short_names), *tags.get("CN", [])],
            "keywords": [word.removeprefix("*") for word in tags.get("OT", [])],
        }
        keep_unusable(fields, {"pmid": joined(tags, "PMID")}, "nbib")
        fields |= other_tags(tags, {*_NBIB_INTERPRETED, venue})
        key = fields["pmid"] or firsts.get("PMC") or fields["doi"] or f"{source.stem}:{number}"
        title = next((firsts[tag] for tag in ("TI", "BTI", "TT") if tag in firsts), "")
        place = Place(source.path, record.first_line, key)
        return make_record(place, title, joined(tags, "AB"), fields)

    allowed = "a tag of four characters, a hyphen and a space"
    syntax = TagSyntax("nbib", "PMID- 12345", _NBIB_TAG, allowed, begins)
    return read_tagged(source, lines_from_first_tag(), document, syntax)
