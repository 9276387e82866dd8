"""``python -m research coreference``: another coreference head for a finished model, learned from gold.

Encoder, entities and relations stay as they are. The head learns from the states and the predicted mentions of the very graph
that serves users, int8 as a rule, on gold and predicted mentions together. Five narrow heads, each of which learns from four
fifths of the abstracts, become one head of the usual width whose score is their mean. Its threshold is the best one when each
abstract is scored by the head that has not learned from it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from research.compression.opened import MeasuredModel, new_folder, write_like
from sciextract.documents.document import AnnotatedDocument
from sciextract.errors import ModelMismatchError, TrainingDataError
from sciextract.inference import candidates
from sciextract.inference.decoding import (
    antecedent_probabilities,
    predict_clusters,
    type_probabilities,
)
from sciextract.inference.lexical import FEATURES, MentionWords
from sciextract.inference.model_config import ModelConfig
from sciextract.inference.model_folder import GRAPHS, PAIRS_GRAPH, ModelFolder
from sciextract.inference.network import Floats, Ints
from sciextract.inference.onnx_network import OnnxNetwork
from sciextract.inference.pipeline import Labels, Pipeline
from sciextract.inference.settings import DecodeSettings, calibrated_score
from sciextract.metrics.coreference import Overlap, b_cubed, ceaf_e, muc, partition
from sciextract.metrics.counts import NOTHING
from sciextract.retraining.events import Report
from sciextract_trainer.calibration.scaling import calibrate_task, items_of
from sciextract_trainer.export import export_pairs
from sciextract_trainer.graph_weights import bias_length, read_weights
from sciextract_trainer.network.joint import (
    PairHead,
    PairScorer,
    RememberingNetwork,
    SpanProjection,
)
from sciextract_trainer.network.training_step import MAX_ANTECEDENTS, marginal_link_loss
from sciextract_trainer.warm_start import WEIGHTS

FOLDS = 5
EPOCHS, BATCH, RATE, DROPOUT, CLIP = 12, 16, 2e-3, 0.3, 5.0
THRESHOLDS = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)

LINK_PARTS = {"link_span": "span", "link": "link", "lexical": "lexical"}
"""Parts of the pair head that score links, and what they are called in a :class:`LinkHead`."""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The mentions of an abstract, or of several, as a head gets them.

    Attributes:
        spans: int64 (mentions, 2), first and last word, inclusive.
        inputs: States of first and last words (mentions, hidden), widths (mentions,), types (mentions, 1 + labels).
        links: int64 (links, 2), mention and antecedent.
        distance: int64 (links,), buckets.
        features: float32 (links, lexical features).
        right: bool (links,), whether both ends are in one gold cluster.
        clusters: The gold clusters, as first and last words.
    """

    spans: Ints
    inputs: tuple[Tensor, Tensor, Tensor, Tensor]
    links: Tensor
    distance: Tensor
    features: Tensor
    right: Tensor
    clusters: Sequence[frozenset[tuple[int, int]]] = ()

    @classmethod
    def together(cls, parts: Sequence[Mentioned]) -> Mentioned:
        """The mentions of several abstracts, one after the other."""
        starts = np.cumsum([0] + [len(part.spans) for part in parts]).tolist()
        first, last, width, types = (
            torch.cat(each) for each in zip(*(part.inputs for part in parts), strict=True)
        )
        return cls(
            np.concatenate([part.spans for part in parts]),
            (first, last, width, types),
            torch.cat([part.links + at for part, at in zip(parts, starts, strict=False)]),
            torch.cat([part.distance for part in parts]),
            torch.cat([part.features for part in parts]),
            torch.cat([part.right for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class Abstract:
    """One abstract for training and scoring.

    Attributes:
        gold: Its gold mentions.
        predicted: Those that the model predicts.
        both: Those and these.
    """

    gold: Mentioned
    predicted: Mentioned
    both: Mentioned


def abstracts_of(
    pipeline: Pipeline, settings: DecodeSettings, documents: Sequence[AnnotatedDocument]
) -> list[Abstract]:
    """Gold and predicted mentions of documents with what the model computes of them."""
    return [_abstract(pipeline, settings, item) for item in documents if len(item.document.tokens)]


def _abstract(pipeline: Pipeline, settings: DecodeSettings, item: AnnotatedDocument) -> Abstract:
    once = replace(pipeline, network=RememberingNetwork(pipeline.network))
    mentions = once.predict(item.document, settings).mentions
    predicted = [(int(a), int(b)) for a, b in mentions.spans[mentions.predicted]]
    tokens, annotations = item.document.tokens, item.annotations
    place = {
        entity.id: (words.token_start, words.token_end - 1)
        for entity in annotations.entities
        if (words := tokens.aligned(entity.span))
    }
    clusters = [
        frozenset(place[each] for each in cluster.mentions if each in place)
        for cluster in annotations.clusters
    ]
    [states] = once.word_states([item.document])

    def of(spans: set[tuple[int, int]]) -> Mentioned:
        rows = np.array(sorted(spans), dtype=np.int64).reshape(-1, 2)
        width = np.minimum(rows[:, 1] - rows[:, 0], pipeline.labels.max_span_width - 1)
        logits = states.span_logits[rows[:, 0], width]
        types = type_probabilities(logits, pipeline.labels.group_columns)
        inputs = (states.first[rows[:, 0]], states.last[rows[:, 1]], width, types)
        return mentioned(item, rows, clusters, inputs)

    gold = set(place.values())
    return Abstract(of(gold), of(set(predicted)), of(gold | set(predicted)))


def mentioned(
    item: AnnotatedDocument,
    spans: Ints,
    clusters: Sequence[frozenset[tuple[int, int]]],
    inputs: tuple[Floats, Floats, Ints, Floats],
) -> Mentioned:
    """Mentions in text order with their links; arguments as the attributes of :class:`Mentioned`."""
    tokens = item.document.tokens
    links = candidates.antecedent_pairs(len(spans), MAX_ANTECEDENTS)
    ends = candidates.sentence_ends(tokens.sentences, len(tokens))
    words = MentionWords.of(tokens.slices(item.document.text), spans, ends)
    home = {mention: number for number, cluster in enumerate(clusters) for mention in cluster}
    cluster = np.array([home.get((a, b), -1 - n) for n, (a, b) in enumerate(spans.tolist())])
    first, last, width, types = map(torch.from_numpy, inputs)
    return Mentioned(
        spans,
        (first, last, width, types),
        torch.from_numpy(links),
        torch.from_numpy(candidates.antecedent_distances(spans, links)),
        torch.from_numpy(words.features(links)),
        torch.from_numpy(cluster[links[:, 0]] == cluster[links[:, 1]]),
        clusters,
    )


class LinkHead(nn.Module):
    """The antecedent scorer of the joint network, alone.

    Args:
        hidden: Size of the encoder's states.
        types: Entity labels and "none".
        max_width: Most words of a predicted entity.
        width: Width of the layers.
        columns: The lexical features that it sees; all of them when ``None``.
    """

    def __init__(
        self, hidden: int, types: int, max_width: int, width: int, columns: Sequence[int] | None = None
    ) -> None:  # fmt: skip
        super().__init__()
        self.columns = slice(None) if columns is None else torch.tensor(columns, dtype=torch.int64)
        count = len(FEATURES) if columns is None else len(columns)
        self.span = SpanProjection(hidden, width, max_width, types, DROPOUT)
        self.link = PairScorer(width, candidates.DISTANCE_BUCKETS, 1, DROPOUT)
        self.lexical = nn.Linear(count, width, bias=False)
        nn.init.zeros_(self.lexical.weight)

    def forward(self, found: Mentioned) -> Tensor:
        """The scores of the links. Shape: (links,)."""
        lexical = self.lexical(found.features[:, self.columns])
        scores: Tensor = self.link(self.span(*found.inputs), found.links, found.distance, lexical)
        return scores[:, 0]


def trained(
    found: Sequence[Mentioned], head: LinkHead, seed: int, epochs: int = EPOCHS
) -> LinkHead:
    """The head after it has learned from all abstracts; rates rise over a tenth of the steps, then fall."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    useful = [each for each in found if len(each.links)]
    optimiser = torch.optim.AdamW(head.parameters(), RATE, weight_decay=0.0)
    steps = max(1, epochs * -(-len(useful) // BATCH))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, step / (0.1 * steps)) * (1 - step / steps)
    )
    head.train()
    for _ in range(epochs):
        order = random.permutation(len(useful))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = Mentioned.together([useful[row] for row in rows])
            loss = marginal_link_loss(head(batch), batch.links, batch.right, len(batch.spans))
            optimiser.zero_grad(set_to_none=True)
            (loss / len(rows)).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(head.parameters(), CLIP)
            optimiser.step()
            schedule.step()
    return head.eval()


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of a model's coreference head.

    Attributes:
        hidden: Size of the encoder's states.
        types: Entity labels and "none".
        max_width: Most words of a predicted entity.
        width: Width of the layers.
    """

    hidden: int
    types: int
    max_width: int
    width: int

    def head(self, width: int) -> LinkHead:
        """A fresh head of another width."""
        return LinkHead(self.hidden, self.types, self.max_width, width)

    def joined(self, heads: Sequence[LinkHead]) -> LinkHead:
        """One head whose score is the mean of those of ``heads``: their layers side by side, zeros elsewhere."""
        wide, at = self.head(self.width), 0
        with torch.no_grad():
            for target in wide.parameters():
                target.zero_()
            for head in heads:
                width = head.lexical.out_features
                for (name, value), target in zip(
                    head.named_parameters(), wide.parameters(), strict=True
                ):
                    place = [
                        slice(None) if own == other else slice(at, at + width)
                        for own, other in zip(value.shape, target.shape, strict=True)
                    ]
                    share = len(heads) if name.startswith("link.out.") else 1
                    target[tuple(place)] += value / share
                at += width
        return wide.eval()


@dataclass(frozen=True, slots=True)
class Folds:
    """Heads that each learned from all abstracts but those of its fold.

    Attributes:
        heads: One head a fold.
        scores: Link scores between the predicted mentions of each abstract, by the head that has not learned from it.
        parts: Rows of the abstracts of each fold.
    """

    heads: list[LinkHead]
    scores: list[Floats]
    parts: list[list[int]]


def cross_trained(abstracts: Sequence[Abstract], sizes: Sizes, report: Report) -> Folds:
    """Heads of folds, which together are as wide as the model's.

    Raises:
        TrainingDataError: There are fewer abstracts than folds.
    """
    if len(abstracts) < FOLDS:
        raise TrainingDataError(
            f"{len(abstracts)} abstracts are too few for {FOLDS} folds", "give more gold"
        )
    fold = np.random.default_rng(0).permutation(len(abstracts)) % FOLDS
    found = Folds([], [np.zeros(0, np.float32)] * len(abstracts), [])
    for number in range(FOLDS):
        torch.manual_seed(number + 1)
        fresh = sizes.head(max(1, sizes.width // FOLDS))
        known = [abstracts[row].both for row in np.flatnonzero(fold != number).tolist()]
        found.heads.append(trained(known, fresh, number + 1))
        found.parts.append(np.flatnonzero(fold == number).tolist())
        for row in found.parts[-1]:
            found.scores[row] = link_scores(found.heads[-1], abstracts[row].predicted)
        report({"event": "fold", "number": number + 1, "of": FOLDS})
    return found


@dataclass(frozen=True, slots=True)
class FoldScores:
    """What heads reach on abstracts that they have not learned from, predicted mentions, CoNLL F1, 0 to 100.

    Attributes:
        abstracts: How many there were.
        threshold: The threshold that is best for all of them together.
        pooled: F1 of all of them together there.
        parts: F1 of the abstracts of each fold there.
    """

    abstracts: int
    threshold: float
    pooled: float
    parts: tuple[float, ...]

    @classmethod
    def of(cls, abstracts: Sequence[Abstract], folds: Folds) -> FoldScores:
        """The scores at the threshold that is best for all abstracts together."""

        def f1(rows: Sequence[int], threshold: float) -> float:
            mentions = [abstracts[row].predicted for row in rows]
            return conll(mentions, [folds.scores[row] for row in rows], threshold)

        every = range(len(abstracts))
        best, threshold = max((f1(every, threshold), threshold) for threshold in THRESHOLDS)
        parts = tuple(f1(rows, threshold) for rows in folds.parts)
        return cls(len(abstracts), threshold, best, parts)

    def stated(self) -> dict[str, Any]:
        """As a model's configuration states them; the spread is that of the folds."""
        return {
            "folds": len(self.parts),
            "documents": self.abstracts,
            "coreference": round(self.pooled, 2),
            "spread": round(statistics.stdev(self.parts), 2),
        }


@torch.inference_mode()
def link_scores(head: LinkHead, found: Mentioned) -> Floats:
    """The scores of the links between mentions. Shape: (links,)."""
    return np.asarray(head(found).numpy(), dtype=np.float32)


def conll(found: Sequence[Mentioned], scores: Sequence[Floats], threshold: float) -> float:
    """Mean F1 of MUC, B3 and CEAFe over abstracts, 0 to 100."""
    totals = dict.fromkeys((muc, b_cubed, ceaf_e), NOTHING)
    for each, own in zip(found, scores, strict=True):
        count = len(each.spans)
        linked = antecedent_probabilities(each.links.numpy(), own, count, 1.0)
        places = [(a, b) for a, b in each.spans.tolist()]
        clusters = [
            frozenset(places[mention] for mention in cluster.mentions)
            for cluster in predict_clusters(linked, count, threshold)
        ]
        overlap = Overlap.of(partition(each.clusters), partition(clusters))
        totals = {metric: total.plus(metric(overlap)) for metric, total in totals.items()}
    return statistics.fmean(total.f1 for total in totals.values())


def train_coreference(
    model: MeasuredModel,
    gold: Sequence[AnnotatedDocument],
    gold_origin: str,
    output: Path,
    report: Report,
) -> ModelConfig:
    """Writes the model with another coreference head, its threshold and the scale of its scores.

    Args:
        model: The model; its dev documents give scores and scale, not the threshold.
        gold: What the head learns from.
        gold_origin: What the model card says of it.
        output: The new model folder.
        report: Gets an event a fold, and the scores.

    Raises:
        ModelMismatchError: The model does not link mentions.
        TrainingDataError: The gold has no clusters, or too few abstracts.
        OutputError: There is something at ``output`` already, or the disk is full.
    """
    folder, old = model.folder, model.folder.config
    if not old.labels.coreference:
        raise ModelMismatchError(
            f"{folder.path} does not link mentions, so it has no coreference head",
            "give a model whose label schema has coreference = true",
        )
    if not any(item.annotations.clusters for item in gold):
        raise TrainingDataError("the gold has no clusters", "give gold with coreference")
    with new_folder(output) as work:
        plain = old.settings.plain
        abstracts = abstracts_of(model.plain_pipeline(), plain, gold)
        report({"event": "data", "examples": len(abstracts), "dev": len(model.dev)})
        states, _, _, types = abstracts[0].gold.inputs
        pairs = folder.path / PAIRS_GRAPH
        width = bias_length(pairs, "link_span.first.bias")
        sizes = Sizes(states.shape[1], types.shape[1], old.labels.max_span_width, width)
        trained_folds = cross_trained(abstracts, sizes, report)
        folds = FoldScores.of(abstracts, trained_folds)
        report({"event": "folds", **folds.stated(), "threshold": folds.threshold})
        head = sizes.joined(trained_folds.heads)
        _write_heads(folder, old.labels, sizes, head, work)
        settings, scores = _measured(model, work / PAIRS_GRAPH, folds, report)
        origin = old.origin | {
            "coreference head": f"learned from {gold_origin}; {len(gold)} abstracts"
        }
        config = replace(
            old, settings=settings, scores=scores, origin=origin,
            feature_version=candidates.FEATURE_VERSION,
        )  # fmt: skip
        write_like(folder, work, config, without=())
    return config


def with_link_head(tensors: dict[str, Any], head: LinkHead, prefix: str = "") -> dict[str, Any]:
    """The tensors of pair heads, or of a whole network, with another coreference head.

    Args:
        tensors: Tensors by name; their types are kept.
        head: The head.
        prefix: What the names of the pair heads' tensors begin with.
    """
    own = head.state_dict()
    named = {
        f"{prefix}{theirs}.{name.removeprefix(mine + '.')}": value
        for theirs, mine in LINK_PARTS.items()
        for name, value in own.items()
        if name.startswith(mine + ".")
    }
    some = next(iter(tensors.values())).dtype
    return tensors | {name: value.to(some).contiguous() for name, value in named.items()}


def _write_heads(
    folder: ModelFolder, labels: Labels, sizes: Sizes, head: LinkHead, work: Path
) -> None:
    """The pair graph, and the weights where the folder has some, with another coreference head."""
    pairs = PairHead(
        sizes.hidden, sizes.width, sizes.max_width, sizes.types, labels.relations.class_count, 0.0
    )
    parts = tuple(LINK_PARTS)
    shapes = {
        name: tuple(value.shape)
        for name, value in pairs.named_parameters()
        if not name.startswith(parts)
    }
    kept = {
        name: torch.from_numpy(value)
        for name, value in read_weights(folder.path / PAIRS_GRAPH, shapes).items()
    }
    pairs.load_state_dict(with_link_head(kept, head))
    export_pairs(pairs.eval(), work / PAIRS_GRAPH, sizes.hidden, sizes.types)
    if (folder.path / WEIGHTS).is_file():
        stored = load_file(folder.path / WEIGHTS)
        save_file(with_link_head(stored, head, "pairs."), work / WEIGHTS)


def _measured(
    model: MeasuredModel, pairs: Path, folds: FoldScores, report: Report
) -> tuple[DecodeSettings, dict[str, Any]]:
    """The settings with threshold and scale of coreference, and the scores; all others stay as they are."""
    old = model.folder.config
    graphs = {name: model.folder.path / file for name, file in GRAPHS.items()}
    pipelines = {
        name: replace(model.plain_pipeline(), network=RememberingNetwork(OnnxNetwork(path, pairs)))
        for name, path in graphs.items()
        if path.is_file()
    }
    task, served = "coreference", next(iter(pipelines.values()))
    plain = old.settings.plain.with_thresholds({task: folds.threshold})
    scale = calibrate_task(items_of(task, served, model.dev, plain))
    temperature, shift = (scale.temperature, scale.shift) if scale else (1.0, 0.0)
    threshold = calibrated_score(folds.threshold, temperature, shift)
    settings = replace(
        old.settings.with_thresholds({task: threshold}),
        temperatures=replace(old.settings.temperatures, coreference=temperature),
        shifts=replace(old.settings.shifts, coreference=shift),
    )
    scores = dict(old.scores)
    for name in GRAPHS.keys() & scores.keys():  # of a graph that is not here nothing can be said
        scores[name] = scores[name] | {task: None}
    for name, pipeline in pipelines.items():
        scores[name] = model.scores(pipeline, settings)
        report({"event": "scores", "graph": name, "scores": scores[name]})
    measured = {task: scale.to_json()} if scale else {}
    return settings, scores | {
        "calibration": scores.get("calibration", {}) | measured,
        "folds": folds.stated(),
    }
