"""Training on a frozen encoder whose states are computed once: what makes a simulation of many trainings affordable."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema_file import load_schema
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.results import annotate
from sciextract_trainer.build import SubwordRules, labels_of, load_subword_rules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Example, examples_from
from sciextract_trainer.encoders.loading import load_encoder
from sciextract_trainer.evaluate import DEV_SETTINGS
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork, TorchNetwork

LAYERS = (-1, -3)
"""Layers whose states are joined, the last one being -1: a frozen encoder tells more in two than in one."""


class KnownStates(nn.Module):
    """Stands in for an encoder: looks the states of a window up by its subword ids."""

    def __init__(self, states: dict[bytes, Tensor]) -> None:
        super().__init__()
        self._states = states

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor]:
        """States (windows, subwords, hidden), zero where there is padding."""
        lengths = attention_mask.sum(dim=1).tolist()
        rows = [
            self._states[window[:length].numpy().tobytes()]
            for window, length in zip(input_ids, lengths, strict=True)
        ]
        return (nn.utils.rnn.pad_sequence(rows, batch_first=True),)


@dataclass(frozen=True)
class Frozen:
    """Everything that one training needs besides its documents.

    Attributes:
        config: The recipe of the heads.
        labels: What the classes mean.
        rules: The encoder's tokenizer.
        examples: The example of every document, by its key.
        states: The encoder's states, by subword ids.
        hidden: Their width.
    """

    config: TrainConfig
    labels: Labels
    rules: SubwordRules
    examples: dict[str, list[Example]]
    states: dict[bytes, Tensor]
    hidden: int

    def trained(self, keys: Sequence[str], seed: int, folder: Path, *, keep: bool) -> Pipeline:
        """A network whose heads have learned from some documents; taken from ``folder`` if it is there.

        Args:
            keys: Keys of the documents; their order does not matter.
            seed: Of the fresh heads, the order of the documents and dropout.
            folder: Where finished trainings lie.
            keep: Whether this one is wanted again.
        """
        config = replace(self.config, seed=seed)
        torch.manual_seed(seed)
        network = JointNetwork(KnownStates(self.states), self.hidden, self.labels, config)
        examples = [example for key in sorted(keys) for example in self.examples[key]]
        place = folder / _digest(keys, seed)
        data = TrainingData(examples, [])
        train(config, self.labels, self.rules, data, place, lambda event: None, network)
        if not keep:
            shutil.rmtree(place)
        return Pipeline(TorchNetwork(network), self.rules.encoder(), self.labels, self.rules.limit)

    def vector(self, key: str) -> Any:
        """The mean over the states of a document's subwords. Shape: (hidden,)."""
        rows = [self.states[example.frame.input_ids.tobytes()] for example in self.examples[key]]
        return torch.cat(rows).mean(dim=0).numpy()


def freeze(documents: Sequence[AnnotatedDocument], config: TrainConfig, folder: Path) -> Frozen:
    """Examples and encoder states of all documents; the encoder runs only where ``folder`` has no states."""
    rules = load_subword_rules(config.encoder)
    labels = labels_of(load_schema("scierc"), config.max_span_width)
    examples: dict[str, list[Example]] = {}
    for example in examples_from(documents, labels, rules.encoder(), rules.limit):
        examples.setdefault(example.doc_key, []).append(example)
    windows = [example.frame.input_ids for found in examples.values() for example in found]
    table = _states(windows, config.encoder, folder)
    states = {
        ids.tobytes(): torch.from_numpy(np.array(row))
        for ids, row in zip(windows, table, strict=True)
    }
    return Frozen(config, labels, rules, examples, states, table[0].shape[1])


def predicted(
    pipeline: Pipeline, documents: Sequence[AnnotatedDocument]
) -> list[AnnotatedDocument]:
    """What a network says about documents, with everything it considered, as a project would hold it."""
    settings = replace(DEV_SETTINGS, candidates=True)
    return [annotate(pipeline, annotated.document, settings) for annotated in documents]


def _states(windows: list[Any], encoder: str, folder: Path) -> list[Any]:
    path = folder / "states.npy"
    lengths = [len(window) for window in windows]
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, _encoded(windows, encoder))
    whole = np.load(path, mmap_mode="r")
    if len(whole) != sum(lengths):
        raise SystemExit(
            f"{path}: states of other documents or another encoder; use another --folder"
        )
    return np.split(whole, np.cumsum(lengths)[:-1])


@torch.inference_mode()
def _encoded(windows: list[Any], encoder: str) -> Any:
    network = load_encoder(encoder).eval()
    rows = []
    for window in windows:
        ids = torch.from_numpy(window)[None]
        found = network(
            input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
        )
        rows.append(torch.cat([found.hidden_states[layer][0] for layer in LAYERS], dim=-1).numpy())
    return np.concatenate(rows)


def _digest(keys: Sequence[str], seed: int) -> str:
    return hashlib.sha256(json.dumps([sorted(keys), seed]).encode()).hexdigest()[:16]
