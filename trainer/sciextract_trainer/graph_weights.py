"""Weights read back out of exported ONNX graphs, fp32 or int8.

The exporter keeps the names of most parameters; where the others are stands in the graph's metadata
(:func:`record_places`). int8 weights are dequantised: ``(value - zero point) * scale``, so that each lies within half
a step of the trained one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from sciextract.errors import ModelDamagedError

Array = NDArray[np.float32]

KEY = "sciextract.weights"
"""Name of the entry in a graph's metadata: by parameter a constant, and whether that is the transposed parameter."""


def record_places(path: Path, module: nn.Module) -> None:
    """Writes into a graph where each parameter is that has lost its name; some may be nowhere."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    lost = {
        name: value.detach().cpu().numpy()
        for name, value in module.named_parameters()
        if name not in constants
    }
    floats = [(name, each) for name, each in constants.items() if each.dtype == np.float32]
    places = {}
    for name, value in lost.items():
        for constant, stored in floats:
            turned = stored.ndim == 2 and stored.shape == value.T.shape
            turned = turned and np.array_equal(stored, value.T)
            if turned or (
                stored.size == value.size and np.array_equal(stored.ravel(), value.ravel())
            ):
                places[name] = [constant, turned]
                break
    onnx.helper.set_model_props(model, {KEY: json.dumps(places)})
    onnx.save(model, path)


def read_weights(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The parameters of a module from its graph, or from the graph that was quantised from it.

    Args:
        path: The graph.
        shapes: Shape of each parameter by name, as in the module.

    Raises:
        ModelDamagedError: The graph cannot be read, or a parameter cannot be found in it.
    """
    model, constants = _load(path)
    recorded = [each.value for each in model.metadata_props if each.key == KEY]
    places: dict[str, tuple[str, bool]] = json.loads(recorded[0]) if recorded else {}
    # A product takes a matrix as (inputs, outputs), the other way round than a module has it.
    turned = {
        name
        for node in model.graph.node
        if node.op_type in ("MatMul", "MatMulInteger") or _is_plain_gemm(node)
        for name in node.input
    }
    found = {}
    for name, shape in shapes.items():
        constant, is_turned = places.get(name, (name, False))
        stored = constant if constant in constants else f"{constant}_quantized"
        if stored not in constants:
            raise _unreadable(path, f"it has no {name}")
        values = constants[stored].astype(np.float32)
        if stored != constant:  # scales of columns lie in the constants next to it
            zero = constants[f"{constant}_zero_point"].astype(np.float32)
            values = np.asarray((values - zero) * constants[f"{constant}_scale"], np.float32)
        if is_turned or (name not in places and values.ndim > 1 and stored in turned):
            values = values.T
        if values.size != np.prod(shape, dtype=int):
            raise _unreadable(path, f"{name} has the shape {values.shape}")
        found[name] = np.ascontiguousarray(values).reshape(shape)
    return found


def bias_length(path: Path, name: str) -> int:
    """Length of a bias vector, which is the width of the layer it belongs to.

    Raises:
        ModelDamagedError: The graph cannot be read or has no such vector.
    """
    _, constants = _load(path)
    if name not in constants:
        raise _unreadable(path, f"it has no {name}")
    return len(constants[name])


def _is_plain_gemm(node: Any) -> bool:
    transposed = any(each.name == "transB" and each.i for each in node.attribute)
    return node.op_type == "Gemm" and not transposed


def _load(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    """A graph and its constants by name."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import numpy_helper

    try:
        model = onnx.load(path)
    except (OSError, DecodeError) as error:
        raise _unreadable(path, str(error)) from error
    return model, {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}


def _unreadable(path: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(
        f"{path}: the weights cannot be read back: {problem}",
        "use a model folder that holds model.safetensors; every retrained one does",
    )
