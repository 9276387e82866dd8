"""Archives as input: unpacked into a temporary folder, after every member was found harmless."""

from __future__ import annotations

import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

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
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error),
    *(EOFError, NotImplementedError, ValueError),
)
_YOURSELF = "unpack it yourself and give the folder"


class _Member(NamedTuple):
    """A file or folder of the archive: its name there, bytes, and what opens it."""

    name: str
    size: int
    is_folder: bool
    open: Callable[[], IO[bytes] | None]


@contextmanager
def open_archive(path: str, tar: bool = False) -> Iterator[Path]:
    """A temporary folder with what the archive holds; it is removed at the end.

    All members are checked before the first is written. Nothing is written outside of the folder.

    Args:
        path: A zip archive.
        tar: Whether it may be a tar archive, too.

    Raises:
        FormatError: It is not such an archive or a damaged one; a member has an absolute path, a drive letter
            or ``..``, is a link or a device, is encrypted, has the name of another, or is packed in
            another way than stored or deflated; there are more than ``MAX_MEMBERS`` members, or they
            unpack to more than ``MAX_BYTES`` or than :func:`~sciextract.formats.opening.allowed_bytes`.
    """
    with TemporaryDirectory(prefix="sciextract-") as holder:
        folder = Path(holder) / "unpacked"
        folder.mkdir()
        try:
            if tar and not zipfile.is_zipfile(path):
                with tarfile.open(path, "r:") as archive:
                    _unpack_all(_tar_members(archive, path), folder, path)
            else:
                with open_bytes(path) as stream, zipfile.ZipFile(stream) as zipped:
                    _unpack_all(_zip_members(zipped, path), folder, path)
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror}", path=path) from error
        except _BROKEN as error:
            hint = "fetch or pack it again" + "; unzip -t FILE checks it" * (not tar)
            problem = f"no {'tar or ' * tar}zip archive, or damaged: {error}"
            raise FormatError(problem, path=path, hint=hint) from error
        yield folder


def check_zip(stream: IO[bytes], path: str, most_bytes: int) -> None:
    """Refuse a zip file that :func:`open_archive` would refuse, or that unpacks to more.

    Raises:
        FormatError: It does.
    """
    try:
        with zipfile.ZipFile(stream) as zipped:
            for _ in _harmless(_zip_members(zipped, path), path, most_bytes):
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


def _unpack_all(members: Iterable[_Member], folder: Path, path: str) -> None:
    """Write the files, in the archive's order, once all members are known to be harmless."""
    files = []
    for member, parts in _harmless(members, path, MAX_BYTES):
        if not member.is_folder and parts[0] != _LITTER:
            files.append((member, folder.joinpath(*parts)))
    for member, target in files:
        _unpack(member, target, folder, path)


def _harmless(
    members: Iterable[_Member], path: str, most_bytes: int
) -> Iterator[tuple[_Member, tuple[str, ...]]]:
    """The members with the parts of their names, as long as they may be unpacked."""
    total = 0
    for number, member in enumerate(members, start=1):
        if number > MAX_MEMBERS:
            found = f"the archive has more than {MAX_MEMBERS:,} members, the limit"
            raise FormatError(found, path=path, hint=_YOURSELF)
        parts = _safe_parts(member.name, path)
        total += member.size
        if total > most_bytes:
            problem = f"exceeds the {most_bytes / 2**30:.3g} GiB that the file may unpack to"
            raise _refused(member.name, problem, path, _YOURSELF)
        yield member, parts


def _tar_members(archive: tarfile.TarFile, path: str) -> Iterator[_Member]:
    for info in archive:
        if not (info.isreg() or info.isdir()) or info.issparse():
            problem = "is a link, a device or a sparse file; expected files and folders"
            raise _refused(info.name, problem, path)
        if info.name != ".":
            yield _Member(info.name, info.size, info.isdir(), partial(archive.extractfile, info))


def _zip_members(archive: zipfile.ZipFile, path: str) -> Iterator[_Member]:
    for info in archive.infolist():
        name, kind = info.orig_filename, stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            what = "a symbolic link" if kind == stat.S_IFLNK else "a device"
            raise _refused(name, f"is {what}; expected files and folders", path)
        if info.flag_bits & _ENCRYPTED:
            raise _refused(name, "is encrypted", path, _YOURSELF)
        if info.compress_type not in _METHODS:
            problem = (
                f"is packed with method {info.compress_type}; expected store (0) and deflate (8)"
            )
            raise _refused(name, problem, path, "pack it again: zip -r NEW.zip FOLDER")
        if info.file_size > allowed_bytes(info.compress_size):
            ratio = info.file_size // max(1, info.compress_size)
            problem = f"unpacks to {ratio:,} times its size; the limit is {MAX_RATIO} (a zip bomb?)"
            raise _refused(name, problem, path, "unpack it yourself if you trust it")
        is_folder = name.endswith(("/", "\\"))
        yield _Member(name, info.file_size, is_folder, partial(archive.open, info))


def _safe_parts(written: str, path: str) -> tuple[str, ...]:
    """The folders and the file of a member's name. A backslash separates, as archives of Windows have it."""
    name = written.replace("\\", "/")
    parts = tuple([part for part in name.split("/") if part not in ("", ".")])
    if name.startswith("/") or _DRIVE.match(name):
        raise _refused(written, "has an absolute path; expected paths inside the archive", path)
    if ".." in parts or any(_DRIVE.match(part) for part in parts):
        raise _refused(written, "has a path that may lead out of the archive", path)
    if "\x00" in name or not parts:
        raise _refused(written, "has no usable name", path)
    return parts


def _unpack(member: _Member, target: Path, folder: Path, path: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        packed = member.open()
        assert packed is not None  # tarfile has no content for links, which were refused
        with packed, open(target, "xb") as plain:
            shutil.copyfileobj(packed, plain, _COPY_BYTES)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise _refused(member.name, "has the name of another member", path) from None
    except OSError as error:
        problem = f"cannot be unpacked below {folder.parent.parent}: {error.strerror}"
        hint = "set TMPDIR to a folder with more space"
        raise _refused(member.name, problem, path, hint) from error
    except _BROKEN as error:
        raise _refused(
            member.name, f"is damaged: {error}", path, "fetch or pack it again"
        ) from error


def _refused(name: str, problem: str, path: str, hint: str = "") -> FormatError:
    return FormatError(f"member {quoted(name)} {problem}", path=path, hint=hint)
