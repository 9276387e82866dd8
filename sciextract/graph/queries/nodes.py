"""Finding a node by any of its names, all that is known about it, and the most frequent nodes."""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass, fields, replace
from sqlite3 import Connection
from typing import Any, Literal

from sciextract.errors import UsageError
from sciextract.graph.database import UnknownNodeError
from sciextract.graph.normalisation import MergeRule, NormalForm, normal_form

Kind = Literal["entity", "relation"]


def types_of(connection: Connection, kind: Kind) -> dict[str, int]:
    """The types that the nodes or the edges of a graph have, in alphabetical order, with their numbers."""
    table = {"entity": "node", "relation": "edge"}[kind]
    query = f"SELECT name, id FROM label l WHERE EXISTS (SELECT 1 FROM {table} WHERE label = l.id) ORDER BY name"
    return dict(connection.execute(query).fetchall())


def usual_type(connection: Connection, *preferred: str) -> str:
    """The first of these types that nodes of a graph have, else the one that most abstracts name."""
    query = "SELECT l.name FROM node n JOIN label l ON l.id = n.label GROUP BY l.id ORDER BY sum(n.alone) DESC, l.name"
    known = [name for (name,) in connection.execute(query)]
    return next((label for label in (*preferred, *known) if label in known), "")


def label_number(connection: Connection, name: str | None, kind: Kind) -> int | None:
    """The number of a type, written in any case; ``None`` for ``None``.

    Raises:
        UsageError: The graph has no such type; the hint lists those it has.
    """
    if name is None:
        return None
    rows = connection.execute("SELECT name, id FROM label ORDER BY name <> ?", (name,))
    for label, number in rows:
        if label.casefold() == name.casefold():
            return int(number)
    known = ", ".join(types_of(connection, kind))
    raise UsageError(f"the graph has no {kind} type {name!r}", f"it has {known or 'none'}")


@dataclass(frozen=True, slots=True)
class Alias:
    """A way to write a node's name.

    Attributes:
        surface: The mention as it is written.
        rules: Why it means the node, in words.
        documents: Abstracts that write it so.
        mentions: Mentions in them.
    """

    surface: str
    rules: tuple[str, ...]
    documents: int
    mentions: int


def labels_of(connection: Connection, node: int) -> dict[str, int]:
    """Mentions by type, the most frequent first."""
    query = """SELECT l.name, n.mentions FROM node_label n JOIN label l ON l.id = n.label
    WHERE n.node = ? ORDER BY n.mentions DESC, l.name"""
    return dict(connection.execute(query, (node,)).fetchall())


def years_of(connection: Connection, node: int) -> dict[int, int]:
    """Abstracts by year, ascending; years without one are left out."""
    query = "SELECT year, documents FROM node_year WHERE node = ? ORDER BY year"
    return dict(connection.execute(query, (node,)).fetchall())


def aliases_of(connection: Connection, node: int) -> list[Alias]:
    """Ways to write a node, the most frequent first."""
    query = """SELECT f.surface, a.rules, a.documents, a.mentions FROM alias a JOIN form f ON f.id = a.form
    WHERE a.node = ? ORDER BY a.mentions DESC, f.surface, a.rules"""
    rows = connection.execute(query, (node,))
    return [Alias(surface, MergeRule(rules).words, *counts) for surface, rules, *counts in rows]


