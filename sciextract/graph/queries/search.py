"""Nodes whose names look like what somebody types."""

from __future__ import annotations

import sqlite3

from sciextract.graph.naming.normal_form import normal_form
from sciextract.graph.queries.nodes import NODE, Node, node_called

_LAST_CHARACTER = "\U0010ffff"
_FEWEST_LETTERS = 3
_FREQUENT = 5000
_ANYWHERE = 1 << 20


def search_nodes(connection: sqlite3.Connection, typed: str, limit: int = 50) -> list[Node]:
    """What the words name, then nodes whose names begin so, then frequent ones that hold them.

    Of one or two letters only frequent nodes that begin so: too many others do.

    Args:
        connection: The graph.
        typed: The beginning of a name, or a part of it, in any spelling.
        limit: At most so many.
    """
    form = normal_form(typed)
    exact = node_called(connection, typed)
    found = {} if exact is None else {exact.id: exact}
    if len(form.folded) >= _FEWEST_LETTERS:
        for begin in dict.fromkeys((form.key, form.folded, form.key.upper())):
            _keep(found, _beginning(connection, begin, limit))
    if form.folded:
        _keep(found, _frequent(connection, form.folded, limit))
    return list(found.values())[:limit]


def _keep(found: dict[int, Node], nodes: list[Node]) -> None:
    for node in nodes:
        found.setdefault(node.id, node)


def _beginning(connection: sqlite3.Connection, begin: str, limit: int) -> list[Node]:
    rows = connection.execute(
        f"""{NODE} JOIN name m ON m.id = n.id WHERE m.key >= ? AND m.key < ?
        ORDER BY n.documents DESC, n.id LIMIT ?""",
        (begin, begin + _LAST_CHARACTER, limit),
    )
    return [Node(*row) for row in rows]


def _frequent(connection: sqlite3.Connection, part: str, limit: int) -> list[Node]:
    furthest = 1 if len(part) < _FEWEST_LETTERS else _ANYWHERE
    rows = connection.execute(
        f"""SELECT * FROM ({NODE} ORDER BY n.documents DESC LIMIT ?) f JOIN name m ON m.id = f.id
        WHERE instr(lower(m.key), ?) BETWEEN 1 AND ? LIMIT ?""",
        (_FREQUENT, part, furthest, limit),
    )
    return [Node(*row[:-3]) for row in rows]
