"""From paths to sources: files, folders, archives, standard input, and which format each one has."""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

from sciextract.errors import FormatError, InputMissingError, UsageError
from sciextract.formats.base import (
    MAX_LINE_BYTES,
    STDIN,
    BadRecord,
    FieldChoice,
    ReadItem,
    Source,
    leads_outside,
    line_pieces,
    list_names,
    refuse_binary,
    standard_input,
    without_marks,
)
from sciextract.formats.opening import (
    expand_url,
    is_packed,
    is_url,
    unpacked_name,
    unpacking_command,
    without_file_scheme,
)
from sciextract.formats.registry import (
    FormatSpec,
    get_format,
    has_suffix,
    needs_more,
    readable,
    recognise,
    recognise_by_name,
    recognise_export,
    recognise_folder,
)
from sciextract.text.english import counted

JOURNAL = "journal.log"
"""What makes a folder a folder of parts."""

MANIFEST = "manifest.json"
QUARANTINE = "quarantine.jsonl"
_NO_RESULTS = {MANIFEST, QUARANTINE}


def results_in(names: Collection[str]) -> list[str]:
    """The names of a folder without those of files that are not data, sorted.

    >>> results_in(["part-00000-000000.jsonl", "journal.log", "manifest.json"])
    ['journal.log', 'part-00000-000000.jsonl']
    """
    return sorted(set(names) - _NO_RESULTS if JOURNAL in names else names)


def is_aside(path: Path) -> bool:
    """Whether a file lies in a folder of parts and is none of its results."""
    return path.name in _NO_RESULTS and (path.parent / JOURNAL).exists()


_STANDOFF = ".ann"  # such files belong together with their texts, whatever they are called


class Part(StrEnum):
    """What a split is for."""

    TRAIN = "train"
    DEV = "validation"
    TEST = "test"


_WORDS = {
    **dict.fromkeys(("train", "training"), Part.TRAIN),
    **dict.fromkeys(("validation", "valid", "val", "dev"), Part.DEV),
    **dict.fromkeys(("test", "testing"), Part.TEST),
}


def paths_of(path: Path, part: Part) -> list[Path]:
    """What to read for a part: the folder's split of that kind, or all of a path without splits.

    A folder has splits when files or folders in it are called like splits, as on the hub:
    ``data/train-00000-of-00001.parquet``, ``train/0000.parquet``, ``train.jsonl``.

    Raises:
        InputMissingError: There is no such path.
        UsageError: The folder has splits, but none of that kind; names those it has.
    """
    if not path.exists():
        raise InputMissingError(f"{path}: no such file")
    found = splits_of(path)
    if found and part not in found:
        names = ", ".join(sorted(found))
        raise UsageError(f"{path} has no {part} split, only {names}", "name a file, or one split")
    return found.get(part, [path])


def splits_of(path: Path) -> dict[Part, list[Path]]:
    """The splits of a folder, each with the files or folders that are it; empty without any."""
    found: dict[Part, list[Path]] = {}
    for entry, part in _find_splits(path) if path.is_dir() else ():
        found.setdefault(part, []).append(entry)
    return found


def _find_splits(folder: Path) -> Iterator[tuple[Path, Part]]:
    """What is called like a split, at any depth; nothing is looked for inside of it."""
    entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if any(entry.suffix == _STANDOFF for entry in entries):
        return
    for entry in entries:
        part = part_of(entry.name)
        readable_file = has_suffix(unpacked_name(entry.name), _suffixes(None))
        if part is not None and (entry.is_dir() or readable_file):
            yield entry, part
        elif entry.is_dir():
            yield from _find_splits(entry)


def part_of(name: str) -> Part | None:
    """The part that a file or folder is called after, at the beginning or the end.

    >>> part_of("train-00000-of-00002.parquet"), part_of("scierc_dev.jsonl"), part_of("training.md")
    (<Part.TRAIN: 'train'>, <Part.DEV: 'validation'>, <Part.TRAIN: 'train'>)
    >>> part_of("latest.jsonl") is part_of("a-test-of-time.txt") is None
    True
    """
    words = [word for word in re.split(r"[^a-z]+", name.lower().partition(".")[0]) if word]
    return _WORDS.get(words[0], _WORDS.get(words[-1])) if words else None


