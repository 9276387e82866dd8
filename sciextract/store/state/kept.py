"""The document that was looked at last, kept in memory as long as nobody changes it in the file."""

from __future__ import annotations

import sqlite3

from sciextract.store.content import documents
from sciextract.store.state.draft import Draft, Stored, Tables
from sciextract.store.state.state_tables import load_rows

Stamp = tuple[int, int, int, int]
_STAMP = """SELECT coalesce((SELECT max(seq) FROM change WHERE document_id = :number), 0),
    coalesce((SELECT max(id) FROM record WHERE document_id = :number), 0)"""


def stamp_of(connection: sqlite3.Connection, number: int) -> Stamp:
    """What differs whenever a document does, inside the caller's transaction.

    Every change of a document is in the log; what other connections write without it, as repairs do, shows in
    SQLite's data version.
    """
    version = connection.execute("PRAGMA data_version").fetchone()[0]
    return number, version, *connection.execute(_STAMP, {"number": number}).fetchone()


class KeptDocument:
    """One document's rows: an action on a long document costs no reading of what it does not change."""

    def __init__(self) -> None:
        self._kept: tuple[Stamp, Stored, Tables] | None = None

    def read(self, connection: sqlite3.Connection, number: int, *, for_good: bool) -> Draft:
        """A document, inside the caller's transaction.

        Args:
            connection: Of the project.
            number: The document.
            for_good: Whether the transaction changes nothing, so that what is read may be kept.

        Raises:
            KeyError: There is no such document.
        """
        stamp = stamp_of(connection, number)
        if self._kept is not None and self._kept[0] == stamp:
            return Draft.of(*self._kept[1:])
        draft = Draft(documents.load(connection, number), load_rows(connection, number))
        if for_good:
            self.keep(stamp, draft)
        return draft

    def keep(self, stamp: Stamp, draft: Draft) -> None:
        """Keep rows that are in the file for good: those of a transaction only once it has ended well."""
        self._kept = stamp, draft.stored, draft.as_saved()
