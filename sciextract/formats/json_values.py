"""One JSON object: decoded strictly, every problem placed, and written as one line."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Container
from typing import Any, NoReturn

from sciextract.errors import FormatError
from sciextract.formats.base import Place, shown

Record = dict[str, Any]
_ONE_A_LINE = (
    "each line must hold one JSON object; --format json reads arrays and objects over several lines"
)


def parse_object(line: str, path: str, number: int) -> Record:
    """The JSON object of one line. Raw control characters inside strings are kept.

    Raises:
        FormatError: Broken JSON, NaN or infinite numbers, repeated keys, too deep nesting, or no object.
    """
    try:
        value = _DECODER.decode(line.rstrip("\r\n"))
    except json.JSONDecodeError as error:
        problem = f"broken JSON: {error.msg}"
        raise FormatError(
            problem, path=path, line=number, column=error.colno, hint=_ONE_A_LINE
        ) from None
    except RecursionError:
        raise FormatError("the JSON is nested too deeply", path=path, line=number) from None
    except _UnusableError as error:
        raise FormatError(f"broken JSON: {error}", path=path, line=number) from None
    except ValueError:
        raise FormatError("an integer has too many digits", path=path, line=number) from None
    if not isinstance(value, dict):
        problem = f"the line holds {shown(value)}, allowed is a JSON object"
        raise FormatError(problem, path=path, line=number, hint=_ONE_A_LINE)
    return value


def unknown_fields(record: Record, known: Container[str], place: Place) -> Record:
    """The fields that the reader does not interpret, to be kept.

    Raises:
        FormatError: One is nested so deeply that it could not be written again.
    """
    fields = {name: value for name, value in record.items() if name not in known}
    for name, value in fields.items():
        if _depth_exceeds(value, 100):
            raise place.error("nested deeper than 100 levels", field=shown(name))
    return fields


def _depth_exceeds(value: object, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            if isinstance(parent, (dict, list))
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True


class _UnusableError(ValueError):
    """JSON that the standard library would accept, but that cannot be kept as it is."""


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) != len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _UnusableError(f"the key {shown(repeated)} occurs twice in one object")
    return record


def finite_number(digits: str) -> float:
    """A number with a point or exponent, for ``parse_float``.

    Raises:
        ValueError: It is too large for a float.
    """
    number = float(digits)
    if math.isinf(number):
        raise _UnusableError(f"the number {shown(digits)} is too large")
    return number


def refuse_constant(constant: str) -> NoReturn:
    """Refuse ``NaN`` and ``Infinity``, for ``parse_constant``.

    Raises:
        ValueError: The text holds one.
    """
    raise _UnusableError(f"{constant} is no JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=finite_number,
    parse_constant=refuse_constant,
    strict=False,
)


def dump_line(record: Record) -> str:
    """One line of JSON without a line feed: valid UTF-8, and no character that ends lines or moves a terminal.

    Lone surrogates, C1 controls and Unicode line separators are written as escapes; they read back as
    the same characters.
    """
    return _ESCAPED.sub(_escape, _ENCODER.encode(record))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
