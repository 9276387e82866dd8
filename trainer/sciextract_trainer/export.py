"""From a trained network to ONNX graphs, in fp32 and int8, with asserted parity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from sciextract.errors import ModelMismatchError
from sciextract.inference.folder import GRAPHS, PAIRS_GRAPH
from sciextract.inference.network import PairInput
from sciextract.inference.onnx_network import (
    PAIR_INPUTS,
    PAIR_OUTPUTS,
    WORD_OUTPUTS,
    OnnxNetwork,
)
from sciextract.inference.pieces import EncoderInput
from sciextract_trainer.compression.quantisation import quantise
from sciextract_trainer.compression.schemes import Scheme
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.torch_network import TorchNetwork
from sciextract_trainer.noise import quiet
from sciextract_trainer.softmax_guards import drop_guards, looks_everywhere
from sciextract_trainer.traces import forget_traces
from sciextract_trainer.warm_start.weight_places import record_places

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
    with quiet():
        _export_pairs(network.pairs, folder / PAIRS_GRAPH, _hidden(network), _types(network))
    record_places(folder / PAIRS_GRAPH, network.pairs)
    quantise(folder / GRAPHS["fp32"], folder / GRAPHS["int8"], Scheme("dynamic"))


def export_encoder(network: JointNetwork, path: Path, example: EncoderInput) -> None:
    """Writes encoder and entity head in fp32; the network is put into eval mode on the CPU."""
    network.cpu().eval()
    network.words.bf16 = False
    with quiet():
        _export_encoder(network, path, example)
    if looks_everywhere(network.words.encoder):
        drop_guards(path)
    record_places(path, network)


def _hidden(network: JointNetwork) -> int:
    return network.spans.first.in_features


def _types(network: JointNetwork) -> int:
    return int(network.spans.out[-1].out_features)  # type: ignore[arg-type]


def _export_encoder(network: JointNetwork, path: Path, example: EncoderInput) -> None:
    ids = torch.from_numpy(example.input_ids)
    rows = torch.stack([ids, ids])
    first = torch.from_numpy(np.concatenate([example.word_first, example.word_first + len(ids)]))
    last = torch.from_numpy(np.concatenate([example.word_last, example.word_last + len(ids)]))
    batch, pieces = torch.export.Dim("batch"), torch.export.Dim("pieces")
    words = torch.export.Dim("words")
    shapes = ({0: batch, 1: pieces}, {0: batch, 1: pieces}, {0: words}, {0: words})
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
    )
    dims = {name: torch.export.Dim(name) for name in ("spans", "words", "pairs", "links")}
    names = ["spans"] * 4 + ["words"] + ["pairs"] * 3 + ["links"] * 2
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
            f"torch and ONNX Runtime differ by {worst:.1e} in a logit; allowed is {PARITY:.0e}",
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
    }
    return PairInput(**{field.name: values[field.name] for field in fields(PairInput)})  # type: ignore[arg-type]
