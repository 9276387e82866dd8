"""Identifiers that a person's vocabulary gives to names: TSV, OBO or SKOS."""

from __future__ import annotations

import csv
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from sciextract.errors import FormatError, MissingExtraError
from sciextract.formats.base import Source, decoded_content
from sciextract.formats.opening import unpacked_name
from sciextract.graph.normalisation import clean, normal_form

_RDF = {".ttl": "turtle", ".nt": "nt", ".rdf": "xml", ".xml": "xml", ".owl": "xml"}
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


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

    TSV has a header with ``id`` and ``name``, and perhaps ``synonyms``, separated by ``|``. OBO is read with its
    synonyms and without obsolete terms, SKOS with ``prefLabel`` and ``altLabel``.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It is none of these, or cannot be read.
        MissingExtraError: SKOS needs rdflib.
    """
    text = decoded_content(Source(str(path)))
    suffix = Path(unpacked_name(path.name)).suffix.lower()
    if suffix in _RDF:
        terms = _skos(text, path, _RDF[suffix])
    elif suffix == ".obo":
        terms = _obo(text)
    elif suffix == ".tsv":
        terms = _tsv(text, path)
    else:
        problem = f"{suffix or 'no ending'} found; expected .tsv, .obo, {', '.join(_RDF)}"
        raise FormatError(problem, path=path)
    cleaned = [Term(clean(one.strip()), clean(name.strip()), main) for one, name, main in terms]
    found = [each for each in cleaned if each.identifier and each.name]
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


def _tsv(text: str, path: Path) -> Iterator[Term]:
    for _, row in tsv_rows(text, path):
        identifier = row["id"] or ""
        yield Term(identifier, row["name"] or "", preferred=True)
        for synonym in (row.get("synonyms") or "").split("|"):
            yield Term(identifier, synonym, preferred=False)


def _obo(text: str) -> Iterator[Term]:
    for stanza in re.split(r"^\s*\[", text, flags=re.MULTILINE)[1:]:
        kind, *lines = stanza.splitlines()
        fields: dict[str, list[str]] = defaultdict(list)
        for line in lines:
            tag, _, value = line.partition(":")
            fields[tag.strip()].append(value.strip())
        if kind.strip() != "Term]" or "true" in fields["is_obsolete"] or not fields["id"]:
            continue
        identifier = fields["id"][0].split(" ! ")[0]
        for name in fields["name"][:1]:
            yield Term(identifier, _ESCAPED.sub(r"\1", name), preferred=True)
        for synonym in fields["synonym"]:
            if quoted := _QUOTED.match(synonym):
                yield Term(identifier, _ESCAPED.sub(r"\1", quoted[1]), preferred=False)


def _skos(text: str, path: Path, syntax: str) -> Iterator[Term]:
    try:
        import rdflib
    except ImportError as error:
        raise MissingExtraError("SKOS", "formats") from error
    if syntax == "xml" and "<!ENTITY" in text:
        raise FormatError("it declares XML entities, which are not read", path=path)
    graph = rdflib.Graph()
    try:
        graph.parse(data=text, format=syntax)
    except Exception as error:  # rdflib's parsers share no class of error
        raise FormatError(f"no readable RDF ({syntax}): {error}", path=path) from error
    for label, preferred in (("prefLabel", True), ("altLabel", False)):
        for concept, name in graph.subject_objects(rdflib.URIRef(_SKOS + label)):
            yield Term(str(concept), str(name), preferred)


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
