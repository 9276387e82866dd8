"""The first 100 bytes of a project file (sqlite.org/fileformat.html, section 1.3): cheap to check, before SQLite opens it."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from sciextract.errors import (
    NotAProjectError,
    ProjectDamagedError,
    ProjectMissingError,
    ProjectVersionError,
    as_command,
)
from sciextract.store.file.failures import damaged, read_only
from sciextract.store.file.peek import first_bytes

APPLICATION_ID = int.from_bytes(b"SciX", "big")
VERSION = 2
READABLE = 1
"""The oldest version whose tables can be read as they are."""
KEPT_ASIDE = ".before-restore"
"""How the name of a file ends that a restored backup has replaced."""
_MAGIC = b"SQLite format 3\x00"
_HEADER = struct.Struct(">16sH6xII28xi4xi20xI4x")
_BIG_PAGE = 65_536  # written as 1


@dataclass(frozen=True, slots=True)
class Header:
    """What the first 100 bytes say.

    Attributes:
        version: The version of the project's tables.
        bytes: The size that the file must have, 0 where the header does not tell.
    """

    magic: bytes
    version: int
    application: int
    bytes: int


def check_header(path: Path) -> int:
    """The version of the project's tables.

    Raises:
        ProjectMissingError: There is no such file.
        NotAProjectError: It is no SQLite file, or one of another program.
        ProjectVersionError: A newer sciextract wrote it.
        ProjectDamagedError: It was cut off.
        ProjectReadOnlyError: It cannot be read.
    """
    header = read_header(path)
    if header.magic != _MAGIC:
        raise NotAProjectError(f"{path} is no SQLite file, so no project", _other_file(path))
    if header.application != APPLICATION_ID:
        raise NotAProjectError(
            f"{path} is an SQLite file of another program", "name the project with --project"
        )
    if header.version > VERSION:
        raise newer(path, header.version)
    _check_size(path, header)
    return header.version


def newer(path: Path, version: int) -> ProjectVersionError:
    """A newer sciextract wrote the file."""
    return ProjectVersionError(
        f"{path} has the project version {version}, the newest known here is {VERSION}",
        "a newer sciextract wrote it: pip install --upgrade sciextract",
    )


def read_header(path: Path) -> Header:
    """The header, whatever it says.

    Raises:
        ProjectError: There is none, or it cannot be read.
    """
    start = _start(path)
    magic, page, changed, pages, version, application, valid = _HEADER.unpack(start)
    size = pages * (_BIG_PAGE if page == 1 else page) if changed == valid else 0
    return Header(magic, version, application, size)


def _start(path: Path) -> bytes:
    try:
        start = first_bytes(path, _HEADER.size)
    except FileNotFoundError:
        raise _missing(path) from None
    except IsADirectoryError:
        raise NotAProjectError(f"{path} is a folder, not a project file") from None
    except PermissionError:
        raise read_only(path) from None
    if len(start) < _HEADER.size:
        raise _too_short(path, start)
    return start


def _missing(path: Path) -> ProjectMissingError:
    problem = f"{path}: there is no such project"
    kept = sorted(path.parent.glob(f"{escape(path.name)}*{KEPT_ASIDE}"), key=os.path.getmtime)
    if not kept:
        return ProjectMissingError(problem, as_command("sciextract", "init", path))
    return ProjectMissingError(
        f"{problem}, but {kept[-1]} is what it was before a backup was restored",
        as_command("sciextract", "backup", "--restore", kept[-1], "--project", path),
    )


def _check_size(path: Path, header: Header) -> None:
    """A file that was cut off is found at once, unless a log beside it makes it whole."""
    logs = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    if path.stat().st_size < header.bytes and not any(log.exists() for log in logs):
        size = path.stat().st_size
        raise damaged(path, f"it has only {size:,} of {header.bytes:,} bytes")


def _too_short(path: Path, start: bytes) -> NotAProjectError | ProjectDamagedError:
    if start and _MAGIC.startswith(start[: len(_MAGIC)]):
        return damaged(path, f"it has only {len(start)} bytes")
    return NotAProjectError(f"{path} is no SQLite file, so no project", _other_file(path))


def _other_file(path: Path) -> str:
    return f"to make a project of abstracts: sciextract init NEW.sciextract, then {as_command('import', path)}"
