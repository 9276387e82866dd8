"""An encoder with a head that tells hidden pieces."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class MaskedLanguageModel(nn.Module):
    """Predicts hidden pieces; the head is dropped after pretraining.

    The head is BERT's (Devlin et al. 2019, arXiv 1810.04805, appendix A; one dense layer, GELU, layer
    norm, the input embeddings as output matrix, a bias). It is always fresh: checkpoints such as sentence
    encoders come without one.

    Args:
        encoder: A Hugging Face encoder.
        bf16: Whether it runs in bfloat16 autocast.
    """

    def __init__(self, encoder: Any, bf16: bool = False) -> None:
        super().__init__()
        self.encoder = encoder
        self.bf16 = bf16
        vocabulary, width = encoder.get_input_embeddings().weight.shape
        self.dense = nn.Linear(encoder.config.hidden_size, width)
        self.norm = nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, input_ids: Tensor, positions: Tensor) -> Tensor:
        """Logits of the hidden pieces.

        Shapes: ``input_ids`` int64 (blocks, length) without padding; ``positions`` int64 (chosen,), indices
        into the flattened blocks; result float32 (chosen, vocabulary).
        """
        with torch.autocast(input_ids.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            states = self.encoder(input_ids=input_ids)[0].flatten(0, 1)[positions]
            told = self.norm(nn.functional.gelu(self.dense(states)).float())
            logits = nn.functional.linear(told, self.encoder.get_input_embeddings().weight)
        return logits.float() + self.bias
