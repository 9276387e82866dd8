"""The subtopics of a field: groups of nodes that abstracts name together, with titles that tell them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sciextract.errors import UsageError
from sciextract.graph.queries.nodes import Node, label_number, nodes_where


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


class Subtopics(NamedTuple):
    """The answer.

    Attributes:
        found: The one with most abstracts first; nodes without a partner are in none.
        modularity: How much denser than by chance their nodes are joined: 0 for not at all.
        ties: The strongest of each node: two nodes, and how many times more often than by chance abstracts name both.
    """

    found: tuple[Subtopic, ...]
    modularity: float
    ties: tuple[tuple[int, int, float], ...]


_SEEDS = range(1, 4)
_MOST_NODES = 500
_FEWEST_TOGETHER = 2
_EVERYWHERE = 0.15
"""What a larger share of the abstracts names is what the whole field is about, and joins all its subtopics."""
_FEW_DOCUMENTS = 20
_TITLE_NODES = 3
_COLUMNS = 10_000

_Floats: TypeAlias = npt.NDArray[np.float32]


def subtopics(
    connection: Connection,
    *,
    of: Node | None = None,
    label: str | None = None,
    least: int = 5,
    resolution: float = 1.0,
    generic: bool = False,
) -> Subtopics:
    """Communities of nodes by how often abstracts name them together.

    Two nodes are joined where two abstracts or more name both, and two standard errors more than expected by chance; by
    their association strength, these abstracts over those expected (N. J. van Eck and L. Waltman, JASIST 60, 2009). The
    communities are those of Louvain (V. D. Blondel et al., Journal of Statistical Mechanics, 2008), the best of three
    searches by modularity. Nodes in more than 15 % of the abstracts are left out.

    Args:
        connection: The graph.
        of: Only abstracts that name this node; all when ``None``.
        label: Only nodes that are mostly of this type.
        least: Only nodes that so many of the abstracts name.
        resolution: Higher gives more and smaller subtopics.
        generic: Generic nodes, too.

    Raises:
        UsageError: No such type, or no two nodes that are named together so often.
    """
    whole = connection.execute("SELECT count(*) FROM document").fetchone()
    total = of.documents if of else whole[0]
    values = {
        "generic": generic, "least": least, "of": of and of.id, "label": label_number(connection, label, "entity"),
        # In a handful of abstracts nothing is everywhere: two of ten are no large share.
        "most": max(_EVERYWHERE * total, _FEW_DOCUMENTS),
    }  # fmt: skip
    counted = "SELECT id AS node, alone AS uses FROM node"
    if of:
        counted = """SELECT o.node, count(*) AS uses FROM node_document h JOIN node_document o ON o.document = h.document
        WHERE h.node = :of AND o.mentions + o.matched > 0 GROUP BY o.node"""
    where = f"""JOIN ({counted}) c ON c.node = n.id WHERE n.generic <= :generic AND n.label = coalesce(:label, n.label)
    AND n.id IS NOT :of AND c.uses BETWEEN :least AND :most ORDER BY c.uses DESC, n.id LIMIT {_MOST_NODES}"""
    nodes = nodes_where(connection, where, values)
    here = "WHERE id IN (SELECT document FROM node_document WHERE node = :of)" if of else ""
    # As text, because a row for each place takes ten times as long.
    dated = f"SELECT group_concat(id), group_concat(coalesce(year, 0)) FROM document {here}"
    columns = connection.execute(dated, values).fetchone()
    documents, years = (np.fromstring(column or "", np.int64, sep=",") for column in columns)
    place_of = np.full(documents.max(initial=0) + 1, -1)
    place_of[documents] = np.arange(len(documents))
    named = np.zeros((len(nodes), len(documents)), bool)
    # The last abstracts may lack the node at hand.
    listing = """SELECT group_concat(document) FROM node_document
    WHERE node = ? AND document < ? AND mentions + matched > 0"""
    for node, row in zip(nodes, named, strict=True):
        (listed,) = connection.execute(listing, (node.id, len(place_of))).fetchone()
        places = place_of[np.fromstring(listed, np.int64, sep=",")]
        row[places[places >= 0]] = True
    counts = np.zeros((len(nodes), len(nodes)), np.float32)
    for some in _parts(named):
        counts += some @ some.T
    uses = counts.diagonal()
    expected = np.outer(uses, uses) / total
    unused = 1 - uses / total
    # The standard error of a hypergeometric distribution, which is that of independent nodes.
    surprising = counts > expected + 2 * np.sqrt(expected * np.outer(unused, unused))
    often = (counts >= _FEWEST_TOGETHER) & surprising
    np.fill_diagonal(often, val=False)
    joined = np.flatnonzero(often.any(axis=1))
    if not len(joined):
        problem = "no two nodes are named together more often than by chance"
        raise UsageError(problem, "lower --least, or leave out --type")
    net = np.where(often, counts / np.maximum(expected, 1e-9), 0)[np.ix_(joined, joined)]
    searches = [_communities(net, resolution, seed) for seed in _SEEDS]
    best, homes = max(searches, key=lambda search: search[0])
    groups = [joined[homes == community].tolist() for community in range(homes.max() + 1)]
    member = np.zeros((len(nodes), len(groups)), np.float32)
    member[joined, homes] = 1
    shares = np.concatenate([part.T @ member for part in _parts(named)])
    home = np.where(shares.any(axis=1), shares.argmax(axis=1), -1)
    found = []
    for place, group in enumerate(groups):
        mine = home == place
        telling = _log_odds(named[:, mine].sum(axis=1, dtype=np.float32), uses)
        title = sorted(group, key=lambda number: (-telling[number], number))[:_TITLE_NODES]
        members = sorted(group, key=lambda number: (-uses[number], nodes[number].name))
        known = years[mine & (years > 0)]
        mean_year = float(known.mean()) if len(known) else None
        names = ", ".join([nodes[number].name for number in title])
        part = tuple([nodes[number] for number in members])
        found.append(Subtopic(names, part, int(mine.sum()), mean_year))
    found.sort(key=lambda topic: (-topic.documents, topic.title))
    return Subtopics(tuple(found), best, _ties([nodes[number].id for number in joined], net))


_MOST_TIES = 6


def _ties(numbers: Sequence[int], net: _Floats) -> tuple[tuple[int, int, float], ...]:
    strongest = np.argsort(-net, axis=1, kind="stable")[:, :_MOST_TIES]
    pairs = {
        (min(one, two), max(one, two))
        for one, row in enumerate(strongest.tolist())
        for two in row
        if net[one, two]
    }
    return tuple(
        [(numbers[one], numbers[two], round(float(net[one, two]), 2)) for one, two in sorted(pairs)]
    )


def _communities(
    weights: npt.NDArray[np.float64], resolution: float, seed: int
) -> tuple[float, npt.NDArray[np.int64]]:
    """The modularity and the community of each node, by the Louvain method.

    Args:
        weights: How strongly nodes are joined, symmetric (nodes, nodes); 0 for pairs that are not.
        resolution: Higher gives more and smaller communities.
        seed: Of the order in which nodes are looked at.
    """
    chance, home = np.random.default_rng(seed), np.arange(len(weights))
    while True:
        degree, own = weights.sum(axis=0), np.arange(len(weights))
        sums, total, moved = degree.copy(), degree.sum(), True
        while moved:
            moved = False
            for node in chance.permutation(len(weights)):
                before = own[node]
                sums[before] -= degree[node]
                # What it adds to the modularity of each community (Blondel et al., equation 2), up to a factor.
                gain = np.bincount(own, weights[node], len(weights))
                gain[before] -= weights[node, node]
                gain -= resolution * degree[node] / total * sums
                best = int(gain.argmax())
                if gain[best] > gain[before] + 1e-9:
                    own[node], moved = best, True
                sums[own[node]] += degree[node]
        names, own = np.unique(own, return_inverse=True)
        if len(names) == len(weights):
            within = weights.diagonal().sum() / total
            return float(within - resolution * np.square(degree / total).sum()), home
        home, group = own[home], np.eye(len(names))[own]
        weights = group.T @ weights @ group


def _log_odds(here: _Floats, everywhere: _Floats) -> _Floats:
    """How much more often each node is named here than elsewhere: log-odds ratios in standard errors.

    The prior counts are those of the whole field (B. L. Monroe, M. P. Colaresi and K. M. Quinn: Fightin' words,
    Political Analysis 16, 2008, equations 16 and 22), so that rare nodes do not come first by chance.
    """
    one, other = here + everywhere, 2 * everywhere - here
    odds = np.log(one / (one.sum() - one)) - np.log(other / (other.sum() - other))
    return np.asarray(odds / np.sqrt(1 / one + 1 / other), np.float32)


def _parts(named: npt.NDArray[np.bool_]) -> Iterator[_Floats]:
    """Some columns at a time, as numbers that multiply quickly."""
    for start in range(0, named.shape[1], _COLUMNS):
        yield named[:, start : start + _COLUMNS].astype(np.float32)
