"""What one abstract says: which concepts it names, how often and how, and how it relates them."""

from __future__ import annotations

import hashlib
import json
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.documents.bibliography import Bibliography, bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.graph.acronyms import Expansion, find_expansions
from sciextract.graph.concepts import Concept, ConceptFinder, shorter_name
from sciextract.graph.normalisation import clean, normal_form


@dataclass(frozen=True, slots=True)
class Abstract:
    """An annotated abstract without its tokens.

    Attributes:
        doc_key: Its name.
        text: Its text.
        text_sha256: The hash of the text.
        model: ``NAME@HASH``; empty where no model predicted.
        paper: What is known of its publication; texts as they were read.
        annotations: What was found in it, the rejected included.
        sentences: Where its sentences lie.
    """

    doc_key: str
    text: str
    text_sha256: str
    model: str
    paper: Bibliography
    annotations: Annotations
    sentences: Sentences


@dataclass(frozen=True, slots=True)
class Sentences:
    """Where the sentences of a text begin and end, in characters, ascending; ends are exclusive."""

    starts: Sequence[int]
    ends: Sequence[int]

    def around(self, first: Span, second: Span) -> tuple[int, int] | None:
        """From the start of the first to the end of the last sentence that one of the spans touches.

        ``None`` in a text without sentences.
        """
        if not self.starts:
            return None
        begin = bisect_right(self.starts, min(first.char_start, second.char_start)) - 1
        end = bisect_right(self.starts, max(first.char_end, second.char_end) - 1) - 1
        return self.starts[max(begin, 0)], self.ends[max(end, 0)]


def abstract_of(annotated: AnnotatedDocument, year: int | None = None) -> Abstract:
    """What a graph needs of an annotated document.

    Args:
        annotated: The document.
        year: Of publication; that of the document's fields when ``None``.
    """
    document = annotated.document
    tokens = document.tokens
    return Abstract(
        document.doc_key,
        document.text,
        document.text_sha256,
        str(annotated.model or ""),
        published(document.fields, year),
        annotated.annotations,
        Sentences(
            [tokens.spans[each.token_start].char_start for each in tokens.sentences],
            [tokens.spans[each.token_end - 1].char_end for each in tokens.sentences],
        ),
    )


def published(fields: Mapping[str, Any], year: int | None) -> Bibliography:
    """The bibliographic data in a document's fields; ``year`` comes before the one that they give."""
    found = bibliography_of(fields)
    return replace(found, year=year) if year else found


_FAST_COMPRESSION = 1
GENERIC = frozenset({"Generic"})
"""Labels of mentions that name nothing of their own, such as "the method"."""


@dataclass(frozen=True, slots=True)
class CountSettings:
    """What of an abstract counts; the same for all abstracts of a graph.

    Attributes:
        generic: Labels of mentions that name nothing of their own.
        least_score: Relations with a lower probability are left out; those without one stay.
    """

    generic: frozenset[str] = GENERIC
    least_score: float = 0.0


class Naming(NamedTuple):
    """A name in one abstract.

    Attributes:
        key: Its normal form; of an acronym that the abstract expands, that of the expansion.
        surface: The mention as it is written.
        label: Its entity type.
        rules: Why the mention has this normal form: bits of :class:`~sciextract.graph.normalisation.MergeRule`.
    """

    key: str
    surface: str
    label: str
    rules: int


class Coreferent(NamedTuple):
    """Two names of one coreference cluster of which one holds the other.

    Attributes:
        key: The normal form of a mention.
        other: That of the mention that names the cluster best.
        shorter: The one of both that the other holds: see :func:`~sciextract.graph.concepts.shorter_name`.
    """

    key: str
    other: str
    shorter: str


