"""Encoder folders from other files: word vectors as an encoder of transformers, and pickled weights as safetensors."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file as folder_save_file
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from sciextract.errors import (
    FormatError,
    InputMissingError,
    ModelDamagedError,
    ModelNotFoundError,
    OutputError,
)

PICKLE, WEIGHTS = "pytorch_model.bin", "model.safetensors"
_SMALL = ("*.json", "*.txt", "*.model", "*.codes")
"""Files that come along: configuration and tokenizer."""


def write_safetensors(source: str, target: Path) -> int:
    """Reads pickled tensors, and nothing else that a pickle can hold, and writes them as safetensors.

    Args:
        source: Encoder folder, or hub id.
        target: New encoder folder; must not hold anything yet.

    Returns:
        How many tensors were written.

    Raises:
        ModelNotFoundError: No such folder or id, or it has no pickled weights.
        ModelDamagedError: The pickle holds more than tensors, or is cut.
        OutputError: The target holds something.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target} is there already", "name a folder that is not there yet")
    folder = Path(source)
    if not folder.is_dir():
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError

        try:
            folder = Path(snapshot_download(source, allow_patterns=[*_SMALL, PICKLE]))
        except (OSError, ValueError, HfHubHTTPError, HFValidationError) as error:
            raise ModelNotFoundError(
                f"no encoder at {source!r}: {error}",
                "give a folder, or a hub id (needs the network)",
            ) from error
    if not (folder / PICKLE).is_file():
        raise ModelNotFoundError(
            f"{source} has no {PICKLE}", "weights in several parts or other formats are not read"
        )
    tensors = _tensors(folder / PICKLE)
    target.mkdir(parents=True, exist_ok=True)
    for pattern in _SMALL:
        for file in sorted(folder.glob(pattern)):
            shutil.copyfile(file, target / file.name)
    save_file(tensors, target / WEIGHTS, {"format": "pt"})
    return len(tensors)


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        found: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelDamagedError(
            f"{path} cannot be read as plain tensors: {first}", "get the encoder again"
        ) from error
    if not isinstance(found, dict) or not found:
        raise ModelDamagedError(f"{path} holds no tensors by name", "get the encoder again")
    wrong = [name for name, value in found.items() if not isinstance(value, torch.Tensor)]
    if wrong:
        raise ModelDamagedError(f"{path}: {wrong[0]!r} is not a tensor", "get the encoder again")
    return {str(name): value.detach().clone().contiguous() for name, value in found.items()}


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

    def train(self, mode: bool = True) -> BothWays:
        """Training or evaluation; every export begins with the latter.

        torch 2.13 swaps the exporter's own LSTM in, which has any length, without telling the table of
        implementations that it looks up: from the second export of a process on it would find the plain one,
        which has the example's length.
        """
        torch.ops.aten.lstm.input._dispatch_cache.clear()
        return super().train(mode)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """States (texts, words, 2 * size) from states (texts, words, width) and mask (texts, words)."""
        ahead, _ = self.forwards(states)
        # Places that turn each text round and leave its padding where it is: (texts, words).
        places = torch.arange(mask.shape[1], device=mask.device)[None, :]
        length = mask.sum(dim=1, keepdim=True)
        order = torch.where(places < length, length - 1 - places, places)
        back, _ = self.backwards(_in_order(states, order))
        return torch.cat([ahead, _in_order(back, order)], dim=-1)


def _in_order(states: Tensor, order: Tensor) -> Tensor:
    return torch.gather(states, 1, order.unsqueeze(-1).expand(-1, -1, states.shape[2]))


# The trainer imports this module before it reads an encoder: from here on such folders load like all others.
AutoConfig.register(WordVectorsConfig.model_type, WordVectorsConfig, exist_ok=True)
AutoModel.register(WordVectorsConfig, WordVectorsModel, exist_ok=True)

Floats = NDArray[np.float32]

