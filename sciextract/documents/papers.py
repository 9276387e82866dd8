"""Which records describe one paper: the same DOI, PubMed id or text, or the same title, year and first author."""

from __future__ import annotations

import re
import sqlite3
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from html import unescape

from sciextract.documents.bibliography import Bibliography, bare_doi, bibliography_of
from sciextract.documents.document import Document

# What publishers and databases write behind an abstract, from the beginning of a sentence on.
_RIGHTS = re.compile(
    r"\s*(?:©|\(c\)\s*(?:19|20)\d\d).*|(?:^|(?<=[.!?)\]\"”>;:\n]))\s*[(\[]?\s*(?:"
    r"(?:crown\s+)?copyright\b\s*(?:©|\(c\)|of\b|by\b|the\b|[^.]{0,60}\d{4})|\(c\)\s*(?:copyright\b|[^.]{0,40}?\d{4})"
    r"|(?:\d{4}\s+)?(?:the\s+)?author(?:s|\(s\))?[\s,.]+(?:\d{4}\.\s+)?published\b|\d{4}\s[^.]{2,80}?\b(?:inc|ltd|b\.?v|gmbh|press)\b"
    r"|published\s+by\b|all\s+rights\s+reserved|this\s+article\s+is\s+protected\s+by\s+copyright"
    r"|psyc\w+\s+(?:database\s+)?record|abstract\s+from\s+(?:author|publisher)"
    r").*",
    re.IGNORECASE | re.DOTALL,
)
SEEN = 600
"""How much of the beginning of a text is needed to find it, and of its end for the rights."""
# Nine of ten beginnings of texts have none of these, and the pattern costs ten times as much as looking.
_SIGNS = (
    "©", "(c)", "copyright", "published", "rights", "psyc", "abstract from", " ltd", " inc", "gmbh", "b.v", " press",
)  # fmt: skip
_TAG = re.compile(r"</?\w[^<>]{0,40}>")
_TRANSLATED = re.compile(r"(?<=\w)[.?!]?\s+\[[^\[\]]+\]\W*$")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+|[ivx]+")
#: Short titles of many different texts. One or two words name nothing, either.
_GENERIC = re.compile(
    r"(?:guest |invited )?(?:editorials?|introduction|preface|foreword|contents|errat\w+|corrigend\w+|corrections?"
    r"|retraction|reply|response|letters? to|authors? re|book reviews?|in memoriam|obituary|news|announcements?"
    r"|in this issue|index|discussion|comment\w*|notes? (?:on|to))\b"
)
_LEAST_WORDS, _GENERIC_WORDS = 3, 6
_A_FEW_WORDS = 20
#: Shorter texts are the same only as they stand.
_LEAST_LETTERS = 40
_ALIKE, _UNLIKE = 0.8, 0.3
_SEEN_OF_TITLE, _SEEN_OF_TEXT = 300, 200
#: What more records share, such as the DOI of proceedings, names none of them; and the cost stays linear.
_MOST = 50


class Sameness(Enum):
    """Whether two records describe one paper."""

    SAME = "the same paper"
    OTHER = "another paper"
    NUMBER_ONLY = "another paper with the same DOI or PubMed id: the titles differ"


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """What tells a paper from others.

    Attributes:
        doi: In lower case.
        pmid: Digits.
        title: As it was written.
        year: Of publication.
        author: The words of the first author's name, without initials.
        text: Title and abstract, without the rights that stand behind them.
    """

    doi: str | None
    pmid: str | None
    title: str
    year: int | None
    author: frozenset[str]
    text: str

    def says_more_than(self, other: PaperRecord | None) -> bool:
        """Whether its text is longer by a few words: full stops and hyphens differ between databases."""
        return other is None or len(_letters(self.text)) > len(_letters(other.text)) + _A_FEW_WORDS

    @property
    def abstract(self) -> str:
        """The text behind the title."""
        return self.text.removeprefix(self.title)

    @property
    def has_abstract(self) -> bool:
        """Whether there is more than a title to compare."""
        return len(self.text) > len(self.title) + _LEAST_LETTERS


