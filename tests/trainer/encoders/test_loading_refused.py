"""Encoders that cannot be used, and what is said about them."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

from research.encoder_files import write_safetensors
from research.paper.cells import layer_count
from research.pretraining.command import write_encoder
from sciextract.errors import (
    ModelDamagedError,
    ModelMismatchError,
    ModelNotFoundError,
    SciextractError,
)
from sciextract_trainer import build as reading
from sciextract_trainer.build import load_subword_rules
from sciextract_trainer.encoders.loading import load_encoder
from tests.trainer.encoders.tiny import change_json

Copy = Callable[[str], Path]


def refused(
    error: type[SciextractError], words: str, do: Callable[[str], object], folder: Path
) -> str:
    """The hint of the one error that is expected."""
    with pytest.raises(error, match=words) as caught:
        do(str(folder))
    assert str(folder) in caught.value.message
    return caught.value.hint


def pickled(folder: Path) -> Path:
    """The encoder as it was published before safetensors."""
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def test_pickled_weights(encoder_copy: Copy, tmp_path: Path) -> None:
    folder = pickled(encoder_copy("bert"))
    hint = refused(ModelNotFoundError, "only safetensors are read", load_encoder, folder)
    assert f"python -m research safetensors {folder}" in hint
    written = tmp_path / "written"
    write_safetensors(str(folder), written)
    load_encoder(str(written))
    assert load_subword_rules(str(written)).limit == 126


def test_a_pickle_that_would_run_code_is_not_read(encoder_copy: Copy, tmp_path: Path) -> None:
    import os
    import pickle

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return os.system, (f"touch {tmp_path / 'ran'}",)

    folder = encoder_copy("bert")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Trap()}))

    def convert(source: str) -> int:
        return write_safetensors(source, tmp_path / "written")

    refused(SciextractError, "cannot be read as plain tensors", convert, folder)
    assert not (tmp_path / "ran").exists() and not (tmp_path / "written").exists()


def hostile(folder: Path, ran: Path) -> Path:
    """The encoder with Python code that transformers offers to run."""
    (folder / "code.py").write_text(
        f"open({str(ran)!r}, 'w')\n"
        "from transformers import BertConfig as Config, BertModel as Model, BertTokenizer as Tokenizer\n"
    )
    parts = {"AutoConfig": "code.Config", "AutoModel": "code.Model"}
    change_json(
        folder / "tokenizer_config.json",
        auto_map={"AutoTokenizer": [None, "code.Tokenizer"]},
        tokenizer_class="Tokenizer",
    )
    change_json(folder / "config.json", model_type="own", auto_map=parts)
    return folder


@pytest.mark.parametrize("old", [True, False], ids=["2019", "today"])
@pytest.mark.parametrize("read", ["encoder", "pieces", "layers", "pretrained"])
def test_code_of_an_encoder_never_runs(
    read: str, old: bool, encoder_copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    folder = hostile(encoder_copy("bert"), ran)
    if old:  # known by its shape, as BERTs of 2019 are; its tokenizer alone has code
        change_json(folder / "config.json", model_type=None, auto_map=None)
    network: Any = SimpleNamespace(encoder=torch.nn.Linear(1, 1))
    doors: dict[str, Callable[[str], object]] = {
        "encoder": load_encoder,
        "pieces": load_subword_rules,
        "layers": layer_count,
        "pretrained": lambda source: write_encoder(network, source, tmp_path / "new", head=False),
    }
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 9))
    known = old and read in ("encoder", "layers", "pieces")
    with contextlib.nullcontext() if known else pytest.raises(ModelNotFoundError, match="own, and"):
        doors[read](str(folder))
    assert not ran.exists()
    assert sys.stdin.read() == "y\n" * 9  # nobody was asked


def test_a_written_folder_is_not_written_over(encoder_copy: Copy) -> None:
    folder = pickled(encoder_copy("bert"))
    with pytest.raises(SciextractError, match="is there already"):
        write_safetensors(str(folder), folder)


def test_no_weights_and_no_folder(encoder_copy: Copy, tmp_path: Path) -> None:
    folder = encoder_copy("bert")
    (folder / "model.safetensors").unlink()
    refused(ModelNotFoundError, "no encoder can be loaded", load_encoder, folder)
    refused(ModelNotFoundError, "no encoder can be loaded", load_encoder, tmp_path / "nowhere")
    refused(
        ModelNotFoundError, "no encoder can be loaded", load_subword_rules, tmp_path / "nowhere"
    )


def test_weights_that_are_cut(encoder_copy: Copy) -> None:
    folder = encoder_copy("bert")
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:1000])
    refused(ModelNotFoundError, "no encoder can be loaded", load_encoder, folder)


def test_weights_of_another_size_or_depth(encoder_copy: Copy) -> None:
    folder = encoder_copy("bert")
    change_json(folder / "config.json", num_hidden_layers=3)
    refused(
        ModelMismatchError, r"16 are missing, .* layer\.2\.|16 are missing", load_encoder, folder
    )
    change_json(folder / "config.json", num_hidden_layers=2, intermediate_size=48)
    refused(ModelMismatchError, "other sizes", load_encoder, folder)


def test_an_unknown_family(encoder_copy: Copy) -> None:
    folder = encoder_copy("bert")
    change_json(folder / "config.json", model_type="brick")
    refused(ModelNotFoundError, "brick", load_encoder, folder)


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "deberta", "word-vectors"])
def test_a_tokenizer_of_another_encoder(family: str, encoder_copy: Copy) -> None:
    folder = encoder_copy(family)
    change_json(folder / "config.json", vocab_size=50)
    refused(ModelMismatchError, r"has \d+ pieces, the encoder has 50", load_subword_rules, folder)


def test_special_subwords_that_nobody_needs_are_left_out(encoder_copy: Copy) -> None:
    folder = encoder_copy("electra")
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line != "[MASK]"]
    (folder / "vocab.txt").write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    change_json(folder / "config.json", vocab_size=len(kept))
    rules = load_subword_rules(str(folder))
    assert rules.mask == rules.unknown
    assert rules.encoder().split(["[MASK]"]).ids.max() < len(kept)


def test_no_tokenizer(encoder_copy: Copy) -> None:
    folder = encoder_copy("bert")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    hint = refused(ModelNotFoundError, "it has no vocabulary", load_subword_rules, folder)
    assert "tokenizer.json" in hint


def test_a_broken_tokenizer(encoder_copy: Copy) -> None:
    folder = encoder_copy("bert")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    refused(ModelDamagedError, "has no model", load_subword_rules, folder)


def test_a_tokenizer_that_runs_in_python_only(encoder_copy: Copy) -> None:
    folder = encoder_copy("bert")
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("a 1\nb 2\n", encoding="utf-8")
    (folder / "bpe.codes").write_text("#version: 0.2\na b</w> 3\n", encoding="utf-8")
    change_json(folder / "tokenizer_config.json", tokenizer_class="BertweetTokenizer")
    hint = refused(ModelNotFoundError, "runs in Python only", load_subword_rules, folder)
    assert "tokenizer.json" in hint


def test_a_sentencepiece_file_without_the_package(
    encoder_copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = encoder_copy("deberta-v3")
    (folder / "tokenizer.json").rename(folder / "spm.model")
    monkeypatch.setattr(reading, "find_spec", lambda name: None)
    hint = refused(ModelNotFoundError, r"in spm\.model alone", load_subword_rules, folder)
    assert hint == "pip install sentencepiece"


def test_hardly_any_positions(encoder_copy: Copy) -> None:
    folder = encoder_copy("bert")
    change_json(folder / "config.json", max_position_embeddings=12)
    refused(ModelMismatchError, "has room for 10 pieces of text", load_subword_rules, folder)
