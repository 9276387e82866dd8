"""The second step of a build: which names are one node, by acronyms, last and first words that add nothing, and coreference.

All rules work on names, over the whole corpus, and only join a name to one that stands there by itself too:

0. Mentions that are linked to one concept of a vocabulary are one, with all mentions of these strings that nobody linked.
1. An acronym is read as its expansion in the same text, else as the one that most of the corpus gives it.
2. An acronym within a name is read likewise: "NMT model" is "neural machine translation model".
3. Last words that add nothing go ("... model", "... task") where the rest is a name of its own; first words, such as
   "novel", too; and "based" within: "LiDAR-based SLAM" is LiDAR SLAM.
4. Names that differ in such a last word only are one: "phrase-based system" and "phrase-based model".
5. Versions and parts of a data set are one: "MS COCO 2017" and the "COCO benchmark".
6. Coreference joins names within one abstract, where one holds the other and few abstracts have the shorter one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Literal, NamedTuple

from sciextract.graph.acronyms import group_expansions, same_meaning
from sciextract.graph.extraction import is_linked
from sciextract.graph.normalisation import (
    ADJECTIVES,
    DATA_HEADS,
    DATA_PARTS,
    EMPTY_MODIFIERS,
    MECHANISM,
    METHOD_HEADS,
    METRIC_HEADS,
    TASK_HEADS,
    MergeRule,
    normal_form,
)

Words = tuple[str, ...]

_LEAST_SHARE = 0.1
"""Of the abstracts of a name, so many must name it without its last word, too, for that word to go."""
_LEAST_DOCUMENTS = 2
_AGREEING = 0.8
"""Of the abstracts that expand an acronym, so many must agree for it to be read so in those that do not expand it."""
_LEAST_EXPANDED = 0.05
"""Of the abstracts that use an acronym, so many must give it an expansion for that to be a meaning in the corpus."""
_METHOD_LABEL_SHARE = 0.15
_OFTEN = 3
_ADJECTIVE_ENDINGS = ("able", "al", "ary", "ed", "ible", "ic", "ive", "ous")
# "2.0", "v2" or "2017" behind the name of a data set, with or without a space; not the 100 of CIFAR-100.
_VERSION = re.compile(r"(?:[vV]\.?[0-9]+(?:\.[0-9]+)*|[0-9]+\.[0-9]+|(?:19|20)[0-9]{2})$")
_MAKERS = ("MS", "Microsoft")
_MOST_LONGER = 0.5
"""A word with a capital is an adjective, such as "English", where it begins so many other names per abstract."""
_PROPER_SHARE = 0.6
"""A single word is a proper name where so many of its mentions have a capital."""
_SEVERAL_WORDS = 2
_FEW_ABSTRACTS = 3
"""Coreference joins a name that so many abstracts have; a more frequent one stands for itself."""
_ANY_HEAD = METHOD_HEADS | TASK_HEADS
_EMPTY = _ANY_HEAD | METRIC_HEADS | {MECHANISM}

# Names with the wording of what an acronym stands for, first such that are nothing else; each with its abstracts, its most
# frequent form of its own, how many of its mentions begin with a capital, and the type that most of them have.
_NAMES = """
WITH used AS (
    SELECT name, form, rules & :acronym AS spelled, count(DISTINCT document) AS documents, sum(mentions) AS mentions
    FROM naming GROUP BY name, form, spelled
), counted AS (
    SELECT u.name, sum(u.documents) AS documents, f.surface, max(iif(u.spelled, 0, u.mentions)) AS own,
        sum(iif(u.spelled, 0, u.mentions * (g.surface GLOB '[A-Z]*'))) AS capitals,
        sum(iif(u.spelled, 0, u.mentions)) AS mentions
    FROM used u JOIN form f ON f.id = u.form JOIN form g ON g.id = u.form GROUP BY u.name
), typed AS (
    SELECT name, label, max(uses) FROM (
        SELECT name, label, sum(mentions) AS uses FROM naming GROUP BY name, label
    ) GROUP BY name
), worded AS (SELECT e.long AS name, f.surface FROM expansion e JOIN form f ON f.id = e.form GROUP BY e.long)
SELECT n.name, coalesce(c.documents, 0), iif(c.own, c.surface, coalesce(w.surface, c.surface)),
    coalesce(c.capitals, 0), coalesce(c.mentions, 0), coalesce(t.label, 0)
