"""From a trained network to ONNX graphs, in fp32 and int8, with asserted parity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from sciextract.errors import ModelMismatchError
from sciextract.inference.lexical import FEATURES
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH
from sciextract.inference.network import PairInput
from sciextract.inference.onnx_network import PAIR_INPUTS, PAIR_OUTPUTS, WORD_OUTPUTS, OnnxNetwork
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer.compression.quantisation import Scheme, quantise, quiet
from sciextract_trainer.graph_weights import record_places
from sciextract_trainer.network.joint import JointNetwork, PairHead, TorchNetwork

FULL_ATTENTION = frozenset(
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
"""Kinds of encoders whose queries see every subword of their window, so at least its special subwords."""


def has_full_attention(encoder: nn.Module) -> bool:
    """Whether no query of an encoder can be without a key, whatever is padded; unknown kinds are not trusted."""
    kind = getattr(getattr(encoder, "config", None), "model_type", None)
    return kind in FULL_ATTENTION


def drop_guards(path: Path) -> int:
    """Takes ``where(isnan(p), 0, p)`` behind each softmax out of a graph; what it computes is the same, bit by bit.

    torch exports its attention so that a query whose keys are all masked gets zeros instead of NaN (in
    ``scaled_dot_product_attention``). Two passes over all attention weights cost a tenth to a quarter of the time of
    a small int8 encoder (docs/benchmarks.md).

    Args:
        path: The graph of an encoder with full attention (:func:`has_full_attention`); rewritten in place.

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


PARITY = 1e-4
"""Largest absolute difference of an fp32 logit between torch and ONNX Runtime."""

EXPORTED = {name: GRAPHS[name] for name in ("int8", "fp32")}
"""Encoder graphs that every export writes, by precision."""

WORD_INPUTS = ("input_ids", "attention_mask", "word_first", "word_last")


