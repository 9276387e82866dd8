"""The tiny encoder, heads and model folder of the trainer's tests, for what is built from them."""

from __future__ import annotations

from tests.trainer.conftest import (
    _graphs_traced_once,
    _one_thread,
    encoder_folder,
    labels,
    make_config,
    model_folder,
    rules,
    schema,
    traced_each_time,
    trained,
)

__all__ = [
    "_graphs_traced_once",
    "_one_thread",
    "encoder_folder",
    "labels",
    "make_config",
    "model_folder",
    "rules",
    "schema",
    "traced_each_time",
    "trained",
]
