"""Hypothesis strategies that property tests share: hostile texts, and documents annotated on all three layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from sciextract.documents.annotations import (
    NOT_REJECTED,
    Annotations,
    Attribute,
    Cluster,
    Entity,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.text.analyse import analyse

#: Words and characters that some format, terminal or offset system trips over.
PIECES = (
    *("graph", "n-gram", "network", "We", "i.e.", "10.5%", "[12]", "-LRB-", "(", ")", "1/2"),
    *(" ", " ", "  ", ". ", ", ", "\n", "\n\n", "\r\n", "\r", "\t", "\u00a0", "\u2028", "\x85"),
    *("e\u0301", "α-β", "H₂O", "m²", "😀", "👩‍🔬", "𝔘", "\u202e", "\u200b", "\ufeff"),
    *("\x00", "\x01", "\x1b[31m", "\x9b", "\x7f", "\ufffe"),
    *(
        "<b>",
        "&amp;",
        "&",
        "]]>",
        '"',
        "'",
        "\\",
        "\\n",
        "|",
        "#",
        ";",
        "_",
        "=1+1",
        "+SUM(A1)",
        "@x",
    ),
)
LABELS = ("Task", "Method", "Ω-type", "a_b")
RELATION_LABELS = ("Used-for", "Part-of", "is_α")
ATTRIBUTE_LABELS = ("Negated", "sure α", "a_b")
VALUES = ("", "low", "2.5 ± 0.1 mm", "true", "=1+1", "a|b, c")
STATES = (State.IMPORTED, State.ACCEPTED, State.UNDECIDED, State.REJECTED)


def texts(pieces: Sequence[str] = PIECES, *, min_size: int = 1) -> st.SearchStrategy[str]:
    """Texts made of ``pieces``."""
    return st.lists(st.sampled_from(pieces), min_size=min_size, max_size=14).map("".join)


def spans(text: str) -> st.SearchStrategy[Span]:
    """Ranges of one to nine characters of a text that is not empty."""
    return st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9)).map(
        lambda pair: Span(pair[0], min(pair[0] + pair[1], len(text)))
    )


@st.composite
def fragments(draw: st.DrawFn, text: str) -> tuple[Span, ...]:
    """Usually one span; sometimes two with at least one character between them."""
    span = draw(spans(text))
    if span.char_end - span.char_start < 3 or draw(st.integers(0, 3)):
        return (span,)
    middle = span.char_start + 1
    return Span(span.char_start, middle), Span(middle + 1, span.char_end)


@st.composite
def annotated_documents(
    draw: st.DrawFn,
    *,
    pieces: Sequence[str] = PIECES,
    labels: Sequence[str] = LABELS,
    untyped: bool = True,
    states: Sequence[State] = STATES,
    attributes: bool = False,
) -> AnnotatedDocument:
    """Documents with nested, overlapping, equal and discontinuous entities, relations and clusters.

    Args:
        draw: Given by hypothesis.
        pieces: What the text is made of.
        labels: Entity types.
        untyped: Whether some entities have no type.
        states: States of the items.
        attributes: Whether items and the abstract have some.
    """
    text = draw(texts(pieces))
    label = st.sampled_from([*labels, ""] if untyped else [*labels])
    state = st.sampled_from(states)
    entities = tuple(
        Entity(f"E{index}", parts, draw(label), state=draw(state))
        for index, parts in enumerate(draw(st.lists(fragments(text), max_size=5)))
    )
    relations, clusters = [], []
    if entities:
        ids = st.sampled_from([entity.id for entity in entities])
        for index, (head, tail) in enumerate(draw(st.lists(st.tuples(ids, ids), max_size=3))):
            kind = draw(st.sampled_from(RELATION_LABELS))
            relations.append(Relation(f"R{index}", head, tail, kind, state=draw(state)))
        groups = st.lists(st.lists(ids, min_size=1, unique=True), max_size=2)
        for index, mentions in enumerate(draw(groups)):
            ordered = sorted(mentions, key=lambda mention: entities[int(mention[1:])].span)
            clusters.append(Cluster(f"C{index}", tuple(ordered), state=draw(state)))
    said: dict[tuple[str, str], Attribute] = {}
    if attributes:
        ids = st.sampled_from(
            ["", *(entity.id for entity in entities), *(link.id for link in relations)]
        )
        places = st.tuples(ids, st.sampled_from(ATTRIBUTE_LABELS))
        for index, place in enumerate(draw(st.lists(places, max_size=4, unique=True))):
            value = draw(st.sampled_from(VALUES))
            said[place] = Attribute(f"A{index}", *place, value, state=draw(state))
    tokens = analyse(text, [entity.span for entity in entities])
    document = Document(draw(st.sampled_from(["d", "doc-1", "α 1"])), text, tokens)
    items = (entities, tuple(relations), tuple(clusters))
    found = Annotations(*items, attributes=tuple(said.values()))
    return AnnotatedDocument(document, found)


def said_of(annotations: Annotations) -> set[tuple[Any, ...]]:
    """Attributes that are not rejected by what they stand on, for ids change on import."""
    found = annotations.in_states(NOT_REJECTED)
    ends = {entity.id: (entity.fragments, entity.label) for entity in found.entities}
    on: dict[str, Any] = {"": "abstract", **ends}
    on |= {link.id: (ends[link.head], ends[link.tail], link.label) for link in found.relations}
    return {(on[item.target], item.label, item.value) for item in found.attributes}
