"""What is kept as bytes comes back as it was: token tables, annotations of a source, odd strings."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    Cluster,
    Entity,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    Relation,
    Span,
    SpanCandidate,
    State,
    TokenRange,
)
from sciextract.documents.document import TokenTable
from sciextract.store.documents import (
    decode_annotations,
    decode_tokens,
    encode_annotations,
    encode_tokens,
)
from sciextract.store.sqlite import from_sql, to_sql
from sciextract.text.analyse import analyse

odd_texts = st.text(st.characters(exclude_categories=[]), max_size=8)  # lone surrogates, too
scores = st.floats(0, 1)
spans = st.tuples(st.integers(0, 2**31), st.integers(0, 99)).map(lambda p: Span(p[0], sum(p)))
labels = st.lists(st.builds(LabelScore, odd_texts, scores), max_size=2).map(tuple)
states = st.sampled_from(State)


@st.composite
def token_tables(draw: st.DrawFn) -> TokenTable:
    widths = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 70_000)), max_size=8))
    found, end = [], 0
    for gap, width in widths:
        found.append(Span(end + gap, end + gap + width))
        end += gap + width
    cuts = draw(st.sets(st.integers(1, len(found) - 1))) if len(found) > 1 else set()
    edges = [0, *sorted(cuts), len(found)] if found else []
    sentences = tuple(TokenRange(a, b) for a, b in pairwise(edges))
    exactly = st.lists(odd_texts, min_size=len(found), max_size=len(found)).map(tuple)
    forms = draw(st.none() | exactly) if found else None
    return TokenTable(tuple(found), sentences, forms)


@given(token_tables())
def test_token_tables(table: TokenTable) -> None:
    assert decode_tokens(encode_tokens(table)) == table


@given(odd_texts)
def test_token_tables_of_any_text(text: str) -> None:
    table = analyse(text, [])
    assert decode_tokens(encode_tokens(table)) == table


def test_given_forms_of_no_token_are_no_forms_at_all() -> None:
    assert decode_tokens(encode_tokens(TokenTable((), (), None))) == TokenTable((), (), None)


entities = st.builds(
    Entity,
    odd_texts,
    st.lists(spans, min_size=1, max_size=2).map(tuple),
    odd_texts,
    st.none() | scores,
    states,
    odd_texts,
    labels,
)
relations = st.builds(
    Relation,
    odd_texts,
    odd_texts,
    odd_texts,
    odd_texts,
    st.none() | scores,
    states,
    odd_texts,
    labels,
)
ids = st.lists(odd_texts, min_size=1, max_size=3)
clusters = ids.flatmap(
    lambda mentions: st.builds(
        Cluster,
        odd_texts,
        st.just(tuple(mentions)),
        st.none() | scores,
        states,
        odd_texts,
        st.just(()) | st.tuples(*[scores] * len(mentions)),
        st.just(()) | st.tuples(*[states] * len(mentions)),
    )
)
candidates = st.builds(
    Candidates,
    st.lists(st.builds(SpanCandidate, spans, labels), max_size=2).map(tuple),
    st.lists(st.builds(PairCandidate, spans, spans, labels), max_size=2).map(tuple),
    st.lists(st.builds(LinkCandidate, spans, spans, scores), max_size=2).map(tuple),
)


def several(items: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(items, max_size=3).map(tuple)


@given(
    st.builds(
        Annotations,
        several(entities),
        several(relations),
        several(clusters),
        st.none() | candidates,
    )
)
def test_annotations_of_a_source(annotations: Annotations) -> None:
    body = encode_annotations(annotations)
    assert decode_annotations(body) == annotations
    assert encode_annotations(decode_annotations(body)) == body


@given(odd_texts)
def test_strings_that_sqlite_cannot_hold_as_text(text: str) -> None:
    assert from_sql(to_sql(text)) == text
    assert isinstance(to_sql(text), bytes) == any("\ud800" <= c <= "\udfff" for c in text)


@given(odd_texts)
def test_strings_in_the_log_are_ascii(text: str) -> None:
    assert json.loads(json.dumps([text])) == [text]
