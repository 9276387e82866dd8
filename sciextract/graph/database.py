"""Making and opening graph files."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection

from sciextract.errors import ExitCode, SciextractError, as_command

FACTS = (
    "CREATE TABLE property (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    # Normal forms; folded is the one in lower case for acronyms, else NULL.
    "CREATE TABLE name (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, folded INTEGER)",
    # Mentions as they are written; spaced is their normal form with spaces.
    """CREATE TABLE form (id INTEGER PRIMARY KEY, surface TEXT NOT NULL UNIQUE, spaced TEXT NOT NULL)""",
    # What the input tells of a publication; authors are a JSON list of "Family, Given".
    """CREATE TABLE document (
    id INTEGER PRIMARY KEY, doc_key TEXT NOT NULL, text_sha256 BLOB NOT NULL UNIQUE, fingerprint BLOB NOT NULL,
    build INTEGER NOT NULL, nameless INTEGER NOT NULL, loops INTEGER NOT NULL, unlikely INTEGER NOT NULL,
    unnamed INTEGER NOT NULL,
    doi TEXT, pmid TEXT, title TEXT, year INTEGER, venue TEXT, authors TEXT NOT NULL
)""",
    "CREATE INDEX document_key ON document (doc_key)",
    # Sentences are a JSON list of where each begins and ends.
    "CREATE TABLE text (document INTEGER PRIMARY KEY, content BLOB NOT NULL, sentences TEXT NOT NULL)",
    """CREATE TABLE naming (
    document INTEGER, name INTEGER, form INTEGER, label INTEGER, rules INTEGER, mentions INTEGER NOT NULL,
    PRIMARY KEY (document, name, form, label, rules)
) WITHOUT ROWID""",
    # Names that coreference joins to the one that names their cluster best; the longer one holds the shorter one.
    """CREATE TABLE coreferent (
    document INTEGER, name INTEGER, other INTEGER NOT NULL, shorter INTEGER NOT NULL, PRIMARY KEY (document, name)
) WITHOUT ROWID""",
    # Sentences from char_start to char_end; the mentions of both ends in them.
    """CREATE TABLE evidence (
    document INTEGER, number INTEGER, head INTEGER NOT NULL, tail INTEGER NOT NULL, label INTEGER NOT NULL,
    score REAL, char_start INTEGER NOT NULL, char_end INTEGER NOT NULL,
    head_start INTEGER NOT NULL, head_end INTEGER NOT NULL,
    tail_start INTEGER NOT NULL, tail_end INTEGER NOT NULL,
    PRIMARY KEY (document, number)
) WITHOUT ROWID""",
    """CREATE TABLE expansion (
    document INTEGER, short INTEGER, long INTEGER, form INTEGER NOT NULL,
    PRIMARY KEY (document, short, long)
) WITHOUT ROWID""",
    # What readers decided about nodes, in this order; by names, because the next build may number nodes otherwise.
    """CREATE TABLE repair (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, other TEXT NOT NULL)""",
    # Values that sentences report, by names; places is a JSON list of where number, metric and material begin and end.
    """CREATE TABLE reported (
    document INTEGER, number INTEGER, metric INTEGER NOT NULL, material INTEGER, method INTEGER,
    value REAL NOT NULL, unit TEXT NOT NULL, split TEXT NOT NULL, is_difference INTEGER NOT NULL,
    char_start INTEGER NOT NULL, char_end INTEGER NOT NULL, places TEXT NOT NULL,
    PRIMARY KEY (document, number)
) WITHOUT ROWID""",
)

DERIVED = (
    # Names whose node is not the name itself.
    """CREATE TABLE resolved (name INTEGER PRIMARY KEY, node INTEGER NOT NULL, rules INTEGER NOT NULL)""",
    # Names that an abstract uses for another one.
    """CREATE TABLE joined (document INTEGER, name INTEGER, other INTEGER NOT NULL, PRIMARY KEY (document, name)) WITHOUT ROWID""",
    # Acronyms with several expansions in the corpus.
    """CREATE TABLE ambiguous (short INTEGER, long INTEGER, documents INTEGER NOT NULL, PRIMARY KEY (short, long))
