"""Weights read back out of exported ONNX graphs, fp32 or int8.

The exporter keeps the names of most parameters; where the others are stands in the graph's metadata (see
:mod:`~sciextract_trainer.graph_weights`). In graphs without it, a matrix whose transposition was
folded into a constant is known by the bias that is added to its product. int8 weights are dequantised:
``(value - zero point) * scale``, so that each lies within half a step of the trained one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from sciextract.errors import ModelDamagedError

Array = NDArray[np.float32]

KEY = "sciextract.weights"
"""Name of the entry in a graph's metadata."""


@dataclass(frozen=True, slots=True)
class ParameterPlace:
    """Where a parameter is.

    Attributes:
        constant: Name of the constant in the fp32 graph.
        turned: Whether the constant is the transposed parameter; else it is the parameter or a view of it.
    """

    constant: str
    turned: bool

    def values_of(self, stored: Array, shape: tuple[int, ...]) -> Array:
        """The parameter from the constant, of the parameter's shape."""
        return np.ascontiguousarray(stored.T if self.turned else stored).reshape(shape)


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


def recorded_places(model: Any) -> dict[str, ParameterPlace]:
    """What :func:`record_places` wrote into a graph, or into the one that it was quantised from."""
    for entry in model.metadata_props:
        if entry.key == KEY:
            places: dict[str, list[Any]] = json.loads(entry.value)
            return {name: ParameterPlace(*place) for name, place in places.items()}
    return {}


_PRODUCTS = frozenset({"MatMul", "MatMulInteger"})
_SCALING = frozenset({"Cast", "Mul"})
"""Operations between an integer product and the bias."""


def read_weights(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The parameters of a module from its graph.

    Args:
        path: The graph.
        shapes: Shape of each parameter by name, as in the module.

    Raises:
        ModelDamagedError: The graph cannot be read, or a parameter cannot be found in it.
    """
    graph = _load(path)
    found = dict(_named(graph, shapes))
    for name, place in graph.places.items():  # those that the graph itself names win
        stored = place.constant
        if stored not in graph.values:
            stored += "_quantized"
        known = name in shapes and stored in graph.values
        if known and graph.values[stored].size == math.prod(shapes[name]):
            values = _dequantised(graph, stored, place.constant)
            found[name] = place.values_of(values, shapes[name])
    for name, shape in shapes.items():
        if name not in found:
            found[name] = _only_one_of_shape(graph, shape, name, path)
    wrong = [name for name in shapes if found[name].shape != shapes[name]]
    if wrong:
        raise _unreadable(path, f"{wrong[0]} has the shape {found[wrong[0]].shape}")
    return {name: found[name] for name in shapes}


def bias_length(path: Path, name: str) -> int:
    """Length of a bias vector, which is the width of the layer it belongs to.

    Raises:
        ModelDamagedError: The graph cannot be read or has no such vector.
    """
    values = _load(path).values
    if name not in values:
        raise _unreadable(path, f"it has no {name}")
    return len(values[name])


@dataclass(slots=True)
class _Graph:
    """A graph's constants and who uses them.

    Attributes:
        values: Constants by name, as they are stored.
        places: Where parameters are that have lost their names, as far as the graph says so.
        users: Nodes by the name of an input.
    """

    values: dict[str, NDArray[Any]]
    places: dict[str, ParameterPlace]
    users: dict[str, list[Any]] = field(default_factory=dict)


def _load(path: Path) -> _Graph:
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import numpy_helper

    try:
        model = onnx.load(path)
        places = recorded_places(model)
    except (OSError, DecodeError, ValueError, TypeError, AttributeError) as error:
        raise _unreadable(path, str(error)) from error
    constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    graph = _Graph(constants, places)
    for node in model.graph.node:
        for name in node.input:
            graph.users.setdefault(name, []).append(node)
    return graph


def _named(graph: _Graph, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, Array]]:
    """Constants that a parameter can be told of, dequantised and the way round the module has them."""
    for stored in graph.values:
        # The quantiser of ONNX Runtime adds this ending, and constants with the scales next to it.
        base = stored.removesuffix("_quantized")
        name = base if base in shapes else _name_by_bias(graph, stored)
        if name in shapes and not stored.endswith(("_scale", "_zero_point")):
            values = _dequantised(graph, stored, base)
            # A product takes a matrix as (inputs, outputs), the other way round than a module has it.
            turned = values.ndim > 1 and any(
                node.op_type in _PRODUCTS
                or (
                    node.op_type == "Gemm"
                    and not any(each.name == "transB" and each.i for each in node.attribute)
                )
                for node in graph.users.get(stored, ())
            )
            yield name, np.ascontiguousarray(values.T if turned else values)


def _dequantised(graph: _Graph, stored: str, base: str) -> Array:
    values = graph.values[stored]
    if stored == base:
        return values.astype(np.float32)
    scale, zero = graph.values[f"{base}_scale"], graph.values[f"{base}_zero_point"]
    return np.asarray((values.astype(np.float32) - zero.astype(np.float32)) * scale, np.float32)


def _name_by_bias(graph: _Graph, stored: str) -> str:
    """The weight whose bias is added to the product of a nameless matrix; empty if there is none."""
    for node in graph.users.get(stored, ()):
        if node.op_type not in _PRODUCTS:
            continue
        output = node.output[0]
        for following in _after_scaling(graph, output):
            if following.op_type == "Add":
                biases = [each for each in following.input if each.endswith(".bias")]
                return biases[0].removesuffix("bias") + "weight" if biases else ""
    return ""


def _after_scaling(graph: _Graph, output: str) -> Iterator[Any]:
    """The nodes that take a product once it is turned back into real numbers."""
    for node in graph.users.get(output, ()):
        if node.op_type in _SCALING:
            yield from _after_scaling(graph, node.output[0])
        else:
            yield node


def _only_one_of_shape(graph: _Graph, shape: tuple[int, ...], name: str, path: Path) -> Array:
    """The one constant of a shape, axes of length one aside: folding adds such axes and drops the name."""
    candidates = [
        values
        for stored, values in graph.values.items()
        if values.dtype == np.float32
        and values.ndim > len(shape)
        and tuple(n for n in values.shape if n > 1) == tuple(n for n in shape if n > 1)
        and not stored.endswith("_scale")
    ]
    if len(candidates) != 1:
        raise _unreadable(path, f"{len(candidates)} constants could be {name}")
    return candidates[0].reshape(shape)


def _unreadable(path: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(
        f"{path}: the weights cannot be read back: {problem}",
        "use a model folder that holds model.safetensors; every retrained one does",
    )
