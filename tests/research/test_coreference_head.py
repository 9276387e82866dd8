"""``python -m research coreference``: a head of its own, and nothing else of the model changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import torch

from research.__main__ import main
from research.coreference import (
    LinkHead,
    Mentioned,
    Sizes,
    conll,
    link_scores,
    mentioned,
    trained,
)
from sciextract.documents.annotations import Annotations
from sciextract.inference.lexical import FEATURES
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH, open_folder
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract_trainer.config import TrainConfig
from sciextract_trainer.export import random_pairs
from sciextract_trainer.network.joint import TorchNetwork
from sciextract_trainer.warm_start import open_start_model
from tests.trainer.corpus import TEN_SENTENCES, gold
from tests.trainer.records import scierc_line

NAMES = ("parser", "corpus", "lexicon", "grammar", "tagger")
HIDDEN, TYPES = 8, 3


def abstract(seed: int) -> Mentioned:
    """Two of five mentions have the same word, and are coreferent; states are random."""
    random = np.random.default_rng(seed)
    a, b, c, d = random.permutation(NAMES)[:4]
    words = f"[{a}|Task|p] and [{b}|Task] or [{c}|Task] . The [{a}|Task|q] beats [{d}|Task]"
    item = gold(str(seed), words, clusters=[("p", "q")])
    tokens = item.document.tokens
    place = {
        entity.id: (found.token_start, found.token_end - 1)
        for entity in item.annotations.entities
        if (found := tokens.aligned(entity.span))
    }
    spans = np.array(sorted(place.values()), dtype=np.int64)
    states = random.standard_normal((2, len(spans), HIDDEN), dtype=np.float32)
    types = random.random((len(spans), TYPES), dtype=np.float32)
    width = spans[:, 1] - spans[:, 0]
    clusters = [frozenset([place["p"], place["q"]])]
    return mentioned(item, spans, clusters, (states[0], states[1], width, types))


def test_a_head_learns_from_words_what_random_states_do_not_tell() -> None:
    known, unseen = (
        [abstract(seed) for seed in range(40)],
        [abstract(seed) for seed in range(90, 110)],
    )
    scores = {}
    for columns in (list(range(len(FEATURES))), []):
        torch.manual_seed(1)
        head = trained(known, LinkHead(HIDDEN, TYPES, 10, 64, columns), 1, epochs=60)
        scores[len(columns)] = conll(unseen, [link_scores(head, each) for each in unseen], 0.4)
    assert scores[len(FEATURES)] > 90 and scores[0] < 75


def test_several_heads_become_one_with_the_mean_of_their_scores() -> None:
    sizes, found = Sizes(HIDDEN, TYPES, 10, 17), abstract(3)
    torch.manual_seed(1)
    heads = [sizes.head(5) for _ in range(3)]
    for head in heads:
        torch.nn.init.normal_(head.lexical.weight)
    mean = np.mean([link_scores(head.eval(), found) for head in heads], axis=0)
    assert np.allclose(link_scores(sizes.joined(heads), found), mean, atol=1e-5)


def test_the_command_changes_coreference_alone(
    model_folder: Path,
    make_config: Callable[..., TrainConfig],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, output = tmp_path / "gold.jsonl", tmp_path / "new"
    file.write_text("".join(map(scierc_line, TEN_SENTENCES)), encoding="utf-8")
    words = ["coreference", str(model_folder), "--data", str(file), "--dev", str(file)]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--output", str(output)])
    assert ended.value.code == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["event"] for each in events[1:7]] == ["fold"] * 5 + ["folds"]

    old, new = open_folder(model_folder), open_folder(output)
    for graph in ("fp32", "int8"):
        assert new.graph(graph).read_bytes() == old.graph(graph).read_bytes()
        assert new.config.scores[graph]["relation"] == old.config.scores[graph]["relation"]
    kept = ("entity", "relation")
    for name in ("thresholds", "temperatures", "shifts"):
        before, after = getattr(old.config.settings, name), getattr(new.config.settings, name)
        assert all(getattr(before, task) == getattr(after, task) for task in kept)
    labels = old.config.labels
    networks = [
        OnnxNetwork(each.path / GRAPHS["fp32"], each.path / PAIRS_GRAPH) for each in (old, new)
    ]
    # what is trained on starts with the very head that is served
    start = open_start_model(new)
    torch_network = TorchNetwork(start.network(make_config()))
    for pairs in random_pairs(32, 1 + len(labels.entities), labels.max_span_width):
        before, after = (network.score_pairs(pairs) for network in networks)
        assert np.array_equal(before.relation_logits, after.relation_logits)
        assert not len(pairs.link_pairs) or not np.allclose(before.link_scores, after.link_scores)
        trained_on = torch_network.score_pairs(pairs).link_scores
        assert np.allclose(trained_on, after.link_scores, atol=2e-2)  # weights in half precision


def test_gold_without_clusters_is_refused(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gold.jsonl"
    plain = [
        replace(item, annotations=Annotations(item.annotations.entities, (), ()))
        for item in TEN_SENTENCES
    ]
    file.write_text("".join(map(scierc_line, plain)), encoding="utf-8")
    words = ["coreference", str(model_folder), "--data", str(file), "--dev", str(file)]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--output", str(tmp_path / "new")])
    assert ended.value.code != 0 and "no clusters" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
