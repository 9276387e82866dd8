"""The network: an encoder over texts with markers, and a classifier of (subject, object)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from sciextract.errors import ModelMismatchError
from sciextract.inference.pipeline import Labels
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.encoders.loading import first_position
from sciextract_trainer.markers.texts import ROLES, TEXT

_PLACED = frozenset({"bert", "electra", "roberta", "camembert", "xlm-roberta", "data2vec-text"})
"""Families whose encoder takes embeddings, positions and who sees whom; relative positions cannot be shared."""


class MarkedEncoder(nn.Module):
    """An encoder that sees marks in place of some pieces.

    A mark is the sum of an embedding of its role and one of the mention's type: of all types by their probability, where it
    was predicted.
    """

    def __init__(self, encoder: nn.Module, hidden: int, types: int, bf16: bool) -> None:
        super().__init__()
        settings: Any = encoder.config
        if settings.model_type not in _PLACED:
            raise ModelMismatchError(
                f"markers need an encoder with absolute positions, this one is {settings.model_type!r}",
                f"families: {', '.join(sorted(_PLACED))}",
            )
        self.encoder = encoder
        self.bf16 = bf16
        self.first_position = first_position(settings)
        self.roles = nn.Embedding(ROLES, hidden)
        self.types = nn.Linear(types, hidden, bias=False)
        spread = float(encoder.get_input_embeddings().weight.detach().std())  # type: ignore[operator]
        nn.init.normal_(self.roles.weight, std=spread)
        nn.init.normal_(self.types.weight, std=spread)

    def forward(
        self, input_ids: Tensor, visible: Tensor, positions: Tensor, roles: Tensor, types: Tensor
    ) -> Tensor:
        """States (texts, places, hidden) from (texts, places) and ``visible`` (texts, places, places)."""
        pieces = self.encoder.get_input_embeddings()(input_ids)  # type: ignore[operator]
        marks = self.roles(roles) + self.types(types)
        embedded = torch.where((roles != TEXT)[..., None], marks, pieces)
        with torch.autocast(input_ids.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            states: Tensor = self.encoder(
                inputs_embeds=embedded,
                position_ids=positions + self.first_position,
                attention_mask=visible[:, None],
            )[0]
        return states.float()


class MarkerNetwork(nn.Module):
    """Relations of a subject and its objects from the states of their four markers.

    Both orders of a pair have a text of their own; the classes are laid out as in the joint network, inverse labels included
    (Ye et al. 2022, section 3.4), so that the two opinions are averaged in the same way.
    """

    def __init__(
        self, encoder: nn.Module, hidden: int, labels: Labels, config: TrainConfig
    ) -> None:
        super().__init__()
        self.words = MarkedEncoder(encoder, hidden, 1 + len(labels.entities), config.bf16)
        self.head = nn.Sequential(
            nn.Dropout(config.dropout), nn.Linear(4 * hidden, config.span_width),
            nn.GELU(), nn.Dropout(config.dropout),
            nn.Linear(config.span_width, labels.relations.class_count),
        )  # fmt: skip

    def forward(
        self,
        input_ids: Tensor,
        visible: Tensor,
        positions: Tensor,
        roles: Tensor,
        types: Tensor,
        subject_markers: Tensor,
        object_markers: Tensor,
    ) -> Tensor:
        """Logits (pairs, classes); markers (pairs, 2) index the flattened places."""
        states = self.words(input_ids, visible, positions, roles, types).flatten(0, 1)
        markers = torch.cat([subject_markers, object_markers], dim=1)  # (pairs, 4)
        logits: Tensor = self.head(states[markers].flatten(1))
        return logits
