"""Where a graph keeps each parameter of the module it was exported from, written into the graph itself.

Exporters fold transpositions and views into constants, and keep one of several equal constants; the names of
parameters are lost then. At export their values are still known, so that the places can be written down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

Array = NDArray[np.float32]

KEY = "sciextract.weights"
"""Name of the entry in a graph's metadata."""


@dataclass(frozen=True, slots=True)
class Place:
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
    places = {name: [place.constant, place.turned] for name, place in _found(lost, constants)}
    onnx.helper.set_model_props(model, {KEY: json.dumps(places)})
    onnx.save(model, path)


def recorded_places(model: Any) -> dict[str, Place]:
    """What :func:`record_places` wrote into a graph, or into the one that it was quantised from."""
    for entry in model.metadata_props:
        if entry.key == KEY:
            places: dict[str, list[Any]] = json.loads(entry.value)
            return {name: Place(*place) for name, place in places.items()}
    return {}


def _found(
    lost: Mapping[str, Array], constants: Mapping[str, NDArray[Any]]
) -> Iterator[tuple[str, Place]]:
    floats = [(name, each) for name, each in constants.items() if each.dtype == np.float32]
    for name, value in lost.items():
        for constant, stored in floats:
            if stored.size == value.size and (place := _place(constant, stored, value)):
                yield name, place
                break


def _place(constant: str, stored: Array, value: Array) -> Place | None:
    if stored.ndim == 2 and stored.shape == value.T.shape and np.array_equal(stored, value.T):
        return Place(constant, turned=True)
    if np.array_equal(stored.ravel(), value.ravel()):
        return Place(constant, turned=False)
    return None
