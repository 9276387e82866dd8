"""Strings that every file can hold."""

from __future__ import annotations


def clean(string: str) -> str:
    """The string with a question mark for each lone surrogate, which no UTF-8 file can hold."""
    return string if string.isascii() else string.encode("utf-8", "replace").decode("utf-8")
