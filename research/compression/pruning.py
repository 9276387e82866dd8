"""``python -m research prune``: models and encoders with fewer subwords or fewer heads, measured."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from research.compression.opened import MeasuredModel, new_folder, require_new
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.errors import UsageError
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import GRAPHS
from sciextract.inference.pipeline import Labels
from sciextract.retraining.events import Report
from sciextract_trainer.build import SubwordRules, load_subword_rules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import Example, collate, examples_from
from sciextract_trainer.encoders.layers import attentions, head_count, head_size, remove_heads
from sciextract_trainer.encoders.loading import load_encoder, load_pretrained
from sciextract_trainer.files import explained
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.network.training_step import batch_losses
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start import StartModel, open_start_model

Importance = list[list[float]]
"""Of each head of each layer, from 0 up; the squares of a layer sum to 1."""


def head_importance(
    network: JointNetwork,
    examples: Sequence[Example],
    config: TrainConfig,
    labels: Labels,
    pad: int,
) -> Importance:
    """Mean absolute derivative of the loss with respect to a gate of 1 on each head.

    Equation 2 of the paper, one document a time; each layer is then divided by its length, as in its section 4.1.

    Args:
        network: A trained network; it is put into eval mode.
        examples: Gold documents.
        config: Weights of the losses.
        labels: What the classes mean.
        pad: Id of the padding subword.
    """
    network.eval()
    with _gates(network) as gates:
        sums = [torch.zeros_like(gate) for gate in gates]
        for example in examples:
            losses = batch_losses(network, collate([example], pad), config, labels.relations)
            gradients = torch.autograd.grad(losses.total(config), gates)
            for total, gradient in zip(sums, gradients, strict=True):
                total += gradient.abs()
    return [(each / each.norm().clamp(min=1e-12)).tolist() for each in sums]


@contextmanager
def _gates(network: JointNetwork) -> Iterator[list[Tensor]]:
    """A factor of 1 on the output of every head, for the length of a block."""
    blocks = attentions(network.words.encoder)
    gates = [torch.ones(head_count(block), requires_grad=True) for block in blocks]
    hooks = [
        block.output.dense.register_forward_pre_hook(_gated(gate, head_size(block)))
        for block, gate in zip(blocks, gates, strict=True)
    ]
    try:
        yield gates
    finally:
        for hook in hooks:
            hook.remove()


def _gated(gate: Tensor, size: int) -> Any:
    def apply(_: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (inputs[0] * gate.repeat_interleave(size), *inputs[1:])

    return apply


def least_important(importance: Importance, share: float) -> dict[int, list[int]]:
    """The heads to remove, layer to heads: the least important ones of all layers together; one stays in each.

    Raises:
        UsageError: The share is not between 0 and 1.

    >>> least_important([[0.1, 0.9], [0.2, 0.3]], 0.5)
    {0: [0], 1: [0]}
    """
    if not 0 < share < 1:
        raise UsageError(f"--share {share} is not possible", "it lies between 0 and 1")
    ranked = sorted(
        (value, layer, head)
        for layer, heads in enumerate(importance)
        for head, value in enumerate(heads)
    )
    removed: dict[int, list[int]] = {}
    wanted = round(share * len(ranked))
    for _, layer, head in ranked:
        gone = removed.get(layer, [])
        if wanted and len(gone) + 1 < len(importance[layer]):
            removed[layer] = sorted([*gone, head])
            wanted -= 1
    return dict(sorted(removed.items()))


_CONTINUES = "##"
_PAD = 0
"""The core pads with it, whatever it is."""


@dataclass(frozen=True, slots=True)
class CutVocabulary:
    """A smaller vocabulary.

    Attributes:
        tokenizer: The tokenizer with new ids.
        kept: Old id of each new one, ascending.
    """

    tokenizer: Tokenizer
    kept: tuple[int, ...]

    def rules(self, old: SubwordRules) -> SubwordRules:
        """The subword rules with new ids."""
        new = {number: row for row, number in enumerate(self.kept)}
        return replace(
            old,
            tokenizer=self.tokenizer,
            prefix=tuple(new[each] for each in old.prefix),
            suffix=tuple(new[each] for each in old.suffix),
            unknown=new[old.unknown],
            mask=new[old.mask],
            pad=new[old.pad],
        )


def used_subwords(
    rules: SubwordRules, documents: Iterable[Document], at_least: int = 1
) -> set[int]:
    """The subwords that words of texts are split into, as training and inference split them.

    Args:
        rules: The tokenizer.
        documents: The texts.
        at_least: Occurrences from which on a subword counts as used.
    """
    encoder, counts = rules.encoder(), Counter[int]()
    for document in documents:
        counts.update(encoder.split(document.tokens.slices(document.text)).ids.tolist())
    return {subword for subword, count in counts.items() if count >= at_least}


def cut_vocabulary(rules: SubwordRules, used: Collection[int]) -> CutVocabulary:
    """The tokenizer with the used subwords, special subwords and single characters.

    WordPiece takes the longest subword that fits. The subwords of a text that uses kept ones only are the same
    therefore: those that it took are there, and a longer one did not fit before either.

    Raises:
        UsageError: It is not a WordPiece tokenizer: what others make of a removed subword is not settled.
    """
    values: dict[str, Any] = json.loads(rules.tokenizer.to_str())
    kind = values["model"].get("type")
    if kind != "WordPiece":
        raise UsageError(
            f"the vocabulary of a {kind} tokenizer cannot be pruned",
            "WordPiece can: BERT and what is made of it",
        )
    vocabulary: dict[str, int] = values["model"]["vocab"]
    special = {token["id"] for token in values["added_tokens"]}
    framing = {_PAD, rules.pad, rules.mask, rules.unknown, *rules.prefix, *rules.suffix}
    single = {
        number
        for subword, number in vocabulary.items()
        if len(subword.removeprefix(_CONTINUES)) == 1
    }
    kept = tuple(sorted({*used, *special, *framing, *single} & {*vocabulary.values(), *special}))
    return CutVocabulary(Tokenizer.from_str(json.dumps(_renumbered(values, kept))), kept)


def cut_embeddings(encoder: Any, kept: Collection[int], pad: int) -> None:
    """Keeps some rows of an encoder's subword embeddings.

    Args:
        encoder: A Hugging Face encoder; changed.
        kept: Old id of each new one.
        pad: New id of the padding subword.
    """
    old = encoder.get_input_embeddings()
    rows = old.weight.detach()[torch.tensor(list(kept))].clone()
    new = nn.Embedding(
        len(rows), rows.shape[1], padding_idx=None if old.padding_idx is None else pad
    )
    new.weight = nn.Parameter(rows, requires_grad=old.weight.requires_grad)
    encoder.set_input_embeddings(new)
    encoder.config.vocab_size = len(rows)
    encoder.config.pad_token_id = pad


def _renumbered(values: dict[str, Any], kept: tuple[int, ...]) -> dict[str, Any]:
    new = {number: row for row, number in enumerate(kept)}
    vocabulary = values["model"]["vocab"]
    model = values["model"] | {
        "vocab": {
            subword: new[number]
            for subword, number in sorted(vocabulary.items(), key=lambda each: each[1])
            if number in new
        }
    }
    added = [token | {"id": new[token["id"]]} for token in values["added_tokens"]]
    frame = _with_new_ids(values["post_processor"], new)
    unpadded: dict[str, Any] = {"padding": None, "truncation": None}
    return values | unpadded | {"model": model, "added_tokens": added, "post_processor": frame}


def _with_new_ids(frame: Any, new: dict[int, int]) -> Any:
    """The description of what stands around a text, with new ids of special subwords."""
    if frame is None:
        return None
    if frame["type"] == "Sequence":
        return frame | {"processors": [_with_new_ids(each, new) for each in frame["processors"]]}
    if frame["type"] == "TemplateProcessing":
        special = {
            name: token | {"ids": [new[number] for number in token["ids"]]}
            for name, token in frame["special_tokens"].items()
        }
        return frame | {"special_tokens": special}
    pairs = {key: [frame[key][0], new[frame[key][1]]] for key in ("sep", "cls") if key in frame}
    return frame | pairs


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is written where.

    Attributes:
        output: The new folder.
        weights: Whether a model keeps weights for training on.
        report: Gets what was removed, sizes, and scores before and after.
    """

    output: Path
    weights: bool
    report: Report