WITHOUT ROWID""",
    """CREATE TABLE node (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, label INTEGER NOT NULL, documents INTEGER NOT NULL,
    alone INTEGER NOT NULL, mentions INTEGER NOT NULL, degree INTEGER NOT NULL, first_year INTEGER, last_year INTEGER,
    extracted_documents INTEGER NOT NULL, matched INTEGER NOT NULL, nested INTEGER NOT NULL,
    generic INTEGER NOT NULL
)""",
    # The abstracts that name a node: mentions are extracted; matched are places in the text where one of its names stands
    # by itself, nested those where one is the head of a longer name of another node; alone counts without the latter.
    """CREATE TABLE node_document (
    node INTEGER, document INTEGER, mentions INTEGER NOT NULL, matched INTEGER NOT NULL, nested INTEGER NOT NULL,
    PRIMARY KEY (node, document)
) WITHOUT ROWID""",
    # Names of nodes that are not searched in the texts, and why.
    """CREATE TABLE unmatched (node INTEGER, form INTEGER, reason TEXT NOT NULL, PRIMARY KEY (node, form)) WITHOUT ROWID""",
    """CREATE TABLE node_label (node INTEGER, label INTEGER, mentions INTEGER NOT NULL, PRIMARY KEY (node, label))
WITHOUT ROWID""",
    """CREATE TABLE node_year (
    node INTEGER, year INTEGER, documents INTEGER NOT NULL, alone INTEGER NOT NULL, PRIMARY KEY (node, year))
WITHOUT ROWID""",
    """CREATE TABLE alias (
    node INTEGER, form INTEGER, rules INTEGER, documents INTEGER NOT NULL, mentions INTEGER NOT NULL,
    PRIMARY KEY (node, form, rules)
) WITHOUT ROWID""",
    """CREATE TABLE edge (
    id INTEGER PRIMARY KEY, head INTEGER NOT NULL, tail INTEGER NOT NULL, label INTEGER NOT NULL,
    documents INTEGER NOT NULL, mentions INTEGER NOT NULL, score_mean REAL, score_max REAL
)""",
    # Where abstracts state an edge; turned where they name the tail of the edge as head, of a relation without direction.
    """CREATE TABLE support (
    edge INTEGER, document INTEGER, number INTEGER, turned INTEGER NOT NULL, PRIMARY KEY (edge, document, number)
) WITHOUT ROWID""",
    # The nodes of reported values: what is measured, on what, of what.
    """CREATE TABLE result (
    document INTEGER, number INTEGER, metric INTEGER NOT NULL, material INTEGER, method INTEGER,
    PRIMARY KEY (document, number)
) WITHOUT ROWID""",
    # Labels of relations without direction: one edge a pair, head and tail in the order of their names.
    "CREATE TABLE symmetric (label INTEGER PRIMARY KEY)",
)

INDEXES = (
    "CREATE INDEX node_alone ON node (alone DESC)",
    "CREATE INDEX node_label_alone ON node (label, alone DESC)",
    "CREATE INDEX document_nodes ON node_document (document)",
    "CREATE INDEX support_document ON support (document, edge)",
    "CREATE INDEX edge_head ON edge (head, documents DESC)",
    "CREATE INDEX edge_tail ON edge (tail, documents DESC)",
    "CREATE INDEX edge_label ON edge (label, documents DESC)",
    "CREATE INDEX result_metric ON result (metric)",
    "CREATE INDEX result_material ON result (material)",
)

# What each name means in the corpus: itself, or the node that it was merged into.
_MEANING = """CREATE TEMP VIEW meaning AS
SELECT m.id AS name, m.key, coalesce(r.node, m.id) AS node FROM name m LEFT JOIN resolved r ON r.name = m.id"""


class GraphError(SciextractError):
    """A graph file cannot be used, or a question to it has no answer."""


class GraphMissingError(GraphError):
    """There is no graph file of that name."""

    exit_code = ExitCode.MISSING


class UnknownNodeError(GraphError):
    """The graph has no node of that name."""


APPLICATION_ID = int.from_bytes(b"SciG", "big")
VERSION = 14
"""Counts up when the tables change, or a mention gets another normal form: no graph mixes both, older ones are built anew."""


_PROBLEMS = {
    sqlite3.SQLITE_FULL: (
        "the disk is full; what was added before is kept",
        "free some space, then repeat the command to resume",
    ),
    sqlite3.SQLITE_BUSY: ("another process writes to the graph", "wait until it has ended"),
    sqlite3.SQLITE_READONLY: ("cannot be written: read-only", "name another file with --graph"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check its permissions and its folder"),
    sqlite3.SQLITE_NOTADB: ("is not a graph", "name a graph, or a new file, with --graph"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "build the graph again, into another file"),
}


@contextmanager
def open_graph(file: Path, *, write: bool = False, earlier: bool = False) -> Iterator[Connection]:
    """The connection to a graph, in autocommit mode.

    Args:
        file: The file.
        write: Whether to make it where there is none, and to open what a killed build left unfinished.
        earlier: Whether only repairs are wanted, which have the same table in all earlier versions.

    Raises:
        GraphMissingError: There is no such file.
        GraphError: It is not a graph, of a newer version, unfinished, damaged, locked or on a full disk.
    """
    if file.is_dir():
        raise GraphError(f"{file} is a folder", "name a graph file with --graph")
    if not write and not file.exists():
        hint = "sciextract graph build PREDICTIONS --graph FILE makes one"
        raise GraphMissingError(f"{file}: no such graph", hint)
    if not file.parent.is_dir():
        hint = as_command("mkdir", "-p", file.parent)
        raise GraphMissingError(f"{file}: no such folder: {file.parent}", hint)
    try:
        uri = f"{file.absolute().as_uri()}?mode={'rwc' if write else 'ro'}"
        opened = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10.0)
        with closing(opened) as connection:
            # In KiB, for graphs of hundreds of thousands of abstracts: 6,000 build as fast with the usual 2 MB.
            connection.execute("PRAGMA cache_size=-196608")
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            if write and not tables:
                # Before the first table: later only VACUUM would change it.
                connection.execute("PRAGMA page_size=8192")
                with transaction(connection):
                    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version={VERSION}")
                    run_statements(connection, FACTS)
                    set_property(connection, "state", "unfinished")
            _check(connection, file, write=write, earlier=earlier)
            connection.execute(_MEANING)
            yield connection
    except sqlite3.Error as error:
        # The low byte is the class of the error, the rest says more of it.
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        problem, hint = _PROBLEMS.get(code, (f"cannot be used: {error}", ""))
        raise GraphError(f"{file}: {problem}", hint) from error


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """All of the block or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back what is left after an error
        yield


