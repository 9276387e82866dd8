"""Zip archives as input: unpacked into a temporary folder, after every member was found harmless."""

from __future__ import annotations

import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Source, quoted
from sciextract.formats.packing import MAX_RATIO, allowed_bytes, open_bytes

MAX_MEMBERS = 100_000
MAX_BYTES = 4 << 30

_ENCRYPTED = 0x1 | 0x40
#: Python bounds the memory of these two only.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DRIVE = re.compile(r"[A-Za-z]:")
_LITTER = "__MACOSX"
_COPY_BYTES = 1 << 16
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError)


class _Member(NamedTuple):
    """A file of the archive and where it goes, folder by folder."""

    info: zipfile.ZipInfo
    parts: tuple[str, ...]


@contextmanager
def open_archive(path: str) -> Iterator[Path]:
    """A temporary folder with what the archive holds; it is removed at the end.

    All members are checked before the first is written. Nothing is written outside of the folder.

    Raises:
        FormatError: It is not a zip archive or a damaged one; a member has an absolute path, a drive letter
            or ``..``, is a link or a device, is encrypted, has the name of another, or is packed in
            another way than stored or deflated; there are more than ``MAX_MEMBERS`` members, or they
            unpack to more than ``MAX_BYTES`` or than :func:`~sciextract.formats.packing.allowed_bytes`.
    """
    with TemporaryDirectory(prefix="sciextract-") as holder:
        folder = Path(holder) / "unpacked"
        folder.mkdir()
        try:
            with open_bytes(path) as stream, zipfile.ZipFile(stream) as archive:
                for member in _checked(archive.infolist(), path):
                    _unpack(archive, member, folder, path)
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror}", path=path) from error
        except _BROKEN as error:
            hint = "fetch or pack it again; unzip -t FILE checks it"
            raise FormatError(
                f"no zip archive, or damaged: {error}", path=path, hint=hint
            ) from error
        yield folder


@dataclass(frozen=True, slots=True)
class Names:
    """Calls what was unpacked by the names that the user knows.

    Attributes:
        path: The archive's path as the user gave it.
        folder: Where it was unpacked.
    """

    path: str
    folder: Path

    def source(self, source: Source) -> Source:
        """The source with its place in the archive."""
        inside = Path(source.path).relative_to(self.folder)
        return replace(source, origin=(Path(self.path).name / inside).as_posix())

    def item(self, item: ReadItem) -> ReadItem:
        """The item with the archive's path in its error or warnings."""
        if isinstance(item, BadRecord):
            return BadRecord(self.error(item.error))
        return replace(item, warnings=tuple(self.text(each) for each in item.warnings))

    def error(self, error: FormatError) -> FormatError:
        """The error with ``ARCHIVE/MEMBER`` as its place."""
        return FormatError(
            self.text(error.problem),
            path=self.text(error.path),
            line=error.line,
            column=error.column,
            hint=self.text(error.hint),
        )

    def text(self, text: str) -> str:
        """The text with the archive's path for that of the temporary folder."""
        return text.replace(str(self.folder), self.path)


def _checked(infos: Sequence[zipfile.ZipInfo], path: str) -> list[_Member]:
    """The files to unpack, in the archive's order."""
    if len(infos) > MAX_MEMBERS:
        found = f"the archive has {len(infos):,} members; the limit is {MAX_MEMBERS:,}"
        raise FormatError(found, path=path, hint="unpack it yourself and give the folder")
    members, total = [], 0
    for info in infos:
        parts = _safe_parts(info, path)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            what = "a symbolic link" if kind == stat.S_IFLNK else "a device"
            raise _refused(info, f"is {what}; expected files and folders", path)
        if info.flag_bits & _ENCRYPTED:
            raise _refused(info, "is encrypted", path, "unpack it yourself and give the folder")
        if info.compress_type not in _METHODS:
            problem = (
                f"is packed with method {info.compress_type}; expected store (0) and deflate (8)"
            )
            raise _refused(info, problem, path, "pack it again: zip -r NEW.zip FOLDER")
        total += info.file_size
        if total > MAX_BYTES:
            problem = f"exceeds the {MAX_BYTES / 2**30:.3g} GiB that an archive may unpack to"
            raise _refused(info, problem, path, "unpack it yourself and give the folder")
        if info.file_size > allowed_bytes(info.compress_size):
            ratio = info.file_size // max(1, info.compress_size)
            problem = f"unpacks to {ratio:,} times its size; the limit is {MAX_RATIO} (a zip bomb?)"
            raise _refused(info, problem, path, "unpack it yourself if you trust it")
        is_folder = info.orig_filename.endswith(("/", "\\"))
        if not is_folder and parts[0] != _LITTER:
            members.append(_Member(info, parts))
    return members


def _safe_parts(info: zipfile.ZipInfo, path: str) -> tuple[str, ...]:
    """The folders and the file of a member's name. A backslash separates, as archives of Windows have it."""
    name = info.orig_filename.replace("\\", "/")
    parts = tuple([part for part in name.split("/") if part not in ("", ".")])
    if name.startswith("/") or _DRIVE.match(name):
        raise _refused(info, "has an absolute path; expected paths inside the archive", path)
    if ".." in parts or any(_DRIVE.match(part) for part in parts):
        raise _refused(info, "has a path that may lead out of the archive", path)
    if "\x00" in name or not parts:
        raise _refused(info, "has no usable name", path)
    return parts


def _unpack(archive: zipfile.ZipFile, member: _Member, folder: Path, path: str) -> None:
    info, parts = member
    target = folder.joinpath(*parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(info) as packed, open(target, "xb") as plain:
            shutil.copyfileobj(packed, plain, _COPY_BYTES)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise _refused(info, "has the name of another member", path) from None
    except OSError as error:
        problem = f"cannot be unpacked below {folder.parent.parent}: {error.strerror}"
        raise _refused(info, problem, path, "set TMPDIR to a folder with more space") from error
    except _BROKEN as error:
        raise _refused(info, f"is damaged: {error}", path, "unzip -t FILE checks it") from error


def _refused(info: zipfile.ZipInfo, problem: str, path: str, hint: str = "") -> FormatError:
    return FormatError(f"member {quoted(info.orig_filename)} {problem}", path=path, hint=hint)
