"""The exporter of graphs for tests: networks of one structure are traced once, later ones fill in their weights.

Tracing takes seconds, whatever the size of a network, and most tests export networks that differ in their weights
only. The first of each structure is traced for real. Where all its weights differ, each constant of the graph is known
by the parameter it holds; else the second network is traced with random weights to know it. From then on constants are
replaced. Whoever writes a model folder compares it with torch afterwards, so that a graph that does not fit its network
is noticed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import nn

Floats = NDArray[np.float32]
Export = Callable[..., object]
"""``torch.onnx.export``: module, arguments, path, and settings that all modules of a structure share."""


@dataclass(slots=True)
class TracedOnce:
    """Stands for the exporter.

    Attributes:
        export: The exporter.
        seen: Structures that were traced for real.
        traced: Graphs by structure, with the parameter that each constant holds; ``None`` where a constant is of
            no parameter, as when the exporter folds two into one.
    """

    export: Export
    seen: set[str] = field(default_factory=set)
    traced: dict[str, _Traced | None] = field(default_factory=dict)

    def __call__(self, module: nn.Module, arguments: Any, path: str, **settings: Any) -> None:
        structure = _structure(module)
        if structure not in self.seen:
            self.really(module, arguments, path, **settings)
            return
        if structure not in self.traced:
            other = _with_random_weights(module)
            self.export(other, arguments, path, **settings)
            self.traced[structure] = _traced(onnx.load(path), other)
        traced = self.traced[structure]
        if traced is None:
            self.export(module, arguments, path, **settings)
        else:
            onnx.save(traced.filled(module), path)

    def really(self, module: nn.Module, arguments: Any, path: str, **settings: Any) -> None:
        """The exporter itself, whatever was traced before."""
        structure = _structure(module)
        self.seen.add(structure)
        self.export(module, arguments, path, **settings)
        if structure not in self.traced and _all_differ(module):
            self.traced[structure] = _traced(onnx.load(path), module)


@dataclass(frozen=True, slots=True)
class _Traced:
    """A graph, and by constant the parameter it holds and whether that is transposed in it."""

    graph: Any
    places: dict[str, tuple[str, bool]]

    def filled(self, module: nn.Module) -> Any:
        """The graph with the weights of another module of the same structure."""
        weights = {
            name: parameter.detach().numpy() for name, parameter in module.named_parameters()
        }
        graph = copy.deepcopy(self.graph)
        for constant in graph.graph.initializer:
            if constant.name in self.places:
                name, turned = self.places[constant.name]
                values = weights[name].T if turned else weights[name].reshape(constant.dims)
                constant.CopyFrom(numpy_helper.from_array(values.copy(), constant.name))
        return graph


def _structure(module: nn.Module) -> str:
    """All that decides about a module's graph, apart from its weights."""
    parts = [(name, vars(part)) for name, part in module.named_modules()]
    plain = [
        (name, key, value)
        for name, part in parts
        for key, value in part.items()
        if _is_plain(key, value)
    ]
    configs = [part["config"].to_dict() for _, part in parts if "config" in part]
    for config in configs:
        config.pop("_name_or_path", None)
    shapes = [(name, tuple(tensor.shape)) for name, tensor in module.state_dict().items()]
    return repr((module, configs, plain, shapes))


def _is_plain(key: str, value: object) -> bool:
    return key != "name_or_path" and isinstance(value, bool | int | float | str | tuple)


def _all_differ(module: nn.Module) -> bool:
    """Whether no parameter can be mistaken for another one, or for a number that the network needs."""
    weights = [parameter.detach().numpy() for parameter in module.parameters()]
    plain = any(np.ptp(weight) == 0 if weight.size > 1 else not weight.any() for weight in weights)
    return not plain and len({weight.tobytes() for weight in weights}) == len(weights)


def _with_random_weights(module: nn.Module) -> nn.Module:
    other = copy.deepcopy(module)
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=random))
    return other


def _traced(graph: Any, module: nn.Module) -> _Traced | None:
    weights = {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}
    places = {}
    for constant in graph.graph.initializer:
        stored = numpy_helper.to_array(constant)
        if place := _place(stored, weights):
            places[constant.name] = place
        elif stored.dtype == np.float32 and np.ptp(stored):
            return None
    return _Traced(graph, places)


def _place(stored: Floats, weights: dict[str, Floats]) -> tuple[str, bool] | None:
    """The parameter that a constant holds, as it is or in another shape, or transposed."""
    for name, weight in weights.items():
        if np.array_equal(stored.ravel(), weight.ravel()):
            return name, False
        if np.array_equal(stored, weight.T):
            return name, True
    return None
