"""What the pages of a release tell: counts by split and label, lengths, where items come from, and examples of each label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sciextract.documents.annotations import Entity, Layer, Relation, Span, State
from sciextract.documents.document import AnnotatedDocument
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
class Figures:
    """What is counted while the abstracts of a release go by.

    Attributes:
        totals: By split and kind (documents, sentences, tokens, entities, relations, clusters) how many there are.
        labels: By layer, label and split the items.
        made: By source, state and layer the items.
        abstracts: Abstracts by the bin of their length in tokens.
        mentions: Mentions by their length in tokens, at most :data:`LONGEST_MENTION`.
        examples: By layer, label and whether they were rejected: ready Markdown by the string that it is about. Those
            of the train split, so that a guideline shows nothing of the others.
    """

    totals: Counter[tuple[str, str]] = field(default_factory=Counter)
    labels: Counter[tuple[Layer, str, str]] = field(default_factory=Counter)
    made: Counter[tuple[str, str, Layer]] = field(default_factory=Counter)
    abstracts: Counter[int] = field(default_factory=Counter)
    mentions: Counter[int] = field(default_factory=Counter)
    examples: dict[tuple[Layer, str, bool], dict[str, str]] = field(default_factory=dict)

    def add(self, split: str, document: AnnotatedDocument) -> None:
        """Count an abstract.

        Args:
            split: Where it belongs.
            document: The abstract with its items in the current view.
        """
        tokens, found = document.document.tokens, document.annotations
        items: dict[str, Sequence[Any]] = {"entities": found.entities}
        items |= {"relations": found.relations, "clusters": found.clusters}
        counted = {"documents": [document], "sentences": tokens.sentences, "tokens": tokens.spans}
        for kind, found_items in {**counted, **items}.items():
            self.totals[split, kind] += len(found_items)
        self.abstracts[len(tokens.spans) // TOKENS_A_BIN] += 1
        for entity in found.entities:
            length = len(tokens.covering(entity.span) or ())
            self.mentions[min(length, LONGEST_MENTION)] += 1
        for layer, of_layer in zip(Layer, items.values(), strict=True):
            for item in of_layer:
                self.made[source_kind(item.source), item.state.value, layer] += 1
                if layer is not Layer.COREFERENCE:
                    self.labels[layer, item.label, split] += 1

    def add_examples(self, document: AnnotatedDocument) -> None:
        """Keep examples of an abstract, which comes with its rejected items."""
        text, items = document.document.text, document.annotations
        spans = {entity.id: entity.span for entity in items.entities}
        for entity in items.entities:
            self._keep(Layer.ENTITIES, entity, text, [entity.span])
        for relation in items.relations:
            self._keep(
                Layer.RELATIONS, relation, text, [spans[relation.head], spans[relation.tail]]
            )

    def _keep(
        self, layer: Layer, item: Entity | Relation, text: str, spans: Sequence[Span]
    ) -> None:
        rejected = item.state is State.REJECTED
        kept = self.examples.setdefault((layer, item.label, rejected), {})
        name = " → ".join(span.of(text) for span in spans)
        decided = rejected or item.state in IN_VIEW
        if decided and len(kept) < EXAMPLES and name.casefold() not in kept:
            kept[name.casefold()] = f"**{as_markdown(name)}**: “{_in_context(text, spans)}”"


def _in_context(text: str, spans: Sequence[Span]) -> str:
    """The characters around some spans, which are bold, as Markdown."""
    start, end = min(span.char_start for span in spans), max(span.char_end for span in spans)
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    if len(spans) > 1 and spans[0].overlaps(spans[1]):
        spans = [Span(start, end)]
    shown = text[first:last].replace(_BOLD, "\ufffd")
    # From the end, so that what comes before keeps its place.
    for span in sorted(spans, reverse=True):
        left, right = span.char_start - first, span.char_end - first
        shown = f"{shown[:left]}{_BOLD}{shown[left:right]}{_BOLD}{shown[right:]}"
    dots = "…" * (first > 0), "…" * (last < len(text))
    return as_markdown(f"{dots[0]}{shown}{dots[1]}").replace(_BOLD, "**")
