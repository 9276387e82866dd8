"""Annotations as token offsets or as character spans: what a target format can hold and what it cannot, names for labels, checks on spans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

from sciextract.documents.annotations import (
    NOT_REJECTED,
    Annotations,
    Attribute,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
    TokenRange,
)
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.errors import OutputError
from sciextract.formats.base import quoted
from sciextract.formats.items import COREFERENCE
from sciextract.text.analyse import split_at
from sciextract.text.characters import without_surrogates

ScoredRange = tuple[TokenRange, float | None]


@dataclass(slots=True)
class TokenLayers:
    """Items that token offsets can hold; rejected items are left out, equal ones collapse.

    Attributes:
        table: The document's tokens, split where an entity's edge cuts one.
        ner: Per sentence the typed entities.
        relations: Per sentence (of the head) head, tail and relation.
        clusters: Mentions with their scores.
        losses: What does not fit, by kind.
    """

    table: TokenTable
    ner: list[list[tuple[TokenRange, Entity]]]
    relations: list[list[tuple[TokenRange, TokenRange, Relation]]]
    clusters: list[list[ScoredRange]] = field(default_factory=list)
    losses: Counter[str] = field(default_factory=Counter)


def with_split_tokens(document: Document, annotations: Iterable[Annotations]) -> Document:
    """The document with its tokens split where the edge of an entity of any of the annotations cuts one.

    A model's entities do not split tokens that the input gave.
    """
    entities = tuple([entity for annotation in annotations for entity in annotation.entities])
    # Token-only input is read as its tokens joined by one space.
    spans, text = document.tokens.spans, document.text
    edges = [0, *(at for span in spans for at in (span.char_start, span.char_end)), len(text)]
    between = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    if between == ["", *[" "] * (len(spans) - 1), ""]:
        entities = tuple([entity for entity in entities if not entity.source.startswith("model:")])
    return replace(document, tokens=_split_table(document.tokens, text, entities))


def token_layers(annotated: AnnotatedDocument, *, split: bool = True) -> TokenLayers:
    """The document's annotations in document-level token offsets.

    Args:
        annotated: The document.
        split: Whether tokens are split where the edge of an entity cuts one; else the entity gets whole tokens.
    """
    annotations = annotated.annotations.in_states(NOT_REJECTED)
    builder = _TokenLayersBuilder(annotated.document, annotations.entities if split else ())
    for entity in annotations.entities:
        builder.add_entity(entity)
    for relation in annotations.relations:
        builder.add_relation(relation)
    for cluster in annotations.clusters:
        builder.add_cluster(cluster)
    builder.count_untyped()
    return builder.layers


class _TokenLayersBuilder:
    def __init__(self, document: Document, cutting: tuple[Entity, ...]) -> None:
        self._table = _split_table(document.tokens, document.text, cutting)
        sentences = self._table.sentences
        self.layers = TokenLayers(self._table, [[] for _ in sentences], [[] for _ in sentences])
        self._losses = self.layers.losses
        self._ranges: dict[str, TokenRange] = {}
        self._untyped: dict[str, TokenRange] = {}
        self._mentioned: set[TokenRange] = set()
        self._seen: set[tuple[object, ...]] = set()

    def add_entity(self, entity: Entity) -> None:
        if len(entity.fragments) > 1:
            self._losses["discontinuous entity"] += 1
            return
        span = entity.span
        tokens = self._table.covering(span)
        if tokens is None:
            self._losses["entity without tokens"] += 1
            return
        covered = self._table.char_span(tokens)
        if covered.char_start < span.char_start or span.char_end < covered.char_end:
            self._losses["entity widened to whole given tokens"] += 1
        if span.char_start < covered.char_start or covered.char_end < span.char_end:
            self._losses["white space at the edge of an entity"] += 1
        self._ranges[entity.id] = tokens
        sentence = self._sentence_of(tokens)
        if not entity.label:
            self._untyped[entity.id] = tokens
        elif sentence is None:
            self._losses["entity across sentences"] += 1
        elif self._is_new("entity", tokens, entity.label):
            self.layers.ner[sentence].append((tokens, entity))

    def add_relation(self, relation: Relation) -> None:
        head, tail = self._ranges.get(relation.head), self._ranges.get(relation.tail)
        sentence = self._sentence_of(head) if head else None
        if head is None or tail is None or sentence is None:
            self._losses["relation of an entity that does not fit"] += 1
        elif self._is_new("relation", head, tail, relation.label):
            self.layers.relations[sentence].append((head, tail, relation))
            self._mentioned.update((head, tail))

    def add_cluster(self, cluster: Cluster) -> None:
        scores = cluster.mention_scores or (cluster.score,) * len(cluster.mentions)
        mentions: dict[TokenRange, float | None] = {}
        for entity_id, score in zip(cluster.mentions, scores, strict=True):
            tokens = self._ranges.get(entity_id)
            if tokens is not None:
                mentions.setdefault(tokens, score)
            else:
                self._losses["mention of an entity that does not fit"] += 1
        if mentions and self._is_new("cluster", *mentions):
            self.layers.clusters.append(list(mentions.items()))
            self._mentioned.update(mentions)

    def count_untyped(self) -> None:
        """An entity without a type survives only as a mention or an argument."""
        lost = sum(tokens not in self._mentioned for tokens in self._untyped.values())
        self._losses += Counter({"entity without a type": lost})

    def _sentence_of(self, tokens: TokenRange) -> int | None:
        sentence = self._table.sentence_of(tokens.token_start)
        return sentence if self._table.sentences[sentence].contains(tokens) else None

    def _is_new(self, *key: object) -> bool:
        if key in self._seen:
            self._losses[f"second {key[0]} in the same place"] += 1
            return False
        self._seen.add(key)
        return True


def _split_table(table: TokenTable, text: str, entities: tuple[Entity, ...]) -> TokenTable:
    """The table with tokens cut at the edges of entities; its sentences stay as they are."""
    cutting = [
        entity.span
        for entity in entities
        if entity.state in NOT_REJECTED
        and len(entity.fragments) == 1
        and table.aligned(entity.span) is None
    ]
    edges = {edge for span in cutting for edge in (span.char_start, span.char_end)}
    # Empty spans: they cut tokens but, unlike whole entities, never join two sentences.
    return split_at(table, text, [Span(edge, edge) for edge in edges]) if edges else table


@dataclass(slots=True)
class SpanLayers:
    """Items that contiguous spans and binary relations can hold; rejected items are left out.

    Attributes:
        entities: Entities of one fragment.
        relations: Head, tail and label of relations, and of the links between consecutive mentions of
            clusters, which are labelled ``COREF``.
        undecided: Whether all items are a model's, and nobody has looked at any.
        losses: What does not fit, by kind.
    """

    entities: list[Entity] = field(default_factory=list)
    relations: list[tuple[Entity, Entity, str]] = field(default_factory=list)
    undecided: bool = False
    losses: Counter[str] = field(default_factory=Counter)


def span_layers(
    annotated: AnnotatedDocument, *, untyped: bool = True, repeated: bool = True
) -> SpanLayers:
    """The document's annotations as spans and links.

    Args:
        annotated: The document.
        untyped: Whether the format holds entities without a type.
        repeated: Whether the format tells two entities of the same span and type apart.

    Raises:
        OutputError: An entity is not a range of the document's text.
    """
    annotations, layers = annotated.annotations.in_states(NOT_REJECTED), SpanLayers()
    losses = layers.losses
    kept: dict[str, Entity] = {}
    equal: dict[tuple[Span, str], Entity] = {}
    for entity in entities_in_text(annotated):
        key = (entity.span, entity.label)
        if len(entity.fragments) > 1:
            losses["discontinuous entity"] += 1
        elif not entity.label and not untyped:
            losses["entity without a type"] += 1
        elif key in equal and not repeated:
            losses["second entity in the same place"] += 1
            kept[entity.id] = equal[key]
        else:
            equal[key] = kept[entity.id] = entity
            layers.entities.append(entity)
    for head, tail, relation in fitting_relations(annotations, kept, losses):
        if relation.label == COREFERENCE:
            losses[f"relation {COREFERENCE}, which stands for coreference"] += 1
        else:
            layers.relations.append((head, tail, relation.label))
    layers.relations += _coreference_links(annotations.clusters, kept, losses)
    given = annotated.annotations
    layers.undecided = states_of(given) == {State.UNDECIDED}
    return layers


def states_of(given: Annotations) -> set[State]:
    kinds = (given.entities, given.relations, given.clusters, given.attributes)
    return {item.state for items in kinds for item in items}


def _coreference_links(
    clusters: Iterable[Cluster], kept: Mapping[str, Entity], losses: Counter[str]
) -> Iterator[tuple[Entity, Entity, str]]:
    """The links between consecutive mentions (ids) of each cluster."""
    mentioned: set[str] = set()
    for cluster in clusters:
        found: dict[str, Entity] = {}
        for entity in fitting_mentions(cluster, kept, losses):
            if entity.id in mentioned:
                # Links have no cluster: those of a second one would join both.
                losses["mention of a second cluster"] += 1
            else:
                found[entity.id] = entity
        if len(found) > 1:
            mentioned.update(found)
            yield from ((*pair, COREFERENCE) for pair in pairwise(found.values()))
        elif cluster.mentions:
            losses["cluster of fewer than two mentions"] += 1


_Named = TypeVar("_Named")


def fitting_relations(
    annotations: Annotations, named: Mapping[str, _Named], losses: Counter[str]
) -> Iterator[tuple[_Named, _Named, Relation]]:
    """The relations between entities that are written, with what the file has for them; the others are counted."""
    for relation in annotations.relations:
        if relation.head in named and relation.tail in named:
            yield named[relation.head], named[relation.tail], relation
        else:
            losses["relation of an entity that does not fit"] += 1


def fitting_mentions(
    cluster: Cluster, named: Mapping[str, _Named], losses: Counter[str]
) -> list[_Named]:
    """What the file has for the mentions of a cluster; those that are not written are counted."""
    found = [named[mention] for mention in cluster.mentions if mention in named]
    if lost := len(cluster.mentions) - len(found):
        losses["mention of an entity that does not fit"] += lost
    return found


_Name = TypeVar("_Name", int, str)


def named_links(
    annotated: AnnotatedDocument, names: Mapping[str, _Name], losses: Counter[str]
) -> tuple[dict[tuple[_Name, _Name, str], list[str]], list[tuple[_Name, ...]]]:
    """Relations, with their ids, and clusters by the names that their entities have in a file, each once.

    Args:
        annotated: The document.
        names: Name by id of the entities that are written, in the order of the file.
        losses: Where what does not fit is counted; what names a rejected entity goes with it.
    """
    annotations = annotated.annotations.in_states(NOT_REJECTED)
    relations: dict[tuple[_Name, _Name, str], list[str]] = {}
    for head, tail, relation in fitting_relations(annotations, names, losses):
        link = (head, tail, relation.label)
        losses["second relation in the same place"] += link in relations
        relations.setdefault(link, []).append(relation.id)
    clusters: dict[tuple[_Name, ...], None] = {}
    for cluster in annotations.clusters:
        members = set(cluster.mentions)
        mentions = tuple([name for entity_id, name in names.items() if entity_id in members])
        losses["mention of an entity that does not fit"] += len(members) - len(mentions)
        losses["second cluster in the same place"] += mentions in clusters
        if mentions:
            clusters[mentions] = None
    # Only what was lost stands in the summary.
    losses += Counter()
    return relations, list(clusters)


def named_attributes(
    annotated: AnnotatedDocument, names: Mapping[str, _Named], losses: Counter[str]
) -> dict[tuple[_Named, str], Attribute]:
    """The attributes by what the file has for what they stand on, and by label.

    Args:
        annotated: The document.
        names: What the file has for each item, by id; for ``""``, the abstract, only where it has a place for it.
        losses: Where what does not fit is counted; what stands on a rejected item goes with it.
    """
    found: dict[tuple[_Named, str], Attribute] = {}
    for attribute in annotated.annotations.in_states(NOT_REJECTED).attributes:
        if attribute.target not in names:
            kind = "an item without a place" if attribute.target else "the abstract"
            losses[f"attribute of {kind}"] += 1
            continue
        place = (names[attribute.target], attribute.label)
        # Two items that are one in the file may say different things.
        if found.setdefault(place, attribute).value != attribute.value:
            losses["second value of an attribute"] += 1
    return found


LINE_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Every character at which some program ends a line."""

