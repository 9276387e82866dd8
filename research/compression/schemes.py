"""An fp32 encoder graph in fewer bits, by ``onnxruntime.quantization``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from research.compression.rounding import input_moments, rounded
from research.unlabelled import read_unlabelled
from sciextract import formats
from sciextract.documents.document import Document
from sciextract.errors import InputMissingError, UsageError
from sciextract.formats.base import BadRecord
from sciextract.inference.onnx_network import import_onnxruntime
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.tokenization import EncoderInput, plan_windows
from sciextract_trainer.export import load_graph, quantise_int8, quiet

HALF = "fp16"
"""Half precision, which needs no gold and no options: see :mod:`research.compression.quantise`."""

Kind = Literal["dynamic", "weights4", "weights7"]
BLOCK_SIZES = (16, 32, 64, 128, 256)
EMBEDDING_BITS = (4, 8, 32)


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way of quantising an encoder graph.

    Attributes:
        kind: ``dynamic``: int8 with a scale for each column of a matrix, ranges of activations taken from each
            input; ``weights4``: weights of 4 bits in blocks, activations as they are; ``weights7``: weights of 7
            bits with a scale for each column, embeddings with one for each row, stored in bytes, which a wheel
            compresses by a fifth; computed as in fp32.
        block_size: Weights that share a scale in ``weights4``.
        embeddings: Bits of the subword embeddings in ``weights4``.

    Raises:
        UsageError: A value is not possible; says which ones are.
    """

    kind: Kind = "dynamic"
    block_size: int = 64
    embeddings: int = 4

    def __post_init__(self) -> None:
        _require("--scheme", self.kind, get_args(Kind))
        _require("--block-size", self.block_size, BLOCK_SIZES)
        _require("--embeddings", self.embeddings, EMBEDDING_BITS)

    @property
    def precision(self) -> str:
        """What the model folder calls the graph."""
        return "int4" if self.kind == "weights4" else "int8"

    @property
    def description(self) -> str:
        """What the model card says of it."""
        if self.kind == "weights7":
            return "weights and embeddings of 7 bits, computed as in fp32"
        if self.kind == "weights4":
            return f"weights of 4 bits in blocks of {self.block_size}, embeddings of {self.embeddings} bits"
        return "dynamic int8 per channel"


def check_scheme(name: str, dev: Path | None) -> None:
    """Refuse a name that no scheme has, and a scheme without the gold that it needs.

    Raises:
        UsageError: Says which names there are, or that gold is missing.
    """
    _require("--scheme", name, (*get_args(Kind), HALF))
    if name != HALF and dev is None:
        raise UsageError(
            f"--scheme {name} needs --dev: thresholds are fitted for the new graph",
            f"--dev FILE names gold documents; --scheme {HALF} keeps the thresholds",
        )


def _require(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            f"{option} {value} is not possible", f"choose from: {', '.join(map(str, allowed))}"
        )


def windows_of(pipeline: Pipeline, documents: Sequence[Document]) -> list[EncoderInput]:
    """The windows of some documents as the encoder sees them."""
    found = []
    for document in documents:
        subwords = pipeline.tokenizer.split(document.tokens.slices(document.text))
        for window in plan_windows(
            subwords.counts, document.tokens.sentences, pipeline.subword_limit
        ):
            seen = window.seen
            found.append(pipeline.tokenizer.frame(subwords, seen.token_start, seen.token_end))
    return found


def read_texts(files: Sequence[Path], most: int) -> list[Document]:
    """The first abstracts of shards of unlabelled ones (``.jsonl.gz``), or of files of any format that is read.

    Raises:
        InputMissingError: A file does not exist.
        FormatError: A record is bad.
        UsageError: There is no text in them.
    """
    found: list[Document] = []
    for file in files:
        if not file.is_file():
            raise InputMissingError(f"no texts at {file}", "give files of abstracts")
        if file.suffix == ".gz":
            found += read_unlabelled([file], most - len(found))
            continue
        for item in islice(formats.read([file]), most - len(found)):
            if isinstance(item, BadRecord):
                raise item.error
            found.append(item.document)
    if not found:
        raise UsageError(f"no text in {', '.join(map(str, files))}", "give files of abstracts")
    return found


