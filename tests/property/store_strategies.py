"""What models and files say about three short texts, so that much of it meets."""

from __future__ import annotations

from hypothesis import strategies as st

from sciextract.documents.annotations import (
    Annotations,
    Attribute,
    Cluster,
    Entity,
    Layer,
    Relation,
    Span,
    State,
)
from sciextract.documents.document import Document
from tests.unit.store.projects import document

TEXTS = (
    "A net and a net, the nets.",
    "e\u0301t α net 😀 a net",
    "A graph net.\r\nNet of graph; \ud800 net",
)
DOCUMENTS = tuple(document(text, f"d{index}") for index, text in enumerate(TEXTS))
LABELS = ("Method", "Task")
RELATIONS = ("Uses", "Like")
SCORES = (0.2, 0.5, 0.9)

layers = st.lists(st.sampled_from(tuple(Layer)), min_size=1, unique=True)
seconds = st.sampled_from([None, 1.5])
attributes = st.sampled_from([("negated", ""), ("design", "trial"), ("design", "review")])


@st.composite
def spans(draw: st.DrawFn, of: Document) -> Span:
    """Usually whole tokens, few of them, so that the same ones come again."""
    tokens = of.tokens.spans
    first = draw(st.integers(0, len(tokens) - 1))
    last = min(first + draw(st.integers(0, 1)), len(tokens) - 1)
    cut = draw(st.integers(0, 9)) == 0
    return Span(tokens[first].char_start, tokens[last].char_end - cut * (last > first))


@st.composite
def fragments(draw: st.DrawFn, of: Document) -> tuple[Span, ...]:
    first, second = sorted((draw(spans(of)), draw(spans(of))))
    apart = first.char_end < second.char_start and draw(st.booleans())
    return (first, second) if apart else (first,)


@st.composite
def entities(draw: st.DrawFn, of: Document, state: st.SearchStrategy[State]) -> tuple[Entity, ...]:
    label = st.sampled_from((*LABELS, "Foreign"))
    made = draw(st.lists(fragments(of), max_size=5))
    score = st.sampled_from(SCORES)
    return tuple(
        Entity(f"E{index}", parts, draw(label), draw(score), draw(state))
        for index, parts in enumerate(made)
    )


@st.composite
def predictions(draw: st.DrawFn, of: Document) -> Annotations:
    """What a model says: scores everywhere, every mention in at most one cluster."""
    found = draw(entities(of, st.just(State.UNDECIDED)))
    ids = [entity.id for entity in found]
    score = st.sampled_from(SCORES)
    relations = tuple(
        Relation(f"R{index}", head, tail, draw(st.sampled_from(RELATIONS)), draw(score))
        for index, (head, tail) in enumerate(draw(_pairs(ids)))
    )
    middle = draw(st.integers(0, len(ids)))
    halves = [half for half in (ids[:middle], ids[middle:]) if len(half) > 1]
    clusters = tuple(
        Cluster(f"C{index}", tuple(half), 0.5, mention_scores=(draw(score),) * len(half))
        for index, half in enumerate(halves)
    )
    said = draw(
        _attributes([*ids, *(relation.id for relation in relations)], st.just(State.UNDECIDED))
    )
    return Annotations(found, relations, clusters, attributes=said)


@st.composite
def foreign_annotations(draw: st.DrawFn, of: Document) -> Annotations:
    """What a file says: gold, whose clusters may share mentions, or our own export with all states."""
    gold = draw(st.booleans())
    state = st.just(State.IMPORTED) if gold else st.sampled_from([*State])
    found = draw(entities(of, state))
    ids = [entity.id for entity in found]
    relations = tuple(
        Relation(f"R{index}", head, tail, draw(st.sampled_from(RELATIONS)), None, draw(state))
        for index, (head, tail) in enumerate(draw(_pairs(ids)))
    )
    groups = draw(st.lists(some(ids), max_size=2)) if ids else []
    if not gold and len(groups) > 1:
        groups[1] = [group for group in groups[1] if group not in groups[0]]
    clusters = tuple(
        Cluster(f"C{i}", tuple(group), state=draw(state), mention_states=draw(_each(state, group)))
        for i, group in enumerate(groups)
        if group
    )
    said = draw(_attributes([*ids, *(relation.id for relation in relations)], state))
    return Annotations(found, relations, clusters, attributes=said)


@st.composite
def _attributes(
    draw: st.DrawFn, ids: list[str], state: st.SearchStrategy[State]
) -> tuple[Attribute, ...]:
    """What a source says of its items and of the abstract, each thing once."""
    places = draw(st.lists(st.tuples(st.sampled_from(["", *ids]), attributes), max_size=3))
    by_place = {(target, label): value for target, (label, value) in places}
    return tuple(
        Attribute(f"A{index}", target, label, value, draw(st.sampled_from(SCORES)), draw(state))
        for index, ((target, label), value) in enumerate(by_place.items())
    )


def _each(
    state: st.SearchStrategy[State], mentions: list[str]
) -> st.SearchStrategy[tuple[State, ...]]:
    """A state for every mention, or none at all."""
    return st.one_of(st.just(()), st.tuples(*[state] * len(mentions)))


def some(ids: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(ids), min_size=1, max_size=3, unique=True)


def _pairs(ids: list[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    if not ids:
        return st.just([])
    drawn = st.sampled_from(ids)
    return st.lists(st.tuples(drawn, drawn), max_size=3)