class Evidence(NamedTuple):
    """A relation between two names, and where its abstract expresses it, in characters, ends exclusive.

    Attributes:
        head: The normal form of the head.
        tail: The normal form of the tail.
        label: The relation type.
        score: Its probability; ``None`` where no model made it.
        char_start: Where the first sentence begins that an argument lies in.
        char_end: Where the last one ends.
        head_start: Where the mention of the head begins.
        head_end: Where it ends.
        tail_start: Where the mention of the tail begins.
        tail_end: Where it ends.
    """

    head: str
    tail: str
    label: str
    score: float | None
    char_start: int
    char_end: int
    head_start: int
    head_end: int
    tail_start: int
    tail_end: int


@dataclass(frozen=True, slots=True)
class Contribution:
    """All that one abstract adds to a graph, ready to be kept: what costs time is done by whoever reads it.

    Attributes:
        doc_key: The abstract's name.
        content: Its text, packed: see :func:`unpacked`.
        text_sha256: The hash of the text: the same text is the same abstract.
        model: ``NAME@HASH``; empty where no model predicted.
        paper: What the input tells of its publication.
        namings: How often each name stands there in which form.
        coreferents: Names that agree and that coreference joins.
        evidence: Relations in text order.
        expansions: Acronyms with the key and the wording of what they stand for.
        spaced: Every mention and wording with its normal form with spaces.
        nameless: Relations with an argument that has no name, which are left out.
        loops: Relations between two mentions of one concept, which are left out.
        unlikely: Relations that the model gave too low a probability, which are left out.
        fingerprint: A hash of all facts: a known one is not written again.
    """

    doc_key: str
    content: bytes
    text_sha256: str
    model: str
    paper: Bibliography
    namings: Mapping[Naming, int]
    coreferents: tuple[Coreferent, ...]
    evidence: tuple[Evidence, ...]
    expansions: tuple[tuple[str, str, str], ...]
    spaced: Mapping[str, str]
    nameless: int
    loops: int
    unlikely: int
    fingerprint: bytes


def contribution_of(
    annotated: AnnotatedDocument, settings: CountSettings = CountSettings(), year: int | None = None
) -> Contribution:
    """What an annotated document says; what was rejected in it does not count.

    Args:
        annotated: The abstract.
        settings: What counts of it.
        year: Of publication; that of the abstract's fields when ``None``.
    """
    return contribution_from(abstract_of(annotated, year), settings)


def contribution_from(abstract: Abstract, settings: CountSettings) -> Contribution:
    """The contribution of an abstract: see :func:`contribution_of`."""
    found = find_expansions(abstract.text)
    concepts = _concepts(abstract, settings.generic, found)
    namings, model = _namings(concepts), clean(abstract.model)
    coreferents = tuple(dict.fromkeys([each for one in concepts for each in _coreferents(one)]))
    paper = _cleaned(abstract.paper)
    evidence, nameless, loops, unlikely = _evidence(abstract, concepts, settings.least_score)
    expansions = tuple([each for each in map(_expansion, found) if each[0] and each[1]])
    facts = (
        model,
        astuple(paper),
        list(namings.items()),
        coreferents,
        evidence,
        expansions,
        nameless,
        loops,
        unlikely,
    )
    return Contribution(
        doc_key=clean(abstract.doc_key),
        content=packed(abstract.text),
        text_sha256=abstract.text_sha256,
        model=model,
        paper=paper,
        namings=namings,
        coreferents=coreferents,
        evidence=tuple(evidence),
        expansions=expansions,
        spaced=_spaced(namings, expansions),
        nameless=nameless,
        loops=loops,
        unlikely=unlikely,
        fingerprint=_fingerprint(abstract.text_sha256, facts),
    )


def _cleaned(paper: Bibliography) -> Bibliography:
    return replace(
        paper,
        doi=paper.doi and clean(paper.doi),
        title=paper.title and clean(paper.title),
        venue=paper.venue and clean(paper.venue),
        authors=tuple(map(clean, paper.authors)),
    )


