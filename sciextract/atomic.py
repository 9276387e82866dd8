"""Files and folders that appear under their name whole or not at all; lines that are appended whole.

What is written goes next to the target first and takes its name at the end of a ``with`` block. Errors stay
``OSError``: the caller knows which message and which next step fit.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from hashlib import file_digest, sha256
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

_PARTIAL = ".partial"
_LONGEST = 200


@contextmanager
def replacing(target: Path, *, alone: bool = False, durable: bool = False) -> Iterator[Path]:
    """A path next to the target to write a file or folder to; it replaces the target when the block ends.

    A block that fails or writes nothing leaves the target as it was, and nothing next to it.

    Args:
        target: The file or folder.
        alone: Whether no other process writes the same target: the path is always the same then, and what a
            killed process left there is removed first.
        durable: Whether the result has to survive a power cut from the end of the block on.

    Raises:
        OSError: The target cannot be replaced.
    """
    partial = partial_path(target, alone=alone)
    if alone:
        remove(partial)
    try:
        yield partial
        if partial.exists():
            put_in_place(partial, target, durable=durable)
    finally:
        with suppress(OSError):
            remove(partial)


@contextmanager
def creating(target: Path, *, durable: bool = False) -> Iterator[Path]:
    """A path next to the target to write a file or folder to; it gets the target's name unless that is taken.

    Of several processes that create the same target one wins.

    Args:
        target: The file or folder.
        durable: Whether the result has to survive a power cut from the end of the block on.

    Raises:
        FileExistsError: The name is taken.
        OSError: The target cannot be written.
    """
    partial = partial_path(target)
    try:
        yield partial
        if durable:
            _sync(partial)
        try:
            if partial.is_dir():
                os.rename(partial, target)  # fails where there is a file, or a folder with content
            else:
                try:
                    os.link(partial, target)
                except FileExistsError:
                    raise
                except OSError:
                    # File systems of memory sticks know no links: the name first, then its content.
                    os.close(os.open(target, os.O_CREAT | os.O_EXCL))
                    os.replace(partial, target)
        except OSError as error:
            if not target.exists():
                raise
            problem = os.strerror(errno.EEXIST)
            raise FileExistsError(errno.EEXIST, problem, str(target)) from error
        if durable:
            sync_folder(target.parent)
    finally:
        with suppress(OSError):
            remove(partial)


def write(target: Path, data: bytes | str, *, alone: bool = False, durable: bool = False) -> None:
    """Write a whole file, text in UTF-8; the arguments are those of :func:`replacing`.

    Raises:
        OSError: It cannot be written; the target is as it was.
    """
    with replacing(target, alone=alone, durable=durable) as partial:
        partial.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)


def sha256_of(path: Path) -> str:
    """The hash of a file, in hexadecimal digits.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def append_line(path: Path, line: bytes) -> None:
    """Add a line with its newline to a file, so that it survives a power cut.

    It begins a new line behind what a killed process left; where it does not fit, the file is as it was.

    Raises:
        OSError: It cannot be written.
    """
    with open(path, "ab+", buffering=0) as stream:
        end = stream.seek(0, os.SEEK_END)
        data = (b"" if _ends_whole(stream, end) else b"\n") + line
        written = 0
        try:
            while written < len(data):
                written += stream.write(data[written:]) or 0
            os.fsync(stream.fileno())
        except OSError:
            if stream.seek(0, os.SEEK_END) == end + written:  # no other process wrote behind it
                stream.truncate(end)
            raise


def partial_path(target: Path, *, alone: bool = False) -> Path:
    """A hidden name next to the target; unless the caller is alone a new one each time."""
    unique = "" if alone else f".{_machine()}-{os.getpid()}-{token_hex(4)}"
    return target.with_name(f".{_short(target.name)}{unique}{_PARTIAL}")


def put_in_place(partial: Path, target: Path, *, durable: bool = False) -> None:
    """Replace the target by a path next to it.

    A file is replaced in one step. A folder that is replaced is whole at every moment, under its name or under
    ``.NAME.replaced``.

    Raises:
        OSError: The target cannot be replaced; it is as it was.
    """
    if durable:
        _sync(partial)
    if partial.is_file() and not target.is_dir():
        os.replace(partial, target)
    else:
        _swap(partial, target)
    if durable:
        sync_folder(target.parent)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_leftovers(
    folder: Path, *, older_than: float = 0, of: Path | None = None
) -> dict[Path, bool]:
    """Remove what killed processes left half written in a folder, as far as that is possible.

    Args:
        folder: Where to look.
        older_than: Seconds since it was changed last: what is younger may still be written.
        of: Only what was to become this target.

    Returns:
        What was found there, and whether it was removed.
    """
    found: dict[Path, bool] = {}
    name = "" if of is None else escape(f"{_short(of.name)}.")
    with suppress(OSError):
        for leftover in folder.glob(f".{name}*{_PARTIAL}*"):
            found[leftover] = False
            with suppress(OSError):
                if _is_abandoned(leftover) or time.time() - leftover.stat().st_mtime >= older_than:
                    remove(leftover)
                    found[leftover] = True
    return found


def _machine() -> str:
    """The machine in a few letters: numbers of processes mean something there only."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return sha256(name.encode()).hexdigest()[:6]


def _is_abandoned(partial: Path) -> bool:
    """Whether the process of this machine that wrote it has ended."""
    made = re.search(r"\.([0-9a-f]{6})-(\d+)-[0-9a-f]{8}\.partial", partial.name)
    if made is None or made[1] != _machine() or os.name == "nt":
        return False
    try:
        os.kill(int(made[2]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system lets one ask for that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _short(name: str) -> str:
    """The name itself, or a hash of one that leaves no room for more in a file name."""
    encoded = os.fsencode(name)
    return name if len(encoded) <= _LONGEST else sha256(encoded).hexdigest()[:16]


def _sync(path: Path) -> None:
    """Bring the content of a file, or of a folder's files, to the disk."""
    if path.is_dir():
        for entry in path.iterdir():
            _sync(entry)
        sync_folder(path)
    else:
        # Windows brings only files to the disk that are open for writing; a read-only one can be read elsewhere.
        with open(path, "rb+" if os.name == "nt" else "rb") as stream:
            os.fsync(stream.fileno())


def _swap(partial: Path, target: Path) -> None:
    earlier = target.with_name(f".{_short(target.name)}.replaced")
    remove(earlier)
    if target.exists():
        os.rename(target, earlier)
    try:
        os.rename(partial, target)
    except OSError:
        if earlier.exists():
            os.rename(earlier, target)
        raise
    remove(earlier)


def _ends_whole(stream: BinaryIO, end: int) -> bool:
    if not end:
        return True
    stream.seek(end - 1)
    return stream.read(1) == b"\n"
