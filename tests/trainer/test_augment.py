"""Swapped entities: what is said of a document stays true, whatever its characters are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tiers import examples

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

from sciextract.documents.annotations import Annotations, Cluster, Entity, Relation, State
from sciextract.documents.document import AnnotatedDocument, Document, TokenTable
from sciextract.documents.spans import Span, TokenRange
from sciextract.errors import UsageError
from sciextract.retraining.events import as_mappings
from sciextract.snapshot import Origin, TrainingDocument
from sciextract.store.rows import IN_VIEW
from sciextract.text.analyse import analyse
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.checkpoint import WEIGHTS
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.augment import EntitySwap, Swaps, decided_swaps, gold_swaps
from sciextract_trainer.data.examples import decided_examples, examples_from
from sciextract_trainer.families import family_of
from sciextract_trainer.loop import TrainingData, train
from tests.trainer.corpus import TEN_SENTENCES, gold

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

LABELS = ("Method", "Task")
WORDS = (
    "graph",
    "αβγ",
    "naïve",
    "e\u0301",
    "🙂",
    "汉字",
    "👩‍👩‍👧",
    "[12]",
    "x-y",
    "\x1b[31m",
    "of",
)
GAPS = (" ", "  ", "\n", "\r\n", "\t", "\u00a0")


@st.composite
def documents(draw: st.DrawFn) -> list[AnnotatedDocument]:
    """A few documents whose tokens are words between odd gaps, with entities, relations and clusters on them."""
    return [draw(_document(f"d{row}")) for row in range(draw(st.integers(1, 4)))]


@st.composite
def _document(draw: st.DrawFn, doc_key: str) -> AnnotatedDocument:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
    text, spans = draw(st.sampled_from(["", " ", "\r\n"])), []
    for word in words:
        spans.append(Span(len(text), len(text) + len(word)))
        text += word + draw(st.sampled_from(GAPS))
    cut = draw(st.integers(0, len(words) - 1))
    ends = [0, cut, len(words)] if cut else [0, len(words)]
    sentences = tuple(TokenRange(a, b) for a, b in pairwise(ends))
    forms = tuple(f"-{word}-" for word in words) if draw(st.booleans()) else None
    document = Document(doc_key, text, TokenTable(tuple(spans), sentences, forms))
    return AnnotatedDocument(document, draw(_annotations(spans)))


@st.composite
def _annotations(draw: st.DrawFn, words: list[Span]) -> Annotations:
    states, last = st.sampled_from(State), len(words) - 1
    entities = []
    for row in range(draw(st.integers(0, 6))):
        first = draw(st.integers(0, last))
        end = min(last, first + draw(st.integers(0, 2)))
        fragments: tuple[Span, ...] = (Span(words[first].char_start, words[end].char_end),)
        if end > first and draw(st.booleans()):
            fragments = (words[first], words[end])
        entities.append(
            Entity(f"e{row}", fragments, draw(st.sampled_from(LABELS)), state=draw(states))
        )
    ids = [each.id for each in entities]
    if len(ids) < 2:
        return Annotations(tuple(entities))
    pair = draw(st.permutations(ids))
    relations = (Relation("r", pair[0], pair[1], "USED-FOR", state=draw(states)),)
    clusters = (Cluster("c", tuple(pair[:3]), state=draw(states)),)
    return Annotations(tuple(entities), relations, clusters)


def _outside(item: AnnotatedDocument, swapped: set[str]) -> list[str]:
    """The text between the mentions that were swapped."""
    parts, at = [], 0
    for span in sorted(e.span for e in item.annotations.entities if e.id in swapped):
        parts.append(item.document.text[at : span.char_start])
        at = span.char_end
    return [*parts, item.document.text[at:]]


@settings(max_examples=examples(150), deadline=None)
@given(
    documents(), st.integers(0, 3), st.sampled_from([IN_VIEW, frozenset(State) - {State.REJECTED}])
)
def test_everything_stays_what_it_was(
    items: list[AnnotatedDocument], seed: int, positive: frozenset[State]
) -> None:
    swap = EntitySwap(items, positive)
    said = {
        (entity.label, entity.text_of(item.document.text))
        for item in items
        for entity in item.annotations.entities
        if entity.state in positive
    }
    for row, item in enumerate(items):
        made = swap.swapped(row, np.random.default_rng(seed))
        old, new = item.annotations, made.annotations
        changed = {
            one.id
            for one, two in zip(old.entities, new.entities, strict=True)
            if one.text_of(item.document.text) != two.text_of(made.document.text)
        }
        assert changed or made.document.text == item.document.text
        assert (row in swap.rows()) == bool(changed)
        assert _outside(item, changed) == _outside(made, changed)
        assert made.document.tokens.problems(len(made.document.text)) == []
        assert (new.relations, new.clusters) == (old.relations, old.clusters)
        assert len(made.document.tokens.sentences) == len(item.document.tokens.sentences)
        for one, two in zip(old.entities, new.entities, strict=True):
            assert replace(two, fragments=one.fragments) == one
            if one.id in changed:
                assert one.state in positive and len(one.fragments) == 1
                assert (one.label, two.text_of(made.document.text)) in said
            aligned = [
                each.document.tokens.aligned(e.span) for each, e in ((item, one), (made, two))
            ]
            assert (aligned[0] is None) == (aligned[1] is None)
        _check_outside_tokens(item, made, changed)


def _check_outside_tokens(
    item: AnnotatedDocument, made: AnnotatedDocument, changed: set[str]
) -> None:
    """Tokens beside the swapped mentions keep their strings and their sentences."""
    assert list(_tokens(item, changed)) == list(_tokens(made, changed))


def _tokens(item: AnnotatedDocument, changed: set[str]) -> Iterator[tuple[str, str, int]]:
    table, text = item.document.tokens, item.document.text
    spans = [each.span for each in item.annotations.entities if each.id in changed]
    for index, (span, form) in enumerate(zip(table.spans, table.strings(text), strict=True)):
        if not any(each.contains(span) for each in spans):
            yield span.of(text), form, table.sentence_of(index)


def test_a_swap_moves_what_is_behind_it() -> None:
    items = [
        gold("one", "The [parser|Method|a] beats [αβ 🙂|Task|b].\r\nOf [it|Generic|c].", [("a", "USED-FOR", "b")]),
        gold("two", "A [much longer\r\nnetwork|Method|a] for [naïve tagging|Task|b]."),
    ]  # fmt: skip
    made = EntitySwap(items).swapped(0, np.random.default_rng(0))
    assert made.document.text == "The much longer\r\nnetwork beats naïve tagging.\r\nOf it."
    found = [each.text_of(made.document.text) for each in made.annotations.entities]
    assert found == ["much longer\r\nnetwork", "naïve tagging", "it"]
    words = made.document.tokens.slices(made.document.text)
    assert words == analyse(made.document.text).slices(made.document.text)
    assert made.document.doc_key == "one (swapped)"


def test_mentions_that_mean_the_same_stay_alike() -> None:
    items = [
        gold(
            "one",
            "The [tree parser|Method|a] is a [parser|Method|b]. A [Tree parser|Method|c] beats "
            "the [tagger|Method|d]; [it|Generic|e] is fast.",
            clusters=[("a", "b", "e")],
        ),
        gold("two", "[Nets|Method], [kernels|Method], [forests|Method], [This|Generic]."),
    ]
    for seed in range(5):
        made = EntitySwap(items).swapped(0, np.random.default_rng(seed))
        a, b, c, d, e = (each.text_of(made.document.text) for each in made.annotations.entities)
        assert a == b == c != d and e == "This"
        assert made.annotations.clusters == items[0].annotations.clusters


def test_a_cluster_with_a_nested_mention_is_left_alone() -> None:
    one = gold("one", "A [tree parser|Method|a] and [parser|Method|b]s.", clusters=[("a", "b")])
    text = one.document.text
    inner = Entity("n", (Span(text.index("tree"), text.index("tree") + 4),), "Task")
    nested = replace(
        one,
        annotations=Annotations((*one.annotations.entities, inner), (), one.annotations.clusters),
    )
    two = gold("two", "[Nets|Method] for [tagging|Task].")
    swap = EntitySwap([nested, two])
    assert swap.rows() == []
    assert swap.swapped(0, np.random.default_rng(0)).document.text == text


def test_wide_mentions_are_not_put_elsewhere() -> None:
    items = [gold("one", "[Nets|Method]."), gold("two", "[a b c d e|Method] or [trees|Method].")]
    texts = {
        EntitySwap(items, most_words=4).swapped(0, np.random.default_rng(seed)).document.text
        for seed in range(9)
    }
    assert texts == {"trees."}


def _swaps(labels: Labels, rules: SubwordRules, seed: int = 1) -> Swaps:
    def examples(row: int, item: AnnotatedDocument) -> Iterator[Any]:
        return examples_from([item], labels, rules.encoder(), rules.limit)

    swap = EntitySwap(TEN_SENTENCES)
    return Swaps(swap, swap.rows(), examples, seed)


def test_epochs_differ_and_repeat_themselves(labels: Labels, rules: SubwordRules) -> None:
    def subwords(swaps: Swaps, epoch: int) -> list[list[int]]:
        return [each.frame.input_ids.tolist() for each in swaps.of(epoch, 7)]  # type: ignore[attr-defined]

    first = subwords(_swaps(labels, rules), 1)
    assert len(first) == 7 and first == subwords(_swaps(labels, rules), 1)
    assert first != subwords(_swaps(labels, rules), 2)
    assert first != subwords(_swaps(labels, rules, seed=2), 1)


def test_nothing_to_swap_is_said(labels: Labels, rules: SubwordRules) -> None:
    alone = EntitySwap(TEN_SENTENCES[:1])
    swaps = replace(_swaps(labels, rules), swap=alone, rows=alone.rows())
    assert swaps.of(1, 0) == []
    with pytest.raises(UsageError, match="no entity can be swapped"):
        swaps.of(1, 2)


def test_decisions_keep_their_masks(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules
) -> None:
    """A swapped document tells a network as much as before: the same positives, negatives and masks."""
    one = gold(
        "one",
        "A [parser|Method|a] beats a [tagger|Method|b] on [trees|Material|c] and [text|Material|d].",
        [("a", "COMPARE", "b"), ("a", "USED-FOR", "c")],
    )
    states = {"b": State.REJECTED, "d": State.UNDECIDED}
    decided = tuple(
        replace(each, state=states.get(each.id, State.ACCEPTED))
        for each in one.annotations.entities
    )
    annotations = replace(one.annotations, entities=decided)
    item = TrainingDocument(replace(one, annotations=annotations), frozenset())
    base = TrainingDocument(gold("two", "[Nets|Method] in [wikis|Material]."), origin=Origin.BASE)
    base = replace(base, annotated=_accepted(base.annotated))
    swaps = decided_swaps(make_config(augment=1.0), [item, base], labels, rules)
    assert swaps is not None and list(swaps.rows) == [0]
    made = swaps.swap.swapped(0, np.random.default_rng(0))
    assert made.document.text == "A Nets beats a tagger on wikis and text."
    before = next(iter(decided_examples([item], labels, rules.encoder(), rules.limit)))
    (after,) = swaps.of(1, 1)
    for name in ("spans", "types", "pairs", "relations", "links", "link_weights"):
        np.testing.assert_array_equal(
            getattr(before.targets, name),
            getattr(after.targets, name),  # type: ignore[attr-defined]
        )
    for name in ("counted", "judged", "settled", "known_pairs", "known_links"):
        np.testing.assert_array_equal(
            getattr(before.targets.mask, name),
            getattr(after.targets.mask, name),  # type: ignore[attr-defined]
        )


def _accepted(item: AnnotatedDocument) -> AnnotatedDocument:
    entities = tuple(replace(each, state=State.ACCEPTED) for each in item.annotations.entities)
    return replace(item, annotations=replace(item.annotations, entities=entities))


class Killed(Exception):
    """Stands for the process being killed."""


@pytest.mark.parametrize("network", ["joint", "dygie"])
def test_a_training_with_swaps_resumes_exactly(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules, network: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    config = make_config(epochs=4, augment=0.6, dropout=0.2, network=network)
    swaps = gold_swaps(config, TEN_SENTENCES, labels, rules)
    examples = list(family_of(config).examples(TEN_SENTENCES, labels, rules))
    data = TrainingData(examples, (), swaps=swaps)
    seen: list[int] = []

    def kill(event: dict[str, Any]) -> None:
        if event["event"] == "step":
            seen.append(event["of"])
            if event["epoch"] == 3 and event["documents"] > 2:
                raise Killed

    train(config, labels, rules, data, tmp_path / "whole", lambda event: None)
    with pytest.raises(Killed):
        train(config, labels, rules, data, tmp_path / "parts", as_mappings(kill))
    train(config, labels, rules, data, tmp_path / "parts", lambda event: None)
    assert set(seen) == {5 + 3}
    whole, parts = (load_file(tmp_path / name / WEIGHTS) for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_augment_without_documents_to_swap_in_is_refused(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules, tmp_path: Path
) -> None:
    examples = list(examples_from(TEN_SENTENCES, labels, rules.encoder(), rules.limit))
    data = TrainingData(examples, ())
    with pytest.raises(UsageError, match=r"augment = 0\.5"):
        train(make_config(augment=0.5), labels, rules, data, tmp_path, lambda event: None)
