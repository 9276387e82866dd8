"""Settings in TOML, found, read and checked in one way; and files that a full disk leaves whole or not there."""

from __future__ import annotations

import errno
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError

from sciextract import atomic
from sciextract.errors import NO_ROOM, InputMissingError, OutputError, UsageError

Table = dict[str, Any]
Kind = TypeVar("Kind")

_PLAIN: dict[str, Any] = {"bool": bool, "int": int, "float": int | float, "str": str}


def packaged_file(name: str, folder: Path, what: str, prefix: str = "") -> Path:
    """A file by its path, or one that comes with the trainer by its name.

    Args:
        name: A path, or a name without ``prefix`` and ``.toml``.
        folder: Where the packaged ones are.
        what: What it is, for the message: ``plan``, ``distillation recipe``.
        prefix: What the names of the packaged files begin with.

    Raises:
        InputMissingError: Neither a file nor a packaged one; names the packaged ones.
    """
    path, packaged = Path(name), folder / f"{prefix}{name}.toml"
    if path.is_file() or packaged.is_file():
        return path if path.is_file() else packaged
    names = sorted(file.stem.removeprefix(prefix) for file in folder.glob(f"{prefix}*.toml"))
    noun = what.rpartition(" ")[2]
    raise InputMissingError(
        f"no {what} is called {name!r}", f"packaged {noun}s: {', '.join(names)}"
    )


def read_toml(path: Path, what: str, hint: str) -> Table:
    """The values of a TOML file, not checked any further.

    Args:
        path: The file.
        what: What it is, for the message: ``no WHAT at PATH``.
        hint: What such a file looks like.

    Raises:
        InputMissingError: There is no such file.
        UsageError: It is not TOML in UTF-8.
    """
    if not path.is_file():
        raise InputMissingError(f"no {what} at {path}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", hint) from error


def settings_from(
    kind: type[Kind], values: Mapping[str, Any], place: str, missing: str = ""
) -> Kind:
    """A frozen dataclass from plain values, each checked for name and type; lists become tuples where it has these.

    Args:
        kind: The dataclass; its fields are annotated with what :func:`has_kind` knows.
        values: Values by name.
        place: Where they stand, for messages.
        missing: What to do about a setting that is not there.

    Raises:
        UsageError: Names the place, the setting, the value and what is allowed.
    """
    known: dict[str, Field[Any]] = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    refuse_unknown(values, known, place)
    for name, value in values.items():
        check_kind(value, str(known[name].type), f"{place}: {name}")
    for name, each in known.items():
        optional = each.default is not MISSING or each.default_factory is not MISSING
        if not optional and name not in values:
            hint = missing or f"add {name} = ..."
            raise UsageError(f"{place}: the setting {name!r} is missing", hint)
    return kind(**{key: _frozen(value, str(known[key].type)) for key, value in values.items()})


def plain_values(settings: Any) -> Table:
    """All settings of a dataclass by name; lists, as in JSON and TOML, where there are several values."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()}


def refuse_unknown(
    values: Mapping[str, Any], known: Iterable[str], place: str, what: str = "setting"
) -> None:
    """Refuses a name that is not known.

    Raises:
        UsageError: Names the place, the name and the known ones.
    """
    allowed = list(known)
    if unknown := sorted(set(values) - set(allowed)):
        raise UsageError(f"{place}: unknown {what} {unknown[0]!r}", f"known: {', '.join(allowed)}")


def check_kind(value: object, annotation: str, place: str) -> None:
    """Refuses a value of another type.

    Raises:
        UsageError: Names the place, the value and the type.
    """
    if not has_kind(value, annotation):
        raise UsageError(f"{place} = {value!r} is not of type {_type_name(annotation)}")


def has_kind(value: object, annotation: str) -> bool:
    """Whether a value of a TOML file is what an annotation says; a whole number is a ``float``, ``true`` no ``int``.

    >>> has_kind(3, "float"), has_kind(True, "int"), has_kind([1, "2"], "tuple[int, ...]")
    (True, False, False)
    >>> has_kind({"GENE": "Gene"}, "dict[str, str]")
    True
    """
    outer, inner = _parts(annotation)
    if outer in ("tuple", "list"):
        return isinstance(value, list | tuple) and all(has_kind(each, inner) for each in value)
    if outer in ("dict", "Mapping"):
        return isinstance(value, dict) and all(has_kind(each, inner) for each in value.values())
    if outer == "Any":
        return True
    if isinstance(value, bool):
        return outer == "bool"
    return isinstance(value, _PLAIN[outer])


def _parts(annotation: str) -> tuple[str, str]:
    """The outer type, and the type of what it holds: of the values, where these have names."""
    outer, _, inner = annotation.removesuffix("]").partition("[")
    return outer, inner.removesuffix(", ...").removeprefix("str, ")


def _type_name(annotation: str) -> str:
    """How a message says a type.

    >>> _type_name("tuple[int, ...]"), _type_name("Mapping[str, Any]"), _type_name("list[dict[str, str]]")
    ('list of int', 'table', 'list of table of str')
    """
    outer, inner = _parts(annotation)
    name = {"tuple": "list", "dict": "table", "Mapping": "table"}.get(outer, outer)
    return name if inner in ("", "Any") else f"{name} of {_type_name(inner)}"


def _frozen(value: Any, annotation: str) -> Any:
    return tuple(value) if _parts(annotation)[0] == "tuple" else value


_CANNOT_GROW = {**NO_ROOM, errno.EROFS: "the file system is read-only"}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file or folder to write next to ``path``, which takes its place when the block is done.

    Raises:
        OutputError: The disk is full; ``path`` is as it was before.
    """
    with explained(path), atomic.replacing(path, alone=True) as temporary:
        yield temporary


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns a full disk into an error that says how to continue.

    Raises:
        OutputError: The disk is full while something is written to ``path``.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        if reason := _reason(error):
            raise OutputError(
                f"{path} cannot be written: {reason}",
                "make room, then give the same command again: what was finished is kept",
            ) from error
        raise


def _reason(error: Exception) -> str:
    """Why nothing more can be written; empty for another error. Safetensors tells its number in words only."""
    if isinstance(error, OSError):
        return _CANNOT_GROW.get(error.errno or 0, "")
    reasons = [
        words for number, words in _CANNOT_GROW.items() if f"os error {number})" in str(error)
    ]
    return reasons[0] if reasons else ""
