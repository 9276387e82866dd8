"""What one abstract says: which things it names, how often and how, and how it relates them."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.documents.bibliography import bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.graph.naming.acronyms import Expansion, find_expansions
from sciextract.graph.naming.normal_form import normal_form
from sciextract.graph.naming.rules import MergeRule
from sciextract.graph.naming.things import Thing, Things
from sciextract.graph.naming.unicode import clean

GENERIC = frozenset({"Generic"})
"""Labels of mentions that name nothing of their own, such as "the method"."""


@dataclass(frozen=True, slots=True)
class Naming:
    """How a thing is called in one abstract.

    Attributes:
        key: The normal form of the thing.
        surface: The mention as it is written.
        label: Its entity type.
        rules: Why the mention means the thing.
    """

    key: str
    surface: str
    label: str
    rules: MergeRule


@dataclass(frozen=True, slots=True)
class Evidence:
    """A relation between two things, and the sentences that express it.

    Attributes:
        head: The normal form of the head.
        tail: The normal form of the tail.
        label: The relation type.
        score: Its probability; ``None`` where no model made it.
        sentences: The characters from the first to the last sentence that an argument lies in.
    """

    head: str
    tail: str
    label: str
    score: float | None
    sentences: Span


@dataclass(frozen=True, slots=True)
class Contribution:
    """All that one abstract adds to a graph.

    Attributes:
        doc_key: The abstract's name.
        text: Its text.
        text_sha256: The hash of the text: the same text is the same abstract.
        model: ``NAME@HASH``; empty where no model predicted.
        year: Of publication, where the input tells.
        namings: How often each thing is called how.
        evidence: Relations in text order.
        expansions: Acronyms with the key and the wording of what they stand for.
        nameless: Relations with an argument that has no name, which are left out.
        loops: Relations between two mentions of one thing, which are left out.
        fingerprint: Changes with everything above: one that is known needs no second look.
    """

    doc_key: str
    text: str
    text_sha256: str
    model: str
    year: int | None
    namings: Mapping[Naming, int]
    evidence: tuple[Evidence, ...]
    expansions: tuple[tuple[str, str, str], ...]
    nameless: int
    loops: int
    fingerprint: bytes


def contribution_of(
    annotated: AnnotatedDocument, generic: frozenset[str] = GENERIC, year: int | None = None
) -> Contribution:
    """What an annotated abstract says; what was rejected in it does not count.

    Args:
        annotated: The abstract.
        generic: Labels of mentions that name nothing of their own.
        year: Of publication; that of the abstract's fields when ``None``.
    """
    document = annotated.document
    expansions = find_expansions(document.text)
    things = _things(annotated, generic, expansions)
    evidence, nameless, loops = _evidence(annotated, things)
    said = (
        document.text_sha256,
        clean(str(annotated.model or "")),
        year or bibliography_of(document.fields).year,
        _namings(things),
        tuple(evidence),
        tuple([each for each in map(_expansion, expansions) if each[0] and each[1]]),
        nameless,
        loops,
    )
    return Contribution(clean(document.doc_key), document.text, *said, _fingerprint(said))


def _things(
    annotated: AnnotatedDocument, generic: frozenset[str], expansions: Iterable[Expansion]
) -> list[Thing]:
    annotations, text = annotated.annotations, annotated.document.text
    named = Things({each.short: each.long for each in expansions}, generic)
    kept = [each for each in annotations.entities if each.state is not State.REJECTED]
    groups = _groups(kept, annotations)
    return [thing for group in groups for thing in named.of(group, text)]


def _groups(entities: list[Entity], annotations: Annotations) -> list[list[Entity]]:
    """Entities that mean the same, together; clusters that share a mention are one."""
    group_of = dict(zip([each.id for each in entities], count(), strict=False))
    for cluster in annotations.clusters:
        states = cluster.mention_states or [cluster.state] * len(cluster.mentions)
        together = {
            group_of[mention]
            for mention, state in zip(cluster.mentions, states, strict=True)
            if mention in group_of and state is not State.REJECTED
        }
        if len(together) > 1 and cluster.state is not State.REJECTED:
            first = min(together)
            group_of = {each: first if at in together else at for each, at in group_of.items()}
    groups: dict[int, list[Entity]] = {}
    for entity in entities:
        groups.setdefault(group_of[entity.id], []).append(entity)
    return list(groups.values())


def _namings(things: Iterable[Thing]) -> Counter[Naming]:
    return Counter(
        [
            Naming(thing.key, mention.surface, clean(mention.entity.label), thing.rules_of(mention))
            for thing in things
            for mention in thing.mentions
            if thing.key and mention.key
        ]
    )


def _evidence(
    annotated: AnnotatedDocument, things: Iterable[Thing]
) -> tuple[list[Evidence], int, int]:
    by_id = {mention.entity.id: (thing, mention) for thing in things for mention in thing.mentions}
    sentences = _Sentences(annotated)
    evidence: list[Evidence] = []
    nameless = loops = 0
    for relation in annotated.annotations.relations:
        if relation.state is State.REJECTED or not {relation.head, relation.tail} <= by_id.keys():
            continue
        (head, head_mention), (tail, tail_mention) = by_id[relation.head], by_id[relation.tail]
        if head is tail or (head.key and head.key == tail.key):
            loops += 1
        elif not head.key or not tail.key:
            nameless += 1
        else:
            around = sentences.around(head_mention.entity.span, tail_mention.entity.span)
            evidence.append(
                Evidence(head.key, tail.key, clean(relation.label), relation.score, around)
            )
    return evidence, nameless, loops


class _Sentences:
    """Where the sentences of an abstract begin and end, in characters."""

    def __init__(self, annotated: AnnotatedDocument) -> None:
        tokens = annotated.document.tokens
        self._length = len(annotated.document.text)
        self._starts = [tokens.spans[each.token_start].char_start for each in tokens.sentences]
        self._ends = [tokens.spans[each.token_end - 1].char_end for each in tokens.sentences]

    def around(self, first: Span, second: Span) -> Span:
        """From the start of the first to the end of the last sentence that one of the spans touches."""
        if not self._starts:
            return Span(0, self._length)
        begin = bisect_right(self._starts, min(first.char_start, second.char_start)) - 1
        end = bisect_right(self._starts, max(first.char_end, second.char_end) - 1) - 1
        return Span(self._starts[max(begin, 0)], self._ends[max(end, 0)])


def _expansion(expansion: Expansion) -> tuple[str, str, str]:
    return (
        normal_form(expansion.short).key,
        normal_form(expansion.long).folded,
        clean(expansion.long),
    )


def _fingerprint(said: tuple[object, ...]) -> bytes:
    return hashlib.blake2b(repr(said).encode("utf-8", "backslashreplace"), digest_size=16).digest()
