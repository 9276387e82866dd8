"""brat standoff: a folder of .txt and .ann files, or one such pair. Its lines, the notes that go with our own files, and the reader."""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats.base import STDIN, BadRecord, Place, ReadItem, Source, leads_outside, quoted
from sciextract.formats.decoding import decoded_content, decoded_lines
from sciextract.formats.items import CorpusItems
from sciextract.formats.json_values import parse_object
from sciextract.formats.layers import LINE_BREAKS, repeats
from sciextract.text.analyse import analyse

NOTES_FILE = "sciextract.jsonl"
SCHEMA_FILE = "annotation.conf"
_BETWEEN_BREAKS = re.compile(f"[^{LINE_BREAKS}]+")
_REFUSED = re.compile(r"[^A-Za-z0-9._-]")
_DEVICE = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_LONGEST_NAME = 150


@dataclass(slots=True)
class Notes:
    """The content of one notes file.

    Attributes:
        folder: Where it lies; file names in it are relative to this folder, without suffix.
        doc_keys: Document key by file name.
        labels: Label by its name in the files.
        fragments: By file name and T id the exact fragments.
        errors: Lines that cannot be read.
    """

    folder: Path
    doc_keys: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    fragments: dict[str, dict[str, tuple[Span, ...]]] = field(default_factory=dict)
    errors: list[FormatError] = field(default_factory=list)


def notes_for(folder: Path) -> Notes:
    """The notes next to the ``annotation.conf`` that brat uses for a folder; empty where there are none.

    Raises:
        FormatError: The file of notes cannot be read at all.
    """
    absolute = folder.absolute()
    for parent in (absolute, *absolute.parents):
        if (parent / SCHEMA_FILE).is_file():
            return _read(parent)
    return Notes(absolute)


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


def joined(text: str, pieces: tuple[Span, ...]) -> tuple[Span, ...]:
    """Fragments with those made one that only line breaks keep apart: brat cuts mentions there."""
    starts = [pieces[0].char_start]
    ends = []
    for before, after in pairwise(pieces):
        gap = text[before.char_end : after.char_start]
        if not gap or gap.strip(LINE_BREAKS):
            ends.append(before.char_end)
            starts.append(after.char_start)
    ends.append(pieces[-1].char_end)
    return tuple(map(Span, starts, ends))


class DocumentPaths:
    """File names for document keys: below one folder, plain characters, all different."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def name_of(self, doc_key: str) -> str:
        """A relative name without suffix; the key itself wherever that is one."""
        *folders, last = [_safe(part) for part in doc_key[:_LONGEST_NAME].split("/")]
        parents = [part + "_" if part.endswith((".txt", ".ann")) else part for part in folders]
        base = "/".join([*parents, last])
        name = base
        # File systems may take upper and lower case for the same.
        while self._used[name.lower()]:
            self._used[base.lower()] += 1
            name = f"{base}_{self._used[base.lower()]}"
        self._used[name.lower()] += 1
        return name


def _safe(part: str) -> str:
    plain = _REFUSED.sub("_", part).strip(".") or "_"
    return f"_{plain}" if _DEVICE.fullmatch(plain) else plain


def _read(folder: Path) -> Notes:
    notes = Notes(folder)
    path = folder / NOTES_FILE
    if not path.is_file():
        return notes
    for number, line in decoded_lines(Source(str(path))):
        try:
            if isinstance(line, FormatError):
                raise line
            _add(notes, parse_object(line, str(path), number))
        except FormatError as error:
            notes.errors.append(error)
    return notes


def _add(notes: Notes, record: Mapping[str, Any]) -> None:
    file, key = record.get("file"), record.get("doc_key")
    label, meaning = record.get("label"), record.get("stands_for")
    if isinstance(label, str) and isinstance(meaning, str):
        notes.labels[label] = meaning
    if isinstance(file, str) and isinstance(key, str):
        notes.doc_keys[file] = key
    exact = record.get("fragments")
    if isinstance(file, str) and isinstance(exact, dict):
        notes.fragments[file] = {name: _spans(value) for name, value in exact.items()}


def _spans(value: object) -> tuple[Span, ...]:
    """Fragments of a note; none where they are not pairs of numbers, so that brat's own hold."""
    pairs = value if isinstance(value, list) else []
    if all(isinstance(pair, list) and [*map(type, pair)] == [int, int] for pair in pairs):
        return tuple(Span(start, end) for start, end in pairs)
    return ()


FIELD = "brat"
"""The field of a document that holds what only brat knows (:meth:`AnnLines.to_field`)."""

