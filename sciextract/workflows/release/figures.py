"""What the pages of a release tell: counts by split and label, lengths, where items come from, and examples of each label."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.annotations import Entity, Layer, Relation, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.spans import Span
from sciextract.store.rows import IN_VIEW
from sciextract.text.characters import visible

EXAMPLES = 5
"""Examples of a label that a guideline shows, accepted and rejected ones each."""
TOKENS_A_BIN = 50
LONGEST_MENTION = 6
"""Mentions of this many tokens and more are counted together."""

_AROUND = 60
"""Characters that an example shows on either side."""
_BOLD = "\ue000"
"""Stands for ``**`` until the text is escaped: a character that no text has a use for."""
_MARKUP = re.compile(r"[\\`*_\[\]<>&|~#$]")


def as_markdown(text: str) -> str:
    r"""A text from elsewhere on one line, which neither Markdown nor HTML takes for markup.

    >>> as_markdown("a|b <i>\n`x`")
    'a\\|b \\<i\\> \\`x\\`'
    """
    return _MARKUP.sub(r"\\\g<0>", visible(" ".join(text.split())))


def source_kind(source: str) -> str:
    """A source without names of people and files: ``person``, ``import``, or a model with its hash."""
    kind, _, name = source.partition(":")
    return f"model:{name.partition('/')[0]}" if kind == "model" else kind


@dataclass(slots=True)
class Examples:
    """Examples of one label, in the order of the abstracts: ready Markdown by the string that they are about."""

    accepted: dict[str, str] = field(default_factory=dict)
    rejected: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Figures:
    """What is counted while the abstracts of a release go by.

    Attributes:
        splits: By split what it holds: documents, sentences, tokens, entities, relations, clusters.
        labels: By layer and label the items of each split.
        made: By source and state the items of each layer.
        abstracts: Abstracts by the bin of their length in tokens.
        mentions: Mentions by their length in tokens, at most :data:`LONGEST_MENTION`.
        examples: By layer and label; of abstracts in the train split, so that a guideline shows nothing of the others.
    """

    splits: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    labels: defaultdict[tuple[Layer, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    made: defaultdict[tuple[str, str], Counter[Layer]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    abstracts: Counter[int] = field(default_factory=Counter)
    mentions: Counter[int] = field(default_factory=Counter)
    examples: dict[tuple[Layer, str], Examples] = field(default_factory=dict)

    def add(self, split: str, document: AnnotatedDocument) -> None:
        """Count an abstract.

        Args:
            split: Where it belongs.
            document: The abstract with its items in the current view.
        """
        tokens, items = document.document.tokens, document.annotations
        self.splits[split] += Counter(
            documents=1,
            sentences=len(tokens.sentences),
            tokens=len(tokens.spans),
            entities=len(items.entities),
            relations=len(items.relations),
            clusters=len(items.clusters),
        )
        self.abstracts[len(tokens.spans) // TOKENS_A_BIN] += 1
        for entity in items.entities:
            length = len(tokens.covering(entity.span) or ())
            self.mentions[min(length, LONGEST_MENTION)] += 1
            self.labels[Layer.ENTITIES, entity.label][split] += 1
        for relation in items.relations:
            self.labels[Layer.RELATIONS, relation.label][split] += 1
        found: Iterable[Sequence[Any]] = (items.entities, items.relations, items.clusters)
        for layer, of_layer in zip(Layer, found, strict=True):
            for item in of_layer:
                self.made[source_kind(item.source), item.state.value][layer] += 1

    def add_examples(self, document: AnnotatedDocument) -> None:
        """Keep examples of an abstract, which comes with its rejected items."""
        text, items = document.document.text, document.annotations
        spans = {entity.id: entity.span for entity in items.entities}
        for entity in items.entities:
            mention = entity.text_of(text)
            self._keep(Layer.ENTITIES, entity, mention, text, [entity.span])
        for relation in items.relations:
            ends = [spans[relation.head], spans[relation.tail]]
            pair = " → ".join(span.of(text) for span in ends)
            self._keep(Layer.RELATIONS, relation, pair, text, ends)

    def _keep(
        self, layer: Layer, item: Entity | Relation, name: str, text: str, spans: Sequence[Span]
    ) -> None:
        examples = self.examples.setdefault((layer, item.label), Examples())
        kept = examples.rejected if item.state is State.REJECTED else examples.accepted
        decided = item.state is State.REJECTED or item.state in IN_VIEW
        if decided and len(kept) < EXAMPLES and name.casefold() not in kept:
            kept[name.casefold()] = f"**{as_markdown(name)}**: “{_in_context(text, spans)}”"


def _in_context(text: str, spans: Sequence[Span]) -> str:
    """The characters around some spans, which are bold, as Markdown."""
    start, end = min(span.char_start for span in spans), max(span.char_end for span in spans)
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    if len(spans) > 1 and spans[0].overlaps(spans[1]):
        spans = [Span(start, end)]
    shown = text[first:last].replace(_BOLD, "\ufffd")
    for span in sorted(
        spans, reverse=True
    ):  # from the end, so that what comes before keeps its place
        left, right = span.char_start - first, span.char_end - first
        shown = f"{shown[:left]}{_BOLD}{shown[left:right]}{_BOLD}{shown[right:]}"
    dots = "…" * (first > 0), "…" * (last < len(text))
    return as_markdown(f"{dots[0]}{shown}{dots[1]}").replace(_BOLD, "**")
