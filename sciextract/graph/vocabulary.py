"""Identifiers that a person's vocabulary gives to names."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from sciextract.errors import FormatError
from sciextract.formats.base import Source, decoded_content
from sciextract.graph.normalisation import clean, normal_form


class Term(NamedTuple):
    """A name in a vocabulary.

    Attributes:
        identifier: What it names.
        name: The name.
        preferred: Whether it is the main one, not a synonym.
    """

    identifier: str
    name: str
    preferred: bool


class Vocabulary(NamedTuple):
    """The terms of a file.

    Attributes:
        digest: The hash of the file.
        terms: All its names.
    """

    digest: str
    terms: tuple[Term, ...]


def read_vocabulary(path: Path) -> Vocabulary:
    """The names and identifiers of a file, packed or not.

    It is TSV with a header: ``id`` and ``name``, and perhaps ``synonyms``, separated by ``|``.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It has other columns, or no terms.
    """
    text, found = decoded_content(Source(str(path))), []
    for _, row in tsv_rows(text, path):
        identifier = clean((row["id"] or "").strip())
        names = [row["name"] or "", *(row.get("synonyms") or "").split("|")]
        for place, name in enumerate([clean(each.strip()) for each in names]):
            if identifier and name:
                found.append(Term(identifier, name, preferred=place == 0))
    if not found:
        raise FormatError("no terms with an identifier and a name", path=path)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Vocabulary(digest, tuple(found))


def tsv_rows(text: str, path: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    """The lines of a vocabulary in TSV with their numbers; names may be empty.

    Raises:
        FormatError: It has no columns ``id`` and ``name``.
    """
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    columns = rows.fieldnames or ()
    if not {"id", "name"} <= set(columns):
        problem = f"columns {', '.join(columns) or 'none'} found, needed are id and name"
        raise FormatError(problem, path=path, line=1)
    for row in rows:
        yield rows.line_num, row


def keep_vocabulary(connection: Connection, terms: Iterable[Term]) -> None:
    """Replace the vocabulary of a graph; the caller holds a transaction."""
    connection.execute("DELETE FROM vocabulary")
    rows = [(normal_form(each.name).key, each.identifier, each.preferred) for each in terms]
    connection.executemany(
        "INSERT INTO vocabulary VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET preferred = max(preferred, excluded.preferred)",
        [row for row in rows if row[0]],
    )


def link_nodes(connection: Connection) -> None:
    """Give nodes the identifiers of their names: of the node's own name first, of preferred ones before synonyms.

    A node whose best name has several identifiers gets none.
    """
    connection.execute(
        """WITH ranked AS (
            SELECT m.node, v.identifier,
                rank() OVER (PARTITION BY m.node ORDER BY m.name = m.node DESC, v.preferred DESC) AS place
            FROM vocabulary v JOIN meaning m ON m.key = v.key
        )
        UPDATE node SET vocabulary_id = r.identifier FROM (
            SELECT node, identifier FROM ranked WHERE place = 1 GROUP BY node HAVING count(DISTINCT identifier) = 1
        ) r WHERE r.node = node.id"""
    )
