"""What is combined with what: nodes that abstracts name together, and pairs that hardly any names."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice
from sqlite3 import Connection
from typing import Any, Literal

from sciextract.errors import UsageError
from sciextract.graph.normalisation import normal_form
from sciextract.graph.queries.nodes import Node, label_number, node_of, nodes_where, usual_type
from sciextract.graph.queries.papers import Paper, Quoter
from sciextract.graph.queries.trends import Passed, wilson


@dataclass(frozen=True, slots=True)
class Together:
    """A node that abstracts name together with another one.

    Attributes:
        node: It.
        documents: Abstracts that name both.
        expected: How many would if nodes were named independently of each other.
        low: The lower end of the 95 % interval of the lift: Wilson's of the share of the other node's abstracts that name it.
        high: Its upper end.
        first_year: Of the oldest abstract that names both.
        last_year: Of the newest.
        versus: Abstracts that name it together with a third node, to compare.
        quote: A paper with a sentence that names both, where there is one.
    """

    node: Node
    documents: int
    expected: float
    low: float
    high: float
    first_year: int | None
    last_year: int | None
    versus: int | None = None
    quote: Paper | None = None

    @property
    def lift(self) -> float:
        """Abstracts that name both over those expected: 1 for independence."""
        return self.documents / self.expected

    def to_json(self) -> dict[str, Any]:
        """For ``--to json``."""
        return {**asdict(self), "node": self.node.to_json(), "lift": self.lift}


@dataclass(frozen=True, slots=True)
class TogetherQuestion:
    """Which nodes are wanted.

    Attributes:
        label: Only nodes that are mostly of this type.
        relation: Only where the other node is an end of a relation of this type in the abstract, whoever the other
            end is: abstracts relate a system of their own to a data set, and only name the task.
        least: Only nodes that so many of the abstracts name.
        by: Ordered by abstracts that name both, or by the lower end of the lift's interval.
        generic: Generic nodes, too.
        limit: At most so many.
        surely: Only those that are named together more often than by chance: the lift's interval lies above 1.
    """

    label: str | None = None
    relation: str | None = None
    least: int = 2
    by: Literal["count", "lift"] = "count"
    generic: bool = False
    limit: int = 20
    surely: bool = False


def together(
    connection: Connection,
    nodes: Sequence[Node],
    question: TogetherQuestion = TogetherQuestion(),
    versus: Node | None = None,
) -> list[Together]:
    """The nodes that abstracts name together with a node, each with a sentence.

    Args:
        connection: The graph.
        nodes: The node; further ones, narrower ones for instance, count as the same.
        question: Which nodes are wanted.
        versus: A node to compare with.

    Raises:
        UsageError: The graph has no such type.
    """
    best: list[Together] = []
    # Thousands are named with it a few times; what is asked of each of them is asked only where it can be listed.
    for least in (_OFTEN, question.least) if question.by == "count" else (question.least,):
        if len(best) < question.limit:
            wanted = replace(question, least=max(least, question.least))
            best = list(islice(named_with(connection, nodes, wanted), question.limit))
    if versus:
        ours = json.dumps([partner.node.id for partner in best])
        counts: dict[int, int | None] = dict(connection.execute(_COUNTED, (ours, versus.id)))
        counts[versus.id] = None  # with itself
        best = [replace(partner, versus=counts.get(partner.node.id, 0)) for partner in best]
    quoter = Quoter(connection, [node.id for node in nodes])
    kind = label_number(connection, question.relation, "relation")
    return [replace(partner, quote=quoter.quote(partner.node.id, kind)) for partner in best]


# So many abstracts name the first twenty of a large graph with a frequent node; where they do not, all are looked at.
_OFTEN = 16
# Who is named in the abstracts at hand and how often in all: whoever is named, or is an end of a relation of one type.
_NAMED = """SELECT g.*, n.documents AS whole FROM (
    SELECT o.node, count(*) AS documents, min(h.year) AS first, max(h.year) AS last
    FROM here h CROSS JOIN node_document o ON o.document = h.document GROUP BY o.node HAVING count(*) >= :least
) g JOIN node n ON n.id = g.node"""
# Only of the latter nodes all abstracts are counted: there are far fewer than edges of that type.
_RELATED = """SELECT r.*, (
    SELECT count(*) FROM (
        SELECT s.document FROM edge e JOIN support s ON s.edge = e.id WHERE e.head = r.node AND +e.label = :relation
        UNION SELECT s.document FROM edge e JOIN support s ON s.edge = e.id WHERE e.tail = r.node AND +e.label = :relation)
) AS whole FROM (
    SELECT iif(k.value, e.head, e.tail) AS node, count(DISTINCT h.document) AS documents, min(h.year) AS first, max(h.year) AS last
    FROM here h CROSS JOIN support s ON s.document = h.document JOIN edge e ON e.id = s.edge AND +e.label = :relation
    CROSS JOIN json_each('[0, 1]') k GROUP BY 1 HAVING count(DISTINCT h.document) >= :least
) r"""


def named_with(
    connection: Connection,
    nodes: Sequence[Node],
    asked: TogetherQuestion,
    most: int | None = None,
) -> Iterator[Together]:
    """All of :func:`together` in its order, without sentences.

    Args:
        connection: The graph.
        nodes: The node; further ones count as the same.
        asked: Which nodes are wanted; all of them, whatever its limit.
        most: At most so many of each type.
    """
    rows: Iterable[Sequence[Any]] = connection.execute(
        f"""WITH here AS MATERIALIZED (
            SELECT DISTINCT o.document, d.year FROM node_document o JOIN document d ON d.id = o.document
            WHERE o.node IN (SELECT value FROM json_each(:nodes))
        ), counted AS ({_RELATED if asked.relation else _NAMED})
        SELECT c.node, c.documents, c.whole, (SELECT count(*) FROM here), (SELECT count(*) FROM document),
            n.label, c.first, c.last
        FROM counted c JOIN node n ON n.id = c.node
        WHERE n.label = coalesce(:label, n.label) AND n.generic <= :generic
        AND n.id NOT IN (SELECT value FROM json_each(:nodes)) ORDER BY c.documents DESC, c.whole, c.node""",
        {
            "nodes": json.dumps([node.id for node in nodes]), "least": asked.least, "generic": asked.generic,
            "label": label_number(connection, asked.label, "entity"),
            "relation": label_number(connection, asked.relation, "relation"),
        },
    )  # fmt: skip
    interval = cache(wilson)

    def by_lift(row: Sequence[Any]) -> tuple[float, float, int]:
        node, documents, theirs, here, total, *_ = row
        return -interval(documents, here)[0] * total / theirs, -documents / theirs, node

    # By sets, because a node may have hundreds of kinds; few names hold the first word of one.
    names = {normal_form(node.name).spaced for node in nodes}
    parts = {part for name in names for part in _parts(name)}
    firsts, sizes = {name.partition(" ")[0] for name in names}, Counter[int]()
    for row in rows if asked.by == "count" else sorted(rows, key=by_lift):
        number, documents, theirs, here, total, label, first, last = row
        if sizes[label] == most:
            continue
        low, high = (end * total / theirs for end in interval(documents, here))
        if asked.surely and low <= 1:
            continue
        # Few of thousands are wanted: only these are looked at.
        node = node_of(connection, number)
        name = normal_form(node.name).spaced
        apart = firsts.isdisjoint(name.split()) or names.isdisjoint(_parts(name))
        if apart and name not in parts:
            sizes[label] += 1
            yield Together(node, documents, here * theirs / total, low, high, first, last)


def _parts(name: str) -> set[str]:
    """All that a name holds: "speech" is named wherever "speech recognition" is, which is no company.

    >>> sorted(_parts("speech recognition"))
    ['recognition', 'speech', 'speech recognition']
    """
    words = name.split()
    ends = range(1, len(words) + 1)
    return {" ".join(words[start:end]) for end in ends for start in range(end)}


@dataclass(frozen=True, slots=True)
class Gap:
    """A node that hardly any abstract names together with another one, although many could be expected to.

    Attributes:
        node: It.
        documents: Abstracts that name both.
        expected: How many would if nodes were named independently of each other.
        chance: How probable so few are then (hypergeometric distribution).
        nearest: What comes closest and exists: nodes of its type that are named with the other one, and how many
            abstracts name both; those first that are most often named with this node (cosine).
    """

    node: Node
    documents: int
    expected: float
    chance: float
    nearest: tuple[tuple[Node, int], ...]


LEAST_SHARE = 0.005
"""Of all abstracts, so many must name a node for a gap to mean something."""
LEAST_EXPECTED = 3.0
"""With fewer abstracts expected, none at all is no surprise: its probability is 5 % here."""
_FEW = 0.2
_MOST_NEAREST = 3


def gaps(
    connection: Connection,
    node: Node,
    *,
    label: str | None = None,
    generic: bool = False,
    limit: int = 20,
) -> Passed[Gap]:
    """Nodes that are named together with a node less than a fifth as often as is expected by chance, or never.

    Args:
        connection: The graph.
        node: The node.
        label: The type of what it could be combined with. When ``None``, tasks for a method and methods for all others; its own
            type in a graph without methods.
        generic: Generic nodes, too.
        limit: At most so many.

    Raises:
        UsageError: The graph has no such type, or too few abstracts name the node.
    """
    (total,) = connection.execute("SELECT count(*) FROM document").fetchone()
    if node.documents < LEAST_SHARE * total:
        problem = f"{node.name!r} is in {node.documents:,} of {total:,} abstracts"
        hint = f"what is missing can be told from {LEAST_SHARE:.1%} of them on; choose a wider node"
        raise UsageError(problem, hint)
    label = label or usual_type(
        connection, "Task" if node.label == "Method" else "Method", node.label
    )
    least = max(LEAST_SHARE * total, LEAST_EXPECTED * total / node.documents)
    where = "WHERE n.label = ? AND n.generic <= ? AND n.documents >= ? ORDER BY n.id"
    number = label_number(connection, label, "entity")
    own = normal_form(node.name).spaced
    others = [
        candidate
        for candidate in nodes_where(connection, where, (number, generic, least))
        if own not in _parts(name := normal_form(candidate.name).spaced) and name not in _parts(own)
    ]
    numbers = json.dumps([other.id for other in others])
    counts = dict(connection.execute(_COUNTED, (numbers, node.id)))
    by_chance, found = 0.0, []
    for other in others:
        expected = node.documents * other.documents / total
        sizes = node.documents, other.documents, total
        by_chance += _chance_of_at_most(int(_FEW * expected), *sizes)
        documents = counts.get(other.id, 0)
        if documents <= _FEW * expected:
            found.append(Gap(other, documents, expected, _chance_of_at_most(documents, *sizes), ()))
    found.sort(key=lambda gap: (gap.chance, gap.node.id))
    company = named_with(connection, [node], TogetherQuestion(label, generic=generic))
    return Passed(_with_nearest(connection, found[:limit], company), len(others), by_chance)


_COUNTED = """SELECT node, count(*) FROM node_document WHERE node IN (SELECT value FROM json_each(?))
AND document IN (SELECT document FROM node_document WHERE node = ?) GROUP BY node"""


def _with_nearest(
    connection: Connection, gaps: Sequence[Gap], company: Iterable[Together]
) -> tuple[Gap, ...]:
    """The gaps with what comes closest to each among the nodes that are named with the other one."""
    known = {partner.node.id: partner for partner in company}
    near: dict[int, list[tuple[float, int]]] = {gap.node.id: [] for gap in gaps}
    # The plus keeps SQLite from looking for each partner in each abstract.
    query = """SELECT g.node, p.node, count(*) FROM node_document g CROSS JOIN node_document p ON p.document = g.document
    WHERE g.node IN (SELECT value FROM json_each(?)) AND +p.node IN (SELECT value FROM json_each(?))
    AND p.node <> g.node GROUP BY 1, 2"""
    numbers = json.dumps(list(near)), json.dumps(list(known))
    for node, partner, documents in connection.execute(query, numbers):
        near[node].append((documents / math.sqrt(known[partner].node.documents), partner))
    found = []
    for gap in gaps:
        best = sorted(near[gap.node.id], reverse=True)[:_MOST_NEAREST]
        nearest = [(known[other].node, known[other].documents) for _, other in best]
        found.append(replace(gap, nearest=tuple(nearest)))
    return tuple(found)


def _chance_of_at_most(found: int, one: int, other: int, total: int) -> float:
    """How probable it is that two random sets of these sizes share so many members or fewer.

    >>> round(_chance_of_at_most(0, 30, 100, 1_000), 3)
    0.04
    """

    def ways(count: int, chosen: int) -> float:
        return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)

    fewest = max(0, one + other - total)
    shares = [
        math.exp(ways(one, both) + ways(total - one, other - both) - ways(total, other))
        for both in range(fewest, min(found, one, other) + 1)
    ]
    return math.fsum(shares)