_SUGGESTIONS = 5
_MOST_ALIASES = 12
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
        alone: Those that name it by itself, not only as the head of a longer name; by this nodes are ranked.
        mentions: Mentions that a model or a person marked.
        degree: Nodes that it is related to.
        first_year: Of the oldest abstract.
        last_year: Of the newest.
        extracted_documents: Abstracts with such mentions.
        matched: Places in all texts where one of its names stands by itself.
        nested: Places where one is the head of a longer name of another node.
        generic: Whether the name tells little in any field, such as "data".
    """

    id: int
    name: str
    label: str
    documents: int
    alone: int
    mentions: int
    degree: int
    first_year: int | None
    last_year: int | None
    extracted_documents: int = 0
    matched: int = 0
    nested: int = 0
    generic: bool = False

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**asdict(self), "generic": bool(self.generic)}


@dataclass(frozen=True, slots=True)
class About:
    """All about one node.

    Attributes:
        labels: Mentions by type.
        years: Abstracts by year.
        aliases: The most frequent ways to write it.
        all_aliases: How many there are.
        meanings: Of an acronym with several expansions: each with its abstracts.
        unmatched: Forms that are not searched in the texts, by the reason.
    """

    node: Node
    labels: dict[str, int]
    years: dict[int, int]
    aliases: tuple[Alias, ...]
    all_aliases: int
    meanings: dict[str, int]
    unmatched: dict[str, list[str]]


NODE_COLUMNS = [field.name for field in fields(Node)]
_NODE = ", ".join(["l.name" if name == "label" else f"n.{name}" for name in NODE_COLUMNS])
NODE = f"SELECT {_NODE} FROM node n JOIN label l ON l.id = n.label "


def nodes_where(connection: Connection, rest: str, values: Any = ()) -> list[Node]:
    """Nodes by the rest of a query, in which ``n`` is the node and ``l`` its type."""
    return [Node(*row) for row in connection.execute(NODE + rest, values)]


def find_node(connection: Connection, name: str) -> Node:
    """The node that a name means, written in any way that the naming rules take for the same.

    Raises:
        UnknownNodeError: There is none; the hint lists names that are like it.
    """
    form, problem = normal_form(name), f"no node is called {name!r}"
    for key in name_keys(form):
        where = "WHERE n.id = (SELECT node FROM meaning WHERE key = ?)"
        if found := nodes_where(connection, where, (key,)):
            return found[0]
    for key in name_keys(form):
        row = connection.execute("SELECT id FROM name WHERE key = ?", (key,)).fetchone()
        if row and (several := meanings(connection, row[0])):
            listed = ", ".join(list(several)[:_SUGGESTIONS])
            raise UnknownNodeError(problem, f"the acronym stands for: {listed}")
    # Names that begin like the wanted one or are among the most frequent, and are spelled nearly so.
    folded, prefix = form.folded, form.folded[:2]
    query = f"""SELECT * FROM (SELECT m.key, n.name FROM name m JOIN node n ON n.id = m.id
        WHERE m.key >= ? AND m.key < ? ORDER BY n.alone DESC LIMIT {_CANDIDATES})
    UNION ALL SELECT * FROM (SELECT m.key, n.name FROM node n JOIN name m ON n.id = m.id
        ORDER BY n.alone DESC LIMIT {_CANDIDATES})"""
    rows = connection.execute(query, (prefix, prefix + _LAST_CHARACTER))
    names = {key.casefold(): name for key, name in rows}
    close = [names[match] for match in difflib.get_close_matches(folded, names, _SUGGESTIONS, 0.7)]
    holding = [name for key, name in names.items() if len(folded) > 3 and folded in key]
    alike = ", ".join(list(dict.fromkeys([*close, *holding]))[:_SUGGESTIONS])
    hint = f"did you mean: {alike}" if alike else "sciextract graph top lists nodes"
    raise UnknownNodeError(problem, hint)


def node_of(connection: Connection, number: int) -> Node:
    """The node of that number."""
    return nodes_where(connection, "WHERE n.id = ?", (number,))[0]


# Of a relation that one abstract states, every fourth or so is wrong; and what is named more often than the wider thing
# is what the field is about, given as an example.
HYPONYMS = """SELECT e.tail AS wide, e.head AS narrow FROM edge e JOIN label l ON l.id = e.label
JOIN node h ON h.id = e.head JOIN node t ON t.id = e.tail
WHERE l.name = 'HYPONYM-OF' AND e.documents > 1 AND h.documents <= t.documents"""
_MOST_NARROWER = 500


def narrower(connection: Connection, node: Node) -> list[Node]:
    """Kinds of a node: those whose name ends in its name, and those that abstracts say are a HYPONYM-OF it.

    The most frequent first, 500 at most; kinds of a hyponym are none.
    """
    ending, found = normal_form(node.name).spaced, []
    where = f"""WHERE n.id <> :node AND n.id IN (
        SELECT m.id FROM name m, (SELECT key FROM name WHERE id = :node) w
        WHERE substr(m.key, -length(w.key)) = w.key
        UNION SELECT narrow FROM ({HYPONYMS}) WHERE wide = :node
    ) ORDER BY n.documents DESC, n.id LIMIT {_MOST_NARROWER}"""
    for candidate in nodes_where(connection, where, {"node": node.id}):
        words = normal_form(candidate.name).spaced
        # Keys have no spaces: "smart" does not end in the word "art".
        if not words.endswith(ending) or words.endswith(f" {ending}"):
            found.append(candidate)
    return found


def about(connection: Connection, node: Node) -> About:
    """Types, years and aliases of a node; the name itself needs no rule."""
    aliases = [
        replace(alias, rules=()) if alias.surface == node.name else alias
        for alias in aliases_of(connection, node.id)
    ]
    unmatched: dict[str, list[str]] = {}
    query = """SELECT u.reason, f.surface FROM unmatched u JOIN form f ON f.id = u.form
    WHERE u.node = ? ORDER BY 1, 2"""
    for reason, surface in connection.execute(query, (node.id,)):
        unmatched.setdefault(reason, []).append(surface)
    labels, years = labels_of(connection, node.id), years_of(connection, node.id)
    known, first = meanings(connection, node.id), tuple(aliases[:_MOST_ALIASES])
    return About(node, labels, years, first, len(aliases), known, unmatched)


def meanings(connection: Connection, name: int) -> dict[str, int]:
    """Expansions of an acronym that has several, the most frequent first."""
    query = """SELECT coalesce(n.name, m.key), a.documents FROM ambiguous a JOIN name m ON m.id = a.long
    LEFT JOIN node n ON n.id = a.long WHERE a.short = ? ORDER BY a.documents DESC, 1"""
    return dict(connection.execute(query, (name,)).fetchall())


def name_keys(form: NormalForm) -> list[str]:
    """What a name may be kept by: as it is written, in lower case, and as an acronym."""
    tried = [form.key, form.folded, form.key.upper()]
    return list(dict.fromkeys(tried[: 2 if " " in form.spaced else 3]))


def top(
    connection: Connection,
    *,
    label: str | None = None,
    since: int | None = None,
    generic: bool = False,
    limit: int = 20,
) -> list[Node]:
    """The nodes that most abstracts name by themselves.

    Args:
        connection: The graph.
        label: Only nodes that are mostly of this type.
        since: Count only abstracts of this year or later; ``documents`` and ``alone`` of the nodes are such counts.
        generic: Generic nodes, too.
        limit: At most so many.

    Raises:
        UsageError: The graph has no such type.
    """
    number = label_number(connection, label, "entity")
    values = {"label": number, "since": since, "generic": generic, "limit": limit}
    # coalesce would not use the index.
    where = f"WHERE n.generic <= :generic {'' if label is None else 'AND n.label = :label '}"
    if since is None:
        rest = f"{where} ORDER BY n.alone DESC, n.name LIMIT :limit"
        return nodes_where(connection, rest, values)
    # No node that fewer abstracts name in all years comes before the last of the most frequent ones.
    recent = f"""SELECT (SELECT total(alone) FROM node_year WHERE node = n.id AND year >= :since) AS recent
    FROM node n {where} ORDER BY n.alone DESC LIMIT :limit"""
    query = f"""SELECT sum(y.alone), sum(y.documents), {_NODE} FROM node n JOIN label l ON l.id = n.label
    JOIN node_year y ON y.node = n.id {where} AND y.year >= :since
    AND n.alone >= (SELECT min(recent) FROM ({recent}))
    GROUP BY n.id ORDER BY 1 DESC, n.id LIMIT :limit"""
    rows = connection.execute(query, values)
    return [replace(Node(*row), documents=named, alone=alone) for alone, named, *row in rows]
