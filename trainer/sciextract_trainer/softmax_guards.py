"""Attention graphs without guards against queries that may look at nothing, where there are no such queries."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import onnx
from torch import nn

LOOK_EVERYWHERE = frozenset(
    {
        "albert",
        "bert",
        "camembert",
        "distilbert",
        "electra",
        "mobilebert",
        "roberta",
        "xlm-roberta",
    }
)
"""Kinds of encoders whose queries see every piece of their window, so at least its special pieces."""


def looks_everywhere(encoder: nn.Module) -> bool:
    """Whether no query of an encoder can be without a key, whatever is padded; unknown kinds are not trusted."""
    kind = getattr(getattr(encoder, "config", None), "model_type", None)
    return kind in LOOK_EVERYWHERE


def drop_guards(path: Path) -> int:
    """Takes ``where(isnan(p), 0, p)`` behind each softmax out of a graph; what it computes is the same, bit by bit.

    torch exports its attention so that a query whose keys are all masked gets zeros instead of NaN (in
    ``scaled_dot_product_attention``). Two passes over all attention weights cost a tenth to a quarter of the time of
    a small int8 encoder (docs/benchmarks.md).

    Args:
        path: The graph of an encoder that :func:`looks_everywhere`; rewritten in place.

    Returns:
        How many guards there were.
    """
    model = onnx.load(path)
    nodes = model.graph.node
    readers: dict[str, list[onnx.NodeProto]] = defaultdict(list)
    for node in nodes:
        for name in node.input:
            readers[name].append(node)
    guarded = [node.output[0] for node in nodes if node.op_type == "Softmax"]
    guards = [(name, found) for name in guarded if (found := _guard(name, readers[name]))]
    for name, (test, choice) in guards:
        for reader in readers[choice.output[0]]:
            reader.input[:] = [name if i == choice.output[0] else i for i in reader.input]
        nodes.remove(test)
        nodes.remove(choice)
    _forget_shapes(
        model.graph, {output for _, pair in guards for node in pair for output in node.output}
    )
    onnx.save(model, path)
    return len(guards)


def _forget_shapes(graph: onnx.GraphProto, values: set[str]) -> None:
    """Takes out what the graph says of values that are gone."""
    for known in [each for each in graph.value_info if each.name in values]:
        graph.value_info.remove(known)


def _guard(
    name: str, readers: list[onnx.NodeProto]
) -> tuple[onnx.NodeProto, onnx.NodeProto] | None:
    """The test and the choice behind a softmax, where they are all that reads it."""
    by_kind = {node.op_type: node for node in readers}
    if len(readers) != 2 or by_kind.keys() != {"IsNaN", "Where"}:
        return None
    test, choice = by_kind["IsNaN"], by_kind["Where"]
    fits = choice.input[0] == test.output[0] and choice.input[2] == name
    return (test, choice) if fits else None
