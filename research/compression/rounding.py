"""Rounding that compensates: the error of each row of a weight matrix is made up for by the rows that are not rounded yet.

GPTQ (Frantar et al. 2023, "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers",
arXiv 2210.17323, algorithm 1), with one scale for each column and the rows with the largest inputs first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float32]

DAMPING = 0.01
"""Share of the mean squared input that is added to each one: inputs that never vary have no inverse."""

BLOCK = 128
"""Rows that are rounded before the rows behind them are changed, for speed alone."""


def rounded(weights: Reals, moments: NDArray[np.float64], levels: int) -> tuple[Any, Reals]:
    """Levels and scales whose products give nearly the same outputs as the weights.

    Args:
        weights: float32 (inputs, outputs).
        moments: Sum over texts of the products of each two inputs (inputs, inputs).
        levels: The largest level.

    Returns:
        Levels int8 (inputs, outputs) and scales float32 (1, outputs).
    """
    scale = np.abs(weights).max(axis=0, keepdims=True) / levels
    scale[scale == 0] = 1
    order = np.argsort(-np.diag(moments), kind="stable")
    left = weights[order].astype(np.float64)
    factor = _inverse_factor(moments[np.ix_(order, order)])
    chosen = np.zeros(left.shape, dtype=np.int8)
    for start in range(0, len(left), BLOCK):
        stop = min(start + BLOCK, len(left))
        errors = np.zeros((stop - start, left.shape[1]))
        for row in range(start, stop):
            chosen[row] = np.clip(np.rint(left[row] / scale[0]), -levels, levels)
            error = (left[row] - chosen[row] * scale[0]) / factor[row, row]
            left[row + 1 : stop] -= np.outer(factor[row, row + 1 : stop], error)
            errors[row - start] = error
        left[stop:] -= factor[start:stop, stop:].T @ errors
    result = np.zeros_like(chosen)
    result[order] = chosen
    return result, scale.astype(np.float32)


def _inverse_factor(moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """The upper Cholesky factor of the inverse of the damped moments."""
    damped = moments + np.eye(len(moments)) * max(DAMPING * np.diag(moments).mean(), 1e-8)
    factor: NDArray[np.float64] = np.linalg.cholesky(np.linalg.inv(damped)).T
    return factor


def input_moments(
    model: Any, names: Sequence[str], feeds: Sequence[Mapping[str, Any]]
) -> dict[str, NDArray[np.float64]]:
    """Products of each two values of some tensors of a graph, summed over all positions of all texts.

    Args:
        model: The graph; it is not changed.
        names: The tensors.
        feeds: The inputs of the graph, one text each.
    """
    import onnx
    import onnxruntime

    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    for name in names:
        watched.graph.output.append(onnx.ValueInfoProto(name=name))
    session = onnxruntime.InferenceSession(
        watched.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found: dict[str, NDArray[np.float64]] = {}
    for feed in feeds:
        for name, value in zip(names, session.run(list(names), dict(feed)), strict=True):
            rows = value.reshape(-1, value.shape[-1]).astype(np.float32)
            product = (rows.T @ rows).astype(np.float64)
            found[name] = found[name] + product if name in found else product
    return found
