"""Word vectors as an encoder folder: configuration, tokenizer and vectors, as transformers reads them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers

from sciextract.errors import OutputError
from sciextract_trainer.encoders.word_vectors.files import WordVectors

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
    from sciextract_trainer.encoders.word_vectors.network import WordVectorsConfig

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is there already", "name a folder that is not there yet")
    folder.mkdir(parents=True, exist_ok=True)
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
    settings.save_pretrained(folder)
    save_file({"embeddings.weight": np.stack(rows)}, folder / "model.safetensors", {"format": "pt"})
    _write_tokenizer(vocabulary, folder, vectors.cased)


def _write_tokenizer(vocabulary: dict[str, int], folder: Path, cased: bool) -> None:
    """A tokenizer that looks whole words up."""
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    if not cased:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_special_tokens([PADDING, UNKNOWN])
    tokenizer.save(str(folder / "tokenizer.json"))
    values = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": PADDING,
        "unk_token": UNKNOWN,
    }
    text = json.dumps(values, indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")