def run_statements(connection: Connection, statements: Iterable[str]) -> None:
    """Statements one after the other within a transaction: ``executescript`` would commit first."""
    for statement in statements:
        connection.execute(statement)


def property_of(connection: Connection, name: str) -> str:
    """A property of the graph, "" where it has none of that name."""
    row = connection.execute("SELECT value FROM property WHERE name = ?", (name,)).fetchone()
    return row[0] if row else ""


def set_property(connection: Connection, name: str, value: str) -> None:
    """Keep a property of the graph."""
    connection.execute("INSERT OR REPLACE INTO property VALUES (?, ?)", (name, value))


def packed(text: str) -> bytes:
    """A text as a graph keeps it."""
    # Level 1 takes a fifth less time than the usual 6, for 3 % more bytes.
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def unpacked(content: bytes) -> str:
    """The text that :func:`packed` packed."""
    return zlib.decompress(content).decode("utf-8", "surrogatepass")


def version_of(connection: Connection) -> int:
    """The version of a graph's tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check(connection: Connection, file: Path, *, write: bool, earlier: bool) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        problem = f"{file} is an SQLite file of another program"
        raise GraphError(problem, "name a graph, or a new file, with --graph")
    version = version_of(connection)
    if version > VERSION:
        problem = f"{file} was made by a newer sciextract: version {version} found, this one reads up to {VERSION}"
        raise GraphError(problem, "pip install --upgrade sciextract")
    if version < VERSION and not earlier:
        problem = f"{file}: version {version} found, this sciextract needs {VERSION}"
        hint = "build it again with all its inputs: the file is kept under another name, and its repairs are taken over"
        raise GraphError(problem, hint)
    if not (write or earlier) and property_of(connection, "state") != "finished":
        problem = f"{file}: its last build was not finished"
        raise GraphError(problem, "repeat the same sciextract graph build to resume it")
