"""Entity scores of flat documents against seqeval and nervaluate, two independent scorers."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciextract.metrics.counts import Scorable, ScoredEntity
from sciextract.metrics.scorer import score
from tests.tiers import examples

LABELS = ("Task", "Method", "Metric")
LENGTH = 12
FlatDocument = list[ScoredEntity]


@st.composite
def flat_documents(draw: st.DrawFn) -> FlatDocument:
    """Entities that do not overlap, over twelve tokens."""
    cuts = draw(st.lists(st.integers(0, LENGTH), unique=True, max_size=8).map(sorted))
    labels = st.sampled_from((*LABELS, ""))
    pieces = [ScoredEntity(edges, draw(labels)) for edges in pairwise(cuts)]
    return [piece for piece in pieces if piece.label]


pairs = st.lists(st.tuples(flat_documents(), flat_documents()), min_size=1, max_size=4)


def scorables(documents: list[FlatDocument]) -> list[Scorable]:
    return [Scorable(str(index), frozenset(document)) for index, document in enumerate(documents)]


def tags_of(document: FlatDocument) -> list[str]:
    tags = ["O"] * LENGTH
    for (start, end), label in document:
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


@settings(max_examples=examples(60), deadline=None)
@given(pairs)
def test_micro_scores_equal_seqevals(documents: list[tuple[FlatDocument, FlatDocument]]) -> None:
    seqeval = pytest.importorskip("seqeval.metrics")
    gold, predicted = (list(side) for side in zip(*documents, strict=True))
    found = score(scorables(gold), scorables(predicted)).ner
    tags = [[tags_of(document) for document in side] for side in (gold, predicted)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = ("precision_score", "recall_score", "f1_score")
        expected = [100 * getattr(seqeval, name)(*tags, zero_division=0) for name in names]
        by_label = seqeval.classification_report(*tags, output_dict=True, zero_division=0)
    assert [found.all.precision, found.all.recall, found.all.f1] == pytest.approx(expected)
    for label, prf in found.labels.items():
        assert prf.f1 == pytest.approx(100 * by_label[label]["f1-score"])
        assert prf.gold == by_label[label]["support"]


@settings(max_examples=examples(40), deadline=None)
@given(pairs)
def test_correct_entities_equal_nervaluates(
    documents: list[tuple[FlatDocument, FlatDocument]],
) -> None:
    nervaluate = pytest.importorskip("nervaluate")
    gold, predicted = (list(side) for side in zip(*documents, strict=True))
    found = score(scorables(gold), scorables(predicted)).ner.all
    sides = [[spans_of(document) for document in side] for side in (gold, predicted)]
    strict = nervaluate.Evaluator(*sides, tags=list(LABELS), loader="dict").evaluate()
    assert found.correct == strict["overall"]["strict"].correct


def spans_of(document: FlatDocument) -> list[dict[str, Any]]:
    """nervaluate's spans, whose ends are inclusive."""
    return [
        {"label": label, "start": start, "end": end - 1} for (start, end), label in sorted(document)
    ]
