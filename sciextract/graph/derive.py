"""The last step of a build: from facts to nodes and edges, in one go over the whole graph."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from sciextract.documents.schema_file import bundled_schemas, load_schema
from sciextract.graph.database import INDEXES, run_statements
from sciextract.graph.matching import COMMON
from sciextract.graph.normalisation import MergeRule
from sciextract.graph.repairs import repair_nodes
from sciextract.graph.vocabulary import Vocabulary, link_nodes


@cache
def known_symmetric() -> frozenset[str]:
    """Relation types that every bundled label schema which has them calls symmetric."""
    schemas = [load_schema(name) for name in bundled_schemas()]
    symmetric = {label for each in schemas for label in each.symmetric_labels}
    directed = {
        label
        for each in schemas
        for label in each.relation_labels
        if label not in each.symmetric_labels
    }
    return frozenset(symmetric - directed)


# What names a node: forms that mean it by themselves, else the wording of an expansion, else whatever is there.
_ANOTHER_NAME = (
    MergeRule.ACRONYM
    | MergeRule.CORPUS_ACRONYM
    | MergeRule.COREFERENCE
    | MergeRule.NESTED_ACRONYM
    | MergeRule.HEAD
    | MergeRule.MODIFIER
    | MergeRule.READER
    | MergeRule.VERSION
)
_SHORT = int(MergeRule.ACRONYM | MergeRule.CORPUS_ACRONYM)
_NOT_SHORT = int(_ANOTHER_NAME) & ~_SHORT
_FAR_MORE = 3
_GENERIC_SHARE = 0.2
"""A node tells little where a smaller share of the places where its names stand by themselves is extracted."""
_BY_ITSELF = ~int(_ANOTHER_NAME)
_NO_SPACE_RULE = int(MergeRule.HYPHEN | _ANOTHER_NAME)
# Most frequent; of equally frequent forms the one that fewer rules had to change.
_FIRST = "mentions * 32768 - rules"

_EDGES = """
CREATE TEMP VIEW stated AS
SELECT coalesce(h.node, hj.other, e.head) AS head, coalesce(t.node, tj.other, e.tail) AS tail,
    e.label, e.document, e.number, e.score
FROM evidence e LEFT JOIN joined hj ON hj.document = e.document AND hj.name = e.head
LEFT JOIN joined tj ON tj.document = e.document AND tj.name = e.tail
LEFT JOIN resolved h ON h.name = coalesce(hj.other, e.head)
LEFT JOIN resolved t ON t.name = coalesce(tj.other, e.tail)
WHERE coalesce(h.node, hj.other, e.head) <> coalesce(t.node, tj.other, e.tail);

CREATE TEMP VIEW ordered AS
SELECT *, (SELECT key FROM name WHERE id = s.head) > (SELECT key FROM name WHERE id = s.tail) AS turned
FROM stated s WHERE label IN (SELECT label FROM symmetric);

CREATE TEMP TABLE related AS
SELECT head, tail, label, document, number, score, 0 AS turned
FROM stated WHERE label NOT IN (SELECT label FROM symmetric)
UNION ALL
SELECT CASE WHEN turned THEN tail ELSE head END, CASE WHEN turned THEN head ELSE tail END,
    label, document, number, score, turned
FROM ordered
ORDER BY 1, 2, 3, 4, 5;

INSERT INTO edge (head, tail, label, documents, mentions, score_mean, score_max)
SELECT head, tail, label, count(DISTINCT document), count(*), avg(score), max(score)
FROM related GROUP BY head, tail, label ORDER BY head, tail, label;

CREATE TEMP TABLE edge_place AS SELECT head, tail, label, id FROM edge;
CREATE UNIQUE INDEX temp.edge_place_key ON edge_place (head, tail, label);

INSERT INTO support
SELECT p.id, r.document, r.number, r.turned
FROM related r JOIN edge_place p ON p.head = r.head AND p.tail = r.tail AND p.label = r.label
ORDER BY 1, 2, 3;

