"""Finding a format: by id, by what a file holds, by what it is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Literal

from sciextract.errors import FormatError, UsageError
from sciextract.formats.catalogue import FORMATS, UNREAD, USUAL
from sciextract.formats.spec import FormatSpec

__all__ = [
    "FORMATS",
    "FormatSpec",
    "get_format",
    "needs_more",
    "readable",
    "recognise",
    "recognise_folder",
    "writable",
]


def get_format(format_id: str, use: Literal["read", "write"] = "read") -> FormatSpec:
    """The format of that id.

    Raises:
        UsageError: There is none, or it cannot be read (written); lists the allowed ids.
    """
    allowed = readable() if use == "read" else writable()
    for spec in allowed:
        if spec.id == format_id:
            return spec
    ids = ", ".join(sorted(spec.id for spec in allowed))
    known = any(spec.id == format_id for spec in FORMATS)
    problem = f"cannot {use} the format" if known else "unknown format"
    raise UsageError(f"{problem} {format_id!r}", f"formats to {use}: {ids}")


def readable() -> list[FormatSpec]:
    """The formats that can be read."""
    return [spec for spec in FORMATS if spec.reads]


def writable() -> list[FormatSpec]:
    """The formats that can be written."""
    return [spec for spec in FORMATS if spec.writes]


def recognise(name: str, head: str) -> FormatSpec:
    """The format of a file, by its first lines first, by its name second, else ``text``.

    Args:
        name: Its path; what :attr:`FormatSpec.binary` formats are known by.
        head: The first non-blank line; more of them where it is :func:`not enough <needs_more>`.

    Raises:
        FormatError: It is of a kind that is not read, or nothing readable has this name and content.
    """
    files = [spec for spec in readable() if spec.kind == "file"]
    by_name = [spec for spec in files if has_suffix(name, spec.suffixes)]
    for spec in [*by_name, *files]:
        if spec.opening and not spec.binary and re.match(spec.opening, head):
            return spec
    for unread in UNREAD:
        if has_suffix(name, unread.suffixes) or re.match(unread.opening, head):
            hint = f"{unread.hint}; --format text reads it as it stands"
            raise FormatError(f"this is {unread.title}, which is not read", path=name, hint=hint)
    usual = USUAL.get(PurePath(name).suffix.lower(), "text")
    for spec in [*by_name, *files]:
        if spec.id == usual or (by_name and usual == "text"):
            return spec
    raise FormatError("the format cannot be recognised", path=name, hint="name it with --format")


def needs_more(line: str) -> bool:
    """Whether a first line does not tell a format: it opens XML or spread-out JSON, or may be a comment or a number."""
    return line.startswith(("<", "%", "#", "\\")) or line in ("[", "{", "[{", "1.")


def recognise_by_name(name: str) -> FormatSpec | None:
    """The format of a file whose content alone does not tell: binary ones, and parts of a folder."""
    for spec in readable():
        if (spec.binary or spec.kind == "folder") and has_suffix(name, spec.suffixes):
            return spec
    return None


def recognise_folder(names: Iterable[str]) -> FormatSpec | None:
    """The format that takes a folder of such files as a whole, if one does."""
    whole = [spec for spec in readable() if spec.kind == "folder"]
    for name in names:
        for spec in whole:
            if has_suffix(name, spec.suffixes):
                return spec
    return None


def has_suffix(name: str, suffixes: Sequence[str]) -> bool:
    """Whether a file name ends in one of the suffixes (or is one of them), in any case."""
    path = PurePath(name)
    return path.suffix.lower() in suffixes or path.name.lower() in suffixes