def prune_vocabulary(
    model: MeasuredModel, texts: Sequence[Document], at_least: int, wanted: Pruning
) -> ModelConfig:
    """Writes a model whose subwords are those that texts use.

    Args:
        model: The model.
        texts: The texts; on them it predicts what it did, but for the rounding of int8.
        at_least: Occurrences from which on a subword counts as used.
        wanted: Where to.

    Raises:
        UsageError: Its tokenizer is not a WordPiece one.
        OutputError: There is something at the output already, or the disk is full.
    """
    require_new(wanted.output)
    start, network = _opened(model)
    cut = cut_vocabulary(start.rules, used_subwords(start.rules, texts, at_least))
    rules = cut.rules(start.rules)
    cut_embeddings(network.words.encoder, cut.kept, rules.pad)
    description = f"{len(cut.kept)} of {start.rules.tokenizer.get_vocab_size()} subwords, those of {len(texts)} texts"
    return _written(model, network, rules, {"vocabulary": description}, wanted)


def prune_heads(
    model: MeasuredModel, gold: Sequence[AnnotatedDocument], share: float, wanted: Pruning
) -> ModelConfig:
    """Writes a model without its least important attention heads.

    Args:
        model: The model.
        gold: Documents that importance is measured on; better not those of dev.
        share: Share of all heads to remove, 0 to 1.
        wanted: Where to.

    Raises:
        UsageError: The family of its encoder cannot be pruned, or the share is not possible.
        OutputError: There is something at the output already, or the disk is full.
    """
    require_new(wanted.output)
    start, network = _opened(model)
    config = start.fit(TrainConfig(encoder="", given_entities=model.folder.config.given_entities))
    examples = list(examples_from(gold, start.labels, start.rules.encoder(), start.rules.limit))
    importance = head_importance(network, examples, config, start.labels, start.rules.pad)
    removed = least_important(importance, share)
    remove_heads(network.words.encoder, removed)
    wanted.report({"event": "heads", "importance": importance, "removed": removed})
    count, every = sum(map(len, removed.values())), sum(map(len, importance))
    return _written(
        model, network, start.rules, {"attention heads": f"{every - count} of {every}"}, wanted
    )


