"""Tagged exports of reference managers and databases: RIS, EndNote (``refer``), Web of Science, and MEDLINE/nbib of PubMed.

In RIS, ``TY`` opens a record and ``ER`` closes it; one that has no ``ER`` ends where the next begins. rispy, the library
for that format, joins such a record with the next one, and drops the last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sciextract.documents.bibliography import authors_of, bare_doi, pmid_of, year_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import FormatError
from sciextract.formats.base import NumberedLine, Place, ReadItem, Source, quoted, read_each
from sciextract.formats.bibliographic import keep_unusable, make_record, text_lines
from sciextract.formats.record_check import is_placeholder

CUT = "the record has no ER line: it may be cut"

Tags = dict[str, list[str]]


def first_of(tags: Tags, names: Iterable[str]) -> str:
    """The first of some tags that the record has, rather one that holds no placeholder; empty for none."""
    given = [tag for tag in names if tag in tags]
    return min(given, key=lambda tag: is_placeholder(join_values(tags, tag)), default="")


def join_values(tags: Tags, tag: str) -> str:
    """The values of a tag, joined by one space; empty for none."""
    return " ".join(tags.get(tag, []))


def pubmed_number(
    tags: Tags, number: str, databases: Iterable[str], also: Iterable[str] = ()
) -> str | None:
    """PubMed's accession number; other databases have numbers of their own."""
    database = " ".join(join_values(tags, tag) for tag in databases).lower()
    from_pubmed = any(name in database for name in ("pubmed", "medline", *also))
    return pmid_of(tags.get(number)) if from_pubmed else None


def _held(tags: Tags, values: Mapping[str, object]) -> set[str]:
    """The tags whose whole content is the value of a field, so that they need no place of their own."""
    return {tag for tag, value in values.items() if tags.get(tag) == [value]}


def split_keywords(lines: Iterable[str]) -> list[str]:
    return [word for line in lines for part in line.split(";") if (word := part.strip())]


@dataclass(slots=True)
class _TaggedRecord:
    """A record's values by tag, each value as its wrapped lines.

    Attributes:
        first_line: The number of the line at which it starts.
        error: The first error in it, which makes it a bad record.
        parts: The lines of every value under a tag.
        last: The tag of the value that a line without a tag continues with; empty before the first.
    """

    first_line: int
    error: FormatError | None = None
    parts: dict[str, list[list[str]]] = field(default_factory=dict)
    last: str = ""

    def add(self, tag: str, value: str) -> None:
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


class _Mapped(NamedTuple):
    """What the tags of a record stand for.

    Attributes:
        tags: All of them.
        used: Those whose content the other attributes hold.
        given: Values by field, which are kept where the field has none: the year "in press".
        key: The document's key; empty for the DOI or number of the record.
    """

    tags: Tags
    used: AbstractSet[str]
    title: str
    abstract: str
    fields: dict[str, Any]
    given: Mapping[str, object]
    key: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _TagSyntax:
    """How records of a tagged format look.

    Attributes:
        id: The format.
        kind: What a file holds, for the error that it holds none.
        first_line: How a record begins.
        pattern: A line with a tag: the tag, and the value behind it.
        allowed: What a record may begin with, for the error of one that begins with another line.
        begins: Whether a line begins the next record. Arguments: the line's tag (empty if it has none), the
            record so far, and whether blank lines lie between them.
        outside: Tags that are no part of a record and begin none.
    """

    id: str
    kind: str
    first_line: str
    pattern: re.Pattern[str]
    allowed: str
    begins: Callable[[str, _TaggedRecord, bool], bool]
    outside: AbstractSet[str] = frozenset()


