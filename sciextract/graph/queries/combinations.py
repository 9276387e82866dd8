"""What is combined with what: pairs that nobody combined, two nodes side by side, groups of nodes that go together."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from sciextract.errors import UsageError
from sciextract.graph.queries.edges import Edge, between
from sciextract.graph.queries.nodes import (
    NODE,
    Node,
    generic_nodes,
    label_number,
    node_of,
    years_of,
)


@dataclass(frozen=True, slots=True)
class Gap:
    """A node that no abstract names together with another one, though both are related to the same things.

    Attributes:
        node: It.
        shared: What both are related to, the most telling first.
        score: The measure of L. A. Adamic and E. Adar (Social Networks 25, 2003): the sum of 1 / log(degree) of
            what they share, so that what is related to everything counts little.
        expected: How many abstracts would name both if nodes were named independently.
    """

    node: Node
    shared: tuple[Node, ...]
    score: float
    expected: float


def gaps(
    connection: sqlite3.Connection,
    node: Node,
    *,
    label: str | None = None,
    least: int = 5,
    avoid: Iterable[Node] = (),
    generic: bool = False,
    limit: int = 20,
) -> list[Gap]:
    """Neighbours of a node's neighbours that no abstract names together with it, the highest score first.

    Args:
        connection: The graph.
        node: The node.
        label: The type of what it could be combined with; tasks for a method, methods for all others when ``None``.
        least: Only nodes that so many abstracts name.
        avoid: Nodes that neither are listed nor count as shared.
        generic: Whether generic nodes may be listed and shared.
        limit: At most so many.

    Raises:
        UsageError: The graph has no such type.
    """
    wanted = label_number(
        connection, label or ("Task" if node.label == "Method" else "Method"), "entity"
    )
    closed = {each.id for each in avoid} | {node.id}
    if not generic:
        closed |= generic_nodes(connection)
    near = _neighbours(connection, node.id) - closed
    shared: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for middle in near:
        others = _neighbours(connection, middle)
        for each in others - near - closed:
            shared[each].append((1 / math.log(max(len(others), 2)), middle))
    together = {
        row[0]
        for row in connection.execute(
            """SELECT DISTINCT o.node FROM node_document d JOIN node_document o ON o.document = d.document
            WHERE d.node = ?""",
            (node.id,),
        )
    }
    fitting = {
        row[0]
        for row in connection.execute(
            "SELECT id FROM node WHERE label = ? AND documents >= ?", (wanted, least)
        )
    }
    candidates = [
        (sum(weight for weight, _ in ways), number, sorted(ways, reverse=True))
        for number, ways in shared.items()
        if number in fitting and number not in together
    ]
    candidates.sort(key=lambda one: (-one[0], one[1]))
    (total,) = connection.execute("SELECT count(*) FROM document").fetchone()
    found = []
    for score, number, ways in candidates[:limit]:
        other = node_of(connection, number)
        expected = node.documents * other.documents / total
        middles = tuple([node_of(connection, middle) for _, middle in ways])
        found.append(Gap(other, middles, score, expected))
    return found


def _neighbours(connection: sqlite3.Connection, node: int) -> set[int]:
    rows = connection.execute(
        "SELECT tail FROM edge WHERE head = ?1 UNION SELECT head FROM edge WHERE tail = ?1", (node,)
    )
    return {row[0] for row in rows}


@dataclass(frozen=True, slots=True)
class NodeComparison:
    """Two nodes side by side.

    Attributes:
        first: One.
        second: The other.
        together: Abstracts that name both.
        years: Abstracts by year that name the first, and the second.
        edges: Relations between them, with sentences.
        shared: What both are related to, the one that most abstracts name first.
        only_first: What only the first is related to.
        only_second: What only the second is related to.
    """

    first: Node
    second: Node
    together: int
    years: dict[int, tuple[int, int]]
    edges: tuple[Edge, ...]
    shared: tuple[Node, ...]
    only_first: tuple[Node, ...]
    only_second: tuple[Node, ...]


def compare(
    connection: sqlite3.Connection,
    first: Node,
    second: Node,
    *,
    sentences: int = 2,
    generic: bool = False,
    limit: int = 10,
) -> NodeComparison:
    """What two nodes share, and what each has for itself.

    Args:
        connection: The graph.
        first: One.
        second: The other.
        sentences: How many to bring for each relation between them.
        generic: Whether generic neighbours are listed.
        limit: At most so many neighbours of each kind.
    """
    ends = {first.id, second.id}
    of_first, of_second = (_neighbours(connection, each.id) - ends for each in (first, second))
    (together,) = connection.execute(
        """SELECT count(*) FROM node_document a JOIN node_document b ON b.document = a.document
        WHERE a.node = ? AND b.node = ?""",
        (first.id, second.id),
    ).fetchone()
    by_year = [years_of(connection, each.id) for each in (first, second)]
    years = {
        year: (by_year[0].get(year, 0), by_year[1].get(year, 0))
        for year in sorted({*by_year[0], *by_year[1]})
    }
    lists = []
    for numbers in (of_first & of_second, of_first - of_second, of_second - of_first):
        nodes = [node_of(connection, each) for each in numbers]
        kept = [each for each in nodes if generic or not each.generic]
        kept.sort(key=lambda each: (-each.documents, each.name))
        lists.append(tuple(kept[:limit]))
    edges = tuple(between(connection, first.id, second.id, sentences))
    return NodeComparison(first, second, together, years, edges, *lists)


@dataclass(frozen=True, slots=True)
class Subtopic:
    """Nodes that abstracts name together.

    Attributes:
        nodes: The one that most abstracts name first.
        documents: Abstracts that name more of these nodes than of any other subtopic.
        mean_year: Of these abstracts, where years are known.
    """

    nodes: tuple[Node, ...]
    documents: int
    mean_year: float | None


@dataclass(frozen=True, slots=True)
class SubtopicQuestion:
    """What to divide into subtopics.

    Attributes:
        of: Only abstracts that name this node; all when ``None``.
        label: Only nodes that are mostly of this type.
        least: Only nodes that so many of the abstracts name.
        most: At most so many nodes, those that most abstracts name.
        resolution: Higher gives more and smaller subtopics.
        seed: Of the search.
        avoid: Nodes to leave out.
        generic: Generic nodes, too.
    """

    of: Node | None = None
    label: str | None = None
    least: int = 5
    most: int = 500
    resolution: float = 1.0
    seed: int = 1
    avoid: Sequence[Node] = ()
    generic: bool = False


@dataclass(frozen=True, slots=True)
class Subtopics:
    """The answer.

    Attributes:
        found: The one with most abstracts first; nodes without a partner are in none.
        modularity: How much denser than by chance their nodes are joined: 0 for not at all.
    """

    found: tuple[Subtopic, ...]
    modularity: float


_TRIES = 5
_FEWEST_TOGETHER = 2


def subtopics(connection: sqlite3.Connection, question: SubtopicQuestion) -> Subtopics:
    """Communities of nodes by how often abstracts name them together.

    Two nodes are joined by their association strength, the abstracts that name both over those expected by chance
    (N. J. van Eck and L. Waltman, JASIST 60, 2009), where two abstracts or more name both. The communities are those of
    Louvain (V. D. Blondel et al., Journal of Statistical Mechanics, 2008), the best of five searches by modularity.

    Raises:
        UsageError: No such type, or no two nodes that two abstracts name together.
    """
    import networkx as nx  # here, because it takes a quarter of a second

    nodes, by_document = _named_together(connection, question)
    counts: Counter[tuple[int, int]] = Counter()
    for named in by_document.values():
        counts.update(combinations(sorted(named), 2))
    uses = Counter(number for named in by_document.values() for number in named)
    net = nx.Graph()
    for (one, other), together in counts.items():
        if together >= _FEWEST_TOGETHER:
            net.add_edge(one, other, weight=together * len(by_document) / (uses[one] * uses[other]))
    if not net:
        raise UsageError(
            "no two nodes are named together by two abstracts", "lower --least, or leave out --type"
        )
    tries = [
        nx.community.louvain_communities(
            net, resolution=question.resolution, seed=question.seed + each
        )
        for each in range(_TRIES)
    ]
    quality = [nx.community.modularity(net, each, resolution=question.resolution) for each in tries]
    best = max(quality)
    groups = sorted(map(sorted, tries[quality.index(best)]))
    years = dict(connection.execute("SELECT id, year FROM document WHERE year IS NOT NULL"))
    home: defaultdict[int, list[int]] = defaultdict(list)
    for document, named in by_document.items():
        shares = [len(named.intersection(group)) for group in groups]
        if max(shares):
            home[shares.index(max(shares))].append(document)
    found = []
    for place, group in enumerate(groups):
        dated = [years[each] for each in home[place] if each in years]
        members = sorted([nodes[each] for each in group], key=lambda one: (-uses[one.id], one.name))
        mean = sum(dated) / len(dated) if dated else None
        found.append(Subtopic(tuple(members), len(home[place]), mean))
    found.sort(key=lambda each: (-each.documents, each.nodes[0].name))
    return Subtopics(tuple(found), best)


def _named_together(
    connection: sqlite3.Connection, question: SubtopicQuestion
) -> tuple[dict[int, Node], dict[int, set[int]]]:
    """The nodes in question, and which of them each abstract names."""
    number = label_number(connection, question.label, "entity")
    of = question.of.id if question.of else None
    closed = {each.id for each in question.avoid} | {of}
    rows = connection.execute(
        f"""{NODE} JOIN node_document o ON o.node = n.id
        WHERE n.generic <= :generic AND n.label = coalesce(:label, n.label) AND n.documents >= :least
        AND (:of IS NULL OR o.document IN (SELECT document FROM node_document WHERE node = :of))
        GROUP BY n.id HAVING count(*) >= :least ORDER BY count(*) DESC, n.id""",
        {"generic": question.generic, "label": number, "least": question.least, "of": of},
    )
    nodes = {row[0]: Node(*row) for row in rows if row[0] not in closed}
    nodes = dict(list(nodes.items())[: question.most])
    found: dict[int, set[int]] = {}
    for node in nodes:
        for (document,) in connection.execute(
            """SELECT document FROM node_document WHERE node = ?1
            AND (?2 IS NULL OR document IN (SELECT document FROM node_document WHERE node = ?2))""",
            (node, of),
        ):
            found.setdefault(document, set()).add(node)
    return nodes, found
