"""Any Hugging Face encoder, from a folder or a hub id."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from sciextract.errors import ModelNotFoundError


def load_encoder(source: str, attention_dropout: float = 0.0) -> nn.Module:
    """The encoder without pooler, in float32, never with remote code or pickled weights.

    Without attention dropout the fused attention kernels serve, which are twice as fast on a CPU.

    Raises:
        ModelNotFoundError: No such folder, or the hub cannot be reached or has no such id.
    """
    from transformers import AutoConfig, AutoModel

    try:
        settings = AutoConfig.from_pretrained(source, trust_remote_code=False)
        if hasattr(settings, "attention_probs_dropout_prob"):
            settings.attention_probs_dropout_prob = attention_dropout
        encoder: nn.Module = AutoModel.from_pretrained(
            source,
            config=settings,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
        )
    except (OSError, ValueError) as error:
        kind = "folder" if Path(source).exists() else "hub id (or the network is away)"
        raise ModelNotFoundError(
            f"no encoder can be loaded from {source!r}: {error}",
            f"give a folder with config.json and model.safetensors, or a hub id; this is a {kind}",
        ) from error
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None  # type: ignore[assignment]
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
