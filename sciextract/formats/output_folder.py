"""Folders that writers fill: new or empty, one file a document, names that every system takes."""

from __future__ import annotations

import re
from pathlib import Path

from sciextract.errors import OutputError

_UNSAFE = re.compile(r"[^\w.,+=@() -]+")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_LONGEST = 120


def new_folder(destination: Path | str) -> Path:
    """The folder, made if it is not there.

    Raises:
        OutputError: It is a file, has files in it, or cannot be made.
    """
    folder = Path(destination)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir())
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be written: {error.strerror}", "choose another --output"
        ) from error
    if occupied:
        raise OutputError(f"{folder}: the folder is not empty", "name a new or an empty folder")
    return folder


class FileNames:
    """File names for document keys, no two the same, also where the system ignores case.

    >>> names = FileNames()
    >>> names.name_of("a/b"), names.name_of("A:b"), names.name_of("")
    ('a_b', 'A_b-2', 'document')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def name_of(self, doc_key: str) -> str:
        """A name without suffix, at most 120 bytes long and never hidden."""
        safe = _UNSAFE.sub("_", doc_key).strip(" .") or "document"
        short = safe.encode("utf-8")[:_LONGEST].decode("utf-8", "ignore").rstrip(" .")
        base = f"{short}_" if _RESERVED.fullmatch(short) else short
        name, number = base, 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{base}-{number}"
        self._taken.add(name.casefold())
        return name
