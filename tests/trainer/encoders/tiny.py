"""Tiny encoders with random weights, one per family, in folders laid out as the published ones are."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.trainer.corpus import TEN_SENTENCES

HIDDEN, POSITIONS = 32, 128
BERT_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
ALBERT_SPECIAL = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
TEXTS = tuple(item.document.text for item in TEN_SENTENCES)

SHAPE: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": POSITIONS,
}
DEBERTA: dict[str, Any] = {
    **SHAPE,
    "type_vocab_size": 0,
    "relative_attention": True,
    "max_relative_positions": -1,
    "position_biased_input": False,
}
DEBERTA_2: dict[str, Any] = {
    **DEBERTA,
    "pos_att_type": ["p2c", "c2p"],
    "position_buckets": 32,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
}

Vocabulary = list[Any]


def bert(folder: Path) -> None:
    """BERT, SciBERT, PubMedBERT, MiniLM, TinyBERT as they are saved today: ``tokenizer.json``, uncased."""
    _save_tokenizer(
        "BertTokenizer", folder, vocab=_numbered(wordpiece_tokenizer(True)), do_lower_case=True
    )
    _save("Bert", folder, vocab_size=len(wordpiece_tokenizer(True)), **SHAPE)


def bert_of_2019(folder: Path) -> None:
    """SpanBERT, BioBERT, SciBERT as they were published: a cased ``vocab.txt`` and no family's name."""
    _save_lines(folder / "vocab.txt", wordpiece_tokenizer(False))
    _save("Bert", folder, vocab_size=len(wordpiece_tokenizer(False)), **SHAPE)
    change_json(folder / "config.json", model_type=None)


def roberta(folder: Path) -> None:
    """RoBERTa: byte-level BPE without word starts in its ``tokenizer.json``, positions from 2 on."""
    subwords, merges = byte_level_tokenizer(ROBERTA_SPECIAL)
    _save_tokenizer("RobertaTokenizer", folder, vocab=_numbered(subwords), merges=merges)
    positions = {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
    _save("Roberta", folder, vocab_size=len(subwords), **{**SHAPE, **positions})


def albert(folder: Path) -> None:
    """ALBERT: SentencePiece, lower-casing, narrow embeddings, layers that share their weights."""
    subwords = unigrams(ALBERT_SPECIAL)
    _save_tokenizer("AlbertTokenizer", folder, vocab=subwords)
    _save("Albert", folder, vocab_size=len(subwords), embedding_size=16, **SHAPE)


def electra(folder: Path) -> None:
    """ELECTRA: WordPiece from ``vocab.txt``, narrow embeddings."""
    _save_lines(folder / "vocab.txt", wordpiece_tokenizer(True))
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}', encoding="utf-8")
    _save("Electra", folder, vocab_size=len(wordpiece_tokenizer(True)), embedding_size=16, **SHAPE)


def deberta(folder: Path) -> None:
    """DeBERTa v1 and SciDeBERTa: byte-level BPE from ``vocab.json`` and ``merges.txt``, relative positions."""
    subwords, merges = byte_level_tokenizer(BERT_SPECIAL)
    (folder / "vocab.json").write_text(json.dumps(_numbered(subwords)), encoding="utf-8")
    _save_lines(folder / "merges.txt", ["#version: 0.2", *(" ".join(pair) for pair in merges)])
    kinds = {"pos_att_type": ["c2p", "p2c"], "layer_norm_eps": 1e-7}
    _save("Deberta", folder, vocab_size=len(subwords), **DEBERTA, **kinds)


def deberta_v2(folder: Path) -> None:
    """DeBERTa v2: SentencePiece, buckets of relative positions, a convolution."""
    subwords = unigrams(BERT_SPECIAL)
    _save_tokenizer("DebertaV2Tokenizer", folder, vocab=subwords)
    convolution = {"conv_kernel_size": 3, "conv_act": "gelu"}
    _save("DebertaV2", folder, vocab_size=len(subwords), **DEBERTA_2, **convolution)


