"""Contributions into the tables of facts: new ones are added, changed ones replaced, known ones left alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sciextract.documents.bibliography import Bibliography
from sciextract.graph.contribution import Contribution

_MOST_REMEMBERED = 1 << 19
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
            self._known.update(self._found(some))

    def _found(self, some: list[str]) -> Iterable[tuple[str, int]]:
        marks = ",".join("?" * len(some))
        return self._connection.execute(f"{self._select} ({marks})", some)


_FACTS_OF_A_DOCUMENT = ("text", "paper", "naming", "coreferent", "evidence", "expansion")
_DOCUMENT = """INSERT INTO document (id, doc_key, text_sha256, fingerprint, model, year, build, nameless, loops, unlikely)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_PAPER = "INSERT INTO paper VALUES (?, ?, ?, ?, ?, ?)"
_NAMING = "INSERT INTO naming VALUES (?, ?, ?, ?, ?, ?)"
_COREFERENT = "INSERT OR IGNORE INTO coreferent VALUES (?, ?, ?, ?)"
_EVIDENCE = "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_EXPANSION = "INSERT OR IGNORE INTO expansion VALUES (?, ?, ?, ?)"

_Fresh = Sequence[tuple[int, Contribution]]
"""Contributions with the numbers of their documents, ascending: rows in this order fill pages one after the other."""


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
    """Writes contributions.

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

    def write(self, contributions: Iterable[Contribution]) -> None:
        """Bring contributions in; the caller holds a transaction."""
        for numbers in (self._names, self._forms, self._labels, self._models):
            numbers.trim()
        fresh = [
            (number, each)
            for each in contributions
            if (number := self._number_if_fresh(each)) is not None
        ]
        self._number_strings([each for _, each in fresh])
        self._write(fresh)

    def _number_if_fresh(self, contribution: Contribution) -> int | None:
        """The number of its document where there is something to write; what it replaces is removed."""
        digest = bytes.fromhex(contribution.text_sha256)
        same_text = self._connection.execute(
            "SELECT id, fingerprint, build FROM document WHERE text_sha256 = ?", (digest,)
        ).fetchone()
        if same_text and (same_text[1] == contribution.fingerprint or same_text[2] == self.build):
            self.changes.known += 1
            return None
        former = [same_text[:1]] if same_text else self._earlier(contribution.doc_key)
        for (document,) in former:
            self._remove(document)
        self.changes.replaced += bool(former)
        self.changes.added += not former
        # Takes the place now: the same text may come again within this batch.
        return self._reserve(contribution, digest)

    def _earlier(self, doc_key: str) -> Sequence[tuple[int]]:
        if self.build == 1:
            return []
        found = self._connection.execute(
            "SELECT id FROM document WHERE doc_key = ? AND build < ?", (doc_key, self.build)
        )
        return found.fetchall()

    def _reserve(self, contribution: Contribution, digest: bytes) -> int:
        self._models.add({contribution.model: None})
        self._last += 1
        self._connection.execute(
            _DOCUMENT,
            (
                *(self._last, contribution.doc_key, digest, contribution.fingerprint),
                *(self._models[contribution.model], contribution.paper.year, self.build),
                *(contribution.nameless, contribution.loops, contribution.unlikely),
            ),
        )
        return self._last

    def _remove(self, document: int) -> None:
        for table in _FACTS_OF_A_DOCUMENT:
            self._connection.execute(f"DELETE FROM {table} WHERE document = ?", (document,))
        self._connection.execute("DELETE FROM document WHERE id = ?", (document,))

    def _number_strings(self, contributions: Sequence[Contribution]) -> None:
        keys, labels, spaced = set[str](), set[str](), dict[str, str]()
        for each in contributions:
            spaced.update(each.spaced)
            keys.update([naming.key for naming in each.namings])
            keys.update([key for link in each.coreferents for key in link])
            keys.update([key for short, long, _ in each.expansions for key in (short, long)])
            labels.update([naming.label for naming in each.namings])
            labels.update([relation.label for relation in each.evidence])
        acronyms = {key: key.casefold() for key in keys if key != key.casefold()}
        self._names.add(dict.fromkeys([*keys - acronyms.keys(), *acronyms.values()]))
        self._names.add({key: self._names[folded] for key, folded in acronyms.items()})
        self._forms.add(spaced)
        self._labels.add(dict.fromkeys(labels))

    def _write(self, fresh: _Fresh) -> None:
        insert = self._connection.executemany
        insert("INSERT INTO text VALUES (?, ?)", [(number, each.content) for number, each in fresh])
        insert(_PAPER, [_paper(number, each.paper) for number, each in fresh])
        insert(_NAMING, self._namings(fresh))
        insert(_COREFERENT, self._coreferents(fresh))
        insert(_EVIDENCE, self._evidence(fresh))
        insert(_EXPANSION, self._expansions(fresh))

    def _namings(self, fresh: _Fresh) -> list[tuple[object, ...]]:
        names, forms, labels = self._names, self._forms, self._labels
        return [
            (document, names[key], forms[surface], labels[label], rules, mentions)
            for document, each in fresh
            for (key, surface, label, rules), mentions in each.namings.items()
        ]

    def _coreferents(self, fresh: _Fresh) -> list[tuple[object, ...]]:
        return [
            (document, *[self._names[key] for key in link])
            for document, each in fresh
            for link in each.coreferents
        ]

    def _evidence(self, fresh: _Fresh) -> list[tuple[object, ...]]:
        names, labels = self._names, self._labels
        return [
            (document, number, names[head], names[tail], labels[label], *rest)
            for document, each in fresh
            for number, (head, tail, label, *rest) in enumerate(each.evidence)
        ]

    def _expansions(self, fresh: _Fresh) -> list[tuple[object, ...]]:
        names, forms = self._names, self._forms
        return [
            (document, names[short], names[long], forms[wording])
            for document, each in fresh
            for short, long, wording in each.expansions
        ]


def _paper(document: int, paper: Bibliography) -> tuple[object, ...]:
    authors = json.dumps(paper.authors, ensure_ascii=False)
    return document, paper.title, paper.venue, paper.doi, paper.pmid, authors
