"""Laws of windows, subwords, pairs, layouts, mentions and clusters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.documents.annotations import TokenRange
from sciextract.inference import candidates
from sciextract.inference.candidates import sentence_ends, span_mask
from sciextract.inference.decoding import (
    RelationLayout,
    antecedent_probabilities,
    combine_directions,
    predict_clusters,
    select_mentions,
    softmax,
)
from sciextract.inference.settings import DecodeSettings, PerTask
from sciextract.inference.tokenization import MAX_SUBWORDS_PER_WORD, plan_windows
from tests.tiers import examples
from tests.unit.inference import fakes

LAWS = settings(max_examples=examples(60), deadline=None)
SEEDS = st.integers(0, 2**32 - 1)
LABEL_SETS = st.lists(st.sampled_from("ABCDEFG"), unique=True, min_size=1).flatmap(
    lambda labels: st.tuples(st.just(tuple(labels)), st.frozensets(st.sampled_from(labels)))
)


@st.composite
def sentences(draw: st.DrawFn) -> tuple[TokenRange, ...]:
    lengths = draw(st.lists(st.integers(1, 40), min_size=1, max_size=12))
    edges = np.cumsum([0, *lengths]).tolist()
    return tuple(TokenRange(start, end) for start, end in pairwise(edges))


@LAWS
@given(st.data(), sentences(), st.integers(2 * MAX_SUBWORDS_PER_WORD, 510))
def test_windows_keep_every_word_once(
    data: st.DataObject, ranges: tuple[TokenRange, ...], limit: int
) -> None:
    words = ranges[-1].token_end
    size = st.integers(1, MAX_SUBWORDS_PER_WORD)
    counts = np.array(data.draw(st.lists(size, min_size=words, max_size=words)), dtype=np.int64)
    windows = plan_windows(counts, ranges, limit)
    kept = [word for w in windows for word in range(w.kept.token_start, w.kept.token_end)]
    assert kept == list(range(words))
    for window in windows:
        assert window.seen.contains(window.kept)
        assert counts[window.seen.token_start : window.seen.token_end].sum() <= limit


@LAWS
@given(sentences())
def test_short_sentences_are_never_cut(ranges: tuple[TokenRange, ...]) -> None:
    counts = np.ones(ranges[-1].token_end, dtype=np.int64)
    edges = {sentence.token_start for sentence in ranges} | {ranges[-1].token_end}
    for window in plan_windows(counts, ranges, 100):
        assert {window.kept.token_start, window.kept.token_end} <= edges


@LAWS
@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=8))
def test_every_word_has_subwords(words: list[str]) -> None:
    encoder = fakes.subword_tokenizer()
    subwords = encoder.split(words)
    assert len(subwords.counts) == len(words)
    assert subwords.counts.min() >= 1 and subwords.counts.max() <= MAX_SUBWORDS_PER_WORD
    frame = encoder.frame(subwords, 0, len(words))
    assert len(frame.input_ids) == subwords.counts.sum() + 2  # the special tokens around
    assert (frame.word_last - frame.word_first + 1).tolist() == subwords.counts.tolist()


@LAWS
@given(LABEL_SETS)
def test_mirroring_twice_changes_nothing(label_set: tuple[tuple[str, ...], frozenset[str]]) -> None:
    layout = RelationLayout(*label_set)
    mirror = layout.mirror()
    assert mirror[mirror].tolist() == list(range(layout.class_count))
    same = {0, *(layout.forward_class(label) for label in layout.symmetric)}
    assert set(np.flatnonzero(mirror == np.arange(layout.class_count)).tolist()) == same


@LAWS
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), max_size=15, unique=True),
    st.integers(1, 4),
)
def test_relation_pairs_have_mirrors_and_no_overlaps(
    starts: list[tuple[int, int]], group: int
) -> None:
    spans = fakes.spans_of(*sorted((start, start + width) for start, width in starts))
    sentence = spans[:, 0] // (8 * group)
    pairs = {(a, b) for a, b in candidates.relation_pairs(spans, sentence).tolist()}
    assert pairs == {(b, a) for a, b in pairs}
    for a in range(len(spans)):
        for b in range(len(spans)):
            apart = spans[a, 1] < spans[b, 0] or spans[b, 1] < spans[a, 0]
            assert ((a, b) in pairs) == bool(apart and sentence[a] == sentence[b])


@LAWS
@given(st.lists(st.integers(0, 10_000), min_size=2))
def test_buckets_rise_with_distance(distances: list[int]) -> None:
    buckets = candidates.bucket(np.sort(np.array(distances)))
    assert (np.diff(buckets) >= 0).all()
    assert buckets.min() >= 0 and buckets.max() < candidates.DISTANCE_BUCKETS


@LAWS
@given(st.integers(0, 40), st.integers(1, 20))
def test_antecedents_come_before_their_mention(count: int, most: int) -> None:
    pairs = candidates.antecedent_pairs(count, most)
    assert len(pairs) == sum(min(mention, most) for mention in range(count))
    assert (pairs[:, 1] < pairs[:, 0]).all()
    assert (np.diff(pairs[:, 0]) >= 0).all()


@LAWS
@given(SEEDS, LABEL_SETS, st.integers(2, 6))
def test_combining_does_not_depend_on_the_order_of_pairs(
    seed: int, label_set: tuple[tuple[str, ...], frozenset[str]], count: int
) -> None:
    layout, random = RelationLayout(*label_set), np.random.default_rng(seed)
    spans = np.stack([np.arange(count), np.arange(count)], axis=1)
    pairs = candidates.relation_pairs(spans, np.zeros(count, dtype=np.int64))
    logits = random.standard_normal((len(pairs), layout.class_count)).astype(np.float32)
    order = random.permutation(len(pairs))
    first = combine_directions(pairs, logits, layout)
    second = combine_directions(pairs[order], logits[order], layout)
    assert (first.pairs[:, 0] < first.pairs[:, 1]).all()
    np.testing.assert_allclose(first.probabilities.sum(axis=1), 1.0, rtol=1e-5)
    by_pair = dict(zip(map(tuple, second.pairs.tolist()), second.probabilities, strict=True))
    for pair, row in zip(map(tuple, first.pairs.tolist()), first.probabilities, strict=True):
        np.testing.assert_allclose(by_pair[pair], row, rtol=1e-6)


@LAWS
@given(SEEDS, sentences(), st.floats(0.05, 0.95), st.booleans())
def test_predicted_mentions_respect_threshold_and_overlap_rule(
    seed: int, ranges: tuple[TokenRange, ...], threshold: float, nesting: bool
) -> None:
    words = ranges[-1].token_end
    logits = fakes.logits_of(words, 4, 3, seed)
    allowed = span_mask(sentence_ends(ranges, words), 4)
    rules = DecodeSettings(thresholds=PerTask(threshold, 0.5, 0.5), nesting=nesting)
    mentions = select_mentions(logits, allowed, rules)
    assert mentions.predicted.all()
    assert (mentions.scores >= np.float32(threshold)).all()
    spans = mentions.spans.tolist()
    assert spans == sorted(spans)
    for row, (first, last) in enumerate(spans):
        assert allowed[first, last - first]
        for other_first, other_last in spans[row + 1 :]:
            inside = other_last <= last or other_first == first
            assert other_first > last or (
                nesting and inside and [first, last] != [other_first, other_last]
            )


@LAWS
@given(SEEDS, sentences(), st.floats(0.05, 0.95), st.booleans())
def test_candidates_change_no_prediction(
    seed: int, ranges: tuple[TokenRange, ...], threshold: float, nesting: bool
) -> None:
    words = ranges[-1].token_end
    logits = fakes.logits_of(words, 4, 3, seed)
    allowed = span_mask(sentence_ends(ranges, words), 4)
    rules = DecodeSettings(thresholds=PerTask(threshold, 0.5, 0.5), nesting=nesting)
    plain = select_mentions(logits, allowed, rules)
    rich = select_mentions(
        logits, allowed, DecodeSettings(rules.thresholds, nesting=nesting, candidates=True)
    )
    assert rich.spans[rich.predicted].tolist() == plain.spans.tolist()


@LAWS
@given(SEEDS, st.integers(0, 14), st.floats(0.0, 1.0))
def test_clusters_are_disjoint_groups_of_two_and_more(
    seed: int, count: int, threshold: float
) -> None:
    random = np.random.default_rng(seed)
    links = candidates.antecedent_pairs(count, 100)
    scores = (3 * random.standard_normal(len(links))).astype(np.float32)
    scored = antecedent_probabilities(links, scores, count)
    clusters = predict_clusters(scored, count, threshold)
    members = [mention for cluster in clusters for mention in cluster.mentions]
    assert len(members) == len(set(members))
    assert all(len(cluster.mentions) > 1 for cluster in clusters)
    assert all(list(cluster.mentions) == sorted(cluster.mentions) for cluster in clusters)
    stricter = predict_clusters(scored, count, min(1.0, threshold + 0.2))
    assert {m for c in stricter for m in c.mentions} <= set(members)


@LAWS
@given(SEEDS)
def test_softmax_sums_to_one(seed: int) -> None:
    logits = (50 * np.random.default_rng(seed).standard_normal((7, 5))).astype(np.float32)
    np.testing.assert_allclose(softmax(logits).sum(axis=1), 1.0, rtol=1e-5)
