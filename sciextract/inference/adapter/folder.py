"""The folder of an adapter: its heads as safetensors, the words that they count with, and which model is its base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciextract.atomic import write
from sciextract.codec import decode, encode
from sciextract.documents.annotations import Layer
from sciextract.documents.document import Document, ModelId
from sciextract.errors import ModelDamagedError
from sciextract.inference.adapter.head import Head
from sciextract.inference.adapter.model import Adapter, Heads
from sciextract.inference.adapter.states import EncodedDocument, pack_states
from sciextract.inference.batching import Batching
from sciextract.inference.held_out import FILE as HELD_OUT
from sciextract.inference.held_out import HeldOut, write_held_out
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import (
    CARD,
    CONFIG,
    HEADS,
    STRINGS,
    ModelFolder,
    write_manifest,
)
from sciextract.inference.network import Floats
from sciextract.inference.pipeline import Pipeline
from sciextract.text.analyse import make_document

_MOST_BYTES = 64 << 20
"""A head of a hundred labels takes 2 MiB; more than this is no adapter."""

_WEIGHTS = ("narrow", "linear", "inner", "inner_bias", "outer")


@dataclass(frozen=True, slots=True)
class Strings:
    """What the rows of the counts stand for.

    Attributes:
        surfaces: Surface forms that were decided about.
        heads: Last words of spans.
    """

    surfaces: tuple[str, ...]
    heads: tuple[str, ...]


def save_adapter(
    path: Path, heads: Heads, config: ModelConfig, card: str, held: HeldOut | None
) -> None:
    """Write the files of an adapter into an empty folder, the manifest last.

    Args:
        path: The folder.
        heads: The trained heads.
        config: With :attr:`~sciextract.inference.model_config.ModelConfig.adapter`.
        card: The model card.
        held: Predictions for abstracts that it has not learned from, to promise a precision by.
    """
    # Importing it takes 20 ms that commands without an adapter do not pay.
    from safetensors.numpy import save

    memory = heads.entities.memory
    strings = Strings(tuple(memory.surfaces), tuple(memory.heads))
    counts = {
        "surfaces": _matrix(memory.surfaces, memory.classes),
        "heads": _matrix(memory.heads, memory.classes),
    }
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in _tensors(heads).items()}
    write(path / HEADS, save({**tensors, **counts}))
    write(path / STRINGS, encode(strings).encode())
    write(path / CONFIG, encode(config.to_json()).encode())
    write(path / CARD, card.encode())
    if held is not None:
        write_held_out(path / HELD_OUT, held)
    write_manifest(path)


def load_adapter(folder: ModelFolder, base: ModelFolder, pipeline: Pipeline) -> Adapter:
    """The adapter in a verified folder.

    Args:
        folder: The folder.
        base: Its base.
        pipeline: The base, ready to run.

    Raises:
        ModelDamagedError: The heads do not fit the labels or the base, or are no numbers.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    config, place = folder.config, folder.path / HEADS
    about = config.adapter
    if about is None or not 1 <= config.labels.max_span_width <= 64:
        raise _damaged(folder.path / CONFIG, "the spans of an adapter have 1 to 64 words")
    if place.stat().st_size > _MOST_BYTES:
        raise _damaged(place, f"expected at most {_MOST_BYTES >> 20} MiB")
    try:
        found = load(place.read_bytes())
    except (SafetensorError, ValueError, OverflowError) as error:
        raise _damaged(place, f"no safetensors file: {error}") from error
    words = folder.path / STRINGS
    strings = decode(words.read_bytes(), Strings, words, error=ModelDamagedError)
    [states] = pipeline.word_states([make_document("", "a")])
    untrained = Heads.untrained(config.labels, pipeline.labels, states.first.shape[1])
    heads = Heads.untrained(config.labels, pipeline.labels, states.first.shape[1])
    memory = heads.entities.memory
    for name, into in _tensors(heads).items():
        _copy_into(into, found.pop(name, None), place, name)
    for name, keys, counts in (
        ("surfaces", strings.surfaces, memory.surfaces),
        ("heads", strings.heads, memory.heads),
    ):
        rows = np.zeros((len(keys), memory.classes), np.int32)
        _copy_into(rows, found.pop(name, None), place, name)
        counts.update(zip(keys, rows.astype(np.int64), strict=True))
    if found:
        raise _damaged(place, f"unknown tensor {min(found)!r}")
    layers = frozenset(Layer(layer) for layer in about.layers)
    model = ModelId(base.config.name, base.hash)

    def encode_all(documents: Sequence[Document], batching: Batching) -> list[EncodedDocument]:
        states = pipeline.word_states(documents, batching)
        return [pack_states(*pair) for pair in zip(documents, states, strict=True)]

    return Adapter(pipeline, model, base.config, heads, untrained, encode_all, layers)


def _tensors(heads: Heads) -> dict[str, Floats]:
    found = {"links.weights": heads.links.weights}
    both: tuple[tuple[str, Head, Floats], ...] = (
        ("entities", heads.entities.head, heads.entities.projection),
        ("relations", heads.relations.head, heads.relations.projection),
    )
    for task, head, projection in both:
        found[f"{task}.projection"] = projection
        found |= {f"{task}.{name}": getattr(head, name) for name in _WEIGHTS}
    return found


def _matrix(counts: dict[str, np.ndarray], classes: int) -> np.ndarray:
    return np.array(list(counts.values()), np.int32).reshape(len(counts), classes)


def _copy_into(into: np.ndarray, values: np.ndarray | None, place: Path, name: str) -> None:
    """Check a tensor against the shape and the type that the labels and the base ask for, and take it over."""
    if values is None:
        raise _damaged(place, f"tensor {name!r} is missing")
    if values.shape != into.shape or values.dtype != into.dtype:
        kind = f"{values.dtype} {values.shape}"
        raise _damaged(place, f"tensor {name!r} is {kind}; expected {into.dtype} {into.shape}")
    if not np.isfinite(values).all() or (values.dtype == np.int32 and (values < 0).any()):
        raise _damaged(place, f"tensor {name!r} has values that are no weights or counts")
    into[...] = values


def _damaged(place: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(f"{place}: {problem}", "learn again, or get the model again")