_UNKNOWN = "<unk>"
_HINT = "a line is WORD and its numbers, with blanks between; word2vec's text format begins with two counts"


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: Distinct words, in the order of the file, which is that of their frequency.
        vectors: float32 (words, size).
        unknown: float32 (size,), for all other words: the file's own ``<unk>``, else the mean of all.
    """

    words: tuple[str, ...]
    vectors: Floats
    unknown: Floats

    @property
    def cased(self) -> bool:
        """Whether any word has a capital; else words are looked up in lower case."""
        return any(word != word.lower() for word in self.words)


def read_vectors(path: Path, most: int) -> WordVectors:
    """Reads a file of word vectors; of a word that comes twice the first vector counts.

    Args:
        path: GloVe (a word and its numbers a line) or word2vec in text form (the same after a line with the
            counts of words and of numbers), packed with gzip where the name ends in ``.gz``.
        most: Words to read.

    Raises:
        InputMissingError: There is no such file.
        FormatError: It is empty, cut or binary, or a line does not have its numbers.
    """
    if not path.is_file():
        raise InputMissingError(f"no file at {path}")
    found: dict[str, Floats] = {}
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", newline="\n") as stream:
            for word, vector in _entries(stream, path):
                found.setdefault(word, vector)
                if len(found) >= most:
                    break
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(f"cannot be unpacked: {error}", path=path, hint="get it again") from error
    except UnicodeDecodeError as error:
        raise FormatError(
            "is not text in UTF-8",
            path=path,
            hint="word2vec's binary format is not read; save the vectors in its text format",
        ) from error
    if not found:
        raise FormatError("holds no word vectors", path=path, hint=_HINT)
    own = found.pop(_UNKNOWN, None)
    vectors = np.stack(list(found.values())) if found else np.stack([own])  # type: ignore[list-item]
    unknown = vectors.mean(axis=0) if own is None else own
    return WordVectors(tuple(found), vectors[: len(found)], unknown)


def _entries(stream: IO[str], path: Path) -> Iterator[tuple[str, Floats]]:
    """Words and vectors; words may hold blanks, as some of GloVe's do, so that lines are read from their end."""
    first = stream.readline()
    parts = first.split()
    counts = None  # words and numbers a word, where the first line is word2vec's
    if len(parts) == 2 and all(part.isdecimal() for part in parts):
        counts = int(parts[0]), int(parts[1])
    size = counts[1] if counts else len(first.split(" ")) - 1
    lines = stream if counts else chain([first] if first else [], stream)
    seen = 0
    for number, line in enumerate(lines, 2 if counts else 1):
        fields = line.strip("\r\n ").rsplit(" ", size)
        if len(fields) != size + 1 or size < 1:
            raise FormatError(
                f"{len(fields) - 1} numbers instead of {size}", path=path, line=number, hint=_HINT
            )
        try:
            vector = np.array(fields[1:], dtype=np.float32)
        except ValueError as error:
            raise FormatError(
                f"not a number: {error}", path=path, line=number, hint=_HINT
            ) from error
        if not np.isfinite(vector).all():
            raise FormatError("a number is not finite", path=path, line=number, hint=_HINT)
        yield fields[0], vector
        seen += 1
    if counts and seen < counts[0]:
        raise FormatError(
            f"is cut: it announces {counts[0]} words and has {seen}",
            path=path,
            hint="get it again",
        )


PADDING, UNKNOWN = "[PAD]", "[UNK]"


def write_encoder(vectors: WordVectors, folder: Path, lstm_layers: int, lstm_size: int) -> None:
    """Writes an encoder folder.

    Args:
        vectors: Words and their vectors.
        folder: Where it goes; must not hold anything yet.
        lstm_layers: Layers of the bidirectional LSTM that reads the vectors; 0 for none.
        lstm_size: States of each of its directions.

    Raises:
        OutputError: The folder holds something.
    """
    vocabulary = {PADDING: 0, UNKNOWN: 1}
    rows = [np.zeros_like(vectors.unknown), vectors.unknown]
    for word, vector in zip(vectors.words, vectors.vectors, strict=True):
        if word not in vocabulary:
            vocabulary[word] = len(vocabulary)
            rows.append(vector)
    settings = WordVectorsConfig(
        vocab_size=len(rows),
        vector_size=len(vectors.unknown),
        lstm_layers=lstm_layers,
        lstm_size=lstm_size,
    )
    # The tokenizer looks whole words up.
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    if not vectors.cased:
        tokenizer.normalizer = normalizers.Lowercase()
    save_encoder(folder, settings, np.stack(rows), tokenizer)


def save_encoder(
    folder: Path, settings: PretrainedConfig, embeddings: Floats, tokenizer: Tokenizer
) -> None:
    """Writes an encoder folder of which the embeddings alone do not begin fresh with each training.

    Raises:
        OutputError: The folder holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already", "name a folder that is not there yet")
    folder.mkdir(parents=True, exist_ok=True)
    settings.save_pretrained(folder)
    tensors = {"embeddings.weight": embeddings}
    folder_save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    tokenizer.add_special_tokens([PADDING, UNKNOWN])
    tokenizer.save(str(folder / "tokenizer.json"))
    values = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": PADDING,
        "unk_token": UNKNOWN,
    }
    text = json.dumps(values, indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")
