"""The model folder of a network within a plan, and what is shipped of it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    CARD,
    CONFIG,
    GRAPHS,
    MANIFEST,
    listed_files,
    open_folder,
    write_manifest,
)
from sciextract_trainer.build import build_network, load_subword_rules
from sciextract_trainer.card import model_card
from sciextract_trainer.checkpoint import load_weights
from sciextract_trainer.families import labels_for
from sciextract_trainer.files import explained, replacing
from sciextract_trainer.making.products import NetworkMade
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import WEIGHTS

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


def write_checked_model(shop: Workshop, made: NetworkMade) -> None:
    """Exports a network with both precisions, for teaching, evaluating and shipping, unless that is done."""
    if (made.model / MANIFEST).is_file():
        return
    labels, rules = labels_for(made.config, shop.schema), load_subword_rules(made.config.encoder)
    network = build_network(made.config, labels)
    load_weights(made.weights, network)
    packaging = Packaging(
        made.model.parent.name, shop.schema, labels, rules, shop.dev, {"plan": shop.plan.name},
        precisions=("int8", "fp32"),
    )  # fmt: skip
    with explained(made.model):
        write_model_folder(network, packaging, made.model)


def dev_scores_of(model: Path) -> dict[str, Any]:
    """Dev F1 by precision."""
    scores = open_folder(model, hashes=False).config.scores
    return {name: scores[name] for name in ("int8", "fp32")}


def ship(made: NetworkMade, folder: Path, origin: dict[str, Any], *, weights: bool) -> ModelConfig:
    """Copies a network's model folder without what is not shipped, under its own name and with its card.

    Args:
        made: The network.
        folder: The folder to write or to replace; its name is the model's.
        origin: What the card says of where the model comes from.
        weights: Whether the weights in half precision come along.
    """
    left_out = {GRAPHS["fp32"], MANIFEST} | (set() if weights else {WEIGHTS})
    config = replace(open_folder(made.model).config, name=folder.name, origin=origin)
    with replacing(folder) as work:
        work.mkdir(parents=True)
        for name in set(listed_files(made.model)) - left_out:
            shutil.copyfile(made.model / name, work / name)
        text = json.dumps(config.to_json(), indent=2) + "\n"
        (work / CONFIG).write_text(text, encoding="utf-8")
        (work / CARD).write_text(model_card(config), encoding="utf-8")
        write_manifest(work)
    return config
