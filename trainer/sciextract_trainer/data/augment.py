"""Training documents with swapped entities: more text for the same decisions.

A mention gives way to a mention of the same label from another training document, with its tokens; offsets of
everything behind it move along, all else stays as it is (Dai and Adel 2020, "An Analysis of Simple Data Augmentation
for Named Entity Recognition", section 3, mention replacement; the SciDeBERTa paper, Jeong and Kim 2022, names
augmentation besides tagging as what SciERC lacks).

What a document says stays true:

- Mentions that mean the same stay alike: all of one label in one cluster, or with one and the same text, get one new
  text; different ones get different texts as long as there are enough. They are swapped together or not at all.
- Only positive mentions are swapped, and only where they are one run of whole words in one sentence that no other
  entity, whatever its state, overlaps. Rejected, undecided, nested and fragmented ones stay, at their new place.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from sciextract.documents.annotations import Annotations, Entity, State
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.documents.spans import Span, TokenRange
from sciextract.errors import UsageError
from sciextract.inference.pipeline import Labels
from sciextract.snapshot import Origin, TrainingDocument
from sciextract.snapshot.supervision import mention_states
from sciextract.store.rows import IN_VIEW
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import NOT_REJECTED, Sized, decided_examples
from sciextract_trainer.families import family_of


@dataclass(frozen=True, slots=True)
class Donor:
    """A mention that can stand elsewhere.

    Attributes:
        row: Its document among the training documents.
        text: Its characters.
        tokens: Their token ranges, from the first character of the mention.
        forms: The token strings as they were given.
    """

    row: int
    text: str
    tokens: tuple[Span, ...]
    forms: tuple[str, ...]

    def placed(self, char_start: int) -> list[Span]:
        """Its tokens where the mention begins at a character."""
        return [Span(char_start + s.char_start, char_start + s.char_end) for s in self.tokens]


def swap_mentions(item: AnnotatedDocument, new: Mapping[str, Donor]) -> AnnotatedDocument:
    """A document with some mentions replaced, and everything behind them moved.

    Args:
        item: The document.
        new: What stands in the place of an entity, by its id; the entities overlap no others.
    """
    entities = sorted((item.annotations.entity(each) for each in new), key=lambda each: each.span)
    spans = [entity.span for entity in entities]
    donors = [new[entity.id] for entity in entities]
    moved = _Moves(spans, [len(donor.text) for donor in donors])
    parts, at = [], 0
    for span, donor in zip(spans, donors, strict=True):
        parts += [item.document.text[at : span.char_start], donor.text]
        at = span.char_end
    text = "".join([*parts, item.document.text[at:]])
    table, forms = _spliced_tokens(item.document, spans, donors, moved)
    if forms != table.slices(text):  # forms are kept where they are not what the text says
        table = replace(table, forms=forms)
    key = f"{item.document.doc_key} (swapped)"
    document = replace(item.document, doc_key=key, text=text, tokens=table)
    original = item.annotations
    entities_moved = tuple(
        replace(entity, fragments=tuple(moved.span(each) for each in entity.fragments))
        for entity in original.entities
    )
    # What a model considered is left out: it was about another text.
    annotations = Annotations(entities_moved, original.relations, original.clusters)
    return replace(item, document=document, annotations=annotations)


class _Moves:
    """Where characters are after ranges were replaced by others of given lengths."""

    def __init__(self, spans: Sequence[Span], lengths: Sequence[int]) -> None:
        self._ends = [span.char_end for span in spans]
        grown = (
            length - (span.char_end - span.char_start)
            for span, length in zip(spans, lengths, strict=True)
        )
        self._shifts = [0, *accumulate(grown)]

    def edge(self, char: int) -> int:
        """The new place of an edge that lies inside no replaced range."""
        return char + self._shifts[bisect_right(self._ends, char)]

    def span(self, span: Span) -> Span:
        return Span(self.edge(span.char_start), self.edge(span.char_end))


def _spliced_tokens(
    document: Document, spans: Sequence[Span], donors: Sequence[Donor], moves: _Moves
) -> tuple[TokenTable, tuple[str, ...]]:
    """The token table with the tokens of each span replaced, and all its forms; sentences keep their ends."""
    table, given = document.tokens, document.tokens.strings(document.text)
    new: list[Span] = []
    forms: list[str] = []
    edges: list[int] = []  # how many new tokens there are before each old one
    by_first = {table.covering(span): donor for span, donor in zip(spans, donors, strict=True)}
    replaced = {words.token_start: (words, donor) for words, donor in by_first.items() if words}
    while len(edges) < len(table):
        at = len(edges)
        words, donor = replaced.get(at, (TokenRange(at, at + 1), None))
        edges += [len(new)] * len(words)
        if donor is None:
            new.append(moves.span(table.spans[at]))
            forms.append(given[at])
        else:
            new += donor.placed(moves.edge(table.spans[at].char_start))
            forms += donor.forms
    edges.append(len(new))
    sentences = tuple(TokenRange(edges[s.token_start], edges[s.token_end]) for s in table.sentences)
    return TokenTable(tuple(new), sentences), tuple(forms)


Group = tuple[Entity, ...]
"""Mentions of one document and one label that mean the same."""


class EntitySwap:
    """Swaps entities among training documents.

    Args:
        documents: The training documents, from which mentions are taken and in which they are swapped.
        positive: The states that count as gold.
        most_words: Most words of a new mention, so that a network can still see it.
    """

    def __init__(
        self,
        documents: Sequence[AnnotatedDocument],
        positive: frozenset[State] = NOT_REJECTED,
        most_words: int = 10,
    ) -> None:
        self._documents = documents
        self._groups = [list(_groups(item, positive)) for item in documents]
        self._donors: dict[str, list[Donor]] = defaultdict(list)
        for row, groups in enumerate(self._groups):
            for entity in (each for group in groups for each in group):
                document, start = documents[row].document, entity.span.char_start
                words = document.tokens.covering(entity.span) or TokenRange(0, 0)
                inside = slice(words.token_start, words.token_end)
                if len(words) > most_words:
                    continue
                spans = (
                    Span(each.char_start - start, each.char_end - start)
                    for each in document.tokens.spans[inside]
                )
                forms = document.tokens.strings(document.text)[inside]
                donor = Donor(row, entity.text_of(document.text), tuple(spans), forms)
                self._donors[entity.label].append(donor)

    def rows(self) -> list[int]:
        """The documents in which something can be swapped."""
        return [
            row
            for row, groups in enumerate(self._groups)
            if any(self._choice(row, group) for group in groups)
        ]

    def swapped(self, row: int, random: np.random.Generator) -> AnnotatedDocument:
        """A document with every entity swapped that can be; equal draws give equal documents."""
        taken: set[str] = set()
        new: dict[str, Donor] = {}
        for group in self._groups[row]:
            choice = self._choice(row, group)
            # Two entities of a document do not become one text as long as there is another one.
            free = [each for each in choice if each.text.casefold() not in taken] or choice
            if free:
                donor = free[int(random.integers(len(free)))]
                taken.add(donor.text.casefold())
                new |= {entity.id: donor for entity in group}
        return swap_mentions(self._documents[row], new)

    def _choice(self, row: int, group: Group) -> list[Donor]:
        """Mentions of other documents that say something else."""
        said = {entity.text_of(self._documents[row].document.text) for entity in group}
        return [
            each
            for each in self._donors.get(group[0].label, ())
            if each.row != row and each.text not in said
        ]


@dataclass(frozen=True, slots=True)
class Swaps:
    """The documents with swapped entities that join a training, others in each epoch.

    Attributes:
        swap: The training documents.
        rows: Those that are swapped.
        examples: Training examples of a document, given its row and what became of it.
        seed: The training's.
    """

    swap: EntitySwap
    rows: Sequence[int]
    examples: Callable[[int, AnnotatedDocument], Iterable[Sized]]
    seed: int

    def of(self, epoch: int, count: int) -> list[Sized]:
        """So many examples, which depend on seed and epoch only.

        Raises:
            UsageError: There is nothing to swap.
        """
        if count and not self.rows:
            raise UsageError(
                "no entity can be swapped for one of the same label from another training document",
                "leave augment out, or give more training documents",
            )
        random = np.random.default_rng([self.seed, epoch, 2])
        found: list[Sized] = []
        while len(found) < count:
            for row in random.permutation(self.rows).tolist():
                found += self.examples(row, self.swap.swapped(row, random))
                if len(found) >= count:
                    break
        return found[:count]


def _groups(item: AnnotatedDocument, positive: frozenset[State]) -> Iterator[Group]:
    """The groups of a document that can be swapped, in text order."""
    text, annotations = item.document.text, item.annotations
    gold = [each for each in annotations.entities if each.label and each.state in positive]
    names = {each.id: (each.label, each.text_of(text).casefold()) for each in gold}
    alike = _alike(annotations, names, positive)
    members: dict[tuple[str, str], list[Entity]] = defaultdict(list)
    for entity in sorted(gold, key=lambda each: each.span):
        members[alike(names[entity.id])].append(entity)
    for group in members.values():
        if all(_is_free(entity, item) for entity in group):
            yield tuple(group)


def _alike(
    annotations: Annotations, names: Mapping[str, tuple[str, str]], positive: frozenset[State]
) -> Callable[[tuple[str, str]], tuple[str, str]]:
    """The name that stands for each name (label, text): those of one label in one cluster share it."""
    above: dict[tuple[str, str], tuple[str, str]] = {}

    def top(name: tuple[str, str]) -> tuple[str, str]:
        while name in above:
            name = above[name]
        return name

    for cluster in annotations.clusters:
        states = zip(cluster.mentions, mention_states(cluster), strict=True)
        inside = [names[each] for each, state in states if state in positive and each in names]
        for one, other in pairwise(sorted(set(inside))):
            if one[0] == other[0] and top(one) != top(other):
                above[top(other)] = top(one)
    return top


def _is_free(entity: Entity, item: AnnotatedDocument) -> bool:
    """Whether a mention is one run of whole words in one sentence that no other entity overlaps."""
    tokens = item.document.tokens
    words = tokens.aligned(entity.span)
    if len(entity.fragments) > 1 or words is None:
        return False
    if tokens.sentence_of(words.token_start) != tokens.sentence_of(words.token_end - 1):
        return False
    others = (each for each in item.annotations.entities if each.id != entity.id)
    return not any(each.span.overlaps(entity.span) for each in others)


def gold_swaps(
    config: TrainConfig, gold: Sequence[AnnotatedDocument], labels: Labels, rules: SubwordRules
) -> Swaps | None:
    """Swaps among gold documents; ``None`` where the recipe wants none."""
    if not config.augment:
        return None
    examples = family_of(config).examples

    def made(row: int, item: AnnotatedDocument) -> Iterable[Sized]:
        return examples([item], labels, rules)

    swap = EntitySwap(gold, most_words=labels.max_span_width)
    return Swaps(swap, swap.rows(), made, config.seed)


def decided_swaps(
    config: TrainConfig,
    documents: Sequence[TrainingDocument],
    labels: Labels,
    rules: SubwordRules,
) -> Swaps | None:
    """Swaps in the documents that were decided; ``None`` where the recipe wants none.

    The mentions come from the base, too, whose documents are not swapped where there are others.
    """
    if not config.augment:
        return None
    swap = EntitySwap([each.annotated for each in documents], IN_VIEW, labels.max_span_width)
    own = {row for row, each in enumerate(documents) if each.origin is not Origin.BASE}
    rows = [row for row in swap.rows() if row in own or not own]

    def made(row: int, item: AnnotatedDocument) -> Iterable[Sized]:
        document = TrainingDocument(item, documents[row].complete)
        return decided_examples([document], labels, rules.encoder(), rules.limit)

    return Swaps(swap, rows, made, config.seed)
