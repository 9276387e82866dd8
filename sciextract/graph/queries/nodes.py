"""Finding a node by any of its names, and all that is known about it."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sciextract.graph.errors import UnknownNodeError
from sciextract.graph.naming.normal_form import NormalForm, normal_form
from sciextract.graph.queries.parts import Alias, aliases_of, labels_of, years_of

_SUGGESTIONS = 5
_CANDIDATES = 2000
_LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Node:
    """A thing.

    Attributes:
        id: Its number in this graph.
        name: How it is called most often.
        label: The type that most mentions have.
        documents: Abstracts that name it.
        mentions: Mentions in them.
        degree: Nodes that it is related to.
        first_year: Of the oldest abstract.
        last_year: Of the newest.
    """

    id: int
    name: str
    label: str
    documents: int
    mentions: int
    degree: int
    first_year: int | None
    last_year: int | None

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class About:
    """All about one node.

    Attributes:
        labels: Mentions by type.
        years: Abstracts by year.
        aliases: The most frequent ways to write it.
        all_aliases: How many there are.
        meanings: Of an acronym with several expansions: each with its abstracts.
    """

    node: Node
    labels: dict[str, int]
    years: dict[int, int]
    aliases: tuple[Alias, ...]
    all_aliases: int
    meanings: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


NODE = """SELECT n.id, n.name, l.name, n.documents, n.mentions, n.degree, n.first_year, n.last_year
FROM node n JOIN label l ON l.id = n.label """


def find_node(connection: sqlite3.Connection, name: str) -> Node:
    """The node that a name means: see :func:`node_called`.

    Raises:
        UnknownNodeError: There is none; the hint lists names that are like it.
    """
    found = node_called(connection, name)
    if found is None:
        raise UnknownNodeError(f"no node is called {name!r}", _hint(connection, normal_form(name)))
    return found


def node_called(connection: sqlite3.Connection, name: str) -> Node | None:
    """The node that a name means, written in any way that the naming rules take for the same."""
    for key in _keys(normal_form(name)):
        row = connection.execute(
            f"{NODE} WHERE n.id = (SELECT coalesce(r.node, m.id) FROM name m "
            "LEFT JOIN resolved r ON r.name = m.id WHERE m.key = ?)",
            (key,),
        ).fetchone()
        if row:
            return Node(*row)
    return None


def find_nodes(connection: sqlite3.Connection, names: Iterable[str]) -> list[Node]:
    """The nodes that names mean: see :func:`find_node`; empty names are passed over.

    Raises:
        UnknownNodeError: One of them is unknown.
    """
    return [find_node(connection, name) for name in names if name.strip()]


def known_nodes(connection: sqlite3.Connection, names: Iterable[str]) -> list[Node]:
    """The same, without what the graph does not know."""
    found = [node_called(connection, name) for name in names]
    return [node for node in found if node is not None]


def node_of(connection: sqlite3.Connection, number: int) -> Node:
    """The node of that number."""
    return Node(*connection.execute(f"{NODE} WHERE n.id = ?", (number,)).fetchone())


def about(connection: sqlite3.Connection, node: Node, most_aliases: int = 12) -> About:
    """Types, years and aliases of a node; the name itself needs no rule."""
    (total,) = connection.execute(
        "SELECT count(*) FROM alias WHERE node = ?", (node.id,)
    ).fetchone()
    aliases = [
        replace(each, rules=()) if each.surface == node.name else each
        for each in aliases_of(connection, node.id, most_aliases)
    ]
    return About(
        node,
        labels_of(connection, node.id),
        years_of(connection, node.id),
        tuple(aliases),
        total,
        meanings(connection, node.id),
    )


def meanings(connection: sqlite3.Connection, name: int) -> dict[str, int]:
    """Expansions of an acronym that has several, the most frequent first."""
    found = connection.execute(
        """SELECT coalesce(n.name, m.key), a.documents FROM ambiguous a JOIN name m ON m.id = a.long
        LEFT JOIN node n ON n.id = a.long WHERE a.short = ? ORDER BY a.documents DESC, 1""",
        (name,),
    )
    return dict(found.fetchall())


def _keys(form: NormalForm) -> list[str]:
    """As it is written, in lower case, and as an acronym."""
    tried = [form.key, form.folded]
    return list(
        dict.fromkeys([*tried, form.key.upper()] if len(form.spaced.split()) == 1 else tried)
    )


def _hint(connection: sqlite3.Connection, form: NormalForm) -> str:
    for key in _keys(form):
        row = connection.execute("SELECT id FROM name WHERE key = ?", (key,)).fetchone()
        several = meanings(connection, row[0]) if row else {}
        if several:
            return f"the acronym stands for: {', '.join(list(several)[:_SUGGESTIONS])}"
    found = _alike(connection, form.folded)
    return f"did you mean: {', '.join(found)}" if found else "sciextract graph top lists nodes"


def _alike(connection: sqlite3.Connection, folded: str) -> list[str]:
    """Names that begin like the wanted one or are among the most frequent, and are spelled nearly so."""
    begin = folded[:2]
    rows = connection.execute(
        """SELECT m.key, n.name, n.documents FROM name m JOIN node n ON n.id = m.id
        WHERE m.key >= ? AND m.key < ? ORDER BY n.documents DESC LIMIT ?""",
        (begin, begin + _LAST_CHARACTER, _CANDIDATES),
    ).fetchall()
    rows += connection.execute(
        """SELECT m.key, n.name, n.documents FROM node n JOIN name m ON n.id = m.id
        ORDER BY n.documents DESC LIMIT ?""",
        (_CANDIDATES,),
    ).fetchall()
    names = {key.casefold(): name for key, name, _ in rows}
    holding = [name for key, name in names.items() if len(folded) > 3 and folded in key]
    close = difflib.get_close_matches(folded, names, _SUGGESTIONS, 0.7)
    return list(dict.fromkeys([*[names[each] for each in close], *holding]))[:_SUGGESTIONS]