_BLANKED = re.compile(rf"\r\n|[\t{LINE_BREAKS}]")


class LabelNames:
    """Names of labels in a file that refuses some characters: one name a label, never the same for two.

    Attributes:
        changed: Label by name, of those names that are not the label itself.
    """

    def __init__(self, refused: re.Pattern[str]) -> None:
        self._refused = refused
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self.changed: dict[str, str] = {}

    def name_of(self, label: str) -> str:
        """The name that stands for ``label``; the same at every call."""
        if label not in self._names:
            name = base = self._refused.sub("_", label) or "Mention"
            number = 1
            while name in self._taken:
                number += 1
                name = f"{base}_{number}"
            self._names[label] = name
            self._taken.add(name)
            if name != label:
                self.changed[name] = label
        return self._names[label]


def entities_in_text(annotated: AnnotatedDocument) -> list[Entity]:
    """The entities to be written, each known to lie in the text.

    Raises:
        OutputError: A fragment is empty or leaves the text.
    """
    length = len(annotated.document.text)
    entities = [*annotated.annotations.in_states(NOT_REJECTED).entities]
    for entity in entities:
        for span in entity.fragments:
            if not 0 <= span.char_start < span.char_end <= length:
                found = f"[{span.char_start}, {span.char_end}) found"
                key = quoted(annotated.document.doc_key)
                problem = f"{found}; expected ranges from 0 to {length} that are not empty"
                raise OutputError(f"doc_key {key}: entity {entity.id}: {problem}")
    return entities


def one_line(text: str) -> str:
    """The text with a space for each tab and line break; its length stays.

    >>> one_line("a\\tb")
    'a b'
    """
    return _BLANKED.sub(lambda match: " " * len(match.group()), text)


def encodable(text: str, losses: Counter[str]) -> str:
    """The text with U+FFFD for lone surrogates, which UTF-8 cannot hold; counts texts that have some."""
    safe, lost = without_surrogates(text)
    losses += Counter({"text with lone surrogates": bool(lost)})
    return safe
