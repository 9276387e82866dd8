"""Graphs without what the exporter notes of its work: where the code lay on the machine that exported it."""

from __future__ import annotations

from pathlib import Path

import onnx


def forget_traces(path: Path) -> None:
    """Takes stack traces and names of Python modules out of a graph; what it computes is the same.

    The exporter keeps the call stack of every node, with absolute paths, which are nobody's business who gets
    the model.
    """
    model = onnx.load(path)
    _forget(model.graph)
    for function in model.functions:
        _forget_of(function)
        for node in function.node:
            _forget_node(node)
    onnx.save(model, path)


def _forget(graph: onnx.GraphProto) -> None:
    _forget_of(graph)
    for value in (*graph.input, *graph.output, *graph.value_info):
        _forget_of(value)
    for node in graph.node:
        _forget_node(node)


def _forget_node(node: onnx.NodeProto) -> None:
    _forget_of(node)
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ())):
            _forget(graph)


def _forget_of(
    part: onnx.GraphProto | onnx.FunctionProto | onnx.NodeProto | onnx.ValueInfoProto,
) -> None:
    del part.metadata_props[:]
    part.ClearField("doc_string")
