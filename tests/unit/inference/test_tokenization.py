"""Words to subwords, hostile words included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sciextract.inference.tokenization import MAX_SUBWORDS_PER_WORD, SubwordTokenizer, pad
from tests.unit.inference import fakes

HOSTILE = [
    "\x1b[31m",
    "\x00",
    "\ud800",
    "a\udfffb",
    "🧬",
    "👩‍🔬",
    "\u0301",
    "\u00a0",
    "ﬃ",
    "x" * 10_000,
    "[CLS]",
]


ENCODERS = [fakes.subword_tokenizer, fakes.byte_encoder]


@pytest.mark.parametrize("make", ENCODERS)
@pytest.mark.parametrize("word", HOSTILE, ids=ascii)
def test_every_word_has_subwords_and_not_too_many(
    word: str, make: Callable[[], SubwordTokenizer]
) -> None:
    subwords = make().split(["a", word, "b"])
    assert len(subwords.counts) == 3
    assert 1 <= subwords.counts[1] <= MAX_SUBWORDS_PER_WORD
    assert subwords.counts[0] == subwords.counts[2] == 1
    assert subwords.ids[0] == make().split(["a"]).ids[0]


def test_all_words_may_be_hostile() -> None:
    subwords = fakes.subword_tokenizer().split(HOSTILE)
    assert len(subwords.counts) == len(HOSTILE) and subwords.counts.min() >= 1
    assert subwords.starts[-1] == len(subwords.ids)


def test_a_long_word_keeps_its_start_and_its_end() -> None:
    encoder = fakes.byte_encoder()
    word = "abc" + "x" * 10_000 + "xyz"
    subwords = encoder.split([word])
    assert len(subwords.ids) == MAX_SUBWORDS_PER_WORD
    assert subwords.ids[0] == encoder.split(["a"]).ids[0]
    assert subwords.ids[-1] == encoder.split(["z"]).ids[0]


def test_no_words() -> None:
    subwords = fakes.subword_tokenizer().split([])
    assert len(subwords.ids) == 0 and len(subwords.counts) == 0


def test_frames_point_at_the_subwords_of_their_words() -> None:
    encoder = fakes.subword_tokenizer()
    subwords = encoder.split(["ab", "c", "def", "g"])
    frame = encoder.frame(subwords, 1, 3)
    assert frame.input_ids.tolist() == [fakes.PREFIX, *subwords.ids[2:6].tolist(), fakes.SUFFIX]
    assert frame.word_first.tolist() == [1, 2] and frame.word_last.tolist() == [1, 4]


def test_padding_numbers_words_through() -> None:
    encoder = fakes.subword_tokenizer()
    windows = [
        encoder.frame(encoder.split(words), 0, len(words)) for words in (["ab"], ["c", "defg"])
    ]
    padded = pad(windows)
    assert padded.input_ids.shape == (2, 7) and padded.offsets == (0, 1, 3)
    assert padded.attention_mask.sum(axis=1).tolist() == [4, 7]
    flat = padded.input_ids.ravel()
    expected = np.concatenate([w.input_ids[w.word_first] for w in windows])
    np.testing.assert_array_equal(flat[padded.word_first], expected)
