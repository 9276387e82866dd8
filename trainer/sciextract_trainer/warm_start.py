"""Training on from a model: its folder as a torch network, and heads for new labels that learn before the encoder does.

Fine-tuning from heads that know nothing distorts what the encoder knows; heads that fit its states first keep it
(linear probing, then fine-tuning: Kumar et al. 2022, arXiv 2202.10054, section 4). An epoch of such heads takes about
a tenth of the time, for the encoder is not run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from torch import Tensor, nn

from sciextract.errors import ModelDamagedError, ModelMismatchError
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH, TOKENIZER, ModelFolder
from sciextract.inference.pipeline import Labels
from sciextract.inference.tokenization import read_tokenizer
from sciextract_trainer.build import SubwordRules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.encoders.loading import empty_encoder, reinitialise
from sciextract_trainer.export import Array, bias_length, read_weights
from sciextract_trainer.loop import TrainingData, train
from sciextract_trainer.network.joint import JointNetwork

ENTITY_ROWS = ("spans.out.4.weight", "spans.out.4.bias")
ENTITY_COLUMNS = ("pairs.relation_span.types.weight", "pairs.link_span.types.weight")
LEXICAL = "pairs.lexical.weight"
RELATION_ROWS = ("pairs.relation.out.2.weight", "pairs.relation.out.2.bias")


def carry_weights(
    stored: Mapping[str, Array], fresh: Mapping[str, Array], old: Labels, new: Labels
) -> dict[str, Array]:
    """All weights of a network for the labels ``new``.

    Args:
        stored: Weights of a network for the labels ``old``.
        fresh: Weights of a network for ``new`` before any training.
        old: Labels that were trained.
        new: Labels that are wanted.
    """
    weights = {**fresh, **{name: value for name, value in stored.items() if name in fresh}}
    # Pairs of an old and a new class; class 0 is "none" for both.
    entities = [(0, 0)]
    for label in new.entities:
        if label in old.entities:
            entities.append((1 + old.entities.index(label), 1 + new.entities.index(label)))
    relations = [(0, 0)]
    for label in new.relations.labels:
        if label in old.relations.labels:
            before, after = old.relations.forward_class(label), new.relations.forward_class(label)
            relations.append((before, after))
            if new.relations.mirror()[after] != after:
                # A label that became directed learns its inverse from the forward one.
                mirrored = int(old.relations.mirror()[before]), int(new.relations.mirror()[after])
                relations.append(mirrored)
    for names, pairs in ((ENTITY_ROWS, entities), (RELATION_ROWS, relations)):
        for name in names:
            weights[name] = fresh[name].copy()
            for before, after in pairs:
                weights[name][after] = stored[name][before]
    for name in ENTITY_COLUMNS:
        weights[name] = np.zeros_like(fresh[name])  # a new type's probability changes no pair yet
        for before, after in entities:
            weights[name][:, after] = stored[name][:, before]
    return weights


def kept_groups(old: Labels, new: Labels) -> tuple[tuple[str, ...], ...]:
    """The groups of ``old`` for the labels of ``new``; new labels are a group of their own.

    >>> from sciextract.inference.decoding import RelationLayout
    >>> none = RelationLayout((), frozenset())
    >>> old = Labels(("A", "B", "C"), none, False, 5, (("A",), ("B", "C")))
    >>> kept_groups(old, Labels(("C", "A", "D"), none, False, 5))
    (('A',), ('C',), ('D',))
    """
    if not old.groups:
        return ()
    added = tuple(label for label in new.entities if label not in old.entities)
    groups = [tuple(label for label in group if label in new.entities) for group in old.groups]
    return tuple(group for group in (*groups, added) if group)


ENCODER, WEIGHTS = "encoder.json", "model.safetensors"
"""Architecture of the encoder (a Hugging Face configuration), and weights in half precision."""

_NO_ARCHITECTURE = frozenset(
    {
        "_name_or_path", "architectures", "dtype", "id2label", "label2id", "output_attentions",
        "output_hidden_states", "problem_type", "return_dict", "transformers_version", "use_cache",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StartModel:
    """A model to train on.

    Attributes:
        folder: Where it comes from.
        rules: Its tokenizer.
        labels: Classes of the network that is trained; the folder's own ones unless others are wanted.
        precision: What the weights were read from: ``fp16``, ``fp32`` or ``int8``.
        widths: Width of the span representation and of the hidden layer of the entity head.
    """

    folder: ModelFolder
    rules: SubwordRules
    labels: Labels
    precision: str
    widths: tuple[int, int]

    @property
    def new_labels(self) -> tuple[str, ...]:
        """Entity and relation labels that the folder's weights do not know."""
        old, new = self.folder.config.labels, self.labels
        return (
            *(label for label in new.types if label not in old.entities),
            *(label for label in new.relations.labels if label not in old.relations.labels),
        )

    def with_labels(self, labels: Labels) -> StartModel:
        """The same weights for other labels; classes that both have are kept, and so are their groups."""
        return replace(self, labels=replace(labels, groups=kept_groups(self.labels, labels)))

    def fit(self, config: TrainConfig) -> TrainConfig:
        """The recipe with the sizes that the weights have."""
        span_width, hidden_width = self.widths
        return replace(
            config,
            encoder=str(self.folder.path),
            max_span_width=self.labels.max_span_width,
            span_width=span_width,
            hidden_width=hidden_width,
        )

    def network(self, config: TrainConfig) -> JointNetwork:
        """The network with the folder's weights.

        Raises:
            ModelDamagedError: The weights are not whole.
        """
        config, path, known = self.fit(config), self.folder.path, self.folder.config.labels
        network = _empty_network(path, known, config)
        stored = _stored_weights(network, self.folder, self.precision)
        if self.labels != known:
            network = _empty_network(path, self.labels, config)
            fresh = {name: value.detach().numpy() for name, value in network.named_parameters()}
            stored = carry_weights(stored, fresh, known, self.labels)
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                parameter.copy_(torch.from_numpy(stored[name]))
        reinitialise(network.words.encoder, config)
        if config.freeze_embeddings:
            embeddings: Any = network.words.encoder.get_input_embeddings()  # type: ignore[operator]
            embeddings.requires_grad_(False)
        return network