class InputPaths(list[str]):
    """Paths in place of patterns and URLs of folders: :func:`expand_inputs` has listed folders and servers once."""


def expand_inputs(paths: Sequence[str | Path]) -> InputPaths:
    """The files and folders that are meant, each pattern's sorted; hidden ones only where a pattern says so.

    What exists under exactly that name is meant itself, also with ``*`` or ``[`` in it. With ``**``, which finds
    folders and what lies in them alike, only files count, so that nothing is read twice.

    URLs may name a file, a folder, of which the files are meant, or a pattern with ``*``; ``file://`` is a path.
    What was expanded already is given back as it is.

    Raises:
        InputMissingError: A path does not exist, or nothing matches a pattern.
        SciextractError: The file system of a URL cannot be reached.
    """
    if isinstance(paths, InputPaths):
        return paths
    found = InputPaths()
    for path in map(without_file_scheme, map(str, paths)):
        if is_url(path):
            found += expand_url(path)
            continue
        if not is_pattern(path):
            if path != STDIN and not os.path.exists(path):
                raise InputMissingError(f"{path}: no such file or folder")
            found.append(path)
            continue
        matches = sorted(glob.glob(path, recursive=True))
        if "**" in path:
            matches = [match for match in matches if os.path.isfile(match)]
        if not matches:
            hint = "* and ? stand for letters of one name, [ab] for one of them, ** for folders at any depth"
            raise InputMissingError(f"{path}: nothing matches this pattern", hint)
        found += matches
    return found


def is_pattern(path: str) -> bool:
    """Whether a path names nothing that exists, and has letters that stand for others."""
    return path != STDIN and glob.has_magic(path) and not os.path.exists(path)


_HEAD_BYTES = 1 << 16
_SEEN_BYTES = 1 << 14
_ARCHIVE_SUFFIX = ".zip"
_SAVED_DATASET = {"dataset_info.json", "dataset_dict.json"}
"""Descriptions of what the library ``datasets`` saved in a folder."""


Records = Callable[[Source, FormatSpec], Iterator[Any]]
"""Gives the items of a source; what :func:`read_inputs` calls for each."""


def read_inputs(
    paths: Sequence[str | Path],
    format_id: str | None,
    records: Records | None = None,
    fields: FieldChoice | None = None,
    texts: Mapping[str, str] | None = None,
) -> Iterator[Any]:
    """See :func:`sciextract.formats.read`.

    Args:
        paths: Files, folders, patterns, ``-``.
        format_id: Their format; their content decides when ``None``.
        records: Gives the items of a source; they are parsed when ``None``, as members of archives always are.
        fields: Which fields of records with gold and predictions are parsed.
        texts: By their SHA-256 the texts of exchange records that have none.
    """
    chosen = {"fields": fields, "texts": texts}
    changes: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}

    def parse(source: Source, spec: FormatSpec) -> Iterator[ReadItem]:
        if fields is not None:
            fields.formats.add(spec.id)
        return spec.load_reader()(replace(source, **changes))

    spec = get_format(format_id) if format_id else None
    # At once, before anything is read: a path that is not there is an error of the call.
    expanded = expand_inputs(paths)
    return _read_all(expanded, spec, records or parse, parse)


def _read_all(
    paths: Sequence[str], spec: FormatSpec | None, records: Records, parsed: Records
) -> Iterator[Any]:
    alone = len(paths) == 1 and not (os.path.isdir(paths[0]) or _is_archive(paths[0]))
    for path in paths:
        try:
            if _is_archive(path):
                yield from _read_archive(path, spec, parsed)
                continue
            yield from map(BadRecord, _left_out(path, spec))
            for source, found in _sources(path, spec):
                yield from _read_one(source, found, alone, records)
        except FormatError as error:
            if len(paths) == 1:
                raise
            yield BadRecord(error)


def _is_archive(path: str) -> bool:
    return path.lower().endswith(_ARCHIVE_SUFFIX) and not os.path.isdir(path)


