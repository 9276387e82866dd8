"""Contributions into the tables of facts: new ones are added, changed ones replaced, known ones left alone."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sciextract.graph.contribution import Contribution
from sciextract.graph.database.numbers import Numbers
from sciextract.graph.naming.normal_form import normal_form

_FACTS_OF_A_DOCUMENT = ("text", "naming", "evidence", "expansion")


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

    def write(self, contributions: Iterable[Contribution]) -> None:
        """Bring contributions in; the caller holds a transaction."""
        for numbers in (self._names, self._forms, self._labels, self._models):
            numbers.trim()
        fresh = [each for each in contributions if self._is_fresh(each)]
        self._number_strings(fresh)
        for each in fresh:
            self._write(each)

    def _is_fresh(self, contribution: Contribution) -> bool:
        """Whether there is something to write; what it replaces is removed."""
        digest = bytes.fromhex(contribution.text_sha256)
        same_text = self._connection.execute(
            "SELECT id, fingerprint, build FROM document WHERE text_sha256 = ?", (digest,)
        ).fetchone()
        if same_text and (same_text[1] == contribution.fingerprint or same_text[2] == self.build):
            self.changes.known += 1
            return False
        former = [same_text[:1]] if same_text else self._earlier(contribution.doc_key)
        for (document,) in former:
            self._remove(document)
        self.changes.replaced += bool(former)
        self.changes.added += not former
        # Takes the place now: the same text may come again within this batch.
        self._reserve(contribution, digest)
        return True

    def _earlier(self, doc_key: str) -> Sequence[tuple[int]]:
        found = self._connection.execute(
            "SELECT id FROM document WHERE doc_key = ? AND build < ?", (doc_key, self.build)
        )
        return found.fetchall()

    def _reserve(self, contribution: Contribution, digest: bytes) -> None:
        self._models.add({contribution.model: None})
        self._connection.execute(
            """INSERT INTO document (doc_key, text_sha256, fingerprint, model, year, build, nameless, loops)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                *(contribution.doc_key, digest, contribution.fingerprint),
                *(self._models[contribution.model], contribution.year, self.build),
                *(contribution.nameless, contribution.loops),
            ),
        )

    def _remove(self, document: int) -> None:
        for table in _FACTS_OF_A_DOCUMENT:
            self._connection.execute(f"DELETE FROM {table} WHERE document = ?", (document,))
        self._connection.execute("DELETE FROM document WHERE id = ?", (document,))

    def _number_strings(self, contributions: Sequence[Contribution]) -> None:
        keys, surfaces, labels = set[str](), set[str](), set[str]()
        for each in contributions:
            keys.update([naming.key for naming in each.namings])
            keys.update([key for short, long, _ in each.expansions for key in (short, long)])
            surfaces.update([naming.surface for naming in each.namings])
            surfaces.update([wording for *_, wording in each.expansions])
            labels.update([naming.label for naming in each.namings])
            labels.update([relation.label for relation in each.evidence])
        acronyms = {key: key.casefold() for key in keys if key != key.casefold()}
        self._names.add(dict.fromkeys([*keys - acronyms.keys(), *acronyms.values()]))
        self._names.add({key: self._names[folded] for key, folded in acronyms.items()})
        self._forms.add({surface: normal_form(surface).spaced for surface in surfaces})
        self._labels.add(dict.fromkeys(labels))

    def _write(self, contribution: Contribution) -> None:
        digest = bytes.fromhex(contribution.text_sha256)
        execute, names, labels = self._connection.execute, self._names, self._labels
        (document,) = execute("SELECT id FROM document WHERE text_sha256 = ?", (digest,)).fetchone()
        packed = zlib.compress(contribution.text.encode("utf-8", "surrogatepass"), 1)
        execute("INSERT INTO text VALUES (?, ?)", (document, packed))
        self._connection.executemany(
            "INSERT INTO naming VALUES (?, ?, ?, ?, ?, ?)",
            [
                (document, names[each.key], self._forms[each.surface],
                 labels[each.label], int(each.rules), mentions)
                for each, mentions in contribution.namings.items()
            ],
        )  # fmt: skip
        self._connection.executemany(
            "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (document, number, names[each.head], names[each.tail], labels[each.label],
                 each.score, each.sentences.char_start, each.sentences.char_end)
                for number, each in enumerate(contribution.evidence)
            ],
        )  # fmt: skip
        self._connection.executemany(
            "INSERT OR IGNORE INTO expansion VALUES (?, ?, ?, ?)",
            [
                (document, names[short], names[long], self._forms[wording])
                for short, long, wording in contribution.expansions
            ],
        )
