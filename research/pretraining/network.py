"""An encoder with a head that tells masked tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from sciextract.errors import ModelDamagedError, ModelMismatchError, ModelNotFoundError, as_command
from sciextract_trainer.encoders.loading import encoder_file


@dataclass(frozen=True, slots=True)
class EncoderOutputs:
    """What a network tells of blocks, with what it thought on the way, all in float32.

    Attributes:
        logits: (chosen, vocabulary), of the masked tokens.
        hidden: One more than layers, each (blocks, length, hidden): the embeddings' output, then each layer's.
        attentions: One per layer, each (blocks, heads, queries, keys), or none where none were asked for.
    """

    logits: Tensor
    hidden: tuple[Tensor, ...]
    attentions: tuple[Tensor, ...]


class MaskedLanguageModel(nn.Module):
    """Predicts masked tokens.

    The head is BERT's (Devlin et al. 2019, arXiv 1810.04805, appendix A; one dense layer, GELU, layer
    norm, the input embeddings as output matrix, a bias). It begins fresh, for checkpoints such as sentence
    encoders come without one; :mod:`research.pretraining.network` reads and keeps it.

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
        """Logits of the masked tokens.

        Shapes: ``input_ids`` int64 (blocks, length) without padding; ``positions`` int64 (chosen,), indices
        into the flattened blocks; result float32 (chosen, vocabulary).
        """
        with self._autocast(input_ids):
            states = self.encoder(input_ids=input_ids)[0]
            return self._logits(states, positions)

    def outputs(
        self, input_ids: Tensor, positions: Tensor, attentions: bool = False
    ) -> EncoderOutputs:
        """Logits of the masked tokens with hidden states and, where asked for, attention maps.

        Shapes as in :meth:`forward`. Attention maps need an encoder with eager attention
        (``set_attn_implementation("eager")``); the fused kernels give none.
        """
        with self._autocast(input_ids):
            found = self.encoder(
                input_ids=input_ids, output_hidden_states=True, output_attentions=attentions
            )
            logits = self._logits(found[0], positions)
        hidden = tuple(state.float() for state in found.hidden_states)
        maps = tuple(attention.float() for attention in found.attentions) if attentions else ()
        return EncoderOutputs(logits, hidden, maps)

    def _autocast(self, input_ids: Tensor) -> Any:
        return torch.autocast(input_ids.device.type, dtype=torch.bfloat16, enabled=self.bf16)

    def _logits(self, states: Tensor, positions: Tensor) -> Tensor:
        chosen = states.flatten(0, 1)[positions]
        states = self.norm(nn.functional.gelu(self.dense(chosen)).float())
        logits = nn.functional.linear(states, self.encoder.get_input_embeddings().weight)
        return logits.float() + self.bias


HEAD = "mlm_head.safetensors"
_WEIGHTS = "model.safetensors"

_OWN = ("dense.weight", "dense.bias", "norm.weight", "norm.bias", "bias")

_FAMILIES = (
    ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions"),
    ("lm_head.dense", "lm_head.layer_norm", "lm_head"),
    ("vocab_transform", "vocab_layer_norm", "vocab_projector"),
    ("predictions.dense", "predictions.LayerNorm", "predictions"),
)
"""What BERT, RoBERTa, DistilBERT and ALBERT checkpoints call dense layer, norm and owner of the bias."""


def head_weights(network: MaskedLanguageModel) -> dict[str, Tensor]:
    """The head's tensors by name; the output matrix is the encoder's own input embeddings."""
    found = network.state_dict()
    return {name: found[name].detach().cpu().contiguous() for name in _OWN}


def read_head(network: MaskedLanguageModel, source: str) -> bool:
    """Puts the head of an encoder folder or hub id into a network on that encoder.

    It is the file that a pretraining writes, or else the head that a published checkpoint kept.

    Returns:
        Whether there is one; without one the network stays as it is.

    Raises:
        ModelDamagedError: The file cannot be read.
        ModelMismatchError: The head is of an encoder of another width or vocabulary.
    """
    for path, found in _heads(source):
        _put(network, found, path)
        return True
    return False


def has_head(source: str) -> bool:
    """Whether an encoder folder or hub id comes with a head that :func:`read_head` would read.

    Raises:
        ModelDamagedError: The file cannot be read.
    """
    return any(_heads(source))


def require_head(network: MaskedLanguageModel, source: str) -> None:
    """Like :func:`read_head`, for a teacher, which nothing can be learned from without a head.

    Raises:
        ModelNotFoundError: The encoder has none.
        ModelDamagedError: The file cannot be read.
        ModelMismatchError: The head is of an encoder of another width or vocabulary.
    """
    if not read_head(network, source):
        raise ModelNotFoundError(
            f"the teacher {source!r} has no masked-language head: neither {HEAD} nor one like "
            f"BERT's in {_WEIGHTS}",
            as_command(
                "python", "-m", "research", "pretrain", "TEXTS", "--encoder", source, "--run", "DIR"
            )
            + "  trains and keeps one in DIR/encoder",
        )


def _heads(source: str) -> Iterator[tuple[Path, dict[str, Tensor]]]:
    """The files that hold a head, with it, the best one first."""
    for name in (HEAD, _WEIGHTS):
        path = encoder_file(source, name)
        if path and (found := _tensors(path)):
            yield path, found


def _tensors(path: Path) -> dict[str, Tensor]:
    """The head in a file under the names of :class:`MaskedLanguageModel`; empty when there is none."""
    try:
        with safe_open(path, framework="pt") as file:
            stored = set(file.keys())
            places = next((place for place in _places() if stored >= set(place.values())), {})
            return {own: file.get_tensor(place) for own, place in places.items()}
    except (OSError, SafetensorError) as error:
        raise ModelDamagedError(f"{path} cannot be read: {error}", "get it again") from error


def _places() -> list[dict[str, str]]:
    """Where each tensor is stored, by family; our own names come first."""
    places = [dict(zip(_OWN, _OWN, strict=True))]
    for dense, norm, owner in _FAMILIES:
        names = (f"{dense}.weight", f"{dense}.bias", f"{norm}.weight", f"{norm}.bias")
        places.append(dict(zip(_OWN, (*names, f"{owner}.bias"), strict=True)))
    return places


def _put(network: MaskedLanguageModel, found: Mapping[str, Tensor], path: Path) -> None:
    wanted: dict[str, Any] = network.state_dict()
    for name, value in found.items():
        if value.shape != wanted[name].shape:
            raise ModelMismatchError(
                f"{path}: {name} of the head has shape {tuple(value.shape)}, the encoder next to it "
                f"needs {tuple(wanted[name].shape)}",
                "take encoder and head from the same place",
            )
    network.load_state_dict({name: value.float() for name, value in found.items()}, strict=False)
