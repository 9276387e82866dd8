"""Ten invented sentences with gold, and a small notation to write them in.

A mention is written ``[words|Label]`` or ``[words|Label|name]``; the name serves relations and clusters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, Span
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.text.analyse import analyse

MENTION = re.compile(r"\[([^|\]]+)\|([^|\]]*)(?:\|(\w+))?\]")


def gold(
    doc_key: str,
    marked: str,
    relations: Sequence[tuple[str, str, str]] = (),
    clusters: Sequence[Sequence[str]] = (),
) -> AnnotatedDocument:
    """A gold document from marked text; relations are (head name, label, tail name)."""
    text, at, entities = "", 0, []
    for row, match in enumerate(MENTION.finditer(marked)):
        text += marked[at : match.start()]
        span = Span(len(text), len(text) + len(match[1]))
        entities.append(Entity(match[3] or f"e{row}", (span,), match[2]))
        text, at = text + match[1], match.end()
    text += marked[at:]
    return AnnotatedDocument(
        Document(doc_key, text, analyse(text)),
        Annotations(
            tuple(entities),
            tuple(
                Relation(f"r{row}", head, tail, label)
                for row, (head, label, tail) in enumerate(relations)
            ),
            tuple(Cluster(f"c{row}", tuple(names)) for row, names in enumerate(clusters)),
        ),
    )


TEN_SENTENCES = (
    gold(
        "otters",
        "We train a [river model|Method|a] for [otter counting|Task|b]. "
        "[It|Generic|c] beats the [pebble baseline|Method|d].",
        [("a", "USED-FOR", "b"), ("c", "COMPARE", "d")],
        [("a", "c")],
    ),
    gold(
        "lanterns",
        "The [lantern corpus|Material|a] evaluates [night parsing|Task|b]. "
        "[Night parsing|Task|c] needs [glow features|OtherScientificTerm|d].",
        [("a", "EVALUATE-FOR", "b"), ("d", "USED-FOR", "c")],
        [("b", "c")],
    ),
    gold(
        "kites",
        "[Kite networks|Method|a] and [string kernels|Method|b] share one loss. "
        "We report [wind accuracy|Metric|c] of the [kite networks|Method|d].",
        [("a", "CONJUNCTION", "b"), ("c", "EVALUATE-FOR", "d")],
        [("a", "d")],
    ),
    gold(
        "teapots",
        "A [teapot grammar|Method|a] is part of the [kettle parser|Method|b]. "
        "The [parser|Generic|c] handles [steam ambiguity|OtherScientificTerm|d].",
        [("a", "PART-OF", "b"), ("c", "USED-FOR", "d")],
        [("b", "c")],
    ),
    gold(
        "moss",
        "[Moss embedding|Method|a] is a kind of [plant embedding|Method|b]. "
        "Its [leaf recall|Metric|c] rises on [garden data|Material|d].",
        [("a", "HYPONYM-OF", "b"), ("c", "EVALUATE-FOR", "d")],
    ),
)
"""Five documents of two sentences each, with every task in them."""


def words_of(documents: Sequence[AnnotatedDocument]) -> list[str]:
    """All distinct lower-cased words."""
    return sorted(
        {
            word.lower()
            for item in documents
            for word in item.document.tokens.slices(item.document.text)
        }
    )


ONE_MENTION = gold("pebbles", "We polish a [pebble corpus|Material] by hand.")
"""A document without pairs: the heads of relations and links get no gradient from it."""
