"""Checks of values that come from a grid's TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sciextract.errors import UsageError
from sciextract_trainer.settings_file import has_kind, refuse_unknown


def check_keys(
    values: object, place: str, *, known: Iterable[str], needed: Iterable[str] = ()
) -> None:
    """Refuses what is no table, an unknown key and a missing one.

    Raises:
        UsageError: Names the place, the key and those that there are.
    """
    if not isinstance(values, Mapping):
        raise UsageError(f"{place}: {values!r} is no table", "write it as [name] or [[name]]")
    refuse_unknown(values, sorted(known), place, "key")
    for key in needed:
        if key not in values:
            raise UsageError(f"{place}: {key!r} is missing", f"it needs: {', '.join(needed)}")


def text_of(values: Mapping[str, Any], key: str, place: str) -> str:
    """A text that must not be empty.

    Raises:
        UsageError: It is empty, or no text.
    """
    value = values[key]
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{place}: {key} = {value!r} is not possible", "use a text in quotes")
    return value


def texts_of(values: Any, place: str) -> tuple[str, ...]:
    """A list of texts.

    Raises:
        UsageError: It is something else.
    """
    if not has_kind(values, "list[str]"):
        raise UsageError(f"{place} = {values!r} is not possible", 'use a list such as ["a", "b"]')
    return tuple(values)


def number_of(values: Mapping[str, Any], key: str, place: str) -> float | None:
    """A number, ``None`` where there is none.

    Raises:
        UsageError: It is something else.
    """
    value = values.get(key)
    if value is None:
        return None
    if not has_kind(value, "float"):
        raise UsageError(f"{place}: {key} = {value!r} is not possible", "use a number")
    return float(value)
