"""Sentence encoders ship tokenizers that pad and cut; neither is part of what stands around a text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tokenizers import Tokenizer

from sciextract_trainer.build import SubwordRules, load_subword_rules


def test_a_tokenizer_that_pads_frames_texts_like_one_that_does_not(
    encoder_folder: Path, rules: SubwordRules, tmp_path: Path
) -> None:
    folder = shutil.copytree(encoder_folder, tmp_path / "padding")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(64)
    tokenizer.save(str(folder / "tokenizer.json"))
    padding = load_subword_rules(str(folder))
    assert (padding.prefix, padding.suffix) == (rules.prefix, rules.suffix)
    assert padding.limit == rules.limit
