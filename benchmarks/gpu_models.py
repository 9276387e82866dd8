"""Model folders for ``gpu_inference.py``: the bundled model with fp32 and fp16 graphs, and shapes with random weights."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciextract.inference.model_folder import (
    GRAPHS,
    MANIFEST,
    PAIRS_GRAPH,
    ModelFolder,
    locate_model,
    open_folder,
    write_manifest,
)

DEBERTA: dict[str, Any] = {
    "model_type": "deberta-v2",
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "max_position_embeddings": 512,
    "type_vocab_size": 0,
}
SIZES = {
    "deberta-base": {
        "num_hidden_layers": 12, "hidden_size": 768, "intermediate_size": 3072,
        "num_attention_heads": 12,
    },
    "deberta-tiny": {
        "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128,
        "num_attention_heads": 4,
    },
}  # fmt: skip
SHAPES = ("bundled", *SIZES)


@dataclass(frozen=True)
class Shape:
    """What the work of an encoder depends on; ``positions`` are DeBERTa's relative ones, 0 for others."""

    layers: int
    hidden: int
    inner: int
    positions: int

    def flops(self, subwords: int) -> float:
        """Floating point operations of one window: 2 for each multiply and add of the matrix products.

        A layer multiplies four projections (8 n h h), the two products of attention (4 n n h), and the two matrices
        of the inner layer (4 n h f); DeBERTa's two relative terms add 4 n p h. Norms, activations, the entity head
        (some percent), padding and the projections of relative positions, which a call does once, are not counted.
        """
        n, h = subwords, self.hidden
        return self.layers * (
            8.0 * n * h * h
            + 4.0 * n * n * h
            + 4.0 * n * h * self.inner
            + 4.0 * n * self.positions * h
        )


def shape_of(folder: ModelFolder) -> Shape:
    values = json.loads((folder.path / "encoder.json").read_text("utf-8"))
    positions = 2 * int(values.get("position_buckets") or values.get("max_relative_positions") or 0)
    return Shape(
        int(values["num_hidden_layers"]),
        int(values["hidden_size"]),
        int(values["intermediate_size"]),
        positions if values.get("relative_attention") else 0,
    )


def model_of(shape: str, folder: Path) -> ModelFolder:
    """A folder with the graphs of a shape in fp32 and fp16, made if it is not there."""
    path = folder / shape
    if not (path / MANIFEST).is_file():
        path.mkdir(parents=True, exist_ok=True)
        _make(shape, open_folder(locate_model("sci")), path)
    return open_folder(path)


def _make(shape: str, bundled: ModelFolder, path: Path) -> None:
    from research.compression.quantise import write_half
    from sciextract_trainer.config import TrainConfig
    from sciextract_trainer.export import export_encoder
    from sciextract_trainer.warm_start import open_start_model

    for file in bundled.path.iterdir():
        if file.name not in {*GRAPHS.values(), MANIFEST}:
            shutil.copyfile(file, path / file.name)
    config = TrainConfig(encoder=str(bundled.path))
    if shape == "bundled":
        network = open_start_model(bundled).network(config)
    else:
        network = _random(bundled, path, SIZES[shape], config)
    export_encoder(network, path / GRAPHS["fp32"], _example(bundled))
    write_half(path / GRAPHS["fp32"], path / GRAPHS["fp16"])
    write_manifest(path)


def _random(bundled: ModelFolder, path: Path, size: dict[str, int], config: Any) -> Any:
    """Encoder and heads of that size, with random weights; the vocabulary is the bundled one."""
    import torch

    from sciextract_trainer.encoders.loading import empty_encoder
    from sciextract_trainer.network.joint import JointNetwork

    torch.manual_seed(0)
    known = json.loads((bundled.path / "encoder.json").read_text("utf-8"))
    values = {**DEBERTA, **size, "vocab_size": known["vocab_size"]}
    (path / "encoder.json").write_text(json.dumps(values), "utf-8")
    (path / PAIRS_GRAPH).unlink()
    labels = bundled.config.labels
    fitted = replace(config, max_span_width=labels.max_span_width)
    return JointNetwork(empty_encoder(values), size["hidden_size"], labels, fitted)


def _example(bundled: ModelFolder) -> Any:
    from research.compression.quantise import sample_windows

    return max(sample_windows(bundled), key=lambda window: len(window.input_ids))
