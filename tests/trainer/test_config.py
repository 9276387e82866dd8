"""Every setting that cannot work is refused with its key, its value and what is allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sciextract.errors import InputMissingError, UsageError
from sciextract_trainer.config import (
    TrainConfig,
    config_from,
    load_config,
    packaged_file,
    read_toml,
)

RECIPES = Path(__file__).resolve().parents[2] / "trainer" / "sciextract_trainer" / "recipes"


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("network", "graph", "joint, dygie"),
        ("schedule", "cosine", "linear, slanted_triangular, polynomial, none"),
        ("optimiser", "sgd", "adamw, adam, adamp, radam"),
        ("reinit_with", "zeros", "xavier, encoder"),
        ("reinit_layers", (0,), "counted from 1"),
        ("reinit_layers", (3, 3), "each once"),
        ("layer_decay", 0.0, "above 0 and at most 1"),
        ("layer_decay", 1.1, "above 0 and at most 1"),
        ("schedule_power", 0.0, "above 0"),
        ("accumulate", 0, "above 0"),
        ("select_by", "loss", "mean, entity, relation, coreference"),
        ("epochs", 0, "1 to 1000000"),
        ("batch_documents", -1, "above 0"),
        ("encoder_lr", 0.0, "above 0"),
        ("head_lr", float("nan"), "above 0"),
        ("clip", -5.0, "above 0"),
        ("max_span_width", 0, "above 0"),
        ("evaluate_every", 0, "above 0"),
        ("width_embedding", 0, "above 0"),
        ("relation_spans_per_word", 0.0, "above 0"),
        ("coref_spans_per_word", -0.3, "above 0"),
        ("dropout", 1.0, "at least 0 and below 1"),
        ("warmup", -0.1, "at least 0 and below 1"),
        ("word_dropout", 2.0, "at least 0 and below 1"),
        ("ema", 1.0, "at least 0 and below 1"),
        ("entity_weight", -1.0, "at least 0"),
        ("negatives_per_word", -0.5, "at least 0"),
        ("seed", 2**63, "0 to 4294967295"),
        ("schedule_ratio", 0.5, "at least 1"),
        ("coref_propagation", 3, "0, 1 or 2"),
    ],
)
def test_impossible_values_are_named(key: str, value: Any, allowed: str) -> None:
    with pytest.raises(UsageError) as caught:
        config_from({"encoder": "tiny", key: value}, "recipe.toml")
    assert key in caught.value.message and repr(value) in caught.value.message
    assert allowed in caught.value.hint


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("epochs", "20", "int"),
        ("epochs", 2.5, "int"),
        ("epochs", True, "int"),
        ("bf16", 1, "bool"),
        ("dropout", "low", "float"),
        ("encoder", 7, "str"),
        ("reinit_layers", 5, "array"),
        ("reinit_layers", [5, "6"], "int"),
        ("reinit_layers", [True], "int"),
    ],
)
def test_wrong_types_are_named(key: str, value: Any, kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        config_from({"encoder": "tiny", key: value}, "recipe.toml")
    message = caught.value.message
    assert message.startswith(f"recipe.toml: {key}") and message.endswith(f"expected {kind}")


def test_unknown_settings_name_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown setting 'epoch'") as caught:
        config_from({"encoder": "tiny", "epoch": 3}, "recipe.toml")
    assert "epochs" in caught.value.hint


def test_a_recipe_without_encoder_is_refused() -> None:
    with pytest.raises(UsageError, match="'encoder' is missing"):
        config_from({"epochs": 3}, "recipe.toml")


def test_whole_numbers_are_fine_where_numbers_are_wanted() -> None:
    assert config_from({"encoder": "tiny", "clip": 5}, "recipe.toml").clip == 5


def test_recipes_are_read_and_changed(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('encoder = "tiny"\nepochs = 3\n', encoding="utf-8")
    assert load_config(path) == TrainConfig(encoder="tiny", epochs=3)
    assert load_config(path, epochs=5, seed=2) == TrainConfig(encoder="tiny", epochs=5, seed=2)
    assert config_from(load_config(path).to_json(), "again") == load_config(path)


def test_lists_are_read_from_toml_and_come_back_from_json(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('encoder = "tiny"\nreinit_layers = [5, 6]\n', encoding="utf-8")
    config = load_config(path)
    assert config.reinit_layers == (5, 6)
    stored = json.loads(json.dumps(config.to_json()))
    assert stored == config.to_json() and config_from(stored, "again") == config


def test_the_recipes_of_the_paper_have_its_loss_weights() -> None:
    names = ("ner", "jre", "coref")
    configs = [load_config(RECIPES / f"scierc-{name}.toml") for name in names]
    weights = [(c.entity_weight, c.relation_weight, c.coreference_weight) for c in configs]
    assert weights == [(1, 0, 0), (0.2, 1, 1), (0.5, 0.5, 1)]
    assert [config.select_by for config in configs] == ["entity", "relation", "coreference"]
    assert {(config.epochs, config.encoder_lr, config.head_lr) for config in configs} == {
        (50, 5e-5, 1e-3)
    }


@pytest.mark.parametrize(
    ("documents", "epochs"), [(1, 25), (49, 25), (160, 25), (300, 13), (520, 8), (5000, 8)]
)
def test_the_epochs_of_a_correction_round_depend_on_the_data(documents: int, epochs: int) -> None:
    config = load_config(RECIPES / "correction-round.toml")
    assert config.within_budget(documents).epochs == epochs
    assert config.patience > 0


def test_without_a_step_budget_the_epochs_stay() -> None:
    assert TrainConfig(encoder="tiny", epochs=20).within_budget(5000).epochs == 20


@pytest.mark.parametrize("content", [b"epochs = = 3", b'encoder = "\xff"'])
def test_broken_recipes_name_their_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "recipe.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"recipe\.toml"):
        load_config(path)


def test_a_missing_recipe_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"no recipe at .*none\.toml"):
        load_config(tmp_path / "none.toml")


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_recipes_are_sound(path: Path) -> None:
    assert load_config(path).encoder


def test_a_packaged_file_has_a_name_and_any_file_a_path(tmp_path: Path) -> None:
    packaged = tmp_path / "fly-high.toml"
    packaged.write_text("steps = 3", encoding="utf-8")
    assert packaged_file("high", tmp_path, "flight plan", prefix="fly-") == packaged
    assert packaged_file(str(packaged), tmp_path / "none", "flight plan") == packaged
    with pytest.raises(InputMissingError, match="no flight plan is called 'low'") as caught:
        packaged_file("low", tmp_path, "flight plan", prefix="fly-")
    assert caught.value.hint == "packaged plans: high"


def test_what_is_no_file_and_no_toml_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"no kite at .*none\.toml"):
        read_toml(tmp_path / "none.toml", "kite", "")
    broken = tmp_path / "broken.toml"
    for content in (b"name = ", b'name = "\xff"'):
        broken.write_bytes(content)
        with pytest.raises(UsageError, match=r"broken\.toml: ") as caught:
            read_toml(broken, "kite", "a kite is a TOML file")
        assert caught.value.hint == "a kite is a TOML file"
