"""``sciextract-trainer prune``: models and encoders with fewer pieces or fewer heads, measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import save_file

from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.folder import GRAPHS
from sciextract.inference.model_config import ModelConfig
from sciextract.workflows.events import Report
from sciextract_trainer.build import PieceRules, load_piece_rules
from sciextract_trainer.compression.heads import head_importance, least_important
from sciextract_trainer.compression.opened import MeasuredModel
from sciextract_trainer.compression.rewriting import new_folder, require_new
from sciextract_trainer.compression.vocabulary import cut_embeddings, cut_vocabulary, used_pieces
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import examples_from
from sciextract_trainer.encoders.files import load_pretrained
from sciextract_trainer.encoders.heads import remove_heads
from sciextract_trainer.full_disk import explained
from sciextract_trainer.network.encoder import load_encoder
from sciextract_trainer.network.joint import JointNetwork
from sciextract_trainer.package import Packaging, write_model_folder
from sciextract_trainer.warm_start.start_model import StartModel, open_start_model


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is written where.

    Attributes:
        output: The new folder.
        weights: Whether a model keeps weights for training on.
        report: Told what was removed, sizes, and scores before and after.
    """

    output: Path
    weights: bool
    report: Report


def prune_vocabulary(
    model: MeasuredModel, texts: Sequence[Document], at_least: int, wanted: Pruning
) -> ModelConfig:
    """Writes a model whose pieces are those that texts use.

    Args:
        model: The model.
        texts: The texts; on them it predicts what it did, but for the rounding of int8.
        at_least: Occurrences from which on a piece counts as used.
        wanted: Where to.

    Raises:
        UsageError: Its tokenizer is no WordPiece one.
        OutputError: There is something at the output already, or the disk is full.
    """
    require_new(wanted.output)
    start, network = _opened(model)
    cut = cut_vocabulary(start.rules, used_pieces(start.rules, texts, at_least))
    rules = cut.rules(start.rules)
    cut_embeddings(network.words.encoder, cut.kept, rules.pad)
    told = f"{len(cut.kept)} of {start.rules.tokenizer.get_vocab_size()} pieces, those of {len(texts)} texts"
    return _written(model, network, rules, {"vocabulary": told}, wanted)


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
    """Writes an encoder folder whose pieces are those that texts use, to train models on; without a language head.

    Args:
        source: Folder or hub id.
        texts: The texts.
        at_least: Occurrences from which on a piece counts as used.
        output: The new folder.
        report: Told how many pieces are left.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    rules, encoder = load_piece_rules(source), load_encoder(source)
    cut = cut_vocabulary(rules, used_pieces(rules, texts, at_least))
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
    report({"event": "pruned", "pieces": len(cut.kept), "of": rules.tokenizer.get_vocab_size()})


def _opened(model: MeasuredModel) -> tuple[StartModel, JointNetwork]:
    start = open_start_model(model.folder)
    return start, start.network(TrainConfig(encoder=""))


def _written(
    model: MeasuredModel,
    network: JointNetwork,
    rules: PieceRules,
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
