"""One codec for settings, manifests, run records and events: typed values from JSON, and JSON from typed values.

A typed value is a frozen dataclass of plain fields. What is read is checked strictly: no number becomes a text,
``true`` is no number. Only a whole number stands for a ``float``. Annotated documents have their own format.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from sciextract.errors import FormatError, SciextractError

Kind = TypeVar("Kind")

_LONGEST = 60
"""Characters of a wrong value that a message shows."""
_KINDS = {bool: "bool", int: "int", float: "float", str: "str", list: "array", dict: "object"}
"""How msgspec calls what JSON holds."""
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


def encode(value: object) -> str:
    """JSON on several lines, two blanks deep, with a line feed at the end."""
    return json.dumps(plain(value), indent=2) + "\n"


def plain(value: object) -> Any:
    """A typed value as mappings, lists or tuples, texts and numbers, by the names of its fields."""
    import msgspec  # 15 ms that a command without records does not pay

    return msgspec.to_builtins(value, str_keys=True)


def decode(
    data: bytes | str,
    kind: type[Kind],
    path: str | Path,
    *,
    error: type[SciextractError] = FormatError,
    hint: str = "",
) -> Kind:
    """A typed value from JSON; see :func:`convert`.

    Raises:
        SciextractError: It is no JSON, or its values are not of the types that they should be.
    """
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as problem:  # UnicodeDecodeError is a ValueError
        raise _error(error, f"{path}: is not JSON: {problem}", hint) from problem
    return convert(values, kind, path, error=error, hint=hint)


def convert(
    values: object,
    kind: type[Kind],
    path: str | Path,
    *,
    closed: bool = False,
    error: type[SciextractError] = FormatError,
    hint: str = "",
) -> Kind:
    """A typed value from what JSON or TOML holds; names that are not known are ignored.

    Args:
        values: Mappings, lists, texts and numbers.
        kind: What they are to become.
        path: The file that they are from, or another place, for messages.
        closed: Whether a name that the outermost dataclass does not know is an error.
        error: What is raised.
        hint: The next step that goes with it.

    Raises:
        SciextractError: Names the file, the place in it, the value found and the one expected.
    """
    import msgspec

    if closed and isinstance(values, dict) and is_dataclass(kind):
        known = [each.name for each in fields(kind)]
        if unknown := sorted(set(values) - set(known)):
            problem = f"{path}: unknown setting {unknown[0]!r}"
            raise _error(error, problem, f"known: {', '.join(known)}")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as problem:
        words, _, place = str(problem).replace("`", "").partition(" - at ")
        raise _error(error, f"{path}: {_described(words, place, values)}", hint) from problem


def _described(words: str, place: str, values: object) -> str:
    """The place, the value that is there and what should be, of what msgspec says in other words."""
    name = place.removeprefix("$").lstrip(".").replace("[...]", ".*") or "the whole"
    expected, got, kind = words.partition(", got ")
    if not got:  # such as "Object missing required field epochs"
        return f"{name}: {words}"
    found = [values]
    for key, number in _STEP.findall(place):
        if number == "...":  # msgspec does not say under which name of a mapping
            found = [inner for each in found if isinstance(each, dict) for inner in each.values()]
        elif number:
            found = [each[int(number)] for each in found if isinstance(each, list | tuple)]
        else:
            found = [each[key] for each in found if isinstance(each, dict) and key in each]
    wrong = [repr(each) for each in found if _KINDS.get(type(each), "null") == kind]
    shown = wrong[0] if wrong else kind
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    return f"{name} is {shown}; expected {expected.removeprefix('Expected ')}"


def _error(kind: type[SciextractError], message: str, hint: str) -> SciextractError:
    raised = kind(message)
    raised.hint = hint
    return raised