DROP TABLE edge_place;
DROP TABLE related;
DROP VIEW ordered;
DROP VIEW stated
"""

_NODES = f"""
INSERT INTO node_year
SELECT n.node, d.year, count(*) FROM node_document n JOIN document d ON d.id = n.document
WHERE d.year IS NOT NULL GROUP BY n.node, d.year;

INSERT INTO node_label SELECT node, label, sum(mentions) FROM mention GROUP BY node, label;

CREATE TEMP TABLE form_use AS
SELECT node, form, rules, count(DISTINCT document) AS documents, sum(mentions) AS mentions
FROM mention GROUP BY node, form, rules;

CREATE TEMP TABLE degree (node INTEGER PRIMARY KEY, degree INTEGER);
INSERT INTO degree SELECT one, count(*) FROM (SELECT head AS one, tail FROM edge UNION SELECT tail, head FROM edge)
GROUP BY one;

CREATE TEMP TABLE title (node INTEGER PRIMARY KEY, form INTEGER NOT NULL);
INSERT INTO title
SELECT node, form FROM (
    SELECT node, form, max({_FIRST}) FROM form_use WHERE rules | {_BY_ITSELF} = {_BY_ITSELF} GROUP BY node
);
-- An acronym that is written far more often than its expansion names the node, where it has one meaning.
INSERT OR REPLACE INTO title
SELECT a.node, a.form FROM (
    SELECT u.node, u.form, max(u.mentions) AS mentions FROM (
        SELECT node, form, sum(mentions) AS mentions FROM form_use
        WHERE rules & {_SHORT} AND rules & {_NOT_SHORT} = 0 GROUP BY node, form
    ) u JOIN form f ON f.id = u.form JOIN name n ON n.key = f.surface
    LEFT JOIN resolved r ON r.name = n.id
    WHERE n.folded IS NOT NULL AND (r.node = u.node OR n.id NOT IN (SELECT short FROM ambiguous)) GROUP BY u.node
) a
LEFT JOIN (
    SELECT node, sum(mentions) AS mentions FROM form_use WHERE rules | {_BY_ITSELF} = {_BY_ITSELF} GROUP BY node
) b ON b.node = a.node
WHERE a.mentions > {_FAR_MORE} * coalesce(b.mentions, 0);
INSERT OR IGNORE INTO title
SELECT long, form FROM (SELECT long, form, count(*) AS uses FROM expansion GROUP BY long, form)
WHERE true GROUP BY long HAVING uses = max(uses);
INSERT OR IGNORE INTO title SELECT node, form FROM (
    SELECT node, form, max({_FIRST}) FROM form_use GROUP BY node
);

INSERT INTO alias
SELECT u.node, u.form, u.rules | CASE
    WHEN u.rules & {_NO_SPACE_RULE} = 0 AND f.spaced <> named.spaced THEN {int(MergeRule.SPACE)} ELSE 0 END,
    u.documents, u.mentions
FROM form_use u JOIN form f ON f.id = u.form
JOIN title t ON t.node = u.node JOIN form named ON named.id = t.form
ORDER BY 1, 2, 3;

INSERT INTO node
SELECT c.node, f.surface, l.label, c.documents, c.mentions, coalesce(d.degree, 0), y.first, y.last,
    c.extracted, c.matched, c.nested, 0, NULL
FROM (
    SELECT node, count(*) AS documents, sum(mentions > 0) AS extracted, sum(mentions) AS mentions,
        sum(matched) AS matched, sum(nested) AS nested
    FROM node_document GROUP BY node
) c
JOIN title t ON t.node = c.node JOIN form f ON f.id = t.form
JOIN (SELECT node, label, max(mentions) FROM node_label GROUP BY node) l ON l.node = c.node
LEFT JOIN (SELECT node, min(year) AS first, max(year) AS last FROM node_year GROUP BY node) y ON y.node = c.node
LEFT JOIN degree d ON d.node = c.node
ORDER BY 1;

