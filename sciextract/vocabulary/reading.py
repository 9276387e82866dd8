"""Vocabularies as others publish them: tab-separated tables, OBO, and SKOS in Turtle, RDF/XML or N-Triples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from sciextract.errors import FormatError, MissingExtraError
from sciextract.formats.base import Source, decode_lines, quoted
from sciextract.formats.opening import unpacked_name
from sciextract.text.characters import visible


class Entry(NamedTuple):
    """A concept of a vocabulary: its id there, its name, and what else it is called."""

    id: str
    name: str
    synonyms: tuple[str, ...] = ()


def read_entries(path: str) -> Iterator[Entry]:
    """The concepts of a file; several with one id stay several.

    Raises:
        InputMissingError: There is no such file.
        FormatError: Its name says no known format, a line is broken, or there is no concept in it.
        MissingExtraError: It is SKOS, and the package that reads it is not installed.
    """
    suffix = "." + unpacked_name(path).lower().rpartition(".")[2]
    if suffix not in _READERS:
        problem = f"{suffix} is no format of vocabularies; known are {', '.join(_READERS)}"
        raise FormatError(problem, path=path, hint="a table has id, tab, name, tab, synonyms")
    entry = None
    for entry in _READERS[suffix](Source(path)):
        # Nothing that a terminal would take for a command gets any further.
        name, *others = [
            " ".join(visible(text, keep="\t").split()) for text in (entry.name, *entry.synonyms)
        ]
        yield Entry(visible(entry.id), name, tuple(filter(None, others)))
    if entry is None:
        raise FormatError("there is no concept with a name in it", path=path)


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in decode_lines(source):
        if isinstance(line, FormatError):
            raise line
        yield number, line.rstrip("\r\n")


def _read_table(source: Source) -> Iterator[Entry]:
    """Id, name, and synonyms in further columns or with bars between them; a first line may name the columns."""
    for number, line in _lines(source):
        key, name, *others = [cell.strip() for cell in f"{line}\t".split("\t")]
        if line.startswith("#") or not line.strip() or (key, name) == ("id", "name"):
            continue
        if not key or not name or " " in key:
            problem = f"{quoted(line)} found; expected id, tab, name, tab, synonyms"
            raise FormatError(problem, path=source.path, line=number, hint="an id has no blanks")
        yield Entry(key, name, tuple("|".join(others).split("|")))


_REMARK = re.compile(r" (?:!|\{).*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _read_obo(source: Source) -> Iterator[Entry]:
    """The terms of an OBO file that are not obsolete."""
    term: dict[str, list[str]] = {}
    for _, line in chain(_lines(source), [(0, "[end]")]):
        if line.startswith("["):
            if {"[Term]", "id", "name"} <= term.keys() and "true" not in term.get(
                "is_obsolete", ()
            ):
                named = filter(None, map(_QUOTED.match, term.get("synonym", ())))
                synonyms = [re.sub(r"\\(.)", r"\1", found[1]) for found in named]
                key, name = (_REMARK.sub("", term[tag][0]) for tag in ("id", "name"))
                yield Entry(key, name, tuple(synonyms))
            term = {line.strip(): []}
        tag, _, value = line.partition(":")
        term.setdefault(tag, []).append(value.strip())


def _read_skos(syntax: str, source: Source) -> Iterator[Entry]:
    """The concepts of a thesaurus in English, else in all languages; their ids are the ends of their addresses."""
    try:
        import rdflib
        from rdflib.namespace import RDF, SKOS
    except ImportError as error:
        raise MissingExtraError("reading SKOS", "vocabulary") from error
    graph: Any = rdflib.Graph()
    with source.open() as stream:
        try:
            graph.parse(stream, format=syntax)
        except Exception as error:  # each parser has errors of its own
            problem = f"is no {syntax}: {quoted(str(error))}"
            raise FormatError(problem, path=source.path) from error

    def labels(concept: Any, *kinds: Any) -> list[str]:
        found = [label for kind in kinds for label in graph.objects(concept, kind)]
        english = [label for label in found if (label.language or "en").startswith("en")]
        return sorted(map(str, english or found))

    for concept in sorted(graph.subjects(RDF.type, SKOS.Concept)):
        names = labels(concept, SKOS.prefLabel) + labels(concept, SKOS.altLabel, SKOS.hiddenLabel)
        if names:
            yield Entry(re.split("[/#]", str(concept))[-1], names[0], tuple(names[1:]))


_READERS: dict[str, Callable[[Source], Iterator[Entry]]] = {
    **dict.fromkeys((".tsv", ".txt"), _read_table),
    ".obo": _read_obo,
    ".ttl": partial(_read_skos, "turtle"),
    **dict.fromkeys((".rdf", ".xml"), partial(_read_skos, "xml")),
    ".nt": partial(_read_skos, "nt"),
}
