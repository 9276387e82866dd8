"""The build: read abstracts into facts, then merge their names, match these in the texts, and derive nodes and edges."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import chain, count, islice
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple

from sciextract import atomic
from sciextract.documents.bibliography import Bibliography
from sciextract.documents.papers import PaperIndex, PaperRecord, described_paper
from sciextract.errors import (
    NOTHING_CHANGED,
    ExitCode,
    FormatError,
    UsageError,
    explain_write_errors,
)
from sciextract.formats.base import BadRecord
from sciextract.graph.database import (
    DERIVED,
    VERSION,
    open_graph,
    property_of,
    run_statements,
    set_property,
    transaction,
    unpacked,
    version_of,
)
from sciextract.graph.derive import DeriveSettings, derive
from sciextract.graph.extraction import Extraction
from sciextract.graph.matching import match_names
from sciextract.graph.merging import merge_names
from sciextract.graph.reading import Reading
from sciextract.graph.repairs import (
    change_names,
    keep_repair,
    merge_synonyms,
    repair_nodes,
    repairs_of,
)

_BATCH = 500
# New names belong all over the sorted names, so that each transaction rewrites a large part of a large graph.
_SECONDS_A_TRANSACTION = 10.0


@dataclass(slots=True)
class Changes:
    """What a build did to the facts.

    Attributes:
        added: Abstracts that are new.
        replaced: Abstracts whose text, model or annotations are others than before.
        known: Abstracts that were there already, just so.
        again: Further texts of papers that were there already, of which the longest counts.
        bad: Records that could not be read.
    """

    added: int = 0
    replaced: int = 0
    known: int = 0
    again: int = 0
    bad: int = 0

    @property
    def usable(self) -> int:
        """Abstracts seen."""
        return self.added + self.replaced + self.known + self.again


class GraphTotals(NamedTuple):
    """What is in a graph.

    Attributes:
        documents: Abstracts.
        without_year: Abstracts whose year is not known.
        nodes: Things.
        edges: Typed, directed pairs of things.
        nameless: Relations left out because an argument has no name.
        loops: Relations left out because both arguments are one thing.
        unlikely: Relations left out because they are right too rarely.
        unnamed: Mentions left out because their words name nothing.
        ambiguous: Acronyms with several expansions.
    """

    documents: int
    without_year: int
    nodes: int
    edges: int
    nameless: int
    loops: int
    unlikely: int
    unnamed: int
    ambiguous: int


class FormerGraph(NamedTuple):
    """A graph of an earlier version, in whose place a new one was begun.

    Attributes:
        version: Its version.
        kept: Where it is now.
        documents: How many abstracts it has.
        repairs: How many repairs were taken over.
    """

    version: int
    kept: Path
    documents: int
    repairs: int


class BuildReport(NamedTuple):
    """What a build did.

    Attributes:
        changes: To the abstracts.
        totals: What is in the graph now.
        is_new: Whether nodes and edges were made; not where nothing had changed.
        former: What stood in the graph's place; ``None`` for nothing, or a graph of this version.
    """

    changes: Changes
    totals: GraphTotals
    is_new: bool
    former: FormerGraph | None = None

    @property
    def lacks_abstracts(self) -> bool:
        """Whether abstracts of the former graph are not in this one: their inputs were not given."""
        return self.former is not None and self.totals.documents < self.former.documents

    @property
    def exit_code(self) -> ExitCode:
        """Done, partly done, or nothing usable."""
        if not (self.changes.bad or self.lacks_abstracts):
            return ExitCode.DONE
        return ExitCode.PARTIAL if self.changes.usable else ExitCode.FAILED

    def to_json(self) -> dict[str, Any]:
        """The summary of ``--json``."""
        return {
            **asdict(self.changes),
            "graph": self.totals._asdict(),
            "former": self.former and {**self.former._asdict(), "kept": str(self.former.kept)},
        }


def _ignore(*_: object) -> None:
    """The default of a listener."""


class BuildListener(NamedTuple):
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
    keep_duplicates: bool = False,
) -> BuildReport:
    """Add abstracts to a graph file, which is created if it does not exist.

    After a build that was killed, the next one continues with what was kept. A graph of an earlier version, which holds
    names in other normal forms, is set aside; the new one begins with its repairs.

    Args:
        graph: The file.
        reading: The input.
        derive_settings: How facts become nodes and edges, those of earlier builds too; the default when ``None``.
        listener: What is called on the way.
        keep_duplicates: Whether every text counts, and not every paper.

    Raises:
        GraphError: The file cannot be used, or the disk is full.
        InputMissingError: An input does not exist.
        FormatError: The only input is unusable.
        UsageError: The graph was built with other generic labels or measurements, or another minimum score.
    """
    settings, listener = derive_settings or DeriveSettings(), listener or BuildListener()
    former = _set_aside_earlier(graph)
    with open_graph(graph, write=True) as connection:
        # The same counts in all builds of one graph, or its numbers would mean two things.
        counted = reading.counted
        empty = not connection.execute("SELECT 1 FROM document LIMIT 1").fetchone()
        generic = ", ".join(sorted(counted.generic))
        least = "of the model" if counted.least_score is None else repr(counted.least_score)
        measured = ", ".join(sorted(counted.measurements))
        properties = {"generic": generic, "least-score": least, "measurement": measured}
        for name, wanted in properties.items():
            if empty:
                set_property(connection, name, wanted)
            elif (found := property_of(connection, name)) != wanted:
                built = f"the graph was built with {found or 'none'}"
                hint = "use the same value, or build into another file"
                raise UsageError(f"--{name} {wanted or 'nothing'}: {built}", hint)
        last = int(property_of(connection, "build") or 0)
        # A build that was killed goes on under its own number: what it wrote is not older than what comes now.
        again = last and property_of(connection, "state") == "unfinished"
        facts = Facts(connection, last if again else last + 1)
        if keep_duplicates:
            facts.papers = None
        _read(connection, reading, facts, listener)
        same = property_of(connection, "understanding") == settings.to_json()
        if is_new := property_of(connection, "state") != "finished" or not same:
            listener.deriving()
            set_property(connection, "state", "unfinished")
            make_nodes_and_edges(connection, settings)
            set_property(connection, "understanding", settings.to_json())
        return BuildReport(facts.changes, totals_of(connection), is_new, former)


def _set_aside_earlier(graph: Path) -> FormerGraph | None:
    """Put an empty graph with the same repairs in the place of one of an earlier version, which is kept beside it."""
    if not graph.exists() or not graph.stat().st_size:
        return None
    with open_graph(graph, earlier=True) as connection:
        version, repairs = version_of(connection), repairs_of(connection)
        if version == VERSION:
            return None
        (documents,) = connection.execute("SELECT count(*) FROM document").fetchone()
    place = graph.with_name(f"{graph.name}.version-{version}")
    names = chain([place], (place.with_name(f"{place.name}-{number}") for number in count(2)))
    kept = next(name for name in names if not name.exists())
    problem = explain_write_errors(graph, "choose another file", kept=NOTHING_CHANGED)
    with problem, atomic.replacing(graph) as fresh:
        with open_graph(fresh, write=True) as connection, transaction(connection):
            for repair in repairs:
                keep_repair(connection, repair)
        shutil.copy2(graph, kept)
    return FormerGraph(version, kept, documents, len(repairs))


def _read(connection: Connection, reading: Reading, facts: Facts, listener: BuildListener) -> None:
    """Facts in transactions of some seconds, the first of a single batch."""
    changes, items = facts.changes, reading.extractions()
    batches = iter(lambda: list(islice(items, _BATCH)), [])
    seconds = 0.0
    for batch in batches:
        end = time.monotonic() + seconds
        with transaction(connection):
            while batch:
                for item in batch:
                    if isinstance(item, BadRecord):
                        changes.bad += 1
                        listener.bad_record(item.error)
                facts.write([item for item in batch if not isinstance(item, BadRecord)])
                listener.progress(changes.usable)
                batch = next(batches, []) if time.monotonic() < end else []
        seconds = _SECONDS_A_TRANSACTION
        listener.kept(changes.usable)


def make_nodes_and_edges(connection: Connection, settings: DeriveSettings) -> None:
    """Make nodes and edges of all facts anew. What is killed in between is done by the next build.

    Args:
        connection: The graph, open for writing.
        settings: How facts become nodes and edges.
    """
    with transaction(connection):  # on its own, so that the freed pages need no second copy
        for table in re.findall(r"CREATE TABLE (\w+)", "".join(DERIVED)):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    with transaction(connection):
        run_statements(connection, DERIVED)
        merge_names(connection)
        if settings.synonyms:
            merge_synonyms(connection)
        for repair in repairs_of(connection):
            change_names(connection, repair)
        match_names(connection)
        derive(connection, settings.symmetric)
        set_property(connection, "state", "finished")
    connection.execute("PRAGMA optimize")


def repair_graph(graph: Path, change: Callable[[Connection], bool]) -> None:
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


def totals_of(connection: Connection) -> GraphTotals:
    """Counts of a finished graph."""
    query = """SELECT count(*), coalesce(sum(year IS NULL), 0), (SELECT count(*) FROM node), (SELECT count(*) FROM edge),
        coalesce(sum(nameless), 0), coalesce(sum(loops), 0), coalesce(sum(unlikely), 0),
        coalesce(sum(unnamed), 0),
        (SELECT count(DISTINCT short) FROM ambiguous)
    FROM document"""
    return GraphTotals(*connection.execute(query).fetchone())


class Facts:
    """Writes extractions: new ones are added, changed ones replaced, known ones left alone.

    Args:
        connection: The graph, open for writing.
        build: The number of this build: a name that occurs twice in one build means two abstracts, one that
            comes again in a later build means that the abstract has changed.

    Attributes:
        papers: Those in the graph, to count each once; ``None`` counts every text.
    """

    def __init__(self, connection: Connection, build: int) -> None:
        self.changes = Changes()
        self._build = build
        self._connection = connection
        self.papers: PaperIndex | None = PaperIndex(self._load_paper, self._fill)
        self._fresh: dict[int, Extraction] = {}

    def write(self, extractions: Iterable[Extraction]) -> None:
        """Bring extractions in; the caller holds a transaction."""
        for extraction in extractions:
            if document := self._number_if_fresh(extraction):
                self._fresh[document] = extraction
        self._number_strings(self._fresh.values())
        for document, extraction in self._fresh.items():
            self._insert(document, extraction)
        self._fresh.clear()

    def _number_if_fresh(self, extraction: Extraction) -> int:
        """The number of its document, 0 where there is nothing to write; what it replaces is removed."""
        execute, digest = self._connection.execute, bytes.fromhex(extraction.text_sha256)
        query = "SELECT id, fingerprint, build FROM document WHERE text_sha256 = ?"
        same_text = execute(query, (digest,)).fetchone()
        if same_text and (same_text[1] == extraction.fingerprint or same_text[2] == self._build):
            self.changes.known += 1
            return 0
        former = [same_text[:1]] if same_text else []
        if not former and self._build > 1:
            older = "SELECT id FROM document WHERE doc_key = ? AND build < ?"
            former = execute(older, (extraction.doc_key, self._build)).fetchall()
        described = extraction.paper
        # Numbers of documents begin with 1.
        if not former and self.papers and (known := self.papers.find(_paper_of(extraction))):
            self.changes.again += 1
            described = self._complete(known, described)
            if not _paper_of(extraction).says_more_than(self._load_paper(known)):
                return 0
            former = [(known,)]
        else:
            self.changes.replaced += bool(former)
            self.changes.added += not former
        self._note_change()
        # Numbers ascend, also where the last document is replaced: rows in this order fill pages one after the other.
        (last,) = execute("SELECT coalesce(max(id), 0) FROM document").fetchone()
        for document in former:
            for table in _OF_DOCUMENTS:
                execute(f"DELETE FROM {table} WHERE document = ?", document)
            execute("DELETE FROM document WHERE id = ?", document)
            self._fresh.pop(document[0], None)
        row = (last + 1, extraction.doc_key, digest, extraction.fingerprint, self._build)
        counts = (extraction.nameless, extraction.loops, extraction.unlikely, extraction.unnamed)
        # Takes the place now: the same text may come again within this batch.
        values = (*row, *counts, *_columns_of(described))
        execute(f"INSERT INTO document VALUES ({', '.join('?' * len(values))})", values)
        if self.papers:
            self.papers.add(last + 1, _paper_of(extraction))
        return int(last) + 1

    def _note_change(self) -> None:
        set_property(self._connection, "state", "unfinished")
        set_property(self._connection, "build", str(self._build))

    def _complete(self, document: int, described: Bibliography) -> Bibliography:
        """What two records tell of a paper, the one that was there first preferred."""
        query = f"SELECT {_DESCRIBING} FROM document WHERE id = ?"
        known = _bibliography_in(self._connection.execute(query, (document,)).fetchone())
        pairs = zip(astuple(known), astuple(described), strict=True)
        both = Bibliography(*[former or added for former, added in pairs])
        if both != known:
            self._note_change()
            update = f"UPDATE document SET ({_DESCRIBING}) = (?, ?, ?, ?, ?, ?) WHERE id = ?"
            self._connection.execute(update, (*_columns_of(both), document))
        return both

    def _load_paper(self, document: int) -> PaperRecord | None:
        return next((paper for _, paper in self._papers_from("WHERE d.id = ?", document)), None)

    def _fill(self, papers: PaperIndex) -> None:
        for document, paper in self._papers_from():
            papers.add(document, paper)

    def _papers_from(self, where: str = "", *values: int) -> Iterator[tuple[int, PaperRecord]]:
        query = f"""SELECT d.id, d.doc_key, t.content, {_DESCRIBING} FROM document d
        LEFT JOIN text t ON t.document = d.id {where}"""
        for document, doc_key, content, *columns in self._connection.execute(query, values):
            # A text of this batch is not written yet.
            text = unpacked(content or self._fresh[document].content)
            yield document, described_paper(_bibliography_in(columns), doc_key, text)

    def _number_strings(self, extractions: Iterable[Extraction]) -> None:
        """Give numbers to names, forms and labels that have none, in alphabetical order."""
        keys, labels, spaced = set[str](), set[str](), dict[str, str]()
        for extraction in extractions:
            spaced.update(extraction.spaced)
            keys.update([naming.key for naming in extraction.namings])
            keys.update([key for link in extraction.coreferents for key in link])
            keys.update([key for expansion in extraction.expansions for key in expansion[:2]])
            keys.update([key for value in extraction.values for key in value[:3] if key])
            labels.update([naming.label for naming in extraction.namings])
            labels.update([relation.label for relation in extraction.evidence])
        acronyms = {key: key.casefold() for key in keys if key != key.casefold()}
        words = {*keys - acronyms.keys(), *acronyms.values()}
        many = self._connection.executemany
        # Words in lower case first: the row of an acronym holds the number of its own.
        many("INSERT OR IGNORE INTO name (key) VALUES (?)", sorted(zip(words)))
        many(_ACRONYM, sorted(acronyms.items()))
        many("INSERT OR IGNORE INTO form (surface, spaced) VALUES (?, ?)", sorted(spaced.items()))
        many("INSERT OR IGNORE INTO label (name) VALUES (?)", sorted(zip(labels)))

    def _insert(self, document: int, facts: Extraction) -> None:
        many = self._connection.executemany
        text = document, facts.content, json.dumps(facts.sentences)
        self._connection.execute("INSERT INTO text VALUES (?, ?, ?)", text)
        many(_NAMING, [(document, *naming, mentions) for naming, mentions in facts.namings.items()])
        many(_COREFERENT, [(document, *link) for link in facts.coreferents])
        many(_EVIDENCE, [(document, number, *row) for number, row in enumerate(facts.evidence)])
        many(_EXPANSION, [(document, *expansion) for expansion in facts.expansions])
        for number, value in enumerate(facts.values):
            row = (document, number, *value[:-1], json.dumps(value.places))
            self._connection.execute(_REPORTED, row)


def _paper_of(extraction: Extraction) -> PaperRecord:
    return described_paper(extraction.paper, extraction.doc_key, unpacked(extraction.content))


def _bibliography_in(columns: Sequence[Any]) -> Bibliography:
    doi, pmid, title, year, venue, authors = columns
    return Bibliography(doi, pmid, title, year, venue, tuple(json.loads(authors)))


def _columns_of(known: Bibliography) -> tuple[Any, ...]:
    return *astuple(known)[:-1], json.dumps(known.authors, ensure_ascii=False)


_DESCRIBING = "doi, pmid, title, year, venue, authors"
_OF_DOCUMENTS = ("text", "naming", "coreferent", "evidence", "expansion", "reported")
# Strings stand in tables of their own; an empty one, which has no row there, becomes NULL.
_NAME = "(SELECT id FROM name WHERE key = ?)"
_FORM = "(SELECT id FROM form WHERE surface = ?)"
_LABEL = "(SELECT id FROM label WHERE name = ?)"
_ACRONYM = f"INSERT OR IGNORE INTO name (key, folded) VALUES (?, {_NAME})"
_NAMING = f"INSERT INTO naming VALUES (?, {_NAME}, {_FORM}, {_LABEL}, ?, ?)"
_COREFERENT = f"INSERT OR IGNORE INTO coreferent VALUES (?, {_NAME}, {_NAME}, {_NAME})"
_EVIDENCE = f"INSERT INTO evidence VALUES (?, ?, {_NAME}, {_NAME}, {_LABEL}, ?, ?, ?, ?, ?, ?, ?)"
_EXPANSION = f"INSERT OR IGNORE INTO expansion VALUES (?, {_NAME}, {_NAME}, {_FORM})"
_REPORTED = f"INSERT INTO reported VALUES (?, ?, {_NAME}, {_NAME}, {_NAME}, ?, ?, ?, ?, ?, ?, ?)"
