"""The same network in eager torch, fp32: alone, and inside the same pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats import read
from sciextract.formats.exchange import encode
from sciextract.inference.batching import Batching
from sciextract.inference.extractor import Extractor
from sciextract.inference.network import Floats, Network, PairInput, PairScores, WordStates
from sciextract.inference.pipeline import Pipeline
from sciextract.inference.results import annotate_raw
from sciextract.inference.tokenization import EncoderInput

if TYPE_CHECKING:
    from sciextract_trainer.network.joint import JointNetwork

BATCH_SIZES = (1, 2, 4, 8, 16)
ENCODER_SHAPE: dict[str, Any] = {
    "vocab_size": 30522,
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "max_position_embeddings": 512,
}


def build(extractor: Extractor, weights: Path | None, threads: int) -> tuple[JointNetwork, str]:
    """The network, and in words where its weights come from."""
    import torch
    from transformers import BertConfig, BertModel

    from sciextract_trainer.config import TrainConfig
    from sciextract_trainer.network.joint import JointNetwork

    torch.manual_seed(1)
    torch.set_num_threads(threads)
    encoder = BertModel(BertConfig(**ENCODER_SHAPE), add_pooling_layer=False)
    settings = TrainConfig(encoder="none")
    labels = extractor.config.labels
    network = JointNetwork(encoder, ENCODER_SHAPE["hidden_size"], labels, settings)
    network.words.bf16 = False
    if weights is None:
        return network.eval(), "random weights of the same shapes"
    return network.eval(), _load(network, weights)


def _load(network: JointNetwork, weights: Path) -> str:
    from safetensors.torch import load_file

    given = load_file(weights)
    prefixes = ("average.", "network.", "")
    prefix = next(p for p in prefixes if any(name.startswith(p) for name in given))
    state = {name.removeprefix(prefix): value for name, value in given.items()}
    own = network.state_dict()
    fitting = {k: v for k, v in state.items() if k in own and v.shape == own[k].shape}
    network.load_state_dict(fitting, strict=False)
    return f"{len(fitting)} of {len(own)} weight tensors from {weights.name}"


class SharedScores:
    """Torch states, and the span scores that the int8 network found for the same window.

    Timing depends on the weights only through the number of mentions, which decides how many pairs are scored.
    With the int8 model's span scores in place of its own, the torch network scores the same pairs.
    """

    def __init__(self, network: Network, known: dict[bytes, Floats]) -> None:
        self._network = network
        self._known = known

    def encode(self, windows: Sequence[EncoderInput]) -> list[WordStates]:
        """States of torch, span scores of int8."""
        return [
            WordStates(states.first, states.last, self._known[window.input_ids.tobytes()])
            for window, states in zip(windows, self._network.encode(windows), strict=True)
        ]

    def score_pairs(self, pairs: PairInput) -> PairScores:
        """Scores of torch."""
        return self._network.score_pairs(pairs)


def int8_span_scores(extractor: Extractor, windows: Sequence[EncoderInput]) -> dict[bytes, Floats]:
    """The span scores of each window, by its subwords."""
    network = extractor.pipeline.network
    return {
        window.input_ids.tobytes(): np.array(network.encode([window])[0].span_logits)
        for window in windows
    }


def torch_network(network: JointNetwork) -> Network:
    """The network behind the core's protocol."""
    from sciextract_trainer.network.joint import TorchNetwork

    return TorchNetwork(network)


class TorchPipelineContender:
    """The whole pipeline with the torch network in it, texts of a chunk sorted by length."""

    def __init__(
        self, extractor: Extractor, network: Network, files: Sequence[Path], batch_size: int
    ) -> None:
        own = extractor.pipeline
        self._pipeline = Pipeline(network, own.tokenizer, own.labels, own.subword_limit)
        self._extractor = extractor
        self._files = files
        self._batching = Batching(batch_size)

    def __call__(self, chunk: int) -> None:
        items = read([str(self._files[chunk])])
        documents = [item.document for item in items if isinstance(item, AnnotatedDocument)]
        documents.sort(key=lambda document: len(document.tokens))
        raw = self._pipeline.predict_batch(documents, self._extractor.settings, self._batching)
        for document, prediction in zip(documents, raw, strict=True):
            encode(self._annotate(document, prediction))

    def _annotate(self, document: Document, prediction: Any) -> AnnotatedDocument:
        settings, model = self._extractor.settings, self._extractor.model
        return annotate_raw(document, prediction, self._pipeline.labels, settings, model)


class TorchNetworkContender:
    """Encoder and entity head alone on ready input, windows of a chunk sorted by length."""

    def __init__(
        self, network: Network, chunks: Sequence[Sequence[EncoderInput]], batch_size: int
    ) -> None:
        self._network = network
        self._chunks = [sorted(chunk, key=lambda w: len(w.input_ids)) for chunk in chunks]
        self._batch_size = batch_size

    def __call__(self, chunk: int) -> None:
        windows = self._chunks[chunk]
        for start in range(0, len(windows), self._batch_size):
            self._network.encode(windows[start : start + self._batch_size])