def paper_of(document: Document) -> PaperRecord:
    """What a document says of its paper. A key that is a DOI counts as one: such a field was no field once."""
    return described_paper(bibliography_of(document.fields), document.doc_key, document.text)


def described_paper(known: Bibliography, doc_key: str, text: str) -> PaperRecord:
    """The same of the parts of a document."""
    doi = known.doi or (bare_doi(doc_key) if doc_key.startswith("10.") else None)
    author = known.authors[0] if known.authors else ""
    words = frozenset(word for word in _words(author) if len(word) > 1)
    return PaperRecord(doi, known.pmid, known.title or "", known.year, words, without_rights(text))


def compare(one: PaperRecord, other: PaperRecord) -> Sameness:
    """Whether two records describe one paper.

    Titles of 400 pairs of records in six databases show the limits: of one paper they share nearly all words,
    abstracts of different papers fewer than a third.
    """
    both = one.has_abstract and other.has_abstract
    if both and _same_letters(one.text, other.text):
        return Sameness.SAME
    overlap = _overlap(one.abstract, other.abstract) if both else None
    mine, theirs = _words(_TRANSLATED.sub("", one.title)), _words(_TRANSLATED.sub("", other.title))
    if (one.doi and one.doi == other.doi) or (one.pmid and one.pmid == other.pmid):
        unknown = not mine or not theirs
        alike = unknown or _may_be_one(mine, theirs, (overlap or 0) > _ALIKE)
        return Sameness.SAME if alike else Sameness.NUMBER_ONLY
    generic = len(mine) <= _GENERIC_WORDS and _GENERIC.match(" ".join(mine))
    if "".join(mine) != "".join(theirs) or len(mine) < _LEAST_WORDS or generic:
        return Sameness.OTHER
    near = one.year and other.year and abs(one.year - other.year) <= 1
    shared = one.author & other.author
    if near and shared:
        return Sameness.OTHER if overlap is not None and overlap < _UNLIKE else Sameness.SAME
    # Where the year or the authors are not known, the abstract has to say it.
    open_year, open_author = not (one.year and other.year), not (one.author and other.author)
    possible = (near and open_author) or (shared and open_year)
    return Sameness.SAME if possible and (overlap or 0) > _ALIKE else Sameness.OTHER


def are_others(one: PaperRecord, other: PaperRecord) -> bool:
    """Whether two records that have one key describe different papers: by their titles, else by their numbers."""
    mine, theirs = (_words(_TRANSLATED.sub("", paper.title)) for paper in (one, other))
    if mine and theirs:
        # Many papers are of one kind ("Zinc for colds in adults"), so that most words have to be the same.
        alike = _overlap(" ".join(mine), " ".join(theirs)) >= _ALIKE
        return not (alike and _may_be_one(mine, theirs, has_abstract=True))
    numbers = (one.doi, other.doi), (one.pmid, other.pmid)
    return any(number and another and number != another for number, another in numbers)


def _may_be_one(mine: list[str], theirs: list[str], has_abstract: bool) -> bool:
    """Whether two titles may be of one paper, which may have one abstract: parts of a series differ in their numbers."""
    more, others = {*mine} - {*theirs}, {*theirs} - {*mine}
    shared = len({*mine} & {*theirs}) / min(len({*mine}), len({*theirs}))
    are_parts = any(map(_NUMBER.fullmatch, more)) and any(map(_NUMBER.fullmatch, others))
    return (shared >= 0.6 or has_abstract) and not are_parts


def _overlap(one: str, other: str) -> float:
    """The share of the words of the shorter text that the other has, too."""
    mine, theirs = {*_words(one)}, {*_words(other)}
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))


def _same_letters(one: str, other: str) -> bool:
    mine = _letters(one)
    return mine == _letters(other) and (len(mine) >= _LEAST_LETTERS or one == other)


def without_rights(text: str) -> str:
    """A text without the rights that stand behind it.

    >>> without_rights("We parse. © 2019 Elsevier B.V. All rights reserved.")
    'We parse.'
    """
    start = max(0, len(text) - SEEN)
    end = text[start:].lower()
    found = _RIGHTS.search(text, start) if any(sign in end for sign in _SIGNS) else None
    return text[: found.start()].rstrip() if found else text.rstrip()


