"""Changes of state rows: what the log keeps, and what undo turns around.

A change names a table and a row and holds the values before and after: everything for a row that came or
went, only what differs for one that stayed. The log of a document, applied in order to nothing, gives its
current state; the reverse of a change is its undo.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sciextract.store.state.rows import Key, Row, Values, to_values

_COMPRESSED_FROM = 200


@dataclass(frozen=True, slots=True)
class Change:
    """One row's change. ``before`` is ``None`` for a row that came, ``after`` for one that went."""

    table: str
    key: Key
    before: Values | None
    after: Values | None

    @property
    def reverse(self) -> Change:
        """The change that takes this one back."""
        return Change(self.table, self.key, self.after, self.before)


def change_of(before: Row | None, after: Row | None) -> Change | None:
    """The change from one row to another of the same table and key; ``None`` when nothing differs.

    Raises:
        ValueError: There is neither.
    """
    row = after if after is not None else before
    if row is None:
        raise ValueError("a change needs a row before or after it")
    if before is after:  # most rows of a document, whatever an action does
        return None
    old = None if before is None else to_values(before)
    new = None if after is None else to_values(after)
    if old is not None and new is not None:
        differing = [name for name in new if new[name] != old[name]]
        if not differing:
            return None
        old = {name: old[name] for name in differing}
        new = {name: new[name] for name in differing}
    return Change(row.TABLE, row.key, old, new)


def encode(changes: Iterable[Change]) -> str | bytes:
    """Changes as the log stores them: JSON, compressed when long."""
    plain = [[c.table, list(c.key), c.before, c.after] for c in changes]
    text = json.dumps(plain, separators=(",", ":"))  # ASCII: lone surrogates survive, too
    if len(text) < _COMPRESSED_FROM:
        return text
    return zlib.compress(text.encode("ascii"), 1)


def decode(body: str | bytes) -> list[Change]:
    """Changes from what the log stores."""
    text = body if isinstance(body, str) else zlib.decompress(body).decode("ascii")
    return [
        Change(table, tuple(key), before, after) for table, key, before, after in json.loads(text)
    ]


def replay(changes: Iterable[Change]) -> dict[tuple[str, Key], Values]:
    """The rows that changes, in order, make of nothing.

    Raises:
        KeyError: A change speaks of a row that is not there.
    """
    rows: dict[tuple[str, Key], Values] = {}
    for change in changes:
        place = (change.table, change.key)
        if change.before is not None and change.after is not None:
            rows[place] = rows[place] | change.after
        elif change.after is not None:
            rows[place] = change.after
        else:
            del rows[place]
    return rows


def fits(change: Change, current: Mapping[str, Any] | None) -> bool:
    """Whether a row still is as it must be before the change is made."""
    if change.before is None or current is None:
        return change.before is None and current is None
    return all(current[name] == value for name, value in change.before.items())