def _read_tagged(
    source: Source,
    lines: Iterable[NumberedLine],
    map_tags: Callable[[_TaggedRecord], _Mapped],
    syntax: _TagSyntax,
) -> Iterator[ReadItem]:
    """The documents of a file of tagged records; a record with an error becomes a bad record.

    Args:
        source: The file.
        lines: Its lines, as :func:`text_lines` gives them.
        map_tags: What the tags of a record stand for; may raise :class:`FormatError`.
        syntax: Where records begin and end.
    """

    def records() -> Iterator[_TaggedRecord]:
        # Lines without a tag continue with the value above them; blank ones are part of no record.
        record: _TaggedRecord | None = None
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
            record = record or _TaggedRecord(number)
            if isinstance(line, FormatError):
                record.error = record.error or line
                continue
            gap = False
            if tag:
                record.add(tag, value or "")
            elif record.last:
                record.parts[record.last][-1].append(line.strip())
            else:
                problem = f"{quoted(line)} found; expected {syntax.allowed}"
                record.error = record.error or Place(source.path, number).error(problem)
        if record:
            yield record

    def read(record: _TaggedRecord, number: int) -> AnnotatedDocument:
        if record.error:
            raise record.error
        found = map_tags(record)
        fields = found.fields
        keep_unusable(fields, found.given, syntax.id)
        rest = {tag: values for tag, values in found.tags.items() if tag not in found.used}
        # One value stands by itself.
        fields |= {tag: values[0] if len(values) == 1 else values for tag, values in rest.items()}
        key = found.key or fields["doi"] or f"{source.stem}:{number}"
        place = Place(source.path, record.first_line, key)
        return make_record(place, found.title, found.abstract, fields, found.warnings)

    problem = f"the file holds no {syntax.kind} record"
    hint = f"a record begins with: {syntax.first_line}"
    return read_each(records(), read, FormatError(problem, path=source.path, hint=hint))


_ENDNOTE_TAG = re.compile(r"(%\S)(?:[ \t](.*))?$", re.DOTALL)
_ENDNOTE_INTERPRETED = frozenset({"%T", "%X", "%A", "%R", "%K", "%F"})


def read_endnote(source: Source) -> Iterator[ReadItem]:
    """Read the records one after the other: each begins with ``%0``, or behind a blank line where none has it first."""

    def begins(tag: str, record: _TaggedRecord, gap: bool) -> bool:
        # Abstracts may hold blank lines, so these count only without %0.
        typed_first = next(iter(record.parts), "") == "%0"
        typed = tag == "%0" and ("%0" in record.parts or record.error is not None)
        return typed or (tag != "" and gap and not typed_first)

    def map_tags(record: _TaggedRecord) -> _Mapped:
        tags = record.tags()
        venue = first_of(tags, ("%J", "%B"))
        year = next((tag for tag in ("%D", "%8") if year_of(tags.get(tag))), "")
        doi = join_values(tags, "%R")
        fields: dict[str, Any] = {
            "year": year_of(tags.get(year)),
            "doi": bare_doi(doi) or bare_doi(tags.get("%U")),
            "pmid": pubmed_number(tags, "%M", ("%~", "%W"), ("nlm",)),
            "venue": join_values(tags, venue),
            "authors": [name for line in record.lines_of("%A") for name in authors_of(line)],
            "url": next(iter(tags.get("%U", [])), None),
            "keywords": split_keywords(record.lines_of("%K")),
        }
        derived = {"%D": str(fields["year"]), "%U": fields["url"], "%M": fields["pmid"]}
        used = {*_ENDNOTE_INTERPRETED, venue, *_held(tags, derived)}
        title, abstract, key = (join_values(tags, tag) for tag in ("%T", "%X", "%F"))
        return _Mapped(tags, used, title, abstract, fields, {"doi": doi}, key)

    allowed = "a percent sign, one character and a space"
    syntax = _TagSyntax("endnote", "EndNote", "%0 Journal Article", _ENDNOTE_TAG, allowed, begins)
    return _read_tagged(source, text_lines(source), map_tags, syntax)


_WOS_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$", re.DOTALL)
#: Lines of the file between records, or the end of one that did not begin.
_WOS_OUTSIDE = frozenset({"FN", "VR", "EF", "ER"})
#: Tags with one item a line; under all others the lines are one wrapped value.
_A_LINE_EACH = ("AU", "AF", "BA", "BF", "CA", "BE", "ED", "C1", "CR")
_WOS_GIVEN = {"year": "PY", "doi": "DI", "pmid": "PM"}
_WOS_INTERPRETED = frozenset({"TI", "AB", "SO", "DE", "UT", *_WOS_GIVEN.values()})


