"""What the reader and the writer of PubTator agree on: identifiers, our own marks among them, nearest pairs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

FIELD = "pubtator"
"""The field of a document that holds its identifiers and the relation lines between them."""

NO_IDENTIFIER = "-"
"""What PubTator writes for a mention without an identifier; other programs take five columns for a relation."""

OWN = "sciextract:"
"""What our own identifiers start with: of a mention (``M1``), a cluster (``C1``), a label."""

_OWN_LABEL = f"{OWN}label:"
_OWN_IDENTIFIER = re.compile(rf"{OWN}(?:[MC][0-9]+|label:[^|]*)")
_SEPARATORS = re.compile(r"[|;,]")
_REFUSED = re.compile(r"[\t\r\n\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Mention:
    """An annotation line.

    Attributes:
        char_start: Offset in title, one character, and abstract.
        char_end: Its end, exclusive.
        label: The type, as sciextract has it.
        columns: What stands behind the type, without our own identifiers.
        own: Our own identifiers, but for the one of a label.
    """

    char_start: int
    char_end: int
    label: str
    columns: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def concepts(self) -> set[str]:
        """What a relation may call it: its identifier, and the parts of a composite one."""
        first = self.columns[0] if self.columns else ""
        return {first, *_SEPARATORS.split(first), *self.own} - {"", NO_IDENTIFIER}


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a file for writing it again.

    Attributes:
        mentions: Those with columns behind their type.
        relations: Relation lines between identifiers of databases, from their type on.
    """

    mentions: tuple[Mention, ...] = ()
    relations: tuple[tuple[str, ...], ...] = ()

    def to_field(self) -> dict[str, Any]:
        """Plain values for JSON; :meth:`from_field` reads them back."""
        return {
            "mentions": [[m.char_start, m.char_end, m.label, *m.columns] for m in self.mentions],
            "relations": [list(columns) for columns in self.relations],
        }

    @classmethod
    def from_field(cls, value: object) -> Kept:
        """What :meth:`to_field` gave; nothing where a field of that name is something else."""
        if not isinstance(value, Mapping):
            return cls()
        try:
            mentions = [
                Mention(int(start), int(end), str(label), tuple(map(one_cell, columns)))
                for start, end, label, *columns in value["mentions"]
            ]
            relations = [tuple(map(one_cell, columns)) for columns in value["relations"]]
        except (KeyError, TypeError, ValueError):
            return cls()
        return cls(tuple(mentions), tuple(each for each in relations if len(each) >= 3))


def one_cell(value: object) -> str:
    """A value as a cell: no tab, no line end."""
    return _REFUSED.sub("_", str(value))


def nearest_pair(mentions: Sequence[Mention], head: str, tail: str) -> tuple[int, int] | None:
    """The indices of the two mentions of these identifiers with the fewest characters between them.

    The first pair in the text where several are as near; two different mentions if there are such.
    """
    heads, tails = (
        [index for index, mention in enumerate(mentions) if concept in mention.concepts]
        for concept in (head, tail)
    )
    pairs = [(first, second) for first in heads for second in tails]
    return min(pairs, key=lambda pair: _distance(mentions, *pair), default=None)


def _distance(mentions: Sequence[Mention], first: int, second: int) -> tuple[int, ...]:
    one, other = mentions[first], mentions[second]
    gap = max(other.char_start - one.char_end, one.char_start - other.char_end, 0)
    starts = one.char_start + other.char_start
    return int(first == second), gap, starts, one.char_start, one.char_end


def split_own(column: str) -> tuple[str, tuple[str, ...]]:
    """An identifier column without our own identifiers, and those."""
    parts = column.split("|")
    own = [part for part in parts if _OWN_IDENTIFIER.fullmatch(part)]
    return "|".join(part for part in parts if part not in own), tuple(own)


def cell_of_label(label: str, default: str) -> tuple[str, list[str]]:
    """A label as a cell, and the identifier that tells it exactly where the cell does not."""
    cell = one_cell(label) or default
    exact = f"{_OWN_LABEL}{quote(label, safe='', errors='surrogatepass')}"
    return cell, [] if cell == label else [exact]


def label_of(cell: str, own: Iterable[str]) -> str:
    """The label that :func:`cell_of_label` was given."""
    for identifier in own:
        if identifier.startswith(_OWN_LABEL):
            return unquote(identifier[len(_OWN_LABEL) :], errors="surrogatepass")
    return cell


def is_label(identifier: str) -> bool:
    """Whether one of our own identifiers tells a label."""
    return identifier.startswith(_OWN_LABEL)