def open_start_model(folder: ModelFolder) -> StartModel:
    """What a verified model folder holds for training.

    Raises:
        ModelMismatchError: It lacks the encoder's architecture.
        ModelDamagedError: A file of it cannot be read.
    """
    if not (folder.path / ENCODER).is_file():
        raise ModelMismatchError(
            f"{folder.path} cannot be trained further: it has no {ENCODER}",
            "export the model again, or start from the bundled model",
        )
    rules, labels = subword_rules(folder.path, folder.config), folder.config.labels
    biases = ("spans.first.bias", "spans.out.1.bias")  # as long as the layers are wide
    if (folder.path / WEIGHTS).is_file():
        halves = _load_halves(folder.path)
        first, hidden = (len(halves[name]) for name in biases)
        return StartModel(folder, rules, labels, "fp16", (first, hidden))
    precision = "fp32" if (folder.path / GRAPHS["fp32"]).is_file() else "int8"
    first, hidden = (bias_length(folder.path / GRAPHS[precision], name) for name in biases)
    return StartModel(folder, rules, labels, precision, (first, hidden))


def save_weights(network: nn.Module, folder: Path) -> None:
    """Writes architecture and weights of a network next to its graphs, weights in half precision."""
    # Half precision halves the file and moves a weight by at most 2**-11 of its size.
    halves = {
        name: parameter.detach().cpu().numpy().astype(np.float16)
        for name, parameter in network.named_parameters()
    }
    save_file(halves, folder / WEIGHTS)


def save_architecture(network: JointNetwork, folder: Path) -> None:
    """Writes the encoder's configuration, without what says nothing of the architecture."""
    values = network.words.encoder.config.to_dict()  # type: ignore[union-attr, operator]
    values = {key: value for key, value in values.items() if key not in _NO_ARCHITECTURE}
    text = json.dumps(values, indent=2, sort_keys=True, default=str) + "\n"
    (folder / ENCODER).write_text(text, encoding="utf-8")


def subword_rules(folder: Path, config: ModelConfig) -> SubwordRules:
    """The tokenizer of a model folder and its special ids."""
    tokenizer = read_tokenizer(folder / TOKENIZER)
    special = {
        token.content: number for number, token in tokenizer.get_added_tokens_decoder().items()
    }
    # No configuration names the mask subword; in every family its text says mask.
    mask = [number for text, number in special.items() if "mask" in text.lower()]
    return SubwordRules(
        tokenizer=tokenizer,
        prefix=config.prefix,
        suffix=config.suffix,
        unknown=config.unknown,
        mask=mask[0] if mask else config.unknown,
        pad=int(_read_architecture(folder).get("pad_token_id") or 0),
        limit=config.subword_limit,
    )


def _empty_network(folder: Path, labels: Labels, config: TrainConfig) -> JointNetwork:
    # Heads of labels that the model did not have begin with the seed of the recipe.
    torch.manual_seed(config.seed)
    try:
        encoder: Any = empty_encoder(_read_architecture(folder), config.attention_dropout)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelDamagedError(
            f"{folder / ENCODER}: no encoder can be made of it: {error}",
            "get the model again, or update transformers",
        ) from error
    return JointNetwork(encoder, int(encoder.config.hidden_size), labels, config)


