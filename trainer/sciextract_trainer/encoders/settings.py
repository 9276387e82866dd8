"""The configuration of an encoder, from a folder, a hub id or plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sciextract.errors import ModelNotFoundError
from sciextract_trainer.encoders.files import load_pretrained

_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")
"""What families call it: the first one BERT and its kin, the second one DistilBERT."""

_BERT = frozenset(
    {"hidden_size", "intermediate_size", "max_position_embeddings", "num_hidden_layers"}
)
_BERT_SEGMENTS = 2


def read_settings(source: str) -> Any:
    """The configuration of an encoder folder or hub id.

    Configurations from the first years of BERT (SciBERT, BioBERT) name no family; they are told by
    their shape.

    Raises:
        ModelNotFoundError: No such folder, or the hub cannot be reached or has no such id.
    """
    from transformers import AutoConfig, BertConfig, PreTrainedConfig

    _register()
    try:
        values, _ = PreTrainedConfig.get_config_dict(source)
        if "model_type" not in values and _is_bert(values):
            return BertConfig.from_dict(values)
        return load_pretrained(AutoConfig, source)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise no_encoder(source, error) from error


def settings_from(values: dict[str, Any]) -> Any:
    """The configuration that plain values describe.

    Raises:
        ValueError: They describe none; ``TypeError``, ``KeyError`` and ``AttributeError`` likewise.
    """
    from transformers import AutoConfig

    _register()
    return AutoConfig.for_model(**values)


def set_attention_dropout(settings: Any, share: float) -> None:
    """Sets the dropout of attention probabilities, under whatever name the family has for it."""
    for name in _ATTENTION_DROPOUT:
        if hasattr(settings, name):
            setattr(settings, name, share)


def no_encoder(source: str, error: Exception) -> ModelNotFoundError:
    """The error for a source that gives no encoder."""
    kind = "folder" if Path(source).exists() else "hub id (or the network is away)"
    return ModelNotFoundError(
        f"no encoder can be loaded from {source!r}: {error}",
        f"give a folder with config.json and model.safetensors, or a hub id; this is a {kind}",
    )


def _is_bert(values: dict[str, Any]) -> bool:
    return values.keys() >= _BERT and values.get("type_vocab_size") == _BERT_SEGMENTS


def _register() -> None:
    """Makes the project's own encoders known to transformers."""
    from sciextract_trainer.encoders.word_vectors.network import register

    register()