def read_wos(source: Source) -> Iterator[ReadItem]:
    """Read the records of a Web of Science export (``savedrecs.txt``, ``.ciw``), each from ``PT`` to ``ER``."""

    def begins(tag: str, record: _TaggedRecord, gap: bool) -> bool:
        return "ER" in record.parts or tag in ("PT", "EF", "FN")

    def map_tags(record: _TaggedRecord) -> _Mapped:
        tags = record.tags()
        tags |= {tag: lines for tag in _A_LINE_EACH if (lines := record.lines_of(tag))}
        # Full names before abbreviated ones, authors before those of the book, and groups last.
        authors = first_of(tags, ("AF", "AU", "BF", "BA", "CA"))
        given = {name: join_values(tags, tag) for name, tag in _WOS_GIVEN.items()}
        fields: dict[str, Any] = {
            "year": year_of(given["year"]) or year_of(tags.get("EA")),
            "doi": bare_doi(given["doi"]),
            "pmid": pmid_of(given["pmid"]),
            "venue": join_values(tags, "SO"),
            "authors": tags.get(authors, []),
            "keywords": split_keywords([join_values(tags, "DE")]),
        }
        used = {*_WOS_INTERPRETED, authors}
        title, abstract, key = (join_values(tags, tag) for tag in ("TI", "AB", "UT"))
        warnings = () if "ER" in record.parts else (CUT,)
        return _Mapped(tags, used, title, abstract, fields, given, key, warnings)

    allowed = "a tag of two characters and a space"
    syntax = _TagSyntax("wos", "Web of Science", "PT J", _WOS_TAG, allowed, begins, _WOS_OUTSIDE)
    return _read_tagged(source, text_lines(source), map_tags, syntax)


_NBIB_TAG = re.compile(r"([A-Z][A-Z0-9 ]{3})-(?: (.*))?$", re.DOTALL)
_NBIB_INDENT = " " * 6
_NBIB_DOI = re.compile(r"(\S+) \[doi\]")
#: What a record begins with behind a blank line; any other tag there goes on with the record above.
_NBIB_FIRST = frozenset({"PMID", "PMC", "OWN", "STAT"})
_NBIB_INTERPRETED = frozenset({"TI", "AB", "PMID", "FAU", "OT"})


def read_nbib(source: Source) -> Iterator[ReadItem]:
    """Read the records of PubMed's text export one after the other; blank lines lie between them, and within abstracts."""

    def lines_from_first_tag() -> Iterator[NumberedLine]:
        started, blank = False, 0
        for number, line in text_lines(source):
            started = started or (isinstance(line, str) and _NBIB_TAG.match(line) is not None)
            if isinstance(line, str) and not line.strip():
                blank = number
            elif started or isinstance(line, FormatError):
                # An indented line is the next paragraph of the abstract above the blank one.
                if blank and not (isinstance(line, str) and line.startswith(_NBIB_INDENT)):
                    yield blank, ""
                yield number, line
                blank = 0

    def begins(tag: str, record: _TaggedRecord, gap: bool) -> bool:
        # A line without a tag is a paragraph of the abstract above.
        is_first = tag in (*_NBIB_FIRST, *record.parts) or (not tag and record.last != "AB")
        return (gap and is_first) or (tag == "PMID" and "PMID" in record.parts)

    def map_tags(record: _TaggedRecord) -> _Mapped:
        tags = record.tags()
        firsts = {tag: values[0] for tag, values in tags.items()}
        # The title of a book is the venue of its chapters, and the title of a record without chapter.
        venues = ("JT", "TA", "BTI") if "TI" in tags else ("JT", "TA")
        venue = next((tag for tag in venues if tag in tags), "")
        dois = (_NBIB_DOI.fullmatch(value) for tag in ("LID", "AID") for value in tags.get(tag, []))
        # "Brinjikji W" is a person; a name without initials is that of a group.
        short_names = [
            f"{family}, {initials}"
            if family and initials.isupper()
            else f"{family}{blank}{initials}"
            for family, blank, initials in (author.rpartition(" ") for author in tags.get("AU", []))
        ]
        fields: dict[str, Any] = {
            "year": year_of(tags.get("DP")),
            "doi": next((doi for found in dois if found and (doi := bare_doi(found[1]))), None),
            "pmid": pmid_of(tags.get("PMID")),
            "venue": firsts.get(venue, ""),
            "authors": [*(tags.get("FAU") or short_names), *tags.get("CN", [])],
            "keywords": [word.removeprefix("*") for word in tags.get("OT", [])],
        }
        used, given = {*_NBIB_INTERPRETED, venue}, {"pmid": join_values(tags, "PMID")}
        title = firsts.get(first_of(tags, ("TI", "BTI", "TT")), "")
        key = fields["pmid"] or firsts.get("PMC", "")
        return _Mapped(tags, used, title, join_values(tags, "AB"), fields, given, key)

    allowed = "a tag of four characters, a hyphen and a space"
    syntax = _TagSyntax("nbib", "nbib", "PMID- 12345", _NBIB_TAG, allowed, begins)
    return _read_tagged(source, lines_from_first_tag(), map_tags, syntax)


