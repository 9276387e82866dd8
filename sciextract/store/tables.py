"""The tables of a project file: documents, sources, the event log, and the current state.

Three kinds of tables. *Immutable*: ``document``, ``record``, ``annotation_set``, ``event``, ``change``...
*State*, which the log rebuilds: ``progress``, ``entity``, ``relation``, ``cluster``, ``link``, ``attribute``.
*Derived*, which the state rebuilds: ``summary``, ``tally``, ``surface`` and the full-text indexes.

Whoever changes a statement raises :data:`sciextract.store.sqlite.VERSION`.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from functools import cache

from sciextract.store.sqlite import APPLICATION_ID, VERSION

# Of columns alone: a unique index refuses rows, and one upon an expression or a condition runs functions.
_PLAIN_INDEX = re.compile(r"CREATE INDEX [^(]+\([\w\s\"`,\[\]]+\)", re.IGNORECASE)

_ITEM = """
    score REAL,
    state TEXT NOT NULL,
    source_id INTEGER NOT NULL REFERENCES source(id),
    event_id INTEGER NOT NULL,
    was TEXT,
"""

# Rules that SQLite's integrity check finds broken: a time that no clock gave, JSON of another type. Functions
# for JSON would say it better, but some versions of SQLite call them unsafe in a schema.
_A_TIME = "GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]*'"
_AN_OBJECT, _AN_ARRAY = "GLOB '{*}'", "GLOB '[[]*]'"

ATTRIBUTES = f"""CREATE TABLE attribute (
        document_id INTEGER NOT NULL REFERENCES progress(document_id),
        id TEXT NOT NULL,
        target TEXT NOT NULL,
        label TEXT NOT NULL,
        value TEXT NOT NULL, {_ITEM}
        alternatives TEXT,
        PRIMARY KEY (document_id, id)
    ) WITHOUT ROWID, STRICT"""
"""Of version 3. No key leads to the target, which stands in one of two tables, or is the abstract."""

DECISIONS = """CREATE VIEW decision AS
        SELECT 'entity' AS kind, i.document_id, i.id, i.label, i.state, i.score, i.was, e.at, e.seconds,
               a.name AS author, e.kind AS action
          FROM entity i JOIN event e ON e.id = i.event_id JOIN source a ON a.id = e.author_id
        UNION ALL
        SELECT 'relation', i.document_id, i.id, i.label, i.state, i.score, i.was, e.at, e.seconds, a.name, e.kind
          FROM relation i JOIN event e ON e.id = i.event_id JOIN source a ON a.id = e.author_id
        UNION ALL
        SELECT 'link', i.document_id, i.cluster_id || ' ' || i.entity_id, '', i.state, i.score, i.was, e.at,
               e.seconds, a.name, e.kind
          FROM link i JOIN event e ON e.id = i.event_id JOIN source a ON a.id = e.author_id
        UNION ALL
        SELECT 'attribute', i.document_id, i.id, i.label, i.state, i.score, i.was, e.at, e.seconds, a.name, e.kind
          FROM attribute i JOIN event e ON e.id = i.event_id JOIN source a ON a.id = e.author_id"""
"""What happened to every item, for people who read the file with other tools."""

STATEMENTS = (
    # About the project. STRICT: SQLite itself refuses values of another type, and its integrity check finds them.
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT",
    f"""CREATE TABLE label_schema (
        id INTEGER PRIMARY KEY, hash TEXT NOT NULL, body TEXT NOT NULL CHECK (body {_AN_OBJECT}),
        at TEXT NOT NULL CHECK (at {_A_TIME})
    ) STRICT""",
    "CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL) STRICT",
    # The log.
    f"""CREATE TABLE event (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL CHECK (at {_A_TIME}),
        author_id INTEGER NOT NULL REFERENCES source(id),
        kind TEXT NOT NULL,
        params TEXT NOT NULL,
        seconds REAL,
        target INTEGER REFERENCES event(id),
        hash TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX event_target ON event(target) WHERE target IS NOT NULL",
    "CREATE INDEX event_author ON event(author_id, id)",
    """CREATE TABLE change (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        event_id INTEGER NOT NULL REFERENCES event(id),
        document_id INTEGER NOT NULL REFERENCES document(id),
        body ANY NOT NULL,
        hash TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX change_event ON change(event_id)",
    "CREATE INDEX change_document ON change(document_id)",
    # Texts and what came with them. ANY: text with a lone surrogate is kept as bytes, see sqlite.to_sql.
    """CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        sha256 TEXT NOT NULL UNIQUE,
        doc_key ANY NOT NULL,
        title ANY NOT NULL,
        text ANY NOT NULL,
        doi TEXT, pmid TEXT, year INTEGER, venue TEXT
    ) STRICT""",
    "CREATE INDEX document_key ON document(doc_key)",
    "CREATE INDEX document_doi ON document(doi) WHERE doi IS NOT NULL",
    "CREATE INDEX document_pmid ON document(pmid) WHERE pmid IS NOT NULL",
    """CREATE TABLE token_table (
        document_id INTEGER PRIMARY KEY REFERENCES document(id), body BLOB NOT NULL
    ) STRICT""",
    f"""CREATE TABLE record (
        id INTEGER PRIMARY KEY,
        document_id INTEGER NOT NULL REFERENCES document(id),
        source_id INTEGER NOT NULL REFERENCES source(id),
        event_id INTEGER NOT NULL REFERENCES event(id),
        doc_key ANY NOT NULL,
        fields TEXT NOT NULL CHECK (fields {_AN_OBJECT}),
        warnings TEXT NOT NULL CHECK (warnings {_AN_ARRAY})
    ) STRICT""",
    "CREATE UNIQUE INDEX record_once ON record(document_id, source_id, doc_key)",
    # What one source said about one document, as it said it.
    f"""CREATE TABLE run (
        id TEXT PRIMARY KEY,
        source_id INTEGER NOT NULL REFERENCES source(id),
        event_id INTEGER NOT NULL REFERENCES event(id),
        model_name TEXT NOT NULL,
        model_hash TEXT NOT NULL,
        settings TEXT NOT NULL CHECK (settings {_AN_OBJECT}),
        started TEXT NOT NULL CHECK (started {_A_TIME}),
        finished TEXT CHECK (finished {_A_TIME})
    ) WITHOUT ROWID, STRICT""",
    """CREATE TABLE annotation_set (
        id INTEGER PRIMARY KEY,
        document_id INTEGER NOT NULL REFERENCES document(id),
        source_id INTEGER NOT NULL REFERENCES source(id),
        event_id INTEGER NOT NULL REFERENCES event(id),
        hash TEXT NOT NULL,
        body BLOB NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX annotation_set_once ON annotation_set(document_id, source_id, hash)",
    "CREATE INDEX annotation_set_source ON annotation_set(source_id, document_id)",
    # State.
    """CREATE TABLE progress (
        document_id INTEGER PRIMARY KEY REFERENCES document(id),
        entities TEXT NOT NULL,
        relations TEXT NOT NULL,
        coreference TEXT NOT NULL,
        flagged INTEGER NOT NULL,
        note TEXT NOT NULL,
        warned INTEGER NOT NULL,
        covered TEXT NOT NULL DEFAULT '[]'
    ) STRICT""",
    "CREATE INDEX progress_flagged ON progress(document_id) WHERE flagged",
    f"""CREATE TABLE entity (
        document_id INTEGER NOT NULL REFERENCES progress(document_id),
        id TEXT NOT NULL,
        char_start INTEGER NOT NULL,
        char_end INTEGER NOT NULL,
        fragments TEXT,
        label TEXT NOT NULL, {_ITEM}
        alternatives TEXT,
        surface_id INTEGER NOT NULL REFERENCES surface(id),
        PRIMARY KEY (document_id, id)
    ) WITHOUT ROWID, STRICT""",
    "CREATE INDEX entity_surface ON entity(surface_id, document_id, state)",
    f"""CREATE TABLE relation (
        document_id INTEGER NOT NULL REFERENCES progress(document_id),
        id TEXT NOT NULL,
        head TEXT NOT NULL,
        tail TEXT NOT NULL,
        label TEXT NOT NULL, {_ITEM}
        alternatives TEXT,
        PRIMARY KEY (document_id, id),
        FOREIGN KEY (document_id, head) REFERENCES entity(document_id, id) DEFERRABLE INITIALLY DEFERRED,
        FOREIGN KEY (document_id, tail) REFERENCES entity(document_id, id) DEFERRABLE INITIALLY DEFERRED
    ) WITHOUT ROWID, STRICT""",
    "CREATE INDEX relation_head ON relation(document_id, head)",
    "CREATE INDEX relation_tail ON relation(document_id, tail)",
    """CREATE TABLE cluster (
        document_id INTEGER NOT NULL REFERENCES progress(document_id),
        id TEXT NOT NULL,
        score REAL,
        state TEXT NOT NULL,
        source_id INTEGER NOT NULL REFERENCES source(id),
        event_id INTEGER NOT NULL,
        PRIMARY KEY (document_id, id)
    ) WITHOUT ROWID, STRICT""",
    f"""CREATE TABLE link (
        document_id INTEGER NOT NULL,
        cluster_id TEXT NOT NULL,
        entity_id TEXT NOT NULL, {_ITEM}
        PRIMARY KEY (document_id, cluster_id, entity_id),
        FOREIGN KEY (document_id, cluster_id) REFERENCES cluster(document_id, id) DEFERRABLE INITIALLY DEFERRED,
        FOREIGN KEY (document_id, entity_id) REFERENCES entity(document_id, id) DEFERRABLE INITIALLY DEFERRED
    ) WITHOUT ROWID, STRICT""",
    "CREATE INDEX link_entity ON link(document_id, entity_id)",
    ATTRIBUTES,
    # Derived.
    "CREATE TABLE surface (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT",
    """CREATE TABLE summary (
        document_id INTEGER PRIMARY KEY,
        entities INTEGER NOT NULL,
        relations INTEGER NOT NULL,
        clusters INTEGER NOT NULL,
        items INTEGER NOT NULL,
        undecided INTEGER NOT NULL,
        decided INTEGER NOT NULL,
        uncertainty REAL NOT NULL,
        least_score REAL,
        greatest_score REAL,
        disagreements INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX summary_uncertainty ON summary(uncertainty)",
    "CREATE INDEX summary_disagreements ON summary(disagreements) WHERE disagreements > 0",
    """CREATE TABLE tally (
        document_id INTEGER NOT NULL,
        kind TEXT NOT NULL, label TEXT NOT NULL, state TEXT NOT NULL, number INTEGER NOT NULL,
        PRIMARY KEY (document_id, kind, label, state)
    ) WITHOUT ROWID, STRICT""",
    # The document before the state: documents of a label come in their order, without sorting.
    "CREATE INDEX tally_label ON tally(label, document_id, state)",
    "CREATE INDEX tally_state ON tally(state, document_id)",
    """CREATE VIRTUAL TABLE document_words USING fts5(
        title, text, content='document', content_rowid='id', tokenize="unicode61 remove_diacritics 2"
    )""",
    """CREATE TRIGGER document_words_insert AFTER INSERT ON document BEGIN
        INSERT INTO document_words(rowid, title, text) VALUES (new.id, new.title, new.text);
    END""",
    """CREATE VIRTUAL TABLE surface_words USING fts5(
        text, content='surface', content_rowid='id', tokenize="unicode61 remove_diacritics 2"
    )""",
    """CREATE TRIGGER surface_words_insert AFTER INSERT ON surface BEGIN
        INSERT INTO surface_words(rowid, text) VALUES (new.id, new.text);
    END""",
    DECISIONS,
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make an empty project of a new file, inside the caller's transaction."""
    for statement in STATEMENTS:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def find_alterations(connection: sqlite3.Connection, *, earlier: bool = False) -> list[str]:
    """What is in a file's structure against sciextract's own: changed, missing, or put upon its tables.

    Args:
        connection: Of the project.
        earlier: Whether the file has an earlier version: then only what was put upon its tables.

    Tables and views of other programs that touch nothing of sciextract's are none of its business, nor are
    plain indexes: they change no result.
    """
    own, there = _own_statements(), _statements(connection)
    missing = () if earlier else own.keys() - there.keys()
    wrong = [f"the {kind} {name} is missing" for kind, name, _ in missing]
    for (kind, name, table), sql in there.items():
        if (kind, name, table) in own:
            # Each version of SQLite makes the tables behind a full-text index in its own words.
            shadow = name.startswith(("document_words", "surface_words"))
            if not (shadow or earlier or _are_alike(own[kind, name, table], sql)):
                wrong.append(f"the {kind} {name} differs from the schema of sciextract")
        elif kind == "index" and ("table", table, table) in own:
            if not _PLAIN_INDEX.fullmatch(" ".join(sql.split())):
                remove = 'DROP INDEX "{}"'.format(name.replace('"', '""'))
                wrong.append(f"the index {name} is not part of sciextract's; {remove} removes it")
        elif (
            kind == "trigger"
            or ("table", table, table) in own
            or ("references" in sql.casefold() and kind == "table")
        ):
            wrong.append(f"the {kind} {name} is not part of the schema of sciextract")
    return wrong


@cache
def _own_statements() -> dict[tuple[str, str, str], str]:
    with closing(sqlite3.connect(":memory:")) as made:
        create_tables(made)
        return _statements(made)


def _statements(connection: sqlite3.Connection) -> dict[tuple[str, str, str], str]:
    """How everything in a file is made, by its type, its name, and the table that it is upon."""
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    )
    return {
        (kind, name, table): str(sql)
        for kind, name, table, sql in rows
        if not (kind == "table" and name.startswith("sqlite_"))
    }


def _are_alike(own: str, there: str) -> bool:
    """Whether two statements differ in white space at most, as where a column was added later."""
    plain = (re.sub(r"\s*([,()])\s*", r"\1", " ".join(sql.split())) for sql in (own, there))
    return own == there or len({*plain}) == 1
