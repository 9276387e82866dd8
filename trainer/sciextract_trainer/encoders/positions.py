"""How many pieces an encoder can place."""

from __future__ import annotations

from typing import Any

from sciextract.errors import ModelMismatchError

MOST = 512
"""Pieces of a window, special ones included: abstracts hardly ever have more, and attention costs the square."""

LEAST = 16
"""Pieces of text that a window must have room for."""

_COUNT_FROM_PADDING = frozenset(
    {
        "camembert", "data2vec-text", "ibert", "longformer", "mpnet", "nystromformer", "roberta",
        "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
    }
)  # fmt: skip
"""Families that number positions from the one after the padding piece's id."""


def position_limit(settings: Any) -> int:
    """Pieces an encoder can place, special ones included; ``MOST`` where it has no table of positions."""
    table = getattr(settings, "max_position_embeddings", None) or 0
    if table <= 0:  # recurrent and static encoders, and those with relative positions alone
        return MOST
    return min(table - first_position(settings), MOST)


def first_position(settings: Any) -> int:
    """The number of the first piece's place in the table of positions."""
    padding = getattr(settings, "pad_token_id", None) or 0
    return padding + 1 if settings.model_type in _COUNT_FROM_PADDING else 0


def text_limit(settings: Any, special: int, source: str) -> int:
    """Pieces of text that a window has room for beside its special ones.

    Raises:
        ModelMismatchError: There is hardly any.
    """
    limit = position_limit(settings) - special
    if limit < LEAST:
        raise ModelMismatchError(
            f"the encoder {source!r} has room for {limit} pieces of text beside {special} special ones; "
            f"at least {LEAST} are needed",
            "use an encoder with more positions (max_position_embeddings in its config.json)",
        )
    return limit
