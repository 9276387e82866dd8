"""The last step of a build: from facts to nodes and edges, in one go over the whole graph."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from sqlite3 import Connection

from sciextract.graph.database import INDEXES, run_statements
from sciextract.graph.matching import COMMON
from sciextract.graph.normalisation import MergeRule, without_determiner
from sciextract.graph.relation_types import known_symmetric
from sciextract.graph.repairs import repair_nodes

# What names a node: forms that mean it by themselves, else the wording of an expansion, else whatever is there. The rules
# up to SPACE are differences of spelling; by all others it is another name.
_SPELLING = (2 * int(MergeRule.SPACE) - 1) | int(MergeRule.SPELLING | MergeRule.NUMERAL)
_ANOTHER_NAME = sum(map(int, MergeRule)) & ~_SPELLING
_SHORT = int(MergeRule.ACRONYM | MergeRule.CORPUS_ACRONYM)
_NOT_SHORT = _ANOTHER_NAME & ~_SHORT
_FAR_MORE = 3
_GENERIC_SHARE = 0.2
"""A node tells little where a smaller share of the places where its names stand by themselves is extracted."""
_BY_ITSELF = ~_ANOTHER_NAME
_NO_SPACE_RULE = int(MergeRule.HYPHEN) | _ANOTHER_NAME
# Most frequent; of equally frequent forms the one that fewer rules had to change.
_FIRST = f"mentions * {2 * int(MergeRule.LINK)} - rules"


def _node_of(row: str, column: str) -> str:
    """SQL for the node that a name in a row of an abstract means, after coreference in it and merges in the corpus."""
    name = f"{row}.{column}"
    return f"""coalesce(
        (SELECT coalesce(r.node, j.other) FROM joined j LEFT JOIN resolved r ON r.name = j.other
        WHERE j.document = {row}.document AND j.name = {name}),
        (SELECT node FROM resolved WHERE name = {name}), {name})"""


_EDGES = (
    f"""CREATE TEMP TABLE stated AS
SELECT {_node_of("e", "head")} AS head, {_node_of("e", "tail")} AS tail, label, document, number, score, 0 AS turned
FROM evidence e""",
    """UPDATE stated SET head = tail, tail = head, turned = 1
WHERE label IN symmetric AND (SELECT key FROM name WHERE id = head) > (SELECT key FROM name WHERE id = tail)""",
    """CREATE TEMP TABLE related AS
SELECT dense_rank() OVER (ORDER BY head, tail, label) AS edge, * FROM stated WHERE head <> tail""",
    """INSERT INTO edge
SELECT edge, head, tail, label, count(DISTINCT document), count(*), avg(score), max(score) FROM related GROUP BY edge""",
    "INSERT INTO support SELECT edge, document, number, turned FROM related ORDER BY 1, 2, 3",
    "DROP TABLE related",
    "DROP TABLE stated",
)
# Bare columns of a group come from the row of its max(): https://sqlite.org/lang_select.html#bareagg
_OWN_FORM = f"rules | {_BY_ITSELF} = {_BY_ITSELF}"
_NODES = (
    """INSERT INTO node_year
SELECT n.node, d.year, count(*), sum(n.mentions + n.matched > 0) FROM node_document n JOIN document d ON d.id = n.document
WHERE d.year IS NOT NULL GROUP BY n.node, d.year""",
    "INSERT INTO node_label SELECT node, label, sum(mentions) FROM mention GROUP BY node, label",
    """CREATE TEMP TABLE form_use AS
SELECT node, form, rules, count(DISTINCT document) AS documents, sum(mentions) AS mentions
FROM mention GROUP BY node, form, rules""",
    "CREATE TEMP TABLE title (node INTEGER PRIMARY KEY, form INTEGER NOT NULL, rank INTEGER NOT NULL)",
    # An acronym that is written far more often than its expansion names the node, where it has one meaning.
    f"""INSERT INTO title SELECT node, form, min(rank) FROM (
    SELECT a.node, a.form, 1 AS rank FROM (
        SELECT u.node, u.form, max(u.mentions) AS mentions FROM (
            SELECT node, form, sum(mentions) AS mentions FROM form_use
            WHERE rules & {_SHORT} AND rules & {_NOT_SHORT} = 0 GROUP BY node, form
        ) u JOIN form f ON f.id = u.form JOIN name n ON n.key = f.surface JOIN meaning m ON m.name = n.id
        WHERE n.folded IS NOT NULL AND (m.node = u.node OR n.id NOT IN (SELECT short FROM ambiguous)) GROUP BY u.node
    ) a LEFT JOIN (
        SELECT node, sum(mentions) AS mentions FROM form_use WHERE {_OWN_FORM} GROUP BY node
    ) b ON b.node = a.node WHERE a.mentions > {_FAR_MORE} * coalesce(b.mentions, 0)
    UNION ALL
    SELECT * FROM (SELECT node, form, 2 FROM form_use WHERE {_OWN_FORM} GROUP BY node HAVING max({_FIRST}))
    UNION ALL
    SELECT long, form, 3 FROM (SELECT long, form, count(*) AS uses FROM expansion GROUP BY long, form)
    GROUP BY long HAVING uses = max(uses)
    UNION ALL
    SELECT * FROM (SELECT node, form, 4 FROM form_use GROUP BY node HAVING max({_FIRST}))
) GROUP BY node""",
    f"""INSERT INTO alias
