"""Which documents somebody has decided something about: what training needs to know before it loads any."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sciextract.store.state.rows import IN_VIEW, Layer

PAGE = 256
"""Documents a query: no query stays open while the caller works."""

_ANY_DONE = " OR ".join(f"p.{layer.value} = 'done'" for layer in Layer)
_DECIDED = f"""({_ANY_DONE} OR EXISTS (
    SELECT 1 FROM tally t WHERE t.document_id = p.document_id AND t.state != 'undecided'))"""
_DONE_LAYERS = ", ".join(f"p.{layer.value} = 'done'" for layer in Layer)


@dataclass(frozen=True, slots=True)
class Known:
    """A document of the project.

    Attributes:
        number: Its number.
        text_sha256: The hash of its text.
        decided: Whether an item of it is decided or imported, or a layer is done.
        done: The layers that are done.
    """

    number: int
    text_sha256: str
    decided: bool
    done: frozenset[Layer]


_SELECT = f"""SELECT p.document_id, d.sha256, {_DECIDED}, {_DONE_LAYERS}
    FROM progress p JOIN document d ON d.id = p.document_id"""


def known_documents(connection: sqlite3.Connection) -> Iterator[Known]:
    """All documents of the project, in the order in which they came, in constant memory."""
    last = 0
    query = f"{_SELECT} WHERE p.document_id > ? ORDER BY p.document_id LIMIT ?"
    while rows := connection.execute(query, (last, PAGE)).fetchall():
        last = rows[-1][0]
        yield from map(_known, rows)


def known_by_text(connection: sqlite3.Connection, text_sha256: str) -> Known | None:
    """The document of that text, ``None`` where the project has none."""
    row = connection.execute(f"{_SELECT} WHERE d.sha256 = ?", (text_sha256,)).fetchone()
    return None if row is None else _known(row)


def positive_labels(connection: sqlite3.Connection, kind: str) -> Counter[str]:
    """How many items of the current view each label has; ``kind`` is ``entity`` or ``relation``."""
    marks = ", ".join("?" * len(IN_VIEW))
    rows = connection.execute(
        f"SELECT label, sum(number) FROM tally WHERE kind = ? AND state IN ({marks}) GROUP BY label",
        (kind, *(state.value for state in IN_VIEW)),
    )
    return Counter(dict(rows.fetchall()))


def _known(row: tuple[int, str, int, int, int, int]) -> Known:
    number, text_sha256, decided, *done = row
    layers = frozenset(layer for layer, is_done in zip(Layer, done, strict=True) if is_done)
    return Known(number, text_sha256, bool(decided), layers)
