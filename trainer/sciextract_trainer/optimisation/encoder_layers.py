"""Where an encoder keeps its layers, whatever its architecture calls them."""

from __future__ import annotations

from typing import Any

from torch import nn

from sciextract.errors import UsageError


def layers_of(encoder: nn.Module, wanted_by: str) -> tuple[str, nn.ModuleList]:
    """The layers of an encoder, lowest first, and the name of their list in it.

    It is the outermost list of as many alike modules as the configuration counts layers: ``encoder.layer`` in
    BERT, RoBERTa, ELECTRA and DeBERTa, ``transformer.layer`` in DistilBERT.

    Args:
        encoder: A Hugging Face encoder.
        wanted_by: The setting that needs layers, for the message.

    Raises:
        UsageError: Its layers share their weights, as in ALBERT, or it has none.
    """
    settings: Any = getattr(encoder, "config", None)
    kind = getattr(settings, "model_type", type(encoder).__name__)
    if hasattr(settings, "num_hidden_groups"):
        raise UsageError(
            f"training setting {wanted_by} is not possible with this encoder: the layers of "
            f"{kind!r} share one set of weights, so that none can be changed alone",
            f"leave {wanted_by} out, or take another encoder",
        )
    depth = getattr(settings, "num_hidden_layers", 0)
    for name, module in encoder.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == depth > 0 and _are_alike(module):
            return name, module
    raise UsageError(
        f"training setting {wanted_by} is not possible with this encoder: {kind!r} has no list of "
        "layers",
        f"leave {wanted_by} out, or take a transformer as encoder",
    )


def _are_alike(modules: nn.ModuleList) -> bool:
    """Whether all are of one class, and none of them is the same module again."""
    return len({type(module) for module in modules}) == 1 and len(set(modules)) == len(modules)
