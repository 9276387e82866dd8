"""From a trained network to ONNX graphs, in fp32 and int8, with asserted parity; and the weights back out of them.

The exporter keeps the names of most parameters; where the others are stands in the graph's metadata
(:func:`record_places`). int8 weights are dequantised: ``(value - zero point) * scale``, so that each lies within half
a step of the trained one.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx_ir.passes.common import ClearMetadataAndDocStringPass
from torch import Tensor, nn

from sciextract.errors import ModelDamagedError, ModelMismatchError
from sciextract.inference.lexical import FEATURES
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH
from sciextract.inference.network import PairInput
from sciextract.inference.onnx_network import (
    PAIR_INPUTS,
    PAIR_OUTPUTS,
    WORD_INPUTS,
    WORD_OUTPUTS,
    OnnxNetwork,
    import_onnxruntime,
)
from sciextract.inference.tokenization import EncoderInput
from sciextract_trainer.network.joint import JointNetwork, PairHead, TorchNetwork

FULL_ATTENTION = frozenset(
    {"albert", "bert", "camembert", "distilbert", "electra", "mobilebert", "roberta", "xlm-roberta"}
)
"""Kinds of encoders whose queries see every subword of their window, so at least its special subwords."""


def has_full_attention(encoder: nn.Module) -> bool:
    """Whether no query of an encoder can be without a key, whatever is padded; unknown kinds are not trusted."""
    return getattr(getattr(encoder, "config", None), "model_type", None) in FULL_ATTENTION


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
    gone: set[str] = set()
    guards = 0
    for name in [node.output[0] for node in nodes if node.op_type == "Softmax"]:
        by_kind = {node.op_type: node for node in readers[name]}
        if len(readers[name]) != 2 or by_kind.keys() != {"IsNaN", "Where"}:
            continue
        test, choice = by_kind["IsNaN"], by_kind["Where"]
        if choice.input[0] != test.output[0] or choice.input[2] != name:
            continue
        for reader in readers[choice.output[0]]:
            reader.input[:] = [name if i == choice.output[0] else i for i in reader.input]
        for node in (test, choice):
            gone.update(node.output)
            nodes.remove(node)
        guards += 1
    # What the graph says of the shapes of values that are gone would make it invalid.
    for known in [value for value in model.graph.value_info if value.name in gone]:
        model.graph.value_info.remove(known)
    onnx.save(model, path)
    return guards


def forget_traces(path: Path) -> None:
    """Takes stack traces and names of Python modules out of a graph; what it computes is the same.

    The exporter keeps the call stack of every node, with absolute paths, which are nobody's business who gets
    the model.
    """
    model = onnx_ir.load(path)
    ClearMetadataAndDocStringPass()(model)
    for node in model.graph.all_nodes():
        for value in filter(None, (*node.inputs, *node.outputs)):
            value.metadata_props.clear()  # the pass leaves those of values
    onnx_ir.save(model, path)


PARITY = 1e-4
"""Largest absolute difference of an fp32 logit between torch and ONNX Runtime."""

EXPORTED = {name: GRAPHS[name] for name in ("int8", "fp32")}
"""Encoder graphs that every export writes, by precision."""


def export_graphs(network: JointNetwork, folder: Path, example: EncoderInput) -> None:
    """Writes ``model.onnx``, ``model.int8.onnx`` and ``pairs.onnx``.

    Args:
        network: A trained network.
        folder: Where the graphs go.
        example: A real window of at least three words, to trace with.
    """
    folder.mkdir(parents=True, exist_ok=True)
    export_encoder(network, folder / GRAPHS["fp32"], example)
    hidden, types = network.spans.first.in_features, network.spans.out[-1].out_features
    export_pairs(network.pairs, folder / PAIRS_GRAPH, hidden, int(types))  # type: ignore[arg-type]
    quantise_int8(folder / GRAPHS["fp32"], folder / GRAPHS["int8"])


def export_encoder(network: JointNetwork, path: Path, example: EncoderInput) -> None:
    """Writes encoder and entity head in fp32; the network is put into eval mode on the CPU."""
    network.cpu().eval()
    # The graph is fp32; autocast would leave casts in it.
    network.words.bf16 = False
    ids = torch.from_numpy(example.input_ids)
    rows = torch.stack(
        [ids, ids]
    )  # two texts: the exporter takes an axis of length 1 for a constant
    first = torch.from_numpy(np.concatenate([example.word_first, example.word_first + len(ids)]))
    last = torch.from_numpy(np.concatenate([example.word_last, example.word_last + len(ids)]))
    batch, subwords = torch.export.Dim("batch"), torch.export.Dim("pieces")
    words = torch.export.Dim("words")
    shapes = ({0: batch, 1: subwords}, {0: batch, 1: subwords}, {0: words}, {0: words})
    arguments = (rows, torch.ones_like(rows), first, last)
    export_module(network, arguments, path, WORD_INPUTS, WORD_OUTPUTS, shapes)
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
    random = torch.Generator().manual_seed(0)
    spans, words, pairs, links = 5, 11, 7, 6  # all different, so that no axis is taken for another
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
    export_module(head, arguments, path, PAIR_INPUTS, PAIR_OUTPUTS, shapes)
    record_places(path, head)


def export_module(
    module: nn.Module,
    arguments: tuple[Tensor, ...],
    path: Path,
    inputs: Sequence[str],
    outputs: Sequence[str],
    shapes: tuple[dict[int, torch.export.Dim], ...],
) -> None:
    """Writes what a module computes as a graph, without a word on the terminal.

    Args:
        module: The module, in eval mode.
        arguments: Examples of its inputs.
        path: The graph.
        inputs: Names of the inputs.
        outputs: Names of the outputs.
        shapes: By input the axes that may have any length.
    """
    with quiet():
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


def quantise_int8(source: Path, target: Path) -> None:
    """Writes an fp32 graph with weights of 8 bits, embeddings included; activations are rounded as they come.

    Args:
        source: The fp32 graph.
        target: The graph to write.
    """
    import_onnxruntime()
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with quiet():
        model = load_graph(source)
        # With one scale for all columns of a matrix, several F1 are lost (research/notes/compression.md).
        quantize_dynamic(model, target, per_channel=True, weight_type=QuantType.QInt8)


def load_graph(path: Path) -> onnx.ModelProto:
    """A graph without the shapes that the exporter wrote into it: they contradict weights that are turned round."""
    model = onnx.load(path)
    del model.graph.value_info[:]
    return model


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps progress lines, advice and deprecation notices off the terminal; errors are raised all the same."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


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
    return float(np.abs(getattr(left, name) - getattr(right, name)).max(initial=0.0))


def random_pairs(hidden: int, types: int, max_width: int, seed: int = 0) -> list[PairInput]:
    """Pair inputs of several shapes, empty and single ones included, for the parity check."""
    found = []
    for number, (spans, words, pairs, links) in enumerate(
        [(2, 3, 1, 1), (9, 40, 30, 36), (4, 12, 0, 6), (5, 20, 8, 0)]
    ):
        random = np.random.default_rng([seed, number])
        between = np.sort(random.integers(0, words + 1, (pairs, 2)), axis=1)
        found.append(
            PairInput(
                span_first=random.standard_normal((spans, hidden), dtype=np.float32),
                span_last=random.standard_normal((spans, hidden), dtype=np.float32),
                span_width=random.integers(0, max_width, spans),
                span_types=random.random((spans, types), dtype=np.float32),
                words=random.standard_normal((words, hidden), dtype=np.float32),
                relation_pairs=random.integers(0, spans, (pairs, 2)),
                relation_between=between,
                relation_distance=random.integers(0, 20, pairs),
                link_pairs=random.integers(0, spans, (links, 2)),
                link_distance=random.integers(0, 10, links),
                link_features=random.random((links, len(FEATURES)), dtype=np.float32),
            )
        )
    return found


Array = NDArray[np.float32]

KEY = "sciextract.weights"
"""Name of the entry in a graph's metadata: by parameter a constant, and whether that is the transposed parameter."""


def record_places(path: Path, module: nn.Module) -> None:
    """Writes into a graph where each parameter is that has lost its name; some may be nowhere."""
    model, constants = _load(path)
    lost = {
        name: value.detach().cpu().numpy()
        for name, value in module.named_parameters()
        if name not in constants
    }
    floats = [(name, array) for name, array in constants.items() if array.dtype == np.float32]
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
    recorded = [entry.value for entry in model.metadata_props if entry.key == KEY]
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
    transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
    return node.op_type == "Gemm" and not transposed


def _load(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    """A graph and its constants by name."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load(path)
    except (OSError, DecodeError) as error:
        raise _unreadable(path, str(error)) from error
    return model, {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def _unreadable(path: Path, problem: str) -> ModelDamagedError:
    return ModelDamagedError(
        f"{path}: the weights cannot be read back: {problem}",
        "use a model folder that holds model.safetensors; every retrained one does",
    )
