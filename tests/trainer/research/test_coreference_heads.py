"""The comparison of coreference heads: a head with lexical features learns what states do not tell."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from research.coreference_heads import Item, columns_of, conll, example, trained
from sciextract.inference.lexical import FEATURES
from tests.trainer.corpus import gold

NAMES = ("parser", "corpus", "lexicon", "grammar", "tagger")
HIDDEN, TYPES = 8, 3


def item(seed: int) -> Item:
    """Two of five mentions have the same word, and are coreferent; states are random."""
    random = np.random.default_rng(seed)
    a, b, c, d = random.permutation(NAMES)[:4]
    words = f"[{a}|Task|p] and [{b}|Task] or [{c}|Task] . The [{a}|Task|q] beats [{d}|Task]"
    document = gold(str(seed), words, clusters=[("p", "q")])
    count = len(document.document.tokens)
    states = {
        "first": random.standard_normal((count, HIDDEN)),
        "last": random.standard_normal((count, HIDDEN)),
        "logits": random.standard_normal((count, 10, TYPES)),
    }
    tokens = document.document.tokens
    places = {e.id: tokens.aligned(e.span) for e in document.annotations.entities}
    spans = {key: (w.token_start, w.token_end - 1) for key, w in places.items() if w}
    clusters = [frozenset([spans["p"], spans["q"]])]
    return example(document.document, sorted(spans.values()), clusters, states)


def test_a_head_learns_from_words_what_random_states_do_not_tell() -> None:
    known, unseen = [item(seed) for seed in range(40)], [item(seed) for seed in range(90, 110)]
    heads = {name: trained(known, columns_of(name), 1, epochs=60) for name in ("all", "none")}
    with torch.inference_mode():
        scores = {
            name: conll(unseen, [head([each])[0].numpy() for each in unseen], 0.4)
            for name, head in heads.items()
        }
    assert scores["all"] > 90 and scores["none"] < 75


def test_sets_of_features_are_chosen_by_name() -> None:
    assert columns_of("none") == [] and len(columns_of("all")) == len(FEATURES)
    assert columns_of("acronym+same string") == [list(FEATURES).index("acronym"), 0]
    assert len(columns_of("-acronym-same string")) == len(FEATURES) - 2