SELECT u.node, u.form, u.rules | {int(MergeRule.SPACE)} * (u.rules & {_NO_SPACE_RULE} = 0 AND f.spaced <> named.spaced),
    u.documents, u.mentions
FROM form_use u JOIN form f ON f.id = u.form
JOIN title t ON t.node = u.node JOIN form named ON named.id = t.form
ORDER BY 1, 2, 3""",
    """INSERT INTO node
SELECT c.node, without_determiner(f.surface), l.label, c.documents, c.alone, c.mentions, coalesce(d.degree, 0), y.first, y.last,
    c.extracted, c.matched, c.nested, 0
FROM (
    SELECT node, count(*) AS documents, sum(mentions + matched > 0) AS alone, sum(mentions > 0) AS extracted, sum(mentions) AS mentions,
        sum(matched) AS matched, sum(nested) AS nested
    FROM node_document GROUP BY node
) c
JOIN title t ON t.node = c.node JOIN form f ON f.id = t.form
JOIN (SELECT node, label, max(mentions) FROM node_label GROUP BY node) l ON l.node = c.node
LEFT JOIN (SELECT node, min(year) AS first, max(year) AS last FROM node_year GROUP BY node) y ON y.node = c.node
LEFT JOIN (
    SELECT one, count(*) AS degree FROM (SELECT head AS one, tail FROM edge UNION SELECT tail, head FROM edge) GROUP BY one
) d ON d.one = c.node
ORDER BY 1""",
    # What mostly is a method is neither a metric nor a data set, whatever the words of one sentence look like.
    f"""WITH method AS (SELECT id FROM label WHERE name = 'Method')
INSERT INTO result
SELECT s.document, s.number, s.metric, s.material, m.id
FROM (
    SELECT document, number, {_node_of("v", "metric")} AS metric, {_node_of("v", "material")} AS material,
        {_node_of("v", "method")} AS method
    FROM reported v
) s JOIN node n ON n.id = s.metric AND n.label NOT IN method
LEFT JOIN node o ON o.id = s.material LEFT JOIN node m ON m.id = s.method AND m.label IN method
WHERE s.material IS o.id AND (o.id IS NULL OR o.label NOT IN method)""",
    "DROP TABLE form_use",
    "DROP TABLE title",
    "DROP VIEW mention",
)


@dataclass(frozen=True, slots=True)
class DeriveSettings:
    """How facts become nodes and edges; another one makes them anew from the same facts.

    Attributes:
        symmetric: Relation types without direction; those of the bundled label schemas when nothing is said.
        synonyms: Whether the synonyms that come with the package are merged.
    """

    symmetric: frozenset[str] = field(default_factory=known_symmetric)
    synonyms: bool = True

    def to_json(self) -> str:
        """Equal settings give equal text."""
        return json.dumps([sorted(self.symmetric), self.synonyms])

    @classmethod
    def from_json(cls, text: str) -> DeriveSettings:
        *_, symmetric, synonyms = json.loads(text)  # a share of abstracts stood before them once
        return cls(frozenset(symmetric), synonyms)


def derive(connection: Connection, symmetric: Iterable[str]) -> None:
    """The last step of a build: nodes, edges and what queries are quick by.

    Args:
        connection: The graph, in a transaction, with names merged and matched.
        symmetric: Relation types without direction.
    """
    rows = [(label,) for label in sorted(symmetric)]
    connection.executemany("INSERT INTO symmetric SELECT id FROM label WHERE name = ?", rows)
    connection.create_function("without_determiner", 1, without_determiner, deterministic=True)
    run_statements(connection, _EDGES + _NODES)
    # A term that several abstracts abbreviate, such as "language models (LMs)", tells something, however often it stands.
    generic = """UPDATE node SET generic = 1 WHERE (
        mentions < ?1 * matched OR matched = 0 AND id IN (SELECT node FROM unmatched WHERE reason = ?2)
    ) AND id NOT IN (
        SELECT m.node FROM expansion e JOIN meaning m ON m.name = e.long
        GROUP BY m.node HAVING count(DISTINCT e.document) > 1)"""
    connection.execute(generic, (_GENERIC_SHARE, COMMON))
    repair_nodes(connection)
    run_statements(connection, INDEXES)