def export_graphs(network: JointNetwork, folder: Path, example: EncoderInput) -> None:
    """Writes ``model.onnx``, ``model.int8.onnx`` and ``pairs.onnx``.

    Args:
        network: A trained network.
        folder: Where the graphs go.
        example: A real window of at least three words, to trace with.

    Raises:
        ModelMismatchError: torch and ONNX Runtime disagree by more than ``PARITY``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    export_encoder(network, folder / GRAPHS["fp32"], example)
    export_pairs(network.pairs, folder / PAIRS_GRAPH, _hidden(network), _types(network))
    quantise(folder / GRAPHS["fp32"], folder / GRAPHS["int8"], Scheme("dynamic"))


def export_encoder(network: JointNetwork, path: Path, example: EncoderInput) -> None:
    """Writes encoder and entity head in fp32; the network is put into eval mode on the CPU."""
    network.cpu().eval()
    network.words.bf16 = False
    with quiet():
        _export_encoder(network, path, example)
    if has_full_attention(network.words.encoder):
        drop_guards(path)
    record_places(path, network)


def export_pairs(head: PairHead, path: Path, hidden: int, types: int) -> None:
    """Writes relation and coreference heads in fp32.

    Args:
        head: The heads, in eval mode on the CPU.
        path: The graph.
        hidden: Size of the encoder's states.
        types: Entity labels and "none".
    """
    with quiet():
        _export_pairs(head, path, hidden, types)
    record_places(path, head)


def _hidden(network: JointNetwork) -> int:
    return network.spans.first.in_features


def _types(network: JointNetwork) -> int:
    return int(network.spans.out[-1].out_features)  # type: ignore[arg-type]


def _export_encoder(network: JointNetwork, path: Path, example: EncoderInput) -> None:
    ids = torch.from_numpy(example.input_ids)
    rows = torch.stack([ids, ids])
    first = torch.from_numpy(np.concatenate([example.word_first, example.word_first + len(ids)]))
    last = torch.from_numpy(np.concatenate([example.word_last, example.word_last + len(ids)]))
    batch, subwords = torch.export.Dim("batch"), torch.export.Dim("pieces")
    words = torch.export.Dim("words")
    shapes = ({0: batch, 1: subwords}, {0: batch, 1: subwords}, {0: words}, {0: words})
    arguments = (rows, torch.ones_like(rows), first, last)
    _export(network, arguments, path, WORD_INPUTS, WORD_OUTPUTS, shapes)


def _export_pairs(head: nn.Module, path: Path, hidden: int, types: int) -> None:
    random = torch.Generator().manual_seed(0)
    spans, words, pairs, links = 5, 11, 7, 6
    arguments = (
        torch.randn(spans, hidden, generator=random),
        torch.randn(spans, hidden, generator=random),
        torch.zeros(spans, dtype=torch.int64),
        torch.rand(spans, types, generator=random),
        torch.randn(words, hidden, generator=random),
        torch.zeros(pairs, 2, dtype=torch.int64),
        torch.zeros(pairs, 2, dtype=torch.int64),
        torch.zeros(pairs, dtype=torch.int64),
        torch.zeros(links, 2, dtype=torch.int64),
        torch.zeros(links, dtype=torch.int64),
        torch.rand(links, len(FEATURES), generator=random),
    )
    dims = {name: torch.export.Dim(name) for name in ("spans", "words", "pairs", "links")}
    names = ["spans"] * 4 + ["words"] + ["pairs"] * 3 + ["links"] * 3
    shapes = tuple({0: dims[name]} for name in names)
    _export(head, arguments, path, PAIR_INPUTS, PAIR_OUTPUTS, shapes)


def _export(
    module: nn.Module,
    arguments: tuple[Tensor, ...],
    path: Path,
    inputs: Sequence[str],
    outputs: Sequence[str],
    shapes: tuple[dict[int, torch.export.Dim], ...],
) -> None:
    _forget_lstm()
    torch.onnx.export(
        module,
        arguments,
        str(path),
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_shapes=shapes,
        dynamo=True,
        external_data=False,
        verbose=False,
    )
    forget_traces(path)


def _forget_lstm() -> None:
    """Lets the exporter's own LSTM, which has any length, be found a second time in a process.

    torch 2.13 swaps it in for the length of an export without telling the table of implementations that it
    looks up; from the second export on it would find the plain one, which has the example's length.
    """
    torch.ops.aten.lstm.input._dispatch_cache.clear()


def assert_parity(
    network: JointNetwork, folder: Path, windows: Sequence[EncoderInput], pairs: Sequence[PairInput]
) -> float:
    """The largest difference of any logit between torch and the fp32 graphs.

    Raises:
        ModelMismatchError: It exceeds ``PARITY``.
    """
    served = OnnxNetwork(folder / GRAPHS["fp32"], folder / PAIRS_GRAPH)
    trained = TorchNetwork(network)
    worst = 0.0
    for window in windows:
        [left], [right] = trained.encode([window]), served.encode([window])
        worst = max(worst, *(_gap(left, right, name) for name in WORD_OUTPUTS))
    for item in pairs:
        mine, theirs = trained.score_pairs(item), served.score_pairs(item)
        worst = max(worst, *(_gap(mine, theirs, name) for name in PAIR_OUTPUTS))
    if worst > PARITY:
        raise ModelMismatchError(
            f"torch and ONNX Runtime differ by {worst:.1e} in a logit; the limit is {PARITY:.0e}",
            "the export is not used; check the versions of torch, onnx and onnxruntime",
        )
    return worst


def _gap(left: object, right: object, name: str) -> float:
    difference = np.abs(getattr(left, name) - getattr(right, name))
    return float(difference.max(initial=0.0))


def random_pairs(hidden: int, types: int, relation_width: int, seed: int = 0) -> list[PairInput]:
    """Pair inputs of several shapes, empty and single ones included, for the parity check."""
    return [
        _random_pair_input(np.random.default_rng([seed, n]), hidden, types, relation_width, *shape)
        for n, shape in enumerate([(2, 3, 1, 1), (9, 40, 30, 36), (4, 12, 0, 6), (5, 20, 8, 0)])
    ]


def _random_pair_input(
    random: np.random.Generator,
    hidden: int,
    types: int,
    max_width: int,
    spans: int,
    words: int,
    pairs: int,
    links: int,
) -> PairInput:
    between = np.sort(random.integers(0, words + 1, (pairs, 2)), axis=1)
    values = {
        "span_first": random.standard_normal((spans, hidden), dtype=np.float32),
        "span_last": random.standard_normal((spans, hidden), dtype=np.float32),
        "span_width": random.integers(0, max_width, spans),
        "span_types": random.random((spans, types), dtype=np.float32),
        "words": random.standard_normal((words, hidden), dtype=np.float32),
        "relation_pairs": random.integers(0, spans, (pairs, 2)),
        "relation_between": between,
        "relation_distance": random.integers(0, 20, pairs),
        "link_pairs": random.integers(0, spans, (links, 2)),
        "link_distance": random.integers(0, 10, links),
        "link_features": random.random((links, len(FEATURES)), dtype=np.float32),
    }
    return PairInput(**{field.name: values[field.name] for field in fields(PairInput)})  # type: ignore[arg-type]
