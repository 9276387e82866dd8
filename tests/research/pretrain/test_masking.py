"""Which subwords are hidden, and how."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from research.pretraining.blocks import mask_tokens

MASK, VOCABULARY, SPECIAL = 3, 50, (0, 1, 2)


def _blocks() -> np.ndarray:
    random = np.random.default_rng(0)
    blocks = random.integers(4, VOCABULARY, (40, 64))
    blocks[:, 0], blocks[:, -1] = 1, 2
    return blocks.astype(np.uint32)


def test_hides_the_share_that_was_asked_for_and_nothing_special() -> None:
    blocks = _blocks()
    masked = mask_tokens(blocks, SPECIAL, MASK, VOCABULARY, 0.15, np.random.default_rng(1))
    assert len(masked.positions) == round(0.15 * 40 * 62)
    assert not np.isin(blocks.reshape(-1)[masked.positions], SPECIAL).any()
    assert len(set(masked.positions.tolist())) == len(masked.positions)


def test_targets_are_the_original_subwords_and_all_others_stay() -> None:
    blocks = _blocks()
    masked = mask_tokens(blocks, SPECIAL, MASK, VOCABULARY, 0.15, np.random.default_rng(1))
    flat = masked.input_ids.reshape(-1).copy()
    assert (masked.targets == blocks.reshape(-1)[masked.positions]).all()
    flat[masked.positions] = masked.targets
    assert (flat.reshape(blocks.shape) == blocks).all()


def test_eight_tenths_become_the_mask_one_tenth_another_subword_one_tenth_stays() -> None:
    blocks = np.tile(_blocks(), (50, 1))
    masked = mask_tokens(blocks, SPECIAL, MASK, VOCABULARY, 0.15, np.random.default_rng(2))
    seen = masked.input_ids.reshape(-1)[masked.positions]
    share = len(seen)
    assert (seen == MASK).sum() / share == pytest.approx(0.8, abs=0.02)
    assert (seen == masked.targets).sum() / share == pytest.approx(0.1, abs=0.02)


def test_the_same_numbers_hide_the_same_subwords_and_others_hide_others() -> None:
    first, again, other = (
        mask_tokens(_blocks(), SPECIAL, MASK, VOCABULARY, 0.15, np.random.default_rng([1, step]))
        for step in (1, 1, 2)
    )
    assert (first.input_ids == again.input_ids).all()
    assert (first.input_ids != other.input_ids).any()
