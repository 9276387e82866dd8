"""The build: contributions in batches into the facts, then nodes and edges from all facts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sciextract.errors import ExitCode, FormatError, UsageError
from sciextract.formats.base import BadRecord
from sciextract.graph.contribution import Contribution, CountSettings
from sciextract.graph.contributions import Reading
from sciextract.graph.database import open_graph, property_of, set_property, transaction
from sciextract.graph.derive import DeriveSettings, derive
from sciextract.graph.facts import Changes, Facts
from sciextract.graph.vocabulary import keep_vocabulary

_BATCH = 500
_SECONDS_A_TRANSACTION = 10.0


@dataclass(frozen=True, slots=True)
class Totals:
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
        reading_seconds: For reading and keeping contributions.
        deriving_seconds: For nodes and edges; 0 where nothing had changed.
    """

    changes: Changes
    bad: int
    totals: Totals
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
class Listener:
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
    listener: Listener | None = None,
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
    with open_graph(graph, write=True) as connection:
        how = derive_settings or DeriveSettings()
        return _Build(connection, how, listener or Listener()).run(reading)


class _Build:
    def __init__(
        self, connection: sqlite3.Connection, derive_settings: DeriveSettings, listener: Listener
    ) -> None:
        self._connection = connection
        self._settings = derive_settings
        self._listener = listener
        self._bad = 0

    def run(self, reading: Reading) -> BuildReport:
        started = time.monotonic()
        self._check_counted(reading.counted)
        facts = Facts(self._connection, self._number())
        self._keep(facts, _batches(self._usable(reading.contributions())))
        self._keep_vocabulary()
        read = time.monotonic()
        derived = self._derive_if_needed()
        seconds = time.monotonic() - read if derived else 0.0
        return BuildReport(
            facts.changes, self._bad, totals_of(self._connection), read - started, seconds
        )

    def _check_counted(self, counted: CountSettings) -> None:
        """The same in all builds, or counts would mean two things."""
        empty = not self._connection.execute("SELECT 1 FROM document LIMIT 1").fetchone()
        given = {
            "generic": ", ".join(sorted(counted.generic)),
            "least-score": repr(counted.least_score),
        }
        for name, wanted in given.items():
            found = property_of(self._connection, name)
            if empty:
                set_property(self._connection, name, wanted)
            elif found != wanted:
                problem = (
                    f"--{name} {wanted or 'nothing'}: the graph was built with {found or 'none'}"
                )
                raise UsageError(problem, "use the same value, or build into another file")

    def _keep_vocabulary(self) -> None:
        given = self._settings.vocabulary
        if given and given.digest != property_of(self._connection, "vocabulary"):
            with transaction(self._connection):
                set_property(self._connection, "state", "unfinished")
                keep_vocabulary(self._connection, given.terms)
                set_property(self._connection, "vocabulary", given.digest)

    def _number(self) -> int:
        """The number of an unfinished build again, or the next one."""
        last = int(property_of(self._connection, "build") or 0)
        unfinished = property_of(self._connection, "state") == "unfinished"
        return last if unfinished and last else last + 1

    def _usable(self, items: Iterable[Contribution | BadRecord]) -> Iterator[Contribution]:
        for item in items:
            if isinstance(item, BadRecord):
                self._bad += 1
                self._listener.bad_record(item.error)
            else:
                yield item

    def _keep(self, facts: Facts, batches: Iterator[list[Contribution]]) -> None:
        """In transactions of some seconds, the first of a single batch.

        New names belong all over the sorted names, so that each transaction rewrites a large part of a large graph.
        """
        seconds = 0.0
        for batch in batches:
            end = time.monotonic() + seconds
            with transaction(self._connection):
                self._write(facts, batch)
                while time.monotonic() < end and (further := next(batches, None)):
                    self._write(facts, further)
            seconds = _SECONDS_A_TRANSACTION
            self._listener.kept(facts.changes.total)

    def _write(self, facts: Facts, batch: list[Contribution]) -> None:
        before = facts.changes.added + facts.changes.replaced
        facts.write(batch)
        if facts.changes.added + facts.changes.replaced > before:
            set_property(self._connection, "state", "unfinished")
            set_property(self._connection, "build", str(facts.build))
        self._listener.progress(facts.changes.total)

    def _derive_if_needed(self) -> bool:
        wanted = self._settings.to_json()
        known = property_of(self._connection, "understanding")
        if property_of(self._connection, "state") == "finished" and known == wanted:
            return False
        self._listener.deriving()
        set_property(self._connection, "state", "unfinished")
        derive(self._connection, self._settings)
        set_property(self._connection, "understanding", wanted)
        return True


def totals_of(connection: sqlite3.Connection) -> Totals:
    """Counts of a finished graph."""
    documents, without_year, nameless, loops, unlikely = connection.execute(
        """SELECT count(*), coalesce(sum(year IS NULL), 0),
            coalesce(sum(nameless), 0), coalesce(sum(loops), 0), coalesce(sum(unlikely), 0)
        FROM document"""
    ).fetchone()
    (nodes,) = connection.execute("SELECT count(*) FROM node").fetchone()
    (edges,) = connection.execute("SELECT count(*) FROM edge").fetchone()
    (ambiguous,) = connection.execute("SELECT count(DISTINCT short) FROM ambiguous").fetchone()
    (linked,) = connection.execute("SELECT count(vocabulary_id) FROM node").fetchone()
    left_out = nameless, loops, unlikely
    return Totals(documents, without_year, nodes, edges, *left_out, ambiguous, linked)


def _batches(items: Iterable[Contribution]) -> Iterator[list[Contribution]]:
    batch: list[Contribution] = []
    for item in items:
        batch.append(item)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