FROM (SELECT name FROM worded UNION SELECT name FROM counted) n
LEFT JOIN worded w USING (name) LEFT JOIN counted c USING (name) LEFT JOIN typed t USING (name)
ORDER BY w.name IS NULL, n.name
"""


class Name(NamedTuple):
    """A name of the corpus.

    Attributes:
        id: Its number.
        words: Its words as they are written most often.
        documents: Abstracts that name it.
        proper: Whether it is an acronym or holds a capital or digit inside, or has a capital nearly always.
        label: The type that most of its mentions have.
    """

    id: int
    words: Words
    documents: int
    proper: Literal["", "capital", "inner"]
    label: int


class Resolved(NamedTuple):
    """Where a name belongs, and by which rules."""

    node: int
    rules: int


def merge_names(connection: Connection) -> None:
    """Fill ``resolved``, ``ambiguous`` and ``joined`` from the facts, and make the view ``mention`` of all.

    Args:
        connection: The graph, in a transaction.
    """
    merger = _Merger(connection, _names(connection))
    resolved = merger.run()
    rows = [(name, *end) for name, end in resolved.items() if name != end.node]
    connection.executemany("INSERT INTO resolved VALUES (?, ?, ?)", rows)
    connection.executemany("INSERT INTO ambiguous VALUES (?, ?, ?)", merger.ambiguous)
    # Coreference counts where the names agree, and where few abstracts have the shorter one.
    connection.execute(_JOINED, (_FEW_ABSTRACTS,))
    connection.execute(_MENTIONS)


_JOINED = """WITH frequent AS (
    SELECT m.node FROM naming n JOIN meaning m ON m.name = n.name
    GROUP BY m.node HAVING count(DISTINCT n.document) > ?
) INSERT INTO joined SELECT c.document, c.name, c.other FROM coreferent c
JOIN meaning m ON m.name = c.shorter WHERE m.node NOT IN frequent"""

# Mentions with the node that each means in the end.
_MENTIONS = f"""
CREATE TEMP VIEW mention AS
SELECT coalesce(r.node, j.other, n.name) AS node, n.document, n.form, n.label,
    n.rules | coalesce(r.rules, 0) | CASE
        WHEN coalesce(r.node, j.other, n.name) <> coalesce(own.node, n.name) THEN {int(MergeRule.COREFERENCE)} ELSE 0 END
        AS rules, n.mentions
