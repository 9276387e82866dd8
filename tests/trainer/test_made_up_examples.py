"""The documents of the speed benchmark are such as training takes, and about as long as SciERC's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.training_documents import WORDS_MEAN, made_up_examples
from sciextract_trainer.build import JOINT, SubwordRules, build_network
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import collate

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels


def test_they_are_alike_and_about_as_long_as_real_ones(labels: Labels) -> None:
    examples, again = (made_up_examples(200, labels, 2000) for _ in range(2))
    assert all(
        (a.frame.input_ids == b.frame.input_ids).all() for a, b in zip(examples, again, strict=True)
    )
    assert abs(np.mean([len(example.ends) for example in examples]) - WORDS_MEAN) < 10


def test_the_network_learns_from_them(
    labels: Labels, rules: SubwordRules, make_config: Callable[..., TrainConfig]
) -> None:
    network = build_network(make_config(), labels)
    short = min(made_up_examples(20, labels, 1001), key=lambda example: example.subword_count)
    for example in (short,):
        example.frame.input_ids[:] = 1
        losses = JOINT.losses(network, collate([example], 0), make_config(), labels)
        assert math.isfinite(losses.total(make_config()).item()) and losses.relation.item() > 0