def packed(text: str) -> bytes:
    """A text as a graph keeps it."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _FAST_COMPRESSION)


def unpacked(content: bytes) -> str:
    """The text that :func:`packed` packed."""
    return zlib.decompress(content).decode("utf-8", "surrogatepass")


def _concepts(
    abstract: Abstract, generic: frozenset[str], expansions: Iterable[Expansion]
) -> list[Concept]:
    annotations = abstract.annotations
    named = ConceptFinder({each.short: each.long for each in expansions}, generic)
    kept = [each for each in annotations.entities if each.state is not State.REJECTED]
    groups = _groups(kept, annotations)
    return [concept for group in groups for concept in named.of(group, abstract.text)]


def _groups(entities: list[Entity], annotations: Annotations) -> list[list[Entity]]:
    """Entities that mean the same, together; clusters that share a mention are one."""
    group_of = dict(zip([each.id for each in entities], count(), strict=False))
    for cluster in annotations.clusters:
        together = {group_of[each] for each in cluster.live_mentions if each in group_of}
        if len(together) > 1 and cluster.state is not State.REJECTED:
            first = min(together)
            group_of = {each: first if at in together else at for each, at in group_of.items()}
    groups: dict[int, list[Entity]] = {}
    for entity in entities:
        groups.setdefault(group_of[entity.id], []).append(entity)
    return list(groups.values())


def _namings(concepts: Iterable[Concept]) -> Counter[Naming]:
    return Counter(
        [
            Naming(mention.key, mention.surface, clean(mention.entity.label), mention.rules)
            for concept in concepts
            for mention in concept.mentions
            if mention.key
        ]
    )


def _coreferents(concept: Concept) -> Iterator[Coreferent]:
    for mention in concept.mentions:
        if mention.key and mention.key != concept.key:
            best = next(each for each in concept.mentions if each.key == concept.key)
            if shorter := shorter_name(mention, best):
                yield Coreferent(mention.key, concept.key, shorter)


def _evidence(
    abstract: Abstract, concepts: Iterable[Concept], least_score: float
) -> tuple[list[Evidence], int, int, int]:
    """Relations between concepts; and how many are left out, as :class:`Contribution` counts them."""
    by_id = {
        mention.entity.id: (concept, mention)
        for concept in concepts
        for mention in concept.mentions
    }
    whole = 0, len(abstract.text)
    evidence: list[Evidence] = []
    nameless = loops = unlikely = 0
    for relation in abstract.annotations.relations:
        head, tail = by_id.get(relation.head), by_id.get(relation.tail)
        if relation.state is State.REJECTED or head is None or tail is None:
            continue
        names = [mention.key or concept.key for concept, mention in (head, tail)]
        if (names[0] and names[0] == names[1]) or (head[0] is tail[0] and not all(names)):
            loops += 1
        elif not all(names):
            nameless += 1
        elif relation.score is not None and relation.score < least_score:
            unlikely += 1
        else:
            first, second = head[1].entity.span, tail[1].entity.span
            around = abstract.sentences.around(first, second) or whole
            evidence.append(
                Evidence(
                    head=names[0],
                    tail=names[1],
                    label=clean(relation.label),
                    score=relation.score,
                    char_start=around[0],
                    char_end=around[1],
                    head_start=first.char_start,
                    head_end=first.char_end,
                    tail_start=second.char_start,
                    tail_end=second.char_end,
                )
            )
    return evidence, nameless, loops, unlikely


def _expansion(expansion: Expansion) -> tuple[str, str, str]:
    return (
        normal_form(expansion.short).key,
        normal_form(expansion.long).folded,
        clean(expansion.long),
    )


def _spaced(
    namings: Iterable[Naming], expansions: Iterable[tuple[str, str, str]]
) -> dict[str, str]:
    forms = {each.surface for each in namings} | {wording for *_, wording in expansions}
    return {each: normal_form(each).spaced for each in forms}


def _fingerprint(text_sha256: str, facts: tuple[object, ...]) -> bytes:
    """A hash of the facts in this order; JSON keeps strings and numbers apart, and is faster than ``repr``."""
    content = text_sha256 + json.dumps(facts, separators=(",", ":"))
    return hashlib.blake2b(content.encode("ascii"), digest_size=16).digest()
