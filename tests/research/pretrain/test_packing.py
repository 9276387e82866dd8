"""Texts as blocks of subwords."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from research.pretraining.blocks import packed_blocks
from sciextract_trainer.build import SubwordRules

LENGTH = 16
TEXTS = ["we parse trees.", "a b c d e f g h i j", "", "trees, trees, trees"] * 9


def test_blocks_hold_all_subwords_in_order_between_special_ones(
    rules: SubwordRules, tmp_path: Path
) -> None:
    blocks = packed_blocks(TEXTS, rules, LENGTH, tmp_path, {})
    assert (blocks[:, 0] == rules.prefix[0]).all()
    assert (blocks[:, -1] == rules.suffix[0]).all()
    inner = np.asarray(blocks[:, 1:-1]).reshape(-1).tolist()
    wanted: list[int] = []
    for text in TEXTS:
        wanted += [*rules.tokenizer.encode(text, add_special_tokens=False).ids, rules.suffix[0]]
    assert inner == wanted[: len(inner)]
    assert len(wanted) - len(inner) < LENGTH - 2


def test_blocks_are_made_once(rules: SubwordRules, tmp_path: Path) -> None:
    def fails() -> Iterator[str]:
        raise AssertionError("read again")
        yield ""

    first = packed_blocks(TEXTS, rules, LENGTH, tmp_path, {"most": 1})
    again = packed_blocks(fails(), rules, LENGTH, tmp_path, {"most": 1})
    assert (first == again).all()
    assert len(packed_blocks(TEXTS[:9], rules, LENGTH, tmp_path, {"most": 2})) < len(first)


def test_too_little_text_makes_no_block(rules: SubwordRules, tmp_path: Path) -> None:
    assert packed_blocks(["trees"], rules, LENGTH, tmp_path, {}).shape == (0, LENGTH)
