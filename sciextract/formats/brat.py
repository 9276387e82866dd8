"""brat standoff: a folder of .txt and .ann files that brat itself can show, or one such pair.

brat's model is wider than ours: events, normalisations and notes are counted when they are read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sciextract.documents.annotations import Entity, Relation, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LINK
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats.alignment import span_between
from sciextract.formats.base import (
    STDIN,
    BadRecord,
    Place,
    ReadItem,
    Source,
    decode,
    decode_lines,
    leads_outside,
    quoted,
    read_each,
)
from sciextract.formats.items import (
    LOOSE,
    LOST_MEMBER,
    UNFIT_ATTRIBUTE,
    CorpusItems,
    in_fitting_unit,
)
from sciextract.formats.json_values import parse_object, typed_at
from sciextract.formats.layers import (
    LINE_BREAKS,
)
from sciextract.text.offsets import OffsetMap, Unit

NOTES_FILE = "sciextract.jsonl"
SCHEMA_FILE = "annotation.conf"
_BETWEEN_BREAKS = re.compile(f"[^{LINE_BREAKS}]+")


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the notes: what the name of a label stands for, or what a document's file does not tell.

    Attributes:
        file: Relative to the notes, without suffix.
        fragments: By T id the exact fragments.
        attributes: Those of the abstract: value by label.
    """

    label: str = ""
    stands_for: str = ""
    file: str = ""
    doc_key: str | None = None
    fragments: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Notes:
    """The content of one notes file.

    Attributes:
        folder: Where it lies.
        files: Notes by file name.
        labels: Label by its name in the files.
        errors: Lines that cannot be read.
    """

    folder: Path
    files: dict[str, Note] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    errors: list[FormatError] = field(default_factory=list)


def notes_for(folder: Path) -> Notes:
    """The notes next to the ``annotation.conf`` that brat uses for a folder; empty where there are none.

    Raises:
        FormatError: The file of notes cannot be read at all.
    """
    absolute = folder.absolute()
    # brat uses the nearest configuration above a folder; ours has its notes beside it.
    above = (absolute, *absolute.parents)
    notes = Notes(next((parent for parent in above if (parent / SCHEMA_FILE).is_file()), absolute))
    path = notes.folder / NOTES_FILE
    if not path.is_file() or not (notes.folder / SCHEMA_FILE).is_file():
        return notes
    for number, line in decode_lines(Source(str(path))):
        try:
            if isinstance(line, FormatError):
                raise line
            record = parse_object(line, str(path), number)
            note = typed_at(record, Note, "note", Place(str(path), number))
        except FormatError as error:
            notes.errors.append(error)
            continue
        if note.label:
            notes.labels[note.label] = note.stands_for
        if note.file:
            notes.files[note.file] = note
    return notes


def pieces_of(text: str, fragments: tuple[Span, ...]) -> tuple[Span, ...]:
    """Fragments as brat takes them: ascending, without overlap, and cut at line breaks."""
    merged: list[Span] = []
    for span in sorted(fragments):
        if merged and span.char_start < merged[-1].char_end:
            merged[-1] = Span(merged[-1].char_start, max(merged[-1].char_end, span.char_end))
        else:
            merged.append(span)
    return tuple(
        Span(span.char_start + match.start(), span.char_start + match.end())
        for span in merged
        for match in _BETWEEN_BREAKS.finditer(span.of(text))
    )


def join_pieces(text: str, pieces: tuple[Span, ...]) -> tuple[Span, ...]:
    """Fragments with those made one that only line breaks and indents keep apart: brat cuts mentions there."""
    starts = [pieces[0].char_start]
    ends = []
    for before, after in pairwise(pieces):
        gap = text[before.char_end : after.char_start]
        if gap.strip() or not set(LINE_BREAKS).intersection(gap):
            ends.append(before.char_end)
            starts.append(after.char_start)
    ends.append(pieces[-1].char_end)
    return tuple(map(Span, starts, ends))


_MENTION = re.compile(r"(\S+) +([0-9]{1,15} +[0-9]{1,15}(?:; *[0-9]{1,15} +[0-9]{1,15})*)\s*")
_RELATION = re.compile(r"(\S+)\s+([^\s:]+):(\S+)\s+([^\s:]+):(\S+)\s*")
_EVENT = re.compile(r"(E\S*)\t[^\s:]+:(\S+)")
#: What lines of no item of ours are, by their first letter.
_KINDS = {"E": "brat event", "N": "brat normalisation of what is not read", "#": "brat note"}
NORMALISATION = re.compile(r"N\S*\t\S+ (\S+) ([^\s:]+:\S+)(?:\t.*)?")
SUFFIXES = (".txt", ".ann")
_SPLIT_SUFFIXES = (".a1", ".a2", ".rel", ".co")
_SHAPE = "expected a folder of .txt and .ann files, or one such file"


