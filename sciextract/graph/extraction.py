"""What one abstract says: which concepts it names, how often and how, and how it relates them.

Coreferent mentions are one concept, which the best of them names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from sciextract.documents.annotations import Cluster, Entity, Span, State
from sciextract.documents.bibliography import Bibliography, bibliography_of
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LINK
from sciextract.graph.acronyms import find_expansions
from sciextract.graph.database import packed
from sciextract.graph.normalisation import MergeRule, clean, names_nothing, normal_form
from sciextract.graph.relation_types import former_names, is_drawn
from sciextract.graph.values import MATERIALS, METHOD, METRIC, NUMBER, Spot, Value, find_values

GENERIC = frozenset({"Generic"})
"""Labels of mentions that name nothing of their own, such as "the method"."""


@dataclass(frozen=True, slots=True)
class CountSettings:
    """What of an abstract counts; the same for all abstracts of a graph.

    Attributes:
        generic: Labels of mentions that name nothing of their own.
        least_score: Relations with a lower probability are left out; what of a model is right often enough, when ``None``.
        measurements: Entity types of what values measure.
    """

    generic: frozenset[str] = GENERIC
    least_score: float | None = None
    measurements: frozenset[str] = frozenset({METRIC})


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


class Extraction(NamedTuple):
    """All that one abstract adds to a graph, ready to be kept: what costs time is done by whoever reads it.

    Attributes:
        doc_key: The abstract's name.
        content: Its text, packed: see :func:`~sciextract.graph.database.packed`.
        sentences: Where each sentence of it begins and ends, in characters.
        text_sha256: The hash of the text: the same text is the same abstract.
        paper: What the input tells of its publication.
        namings: How often each name stands there in which form.
        coreferents: Names of one coreference cluster that agree: the name of a mention, the one that names the cluster
            best, and the one of both that the other holds: see :func:`shorter_name`.
        evidence: Relations in text order.
        expansions: Acronyms with the key and the wording of what they stand for.
        spaced: Every mention and wording with its normal form with spaces.
        nameless: Relations with an argument that has no name, which are left out.
        loops: Relations between two mentions of one concept, which are left out.
        unlikely: Relations that the model gave too low a probability, which are left out.
        unnamed: Mentions whose words name nothing, such as "it" or "two", which are left out.
        values: What it reports.
        fingerprint: A hash of all facts: a known one is not written again.
    """

    doc_key: str
    content: bytes
    sentences: tuple[tuple[int, int], ...]
    text_sha256: str
    paper: Bibliography
    namings: Mapping[Naming, int]
    coreferents: tuple[tuple[str, str, str], ...]
    evidence: tuple[Evidence, ...]
    expansions: tuple[tuple[str, str, str], ...]
    spaced: Mapping[str, str]
    nameless: int
    loops: int
    unlikely: int
    unnamed: int
    values: tuple[Value, ...]
    fingerprint: bytes


def extract(annotated: AnnotatedDocument, settings: CountSettings = CountSettings()) -> Extraction:
    """What an annotated document says; what was rejected in it does not count.

    Args:
        annotated: The abstract.
        settings: What counts of it.
    """
    document = annotated.document
    found = find_expansions(document.text)
    concepts = concepts_of(annotated, settings.generic, found)
    namings: Counter[Naming] = Counter()
    coreferents: dict[tuple[str, str, str], None] = {}
    for concept in concepts:
        for mention in concept.mentions:
            if mention.key:
                label = clean(mention.entity.label)
                namings[Naming(mention.key, mention.surface, label, mention.rules)] += 1
            if mention.key not in ("", concept.key) and not is_linked(mention.key):
                best = next(one for one in concept.mentions if one.key == concept.key)
                if shorter := shorter_name(mention, best):
                    coreferents[mention.key, concept.key, shorter] = None
    evidence, left_out = _evidence(annotated, concepts, settings.least_score)
    mentions = [mention for concept in concepts for mention in concept.mentions]
    nothing = {"", *settings.generic}
    unnamed = sum(not mention.key and mention.entity.label not in nothing for mention in mentions)
    read = [(normal_form(a).key, normal_form(b).folded, clean(b)) for a, b in found.items()]
    expansions = tuple([expansion for expansion in read if expansion[0] and expansion[1]])
    forms = {naming.surface for naming in namings} | {wording for *_, wording in expansions}
    paper = bibliography_of(document.fields)
    cleaned: dict[str, Any] = {
        name: clean(value) for name, value in asdict(paper).items() if isinstance(value, str)
    }
    paper = replace(paper, **cleaned, authors=tuple(map(clean, paper.authors)))
    model, links = clean(str(annotated.model or "")), tuple(coreferents)
    # Two of three abstracts report no number.
    has_numbers = NUMBER.search(document.text) is not None
    values = tuple(_values(annotated, concepts, settings.measurements) if has_numbers else ())
    # The order is part of the fingerprint: another one would make every known abstract a changed one. JSON keeps
    # strings and numbers apart, and is faster than repr.
    facts = (model, astuple(paper), list(namings.items()), links, evidence, expansions, *left_out)
    said = document.text_sha256 + json.dumps((*facts, values), separators=(",", ":"))
    places = map(document.tokens.char_span, document.tokens.sentences)
    sentences = tuple([(place.char_start, place.char_end) for place in places])
    identity = clean(document.doc_key), packed(document.text), sentences, document.text_sha256
    spaced = {form: normal_form(form).spaced for form in forms}
    digest = hashlib.blake2b(said.encode("ascii"), digest_size=16).digest()
    return Extraction(
        *identity,
        paper,
        namings,
        links,
        evidence,
        expansions,
        spaced,
        *left_out,
        unnamed,
        values,
        digest,
    )


class NamedMention(NamedTuple):
    """An entity with the key that it has by itself.

    Attributes:
        entity: The entity.
        surface: Its string, on one line.
        key: What it is linked to, behind a colon, which no normal form has; else its normal form, empty where it names nothing.
        rules: What had to be changed or known for it: bits of ``MergeRule``.
        link: The probability that it belongs to its cluster.
    """

    entity: Entity
    surface: str
    key: str
    rules: int
    link: float

    @property
    def is_name(self) -> bool:
        """Capitals or digits inside a word, as in ``DyGIE++``, ``GPT-2`` or ``SciBERT``, or an acronym of the text."""
        inner = any(sign.isupper() or sign.isdigit() for sign in _INNER.findall(self.surface))
        return inner or bool(self.rules & _ACRONYM)


_ACRONYM = int(MergeRule.ACRONYM)
_LEAST_LINK = 0.7
"""From here on edges of "our method" and the like are as often right as others; below, two of five are wrong."""
_IN_BRACKETS = re.compile(r"\s*\(([^()]+)\)")
_INNER = re.compile(r"(?<=\S)\w")


class Concept(NamedTuple):
    """The meaning of one or more mentions of an abstract.

    Attributes:
        mentions: In text order.
        key: The normal form of its name; empty where no mention names it.
    """

    mentions: tuple[NamedMention, ...]
    key: str

    def named_by(self, mention: NamedMention) -> str:
        """What a mention means for relations: itself, or what its cluster names where that is probable."""
        return mention.key or (self.key if mention.link >= _LEAST_LINK else "")


def concepts_of(
    annotated: AnnotatedDocument, generic: frozenset[str], expansions: Mapping[str, str]
) -> list[Concept]:
    """The concepts of an abstract; a cluster that a model proposed is several where its mentions are names of different ones.

    Models often take what is listed or compared for coreferent.

    Args:
        annotated: The abstract.
        generic: Labels of mentions that name nothing of their own.
        expansions: Acronyms of the abstract with what they stand for.
    """
    text, annotations = annotated.document.text, annotated.annotations
    expanded = {normal_form(one).key: normal_form(long).folded for one, long in expansions.items()}
    expanded.pop("", None)  # "a two hop integrated search (This)" does not give every "this" a name
    spelled_out = frozenset(expanded.values())
    kept = [entity for entity in annotations.entities if entity.state is not State.REJECTED]
    linked = {
        said.target: said.value
        for said in annotations.attributes
        if said.label == LINK and said.state is not State.REJECTED
    }
    # How probably mentions belong to clusters that a model proposed.
    links: dict[str, float] = {}
    for cluster in annotations.clusters:
        if cluster.state is State.UNDECIDED:
            scores = cluster.mention_scores or [None] * len(cluster.mentions)
            said = zip(cluster.mentions, scores, strict=False)
            links.update({mention: 1.0 if score is None else score for mention, score in said})
    concepts = []
    for group in _group_entities(kept, annotations.clusters):
        mentions = [
            _mention(one, text, generic, expanded, links.get(one.id, 1.0), linked.get(one.id))
            for one in group
        ]
        # Most mentions stand alone: these, and groups without a name, need no comparison.
        if len(mentions) == 1 or not any(mention.key for mention in mentions):
            concepts.append(Concept(tuple(mentions), mentions[0].key))
            continue
        times = Counter([mention.key for mention in mentions])
        # Proper names are best, then several words (more than five describe rather than name), then frequent ones,
        # then the first one.
        best = max(
            [mention for mention in mentions if mention.key],
            key=lambda one: (one.is_name, min(len(one.surface.split()), 5), times[one.key]),
        )
        apart = {
            mention.key
            for mention in mentions
            if mention.entity.id in links and _is_another(mention, best, spelled_out)
        }
        agreeing = [mention for mention in mentions if mention.key not in apart]
        concepts.append(Concept(tuple(agreeing), best.key))
        for key in sorted(apart):
            others = [mention for mention in mentions if mention.key == key]
            concepts.append(Concept(tuple(others), key))
    return concepts


def _group_entities(entities: Sequence[Entity], clusters: Iterable[Cluster]) -> list[list[Entity]]:
    """Entities that mean the same, together; clusters that share a mention are one."""
    group_of = dict(zip([entity.id for entity in entities], count(), strict=False))
    for cluster in clusters:
        together = {group_of[mention] for mention in cluster.live_mentions if mention in group_of}
        if len(together) > 1 and cluster.state is not State.REJECTED:
            first = min(together)
            group_of = {entity: first if at in together else at for entity, at in group_of.items()}
    groups: dict[int, list[Entity]] = defaultdict(list)
    for entity in entities:
        groups[group_of[entity.id]].append(entity)
    return list(groups.values())


def _mention(
    entity: Entity,
    text: str,
    generic: frozenset[str],
    expanded: Mapping[str, str],
    link: float,
    concept: str | None,
) -> NamedMention:
    surface = clean(" ".join(entity.text_of(text).split()))
    linked = f":{clean(concept).casefold()}" if concept else ""
    if not entity.label or entity.label in generic:
        return NamedMention(entity, surface, linked, 0, link)
    # A mention that holds an acronym of the text in brackets means the same without it.
    bare = surface
    if "(" in surface:  # four of a hundred mentions have brackets
        bare = _IN_BRACKETS.sub(
            lambda found: "" if normal_form(found[1]).key in expanded else found[0], surface
        ).strip()
    form = normal_form(bare or surface)
    meaning = expanded.get(form.key)
    rules = form.rules | _ACRONYM * bool(meaning or bare != surface)
    # What a person decided to be a name is one.
    nothing = entity.state is not State.ACCEPTED and names_nothing(form)
    key = linked or meaning or ("" if nothing else form.key)
    return NamedMention(entity, surface, key, rules, link)


def is_linked(key: str) -> bool:
    """Whether a key is that of a concept in a vocabulary, not a normal form."""
    return key.startswith(":")


def _is_another(mention: NamedMention, best: NamedMention, spelled_out: frozenset[str]) -> bool:
    """Whether a mention cannot mean what the one does that names its cluster."""
    both = {mention.key, best.key}
    if all(map(is_linked, both)):
        return len(both) > 1
    if len(both) == 2 and both <= spelled_out:
        return True  # the text itself spells out two concepts
    key, other = mention.key.casefold(), best.key.casefold()
    if not key or key in other or other in key or not mention.is_name:
        return False
    if mention.rules & best.rules & _ACRONYM:
        return True  # two acronyms of the text
    return not set(mention.surface.casefold().split()) & set(best.surface.casefold().split())


def shorter_name(mention: NamedMention, best: NamedMention) -> str:
    """The key of the name that the other one ends with, or begins with as a proper name; "" where neither does.

    A "chart parser" may be called "parser", and the "WildCD corpus" "WildCD"; "back-translation" and "neural
    translation" agree in a word only.
    """
    words = [(normal_form(one.surface).spaced.split(), one) for one in (mention, best)]
    (few, shorter), (many, _) = sorted(words, key=lambda pair: len(pair[0]))
    if "and" in many or len(few) == len(many):
        return ""
    rest = iter(many)
    ends = many[-1:] == few[-1:] and all(word in rest for word in few)
    begins = many[: len(few)] == few and shorter.is_name
    return shorter.key if ends or begins else ""


def _evidence(
    annotated: AnnotatedDocument, concepts: Iterable[Concept], least_score: float | None
) -> tuple[tuple[Evidence, ...], tuple[int, int, int]]:
    """Relations between concepts; and how many are left out as nameless, loops and unlikely."""
    by_id: dict[str, tuple[Concept, NamedMention]] = {}
    for concept in concepts:
        by_id.update({mention.entity.id: (concept, mention) for mention in concept.mentions})
    evidence: list[Evidence] = []
    nameless = loops = unlikely = 0
    for relation in annotated.annotations.relations:
        head, tail = by_id.get(relation.head), by_id.get(relation.tail)
        if relation.state is State.REJECTED or head is None or tail is None:
            continue
        names = [concept.named_by(mention) for concept, mention in (head, tail)]
        if (names[0] and names[0] == names[1]) or (head[0] is tail[0] and not all(names)):
            loops += 1
        elif not all(names):
            nameless += 1
        elif not is_drawn(relation, head[1].entity.label, tail[1].entity.label, least_score):
            unlikely += 1
        else:
            one, two = head[1].entity.span, tail[1].entity.span
            both = Span(min(one.char_start, two.char_start), max(one.char_end, two.char_end))
            places = [annotated.document.tokens.sentences_around(both), one, two]
            ends = [end for place in places for end in (place.char_start, place.char_end)]
            label = clean(former_names().get(relation.label, relation.label))
            evidence.append(Evidence(names[0], names[1], label, relation.score, *ends))
    return tuple(evidence), (nameless, loops, unlikely)


def _values(
    annotated: AnnotatedDocument, concepts: Iterable[Concept], measurements: frozenset[str]
) -> Iterator[Value]:
    """The values that an abstract reports; a mention without a name means what names its concept."""
    document, spots = annotated.document, dict[str, Spot]()
    for concept in concepts:
        label = next((clean(e.entity.label) for e in concept.mentions if e.key == concept.key), "")
        for mention in concept.mentions:
            span = mention.entity.span
            known = clean(mention.entity.label) if mention.key else label
            known = METRIC if known in measurements else known
            if (key := concept.named_by(mention)) and known in (METRIC, METHOD, *MATERIALS):
                ends = span.char_start, span.char_end
                spots[mention.entity.id] = Spot(*ends, key, known, document.text[slice(*ends)])
    evaluated: dict[int, list[Spot]] = {}
    for relation in sorted(annotated.annotations.relations, key=lambda one: -(one.score or 0.0)):
        head, tail = spots.get(relation.head), spots.get(relation.tail)
        related = relation.label == "EVALUATE-FOR" and relation.state is not State.REJECTED
        if related and head and tail and tail.label == METHOD:
            evaluated.setdefault(head.start, []).append(tail)
    sentences = map(document.tokens.char_span, document.tokens.sentences)
    return find_values(document.text, sentences, sorted(spots.values()), evaluated)
