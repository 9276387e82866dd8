"""Word vectors as an encoder of transformers, so that training, export and serving know no special case."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput


class WordVectorsConfig(PretrainedConfig):  # type: ignore[no-untyped-call]
    """Sizes of a :class:`WordVectorsModel`.

    Attributes:
        vocab_size: Words, the padding and the unknown one included.
        vector_size: Numbers of a word vector.
        lstm_layers: Layers of the bidirectional LSTM; 0 gives the vectors as they are.
        lstm_size: States of each direction.
        lstm_dropout: Dropout before each layer.
    """

    model_type = "sciextract-word-vectors"

    vocab_size: int = 2
    vector_size: int = 300
    lstm_layers: int = 0
    lstm_size: int = 200
    lstm_dropout: float = 0.4
    initializer_range: float = 0.02
    pad_token_id: int | None = 0

    @property
    def hidden_size(self) -> int:
        """Numbers of a word's state."""
        return 2 * self.lstm_size if self.lstm_layers else self.vector_size


class WordVectorsModel(PreTrainedModel):
    """A vector per word, and on top, where wanted, a bidirectional LSTM.

    The LSTM over fixed word vectors is the encoder of SciIE (Luan et al. 2018, arXiv 1808.09602, section 4)
    without its ELMo vectors and character convolution. It has no pretrained weights: each training begins
    with fresh ones, drawn with its seed.
    """

    config_class = WordVectorsConfig
    base_model_prefix = "model"
    begins_fresh = ("lstm.",)

    def __init__(self, config: WordVectorsConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.vector_size, padding_idx=0)
        widths = [config.vector_size, *[2 * config.lstm_size] * (config.lstm_layers - 1)]
        layers = widths[: config.lstm_layers]
        self.lstm = nn.ModuleList(BothWays(width, config.lstm_size) for width in layers)
        self.dropout = nn.Dropout(config.lstm_dropout)
        self.post_init()  # type: ignore[no-untyped-call]

    def get_input_embeddings(self) -> nn.Module:
        """The word vectors."""
        return self.embeddings

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> BaseModelOutput:
        """States of the words; those of padding are zero.

        Shapes: ``input_ids``, ``attention_mask`` int64 (texts, words); states (texts, words, hidden).
        """
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        kept = mask.unsqueeze(-1)
        states = self.embeddings(input_ids) * kept
        for layer in self.lstm:
            states = layer(self.dropout(states), mask) * kept
        return BaseModelOutput(last_hidden_state=states)


class BothWays(nn.Module):
    """One LSTM from the first word on, and one from the last word on, padding left out."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(width, size, batch_first=True)
        self.backwards = nn.LSTM(width, size, batch_first=True)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """States (texts, words, 2 * size) from states (texts, words, width) and mask (texts, words)."""
        ahead, _ = self.forwards(states)
        order = _turned(mask)
        back, _ = self.backwards(_in_order(states, order))
        return torch.cat([ahead, _in_order(back, order)], dim=-1)


def _turned(mask: Tensor) -> Tensor:
    """Places that turn each text round and leave its padding where it is: (texts, words)."""
    places = torch.arange(mask.shape[1], device=mask.device)[None, :]
    length = mask.sum(dim=1, keepdim=True)
    return torch.where(places < length, length - 1 - places, places)


def _in_order(states: Tensor, order: Tensor) -> Tensor:
    return torch.gather(states, 1, order.unsqueeze(-1).expand(-1, -1, states.shape[2]))


def register() -> None:
    """Makes the family known to transformers, so that its folders load like all others."""
    AutoConfig.register(WordVectorsConfig.model_type, WordVectorsConfig, exist_ok=True)
    AutoModel.register(WordVectorsConfig, WordVectorsModel, exist_ok=True)
