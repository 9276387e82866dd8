"""The bytes of a file or URL, piece by piece, unpacked where the name says that they are packed.

URLs are ``s3://``, ``gs://``, ``hf://``, ``memory://`` and what else fsspec knows: ``s3://`` and ``gs://`` go through
pyarrow, which brings their clients along; every other scheme goes through fsspec. ``file://`` is an ordinary path.
"""

from __future__ import annotations

import gzip
import io
import posixpath
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from sciextract.errors import (
    FormatError,
    InputMissingError,
    MissingExtraError,
    OutputError,
    SciextractError,
    as_command,
)

MAX_RATIO = 200
"""Size after unpacking or expanding to the size before; text reaches 5 to 20, a bomb 1000."""
HARMLESS_BYTES = 1 << 20
"""What comes out no larger may have any ratio."""
_WINDOW_LOG_MOST = 27
"""Zstandard data may ask for a window of 2 GiB; ``zstd`` itself unpacks up to 128 MiB unless an option raises the limit."""
_PIECE_BYTES = 1 << 16
_TOO_LARGE = "too much memory"


@dataclass(frozen=True, slots=True)
class _Packing:
    """One way of packing.

    Attributes:
        name: What messages call it, and the command that packs, and checks a file with ``-t``.
        unpack: The command that unpacks a file.
        open: Unpacks what is read from a file.
        errors: What damaged data raises.
    """

    name: str
    unpack: str
    open: Callable[[BinaryIO], io.BufferedIOBase]
    errors: Callable[[], tuple[type[Exception], ...]]


def allowed_bytes(given: int) -> int:
    """How much may come of so many bytes, or characters, when they are unpacked or names in them filled in."""
    return max(HARMLESS_BYTES, MAX_RATIO * given)


def is_packed(path: str) -> bool:
    """Whether a file is unpacked on the way, which its name says.

    >>> is_packed("train.jsonl.gz"), is_packed("train.jsonl.zst"), is_packed("train.jsonl")
    (True, True, False)
    """
    return _packing_of(path) is not None


def unpacked_name(path: str) -> str:
    """The path without ``.gz`` or ``.zst``.

    >>> unpacked_name("train.jsonl.GZ"), unpacked_name("train.jsonl")
    ('train.jsonl', 'train.jsonl')
    """
    return path[: -len(PurePath(path).suffix)] if is_packed(path) else path


def unpacking_command(path: str) -> str:
    packing = _packing_of(path)
    return f"{packing.unpack} {path}" if packing else ""


@contextmanager
def open_bytes(path: str) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where its name says that it is packed.

    Raises:
        FormatError: They are cut off or damaged, unpack to more than :func:`allowed_bytes`, or would take too much memory.
        OSError: The file cannot be read.
    """
    packing = _packing_of(path)
    if packing is None:
        with _open(path) as plain:
            yield plain
        return
    try:
        with _open(path) as file:
            packed = _Counted(file)
            with packing.open(cast(BinaryIO, packed)) as stream:
                yield io.BufferedReader(_Unpacked(stream, packed, packing, path), _PIECE_BYTES)
    except packing.errors() as error:
        problem = f"the {packing.name} data is cut off or damaged: {error}"
        hint = f"what came before was read; fetch the file again, {packing.name} -t FILE checks it"
        if _TOO_LARGE in str(error):
            most = 1 << (_WINDOW_LOG_MOST - 20)
            problem = f"the {packing.name} data asks for a window of more than {most} MiB"
            hint = f"if you trust it: {packing.unpack} --long=31 {path}"
        raise FormatError(problem, path=path, hint=hint) from error


class _Counted:
    """A packed file that counts what was read of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


class _Unpacked(io.RawIOBase):
    """What comes out of a packed file, up to where there is too much of it for what went in."""

    def __init__(
        self, stream: io.BufferedIOBase, packed: _Counted, packing: _Packing, path: str
    ) -> None:
        self._stream = stream
        self._packed = packed
        self._packing = packing
        self._path = path
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = self._stream.read1(len(buffer))  # `read` would lose what comes before a cut
        self._count += len(data)
        if self._count > allowed_bytes(self._packed.count):
            found = f"{self._packed.count:,} bytes unpack to {self._count:,} and more"
            problem = f"{found}; the limit is {MAX_RATIO} times their number (a zip bomb?)"
            trusted = as_command(*self._packing.unpack.split(), self._path)
            raise FormatError(problem, path=self._path, hint=f"if you trust it: {trusted}")
        buffer[: len(data)] = data
        return len(data)


def _open(path: str) -> AbstractContextManager[BinaryIO]:
    return open_url(path) if is_url(path) else open(path, "rb")


def refuse_packed_output(path: str) -> None:
    """Results are written plain, so that a run that was killed can go on where its file ends.

    Raises:
        OutputError: The name says that the file is packed.
    """
    packing = _packing_of(path)
    if packing is not None:
        plain = unpacked_name(path)
        raise OutputError(
            f"{path}: results are not compressed while they are written, so that a run can be resumed",
            f"{as_command('--output', plain)}, and {as_command(packing.name, plain)} when it is done; "
            f"or send standard output to {packing.name}",
        )


def _packing_of(path: str) -> _Packing | None:
    return _PACKINGS.get(PurePath(path).suffix.lower())


