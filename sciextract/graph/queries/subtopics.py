"""The subtopics of a field: groups of nodes that abstracts name together, with titles that tell them apart."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations

from sciextract.errors import UsageError
from sciextract.graph.queries.nodes import NODE, Node, label_number


@dataclass(frozen=True, slots=True)
class Subtopic:
    """Nodes that abstracts name together.

    Attributes:
        title: The names of the nodes that tell its abstracts from all others most surely: see :func:`_log_odds`.
        nodes: The one that most abstracts name first.
        documents: Abstracts that name more of these nodes than of any other subtopic.
        mean_year: Of these abstracts, where years are known.
    """

    title: str
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
        resolution: Higher gives more and smaller subtopics.
        generic: Generic nodes, too.
    """

    of: Node | None = None
    label: str | None = None
    least: int = 5
    resolution: float = 1.0
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


_SEEDS = range(1, 6)
_FEWEST_TOGETHER = 2
_EVERYWHERE = 0.15
"""What a larger share of the abstracts names is what the whole field is about, and joins all its subtopics."""
_FEW_DOCUMENTS = 20
_TITLE_NODES = 3


def subtopics(connection: sqlite3.Connection, question: SubtopicQuestion) -> Subtopics:
    """Communities of nodes by how often abstracts name them together.

    Two nodes are joined by their association strength, the abstracts that name both over those expected by chance
    (N. J. van Eck and L. Waltman, JASIST 60, 2009), where two abstracts or more name both. The communities are those of
    Louvain (V. D. Blondel et al., Journal of Statistical Mechanics, 2008), the best of five searches by modularity.
    Nodes in more than 15 % of the abstracts are left out.

    Raises:
        UsageError: No such type, or no two nodes that two abstracts name together.
    """
    import networkx as nx  # here, because it takes a quarter of a second

    nodes, by_document = _named(connection, question)
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
        nx.community.louvain_communities(net, resolution=question.resolution, seed=seed)
        for seed in _SEEDS
    ]
    quality = [nx.community.modularity(net, each, resolution=question.resolution) for each in tries]
    best = max(quality)
    groups = sorted(map(sorted, tries[quality.index(best)]))
    group_of = {number: place for place, group in enumerate(groups) for number in group}
    home: defaultdict[int, list[int]] = defaultdict(list)
    for document, named in by_document.items():
        shares = Counter(group_of[number] for number in named if number in group_of)
        if shares:
            home[min(shares, key=lambda place: (-shares[place], place))].append(document)
    years = dict(connection.execute("SELECT id, year FROM document WHERE year IS NOT NULL"))
    found = []
    for place, group in enumerate(groups):
        dated = [years[each] for each in home[place] if each in years]
        members = sorted([nodes[each] for each in group], key=lambda one: (-uses[one.id], one.name))
        here = Counter(number for each in home[place] for number in by_document[each])
        telling = _log_odds(here, uses)
        chosen = sorted(members, key=lambda one: -telling.get(one.id, -math.inf))[:_TITLE_NODES]
        found.append(
            Subtopic(
                ", ".join([each.name for each in chosen]), tuple(members), len(home[place]),
                sum(dated) / len(dated) if dated else None,
            )
        )  # fmt: skip
    found.sort(key=lambda each: (-each.documents, each.title))
    return Subtopics(tuple(found), best)


def _log_odds(here: Counter[int], everywhere: Counter[int]) -> dict[int, float]:
    """How much more often each node is named here than elsewhere: log-odds ratios in standard errors.

    The prior counts are those of the whole field (B. L. Monroe, M. P. Colaresi and K. M. Quinn: Fightin' words,
    Political Analysis 16, 2008, equations 16 and 22), so that rare nodes do not come first by chance.
    """
    inside, total = sum(here.values()), sum(everywhere.values())
    found = {}
    for node, count in here.items():
        prior = everywhere[node]
        one, other = count + prior, prior - count + prior
        odds = math.log(one / (inside + total - one)) - math.log(
            other / (total - inside + total - other)
        )
        found[node] = odds / math.sqrt(1 / one + 1 / other)
    return found


def _named(
    connection: sqlite3.Connection, question: SubtopicQuestion
) -> tuple[dict[int, Node], dict[int, set[int]]]:
    """The nodes in question, and which of them each abstract names."""
    of = question.of.id if question.of else None
    (total,) = connection.execute(
        "SELECT coalesce((SELECT documents FROM node WHERE id = ?), count(*)) FROM document", (of,)
    ).fetchone()
    # In a handful of abstracts nothing is everywhere: two of ten are no large share.
    most = max(_EVERYWHERE * total, _FEW_DOCUMENTS)
    rows = connection.execute(
        f"""{NODE} JOIN node_document o ON o.node = n.id
        WHERE n.generic <= :generic AND n.label = coalesce(:label, n.label) AND n.documents >= :least
        AND (:of IS NULL OR o.document IN (SELECT document FROM node_document WHERE node = :of))
        AND n.id IS NOT :of GROUP BY n.id HAVING count(*) BETWEEN :least AND :most
        ORDER BY count(*) DESC, n.id LIMIT 500""",
        {
            "generic": question.generic, "least": question.least, "most": most, "of": of,
            "label": label_number(connection, question.label, "entity"),
        },
    )  # fmt: skip
    nodes = {row[0]: Node(*row) for row in rows}
    found: dict[int, set[int]] = {}
    for node in nodes:
        for (document,) in connection.execute(
            """SELECT document FROM node_document WHERE node = ?1
            AND (?2 IS NULL OR document IN (SELECT document FROM node_document WHERE node = ?2))""",
            (node, of),
        ):
            found.setdefault(document, set()).add(node)
    return nodes, found
