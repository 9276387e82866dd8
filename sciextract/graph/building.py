"""The build: read abstracts into facts, then merge their names, match these in the texts, and derive nodes and edges."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sciextract.errors import ExitCode, FormatError, UsageError
from sciextract.formats.base import BadRecord
from sciextract.graph.database import (
    DERIVED,
    DERIVED_TABLES,
    open_graph,
    property_of,
    run_statements,
    set_property,
    transaction,
)
from sciextract.graph.derive import DeriveSettings, derive
from sciextract.graph.extraction import Extraction
from sciextract.graph.matching import match_names
from sciextract.graph.merging import merge_names
from sciextract.graph.reading import Reading
from sciextract.graph.repairs import repair_names, repair_nodes
from sciextract.graph.vocabulary import keep_vocabulary

_BATCH = 500
# New names belong all over the sorted names, so that each transaction rewrites a large part of a large graph.
_SECONDS_A_TRANSACTION = 10.0


@dataclass(frozen=True, slots=True)
class GraphTotals:
    """What is in a graph.

    Attributes:
        documents: Abstracts.
        without_year: Abstracts whose year is not known.
        nodes: Things.
        edges: Typed, directed pairs of things.
        nameless: Relations left out because an argument has no name.
        loops: Relations left out because both arguments are one thing.
        unlikely: Relations left out because their probability is below the least one.
        ambiguous: Acronyms with several expansions.
        linked: Nodes that the vocabulary has an identifier for.
    """

    documents: int
    without_year: int
    nodes: int
    edges: int
    nameless: int
    loops: int
    unlikely: int
    ambiguous: int
    linked: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did.

    Attributes:
        changes: To the abstracts.
        bad: Records that could not be read.
        totals: What is in the graph now.
        reading_seconds: For reading and keeping extractions.
        deriving_seconds: For nodes and edges; 0 where nothing had changed.
    """

    changes: Changes
    bad: int
    totals: GraphTotals
    reading_seconds: float
    deriving_seconds: float

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or nothing usable."""
        changes = self.changes
        if not self.bad:
            return ExitCode.DONE
        usable = changes.added + changes.replaced + changes.known
        return ExitCode.PARTIAL if usable else ExitCode.FAILED

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return {
            **asdict(self.changes),
            "bad": self.bad,
            "graph": asdict(self.totals),
            "reading_seconds": round(self.reading_seconds, 3),
            "deriving_seconds": round(self.deriving_seconds, 3),
        }


def _ignore(*_: object) -> None:
    """The default of a listener."""


@dataclass(frozen=True, slots=True)
class BuildListener:
    """Functions that a build calls.

    Attributes:
        bad_record: Called with the error of a record that could not be read; the build continues.
        progress: Called with the number of abstracts read.
        kept: Called with the number of abstracts that are on disk or were known: a killed build keeps them.
        deriving: Called when everything is read; nodes and edges follow.
    """

    bad_record: Callable[[FormatError], None] = _ignore
    progress: Callable[[int], None] = _ignore
    kept: Callable[[int], None] = _ignore
    deriving: Callable[[], None] = _ignore


def build_graph(
    graph: Path,
    reading: Reading,
    derive_settings: DeriveSettings | None = None,
    listener: BuildListener | None = None,
) -> BuildReport:
    """Add abstracts to a graph file, which is created if it does not exist.

    After a build that was killed, the next one continues with what was kept.

    Args:
        graph: The file.
        reading: The input.
        derive_settings: How facts become nodes and edges, those of earlier builds too; the default when ``None``.
        listener: What is called on the way.

    Raises:
        GraphError: The file cannot be used, or the disk is full.
        InputMissingError: An input does not exist.
        FormatError: The only input is unusable.
        UsageError: The graph was built with other generic labels, or another minimum score.
    """
    settings, listener = derive_settings or DeriveSettings(), listener or BuildListener()
    with open_graph(graph, write=True) as connection:
        started = time.monotonic()
        # The same counts in all builds of one graph, or its numbers would mean two things.
        counted = reading.counted
        empty = not connection.execute("SELECT 1 FROM document LIMIT 1").fetchone()
        generic = ", ".join(sorted(counted.generic))
        for name, wanted in (("generic", generic), ("least-score", repr(counted.least_score))):
            found = property_of(connection, name)
            if empty:
                set_property(connection, name, wanted)
            elif found != wanted:
                problem = (
                    f"--{name} {wanted or 'nothing'}: the graph was built with {found or 'none'}"
                )
                raise UsageError(problem, "use the same value, or build into another file")
        last = int(property_of(connection, "build") or 0)
        # A build that was killed goes on under its own number: what it wrote is not older than what comes now.
        again = last and property_of(connection, "state") == "unfinished"
        facts = Facts(connection, last if again else last + 1)
        bad = _read(connection, reading, facts, listener)
        given = settings.vocabulary
        if given and given.digest != property_of(connection, "vocabulary"):
            with transaction(connection):
                set_property(connection, "state", "unfinished")
                keep_vocabulary(connection, given.terms)
                set_property(connection, "vocabulary", given.digest)
        read, seconds = time.monotonic(), 0.0
        same = property_of(connection, "understanding") == settings.to_json()
        if property_of(connection, "state") != "finished" or not same:
            listener.deriving()
            set_property(connection, "state", "unfinished")
            make_nodes_and_edges(connection, settings)
            set_property(connection, "understanding", settings.to_json())
            seconds = time.monotonic() - read
        return BuildReport(facts.changes, bad, totals_of(connection), read - started, seconds)


def _read(
    connection: sqlite3.Connection, reading: Reading, facts: Facts, listener: BuildListener
) -> int:
    """Facts in transactions of some seconds, the first of a single batch; the number of bad records."""
    bad = 0

    def usable() -> Iterator[Extraction]:
        nonlocal bad
        for item in reading.extractions():
            if isinstance(item, BadRecord):
                bad += 1
                listener.bad_record(item.error)
            else:
                yield item

    extractions = usable()
    batches = iter(lambda: list(islice(extractions, _BATCH)), [])
    seconds = 0.0
    for batch in batches:
        end = time.monotonic() + seconds
        with transaction(connection):
            while batch:
                facts.write(batch)
                listener.progress(facts.changes.total)
                batch = next(batches, []) if time.monotonic() < end else []
        seconds = _SECONDS_A_TRANSACTION
        listener.kept(facts.changes.total)
    return bad


def make_nodes_and_edges(connection: sqlite3.Connection, settings: DeriveSettings) -> None:
    """Make nodes and edges of all facts anew. What is killed in between is done by the next build.

    Args:
        connection: The graph, open for writing.
        settings: How facts become nodes and edges.
    """
    with transaction(connection):  # on its own, so that the freed pages need no second copy
        for table in DERIVED_TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    with transaction(connection):
        run_statements(connection, DERIVED)
        merge_names(connection, settings.acronym_share)
        repair_names(connection)
        match_names(connection)
        derive(connection, settings.symmetric)
        set_property(connection, "state", "finished")
    connection.execute("PRAGMA optimize")


def repair_graph(graph: Path, change: Callable[[sqlite3.Connection], bool]) -> None:
    """Change the repairs of a graph, and what follows from them.

    Args:
        graph: The file.
        change: What to do, in a transaction; where it raises, nothing is changed. It tells whether nodes and edges
            have to be made anew, which takes as long as at the end of a build.

    Raises:
        GraphError: The file cannot be used, or its last build was not finished.
    """
    with open_graph(graph):  # to write opens and makes what is not there or unfinished
        pass
    with open_graph(graph, write=True) as connection:
        with transaction(connection):
            anew = change(connection)
            repair_nodes(connection)
            if anew:
                set_property(connection, "state", "unfinished")
        if anew:
            settings = DeriveSettings.from_json(property_of(connection, "understanding"))
            make_nodes_and_edges(connection, settings)


def totals_of(connection: sqlite3.Connection) -> GraphTotals:
    """Counts of a finished graph."""
    row = connection.execute(
        """SELECT count(*), coalesce(sum(year IS NULL), 0),
            (SELECT count(*) FROM node), (SELECT count(*) FROM edge),
            coalesce(sum(nameless), 0), coalesce(sum(loops), 0), coalesce(sum(unlikely), 0),
            (SELECT count(DISTINCT short) FROM ambiguous), (SELECT count(vocabulary_id) FROM node)
        FROM document"""
    ).fetchone()
    return GraphTotals(*row)


_MOST_REMEMBERED = 1 << 19
# SQLite allows 32,766 parameters; 50 or 5,000 at once are as fast.
_AT_ONCE = 500


class Numbers:
    """The numbers of strings in one table, most of them remembered.

    Args:
        connection: The graph.
        table: ``name``, ``form``, ``label`` or ``model``.
        column: Where the string stands.
        beside: The column that :meth:`add` fills next to the string, if there is one.
    """

    def __init__(
        self, connection: sqlite3.Connection, table: str, column: str, beside: str = ""
    ) -> None:
        self._connection = connection
        columns, marks = (f"{column}, {beside}", "?, ?") if beside else (column, "?")
        self._insert = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"
        self._select = f"SELECT {column}, id FROM {table} WHERE {column} IN "
        self._known: dict[str, int] = {}

    def __getitem__(self, string: str) -> int:
        return self._known[string]

    def add(self, strings: Mapping[str, object | None]) -> None:
        """Give numbers to the strings (with what stands next to each), so that they can be asked for."""
        wanted = sorted(strings.keys() - self._known.keys())
        self._look_up(wanted)
        fresh = [each for each in wanted if each not in self._known]
        rows = [(each, strings[each]) if "?, ?" in self._insert else (each,) for each in fresh]
        self._connection.executemany(self._insert, rows)
        self._look_up(fresh)

    def trim(self) -> None:
        """Forget the strings where they have become too many; for the time between two batches."""
        if len(self._known) > _MOST_REMEMBERED:
            self._known.clear()

    def _look_up(self, strings: list[str]) -> None:
        for start in range(0, len(strings), _AT_ONCE):
            some = strings[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            self._known.update(self._connection.execute(f"{self._select} ({marks})", some))


@dataclass(slots=True)
class Changes:
    """What a build did to the facts.

    Attributes:
        added: Abstracts that are new.
        replaced: Abstracts whose text, model or annotations are others than before.
        known: Abstracts that were there already, just so.
    """

    added: int = 0
    replaced: int = 0
    known: int = 0

    @property
    def total(self) -> int:
        """Abstracts seen."""
        return self.added + self.replaced + self.known


class Facts:
    """Writes extractions: new ones are added, changed ones replaced, known ones left alone.

    Args:
        connection: The graph, open for writing.
        build: The number of this build: a name that occurs twice in one build means two abstracts, one that
            comes again in a later build means that the abstract has changed.
    """

    def __init__(self, connection: sqlite3.Connection, build: int) -> None:
        self.changes = Changes()
        self.build = build
        self._connection = connection
        self._names = Numbers(connection, "name", "key", "folded")
        self._forms = Numbers(connection, "form", "surface", "spaced")
        self._labels = Numbers(connection, "label", "name")
        self._models = Numbers(connection, "model", "name")
        last = connection.execute("SELECT coalesce(max(id), 0) FROM document").fetchone()
        self._last = int(last[0])

    def write(self, extractions: Iterable[Extraction]) -> None:
        """Bring extractions in; the caller holds a transaction."""
        for numbers in (self._names, self._forms, self._labels, self._models):
            numbers.trim()
        # Numbers ascend: rows in this order fill pages one after the other.
        fresh = [
            (number, each)
            for each in extractions
            if (number := self._number_if_fresh(each)) is not None
        ]
        if fresh:
            set_property(self._connection, "state", "unfinished")
            set_property(self._connection, "build", str(self.build))
            self._insert(fresh)

    def _number_if_fresh(self, extraction: Extraction) -> int | None:
        """The number of its document where there is something to write; what it replaces is removed."""
        execute, digest = self._connection.execute, bytes.fromhex(extraction.text_sha256)
        same_text = execute(
            "SELECT id, fingerprint, build FROM document WHERE text_sha256 = ?", (digest,)
        ).fetchone()
        if same_text and (same_text[1] == extraction.fingerprint or same_text[2] == self.build):
            self.changes.known += 1
            return None
        former = [same_text[:1]] if same_text else []
        if not former and self.build > 1:
            former = execute(
                "SELECT id FROM document WHERE doc_key = ? AND build < ?",
                (extraction.doc_key, self.build),
            ).fetchall()
        for document in former:
            for table in (
                "text",
                "paper",
                "naming",
                "coreferent",
                "evidence",
                "expansion",
                "reported",
            ):
                execute(f"DELETE FROM {table} WHERE document = ?", document)
            execute("DELETE FROM document WHERE id = ?", document)
        self.changes.replaced += bool(former)
        self.changes.added += not former
        self._models.add({extraction.model: None})
        self._last += 1
        # Takes the place now: the same text may come again within this batch.
        execute(
            """INSERT INTO document
            (id, doc_key, text_sha256, fingerprint, model, year, build, nameless, loops, unlikely)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                *(self._last, extraction.doc_key, digest, extraction.fingerprint),
                *(self._models[extraction.model], extraction.paper.year, self.build),
                *(extraction.nameless, extraction.loops, extraction.unlikely),
            ),
        )
        return self._last

    def _insert(self, fresh: Sequence[tuple[int, Extraction]]) -> None:
        names, forms, labels = self._names, self._forms, self._labels
        keys, types, spaced = set[str](), set[str](), dict[str, str]()
        for _, each in fresh:
            spaced.update(each.spaced)
            keys.update([naming.key for naming in each.namings])
            keys.update([key for link in each.coreferents for key in link])
            keys.update([key for short, long, _ in each.expansions for key in (short, long)])
            keys.update([key for value in each.values for key in value[:3] if key])
            types.update([naming.label for naming in each.namings])
            types.update([relation.label for relation in each.evidence])
        acronyms = {key: key.casefold() for key in keys if key != key.casefold()}
        # Words in lower case first: the row of an acronym holds the number of its own.
        names.add(dict.fromkeys([*keys - acronyms.keys(), *acronyms.values()]))
        names.add({key: names[folded] for key, folded in acronyms.items()})
        forms.add(spaced)
        labels.add(dict.fromkeys(types))
        texts, papers, namings, links, evidence, expansions, reported = rows = [
            list[tuple[object, ...]]() for _ in range(7)
        ]
        for document, each in fresh:
            texts.append((document, each.content))
            paper, authors = each.paper, json.dumps(each.paper.authors, ensure_ascii=False)
            papers.append((document, paper.title, paper.venue, paper.doi, paper.pmid, authors))
            for (key, surface, label, rules), mentions in each.namings.items():
                known = (names[key], forms[surface], labels[label])
                namings.append((document, *known, rules, mentions))
            links += [(document, *[names[key] for key in link]) for link in each.coreferents]
            for number, (head, tail, label, *rest) in enumerate(each.evidence):
                evidence.append((document, number, names[head], names[tail], labels[label], *rest))
            for number, value in enumerate(each.values):
                things = [names[key] if key else None for key in value[:3]]
                places = json.dumps(value.places)
                reported.append((document, number, *things, *value[3:-1], places))
            expansions += [
                (document, names[short], names[long], forms[wording])
                for short, long, wording in each.expansions
            ]
        for statement, some in zip(_INSERTS, rows, strict=True):
            self._connection.executemany(statement, some)


_INSERTS = (
    "INSERT INTO text VALUES (?, ?)",
    "INSERT INTO paper VALUES (?, ?, ?, ?, ?, ?)",
    "INSERT INTO naming VALUES (?, ?, ?, ?, ?, ?)",
    "INSERT OR IGNORE INTO coreferent VALUES (?, ?, ?, ?)",
    "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT OR IGNORE INTO expansion VALUES (?, ?, ?, ?)",
    "INSERT INTO reported VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
)
