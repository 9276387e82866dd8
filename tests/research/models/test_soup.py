"""The mean of the weights of several networks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from research.models import network_stages
from research.models.network_stages import Soup, mean_weights
from research.models.stage import NetworkArtifact
from sciextract.errors import ModelMismatchError
from sciextract_trainer.config import config_from

if TYPE_CHECKING:
    from research.models.context import BuildContext


class Shop:
    """Knows the networks of earlier stages."""

    def __init__(self, **made: NetworkArtifact) -> None:
        self._made = made

    def made(self, name: str, kind: type[NetworkArtifact]) -> NetworkArtifact:
        return self._made[name]


def _network(folder: Path, encoder: str, *values: float) -> NetworkArtifact:
    weights = folder / f"{encoder}-{values[0]}.safetensors"
    save_file({"a": torch.tensor(values)}, weights)
    return NetworkArtifact(weights, config_from({"encoder": encoder}, "test"), folder / "model")


def test_each_weight_is_the_mean() -> None:
    members = [{"a": torch.tensor([1.0, 2.0])}, {"a": torch.tensor([4.0, 2.0])}]
    assert mean_weights([*members, members[0]])["a"].tolist() == [2.0, 2.0]


def test_a_soup_is_of_one_encoder_and_one_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[NetworkArtifact] = []
    monkeypatch.setattr(
        network_stages, "write_checked_model", lambda context, made: written.append(made)
    )
    one, two = _network(tmp_path, "small", 1.0, 2.0), _network(tmp_path, "small", 3.0, 4.0)
    context = cast("BuildContext", Shop(one=one, two=two))
    Soup(members=("one", "two")).work(context, tmp_path)
    assert load_file(tmp_path / "best.safetensors")["a"].tolist() == [2.0, 3.0]
    assert written == [replace(one, weights=tmp_path / "best.safetensors")]
    for other in (_network(tmp_path, "large", 1.0, 2.0), _network(tmp_path, "small", 5.0)):
        context = cast("BuildContext", Shop(one=one, other=other))
        with pytest.raises(ModelMismatchError, match="other and one cannot be averaged"):
            Soup(members=("one", "other")).work(context, tmp_path)
