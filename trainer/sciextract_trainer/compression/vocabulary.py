"""A vocabulary cut to the pieces that texts use; a word whose piece is gone falls to smaller ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from sciextract.documents.document import Document
from sciextract.errors import UsageError
from sciextract_trainer.build import PieceRules

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

    def rules(self, old: PieceRules) -> PieceRules:
        """The piece rules with new ids."""
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


def used_pieces(rules: PieceRules, documents: Iterable[Document], at_least: int = 1) -> set[int]:
    """The pieces that words of texts are split into, as training and inference split them.

    Args:
        rules: The tokenizer.
        documents: The texts.
        at_least: Occurrences from which on a piece counts as used.
    """
    encoder, counts = rules.encoder(), Counter[int]()
    for document in documents:
        counts.update(encoder.split(document.tokens.slices(document.text)).ids.tolist())
    return {piece for piece, count in counts.items() if count >= at_least}


def cut_vocabulary(rules: PieceRules, used: Collection[int]) -> CutVocabulary:
    """The tokenizer with the used pieces, special pieces and single characters.

    WordPiece takes the longest piece that fits. The pieces of a text that uses kept ones only are the same
    therefore: those that it took are there, and a longer one did not fit before either.

    Raises:
        UsageError: It is no WordPiece tokenizer: what others make of a removed piece is not settled.
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
        number for piece, number in vocabulary.items() if len(piece.removeprefix(_CONTINUES)) == 1
    }
    kept = tuple(sorted({*used, *special, *framing, *single} & {*vocabulary.values(), *special}))
    return CutVocabulary(Tokenizer.from_str(json.dumps(_renumbered(values, kept))), kept)


def cut_embeddings(encoder: Any, kept: Collection[int], pad: int) -> None:
    """Keeps some rows of an encoder's piece embeddings.

    Args:
        encoder: A Hugging Face encoder; changed.
        kept: Old id of each new one.
        pad: New id of the padding piece.
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
            piece: new[number]
            for piece, number in sorted(vocabulary.items(), key=lambda each: each[1])
            if number in new
        }
    }
    added = [token | {"id": new[token["id"]]} for token in values["added_tokens"]]
    frame = _with_new_ids(values["post_processor"], new)
    unpadded: dict[str, Any] = {"padding": None, "truncation": None}
    return values | unpadded | {"model": model, "added_tokens": added, "post_processor": frame}


def _with_new_ids(frame: Any, new: dict[int, int]) -> Any:
    """The description of what stands around a text, with new ids of special pieces."""
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