class _Pair(NamedTuple):
    """One document's files: their path without suffix, its key where no note says another one, and what exists, by suffix."""

    base: Path
    doc_key: str
    files: dict[str, Path]


def read_brat(source: Source) -> Iterator[ReadItem]:
    """Read a folder and those below it, sorted, or one ``.txt`` or ``.ann`` with its sibling."""
    if source.path == STDIN:
        raise FormatError(f"standard input found, {_SHAPE}", path=STDIN)
    path = Path(source.path)
    if not path.exists():
        raise InputMissingError(f"{path}: no such file or folder")
    notes = notes_for(path if path.is_dir() else path.parent)
    yield from map(BadRecord, notes.errors)
    nothing = FormatError(f"no such file below, {_SHAPE}", path=source.path)
    pairs = _pairs_below(path)
    if not path.is_dir():
        stem, suffix = os.path.splitext(path.name)
        if suffix.lower() not in SUFFIXES:
            raise FormatError(f"a file {quoted(path.name)} found, {_SHAPE}", path=str(path))
        siblings = {end: path.with_name(stem + end) for end in SUFFIXES} | {suffix.lower(): path}
        files = {end: file for end, file in siblings.items() if file.is_file()}
        pairs = iter([_Pair(path.with_name(stem), stem, files)])
    yield from read_each(pairs, lambda pair, _: _document(pair, notes, source), nothing)


def _pairs_below(root: Path) -> Iterator[_Pair]:
    def refuse(error: OSError) -> None:
        raise FormatError(f"cannot be read: {error.strerror}", path=str(error.filename)) from error

    for parent, folders, names in os.walk(root, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        by_stem: dict[str, dict[str, Path]] = {}
        for name in sorted(names):
            stem, suffix = os.path.splitext(name)
            file = Path(parent, name)
            wanted = suffix.lower() in SUFFIXES and not name.startswith(".") and file.is_file()
            if wanted and not leads_outside(file, root):
                by_stem.setdefault(stem, {})[suffix.lower()] = file
        below = Path(parent).relative_to(root)
        for stem, files in sorted(by_stem.items()):
            yield _Pair(Path(parent, stem), (below / stem).as_posix(), files)


def _document(pair: _Pair, notes: Notes, source: Source) -> AnnotatedDocument:
    name = os.path.relpath(pair.base.absolute(), notes.folder).replace(os.sep, "/")
    note = notes.files.get(name, Note())
    key = pair.doc_key if note.doc_key is None else note.doc_key
    ann = pair.files.get(".ann")
    place = Place(str(ann), None, key)
    if ".txt" not in pair.files:
        raise place.error(f"no text: {pair.base.name}.txt is missing")
    text = _content(pair.files[".txt"])
    content = _content(ann).removeprefix("\ufeff") if ann else ""
    lines = [
        (replace(place, line=number), line.rstrip("\r"))
        for number, line in enumerate(content.split("\n"), start=1)
        if line.strip()
    ]

    def read(unit: Unit) -> tuple[CorpusItems, dict[str, Entity]]:
        items = CorpusItems(place, source.provenance)
        return _read_entities(items, lines, text, unit, notes.labels, note)

    items, mentions = in_fitting_unit(read)
    _add_links(items, lines, mentions, notes.labels)
    for label, value in note.attributes.items():
        items.attribute(None, label, value)
    for suffix in _SPLIT_SUFFIXES if not ann else ():
        if pair.base.with_name(pair.base.name + suffix).exists():
            file = f"{pair.base.name}{suffix}"
            items.unread[f"the file {file} of brat; join such files into .ann"] += 1
    return items.document(text, {})


def _content(path: Path) -> str:
    """The text of a file that may be empty; a byte order mark stays, because brat counts it."""
    try:
        return decode(path.read_bytes(), str(path))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=str(path)) from error