def _words(text: str) -> list[str]:
    """The words of a text in lower case, without accents, tags and punctuation."""
    if "<" in text or "&" in text:
        text = unescape(_TAG.sub("", text)).replace("&", " and ")
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text)
        text = "".join([char for char in plain if not unicodedata.combining(char)])
    return _WORD.findall(text.casefold())


def _letters(text: str) -> str:
    """The letters and digits of a text: hyphens, blanks and line ends differ between databases."""
    return "".join(_words(text))


class PaperIndex:
    """Finds the record of the same paper among those that were added, in a time that does not grow with their number.

    Args:
        load: Gives the paper of a number that was added, ``None`` where it is there no more.
        fill: Adds what is known already, once something is looked for.

    Attributes:
        apart: How many papers had the DOI or PubMed id of another one.
    """

    def __init__(
        self,
        load: Callable[[int], PaperRecord | None],
        fill: Callable[[PaperIndex], None] | None = None,
    ) -> None:
        self.apart = 0
        self._load, self._fill = load, fill
        # A private temporary file: a million papers fit as well as ten.
        self._names = sqlite3.connect("", check_same_thread=False)
        self._names.execute(
            "CREATE TABLE name (hash, number, PRIMARY KEY (hash, number)) WITHOUT ROWID"
        )

    def add(self, number: int, paper: PaperRecord) -> None:
        """Make a record known by what others of its paper may share with it; of a text, its beginning is enough."""
        if self._fill:
            return
        rows = [(name, number) for name in _hashes(paper)]
        self._names.executemany("INSERT OR IGNORE INTO name VALUES (?, ?)", rows)

    def sharing(self) -> list[int]:
        """The numbers of records that share something with another one, ascending: only these may be of one paper."""
        self._fill_once()
        shared = "SELECT hash FROM name GROUP BY hash HAVING count(*) > 1"
        query = f"SELECT DISTINCT number FROM name WHERE hash IN ({shared}) ORDER BY number"
        return [number for (number,) in self._names.execute(query)]

    def _fill_once(self) -> None:
        if fill := self._fill:
            self._fill = None
            fill(self)

    def find(self, paper: PaperRecord, before: int | None = None) -> int | None:
        """The number of the record of the same paper that was added first, perhaps below a number."""
        self._fill_once()
        seen, apart = set[int](), False
        query = "SELECT number FROM name WHERE hash = ? AND number < ?"
        query += f" ORDER BY number LIMIT {_MOST}"
        end = sys.maxsize if before is None else before
        for name in _hashes(paper):
            for (number,) in self._names.execute(query, (name, end)).fetchall():
                other = None if number in seen else self._load(number)
                seen.add(number)
                verdict = compare(paper, other) if other else Sameness.OTHER
                if verdict is Sameness.SAME:
                    return int(number)
                apart = apart or verdict is Sameness.NUMBER_ONLY
        self.apart += apart
        return None


@lru_cache(1)
def _hashes(paper: PaperRecord) -> tuple[int, ...]:
    shown = _letters(_TRANSLATED.sub("", paper.title)[:_SEEN_OF_TITLE])
    begin = _letters(without_rights(paper.text[:SEEN])[: 2 * _SEEN_OF_TEXT])[:_SEEN_OF_TEXT]
    names = {"doi": paper.doi, "pmid": paper.pmid, "title": shown, "text": begin}
    return tuple([hash(name) for name in names.items() if name[1]])


def first_of_each(documents: Iterable[Document]) -> list[int]:
    """For each document the place of the first one of its paper; its own, mostly."""
    kept: list[PaperRecord] = []
    firsts: list[int] = []
    papers = PaperIndex(kept.__getitem__)
    for place, document in enumerate(documents):
        paper = paper_of(document)
        found = papers.find(paper)
        kept.append(paper)
        firsts.append(place if found is None else firsts[found])
        papers.add(place, paper)
    return firsts
