"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sciextract.errors import OutputError
from sciextract.formats.packing import refuse_packed_output
from sciextract.workflows.output import reported_as


def check_target(target: Path, *, force: bool, kept: Iterable[Path] = ()) -> None:
    """Refuse a target whose folder is missing, or that has content which may not be replaced.

    Args:
        target: The file or folder to write.
        force: Whether its present content may be replaced.
        kept: Files and folders that must never be replaced, nor a folder that they lie in.

    Raises:
        OutputError: It cannot be written so.
    """
    refuse_packed_output(str(target))
    place = target.resolve()
    for each in (Path.cwd(), Path(os.path.expanduser("~")), *kept):
        if each.resolve().is_relative_to(place):
            problem = f"{target} cannot be replaced: it is {each}, or a folder around it"
            raise OutputError(problem, "choose another --output")
    if not target.parent.is_dir():
        raise OutputError(f"{target}: no such folder: {target.parent}", f"mkdir -p {target.parent}")
    if target.exists() and not (target.is_file() or target.is_dir()):
        problem = f"{target} is neither a file nor a folder"
        raise OutputError(problem, "without --output the data goes to standard output")
    if not force and target.exists() and not _is_empty_folder(target):
        raise OutputError(
            f"{target} exists already and would be overwritten", "--force replaces it"
        )


@contextmanager
def whole_output(target: Path) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's place when the block ends well.

    Raises:
        OutputError: The target cannot be replaced.
    """
    partial = target.with_name(f".{target.name}.partial")
    remove(partial)
    try:
        yield partial
        if partial.exists():
            with reported_as(str(target)):
                _put_in_place(partial, target)
    finally:
        remove(partial)


def _put_in_place(partial: Path, target: Path) -> None:
    """Swap two paths; a folder that is replaced is whole at every moment, under one name or the other."""
    if target.is_file() and partial.is_file():
        os.replace(partial, target)
        return
    earlier = target.with_name(f".{target.name}.replaced")
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


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
