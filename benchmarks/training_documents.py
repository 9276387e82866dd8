"""Made-up training examples of the size and density of SciERC's, so that speed needs neither data nor a tokenizer."""

from __future__ import annotations

import numpy as np

from sciextract.inference.candidates import span_mask
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer.data.examples import Example, Ints, Targets, one_hot

WORDS_MEAN, WORDS_DEVIATION, WORDS_MOST = 130, 49, 334
"""Words of SciERC's 350 training documents."""

SUBWORDS_PER_WORD = 1.2
WORDS_PER_SENTENCE, WORDS_PER_ENTITY, PAIRS_PER_ENTITY = 24, 8, 0.58
_FIRST_SUBWORD = 1000
_LINKS_PER_ENTITY = 0.2


def made_up_examples(count: int, labels: Labels, subwords: int, seed: int = 1) -> list[Example]:
    """Examples with random subwords and labels.

    Args:
        count: How many.
        labels: Their classes.
        subwords: Size of the encoder's vocabulary.
        seed: The same seed gives the same examples.
    """
    random = np.random.default_rng(seed)
    lengths = random.normal(WORDS_MEAN, WORDS_DEVIATION, count).clip(20, WORDS_MOST).astype(int)
    return [_example(f"d{row}", int(n), labels, subwords, random) for row, n in enumerate(lengths)]


def _example(
    key: str, words: int, labels: Labels, subwords: int, random: np.random.Generator
) -> Example:
    counts = 1 + random.poisson(SUBWORDS_PER_WORD - 1, words)
    last = np.cumsum(counts)  # subword 0 is the first special one
    frame = EncoderInput(
        random.integers(_FIRST_SUBWORD, subwords, int(last[-1]) + 2), last - counts + 1, last
    )
    starts = np.arange(words)
    ends = np.minimum((starts // WORDS_PER_SENTENCE + 1) * WORDS_PER_SENTENCE, words)
    return Example(
        key, frame, ("word",) * words, ends, span_mask(ends, labels.max_span_width),
        _targets(ends, labels, random),
    )  # fmt: skip


def _targets(ends: Ints, labels: Labels, random: np.random.Generator) -> Targets:
    count = max(2, len(ends) // WORDS_PER_ENTITY)
    starts = np.sort(random.choice(len(ends), count, replace=False))
    spans = np.stack(
        [starts, np.minimum(starts + random.integers(0, 3, count), ends[starts] - 1)], 1
    )
    same = [
        (a, b) for a in range(count) for b in range(count)
        if a != b and ends[spans[a, 0]] == ends[spans[b, 0]]
    ]  # fmt: skip
    chosen = random.permutation(len(same))[: int(PAIRS_PER_ENTITY * count)]
    pairs = np.array([same[row] for row in chosen], dtype=np.int64).reshape(-1, 2)
    links = np.array(
        [(late, late - 1) for late in range(1, int(_LINKS_PER_ENTITY * count) + 1)], dtype=np.int64
    ).reshape(-1, 2)
    types = random.integers(1, 1 + len(labels.entities), count)
    relations = random.integers(1, labels.relations.class_count, len(pairs))
    return Targets(
        spans,
        one_hot(types.tolist(), 1 + len(labels.entities)),
        pairs,
        one_hot(relations.tolist(), labels.relations.class_count),
        links,
        np.ones(len(links), dtype=np.float32),
    )
