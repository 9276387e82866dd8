"""The head that tells masked tokens is kept, and read again."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file, save_file

from research.pretraining.command import run_pretraining, write_encoder
from research.pretraining.network import (
    HEAD,
    MaskedLanguageModel,
    head_weights,
    read_head,
    require_head,
)
from research.pretraining.steps import PretrainConfig
from sciextract.errors import ModelDamagedError, ModelMismatchError, ModelNotFoundError
from sciextract_trainer.encoders.loading import load_encoder

IDS, PLACES = torch.tensor([[2, 5, 6, 7, 3]]), torch.tensor([1, 3])


def _network(folder: Path) -> MaskedLanguageModel:
    return MaskedLanguageModel(load_encoder(str(folder))).eval()


def test_a_written_head_tells_the_same(encoder_folder: Path, tmp_path: Path) -> None:
    network = _network(encoder_folder)
    write_encoder(network, str(encoder_folder), tmp_path / "e")
    again = _network(tmp_path / "e")
    assert not torch.equal(network(IDS, PLACES), again(IDS, PLACES))  # a fresh head
    assert read_head(again, str(tmp_path / "e"))
    assert torch.equal(network(IDS, PLACES), again(IDS, PLACES))


def test_an_encoder_without_a_head_is_left_as_it_is(encoder_folder: Path) -> None:
    network = _network(encoder_folder)
    before = head_weights(network)
    assert not read_head(network, str(encoder_folder))
    assert all(torch.equal(before[name], value) for name, value in head_weights(network).items())
    with pytest.raises(ModelNotFoundError, match="no masked-language head"):
        require_head(network, str(encoder_folder))


@pytest.mark.parametrize(
    ("family", "sizes"),
    [
        ("Bert", {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}),
        ("Roberta", {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}),
        ("DistilBert", {"dim": 32, "n_heads": 2, "hidden_dim": 64}),
    ],
)
def test_published_checkpoints_bring_their_head(
    family: str, sizes: dict[str, int], tmp_path: Path
) -> None:
    import transformers

    torch.manual_seed(0)
    settings = getattr(transformers, f"{family}Config")(
        vocab_size=40, max_position_embeddings=64, num_hidden_layers=2, **sizes
    )
    whole: Any = getattr(transformers, f"{family}ForMaskedLM")(settings).eval()
    for name, value in whole.named_parameters():
        if "bias" in name:
            value.data.normal_()
    whole.save_pretrained(tmp_path)
    network = _network(tmp_path)
    assert read_head(network, str(tmp_path))
    with torch.no_grad():
        wanted = whole(IDS).logits[0, PLACES]
        assert torch.allclose(network(IDS, PLACES), wanted, atol=1e-4)


def test_a_head_of_another_encoder_is_refused(encoder_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "e"
    write_encoder(_network(encoder_folder), str(encoder_folder), folder)
    head = load_file(folder / HEAD)
    save_file({**head, "bias": head["bias"][:-1].contiguous()}, folder / HEAD)
    with pytest.raises(ModelMismatchError, match="bias of the head has shape"):
        read_head(_network(folder), str(folder))


def test_a_damaged_head_is_named(encoder_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(encoder_folder, tmp_path / "e")
    (tmp_path / "e" / HEAD).write_bytes(b"\x08\x00\x00")
    with pytest.raises(ModelDamagedError, match=HEAD):
        read_head(_network(tmp_path / "e"), str(tmp_path / "e"))


def test_a_pretraining_goes_on_with_the_head_it_kept(encoder_folder: Path, tmp_path: Path) -> None:
    shard = tmp_path / "texts.jsonl.gz"
    with gzip.open(shard, "wt", encoding="utf-8") as lines:
        for number in range(40):
            text = "we parse trees with a model, and the model learns to parse."
            record = {"id": f"a{number}", "title": "trees", "abstract": text, "source": "own"}
            print(json.dumps(record), file=lines)

    def losses(encoder: Path, run: str) -> list[float]:
        told: list[dict[str, Any]] = []
        config = PretrainConfig(
            encoder=str(encoder), steps=60, batch_blocks=2, length=32, lr=5e-3, bf16=False
        )
        run_pretraining(config, [shard], 40, tmp_path / run, told.append)
        return [event["loss"] for event in told if event["event"] == "step"]

    first = losses(encoder_folder, "first")
    second = losses(tmp_path / "first" / "encoder", "second")
    assert second[0] < (first[0] + first[-1]) / 2
