"""From paths to sources: files, folders, standard input, and which format each one has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from sciextract.errors import FormatError, InputMissingError
from sciextract.formats.base import STDIN, BadRecord, ReadItem, Source, standard_input
from sciextract.formats.decoding import refuse_binary
from sciextract.formats.registry import (
    FormatSpec,
    get_format,
    has_suffix,
    readable,
    recognise,
    recognise_folder,
)

_HEAD_BYTES = 1 << 16


def read_inputs(paths: Sequence[str], format_id: str | None) -> Iterator[ReadItem]:
    """See :func:`sciextract.formats.read`."""
    spec = get_format(format_id) if format_id else None
    for path in paths:
        if path != STDIN and not os.path.exists(path):
            raise InputMissingError(f"{path}: no such file or folder")
    alone = len(paths) == 1 and not os.path.isdir(paths[0])
    return _read_all(paths, spec, alone)


def _read_all(paths: Sequence[str], spec: FormatSpec | None, alone: bool) -> Iterator[ReadItem]:
    for path in paths:
        try:
            for source, found in _sources(path, spec):
                yield from _read_one(source, found, alone)
        except FormatError as error:
            if len(paths) == 1:
                raise
            yield BadRecord(error)


def _read_one(source: Source, spec: FormatSpec | None, alone: bool) -> Iterator[ReadItem]:
    try:
        if spec is None:
            source, spec = _recognised(source)
        yield from spec.load_reader()(source)
    except FormatError as error:
        if alone:
            raise
        yield BadRecord(error)


def _sources(path: str, spec: FormatSpec | None) -> Iterator[tuple[Source, FormatSpec | None]]:
    if path == STDIN or not os.path.isdir(path):
        yield Source(path), spec
        return
    whole = spec if spec and spec.kind == "folder" else None
    if not spec:
        whole = recognise_folder(sorted(os.listdir(path)))
    if whole:
        yield Source(path), whole
        return
    yield from ((Source(file), spec) for file in _files_below(path, spec))


def _files_below(folder: str, spec: FormatSpec | None) -> Iterator[str]:
    """Files with a suffix of the format (of any readable format), hidden ones left out, sorted."""
    specs = [spec] if spec else readable()
    suffixes = tuple({suffix for each in specs for suffix in each.suffixes})
    found = False
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = os.path.join(parent, name)
            wanted = has_suffix(name, suffixes) and not name.startswith(".")
            if wanted and os.path.isfile(file):
                found = True
                yield file
    if not found:
        allowed = " ".join(sorted(suffixes))
        raise FormatError(f"no readable file below; suffixes read: {allowed}", path=folder)


def _recognised(source: Source) -> tuple[Source, FormatSpec]:
    """The source's format, and the source with what was taken from standard input put back."""
    if source.path == STDIN:
        start = _head(standard_input())
        return Source(STDIN, start), recognise(STDIN, _first_line(start, STDIN))
    with closing(source.lines()) as lines:
        start = _head(lines)
    return source, recognise(source.path, _first_line(start, source.path))


def _head(lines: Iterable[bytes]) -> bytes:
    """The start of the input up to and with its first non-blank line."""
    start = b""
    for line in lines:
        start += line
        if line.strip():
            break
    return start


def _first_line(start: bytes, path: str) -> str:
    refuse_binary(start, path)
    return start.decode("utf-8", "replace").removeprefix("\ufeff").lstrip("\r\n")[:_HEAD_BYTES]
