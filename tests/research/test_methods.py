"""Published methods: what a perturbation, an injected triple, a character and a flipped label change, and what they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import cast

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from transformers import BertConfig, BertModel
from typer.testing import CliRunner

from research.__main__ import app
from research.methods import sift
from research.methods.noise import flip, row_losses, trusted
from research.methods.triples import Injected
from research.simulations.active_learning import ranked
from sciextract import Extractor
from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    LabelScore,
    Span,
    SpanCandidate,
)
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.inference.adapter.states import EncodedDocument, EncoderStates
from sciextract.inference.pipeline import Labels
from sciextract_trainer.build import SubwordRules, build_network, load_subword_rules
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.data.examples import collate, examples_from
from sciextract_trainer.encoders.loading import load_encoder
from sciextract_trainer.network.training_step import Losses, batch_losses
from tests.trainer.corpus import TEN_SENTENCES


def test_every_embedding_is_moved_as_far_and_no_move_loses_nothing(
    make_config: Callable[..., TrainConfig], labels: Labels, rules: SubwordRules,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    gradient = torch.randn(2, 3, 16) * torch.tensor([1e-6, 1.0, 1e6])[None, :, None]
    lengths = sift.unit_move(gradient).norm(dim=-1)
    torch.testing.assert_close(lengths, torch.full((2, 3), 4 * sift.SIZE))
    config = make_config(network="sift", dropout=0.3)
    network = build_network(config, labels).train()
    examples = list(examples_from(TEN_SENTENCES[:3], labels, rules.encoder(), rules.limit))
    batch = collate(examples, rules.pad)

    def entity_loss(losses: Callable[[], Losses]) -> float:
        torch.manual_seed(1)
        return losses().entity.item()

    plain = entity_loss(lambda: batch_losses(network, batch, config, labels.relations))
    moved = entity_loss(lambda: sift.sift_losses(network, batch, config, labels))
    monkeypatch.setattr(sift, "SIZE", 0.0)
    still = entity_loss(lambda: sift.sift_losses(network, batch, config, labels))
    assert still == pytest.approx(plain) and moved > plain + 1e-4


def test_a_branch_is_seen_by_its_name_alone() -> None:
    torch.manual_seed(0)
    settings = BertConfig(
        vocab_size=40, num_hidden_layers=1, max_position_embeddings=16,
        hidden_size=16, num_attention_heads=2, intermediate_size=16,
    )  # fmt: skip
    encoder = BertModel(settings)
    encoder.train(False)
    branches: dict[tuple[int, ...], list[tuple[int, ...]]] = {
        (5, 6): [(20, 21), (22,)],
        (5,): [(23,)],
    }
    injected = Injected(encoder, branches, frozenset({9}), visible=False)
    ids, places, sees = injected.injected([2, 5, 6, 7, 5, 9, 3])
    # The longer name wins; before the subword 9 no name ends.
    assert ids == [2, 5, 6, 7, 5, 9, 3, 20, 21, 22] and places == [*range(7), 3, 4, 3]
    assert sees[7].tolist() == [False, True, True] + [False] * 4 + [True, True, False]
    rows = torch.tensor([[2, 5, 6, 7, 3, 0], [2, 7, 7, 7, 7, 3]])
    mask = (rows > 0).long()
    with torch.no_grad():
        plain = encoder(input_ids=rows, attention_mask=mask).last_hidden_state
        [found] = injected(rows, mask)
        [seen] = Injected(encoder, branches, frozenset(), visible=True)(rows, mask)
    same = (found - plain).abs().amax(dim=-1) < 1e-5
    assert same[0].tolist()[:5] == [True, False, False, True, True] and same[1].all()
    assert not torch.allclose(seen[0, 3], plain[0, 3], atol=1e-5)


def test_a_word_is_its_characters_and_nothing_of_its_neighbours(tmp_path: Path) -> None:
    folder = str(tmp_path / "characters")
    assert CliRunner().invoke(app, ["characters", folder, "--lstm-layers", "0"]).exit_code == 0
    encoder, rules = load_encoder(folder).eval(), load_subword_rules(folder)
    texts = [["kite", "α-moss", "x"], ["of", "α-moss"]]
    split = [rules.encoder().split(text) for text in texts]
    ids = torch.zeros(2, max(len(part.ids) for part in split), dtype=torch.int64)
    for row, part in zip(ids, split, strict=True):
        row[: len(part.ids)] = torch.from_numpy(part.ids)
    with torch.no_grad():
        states = encoder(input_ids=ids, attention_mask=(ids > 0).long()).last_hidden_state
    first, second = (states[row, split[row].starts[1]] for row in (0, 1))
    torch.testing.assert_close(first, second)
    torch.testing.assert_close(first, states[0, split[0].starts[2] - 1])
    assert not torch.allclose(first, states[0, 0]) and not states[1, len(split[1].ids) :].any()


def test_no_noise_is_the_gold_and_noise_leaves_out_what_is_unlikely() -> None:
    document = TEN_SENTENCES[0]
    labels = ["Task", "Method", "Material"]
    assert flip(document, 0.0, labels, Random(1)) == document
    flipped = flip(document, 1.0, labels, Random(1)).annotations.entities
    pairs = zip(flipped, document.annotations.entities, strict=True)
    assert all(one.label != other.label and one.span == other.span for one, other in pairs)
    targets = torch.eye(3)[[1, 2, 0, 1, 2]]
    losses = torch.tensor([0.1, 5.0, 9.0, 0.2, 3.0])
    assert trusted(losses, targets, 0.5).tolist() == [1, 0, 1, 1, 0]
    assert trusted(losses, targets, 0.0).tolist() == [1] * 5
    logits = torch.randn(5, 3)
    expected = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    torch.testing.assert_close(row_losses(logits, targets, 0.0), expected)


def test_the_next_abstract_is_the_one_in_doubt_or_the_farthest() -> None:
    rest = [TEN_SENTENCES[row] for row in (1, 2, 3)]
    doubts = dict(zip((item.document.doc_key for item in rest), (0.9, 0.5, 0.99), strict=True))

    class Doubtful:
        def annotate(self, document: Document) -> AnnotatedDocument:
            label = LabelScore("Task", doubts[document.doc_key])
            spans = (SpanCandidate(Span(0, 3), (label,)),)
            return AnnotatedDocument(document, Annotations(candidates=Candidates(spans=spans)))

    class Known:
        def of(self, document: Document) -> EncodedDocument:
            place = np.float16(document.doc_key == rest[1].document.doc_key)
            states = np.full((4, 8), place, np.float16)
            return EncodedDocument(document, states, states, np.zeros((4, 1, 1), np.float32))

    def first(order: str) -> AnnotatedDocument:
        model, states = cast(Extractor, Doubtful()), cast(EncoderStates, Known())
        return ranked(order, model, [TEN_SENTENCES[0]], rest, states)[0]

    assert first("random") is rest[0]
    assert first("margin") is rest[1] and first("diversity") is rest[1]