_MENTION = re.compile(r"(\S+) +([0-9]{1,15} +[0-9]{1,15}(?:; *[0-9]{1,15} +[0-9]{1,15})*)\s*")
_RELATION = re.compile(r"(\S+)\s+([^\s:]+):(\S+)\s+([^\s:]+):(\S+)\s*")
_EVENT = re.compile(r"E\S*\t([^\s:]+):(\S+)")
_KINDS = {
    "E": "event",
    "A": "attribute",
    "M": "attribute",
    "N": "normalisation",
    "#": "note",
    "R": "relation of relations",
    "*": "group of relations",
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A T line.

    Attributes:
        label: Its label; on reading as in the file, in what is kept as sciextract has it.
        fragments: In the order of the file.
        written: The file's copy of its characters; ``None`` where it has none.
        line: 1-based line number.
    """

    label: str
    fragments: tuple[Span, ...]
    written: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """An R line: its label, and two role names with the ids of what they refer to, head first."""

    label: str
    head: tuple[str, str]
    tail: tuple[str, str]
    line: int | None = None


@dataclass(slots=True)
class AnnLines:
    """The lines of one file by kind.

    Attributes:
        mentions: T lines by id.
        relations: R lines by id.
        groups: ``*`` lines: kind and members.
        others: All other lines as they are.
    """

    mentions: dict[str, Mention] = field(default_factory=dict)
    relations: dict[str, Arguments] = field(default_factory=dict)
    groups: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def triggers(self) -> dict[str, str]:
        """Id of the trigger (a T line) by id of its event."""
        found = ((line.split("\t")[0], _EVENT.match(line)) for line in self.others)
        return {event_id: match[2] for event_id, match in found if match}

    def warnings(self) -> tuple[str, ...]:
        """One remark a kind of line that is only kept."""
        kinds = Counter(_KINDS.get(line[0], "unknown") for line in self.others)
        return tuple(
            f"brat: kept but not interpreted: {kind} lines ({count})"
            for kind, count in kinds.items()
        )

    def to_field(self) -> dict[str, Any]:
        """Plain values for JSON; :meth:`from_field` reads them back."""
        return {
            "mentions": [
                [name, each.label, [[s.char_start, s.char_end] for s in each.fragments]]
                for name, each in self.mentions.items()
            ],
            "relations": [
                [name, each.label, list(each.head), list(each.tail)]
                for name, each in self.relations.items()
            ],
            "groups": [[kind, list(members)] for kind, members in self.groups],
            "lines": self.others,
        }

    @classmethod
    def from_field(cls, value: object) -> AnnLines:
        """What :meth:`to_field` gave; nothing where a field of that name is something else."""
        if not isinstance(value, Mapping):
            return cls()
        try:
            return cls(
                {
                    _word(name): Mention(str(label), tuple(Span(int(a), int(b)) for a, b in spans))
                    for name, label, spans in value["mentions"]
                },
                {
                    _word(name): Arguments(str(label), _role(head), _role(tail))
                    for name, label, head, tail in value["relations"]
                },
                [(_word(kind), tuple(map(_word, members))) for kind, members in value["groups"]],
                [line for line in map(str, value["lines"]) if len(line.splitlines()) == 1],
            )
        except (KeyError, TypeError, ValueError):
            return cls()


def _word(value: object) -> str:
    word = str(value)
    if len(word.split()) != 1:
        raise ValueError(word)
    return word


def _role(value: Sequence[object]) -> tuple[str, str]:
    role, name = map(_word, value)
    return role, name


def parse_ann(content: str, path: str, doc_key: str) -> AnnLines:
    """The lines of a file; blank ones are skipped.

    Raises:
        FormatError: A T, R or ``*`` line has a wrong shape, or an id occurs twice.
    """
    lines = AnnLines()
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            _add_line(lines, line.rstrip("\r"), Place(path, number, doc_key))
    return lines


def references(line: str) -> Iterator[str]:
    """Ids that an event, attribute, normalisation or note refers to."""
    name, _, rest = line.partition("\t")
    words = rest.split("\t")[0].split()
    if name.startswith("E"):
        yield from (word.partition(":")[2] for word in words)
    elif name[:1] in ("A", "M", "N", "#"):
        yield from words[1:2]
    elif name[:1] in ("R", "*"):
        yield from (word.rpartition(":")[2] for word in words[1:])


def event_of(line: str) -> tuple[str, str] | None:
    """Type and trigger of an event line."""
    match = _EVENT.match(line)
    return (match[1], match[2]) if match else None


def ids_of(lines: Iterable[str]) -> set[str]:
    """The ids that lines define."""
    return {line.split("\t")[0] for line in lines} - {"*"}


def _add_line(lines: AnnLines, line: str, place: Place) -> None:
    name, _, rest = line.partition("\t")
    if name[:1] == "T":
        _refuse_second(name, lines.mentions, place)
        lines.mentions[name] = _mention(rest, line, place)
    elif name[:1] == "R":
        _refuse_second(name, lines.relations, place)
        lines.relations[name] = _relation(rest, line, place)
    elif name == "*":
        words = rest.split()
        if len(words) < 2:
            raise place.unexpected(line, "*<tab>KIND T1 T2 ...")
        lines.groups.append((words[0], tuple(words[1:])))
    else:
        lines.others.append(line)


def _refuse_second(name: str, known: Mapping[str, object], place: Place) -> None:
    if name in known:
        raise place.error(f"the id {quoted(name)} occurs a second time; ids must differ")


def _mention(rest: str, line: str, place: Place) -> Mention:
    data, tab, written = rest.partition("\t")
    match = _MENTION.fullmatch(data)
    if match is None:
        allowed = "T1<tab>LABEL START END[;START END...]<tab>TEXT"
        raise place.unexpected(line, f"{allowed}")
    pairs = [pair.split() for pair in match[2].split(";")]
    fragments = tuple(Span(int(start), int(end)) for start, end in pairs)
    return Mention(match[1], fragments, written if tab else None, place.line)


def _relation(rest: str, line: str, place: Place) -> Arguments:
    match = _RELATION.fullmatch(rest.split("\t")[0])
    if match is None:
        allowed = "R1<tab>LABEL Arg1:T1 Arg2:T2"
        raise place.unexpected(line, f"{allowed}")
    label, *words = match.groups()
    first, second = (words[0], words[1]), (words[2], words[3])
    reverse = (first[0], second[0]) == ("Arg2", "Arg1")
    head, tail = (second, first) if reverse else (first, second)
    return Arguments(label, head, tail, place.line)


_SUFFIXES = (".txt", ".ann")
_SPLIT_SUFFIXES = (".a1", ".a2", ".rel", ".co")
_SHAPE = "expected a folder of .txt and .ann files, or one such file"


@dataclass(frozen=True, slots=True)
class _Pair:
    """One document's files: those that exist, by suffix.

    Attributes:
        base: Their path without suffix.
        doc_key: The key, where no note says another one.
    """

    base: Path
    doc_key: str
    files: dict[str, Path]


def read_brat(source: Source) -> Iterator[ReadItem]:
    """Read a folder and those below it, sorted, or one ``.txt`` or ``.ann`` with its sibling.

    Raises:
        InputMissingError: The path does not exist.
        FormatError: It holds neither ``.txt`` nor ``.ann``, or is standard input.
    """
    if source.path == STDIN:
        raise FormatError(f"standard input found, {_SHAPE}", path=STDIN)
    path = Path(source.path)
    if not path.exists():
        raise InputMissingError(f"{path}: no such file or folder")
    notes = notes_for(path if path.is_dir() else path.parent)
    yield from map(BadRecord, notes.errors)
    pairs = _pairs_below(path) if path.is_dir() else iter([_pair_of(path)])
    found = False
    for pair in pairs:
        found = True
        yield _item(pair, notes, source)
    if not found:
        raise FormatError(f"no such file below, {_SHAPE}", path=source.path)


def _pairs_below(root: Path) -> Iterator[_Pair]:
    for parent, folders, names in os.walk(root, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        by_stem: dict[str, dict[str, Path]] = {}
        for name in sorted(names):
            stem, suffix = os.path.splitext(name)
            file = Path(parent, name)
            wanted = suffix.lower() in _SUFFIXES and not name.startswith(".") and file.is_file()
            if wanted and not leads_outside(file, root):
                by_stem.setdefault(stem, {})[suffix.lower()] = file
        below = Path(parent).relative_to(root)
        for stem, files in sorted(by_stem.items()):
            yield _Pair(Path(parent, stem), (below / stem).as_posix(), files)


def _refuse(error: OSError) -> None:
    raise FormatError(f"cannot be read: {error.strerror}", path=str(error.filename)) from error


def _pair_of(path: Path) -> _Pair:
    stem, suffix = os.path.splitext(path.name)
    if suffix.lower() not in _SUFFIXES:
        raise FormatError(f"a file {quoted(path.name)} found, {_SHAPE}", path=str(path))
    siblings = {end: path.with_name(stem + end) for end in _SUFFIXES} | {suffix.lower(): path}
    files = {end: file for end, file in siblings.items() if file.is_file()}
    return _Pair(path.with_name(stem), stem, files)


def _item(pair: _Pair, notes: Notes, source: Source) -> ReadItem:
    try:
        return _document(pair, notes, source)
    except FormatError as error:
        return BadRecord(error)


def _document(pair: _Pair, notes: Notes, source: Source) -> AnnotatedDocument:
    name = os.path.relpath(pair.base.absolute(), notes.folder).replace(os.sep, "/")
    key = notes.doc_keys.get(name, pair.doc_key)
    ann = pair.files.get(".ann")
    if ".txt" not in pair.files:
        raise Place(str(ann), None, key).error(f"no text: {pair.base.name}.txt is missing")
    text = _content(pair.files[".txt"])
    lines = parse_ann(_content(ann).removeprefix("\ufeff"), str(ann), key) if ann else AnnLines()
    importer = _Importer(text, key, source.provenance, Place(str(ann), None, key))
    importer.add(lines, notes.labels, notes.fragments.get(name, {}))
    items = importer.items.annotations()
    tokens = analyse(text, protected=importer.items.spans)
    fields = {FIELD: importer.kept.to_field()} if ann else {}
    warnings = (*importer.kept.warnings(), *_unread(pair))
    return AnnotatedDocument(Document(key, text, tokens, fields), items, warnings=warnings)


def _content(path: Path) -> str:
    """The text of a file that may be empty; a byte order mark stays, because brat counts it."""
    try:
        with open(path, "rb") as stream:
            start = stream.read(len(codecs.BOM_UTF8))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=str(path)) from error
    if not start:
        return ""
    mark = "\ufeff" if start == codecs.BOM_UTF8 else ""
    return mark + decoded_content(Source(str(path)))


def _unread(pair: _Pair) -> Iterator[str]:
    for suffix in _SPLIT_SUFFIXES if ".ann" not in pair.files else ():
        if pair.base.with_name(pair.base.name + suffix).exists():
            yield f"brat: the file {pair.base.name}{suffix} is not read; join such files into .ann"


class _Importer:
    """From lines to items, and to what is kept of the lines (with sciextract's labels)."""

    def __init__(self, text: str, doc_key: str, provenance: str, place: Place) -> None:
        self.items = CorpusItems(doc_key, provenance)
        self.kept = AnnLines()
        self._text = text
        self._place = place

    def add(
        self, lines: AnnLines, labels: dict[str, str], exact: dict[str, tuple[Span, ...]]
    ) -> None:
        self.kept.others = list(lines.others)
        mentions = {}
        for name, line in lines.mentions.items():
            label = labels.get(line.label, line.label)
            fragments = self._fragments(name, line, exact.get(name, ()))
            mentions[name] = self.items.entity(fragments, label)
            self.kept.mentions[name] = Mention(label, fragments)
        by_name = mentions | {
            event: mentions[trigger]
            for event, trigger in lines.triggers.items()
            if trigger in mentions
        }
        defined = {*mentions, *lines.relations, *ids_of(lines.others)}
        for name, arguments in lines.relations.items():
            label = labels.get(arguments.label, arguments.label)
            ends = (arguments.head[1], arguments.tail[1])
            self._refuse_unknown(ends, defined, arguments.line)
            if all(end in by_name for end in ends):
                self.items.relation(by_name[ends[0]], by_name[ends[1]], label, None)
                self.kept.relations[name] = Arguments(label, arguments.head, arguments.tail)
            else:
                self.kept.others.append(_relation_line(name, arguments))
        for kind, members in lines.groups:
            self._refuse_unknown(members, defined, None)
            if all(member in by_name for member in members):
                self.items.cluster([by_name[member] for member in members], None)
                self.kept.groups.append((kind, members))
            else:
                self.kept.others.append(f"*\t{kind} {' '.join(members)}")

    def _refuse_unknown(self, ids: tuple[str, ...], defined: set[str], line: int | None) -> None:
        for each in ids:
            if each not in defined:
                place = Place(self._place.path, line, self._place.doc_key)
                raise place.error(f"the id {quoted(each)} is referred to, but no line defines it")

    def _fragments(self, name: str, line: Mention, exact: tuple[Span, ...]) -> tuple[Span, ...]:
        place = Place(self._place.path, line.line, self._place.doc_key)
        for span in line.fragments:
            if not 0 <= span.char_start < span.char_end <= len(self._text):
                found = f"{span.char_start} {span.char_end} found"
                allowed = f"START < END <= {len(self._text)} (characters of the text)"
                raise place.error(f"{found}; expected {allowed}", field=name)
        strings = [span.of(self._text) for span in line.fragments]
        if line.written and not any(
            repeats(copy, strings) for copy in (line.written, line.written.rstrip("\t"))
        ):
            expected = f"the text there is {quoted(' '.join(strings))}"
            raise place.error(f"{quoted(line.written)} found, but {expected}", field=name)
        pieces = tuple(sorted(line.fragments))
        if any(after.char_start < before.char_end for before, after in pairwise(pieces)):
            raise place.error("its fragments overlap", field=name)
        return (
            exact
            if exact and pieces_of(self._text, exact) == pieces
            else joined(self._text, pieces)
        )


def _relation_line(name: str, arguments: Arguments) -> str:
    head, tail = (":".join(end) for end in (arguments.head, arguments.tail))
    return f"{name}\t{arguments.label} {head} {tail}"
