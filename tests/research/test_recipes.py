"""Recipes beside the package are sound, and those of the package are found with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.recipes import RECIPES, find_recipe
from sciextract_trainer.config import load_config

TRAINING = [
    path for path in sorted(RECIPES.glob("*.toml")) if not path.stem.startswith(("mlm-", "distil-"))
]


@pytest.mark.parametrize("path", TRAINING, ids=lambda path: path.stem)
def test_training_recipes_are_sound(path: Path) -> None:
    assert load_config(path).encoder


@pytest.mark.parametrize("name", ["sci-teacher-1", "scierc-joint"])
def test_recipes_of_both_folders_are_found_by_name(name: str) -> None:
    assert find_recipe(name).stem == name
