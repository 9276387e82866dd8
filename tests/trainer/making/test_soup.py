"""The mean of the weights of several networks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from sciextract.errors import ModelMismatchError
from sciextract_trainer.config import config_from
from sciextract_trainer.making.products import NetworkMade
from sciextract_trainer.making.stages import soup
from sciextract_trainer.making.stages.soup import Soup, mean_of

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


class Shop:
    """Knows the networks of earlier stages."""

    def __init__(self, **made: NetworkMade) -> None:
        self._made = made

    def made(self, name: str, kind: type[NetworkMade]) -> NetworkMade:
        return self._made[name]


def _network(folder: Path, encoder: str, *values: float) -> NetworkMade:
    weights = folder / f"{encoder}-{values[0]}.safetensors"
    save_file({"a": torch.tensor(values)}, weights)
    return NetworkMade(weights, config_from({"encoder": encoder}, "test"), folder / "model")


def test_each_weight_is_the_mean() -> None:
    members = [{"a": torch.tensor([1.0, 2.0])}, {"a": torch.tensor([4.0, 2.0])}]
    assert mean_of([*members, members[0]])["a"].tolist() == [2.0, 2.0]


def test_a_soup_is_of_one_encoder_and_one_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[NetworkMade] = []
    monkeypatch.setattr(soup, "write_checked_model", lambda shop, made: written.append(made))
    one, two = _network(tmp_path, "small", 1.0, 2.0), _network(tmp_path, "small", 3.0, 4.0)
    shop = cast("Workshop", Shop(one=one, two=two))
    Soup(members=("one", "two")).work(shop, tmp_path)
    assert load_file(tmp_path / "best.safetensors")["a"].tolist() == [2.0, 3.0]
    assert written == [replace(one, weights=tmp_path / "best.safetensors")]
    for other in (_network(tmp_path, "large", 1.0, 2.0), _network(tmp_path, "small", 5.0)):
        shop = cast("Workshop", Shop(one=one, other=other))
        with pytest.raises(ModelMismatchError, match="other and one cannot be averaged"):
            Soup(members=("one", "other")).work(shop, tmp_path)
