"""Strings that SQLite cannot hold as text: lone surrogates go in as bytes and come out as they were."""

from __future__ import annotations


def to_sql(text: str) -> str | bytes:
    """The string itself, or its bytes when UTF-8 has no place for it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_sql(value: str | bytes) -> str:
    """The string that :func:`to_sql` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
