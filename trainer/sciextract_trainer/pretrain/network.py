"""An encoder with a head that tells hidden pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Told:
    """What a network tells of blocks, with what it thought on the way, all in float32.

    Attributes:
        logits: (chosen, vocabulary), of the hidden pieces.
        hidden: One more than layers, each (blocks, length, hidden): the embeddings' output, then each layer's.
        attentions: One per layer, each (blocks, heads, queries, keys), or none where none were asked for.
    """

    logits: Tensor
    hidden: tuple[Tensor, ...]
    attentions: tuple[Tensor, ...]


class MaskedLanguageModel(nn.Module):
    """Predicts hidden pieces.

    The head is BERT's (Devlin et al. 2019, arXiv 1810.04805, appendix A; one dense layer, GELU, layer
    norm, the input embeddings as output matrix, a bias). It begins fresh, for checkpoints such as sentence
    encoders come without one; :mod:`sciextract_trainer.pretrain.head` reads and keeps it.

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
        with self._autocast(input_ids):
            states = self.encoder(input_ids=input_ids)[0]
            return self._logits(states, positions)

    def tell(self, input_ids: Tensor, positions: Tensor, attentions: bool = False) -> Told:
        """Logits of the hidden pieces with hidden states and, where asked for, attention maps.

        Shapes as in :meth:`forward`. Attention maps need an encoder with eager attention
        (``set_attn_implementation("eager")``); the fused kernels give none.
        """
        with self._autocast(input_ids):
            found = self.encoder(
                input_ids=input_ids, output_hidden_states=True, output_attentions=attentions
            )
            logits = self._logits(found[0], positions)
        hidden = tuple(each.float() for each in found.hidden_states)
        maps = tuple(each.float() for each in found.attentions) if attentions else ()
        return Told(logits, hidden, maps)

    def _autocast(self, input_ids: Tensor) -> Any:
        return torch.autocast(input_ids.device.type, dtype=torch.bfloat16, enabled=self.bf16)

    def _logits(self, states: Tensor, positions: Tensor) -> Tensor:
        chosen = states.flatten(0, 1)[positions]
        told = self.norm(nn.functional.gelu(self.dense(chosen)).float())
        logits = nn.functional.linear(told, self.encoder.get_input_embeddings().weight)
        return logits.float() + self.bias