def deberta_v3(folder: Path) -> None:
    """DeBERTa v3: as v2 without the convolution."""
    subwords = unigrams(BERT_SPECIAL)
    _save_tokenizer("DebertaV2Tokenizer", folder, vocab=subwords)
    _save("DebertaV2", folder, vocab_size=len(subwords), **DEBERTA_2)


def distilbert(folder: Path) -> None:
    """DistilBERT: other names for the same sizes."""
    vocabulary = _numbered(wordpiece_tokenizer(True))
    _save_tokenizer("DistilBertTokenizer", folder, vocab=vocabulary, do_lower_case=True)
    sizes = {"dim": HIDDEN, "hidden_dim": 64, "n_layers": 2, "n_heads": 2}
    _save(
        "DistilBert", folder, vocab_size=len(vocabulary), max_position_embeddings=POSITIONS, **sizes
    )


def mobilebert(folder: Path) -> None:
    """MobileBERT: bottlenecks, and embeddings of three subwords at a time."""
    vocabulary = _numbered(wordpiece_tokenizer(True))
    _save_tokenizer("MobileBertTokenizer", folder, vocab=vocabulary, do_lower_case=True)
    sizes = {"embedding_size": 16, "intra_bottleneck_size": 16}
    _save("MobileBert", folder, vocab_size=len(vocabulary), **SHAPE, **sizes)


def word_vectors(folder: Path) -> None:
    """GloVe or word2vec as they are."""
    _save_vectors(folder, 0)


def lstm(folder: Path) -> None:
    """The same, read by a bidirectional LSTM."""
    _save_vectors(folder, 1)


FAMILIES: dict[str, Callable[[Path], None]] = {
    "roberta": roberta,
    "albert": albert,
    "electra": electra,
    "deberta": deberta,
    "deberta-v2": deberta_v2,
    "deberta-v3": deberta_v3,
    "distilbert": distilbert,
    "mobilebert": mobilebert,
    "word-vectors": word_vectors,
    "lstm": lstm,
    "bert": bert,
    "bert-of-2019": bert_of_2019,
}


def _save(family: str, folder: Path, **settings: Any) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**settings)
    getattr(transformers, f"{family}Model")(config).save_pretrained(folder)


def _save_tokenizer(kind: str, folder: Path, **parts: Any) -> None:
    import transformers

    getattr(transformers, kind)(**parts).save_pretrained(folder)


def _save_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _save_vectors(folder: Path, layers: int) -> None:
    import numpy as np

    from research.encoder_files import WordVectors, write_encoder

    words = sorted({word.lower() for text in TEXTS for word in text.replace(".", " .").split()})
    vectors = np.random.default_rng(0).standard_normal((len(words), HIDDEN), dtype=np.float32)
    found = WordVectors(tuple(words), vectors, vectors.mean(axis=0))
    write_encoder(found, folder, lstm_layers=layers, lstm_size=HIDDEN // 2)


def change_json(path: Path, **changes: Any) -> None:
    """Replaces values of a JSON file; ``None`` takes them out."""
    values = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    kept = {key: value for key, value in values.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


def _numbered(subwords: list[str]) -> dict[str, int]:
    return {subword: number for number, subword in enumerate(subwords)}


@cache
def wordpiece_tokenizer(lower: bool) -> list[str]:
    """A small WordPiece vocabulary of the corpus."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = list(BERT_SPECIAL)
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    numbers = tokenizer.get_vocab()
    return sorted(numbers, key=numbers.__getitem__)


@cache
def byte_level_tokenizer(special: tuple[str, ...]) -> tuple[list[str], list[tuple[str, str]]]:
    """A small byte-level BPE of the corpus: subwords and merges."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=350,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].__getitem__), [
        (left, right) for left, right in model["merges"]
    ]


@cache
def unigrams(special: tuple[str, ...]) -> Vocabulary:
    """A small SentencePiece vocabulary of the corpus: subwords and scores."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=list(special), unk_token=special[1], show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    subwords = json.loads(tokenizer.to_str())["model"]["vocab"]
    return [(subword, score) for subword, score in subwords]
