"""Files behind URLs (``s3://``, ``gs://``, ``hf://``, ``memory://`` and what else fsspec knows), read piece by piece.

``s3://`` and ``gs://`` go through pyarrow, which brings their clients along; every other scheme goes through fsspec.
``file://`` is an ordinary path.
"""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from sciextract.errors import (
    FormatError,
    InputMissingError,
    MissingExtraError,
    SciextractError,
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""Two letters at least: ``C://`` is a path of Windows."""
HUB_DATASET = re.compile(
    r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([^/#@]+))?/?(?:#(.+))?", re.IGNORECASE
)
"""A whole data set of the hub: its name, revision and configuration."""
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
    with _explained(url):
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
    with _explained(url), system.open(path, "rb") as stream:
        yield cast(BinaryIO, io.BufferedReader(_Fetched(stream), _BLOCK_BYTES))


def expand_url(url: str) -> list[str]:
    """The URLs that are meant: the file itself, the files below a folder, or those that match ``*`` and ``**``, sorted.

    Hidden files below a folder are left out.

    A data set of the hub is meant as a whole.

    Raises:
        InputMissingError: There is nothing.
        FormatError: See :func:`file_system`.
    """
    if HUB_DATASET.fullmatch(url):
        return [url]
    system, path = file_system(url)
    with _explained(url):
        if "*" in path:
            found = system.glob(path)
        elif system.isdir(path):
            below = {each: posixpath.relpath(each, path).split("/") for each in system.find(path)}
            found = [
                each for each, parts in below.items() if not any(p.startswith(".") for p in parts)
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
    return sorted(start + each for each in found)


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
def _explained(url: str) -> Iterator[None]:
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