def _read_entities(
    items: CorpusItems,
    lines: list[tuple[Place, str]],
    text: str,
    unit: Unit,
    labels: Mapping[str, str],
    note: Note,
) -> tuple[CorpusItems, dict[str, Entity]]:
    """The T lines, each checked against the file's copy of its characters, and the entities by T id."""
    by_name: dict[str, Entity] = {}
    offsets = OffsetMap(text)
    for place, line in lines:
        if line[:1] != "T":
            continue
        name, _, rest = line.partition("\t")
        data, _, written = rest.partition("\t")
        with items.leaving_out():
            match = _MENTION.fullmatch(data)
            if match is None:
                raise place.unexpected(line, "T1<tab>LABEL START END[;START END...]<tab>TEXT")
            if name in by_name:
                raise place.error(f"the id {quoted(name)} occurs a second time; ids must differ")
            pairs = [[*map(int, pair.split())] for pair in match[2].split(";")]
            fragments = [
                span_between(start, end, unit, offsets, name, place) for start, end in pairs
            ]
            pieces = tuple(sorted(fragments))
            if any(after.char_start < before.char_end for before, after in pairwise(pieces)):
                raise place.error("its fragments overlap", field=name)
            if written.strip():
                copies = [span.of(text) for span in fragments]
                # Behind the copy, files of other programs may have empty columns.
                written = written if copies[-1].endswith("\t") else written.rstrip("\t")
                items.check_copy(written, copies, place, name)
            told = note.fragments.get(name, ())
            whole = told if told and pieces_of(text, told) == pieces else join_pieces(text, pieces)
            by_name[name] = items.entity(whole, labels.get(match[1], match[1]))
    return items, by_name


def _add_links(
    items: CorpusItems,
    lines: list[tuple[Place, str]],
    mentions: dict[str, Entity],
    labels: Mapping[str, str],
) -> None:
    """Add relations and clusters, whose arguments may stand on later lines, then attributes; count all other lines."""
    names = Counter(line.partition("\t")[0] for _, line in lines)
    triggers = {found[1]: found[2] for _, line in lines if (found := _EVENT.match(line))}
    # An event that is an argument stands for its trigger.
    by_name = mentions | {e: mentions[t] for e, t in triggers.items() if t in mentions}
    relations: dict[str, Relation] = {}
    # Attributes last: they may stand on relations below them.
    for place, line in sorted(lines, key=lambda found: found[1][:1] in ("A", "M")):
        name, _, rest = line.partition("\t")
        if line[:1] in ("R", "*"):
            with items.leaving_out(LOOSE):
                if relation := _add_link(items, line, place, by_name, names, labels):
                    relations[name] = relation
        elif line[:1] in ("A", "M"):
            with items.leaving_out(UNFIT_ATTRIBUTE):
                label, target, value, *_ = [*rest.strip().split(maxsplit=2), "", "", ""]
                item = by_name.get(target) or relations.get(target)
                if not item and target not in names:
                    problem = f"the id {quoted(target)} is referred to"
                    raise place.error(f"{problem}, but no line defines it")
                if item:
                    items.attribute(item, labels.get(label, label), labels.get(value, value))
                items.unread["brat attribute of what is not read"] += not item
        elif (found := NORMALISATION.fullmatch(line.strip())) and found[1] in by_name:
            items.attribute(by_name[found[1]], LINK, found[2])
        elif line[:1] != "T":
            items.unread[_KINDS.get(line[0], "line of a kind that brat does not know")] += 1


def _add_link(
    items: CorpusItems,
    line: str,
    place: Place,
    by_name: Mapping[str, Entity],
    names: Mapping[str, int],
    labels: Mapping[str, str],
) -> Relation | None:
    """Add a relation, which is returned, or a cluster; ``names`` counts the lines with each id."""
    name, _, rest = line.partition("\t")
    if name == "*":
        _, *ends = rest.split() or [""]
        if not ends:
            raise place.unexpected(line, "*<tab>KIND T1 T2 ...")
    else:
        match = _RELATION.fullmatch(rest.split("\t")[0])
        if match is None:
            raise place.unexpected(line, "R1<tab>LABEL Arg1:T1 Arg2:T2")
        if names[name] > 1:
            raise place.error(f"the id {quoted(name)} occurs a second time; ids must differ")
        label, role, head, other_role, tail = match.groups()
        ends = [tail, head] if (role, other_role) == ("Arg2", "Arg1") else [head, tail]
    lost = [end for end in ends if end not in by_name]
    if name == "*":
        items.unread[LOST_MEMBER] += len(lost)
        if mentions := [by_name[end] for end in ends if end in by_name]:
            items.cluster(mentions, None)
    elif not lost:
        return items.relation(by_name[ends[0]], by_name[ends[1]], labels.get(label, label), None)
    elif lost[0] not in names:
        raise place.error(f"the id {quoted(lost[0])} is referred to, but no line defines it")
    elif lost[0].startswith("T"):
        raise place.error(f"the mention {quoted(lost[0])} was left out")
    else:
        items.unread["brat relation of relations or attributes"] += 1
    return None