_TITLES = ("TI", "T1", "BT", "CT")
_ABSTRACTS = ("AB", "N2")
_RIS_VENUES = ("JF", "JO", "T2", "JA", "J2", "J1")
_RIS_TAG = re.compile(r"([A-Z][A-Z0-9])  ?-(.*)", re.DOTALL)
#: What stands before the tag that opens a record: blanks, its number, a mark.
_RIS_START = re.compile(r"([^A-Za-z]{1,12})TY  -")
_RIS_INTERPRETED = frozenset({"AU", "A1", "KW", "ID", "DO", "ER"})


def read_ris(source: Source) -> Iterator[ReadItem]:
    """Read the records one after the other, each up to its ``ER``, with or without ``TY``. What stands before the first
    is no part of any, nor are tags between records without a title or an abstract (Ovid's ``NL`` and ``C1``).
    """
    opens_with_type = False

    def lines_of_records() -> Iterator[NumberedLine]:
        nonlocal opens_with_type
        inside = is_loose = is_apart = False
        indent = ""
        waiting: list[NumberedLine] = []  # tags of the record that follows, or of none
        for number, line in text_lines(source):
            if isinstance(line, FormatError):
                yield number, line
                continue
            if before := _RIS_START.match(line):
                indent = "" if before[1].strip() else before[1]
                line = line[before.end(1) :]
            line = line.removeprefix(indent)
            tag = found[1] if (found := _RIS_TAG.match(line)) else ""
            has_one_space = line[2:4] == " -"
            if tag == "TY":
                opens_with_type = opens_with_type or not (inside or waiting)
                waiting = [] if is_apart else waiting
                is_loose = has_one_space
            elif tag and has_one_space and not is_loose:
                # One space before the hyphen counts in records whose first line has one, too.
                tag, line = "", f" {line}"
            if inside:
                yield number, line
            elif tag in ("TY", *_TITLES, *_ABSTRACTS) or (tag == "ER" and waiting):
                yield from [*waiting, (number, line)]
                inside, waiting = True, []
            elif tag and tag != "ER":
                waiting.append((number, line))
            is_apart = not tag
            inside = inside and tag != "ER"

    def begins(tag: str, record: _TaggedRecord, gap: bool) -> bool:
        # A type behind other tags is theirs, but where records open with it.
        is_next = tag == "TY" and (opens_with_type or "TY" in record.parts)
        # Without TY and ER, records begin with the same tag behind a blank line.
        is_again = gap and tag != "" and tag == next(iter(record.parts), "")
        is_again = is_again and any(title in record.parts for title in _TITLES)
        return is_next or is_again or "ER" in record.parts

    def map_tags(record: _TaggedRecord) -> _Mapped:
        [[kind, *untagged]] = record.parts.get("TY") or [[""]]
        listed = {"TY": [kind] if kind else [], "untagged": untagged}
        listed |= {tag: record.lines_of(tag) for tag in record.parts if tag != "TY"}
        tags = {tag: lines for tag, lines in listed.items() if lines}
        year = next((name for name in ("PY", "Y1", "DA") if year_of(tags.get(name))), "")
        names = [*tags.get("AU", []), *tags.get("A1", [])]
        wanted = (_RIS_VENUES, _TITLES, _ABSTRACTS)
        venue, title, abstract = (first_of(tags, names) for names in wanted)
        fields: dict[str, Any] = {
            "year": year_of(tags.get(year)),
            "doi": bare_doi(tags.get("DO")) or bare_doi(tags.get("UR")),
            "pmid": pubmed_number(tags, "AN", ("DB", "DP"))
            or pubmed_number(tags, "C2", ("DB",), ("scopus",)),
            "venue": join_values(tags, venue),
            "authors": [name for line in names for name in authors_of(line)],
            "url": next(iter(tags.get("UR", [])), None),
            "keywords": split_keywords(tags.get("KW", [])),
        }
        derived = {"PY": str(fields["year"]), "UR": fields["url"], "AN": fields["pmid"]}
        used = {*_RIS_INTERPRETED, *_held(tags, derived), venue, title, abstract}
        given, key = {"doi": join_values(tags, "DO")}, next(iter(tags.get("ID", [])), "")
        title, abstract = join_values(tags, title), join_values(tags, abstract)
        warnings = () if "ER" in record.parts else (CUT,)
        return _Mapped(tags, used, title, abstract, fields, given, key, warnings)

    syntax = _TagSyntax("ris", "RIS", "TY  - JOUR", _RIS_TAG, "a TY line", begins)
    return _read_tagged(source, lines_of_records(), map_tags, syntax)
