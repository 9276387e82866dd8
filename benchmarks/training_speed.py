"""How fast training is: documents a second, share of the device's bf16 peak, memory, and what the 50-epoch recipe takes.

Usage: ``python benchmarks/training_speed.py [--device auto] [--shapes minilm deberta-base] [--batches 8 16 32 64 128]
[--steps 20] [--checkpointing] [--json PATH]``.

Encoders have the shapes of MiniLM (6 layers of 384) and of DeBERTa v3 base (12 layers of 768) with random weights, and
documents are made up after SciERC's lengths and densities, so nothing is downloaded. A step is the whole one: batch,
forward pass, losses of three tasks, backward pass, clipping, AdamW, weight average. Floating point operations are those
that PyTorch counts in such a step (matrix products), the peak is the rate of a large matrix product in bf16 here and
now. The time of the recipe is calculated from the rate: 350 documents, 50 epochs, without evaluations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "trainer")]

import torch
from tokenizers import Tokenizer, models
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.rows import Row, machine, markdown, told, write_report
from benchmarks.training_documents import made_up_examples
from sciextract.documents.schema_file import load_schema
from sciextract.errors import SciextractError
from sciextract.inference.pipeline import Labels
from sciextract.retraining.events import MemoryShort, TrainingEvent, Warned
from sciextract_trainer.build import SubwordRules, labels_of
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Example, epoch_batches
from sciextract_trainer.hardware import (
    choose_device,
    describe,
    enable_checkpointing,
    has_fast_bf16,
)
from sciextract_trainer.loop import Stepper
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.optimisation import WeightAverage, make_optimiser

SHAPES = ("minilm", "deberta-base")
BATCHES = (8, 16, 32, 64, 128)
RECIPE_DOCUMENTS, RECIPE_EPOCHS = 350, 50
GOAL_MINUTES, GOAL_CARD, GOAL_SHAPE = 3.0, "H200", "deberta-base"
_SETTINGS: dict[str, dict[str, Any]] = {
    "minilm": {
        "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
        "intermediate_size": 1536, "attention_probs_dropout_prob": 0.0,
    },
    "deberta-base": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "attention_probs_dropout_prob": 0.0, "vocab_size": 128100,
        "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 256,
        "position_biased_input": False, "share_att_key": True, "norm_rel_ebd": "layer_norm",
        "type_vocab_size": 0, "layer_norm_eps": 1e-7,
    },
}  # fmt: skip
_WARM_STEPS = 3
_PEAK_SIZE = {"cuda": 8192, "mps": 4096, "cpu": 1536}


@dataclass(frozen=True)
class Measured:
    """One shape at one batch size; ``flops`` are of one step, ``memory_mb`` is only known on CUDA."""

    shape: str
    batch: int
    documents_per_second: float
    teraflops: float
    peak_share: float
    memory_mb: float | None
    recipe_minutes: float


def main() -> None:
    options = _options()
    device = choose_device(options.device)
    peak = _peak(device)
    measured: list[Measured] = []
    rows = told(_rows(options, device, peak, measured))
    print(markdown(f"Training speed on {describe(device)}; {machine()}", rows))
    write_report(
        options.json, options, rows,
        {"device": describe(device), "peak_teraflops": peak / 1e12, "speed": [asdict(m) for m in measured]},
    )  # fmt: skip


def _rows(
    options: argparse.Namespace, device: torch.device, peak: float, measured: list[Measured]
) -> Iterator[Row]:
    if device.type != "cuda":
        yield Row("GPU", "no GPU here: every figure below is of the processor")
    yield Row("peak: matrix product in bf16", f"{peak / 1e12:.2f} TFLOP/s")
    for shape in options.shapes:
        for batch in options.batches:
            try:
                found = _measure(options, shape, batch, device, peak)
            except SciextractError as error:
                yield Row(f"{shape}, {batch} documents at once", error.message)
                break
            measured.append(found)
            yield _row(found, device)


def _row(found: Measured, device: torch.device) -> Row:
    memory = "" if found.memory_mb is None else f", {found.memory_mb:,.0f} MB at most"
    value = (
        f"{found.documents_per_second:,.1f} documents/s, {found.teraflops:.2f} TFLOP/s, "
        f"{found.peak_share:.1%} of the peak{memory}; 50 epochs: {found.recipe_minutes:.1f} min"
    )
    judged = found.shape == GOAL_SHAPE and GOAL_CARD in describe(device)
    goal = f"<= {GOAL_MINUTES:.0f} min on an {GOAL_CARD}" if found.shape == GOAL_SHAPE else ""
    reached = found.recipe_minutes <= GOAL_MINUTES if judged else None
    return Row(f"{found.shape}, {found.batch} documents at once", value, goal, reached)


def _measure(
    options: argparse.Namespace, shape: str, batch: int, device: torch.device, peak: float
) -> Measured:
    labels = labels_of(load_schema("scierc"), 10)
    config = _config(options, batch, device)
    network = _network(shape, labels, config).to(device).train()
    examples = made_up_examples(
        batch * (options.steps + _WARM_STEPS), labels, network.words.encoder.config.vocab_size  # type: ignore[union-attr, arg-type]
    )  # fmt: skip
    batches = list(epoch_batches(examples, batch, 1, 1))
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    flops, seconds = _time(network, config, labels, device, batches)
    documents = sum(map(len, batches[_WARM_STEPS:]))
    rate = documents / seconds
    memory = torch.cuda.max_memory_allocated(device) / 1e6 if device.type == "cuda" else None
    return Measured(
        shape, batch, rate, flops / seconds / 1e12, flops / seconds / peak, memory,
        RECIPE_DOCUMENTS * RECIPE_EPOCHS / rate / 60,
    )  # fmt: skip


def _time(
    network: JointNetwork, config: TrainConfig, labels: Labels, device: torch.device,
    batches: Sequence[Sequence[Example]],
) -> tuple[float, float]:  # fmt: skip
    """Floating point operations and seconds of the steps after the warm-up."""
    optimiser, average = make_optimiser(network, config), WeightAverage(network, config.ema)
    stepper = Stepper(config, labels, _rules(), device, _tell)
    with FlopCounterMode(display=False) as counter:
        stepper.step(network, optimiser, average, None, batches[0])
    per_subword = counter.get_total_flops() / _subwords(batches[0])
    for chosen in batches[1:_WARM_STEPS]:
        stepper.step(network, optimiser, average, None, chosen)
    _wait(device)
    since = time.perf_counter()
    for chosen in batches[_WARM_STEPS:]:
        stepper.step(network, optimiser, average, None, chosen)
    _wait(device)
    seconds = time.perf_counter() - since
    return per_subword * sum(map(_subwords, batches[_WARM_STEPS:])), seconds


def _rules() -> SubwordRules:
    """A tokenizer that is never asked: the documents are subwords already."""
    tokenizer = Tokenizer(models.WordLevel({"[PAD]": 0}, unk_token="[PAD]"))
    return SubwordRules(tokenizer, (1,), (2,), unknown=3, mask=4, pad=0, limit=510)


def _tell(event: TrainingEvent) -> None:
    """Print what the measurement has to mind."""
    if isinstance(event, MemoryShort | Warned):
        print(event.to_json(), file=sys.stderr)


def _subwords(examples: Sequence[Example]) -> int:
    """Subwords of a batch, padding included."""
    return len(examples) * max(example.subword_count for example in examples)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _peak(device: torch.device) -> float:
    """Operations a second of a large matrix product in bf16."""
    size = _PEAK_SIZE[device.type]
    left = torch.randn(size, size, device=device).to(torch.bfloat16)
    best = float("inf")
    for _ in range(5):
        _wait(device)
        since = time.perf_counter()
        left @ left
        _wait(device)
        best = min(best, time.perf_counter() - since)
    return 2 * size**3 / best


def _config(options: argparse.Namespace, batch: int, device: torch.device) -> TrainConfig:
    return TrainConfig(
        encoder="random weights", batch_documents=batch, bf16=has_fast_bf16(device),
        checkpointing=options.checkpointing,
    )  # fmt: skip


def _network(shape: str, labels: Labels, config: TrainConfig) -> JointNetwork:
    from transformers import AutoModel, BertConfig, DebertaV2Config

    settings = (BertConfig if shape == "minilm" else DebertaV2Config)(**_SETTINGS[shape])
    torch.manual_seed(1)
    encoder: nn.Module = AutoModel.from_config(  # type: ignore[no-untyped-call]
        settings, dtype=torch.float32, trust_remote_code=False
    )
    encoder.pooler = None  # type: ignore[assignment]
    encoder.get_input_embeddings().requires_grad_(False)  # type: ignore[operator]
    network = JointNetwork(encoder, settings.hidden_size, labels, config)
    if config.checkpointing:
        enable_checkpointing(network)
    return network


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--batches", nargs="+", type=int, default=BATCHES)
    parser.add_argument("--steps", type=int, default=20, help="timed steps, after three more")
    parser.add_argument("--checkpointing", action="store_true", help="compute layers again")
    parser.add_argument("--json", metavar="PATH", help="every figure, also as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