_OPSET_OF_BLOCKS = 21


def quantise(
    source: Path, target: Path, scheme: Scheme, windows: Sequence[EncoderInput] = ()
) -> None:
    """Writes an fp32 graph in fewer bits.

    Args:
        source: The fp32 graph.
        target: The graph to write.
        scheme: How.
        windows: Texts that ``weights7`` compensates errors for.
    """
    if scheme.kind == "dynamic":
        quantise_int8(source, target)
        return
    import_onnxruntime()
    with quiet():
        model = load_graph(source)
        if scheme.kind == "weights4":
            _four_bits(model, target, scheme)
        else:
            _seven_bits(model, target, windows)


def _four_bits(model: Any, target: Path, scheme: Scheme) -> None:
    import onnx
    from onnx import version_converter
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    kinds = ("MatMul", "Gather") if scheme.embeddings == 4 else ("MatMul",)
    if scheme.embeddings == 8:
        between = target.with_suffix(".embeddings.onnx")
        try:
            quantize_dynamic(
                model, between, op_types_to_quantize=["Gather"], per_channel=True,
                weight_type=QuantType.QInt8,
            )  # fmt: skip
            model = onnx.load(between)
        finally:
            between.unlink(missing_ok=True)
    newer = version_converter.convert_version(model, _OPSET_OF_BLOCKS)
    quantiser = MatMulNBitsQuantizer(
        newer, bits=4, block_size=scheme.block_size, op_types_to_quantize=kinds
    )
    quantiser.process()
    quantiser.model.save_model_to_file(str(target))


_LEVELS = 63
"""The largest level of a weight of 7 bits."""


def _seven_bits(model: Any, target: Path, windows: Sequence[EncoderInput]) -> None:
    """Stores each matrix as levels times scales; ONNX Runtime multiplies them when it loads the graph."""
    import onnx
    from onnx import numpy_helper

    graph = model.graph
    inputs = {node.input[1]: node.input[0] for node in graph.node if node.op_type == "MatMul"}
    tables = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    matrices = [tensor for tensor in graph.initializer if len(tensor.dims) == 2]
    weights = [matrix for matrix in matrices if matrix.name in inputs]
    watched = sorted({inputs[weight.name] for weight in weights})
    feeds = [
        {
            "input_ids": window.input_ids[None],
            "attention_mask": np.ones_like(window.input_ids)[None],
            "word_first": window.word_first,
            "word_last": window.word_last,
        }
        for window in windows
    ]
    moments = input_moments(model, watched, feeds)
    for matrix in weights:
        values = numpy_helper.to_array(matrix)
        _store(graph, matrix, *rounded(values, moments[inputs[matrix.name]], _LEVELS))
    for matrix in matrices:
        if matrix.name in tables:
            # A scale for each row and one for each column: a few columns of embeddings are far larger than all others.
            values = numpy_helper.to_array(matrix)
            columns = values.std(axis=0, keepdims=True)
            columns[columns == 0] = 1
            rows = np.abs(values / columns).max(axis=1, keepdims=True) / _LEVELS
            rows[rows == 0] = 1
            levels = np.rint(values / columns / rows).astype(np.int8)
            _store(graph, matrix, levels, rows.astype(np.float32), columns.astype(np.float32))
    onnx.save(model, target)


def _store(graph: Any, matrix: Any, levels: Any, *scales: Any) -> None:
    """Replaces a matrix by the product of levels and scales."""
    from onnx import TensorProto, helper, numpy_helper

    name = matrix.name
    graph.initializer.remove(matrix)
    graph.initializer.append(numpy_helper.from_array(levels, f"{name}_levels"))
    last = f"{name}_0"
    nodes = [helper.make_node("Cast", [f"{name}_levels"], [last], to=TensorProto.FLOAT)]
    for number, scale in enumerate(scales, start=1):
        factor, product = f"{name}_scale_{number}", f"{name}_{number}"
        graph.initializer.append(numpy_helper.from_array(scale, factor))
        nodes.append(helper.make_node("Mul", [last, factor], [product]))
        last = product
    nodes[-1].output[0] = name
    for node in reversed(nodes):
        graph.node.insert(0, node)