INSERT INTO result
SELECT s.document, s.number, s.metric, s.material, m.id
FROM (
    SELECT v.document, v.number, coalesce(a.node, aj.other, v.metric) AS metric, v.material IS NULL AS anywhere,
        coalesce(b.node, bj.other, v.material) AS material, coalesce(c.node, cj.other, v.method) AS method
    FROM reported v LEFT JOIN joined aj ON aj.document = v.document AND aj.name = v.metric
    LEFT JOIN joined bj ON bj.document = v.document AND bj.name = v.material
    LEFT JOIN joined cj ON cj.document = v.document AND cj.name = v.method
    LEFT JOIN resolved a ON a.name = coalesce(aj.other, v.metric)
    LEFT JOIN resolved b ON b.name = coalesce(bj.other, v.material)
    LEFT JOIN resolved c ON c.name = coalesce(cj.other, v.method)
) s
-- What mostly is a method is neither a metric nor a data set, whatever the words of one sentence look like.
JOIN node n ON n.id = s.metric LEFT JOIN node o ON o.id = s.material LEFT JOIN label k ON k.id = n.label LEFT JOIN label l ON l.id = o.label
LEFT JOIN node m ON m.id = s.method AND m.label = (SELECT id FROM label WHERE name = 'Method')
WHERE k.name <> 'Method' AND (s.anywhere OR l.name <> 'Method');

INSERT INTO year_total SELECT year, count(*) FROM document WHERE year IS NOT NULL GROUP BY year;

DROP TABLE form_use;
DROP TABLE title;
DROP TABLE degree;
DROP VIEW mention
"""


@dataclass(frozen=True, slots=True)
class DeriveSettings:
    """How facts become nodes and edges; another one makes them anew from the same facts.

    Attributes:
        acronym_share: How large a share of the abstracts that expand an acronym must agree for it to be read so in
            abstracts that do not expand it: see
            :meth:`~sciextract.graph.acronyms.CorpusAcronym.meaning`.
        symmetric: Relation types without direction; those of the bundled label schemas when nothing is said.
        vocabulary: Identifiers of names; those that the graph has already when ``None``.
    """

    acronym_share: float = 0.8
    symmetric: frozenset[str] = field(default_factory=known_symmetric)
    vocabulary: Vocabulary | None = None

    def to_json(self) -> str:
        """Equal settings give equal text."""
        return json.dumps([self.acronym_share, sorted(self.symmetric)])

    @classmethod
    def from_json(cls, text: str) -> DeriveSettings:
        """The settings of such a text, without vocabulary."""
        share, symmetric = json.loads(text)
        return cls(share, frozenset(symmetric))


def derive(connection: sqlite3.Connection, symmetric: Iterable[str]) -> None:
    """The last step of a build: nodes, edges and what queries are quick by.

    Args:
        connection: The graph, in a transaction, with names merged and matched.
        symmetric: Relation types without direction.
    """
    rows = [(label,) for label in sorted(symmetric)]
    connection.executemany("INSERT INTO symmetric SELECT id FROM label WHERE name = ?", rows)
    run_statements(connection, _EDGES)
    run_statements(connection, _NODES)
    # A term that several abstracts abbreviate, such as "language models (LMs)", tells something, however often it stands.
    connection.execute(
        """UPDATE node SET generic = 1 WHERE (
            mentions < ?1 * matched OR matched = 0 AND id IN (SELECT node FROM unmatched WHERE reason = ?2)
        ) AND id NOT IN (
            SELECT coalesce(r.node, e.long) FROM expansion e LEFT JOIN resolved r ON r.name = e.long
            GROUP BY 1 HAVING count(DISTINCT e.document) > 1)""",
        (_GENERIC_SHARE, COMMON),
    )
    repair_nodes(connection)
    link_nodes(connection)
    run_statements(connection, INDEXES)
