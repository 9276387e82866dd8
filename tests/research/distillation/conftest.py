"""A teacher of four layers with a head, a student of two, and invented abstracts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SENTENCE = "we parse trees with a model, and the model learns to parse."

EncoderMaker = Callable[..., Path]


@pytest.fixture(scope="session")
def make_encoder(encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> EncoderMaker:
    """Writes an encoder of the tiny BERT's kind, with its tokenizer, some settings and a head if wanted."""
    import torch

    from research.pretraining.command import write_encoder
    from research.pretraining.network import MaskedLanguageModel
    from sciextract_trainer.encoders.loading import empty_encoder, read_settings

    def make(head: bool = True, **changes: Any) -> Path:
        torch.manual_seed(3)
        values = {**read_settings(str(encoder_folder)).to_dict(), **changes}
        network = MaskedLanguageModel(empty_encoder(values))
        with torch.no_grad():
            network.bias.normal_(std=2.0)
            for weight in network.encoder.encoder.parameters():
                weight.mul_(4.0)  # opinions and attention far from even
        folder = tmp_path_factory.mktemp("made") / "encoder"
        return write_encoder(network, str(encoder_folder), folder, head=head)

    return make


@pytest.fixture(scope="session")
def teacher_folder(make_encoder: EncoderMaker) -> Path:
    return make_encoder(num_hidden_layers=4)


@pytest.fixture(scope="session")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for number in range(40):
            record = {"id": f"a{number}", "title": "trees", "abstract": SENTENCE, "source": "own"}
            print(json.dumps(record), file=lines)
    return path
