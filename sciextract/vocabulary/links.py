"""The links of a project, and the candidates for its mentions in all vocabularies that its schema names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

from sciextract.documents.schema import LINK, LabelSchema
from sciextract.store import Project
from sciextract.store.rows import IN_VIEW
from sciextract.store.sqlite import storable
from sciextract.vocabulary.file import Candidate, Vocabulary, VocabularyError

_STATES = ", ".join(f"'{state}'" for state in sorted(IN_VIEW))


class LinkCount(NamedTuple):
    """Links of a project, ids that they lead to, and those of them that no vocabulary has."""

    links: int
    concepts: int
    missing: tuple[str, ...]


def vocabularies_of(schema: LabelSchema) -> tuple[str, ...]:
    """The vocabularies that mentions are linked to."""
    return next((kind.vocabularies for kind in schema.attributes if kind.label == LINK), ())


def name_of(link: str, vocabularies: Sequence[str]) -> str | None:
    """The name of the concept of a link, ``None`` where no vocabulary has it.

    Raises:
        VocabularyError: A vocabulary is not there, or its file cannot be used.
    """
    for name in vocabularies:
        with closing(Vocabulary(name)) as vocabulary:
            if (found := vocabulary.name_of(link)) is not None:
                return found
    return None


def is_link(words: str, vocabularies: Sequence[str]) -> bool:
    """Whether somebody typed an id that a vocabulary has, with the vocabulary's name."""
    return ":" in words and name_of(words, vocabularies) is not None


def linked_name(link: str, schema: LabelSchema) -> str:
    """The name of the concept of a link, or why there is none, in words."""
    try:
        name = name_of(link, vocabularies_of(schema))
    except VocabularyError:
        return "(its vocabulary is not imported here)"
    return name or "(in no vocabulary of the schema)"


def find_candidates(project: Project, mention: str, text: str, most: int) -> list[Candidate]:
    """The concepts that a mention most likely means: first what the same string is linked to elsewhere in the project.

    Raises:
        VocabularyError: A vocabulary is not there, or its file cannot be used.
    """
    names, found = vocabularies_of(project.schema), list[Candidate]()
    for name in names:
        with closing(Vocabulary(name)) as vocabulary:
            found += vocabulary.find(mention, text, most)
    found.sort(key=lambda candidate: -candidate.score)
    linked = f"""SELECT a.value FROM surface s JOIN entity e ON e.surface_id = s.id
        JOIN attribute a ON a.document_id = e.document_id AND a.target = e.id AND a.label = ?
        WHERE s.text = ? AND a.state IN ({_STATES}) GROUP BY 1 ORDER BY count(*) DESC LIMIT ?"""
    rows = project.connection.execute(linked, (LINK, storable(mention), most)).fetchall()
    before = [Candidate(link, name_of(link, names) or "", mention, 1.0) for (link,) in rows]
    return list({candidate.link: candidate for candidate in [*before, *found]}.values())[:most]


def count_links(project: Project) -> LinkCount:
    """Count the links of a project, and look each id up.

    Raises:
        VocabularyError: A vocabulary is not there, or its file cannot be used.
    """
    query = f"SELECT value, count(*) FROM attribute WHERE label = ? AND state IN ({_STATES}) GROUP BY 1 ORDER BY 1"
    rows = project.connection.execute(query, (LINK,)).fetchall()
    names = vocabularies_of(project.schema)
    missing = [link for link, _ in rows if name_of(link, names) is None]
    return LinkCount(sum(count for _, count in rows), len(rows), tuple(missing))