def _read_archive(path: str, spec: FormatSpec | None, parsed: Records) -> Iterator[ReadItem]:
    """What the folder in the archive holds, named by its place in the archive."""
    from sciextract.formats.archive import Names, open_archive

    with open_archive(path) as folder:
        names = Names(path, folder)
        yield from (names.item(BadRecord(error)) for error in _left_out(str(folder), spec))
        try:
            for source, found in _sources(str(folder), spec):
                items = _read_one(names.source(source), found, alone=False, records=parsed)
                yield from map(names.item, items)
        except FormatError as error:
            raise names.error(error) from error
        except InputMissingError as error:
            raise InputMissingError(names.text(error.message), names.text(error.hint)) from error


def _read_one(
    source: Source, spec: FormatSpec | None, alone: bool, records: Records
) -> Iterator[Any]:
    """The items of a source; an error behind the first of them costs only the rest."""
    found = False
    try:
        if spec is None:
            source, spec = recognise_source(source)
        # Only text is unpacked on the way: readers of other formats open their files themselves.
        if is_packed(source.path) and (spec.binary or spec.kind == "folder"):
            problem = f"{spec.id} files cannot be read while they are packed"
            hint = f"unpack it first: {unpacking_command(source.path)}"
            raise FormatError(problem, path=source.path, hint=hint)
        for item in records(source, spec):
            found = True
            yield item
    except FormatError as error:
        if alone and not found:
            raise
        yield BadRecord(error)


def single_sources(path: str, format_id: str | None) -> list[str]:
    """The sources behind a path, each to be read on its own: of a folder of single files those files.

    A folder with links that are not followed, or with files that hold no abstract, stays whole, since only its
    reader can name them.

    Raises:
        FormatError: It is a folder without readable files.
    """
    if path == STDIN or _is_archive(path):
        return [path]
    left_out, sources = sources_below(path, format_id)
    return [path] if left_out else sources


def sources_below(path: str, format_id: str | None) -> tuple[int, list[str]]:
    """How much below a path is left out, each with a problem of its own, and what is read.

    Raises:
        FormatError: It is a folder without readable files.
    """
    spec = get_format(format_id) if format_id else None
    sources = [source.path for source, _ in _sources(path, spec)]
    return sum(1 for _ in _left_out(path, spec)), sources


def _sources(path: str, spec: FormatSpec | None) -> Iterator[tuple[Source, FormatSpec | None]]:
    if path == STDIN or not os.path.isdir(path):
        yield Source(path), spec or recognise_by_name(unpacked_name(path))
        return
    whole = spec if spec and spec.kind == "folder" else None
    if not spec:
        found_names = {name for *_, names in _walk(path) for name in names}
        if found_names & _SAVED_DATASET:
            problem = "this is a folder of Hugging Face datasets (save_to_disk), which is not read"
            hint = "write a file from it: datasets.load_from_disk(FOLDER).to_parquet('NEW.parquet')"
            raise FormatError(problem, path=path, hint=hint)
        whole = recognise_folder(found_names)
    if whole:
        yield Source(path), whole
        return
    suffixes, found = _suffixes(spec), False
    for file in _files_below(path):
        if not has_suffix(unpacked_name(file), suffixes) or not os.path.isfile(file):
            continue
        if not leads_outside(file, path) and (spec or not holds_no_abstract(file)):
            found = True
            yield Source(file), spec or recognise_by_name(unpacked_name(file))
    if not found:
        allowed = " ".join(sorted(suffixes))
        raise FormatError(f"no readable file below; suffixes read: {allowed}", path=path)


def _walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder below with the names of its folders and files that are not hidden, sorted."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield parent, folders, sorted(name for name in names if not name.startswith("."))


def _files_below(folder: str) -> Iterator[str]:
    for parent, _, names in _walk(folder):
        yield from (os.path.join(parent, name) for name in results_in(names))


_PLAIN = (".txt", ".text")
_BRAT_FILES = (_STANDOFF, *_PLAIN, "sciextract.jsonl")  # the last is of our own exports
_NO_ABSTRACT = re.compile(
    r"(?:requirements|constraints)(?:[-_.](?:dev|test|docs?|ci))?|readme|changelog|copying|notice|authors"
    r"|licen[cs]e(?:[-_.](?:mit|bsd|apache|l?gpl)\W?[\w.-]*)?|cmakelists|top_level|entry_points"
    r"|contributors|contributing|robots",
    re.IGNORECASE,
)


