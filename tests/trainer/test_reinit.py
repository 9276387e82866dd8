"""Layers that begin anew, in every architecture that has layers of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
import transformers as hf
from torch import nn

from sciextract.errors import UsageError
from sciextract_trainer.build import build_network
from sciextract_trainer.config import TrainConfig, config_from
from sciextract_trainer.encoders.loading import layers_of, reinitialise

if TYPE_CHECKING:
    from sciextract.inference.pipeline import Labels

SMALL: dict[str, Any] = {
    "vocab_size": 20,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}
FAMILIES: dict[str, Any] = {
    "bert": hf.BertConfig(num_hidden_layers=3, **SMALL),
    "roberta": hf.RobertaConfig(num_hidden_layers=3, **SMALL),
    "electra": hf.ElectraConfig(num_hidden_layers=3, embedding_size=16, **SMALL),
    "deberta": hf.DebertaConfig(
        num_hidden_layers=3, relative_attention=True, pos_att_type=["c2p", "p2c"],
        position_biased_input=False, type_vocab_size=0, **SMALL,
    ),
    "deberta-v2": hf.DebertaV2Config(num_hidden_layers=3, **{"conv_kernel_size": 3, **SMALL}),
    "distilbert": hf.DistilBertConfig(vocab_size=20, dim=16, n_heads=2, hidden_dim=24, n_layers=3),
    "mobilebert": hf.MobileBertConfig(
        num_hidden_layers=3, embedding_size=16, intra_bottleneck_size=16, **SMALL
    ),
}  # fmt: skip


def _config(**changes: Any) -> TrainConfig:
    return config_from({"encoder": "some/encoder", **changes}, "test")


def _encoder(family: str) -> Any:
    torch.manual_seed(0)
    return hf.AutoModel.from_config(FAMILIES[family])  # type: ignore[no-untyped-call]


def _changed(encoder: nn.Module, config: TrainConfig) -> set[str]:
    """Names of the matrices that are others after."""
    before = {name: parameter.detach().clone() for name, parameter in encoder.named_parameters()}
    reinitialise(encoder, config)
    after = dict(encoder.named_parameters())
    return {
        name
        for name, old in before.items()
        if old.ndim > 1 and not torch.equal(old, after[name].detach())
    }


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["xavier", "encoder"])
def test_the_named_layers_and_no_others_begin_anew(family: str, kind: str) -> None:
    encoder = _encoder(family)
    place, layers = layers_of(encoder, "reinit_layers")
    assert len(layers) == 3
    wanted = {
        f"{place}.{index}.{name}"
        for index in (0, 2)
        for name, parameter in layers[index].named_parameters()
        if parameter.ndim > 1
    }
    assert _changed(encoder, _config(reinit_layers=[3, 1], reinit_with=kind)) == wanted


@pytest.mark.parametrize("kind", ["xavier", "encoder"])
@pytest.mark.parametrize("family", ["bert", "deberta", "mobilebert"])
def test_biases_begin_at_nothing_and_norms_at_one(family: str, kind: str) -> None:
    encoder = _encoder(family)
    _, layers = layers_of(encoder, "reinit_layers")
    for parameter in layers[1].parameters():
        nn.init.constant_(parameter, 7.0)
    reinitialise(encoder, _config(reinit_layers=[2], reinit_with=kind))
    for name, parameter in layers[1].named_parameters():
        if parameter.ndim == 1:
            assert (parameter == float(name.endswith("weight"))).all(), name


def test_both_ways_have_the_spread_they_say() -> None:
    settings = hf.BertConfig(
        vocab_size=20, hidden_size=128, num_attention_heads=2, intermediate_size=384,
        num_hidden_layers=2, initializer_range=0.05,
    )  # fmt: skip
    for kind, spread in (("xavier", (2 / (128 + 384)) ** 0.5), ("encoder", 0.05)):
        encoder: Any = hf.AutoModel.from_config(settings)  # type: ignore[no-untyped-call]
        reinitialise(encoder, _config(reinit_layers=[2], reinit_with=kind))
        matrix = encoder.encoder.layer[1].intermediate.dense.weight
        assert matrix.std().item() == pytest.approx(spread, rel=0.03)


def test_loaded_encoders_begin_anew_too(
    make_config: Callable[..., TrainConfig], labels: Labels
) -> None:
    """transformers marks what it has loaded and would leave it alone."""
    plain = build_network(make_config(), labels)
    for kind in ("xavier", "encoder"):
        again = build_network(make_config(reinit_layers=[2], reinit_with=kind), labels)
        other = {
            name
            for (name, one), two in zip(plain.named_parameters(), again.parameters(), strict=True)
            if not torch.equal(one, two)
        }
        assert other and all(name.startswith("words.encoder.encoder.layer.1.") for name in other)


def test_a_layer_depends_on_seed_and_number_only() -> None:
    def top(**changes: Any) -> torch.Tensor:
        encoder = _encoder("bert")
        reinitialise(encoder, _config(**changes))
        weight: torch.Tensor = encoder.encoder.layer[2].output.dense.weight.detach()
        return weight

    alone = top(reinit_layers=[3])
    assert torch.equal(alone, top(reinit_layers=[1, 2, 3]))
    assert not torch.equal(alone, top(reinit_layers=[3], seed=2))


def test_the_random_numbers_go_on_as_if_nothing_had_been() -> None:
    encoder = _encoder("bert")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    reinitialise(encoder, _config(reinit_layers=[1]))
    assert torch.equal(torch.rand(3), expected)


def test_a_layer_too_high_names_the_depth() -> None:
    with pytest.raises(UsageError) as caught:
        reinitialise(_encoder("bert"), _config(reinit_layers=[2, 4]))
    assert "has 3 layers" in caught.value.message and "layer 4" in caught.value.message
    assert "1 (lowest) to 3" in caught.value.hint


def test_shared_layers_are_refused() -> None:
    settings = hf.AlbertConfig(embedding_size=16, num_hidden_layers=3, **SMALL)
    encoder: nn.Module = hf.AutoModel.from_config(settings)  # type: ignore[no-untyped-call]
    with pytest.raises(UsageError, match=r"'albert' share one set of weights"):
        reinitialise(encoder, _config(reinit_layers=[1]))


def test_an_encoder_without_layers_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'LSTM' has no list of layers"):
        layers_of(nn.LSTM(2, 2), "layer_decay")


def test_a_warm_start_begins_layers_anew_only_where_the_recipe_says_so(
    model_folder: Path, make_config: Callable[..., TrainConfig]
) -> None:
    from sciextract.inference.model_folder import open_folder
    from sciextract_trainer.warm_start import open_start_model

    start, config = open_start_model(open_folder(model_folder)), make_config()
    plain, again = (start.network(replace(config, reinit_layers=layers)) for layers in ((), (1,)))
    name = "words.encoder.encoder.layer.{}.output.dense.weight"
    one, two = dict(plain.named_parameters()), dict(again.named_parameters())
    assert torch.equal(one[name.format(1)], two[name.format(1)])
    assert not torch.equal(one[name.format(0)], two[name.format(0)])
