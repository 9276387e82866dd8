"""Reader of brat standoff: a folder of .txt and .ann files, or one such pair."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.documents.spans import Span
from sciextract.errors import FormatError, InputMissingError
from sciextract.formats.base import STDIN, BadRecord, Place, ReadItem, Source, leads_outside, shown
from sciextract.formats.corpus_items import CorpusItems
from sciextract.formats.decoding import decoded_content
from sciextract.formats.standoff.brat_lines import (
    FIELD,
    AnnLines,
    Arguments,
    Mention,
    ids_of,
    parse_ann,
)
from sciextract.formats.standoff.brat_notes import Notes, joined, notes_for, pieces_of
from sciextract.formats.standoff.standoff import repeats
from sciextract.text.analyse import analyse

_SUFFIXES = (".txt", ".ann")
_SPLIT_SUFFIXES = (".a1", ".a2", ".rel", ".co")
_SHAPE = "allowed is a folder of .txt and .ann files, or one such file"


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
            if suffix.lower() in _SUFFIXES and not name.startswith(".") and _is_inside(file, root):
                by_stem.setdefault(stem, {})[suffix.lower()] = file
        below = Path(parent).relative_to(root)
        for stem, files in sorted(by_stem.items()):
            yield _Pair(Path(parent, stem), (below / stem).as_posix(), files)


def _is_inside(file: Path, root: Path) -> bool:
    return file.is_file() and not leads_outside(file, root)


def _refuse(error: OSError) -> None:
    raise FormatError(f"cannot be read: {error.strerror}", path=str(error.filename)) from error


def _pair_of(path: Path) -> _Pair:
    stem, suffix = os.path.splitext(path.name)
    if suffix.lower() not in _SUFFIXES:
        raise FormatError(f"a file {shown(path.name)} found, {_SHAPE}", path=str(path))
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
                raise place.error(f"the id {shown(each)} is referred to, but no line defines it")

    def _fragments(self, name: str, line: Mention, exact: tuple[Span, ...]) -> tuple[Span, ...]:
        place = Place(self._place.path, line.line, self._place.doc_key)
        for span in line.fragments:
            if not 0 <= span.char_start < span.char_end <= len(self._text):
                found = f"{span.char_start} {span.char_end} found"
                allowed = f"START < END <= {len(self._text)} (characters of the text)"
                raise place.error(f"{found}, allowed is {allowed}", field=name)
        strings = [span.of(self._text) for span in line.fragments]
        if line.written and not any(
            repeats(copy, strings) for copy in (line.written, line.written.rstrip("\t"))
        ):
            expected = f"the text there is {shown(' '.join(strings))}"
            raise place.error(f"{shown(line.written)} found, but {expected}", field=name)
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
