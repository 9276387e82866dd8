"""Archives as input: unpacked into a temporary folder, after every member was found harmless."""

from __future__ import annotations

import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from sciextract.errors import FormatError
from sciextract.formats.base import BadRecord, ReadItem, Source, quoted
from sciextract.formats.opening import MAX_RATIO, allowed_bytes, open_bytes

MAX_MEMBERS = 100_000
MAX_BYTES = 4 << 30

_ENCRYPTED = 0x1 | 0x40
#: Python bounds the memory of these two only.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DRIVE = re.compile(r"[A-Za-z]:")
_LITTER = "__MACOSX"
_COPY_BYTES = 1 << 16
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, NotImplementedError, ValueError),
)
_YOURSELF = "unpack it yourself and give the folder"


@contextmanager
def open_archive(path: str) -> Iterator[Path]:
    """A temporary folder with what the archive holds; it is removed at the end.

    All members are checked before the first is written. Nothing is written outside of the folder.

    Args:
        path: A zip archive.

    Raises:
        FormatError: It is no zip archive or a damaged one; a member has an absolute path, a drive letter
            or ``..``, is a link or a device, is encrypted, has the name of another, or is packed in
            another way than stored or deflated; there are more than ``MAX_MEMBERS`` members, or they
            unpack to more than ``MAX_BYTES`` or than :func:`~sciextract.formats.opening.allowed_bytes`.
    """
    with TemporaryDirectory(prefix="sciextract-") as holder:
        folder = Path(holder) / "unpacked"
        folder.mkdir()
        try:
            with open_bytes(path) as stream, zipfile.ZipFile(stream) as archive:
                # All members are known to be harmless before the first is written.
                files = [*_harmless(archive, path, MAX_BYTES)]
                for member, parts in files:
                    if not _is_folder(member) and parts[0] != _LITTER:
                        _unpack(archive, member, folder.joinpath(*parts), folder, path)
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror}", path=path) from error
        except _BROKEN as error:
            hint = "fetch or pack it again; unzip -t FILE checks it"
            problem = f"no zip archive, or damaged: {error}"
            raise FormatError(problem, path=path, hint=hint) from error
        yield folder


def check_zip(stream: IO[bytes], path: str, most_bytes: int) -> None:
    """Refuse a zip file that :func:`open_archive` would refuse, or that unpacks to more.

    Raises:
        FormatError: It does.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            for _ in _harmless(archive, path, most_bytes):
                pass
    except _BROKEN as error:
        raise FormatError(f"no office document, or damaged: {error}", path=path) from error


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
        inside = Path(source.path).relative_to(self.folder)
        return replace(source, origin=(Path(self.path).name / inside).as_posix())

    def item(self, item: ReadItem) -> ReadItem:
        """The item with the archive's path in its error or warnings."""
        if isinstance(item, BadRecord):
            return BadRecord(self.error(item.error))
        return replace(item, warnings=tuple(self.text(warning) for warning in item.warnings))

    def error(self, error: FormatError) -> FormatError:
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


def _harmless(
    archive: zipfile.ZipFile, path: str, most_bytes: int
) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...]]]:
    """The members with the parts of their names, as long as they may be unpacked."""
    total = 0
    for number, member in enumerate(archive.infolist(), start=1):
        if number > MAX_MEMBERS:
            found = f"the archive has more than {MAX_MEMBERS:,} members, the limit"
            raise FormatError(found, path=path, hint=_YOURSELF)
        _check_packing(member, path)
        parts = _safe_parts(member.orig_filename, path)
        total += member.file_size
        if total > most_bytes:
            problem = f"exceeds the {most_bytes / 2**30:.3g} GiB that the file may unpack to"
            raise _member_error(member.orig_filename, problem, path, _YOURSELF)
        yield member, parts


def _check_packing(member: zipfile.ZipInfo, path: str) -> None:
    name, kind = member.orig_filename, stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a symbolic link" if kind == stat.S_IFLNK else "a device"
        raise _member_error(name, f"is {what}; expected files and folders", path)
    if member.flag_bits & _ENCRYPTED:
        raise _member_error(name, "is encrypted", path, _YOURSELF)
    if member.compress_type not in _METHODS:
        method = f"is packed with method {member.compress_type}"
        problem = f"{method}; expected store (0) and deflate (8)"
        raise _member_error(name, problem, path, "pack it again: zip -r NEW.zip FOLDER")
    if member.file_size > allowed_bytes(member.compress_size):
        ratio = member.file_size // max(1, member.compress_size)
        problem = f"unpacks to {ratio:,} times its size; the limit is {MAX_RATIO} (a zip bomb?)"
        raise _member_error(name, problem, path, "unpack it yourself if you trust it")


def _is_folder(member: zipfile.ZipInfo) -> bool:
    return member.orig_filename.endswith(("/", "\\"))


def _safe_parts(written: str, path: str) -> tuple[str, ...]:
    """The folders and the file of a member's name. A backslash separates, as archives of Windows have it."""
    name = written.replace("\\", "/")
    parts = tuple([part for part in name.split("/") if part not in ("", ".")])
    if name.startswith("/") or _DRIVE.match(name):
        problem = "has an absolute path; expected paths inside the archive"
        raise _member_error(written, problem, path)
    if ".." in parts or any(_DRIVE.match(part) for part in parts):
        raise _member_error(written, "has a path that may lead out of the archive", path)
    if "\x00" in name or not parts:
        raise _member_error(written, "has no usable name", path)
    return parts


def _unpack(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, folder: Path, path: str
) -> None:
    name = member.orig_filename
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed, open(target, "xb") as plain:
            shutil.copyfileobj(packed, plain, _COPY_BYTES)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise _member_error(name, "has the name of another member", path) from None
    except OSError as error:
        problem = f"cannot be unpacked below {folder.parent.parent}: {error.strerror}"
        hint = "set TMPDIR to a folder with more space"
        raise _member_error(name, problem, path, hint) from error
    except _BROKEN as error:
        raise _member_error(name, f"is damaged: {error}", path, "fetch or pack it again") from error


def _member_error(name: str, problem: str, path: str, hint: str = "") -> FormatError:
    return FormatError(f"member {quoted(name)} {problem}", path=path, hint=hint)
