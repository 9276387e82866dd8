"""The third step of a build: where the names of nodes stand in the texts, whether or not a model found them there.

All names are looked for in all texts at once (A. V. Aho and M. J. Corasick, Communications of the ACM 18, 1975), as
whole words, in any case and number, except acronyms, which need their capitals. Places in lower case count by
themselves: "trades" is not a name because TraDeS is, nor "art" because ART is. Of names that overlap the longest of
the leftmost counts as matched; of the others those that end it, or reach beyond it, as nested: "diabetes" in "type 2
diabetes", but not "type 2". Behind "non" nothing counts, for "non-insulin-dependent" says the opposite.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from sqlite3 import Connection
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from sciextract.graph.database import unpacked
from sciextract.graph.normalisation import MergeRule, normal_form, read_numerals, without_accents
from sciextract.text.english import singular
from sciextract.text.spelling import american

# "WMT14" is two words, so that WMT is found in it, "word2vec" is one.
_WORD = re.compile(
    r"([A-Z]{2,}(?=\d+\b)|[^\W_]+(?:(?:(?<=\d)\.(?=\d)|['’](?=[^\W\d]))[^\W_]+)*[+#*&]*)"
)
# Between the words of one name there are spaces, hyphens and quotes; anything else ends it.
_END_OF_NAME = re.compile("[^\\s\\-\u2010-\u2015\u2212_'’\"“”`]")
_APOSTROPHES = str.maketrans("", "", "'’")
_EDGE, _END = "\x1f", "\x1f\x1e\x1f"
_MOST_NAMES = 500_000
"""In larger graphs only names that two abstracts or more have are looked for."""

_COMMON_WORD, _COMMON_WORDS = 0.1, 0.02
"""A name in lower case, of one word or of several, is common speech where a smaller share of its places is extracted."""

NO_LETTERS = "a number or a single letter"
MANY = "an acronym that may stand for anything, extracted at few of its places"
SHORT = "an abbreviation that may be a word"
COMMON = "common words, extracted at few of their places"
COMMON_PARTS = "within longer names: common words, extracted at few of their places"


class WordSequence(NamedTuple):
    """A text as a sequence of words.

    Attributes:
        haystack: The words in lower case and in the singular, between edges.
        bounds: Where each begins, and where it ends, in turn, in characters of the text.
        edges: The places in the haystack of the edges before each word, and of the last one.
    """

    haystack: str
    bounds: list[int]
    edges: list[int]


@lru_cache(maxsize=1 << 17)
def _bare(word: str) -> str:
    return american(singular(without_accents(word).translate(_APOSTROPHES).casefold()))


def words_of(text: str) -> WordSequence:
    """The words of a text in American spelling, with a break where no name continues.

    >>> words_of("Neural-network models. We").haystack.split("\\x1f")
    ['', 'neural', 'network', 'model', '\\x1e', 'we', '']
    """
    # What stands between words, and words, in turn; nothing follows the last one.
    pieces = [*_WORD.split(text)[:-1], ""]
    words = read_numerals(pieces[1::2])
    parts = [
        _bare(word) + (_EDGE if gap == " " or not _END_OF_NAME.search(gap) else _END)
        for word, gap in zip(words, pieces[2::2], strict=True)
    ]
    edges = accumulate(map(len, parts), initial=0)
    return WordSequence(_EDGE + "".join(parts), list(accumulate(map(len, pieces))), list(edges))


@dataclass(slots=True)
class _Pattern:
    """A sequence of words that names something.

    Attributes:
        node: What it names in lower case, and in how many mentions.
        acronyms: What it names in capitals: names by their normal form.
        words: How many words it has.
        extracted: Mentions of these words without a capital or a digit inside.
        matched: Places of these words in the texts, likewise.
        capitals: Mentions of them as an acronym.
        guessed: Places of the acronym in texts that do not say what it stands for.
        nested: Those within longer names.
        forms: How it is written, with the node of each.
        loud_forms: Those of them that are acronyms.
    """

    node: tuple[int, int] = (0, 0)
    acronyms: dict[str, int] = field(default_factory=dict)
    words: int = 0
    extracted: int = 0
    matched: int = 0
    capitals: int = 0
    guessed: int = 0
    nested: int = 0
    forms: set[tuple[int, int]] = field(default_factory=set)
    loud_forms: set[tuple[int, int]] = field(default_factory=set)


def match_names(connection: Connection) -> None:
    """Fill ``node_document`` by extracted, matched and nested names, and ``unmatched``.

    Args:
        connection: The graph, in a transaction, with ``resolved`` and the view ``mention``.
    """
    extracted = "SELECT node, document, sum(mentions), 0, 0 FROM mention GROUP BY node, document"
    connection.execute(f"INSERT INTO node_document {extracted}")
    patterns = _patterns(connection)
    if not patterns:
        return
    columns = "pattern, node, written, document, matched INTEGER, nested INTEGER"
    connection.execute(f"CREATE TEMP TABLE place ({columns})")
    places = _places(connection, patterns)
    connection.executemany("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?)", places)
    # What is hardly ever extracted where it stands is not a name there, or none within longer names; an acronym, only where
    # the text explains it.
    connection.execute("CREATE TEMP TABLE common (pattern INTEGER PRIMARY KEY, parts INTEGER)")
    connection.execute("CREATE TEMP TABLE unsure (pattern INTEGER PRIMARY KEY)")
    for number, pattern in enumerate(patterns.values()):
        if pattern.capitals < _COMMON_WORD * pattern.guessed:
            connection.execute("INSERT INTO unsure VALUES (?)", (number,))
            connection.executemany(_UNMATCHED, [(*form, MANY) for form in pattern.loud_forms])
        least = _COMMON_WORD if pattern.words == 1 else _COMMON_WORDS
        anywhere = pattern.extracted < least * pattern.matched
        if anywhere or pattern.extracted < _COMMON_WORDS * (pattern.matched + pattern.nested):
            connection.execute("INSERT INTO common VALUES (?, ?)", (number, not anywhere))
            reason = COMMON if anywhere else COMMON_PARTS
            connection.executemany(_UNMATCHED, [(*form, reason) for form in pattern.forms])
    connection.execute(
        """INSERT INTO node_document SELECT node, document, 0, sum(matched), sum(nested) FROM (
            SELECT p.node, p.document, p.matched, CASE WHEN c.parts THEN 0 ELSE p.nested END AS nested
            FROM place p LEFT JOIN common c ON c.pattern = p.pattern AND NOT p.written
            WHERE coalesce(c.parts, 1) AND NOT (p.written = 2 AND p.pattern IN unsure)
        ) WHERE matched + nested > 0 GROUP BY node, document ORDER BY 1, 2
        ON CONFLICT DO UPDATE SET matched = excluded.matched, nested = excluded.nested"""
    )
    connection.execute("DROP TABLE place")
    connection.execute("DROP TABLE common")
    connection.execute("DROP TABLE unsure")


_UNMATCHED = "INSERT OR IGNORE INTO unmatched VALUES (?, ?, ?)"


def _patterns(connection: Connection) -> dict[str, _Pattern]:
    (names,) = connection.execute("SELECT count(*) FROM name").fetchone()
    least = 1 if names <= _MOST_NAMES else 2
    numbers = dict(connection.execute("SELECT key, id FROM name"))
    patterns: dict[str, _Pattern] = defaultdict(_Pattern)
    acronym = int(MergeRule.ACRONYM)
    query = f"""SELECT m.form, m.node, f.surface, sum(m.mentions), min(m.rules & {acronym}) FROM mention m
    JOIN form f ON f.id = m.form
    WHERE m.rules & {int(MergeRule.COREFERENCE)} = 0
    GROUP BY m.form, m.node HAVING count(DISTINCT m.document) >= {least}"""
    for form, node, surface, mentions, explained in connection.execute(query):
        normal = normal_form(surface)
        if len(normal.folded) <= 1 or not any(map(str.isalpha, normal.folded)):
            connection.execute(_UNMATCHED, (node, form, NO_LETTERS))
            continue
        if explained and len(normal.words) == 1 and not normal.is_acronym:
            # "Met" is methionine where a text says so; elsewhere people met.
            connection.execute(_UNMATCHED, (node, form, SHORT))
            continue
        words = words_of(" ".join(normal.words))
        pattern = patterns[words.haystack]
        pattern.words = len(words.edges) - 1
        pattern.forms.add((node, form))
        if not is_proper(surface):
            pattern.extracted += mentions
        if normal.is_acronym and normal.key in numbers:
            pattern.acronyms[normal.key] = numbers[normal.key]
            pattern.capitals += mentions
            pattern.loud_forms.add((node, form))
        elif mentions > pattern.node[1]:
            pattern.node = node, mentions
    patterns.pop(_EDGE, None)
    return dict(patterns)


# A digit or a capital behind the first letter of a word. A word that begins with a digit is none: "3D" stands in
# 667 of 3,000 abstracts on object detection, and is extracted in 22.
_INNER = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]*?[\dA-Z]")


@lru_cache(maxsize=1 << 17)
def is_proper(surface: str) -> bool:
    """Whether a word of it has a digit, or a capital, behind its first letter."""
    return _INNER.search(surface) is not None


def _places(
    connection: Connection, patterns: Mapping[str, _Pattern]
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """How often a pattern names a node in a text: in lower case (0), as a proper name (1), as an acronym not explained there (2).

    By itself, and within or across a longer name.
    """
    automaton, named = AhoCorasick(list(patterns)), list(patterns.values())
    resolved = dict(connection.execute("SELECT name, node FROM resolved"))
    ambiguous = {short for (short,) in connection.execute("SELECT DISTINCT short FROM ambiguous")}
    expansions: dict[int, dict[int, int]] = defaultdict(dict)
    for document, short, long in connection.execute("SELECT document, short, long FROM expansion"):
        expansions[document][short] = resolved.get(long, long)
    nodes = {node for (node,) in connection.execute("SELECT DISTINCT node FROM mention")}
    # Lists, because this is asked a hundred times an abstract.
    node_of = [pattern.node[0] for pattern in named]
    acronyms_of = [pattern.acronyms for pattern in named]
    length_of = [pattern.words for pattern in named]
    for document, content in connection.execute("SELECT document, content FROM text"):
        text, own = unpacked(content), expansions.get(document, {})
        words = words_of(
            text.replace("\n", ";", 1)
        )  # no name begins in the title and ends behind it
        edges, bounds, found = words.edges, words.bounds, []
        for index, begin, _ in automaton.find_matches_as_indexes(words.haystack, overlapping=True):
            first = bisect_left(edges, begin)
            last = first + length_of[index] - 1
            surface = text[bounds[2 * first] : bounds[2 * last + 1]]
            node: int | None = node_of[index]
            guessed = False
            if acronyms := acronyms_of[index]:
                name = acronyms.get(normal_form(surface).key)
                if name is not None:
                    # An acronym with several meanings is read only where the abstract says which.
                    meant = resolved.get(name, None if name in ambiguous else name)
                    node = own.get(name, meant)
                    # CI may be anything; GPT-4 is not.
                    guessed = name not in own and surface.isalpha()
            negated = (
                first and text[bounds[2 * first - 2] : bounds[2 * first - 1]].casefold() == "non"
            )
            if node is not None and node in nodes and not negated:
                found.append((first, -last, index, node, 2 if guessed else int(is_proper(surface))))
        counts: dict[tuple[int, int, int], list[int]] = {}
        reached, longest = -1, 0
        for first, last, index, node, written in sorted(found):
            by_itself = first > reached
            if by_itself:
                reached, longest = -last, node
            elif node == longest or -last < reached:
                continue  # "BLEU" within "BLEU score" is the same thing, named once
            counts.setdefault((index, node, written), [0, 0])[0 if by_itself else 1] += 1
            if written == 2:
                named[index].guessed += by_itself
            elif not written:
                named[index].matched += by_itself
                named[index].nested += not by_itself
        for place, (matched, nested) in counts.items():
            yield *place, document, matched, nested