def prune_encoder(
    source: str, texts: Sequence[Document], at_least: int, output: Path, report: Report
) -> None:
    """Writes an encoder folder whose subwords are those that texts use, to train models on; without a language head.

    Args:
        source: Folder or hub id.
        texts: The texts.
        at_least: Occurrences from which on a subword counts as used.
        output: The new folder.
        report: Gets how many subwords are left.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    rules, encoder = load_subword_rules(source), load_encoder(source)
    cut = cut_vocabulary(rules, used_subwords(rules, texts, at_least))
    cut_embeddings(encoder, cut.kept, cut.rules(rules).pad)
    old = load_pretrained(AutoTokenizer, source, use_fast=True)
    named = {
        name: str(token) for name, token in old.special_tokens_map.items() if isinstance(token, str)
    }
    with new_folder(output) as work:
        PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
            tokenizer_object=cut.tokenizer, model_max_length=old.model_max_length, **named
        ).save_pretrained(work)
        encoder.config.save_pretrained(work)  # type: ignore[union-attr, operator]
        weights = {name: each.contiguous() for name, each in encoder.state_dict().items()}
        save_file(weights, work / "model.safetensors", metadata={"format": "pt"})
    report({"event": "pruned", "subwords": len(cut.kept), "of": rules.tokenizer.get_vocab_size()})


def _opened(model: MeasuredModel) -> tuple[StartModel, JointNetwork]:
    start = open_start_model(model.folder)
    return start, start.network(TrainConfig(encoder=""))


def _written(
    model: MeasuredModel,
    network: JointNetwork,
    rules: SubwordRules,
    change: dict[str, str],
    wanted: Pruning,
) -> ModelConfig:
    old = model.folder.config
    packaging = Packaging(
        old.name, model.schema, old.labels, rules, model.dev,
        old.origin | change | {"dev data": model.dev_origin},
        weights=wanted.weights, given_entities=old.given_entities,
    )  # fmt: skip
    with explained(wanted.output):
        config = write_model_folder(network, packaging, wanted.output)
    sizes = [_megabytes(folder) for folder in (model.folder.path, wanted.output)]
    wanted.report(
        {
            "event": "pruned", **change, "encoder_mb_before": sizes[0], "encoder_mb": sizes[1],
            "before": {key: each for key, each in old.scores.items() if key in GRAPHS},
            "after": {key: each for key, each in config.scores.items() if key in GRAPHS},
        }
    )  # fmt: skip
    return config


def _megabytes(folder: Path) -> dict[str, float]:
    files = {name: folder / file for name, file in GRAPHS.items()}
    return {
        name: round(file.stat().st_size / 1e6, 1) for name, file in files.items() if file.is_file()
    }
