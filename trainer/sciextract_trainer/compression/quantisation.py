"""An fp32 encoder graph in fewer bits, by ``onnxruntime.quantization``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sciextract.inference.onnx_network import import_onnxruntime
from sciextract.inference.pieces import EncoderInput
from sciextract_trainer.compression.calibration_texts import WindowReader, even_windows
from sciextract_trainer.compression.schemes import Scheme
from sciextract_trainer.noise import quiet

_MATRICES = ["MatMul", "Gemm", "Gather"]
"""What has weights. Sums and norms between them stay real, which costs little and keeps their range."""

_OPSET_OF_4_BITS = 21


def quantise(
    source: Path, target: Path, scheme: Scheme, windows: Sequence[EncoderInput] = ()
) -> None:
    """Writes an fp32 graph in fewer bits.

    Args:
        source: The fp32 graph.
        target: The graph to write.
        scheme: How.
        windows: Texts that ``static`` fixes the ranges of activations on.
    """
    import_onnxruntime()
    with quiet():
        if scheme.kind == "dynamic":
            _dynamic(_loaded(source), target, scheme)
        elif scheme.kind == "static":
            _static(_loaded(source), target, scheme, windows)
        else:
            _four_bits(_loaded(source), target, scheme)


def _loaded(source: Path) -> Any:
    import onnx

    model = onnx.load(source)
    del model.graph.value_info[:]  # the exporter's shapes contradict transposed weights
    return model


def _dynamic(model: Any, target: Path, scheme: Scheme) -> None:
    """Embeddings included; per-tensor loses several F1 (docs/models.md)."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(model, target, per_channel=scheme.per_channel, weight_type=QuantType.QInt8)


def _static(model: Any, target: Path, scheme: Scheme, windows: Sequence[EncoderInput]) -> None:
    """Pairs of quantising and dequantising nodes, which ONNX Runtime fuses; activations without sign."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    ways = {
        "minmax": CalibrationMethod.MinMax,
        "entropy": CalibrationMethod.Entropy,
        "percentile": CalibrationMethod.Percentile,
    }
    even = windows if scheme.ranges == "minmax" else even_windows(windows)
    quantize_static(
        model,
        target,
        WindowReader(even),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=_MATRICES,
        per_channel=scheme.per_channel,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=ways[scheme.ranges],
    )


def _four_bits(model: Any, target: Path, scheme: Scheme) -> None:
    from onnx import version_converter
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    kinds = ("MatMul", "Gather") if scheme.embeddings == 4 else ("MatMul",)
    if scheme.embeddings == 8:
        model = _eight_bit_embeddings(model, target)
    newer = version_converter.convert_version(model, _OPSET_OF_4_BITS)
    quantiser = MatMulNBitsQuantizer(
        newer, bits=4, block_size=scheme.block_size, op_types_to_quantize=kinds
    )
    quantiser.process()
    quantiser.model.save_model_to_file(str(target))


def _eight_bit_embeddings(model: Any, target: Path) -> Any:
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    between = target.with_suffix(".embeddings.onnx")
    try:
        quantize_dynamic(
            model, between, op_types_to_quantize=["Gather"], per_channel=True,
            weight_type=QuantType.QInt8,
        )  # fmt: skip
        return onnx.load(between)
    finally:
        between.unlink(missing_ok=True)