FROM naming n LEFT JOIN joined j ON j.document = n.document AND j.name = n.name
LEFT JOIN resolved r ON r.name = coalesce(j.other, n.name)
LEFT JOIN resolved own ON own.name = n.name
"""


def _names(connection: Connection) -> dict[int, Name]:
    names = {}
    rows = connection.execute(_NAMES, {"acronym": int(MergeRule.ACRONYM)})
    for number, documents, surface, capitals, mentions, label in rows:
        proper: Literal["", "capital", "inner"] = ""
        first = surface.split(" ", 1)[0]
        if documents and any(letter.isupper() or letter.isdigit() for letter in first[1:]):
            proper = "inner"
        elif mentions and capitals >= _PROPER_SHARE * mentions:
            proper = "capital"
        words = normal_form(surface).words or (surface,)
        names[number] = Name(number, words, documents, proper, label)
    return names


class _Merger:
    def __init__(self, connection: Connection, names: Mapping[int, Name]) -> None:
        self._names = names
        self._resolved: dict[int, Resolved] = {}
        self._meaning: dict[str, Name] = {}
        self.ambiguous: list[tuple[int, int, int]] = []
        linked = _linked_names(connection)
        rows = connection.execute("SELECT id, key, folded FROM name").fetchall()
        self._number = {key: number for number, key, _ in rows}
        self._concepts = {number for number, key, _ in rows if is_linked(key)}
        self._linked = {self._number[key]: to for key, to in linked.items() if key in self._number}
        self._acronyms = {number: (key, folded) for number, key, folded in rows if folded}
        self._expansions = _expansions(connection, names)
        # The types of names that end with "method", "task" and the like, such as Method and Task; and of data sets.
        self._method_labels = self._labels_of(_ANY_HEAD)
        self._data_labels = self._labels_of(DATA_HEADS)
        self._begins = Counter([one.words[0] for one in names.values() if len(one.words) > 1])
        self._documents = Counter({name.id: name.documents for name in names.values()})

    def _labels_of(self, heads: frozenset[str]) -> set[int]:
        """The types that names with these last words have."""
        ends = [name for name in self._names.values() if not heads.isdisjoint(name.words[-1:])]
        labels = Counter([name.label for name in ends])
        least = _METHOD_LABEL_SHARE * labels.total()
        return {label for label, several in labels.items() if several >= least}

    def _end(self, name: int) -> Resolved:
        node, rules, seen = name, 0, {name}
        while (step := self._resolved.get(node)) and step.node not in seen:
            node, rules = step.node, rules | step.rules
            seen.add(node)
        return Resolved(node, rules)

    def run(self) -> dict[int, Resolved]:
        """Joins acronyms, their spelling, and words that add nothing; where each name belongs in the end."""
        self._read_acronyms()
        self._read_acronyms()  # again, because an expansion may hold another acronym
        # Acronyms that nobody expands mean the word in lower case; a word that always has a capital, the acronym.
        for number, (_, folded) in self._acronyms.items():
            if number not in self._expansions:
                self._resolved[number] = Resolved(folded, int(MergeRule.CASE))
            elif number in self._resolved and (word := self._names.get(folded)) and word.proper:
                self._resolved[folded] = Resolved(number, int(MergeRule.CASE))
        for number in self._acronyms:
            if number in self._resolved:
                self._documents[self._resolved[number].node] += self._documents[number]
        variants: dict[tuple[str, str], list[Name]] = defaultdict(list)
        for name in self._names.values():
            # An acronym that nobody expands may be a version, too: "ISIC-2019".
            unexpanded = name.id in self._acronyms and name.id not in self._expansions
            if name.id in self._concepts:
                continue
            if not name.documents or (name.id in self._resolved and not unexpanded):
                continue
            words = self._spell_out(name.words)
            rules = int(MergeRule.NESTED_ACRONYM) if words != name.words else 0
            family = self._family(name)
            if isinstance(family, int):
                self._resolved[name.id] = Resolved(family, int(MergeRule.VERSION))
                continue
            if unexpanded:
                if family:
                    variants.setdefault((family, "version"), []).append(name)
                continue
            target, removed = self._without_empty_words(name, words)
            if target is None and "based" in words[1:-1]:
                # "LiDAR-based SLAM" is LiDAR SLAM, where that stands by itself.
                target = self._number_called(tuple([word for word in words if word != "based"]))
                removed = int(MergeRule.MODIFIER)
            if target is None and rules:
                target = self._number.get("".join(words).casefold())
            if target is not None and target != name.id:
                self._resolved[name.id] = Resolved(target, rules | removed)
                continue
            if family:
                variants[family, "version"].append(name)
                continue
            head, rest = words[-1].casefold(), "".join(words[:-1]).casefold()
            if len(words) > _SEVERAL_WORDS and head in METHOD_HEADS:
                variants[rest, "method"].append(name)
            elif len(words) >= _SEVERAL_WORDS and head in DATA_HEADS:
                variants[rest, "data"].append(name)
        for (_, kind), group in variants.items():
            rules = int(MergeRule.VERSION if kind == "version" else MergeRule.HEAD)
            most = max(group, key=lambda variant: (variant.documents, -variant.id))
            if most.documents >= _LEAST_DOCUMENTS:
                others = [variant.id for variant in group if variant.id != most.id]
                self._resolved.update(dict.fromkeys(others, Resolved(most.id, rules)))
        for name, concept in self._linked.items():
            self._resolved[name] = Resolved(concept, int(MergeRule.LINK))
        return {name: self._end(name) for name in self._resolved}

    def _read_acronyms(self) -> None:
        self.ambiguous = []
        # Expansions in lower case with acronyms spelled out, without last words that add nothing.
        spaced: dict[int, str] = {}
        for long in {long for counts in self._expansions.values() for long in counts}:
            words = [word.casefold() for word in self._spell_out(self._names[long].words)]
            while len(words) > _SEVERAL_WORDS and words[-1] in _ANY_HEAD:
                words.pop()
            spaced[long] = " ".join(words) or str(long)
        for short, counts in self._expansions.items():
            expansions = group_expansions(counts, spaced)
            meaning, most = expansions[0]
            if most >= _AGREEING * sum(abstracts for _, abstracts in expansions):
                self._resolved[short] = Resolved(meaning, int(MergeRule.CORPUS_ACRONYM))
                self._meaning[self._acronyms[short][0]] = self._names[meaning]
                for long in counts:  # other wordings of what it means
                    if long != meaning and same_meaning(spaced[long], spaced[meaning]):
                        self._resolved[long] = Resolved(meaning, int(MergeRule.HEAD))
            if len(expansions) > 1:
                self.ambiguous += [(short, *expansion) for expansion in expansions]

    def _spell_out(self, words: Words) -> Words:
        spelled: list[str] = []
        for word in words:
            part = self._meaning[word].words if word in self._meaning else (word,)
            before = [*map(str.casefold, spelled[-len(part) :])]
            if word in self._meaning and before == [*map(str.casefold, part)]:
                continue  # "automatic speech recognition (ASR) model" says it twice
            spelled += part
        return tuple(spelled)

    def _without_empty_words(self, name: Name, words: Words) -> tuple[int | None, int]:
        """The name without words that add nothing, the shortest that stands by itself, and the rules."""
        found, rules, removed, head = None, 0, 0, ""
        while len(words) > 1:
            if words[0].casefold() in EMPTY_MODIFIERS:
                words, removed = words[1:], removed | int(MergeRule.MODIFIER)
            elif words[-1].casefold() in _EMPTY:
                head, words = words[-1].casefold(), words[:-1]
                removed |= int(MergeRule.HEAD)
                if not self._adds_nothing(head, words, name):
                    break
            else:
                break
            shorter = self._shorter(words, head, name)
            if shorter is not None:
                found, rules = shorter, removed
        return found, rules

    def _family(self, name: Name) -> int | str | None:
        """The data set that a name is a version or part of: its number, or the rest of the name where it has none."""
        words = list(name.words)
        if name.label not in self._data_labels or not words:
            return None
        if words[0] in _MAKERS and len(words) > 1:
            del words[0]
        while words[1:] and (words[-1].casefold() in DATA_PARTS or _VERSION.fullmatch(words[-1])):
            words.pop()
        words[-1] = _VERSION.sub("", words[-1]) or words[-1]
        bare = words[0].removeprefix(_MAKERS[0])
        if len(words) == 1 and bare != words[0] and self._number_called((bare,)):
            words = [bare]
        if tuple(words) == name.words or len(words[0]) == 1:
            return None
        words = list(normal_form(" ".join(words)).words)
        number = self._number_called(tuple(words))
        base, end = self._names.get(number or 0), self._end(number or 0).node
        documents, meant = self._documents[end], self._names.get(end, base)
        proper = any(word[0].isalpha() and word[1:] != word[1:].casefold() for word in words)
        if base and meant and documents and {base.label, meant.label} <= self._data_labels:
            titled = all(word[:1].isupper() for word in words)
            # "English corpus" is not English, which begins many other names; the "Cora data set" is Cora.
            alone = len(words) > 1 or self._begins[words[0]] <= _MOST_LONGER * documents
            return number if proper or (titled and base.proper and alone) else None
        # "QA test set" and "QA benchmark" are no data set with a name, but "VQA v2" is.
        named = proper and (not documents or any(map(_VERSION.search, name.words)))
        if named and number and not documents and number not in self._resolved:
            return number  # an acronym of several meanings that nobody uses without a year
        return "".join(words).casefold() if named else None

    def _adds_nothing(self, head: str, rest: Words, name: Name) -> bool:
        base = self._names.get(self._number_called(rest) or 0)
        proper = base.proper if base else ""
        if head in METRIC_HEADS:
            return proper == "inner" or rest[-1] in self._meaning
        if len(rest) >= _SEVERAL_WORDS or head == MECHANISM:
            return True
        same_type = base is not None and base.label == name.label
        return proper == "inner" or (proper == "capital" and same_type)

    def _shorter(self, words: Words, head: str, name: Name) -> int | None:
        """The name of these words, where it is named often enough next to the longer one."""
        last = words[-1].casefold()
        bare = len(words) == 1 and (last in _EMPTY | DATA_HEADS or len(last) == 1)
        number = self._number_called(words)
        if bare or last in ADJECTIVES or number is None:
            return None
        base = self._names.get(number)
        if head in _ANY_HEAD and base and base.documents and base.label not in self._method_labels:
            return None  # a "latent variable model" is not a latent variable
        least = max(_LEAST_DOCUMENTS, _LEAST_SHARE * self._documents[name.id])
        alone = self._documents[self._end(number).node]
        compound = self._number_called((last, head)) if head else None
        longer = 0 if compound in (None, name.id) else self._documents[compound]
        if last.endswith(_ADJECTIVE_ENDINGS) or longer > alone:
            # "cross-lingual" or "masked language" is not a name by itself; "information retrieval" is.
            least = max(_OFTEN, 2.0 * self._documents[name.id])
        return number if alone >= least else None

    def _number_called(self, words: Words) -> int | None:
        """The number of the name of these words, an acronym before a word in lower case."""
        acronym = self._number.get("".join(words))
        return acronym if acronym in self._acronyms else self._number.get("".join(words).casefold())


def _linked_names(connection: Connection) -> dict[str, int]:
    """The normal forms of mentions that are linked, with the one concept that each means; each gets a name, to be found by."""
    query = """SELECT DISTINCT n.id, f.surface FROM naming g JOIN name n ON n.id = g.name
        JOIN form f ON f.id = g.form WHERE n.key LIKE ':%'"""
    meant: dict[str, set[int]] = defaultdict(set)
    for number, surface in connection.execute(query).fetchall():
        form = normal_form(surface)
        for key in {form.key, form.folded} - {""}:
            meant[key].add(number)
        connection.execute("INSERT OR IGNORE INTO name (key) VALUES (?)", (form.folded,))
    return {key: min(numbers) for key, numbers in meant.items() if len(numbers) == 1}


def _expansions(connection: Connection, names: Mapping[int, Name]) -> dict[int, Counter[int]]:
    """Abstracts by expansion by acronym, of acronyms that are not words, without expansions that hardly anyone gives."""
    found: dict[int, Counter[int]] = defaultdict(Counter)
    query = """SELECT e.short, e.long, count(*) FROM expansion e JOIN name n ON n.id = e.short
    WHERE n.folded IS NOT NULL GROUP BY e.short, e.long"""
    for short, long, documents in connection.execute(query):
        found[short][long] = documents
    for short, counts in found.items():
        using = counts.total() + (names[short].documents if short in names else 0)
        frequent = [pair for pair in counts.items() if pair[1] >= _LEAST_EXPANDED * using]
        found[short] = Counter(dict(frequent))
    return {short: counts for short, counts in found.items() if counts}
