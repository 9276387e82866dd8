"""The file ``sciextract.jsonl`` in a brat folder: what brat has no place for.

Its lines say which document key a file name stands for, which label a name stands for, and which exact
fragments a mention has where brat's own do not tell. It lies beside ``annotation.conf``, which brat
itself looks for in a document's folder and in those above.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from sciextract.documents.spans import Span
from sciextract.errors import FormatError
from sciextract.formats.base import Source
from sciextract.formats.decoding import decoded_lines
from sciextract.formats.json_values import parse_object
from sciextract.formats.standoff import LINE_BREAKS

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
    """The notes beside the ``annotation.conf`` that brat uses for a folder; empty where there are none.

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
    """Fragments of a note; none where they are no pairs of numbers, so that brat's own hold."""
    pairs = value if isinstance(value, list) else []
    if all(isinstance(pair, list) and [*map(type, pair)] == [int, int] for pair in pairs):
        return tuple(Span(start, end) for start, end in pairs)
    return ()