def holds_no_abstract(file: str) -> bool:
    """Whether a plain text in a folder is something else by its name: a license, a readme, a list of packages.

    >>> holds_no_abstract("corpus/LICENSE.txt"), holds_no_abstract("corpus/licensing-of-drugs.txt")
    (True, False)
    """
    name = Path(unpacked_name(file))
    return name.suffix.lower() in _PLAIN and _NO_ABSTRACT.fullmatch(name.stem) is not None


def _left_out(path: str, spec: FormatSpec | None) -> Iterator[FormatError]:
    """What lies below a folder and is not read: links that lead out of it, or nowhere, and what is no abstract."""
    if not os.path.isdir(path):
        return
    suffixes = _suffixes(spec)
    for parent, folders, names in _walk(path):
        files = [name for name in names if has_suffix(unpacked_name(name), suffixes)]
        for link in (os.path.join(parent, name) for name in (*folders, *files)):
            if leads_outside(link, path):
                where = "outside the folder" if os.path.exists(link) else "which does not exist"
                yield FormatError(
                    f"a link that is not followed: it leads to {os.path.realpath(link)!r}, {where}",
                    path=link,
                    hint="name the link itself on the command line, not its folder only, to read it",
                )
    # Where a format is named, every file of its suffixes is read.
    if spec:
        return
    if whole := recognise_folder(name for *_, names in _walk(path) for name in names):
        others = [
            os.path.relpath(file, path)
            for file in _files_below(path)
            if has_suffix(unpacked_name(file), suffixes) and not has_suffix(file, _BRAT_FILES)
        ]
        if others and whole.id == "brat":
            count = counted(len(others), "other file")
            problem = f"the folder is read as brat, without {count} in it: {list_names(others)}"
            hint = "give them without the .ann files to read them; --from brat leaves them out without a word"
            yield FormatError(problem, path=path, hint=hint)
        return
    for file in _files_below(path):
        if os.path.isfile(file) and holds_no_abstract(file):
            problem = "left out, since its name is that of a file without an abstract"
            hint = "to read it, name the file itself, not its folder only"
            yield FormatError(problem, path=file, hint=hint)


def _suffixes(spec: FormatSpec | None) -> tuple[str, ...]:
    specs = [spec] if spec else readable()
    return tuple({suffix for spec in specs for suffix in spec.suffixes})


def recognise_source(source: Source) -> tuple[Source, FormatSpec]:
    """The source, to be read from its start, and the format of its content.

    Raises:
        FormatError: It is empty, cannot be read, or is of a kind that is not read.
        InputMissingError: It does not exist.
    """
    source, seen = _look(source, needs_more)
    spec = recognise(unpacked_name(source.path), seen)
    if spec.id == "text":
        # It is read to its end anyway.
        source, seen = _look(source, lambda line: True)
        spec = recognise_export(source.path, seen)
    return source, spec


def _look(source: Source, needs_more: Callable[[str], bool]) -> tuple[Source, str]:
    """The source, to be read from its start, and its first lines."""
    if source.path == STDIN:
        # What is taken from standard input is put back: whole lines up to a line feed.
        more = iter(lambda: standard_input().readline(MAX_LINE_BYTES), b"")
        source = Source(STDIN, _head(chain(filter(None, [source.start]), more), needs_more))
        start = _head(line_pieces(io.BytesIO(source.start)), needs_more)
    else:
        with closing(source.lines()) as lines:
            start = _head(lines, needs_more)
    refuse_binary(start, source.path)
    seen = start[:_HEAD_BYTES].decode("utf-8", "replace")
    return source, without_marks(seen).lstrip("\r\n")


def _head(lines: Iterable[bytes], needs_more: Callable[[str], bool]) -> bytes:
    """The start of the input: its first non-blank line, or more where that is not enough to tell.

    Only then are more lines taken, since a pipe may have no second line for hours.
    """
    start, spread = b"", False
    for line in lines:
        start += line
        ends = line[:80] + line[80:][-80:]
        content = without_marks(ends.decode("utf-8", "replace")).strip()
        spread = spread or needs_more(content)
        if len(start) >= _SEEN_BYTES or (content and not spread):
            break
    return start
