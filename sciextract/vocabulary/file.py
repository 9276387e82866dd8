"""The file of a vocabulary, and the candidates for a mention in it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple

from sciextract import atomic
from sciextract.errors import (
    ExitCode,
    SciextractError,
    UsageError,
    as_command,
    explain_write_errors,
)
from sciextract.graph.acronyms import FUNCTION_WORDS, find_expansions
from sciextract.graph.normalisation import normal_form
from sciextract.resources import user_vocabularies
from sciextract.text.english import singular
from sciextract.vocabulary.reading import Entry, read_entries

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_TABLES = """PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE concept (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE name (number INTEGER PRIMARY KEY, concept INTEGER, name TEXT, words TEXT, bag TEXT, norm REAL);
CREATE VIRTUAL TABLE grams USING fts5(words, content='', detail='none', tokenize='trigram');
CREATE VIRTUAL TABLE gram USING fts5vocab(grams, row);"""
_INDEXES = """CREATE INDEX name_words ON name (words); CREATE INDEX name_bag ON name (bag);
INSERT INTO grams (rowid, words) SELECT number, ' ' || replace(words, ' ', '  ') || ' ' FROM name;"""
_RAREST, _MOST_ALIKE = 24, 500
"""Of the trigrams of a mention so many are looked up, the rarest, and so many names with the most of them compared."""
_AS_WRITTEN = 0.9
"""What a mention counts by itself where its abstract spells it out."""


class VocabularyError(SciextractError):
    """There is no such vocabulary, or its file cannot be used."""

    exit_code = ExitCode.MISSING


class Candidate(NamedTuple):
    """A concept that a mention may mean.

    Attributes:
        link: What a link to it says: its id, after the name of the vocabulary where that is not in it.
        name: Its name.
        matched: The name of it that is like the mention.
        score: Nearly 1 for the same name in another form, else how alike they are.
    """

    link: str
    name: str
    matched: str
    score: float


class Vocabulary:
    """An imported vocabulary.

    Args:
        name: What it is called.

    Raises:
        VocabularyError: There is none of that name, or its file is damaged.
    """

    def __init__(self, name: str) -> None:
        self.name, file = name, file_of(name)
        if not file.exists():
            known = ", ".join(list_vocabularies()) or "none"
            hint = as_command("sciextract", "vocabulary", "import", "FILE", "--name", name)
            raise VocabularyError(f"there is no vocabulary {name!r}; there are: {known}", hint)
        self._connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        count = "SELECT (SELECT count(*) FROM concept), count(*) FROM name"
        try:
            self.concepts, self.names = self._connection.execute(count).fetchone()
        except sqlite3.Error as error:
            raise VocabularyError(f"{file}: cannot be used: {error}", "import it again") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def name_of(self, link: str) -> str | None:
        """The name of the concept of a link, ``None`` where the vocabulary has none."""
        prefix, _, rest = link.partition(":")
        ids = (link, rest if prefix.casefold() == self.name.casefold() else link)
        query = "SELECT name FROM concept WHERE id IN (?, ?)"
        row = self._connection.execute(query, ids).fetchone()
        return row[0] if row else None

    def find(self, mention: str, text: str = "", most: int = 9) -> list[Candidate]:
        """The concepts that a mention most likely means, the likeliest first.

        Args:
            mention: The mention as it is written.
            text: Its abstract, which may spell it out.
            most: How many to give.
        """
        spelled = _spell_out(mention, text)
        found: dict[int, Candidate] = {}
        for form in dict.fromkeys((spelled, mention)):
            weight = 1.0 if form == spelled else _AS_WRITTEN
            for number, link, name, matched, score in self._names_like(form):
                if number not in found or found[number].score < weight * score:
                    found[number] = Candidate(link, name, matched, weight * score)
        ranked = sorted(found.values(), key=lambda candidate: -candidate.score)[:most]
        return [one._replace(link=with_prefix(self.name, one.link)) for one in ranked]

    def _names_like(self, mention: str) -> Iterator[tuple[int, str, str, str, float]]:
        words, bag = key_of(mention)
        row = "SELECT c.number, c.id, c.name, n.name{} FROM name n JOIN concept c ON c.number = n.concept"
        same = f"""{row.format(", 0.96 + 0.02 * (words = ?) + 0.01 * (n.name = c.name) + 0.01 * (n.name = ?)")}
            WHERE n.words = ? OR n.bag = ?"""
        yield from self._connection.execute(same, (words, mention, words, bag))
        rarest = f"""SELECT term, doc FROM gram WHERE term IN (SELECT value FROM json_each(?))
            ORDER BY doc LIMIT {_RAREST}"""
        grams = json.dumps([*_grams(words)])
        seen = [
            ('"{}"'.format(gram.replace('"', '""')), _weight(self.names, count))
            for gram, count in self._connection.execute(rarest, (grams,))
        ]
        if not seen:
            return
        norm = sqrt(sum(weight for _, weight in seen))
        # All of it in SQLite: in Python a mention takes three times as long.
        one = "SELECT rowid AS number, ? AS weight FROM grams WHERE grams MATCH ?"
        near = f"""{row.format(", 0.95 * total / n.norm / ?")}
            JOIN (SELECT number, sum(weight) AS total FROM ({" UNION ALL ".join([one] * len(seen))})
                GROUP BY number ORDER BY total DESC LIMIT {_MOST_ALIKE}) near ON near.number = n.number"""
        values = [value for gram, weight in seen for value in (weight, gram)]
        yield from self._connection.execute(near, (norm, *values))


def with_prefix(vocabulary: str, concept: str) -> str:
    """What a link to a concept says: its id, after the name of the vocabulary where that is not in it."""
    prefix = f"{vocabulary}:"
    return concept if concept.casefold().startswith(prefix.casefold()) else prefix + concept


def _weight(names: int, count: int) -> float:
    """The square of the inverse document frequency of a trigram that so many names have."""
    return log(1 + names / count) ** 2


def _grams(words: str) -> frozenset[str]:
    padded = f" {words.replace(' ', '  ')} "  # so that none depends on two words
    return frozenset(padded[place : place + 3] for place in range(len(padded) - 2))


def key_of(name: str) -> tuple[str, str]:
    """The words of a name in normal form, and those that tell something, in alphabetical order."""
    words = normal_form(name).spaced.split()
    bag = {singular(word) for word in words} - FUNCTION_WORDS
    return " ".join(words), " ".join(sorted(bag))


def _spell_out(mention: str, text: str) -> str:
    """A mention with what its abstract says that its acronyms mean."""
    expansions, spelled = _expansions(text), ""
    for word in mention.split():
        bare = word.strip("()")
        long = expansions.get(bare) or expansions.get(bare.removesuffix("s"))
        if not long or long.casefold() not in spelled.casefold():
            spelled += f" {long or word}"
    return spelled.strip()


_expansions = lru_cache(maxsize=64)(find_expansions)


def file_of(name: str) -> Path:
    """Where a vocabulary of that name lies.

    Raises:
        UsageError: None can have this name.
    """
    if not _NAME.fullmatch(name):
        allowed = "allowed are up to 32 letters, digits, - and _, the first one a letter"
        raise UsageError(f"a vocabulary cannot be called {name!r}", allowed)
    return user_vocabularies() / f"{name}.vocabulary"


def list_vocabularies() -> list[str]:
    """The names of the vocabularies that were imported, in alphabetical order."""
    return sorted(file.stem for file in user_vocabularies().glob("*.vocabulary"))


def import_vocabulary(path: str, name: str) -> dict[str, int]:
    """Read a vocabulary from a file; an earlier one of that name is replaced when it has been read whole.

    Returns:
        How many ``concepts`` and ``names`` it has, entries with an id that was there before are ``repeated``, and
        ids of the earlier one ``gone``.

    Raises:
        FormatError: The file is no vocabulary.
        OutputError: It cannot be kept.
    """
    target = file_of(name)
    with explain_write_errors(target, "set SCIEXTRACT_HOME to a writable folder"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            atomic.replacing(target) as partial,
            closing(sqlite3.connect(partial, isolation_level=None)) as connection,
        ):
            connection.executescript(_TABLES)
            connection.execute("BEGIN")  # a script ends it
            concepts, entries = _write(connection, read_entries(path))
            connection.executescript(_INDEXES)
            (names,) = connection.execute("SELECT count(*) FROM name").fetchone()
            counts = connection.execute("SELECT term, doc FROM gram")
            weights = {gram: _weight(names, count) for gram, count in counts}
            connection.create_function(
                "norm_of",
                1,
                lambda words: sqrt(sum(weights.get(gram, 0) for gram in _grams(words))),
            )
            connection.execute("UPDATE name SET norm = norm_of(words)")
            gone = 0
            if target.exists():
                connection.execute("ATTACH ? AS former", (str(target),))
                kept = "SELECT count(*) FROM former.concept WHERE id NOT IN (SELECT id FROM main.concept)"
                (gone,) = connection.execute(kept).fetchone()
    return {
        "concepts": concepts,
        "names": names,
        "repeated": entries - concepts,
        "gone": gone,
    }


def _write(connection: sqlite3.Connection, entries: Iterable[Entry]) -> tuple[int, int]:
    """Keep concepts and their names, and count concepts and entries; the names of several with one id are names of one."""
    numbers: dict[str, int] = {}
    count = 0
    for count, entry in enumerate(entries, start=1):
        number = numbers.setdefault(entry.id, count)
        row = (number, entry.id, entry.name)
        connection.execute("INSERT OR IGNORE INTO concept VALUES (?, ?, ?)", row)
        names = dict.fromkeys((entry.name, *entry.synonyms))
        rows = [(number, name, *key_of(name)) for name in names]
        insert = "INSERT INTO name (concept, name, words, bag) VALUES (?, ?, ?, ?)"
        connection.executemany(insert, rows)
    return len(numbers), count
