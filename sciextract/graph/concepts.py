"""The concepts of one abstract: coreferent mentions are one concept, which the best of them names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sciextract.documents.annotations import Entity
from sciextract.graph.normalisation import MergeRule, clean, normal_form

_IN_BRACKETS = re.compile(r"\s*\(([^()]+)\)")
_INNER = re.compile(r"(?<=\S)\w")
_MOST_WORDS = 5
_AND = "and"
_ACRONYM = int(MergeRule.ACRONYM)


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity with the key that it has by itself.

    Attributes:
        entity: The entity.
        surface: Its string, on one line.
        key: Its normal form; empty where it names nothing.
        rules: What had to be changed or known for it: bits of ``MergeRule``.
    """

    entity: Entity
    surface: str
    key: str
    rules: int


@dataclass(frozen=True, slots=True)
class Concept:
    """The meaning of one or more mentions of an abstract.

    Attributes:
        mentions: In text order.
        key: The normal form of its name; empty where no mention names it.
    """

    mentions: tuple[Mention, ...]
    key: str


class ConceptFinder:
    """Names the concepts of one abstract.

    Args:
        expansions: Acronyms of the abstract with what they stand for.
        generic: Labels of mentions that name nothing of their own.
    """

    def __init__(self, expansions: Mapping[str, str], generic: frozenset[str]) -> None:
        self._expanded = {
            normal_form(short).key: normal_form(long).folded for short, long in expansions.items()
        }
        self._spelled_out = frozenset(self._expanded.values())
        self._generic = generic

    def of(self, group: Sequence[Entity], text: str) -> list[Concept]:
        """The concept that a group of coreferent entities means.

        It is several where mentions are names of different concepts: models often take what is listed or compared
        for coreferent.
        """
        mentions = [self._mention(entity, text) for entity in group]
        if len(mentions) == 1:
            return [Concept(tuple(mentions), mentions[0].key)]
        best = _best(mentions)
        if best is None:
            return [Concept(tuple(mentions), "")]
        apart = sorted({each.key for each in mentions if self._is_another(each, best)})
        concepts = [
            Concept(tuple([each for each in mentions if each.key == key]), key) for key in apart
        ]
        rest = tuple([each for each in mentions if each.key not in apart])
        return [Concept(rest, best.key), *concepts]

    def _is_another(self, mention: Mention, best: Mention) -> bool:
        """Whether a mention cannot mean what the one does that names its cluster."""
        both = {mention.key, best.key}
        if len(both) == 2 and both <= self._spelled_out:
            return True  # the text itself spells out two concepts
        return _names_another(mention, best)

    def _mention(self, entity: Entity, text: str) -> Mention:
        surface = clean(" ".join(entity.text_of(text).split()))
        if not entity.label or entity.label in self._generic:
            return Mention(entity, surface, "", 0)
        expanded, bare = self._without_brackets(surface)
        form = normal_form(bare)
        if self._expanded.get(form.key):
            return Mention(entity, surface, self._expanded[form.key], form.rules | _ACRONYM)
        return Mention(entity, surface, form.key, form.rules | expanded)

    def _without_brackets(self, surface: str) -> tuple[int, str]:
        """A mention that holds an acronym of the text in brackets means the same without it."""
        if "(" not in surface:
            return 0, surface
        bare = _IN_BRACKETS.sub(self._kept, surface).strip()
        return 0 if bare == surface else _ACRONYM, bare or surface

    def _kept(self, brackets: re.Match[str]) -> str:
        return "" if normal_form(brackets[1]).key in self._expanded else brackets[0]


def _best(mentions: Sequence[Mention]) -> Mention | None:
    times = Counter([each.key for each in mentions])
    named = [each for each in mentions if each.key]
    return max(named, key=lambda each: _quality(each, times[each.key]), default=None)


def _names_another(mention: Mention, best: Mention) -> bool:
    """Whether a mention is a proper name that has nothing in common with the one that names its cluster."""
    key, other = mention.key.casefold(), best.key.casefold()
    if not key or key in other or other in key or not _is_name(mention):
        return False
    if mention.rules & best.rules & _ACRONYM:
        return True  # the text itself spells out two concepts
    return not set(mention.surface.casefold().split()) & set(best.surface.casefold().split())


def shorter_name(mention: Mention, best: Mention) -> str:
    """The key of the name that the other one ends with, or begins with as a proper name; "" where neither does.

    A "chart parser" may be called "parser", and the "WildCD corpus" "WildCD"; "back-translation" and "neural
    translation" agree in a word only.
    """
    shorter, longer = sorted((mention, best), key=lambda each: len(_words(each)))
    few, many = _words(shorter), _words(longer)
    if _AND in many or len(few) == len(many):
        return ""
    ends = many[-1:] == few[-1:] and _in_order(few, many)
    begins = many[: len(few)] == few and _is_name(shorter)
    return shorter.key if ends or begins else ""


def _in_order(few: Sequence[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(word in rest for word in few)


def _words(mention: Mention) -> list[str]:
    return normal_form(mention.surface).spaced.split()


def _quality(mention: Mention, times: int) -> tuple[bool, int, int, int]:
    """Proper names are best, then several words, then frequent ones, then the first one."""
    words = min(len(mention.surface.split()), _MOST_WORDS)
    return _is_name(mention), words, times, -mention.entity.span.char_start


def _is_name(mention: Mention) -> bool:
    """Capitals or digits inside a word, as in ``DyGIE++``, ``GPT-2`` or ``SciBERT``, or an acronym of the text."""
    inner = _INNER.findall(mention.surface)
    capital_or_digit = any(each.isupper() or each.isdigit() for each in inner)
    return capital_or_digit or bool(mention.rules & _ACRONYM)