def _zstd() -> Any:
    """Python's own module, or the same one for older versions of Python; importing it takes 6 ms."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def _open_zstd(packed: BinaryIO) -> io.BufferedIOBase:
    zstd = _zstd()
    options = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG_MOST}
    return cast(io.BufferedIOBase, zstd.open(packed, "rb", options=options))


def _open_gzip(packed: BinaryIO) -> io.BufferedIOBase:
    return gzip.GzipFile(fileobj=packed, mode="rb")


_GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
_PACKINGS = {
    ".gz": _Packing("gzip", "gunzip", _open_gzip, lambda: _GZIP_ERRORS),
    ".zst": _Packing("zstd", "unzstd", _open_zstd, lambda: (EOFError, _zstd().ZstdError)),
}


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""Two letters at least: ``C://`` is a path of Windows."""
_HUB_DATASET = re.compile(r"hf://datasets/[^/]+/[^/]+/?", re.IGNORECASE)
_OF_ARROW = {"s3": "s3", "gs": "gs", "gcs": "gs"}
_BLOCK_BYTES = 1 << 20


def is_url(path: str) -> bool:
    """Whether a word names a file by its URL.

    >>> is_url("s3://bucket/papers.jsonl"), is_url("papers.jsonl"), is_url("C://papers.jsonl")
    (True, False, False)
    """
    return _SCHEME.match(path) is not None


def without_file_scheme(path: str) -> str:
    """``file:///data/a%20b.jsonl`` as the path that it is; anything else as it stands.

    >>> without_file_scheme("file:///data/a%20b.jsonl"), without_file_scheme("s3://bucket/a")
    ('/data/a b.jsonl', 's3://bucket/a')

    Raises:
        InputMissingError: It names a file of another host.
    """
    if not path.lower().startswith("file://"):
        return path
    parts = urlsplit(path)
    if parts.netloc not in ("", "localhost"):
        hint = "write file:///PATH, with three slashes"
        raise InputMissingError(f"{path}: files of the host {parts.netloc!r} cannot be read", hint)
    return unquote(parts.path)


def file_system(url: str) -> tuple[Any, str]:
    """The file system that a URL lies in, with fsspec's methods, and the path there.

    Raises:
        MissingExtraError: The packages of the extra ``scale`` are not installed.
        FormatError: The scheme is unknown, needs a package that is not installed, or the URL is malformed.
    """
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"reading {url}", "scale") from error
    with _explain_errors(url):
        scheme = url.partition("://")[0].lower()
        if scheme in _OF_ARROW:
            # pyarrow takes what follows a question mark for options, such as another server.
            if "?" in url:
                hint = "settings of the store come from the environment: AWS_ENDPOINT_URL, AWS_REGION..."
                raise FormatError("a question mark in a URL of a store", path=url, hint=hint)
            try:
                from fsspec.implementations.arrow import ArrowFSWrapper
                from pyarrow.fs import FileSystem
            except ModuleNotFoundError as error:
                raise MissingExtraError(f"reading {url}", "scale") from error
            store, path = FileSystem.from_uri(_OF_ARROW[scheme] + url[len(scheme) :])
            return ArrowFSWrapper(store), path
        system, path = fsspec.core.url_to_fs(url)
        return system, str(path)


@contextmanager
def open_url(url: str) -> Iterator[BinaryIO]:
    """The bytes behind a URL, fetched a block at a time; seekable where the file system is.

    Raises:
        MissingExtraError: See :func:`file_system`.
        FormatError: It cannot be read.
        FileNotFoundError: There is no such file.
    """
    system, path = file_system(url)
    with _explain_errors(url), system.open(path, "rb") as stream:
        yield cast(BinaryIO, io.BufferedReader(_Fetched(stream), _BLOCK_BYTES))


def expand_url(url: str) -> list[str]:
    """The URLs that are meant: the file itself, the files below a folder, or those that match ``*`` and ``**``, sorted.

    Hidden files below a folder are left out.

    Raises:
        InputMissingError: There is nothing.
        FormatError: It is a whole data set of the hub; see also :func:`file_system`.
    """
    if _HUB_DATASET.fullmatch(url):
        # Beside its data lie readmes and scripts, which would be read as abstracts.
        problem = "this is a whole data set; expected files of it"
        hint = f"the hub keeps each as Parquet: {url.rstrip('/')}@refs/convert/parquet/**/*.parquet"
        raise FormatError(problem, path=url, hint=hint)
    system, path = file_system(url)
    with _explain_errors(url):
        if "*" in path:
            found = system.glob(path)
        elif system.isdir(path):
            below = {file: posixpath.relpath(file, path).split("/") for file in system.find(path)}
            found = [
                file for file, parts in below.items() if not any(p.startswith(".") for p in parts)
            ]
        else:
            found = [path] if system.exists(path) else []
    if not found:
        raise InputMissingError(f"{url}: no such file or folder, or nothing in it")
    if found == [path]:
        return [url]
    # Listings name files by their paths, which may leave out the host or account of the URL.
    place = path.rstrip("/")
    start = url[: url.rindex(place)] if place in url else url.partition("://")[0] + "://"
    return sorted(start + file for file in found)


class _Fetched(io.RawIOBase):
    """The files of fsspec and pyarrow as one kind of raw stream: some of theirs cannot limit a line."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._stream.seekable())

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        data = self._stream.read(len(view))
        view[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._stream.seek(offset, whence)
        return int(self._stream.tell())

    def tell(self) -> int:
        return int(self._stream.tell())


@contextmanager
def _explain_errors(url: str) -> Iterator[None]:
    """Turns what file systems raise into errors that name the URL; a missing file stays what it is."""
    try:
        yield
    except (SciextractError, FileNotFoundError):
        raise
    except ImportError as error:
        # fsspec says which one to install.
        problem = f"its file system needs another package: {error}"
        hint = "install that package with pip, next to sciextract"
        raise FormatError(problem, path=url, hint=hint) from error
    except (OSError, ValueError, NotImplementedError) as error:
        raise FormatError(f"cannot be read: {str(error) or repr(error)}", path=url) from error
