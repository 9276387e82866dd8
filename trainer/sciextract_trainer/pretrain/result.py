"""A pretrained or distilled encoder as a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path

from safetensors.torch import save_file

from sciextract_trainer.encoders.files import load_pretrained
from sciextract_trainer.full_disk import explained, replacing
from sciextract_trainer.pretrain.head import HEAD, head_weights
from sciextract_trainer.pretrain.network import MaskedLanguageModel


def write_encoder(
    network: MaskedLanguageModel, source: str, folder: Path, head: bool = True
) -> Path:
    """Writes encoder, tokenizer and head, so that trainings, pretrainings and students can start from them.

    Args:
        network: Encoder and head.
        source: Folder or hub id of the tokenizer.
        folder: Where to; files of an earlier state are replaced.
        head: Whether the head is worth keeping; a fresh one is not.

    Raises:
        OutputError: It cannot be written, for example on a full disk.
    """
    from transformers import AutoTokenizer

    encoder = network.encoder
    weights = {name: value.contiguous().cpu() for name, value in encoder.state_dict().items()}
    with explained(folder):
        load_pretrained(AutoTokenizer, source, use_fast=True).save_pretrained(folder)
        encoder.config.save_pretrained(folder)
    parts = {"model.safetensors": weights} | ({HEAD: head_weights(network)} if head else {})
    for name, tensors in parts.items():
        with replacing(folder / name) as temporary:
            save_file(tensors, temporary, metadata={"format": "pt"})
    return folder