def _read_architecture(folder: Path) -> dict[str, Any]:
    path = folder / ENCODER
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        values["model_type"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelDamagedError(
            f"{path} cannot be read: {error!r}", "get the model again"
        ) from error
    return values


def _stored_weights(network: JointNetwork, model: ModelFolder, precision: str) -> dict[str, Array]:
    """The folder's weights, of the shapes that the network has."""
    folder = model.path
    shapes = {name: tuple(value.shape) for name, value in network.named_parameters()}
    unknown: dict[str, Array] = {}
    if model.config.feature_version < 2:  # zeros leave its scores as they are
        unknown[LEXICAL] = np.zeros(shapes.pop(LEXICAL), dtype=np.float32)
    if precision == "fp16":
        stored = _load_halves(folder)
    else:
        prefix = "pairs."  # the heads of pairs have a graph, and with it names, of their own
        heads = {n.removeprefix(prefix): s for n, s in shapes.items() if n.startswith(prefix)}
        encoder = {n: s for n, s in shapes.items() if not n.startswith(prefix)}
        stored = dict(read_weights(folder / GRAPHS[precision], encoder))
        pairs = read_weights(folder / PAIRS_GRAPH, heads)
        stored |= {prefix + name: values for name, values in pairs.items()}
    wrong = [name for name in shapes if name not in stored or stored[name].shape != shapes[name]]
    if wrong:
        raise ModelDamagedError(
            f"{folder}: {len(wrong)} weights do not fit {ENCODER}, the first is {wrong[0]}",
            "get the model again",
        )
    return {name: stored[name].astype(np.float32) for name in shapes} | unknown


def _load_halves(folder: Path) -> dict[str, Any]:
    try:
        return dict(load_file(folder / WEIGHTS))
    except (OSError, ValueError, SafetensorError) as error:
        raise ModelDamagedError(
            f"{folder / WEIGHTS} cannot be read: {error}", "get the model again"
        ) from error


class RememberedStates(nn.Module):
    """An encoder that does not learn and runs once per window; in half precision, 0.3 MB for 400 subwords.

    Args:
        encoder: A Hugging Face encoder.
    """

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self._known: dict[bytes, Tensor] = {}

    def train(self, mode: bool = True) -> RememberedStates:
        """The encoder never drops anything, whatever the mode."""
        return super().train(False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor]:
        """States (windows, subwords, hidden), zero where a window is padded."""
        counts = attention_mask.sum(dim=1).tolist()
        keys = [
            ids[:count].cpu().numpy().tobytes()
            for ids, count in zip(input_ids, counts, strict=True)
        ]
        if new := [row for row, key in enumerate(keys) if key not in self._known]:
            with torch.no_grad():
                states = self.encoder(input_ids=input_ids[new], attention_mask=attention_mask[new])[
                    0
                ]
            for row, state in zip(new, states, strict=True):
                # In bfloat16, as the encoder runs where it is fast, states are rougher than halves are.
                self._known[keys[row]] = state[: counts[row]].half()
        hidden = self._known[keys[0]].shape[1]
        found = torch.zeros(*input_ids.shape, hidden, device=input_ids.device)
        for row, key in enumerate(keys):
            found[row, : counts[row]] = self._known[key]
        return (found,)


def probe(
    network: JointNetwork,
    start: StartModel,
    config: TrainConfig,
    data: TrainingData,
    folder: Path,
    device: torch.device,
) -> None:
    """Trains the heads of a network that is trained on from another one, where that one lacks labels.

    Heads of layers whose labels the start model knows are at their best already and stay as they are.

    Args:
        network: The network with the weights of the start model; changed in place.
        start: The start model, with the labels that are wanted.
        config: The recipe.
        data: What is learned from; neither rehearsal nor dev documents are.
        folder: Keeps checkpoints, so that an interrupted run goes on.
        device: Where to train.
    """
    known: Labels = start.folder.config.labels
    relations = start.labels.relations.labels
    learned: dict[str, Any] = {
        "relation_weight": float(not set(relations) <= set(known.relations.labels)),
        "coreference_weight": float(start.labels.coreference and not known.coreference),
        "select_by": "mean",
    }
    heads = replace(
        config, epochs=config.probe_epochs, word_dropout=0.0, pull=0.0, layer_decay=1.0, patience=0,
        **learned,
    )  # fmt: skip
    rules: SubwordRules = start.rules
    encoder: nn.Module = network.words.encoder
    learning = [parameter for parameter in encoder.parameters() if parameter.requires_grad]
    for parameter in learning:
        parameter.requires_grad_(False)
    # In place of the encoder: dropout of states and the heads stay what they are in the training that follows.
    network.words.encoder = RememberedStates(encoder)
    try:
        alone = TrainingData(data.examples, [])
        train(heads, start.labels, rules, alone, folder, lambda event: None, network, device)
    finally:
        network.words.encoder = encoder
        for parameter in learning:
            parameter.requires_grad_(True)
