"""One codec for settings, manifests, run records and events: typed values from JSON, and JSON from typed values.

A typed value is a frozen dataclass of plain fields. What is read is checked strictly: no number becomes a text,
``true`` is no number. Only a whole number stands for a ``float``. Annotated documents have their own format.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeVar

from sciextract.errors import FormatError, SciextractError

Kind = TypeVar("Kind")

_LONGEST = 60
"""Characters of a wrong value that a message shows."""
_KINDS = {bool: "bool", int: "int", float: "float", str: "str", list: "array", dict: "object"}
"""How msgspec calls what JSON holds."""
_MISSING = re.compile(r"Object missing required field (\S+)")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


def encode(value: object) -> str:
    """JSON on several lines, two blanks deep, with a line feed at the end."""
    return json.dumps(plain(value), indent=2) + "\n"


def plain(value: object) -> Any:
    """A typed value as JSON gives it back: mappings, lists, texts and numbers, by the names of its fields."""
    import msgspec  # 15 ms that a command without records does not pay

    def base_of(special: object) -> object:
        # What derives from a plain type, such as a version of torch or a number of numpy, is written as that type.
        for base in (str, int, float):
            if isinstance(special, base):
                return base(special)
        raise NotImplementedError

    # msgspec's own JSON would write null where a score is not a number.
    return json.loads(json.dumps(msgspec.to_builtins(value, str_keys=True, enc_hook=base_of)))


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
    """A typed value from what JSON or TOML holds; each value is checked.

    Args:
        values: Mappings, lists, texts and numbers.
        kind: What they are to become.
        path: The file that they are from, or another place, for messages.
        closed: Whether a name that no dataclass knows is an error; else it is ignored.
        error: What is raised.
        hint: The next step that goes with it.

    Raises:
        SciextractError: Names the file, the place in it, the value found and the one expected.
    """
    import msgspec

    try:
        value = msgspec.convert(values, kind)
    # A lone surrogate cannot stand in msgspec's message either.
    except (msgspec.ValidationError, UnicodeEncodeError) as problem:
        words, _, place = str(problem).replace("`", "").partition(" - at ")
        raise _error(error, f"{path}: {_described(words, place, values)}", hint) from problem
    if closed:
        # msgspec forbids unknown names in classes of its own only: here what was read is held against what it became.
        _refuse_unknown(values, plain(value), str(path), error)
    return value


def _refuse_unknown(given: object, known: object, place: str, error: type[SciextractError]) -> None:
    if isinstance(given, dict) and isinstance(known, dict):
        if unknown := sorted(set(given) - set(known)):
            problem = f"{place}: unknown setting {unknown[0]!r}"
            raise _error(error, problem, f"known: {', '.join(known)}")
        for key, value in given.items():
            _refuse_unknown(value, known[key], f"{place}: {key}", error)
    elif isinstance(given, list | tuple) and isinstance(known, list):
        for number, (value, other) in enumerate(zip(given, known, strict=True)):
            _refuse_unknown(value, other, f"{place}[{number}]", error)


def _described(words: str, place: str, values: object) -> str:
    """The place, the value that is there and what should be, of what msgspec says in other words."""
    name = place.removeprefix("$").lstrip(".").replace("[...]", ".*") or "the whole"
    expected, got, kind = words.partition(", got ")
    if not got:  # such as "Object missing required field epochs"
        words = _MISSING.sub(r"'\1' is missing", words)
        return f"{name}: {words}" if place.strip("$") else words
    found = [values]
    for key, number in _STEP.findall(place):
        if number == "...":  # msgspec does not say under which name of a mapping
            found = [inner for held in found if isinstance(held, dict) for inner in held.values()]
        elif number:
            found = [value[int(number)] for value in found if isinstance(value, list | tuple)]
        else:
            found = [value[key] for value in found if isinstance(value, dict) and key in value]
    wrong = [repr(value) for value in found if _KINDS.get(type(value), "null") == kind]
    if kind.isdigit():  # a length
        wrong = [repr(value) for value in found]
    shown = wrong[0] if wrong else kind
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    return f"{name} is {shown}; expected {expected.removeprefix('Expected ')}"


def _error(kind: type[SciextractError], message: str, hint: str) -> SciextractError:
    raised = kind(message)
    raised.hint = hint
    return raised
