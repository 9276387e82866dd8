"""The tables of a graph file.

Facts are what abstracts say, by abstract, so that one can be replaced. The rest follows from them and is made anew by
:mod:`sciextract.graph.database.derive`: what an acronym means may change with every abstract.
"""

from __future__ import annotations

FACTS = """
CREATE TABLE property (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- Normal forms; folded is the one in lower case for acronyms, else NULL.
CREATE TABLE name (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, folded INTEGER);
-- Mentions as they are written; spaced is their normal form with spaces.
CREATE TABLE form (id INTEGER PRIMARY KEY, surface TEXT NOT NULL UNIQUE, spaced TEXT NOT NULL);
CREATE TABLE document (
    id INTEGER PRIMARY KEY, doc_key TEXT NOT NULL, text_sha256 BLOB NOT NULL UNIQUE,
    fingerprint BLOB NOT NULL, model INTEGER NOT NULL, year INTEGER, build INTEGER NOT NULL,
    nameless INTEGER NOT NULL, loops INTEGER NOT NULL, unlikely INTEGER NOT NULL
);
CREATE INDEX document_key ON document (doc_key);
CREATE TABLE text (document INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE naming (
    document INTEGER, name INTEGER, form INTEGER, label INTEGER, rules INTEGER, mentions INTEGER NOT NULL,
    PRIMARY KEY (document, name, form, label, rules)
) WITHOUT ROWID;
-- Sentences from char_start to char_end; the mentions of both ends in them.
CREATE TABLE evidence (
    document INTEGER, number INTEGER, head INTEGER NOT NULL, tail INTEGER NOT NULL, label INTEGER NOT NULL,
    score REAL, char_start INTEGER NOT NULL, char_end INTEGER NOT NULL,
    head_start INTEGER NOT NULL, head_end INTEGER NOT NULL,
    tail_start INTEGER NOT NULL, tail_end INTEGER NOT NULL,
    PRIMARY KEY (document, number)
) WITHOUT ROWID;
CREATE TABLE expansion (
    document INTEGER, short INTEGER, long INTEGER, form INTEGER NOT NULL,
    PRIMARY KEY (document, short, long)
) WITHOUT ROWID;
"""

FEW_EDGES = 50_000
"""Up to so many edges, pairs of nodes that are related only once are kept for questions about all pairs, too."""

MOST_RECENT = 500
"""How many nodes of a type are ranked by their abstracts since a year."""
ANY_TYPE = 0
"""Stands in ``recent`` for nodes of all types."""

DERIVED = """
-- Acronyms whose node is not their own name.
CREATE TABLE resolved (name INTEGER PRIMARY KEY, node INTEGER NOT NULL, rules INTEGER NOT NULL);
-- Acronyms with several expansions in the corpus.
CREATE TABLE ambiguous (short INTEGER, long INTEGER, documents INTEGER NOT NULL, PRIMARY KEY (short, long))
WITHOUT ROWID;
CREATE TABLE node (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, label INTEGER NOT NULL, documents INTEGER NOT NULL,
    mentions INTEGER NOT NULL, degree INTEGER NOT NULL, first_year INTEGER, last_year INTEGER
);
CREATE TABLE node_label (node INTEGER, label INTEGER, mentions INTEGER NOT NULL, PRIMARY KEY (node, label))
WITHOUT ROWID;
CREATE TABLE node_year (node INTEGER, year INTEGER, documents INTEGER NOT NULL, PRIMARY KEY (node, year))
WITHOUT ROWID;
CREATE TABLE alias (
    node INTEGER, form INTEGER, rules INTEGER, documents INTEGER NOT NULL, mentions INTEGER NOT NULL,
    PRIMARY KEY (node, form, rules)
) WITHOUT ROWID;
CREATE TABLE edge (
    id INTEGER PRIMARY KEY, head INTEGER NOT NULL, tail INTEGER NOT NULL, label INTEGER NOT NULL,
    documents INTEGER NOT NULL, mentions INTEGER NOT NULL, score_mean REAL, score_max REAL
);
-- Documents by relation type (0: all together) of nodes that are related more than once; all in small graphs.
CREATE TABLE pair (
    one INTEGER NOT NULL, other INTEGER NOT NULL, label INTEGER NOT NULL, one_label INTEGER NOT NULL,
    other_label INTEGER NOT NULL, documents INTEGER NOT NULL
);
-- Where abstracts state an edge; turned where they name the tail of the edge as head, of a relation without direction.
CREATE TABLE support (
    edge INTEGER, document INTEGER, number INTEGER, turned INTEGER NOT NULL, PRIMARY KEY (edge, document, number)
) WITHOUT ROWID;
-- Labels of relations without direction: one edge a pair, head and tail in the order of their names.
CREATE TABLE symmetric (label INTEGER PRIMARY KEY);
CREATE TABLE adjacency (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE year_total (year INTEGER PRIMARY KEY, documents INTEGER NOT NULL);
-- The first nodes of each type (0: of any) by their abstracts since a year, two or more, for years with abstracts.
CREATE TABLE recent (
    since INTEGER, label INTEGER, documents INTEGER, node INTEGER, PRIMARY KEY (since, label, documents DESC, node)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX node_documents ON node (documents DESC);
CREATE INDEX node_degree ON node (degree DESC);
CREATE INDEX node_label_documents ON node (label, documents DESC);
CREATE INDEX node_label_degree ON node (label, degree DESC);
CREATE INDEX edge_head ON edge (head, documents DESC);
CREATE INDEX edge_tail ON edge (tail, documents DESC);
CREATE INDEX pair_nodes ON pair (one, other);
CREATE INDEX pair_documents ON pair (label, documents DESC);
CREATE INDEX pair_labels ON pair (label, one_label, other_label, documents DESC);
"""

DERIVED_TABLES = (
    *("resolved", "ambiguous", "node", "node_label", "node_year", "alias", "edge", "support"),
    *("pair", "adjacency", "year_total", "recent", "symmetric"),
)
