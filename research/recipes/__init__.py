"""Recipes of the bundled models, encoders and baselines; those of ``sciextract retrain`` are found as well."""

from __future__ import annotations

from pathlib import Path

from sciextract_trainer.config import find_recipe as find_trainer_recipe
from sciextract_trainer.config import packaged_file

RECIPES = Path(__file__).resolve().parent


def find_recipe(recipe: str) -> Path:
    """The file of a recipe of this folder or of the trainer; other words are a path.

    Raises:
        InputMissingError: No such recipe or file.
    """
    if (RECIPES / f"{recipe}.toml").is_file():
        return packaged_file(recipe, RECIPES, "recipe")
    return find_trainer_recipe(recipe)
