"""Any Hugging Face encoder, from a folder or a hub id."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from sciextract_trainer.encoders.heads import apply_removed
from sciextract_trainer.encoders.settings import read_settings, set_attention_dropout, settings_from
from sciextract_trainer.encoders.weights import read_weights, without_pooler


def load_encoder(source: str, attention_dropout: float = 0.0) -> nn.Module:
    """The encoder without pooler, in float32, never with remote code or pickled weights.

    Without attention dropout the fused attention kernels serve, which are twice as fast on a CPU.

    Raises:
        ModelNotFoundError: No such folder, no safetensors, or the hub cannot be reached or has no such id.
        ModelMismatchError: The weights do not fit the configuration.
    """
    settings = read_settings(source)
    set_attention_dropout(settings, attention_dropout)
    encoder: nn.Module = read_weights(source, settings)
    return encoder


def empty_encoder(values: dict[str, Any], attention_dropout: float = 0.0) -> nn.Module:
    """The encoder that a configuration describes, with fresh weights.

    Raises:
        ValueError: The values describe none; ``TypeError``, ``KeyError`` and ``AttributeError`` likewise.
    """
    from transformers import AutoModel

    settings = settings_from(values)
    set_attention_dropout(settings, attention_dropout)
    encoder: nn.Module = without_pooler(
        AutoModel.from_config(settings, dtype=torch.float32, trust_remote_code=False)  # type: ignore[no-untyped-call]
    )
    apply_removed(encoder, values)
    return encoder


class WordEncoder(nn.Module):
    """An encoder whose output is read at the first and last piece of every word.

    Args:
        encoder: A Hugging Face encoder.
        dropout: Dropout of the states.
        bf16: Whether the encoder runs in bfloat16 autocast; the heads stay in float32.
    """

    def __init__(self, encoder: nn.Module, dropout: float, bf16: bool = False) -> None:
        super().__init__()
        self.encoder = encoder
        self.bf16 = bf16
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_first: Tensor, word_last: Tensor
    ) -> tuple[Tensor, Tensor]:
        """States of the first and last piece of every word.

        Shapes: ``input_ids``, ``attention_mask`` int64 (documents, pieces); ``word_first``,
        ``word_last`` int64 (words,), indices into the flattened batch; both results (words, hidden).
        """
        with torch.autocast(input_ids.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            states = self.encoder(input_ids=input_ids, attention_mask=attention_mask)[0]
        flat = self.dropout(states.flatten(0, 1).float())  # (documents * pieces, hidden)
        return flat[word_first], flat[word_last]
