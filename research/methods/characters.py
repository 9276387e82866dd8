"""Words from their characters, as in ELMo (Peters et al. 2018, arXiv 1802.05365, section 3.4), with an LSTM over them.

``python -m research characters FOLDER`` writes an encoder folder. A word is its bytes in UTF-8; convolutions of several
widths see those of one word alone, their largest values go through highway layers and a projection (Kim et al. 2016). ELMo
learned its LSTM on a billion words; here nothing is pretrained: each training begins with fresh weights.
"""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor, nn
from torch.nn.functional import pad
from transformers import AutoConfig, AutoModel, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from research.encoder_files import PADDING, UNKNOWN, BothWays, WordVectorsConfig, save_encoder

CONTINUES = "##"


class CharactersConfig(WordVectorsConfig):  # type: ignore[no-untyped-call]
    """Sizes of a :class:`CharactersModel`.

    Attributes:
        vocab_size: Characters, each twice: as a word's first and as a later one; padding and unknown.
        continuing: From which number on characters continue a word.
        filters: Of each width of convolution, from one character on; ELMo has two more, of 512 and 1,024.
    """

    model_type = "sciextract-characters"

    vocab_size: int = 514
    continuing: int = 258
    character_size: int = 16
    filters: tuple[int, ...] = (32, 32, 64, 128, 256)
    highways: int = 2
    vector_size: int = 128
    lstm_layers: int = 1


class CharactersModel(PreTrainedModel):
    """States of words from their characters; each character has the state of its word."""

    config_class = CharactersConfig
    base_model_prefix = "model"
    begins_fresh = ("convolutions.", "highways.", "projection.", "lstm.")

    def __init__(self, config: CharactersConfig) -> None:
        super().__init__(config)
        size, width = config.character_size, sum(config.filters)
        self.embeddings = nn.Embedding(config.vocab_size, size, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Linear(size * (1 + before), filters) for before, filters in enumerate(config.filters)
        )
        self.highways = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(config.highways))
        self.projection = nn.Linear(width, config.vector_size)
        widths = [config.vector_size, *[2 * config.lstm_size] * (config.lstm_layers - 1)]
        layers = widths[: config.lstm_layers]
        self.lstm = nn.ModuleList(BothWays(layer, config.lstm_size) for layer in layers)
        self.dropout = nn.Dropout(config.lstm_dropout)
        self.post_init()  # type: ignore[no-untyped-call]

    def get_input_embeddings(self) -> nn.Module:
        """The vectors of characters."""
        return self.embeddings

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> BaseModelOutput:
        """States (texts, characters, hidden) from int64 (texts, characters)."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        words = ((input_ids < self.config.continuing) & mask.bool()).long().cumsum(1)
        words = words * mask  # 0 is padding, then the number of each character's word
        count = input_ids.shape[1] if torch.compiler.is_exporting() else int(words.max())
        pooled = self.convolved(input_ids, words)
        places = words.unsqueeze(-1).expand_as(pooled)
        found = pooled.new_zeros(pooled.shape[0], count + 1, pooled.shape[2])
        found = found.scatter_reduce(1, places, pooled, "amax")[:, 1:]
        for highway in self.highways:
            new, gate = highway(found).chunk(2, dim=-1)
            found = torch.lerp(found, new.relu(), gate.sigmoid())
        numbers = torch.arange(count, device=words.device)
        known = (numbers < words.amax(dim=1, keepdim=True)).long()
        states = self.projection(found) * known.unsqueeze(-1)
        for layer in self.lstm:
            states = layer(self.dropout(states), known) * known.unsqueeze(-1)
        own = (words - 1).clamp(min=0).unsqueeze(-1).expand(-1, -1, states.shape[2])
        return BaseModelOutput(last_hidden_state=states.gather(1, own) * mask.unsqueeze(-1))

    def convolved(self, input_ids: Tensor, words: Tensor) -> Tensor:
        """What each filter sees from each character on, the end of its word at most. Shape: (texts, characters, filters)."""
        vectors, seen, found = self.embeddings(input_ids), [], []
        for ahead, convolution in enumerate(self.convolutions):
            later = pad(vectors, (0, 0, 0, ahead))[:, ahead:]
            same = pad(words, (0, ahead))[:, ahead:] == words
            seen.append(later * (same & (words > 0)).unsqueeze(-1))
            found.append(convolution(torch.cat(seen, dim=-1)).relu())
        return torch.cat(found, dim=-1)


AutoConfig.register(CharactersConfig.model_type, CharactersConfig, exist_ok=True)
AutoModel.register(CharactersConfig, CharactersModel, exist_ok=True)


def write_character_encoder(folder: Path, lstm_layers: int, lstm_size: int) -> None:
    """Writes an encoder folder with a tokenizer that splits words into bytes."""
    letters = sorted(ByteLevel.alphabet())
    names = [PADDING, UNKNOWN, *letters, *(CONTINUES + letter for letter in letters)]
    tokenizer = Tokenizer(
        models.WordPiece(
            {name: number for number, name in enumerate(names)}, unk_token=UNKNOWN,
            continuing_subword_prefix=CONTINUES, max_input_chars_per_word=10_000,
        )
    )  # fmt: skip
    tokenizer.normalizer = normalizers.ByteLevel()
    settings = CharactersConfig(lstm_layers=lstm_layers, lstm_size=lstm_size)
    embeddings = CharactersModel(settings).embeddings.weight.detach().numpy()
    save_encoder(folder, settings, embeddings, tokenizer)
