"""Which lexical features help coreference: antecedent heads on frozen encoder states, by folds and seeds, as a table.

Usage: ``python -m research.coreference_heads --data scierc/ --folder runs/heads [--model sci] [--sets 'none;all;-acronym']``.

Encoder states, type probabilities and predicted mentions of all train and dev abstracts are computed once and kept in the
folder. Each run trains the antecedent head of the joint network alone, on gold mentions and on gold and predicted mentions,
and scores the abstracts of the fold that it has not seen. The threshold of a set is the one with the best score on the
abstracts of all folds together; the spread is that of seeds. CoNLL F1 between gold and between predicted mentions, of all
abstracts and of those of dev alone, which the encoder has not learned from either.

A set is ``all``, ``none``, ``NAME+NAME`` (these only) or ``-NAME-NAME`` (all others).
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sciextract import Extractor, formats
from sciextract.documents.document import AnnotatedDocument, Document
from sciextract.formats.base import BadRecord
from sciextract.inference import candidates
from sciextract.inference.coreference import antecedent_probabilities, predict_clusters
from sciextract.inference.label_layout import softmax
from sciextract.inference.lexical import FEATURES, MentionWords
from sciextract.metrics.coreference import Overlap, b_cubed, ceaf_e, muc, partition
from sciextract.metrics.counts import NOTHING
from sciextract_trainer.network.joint import PairScorer, SpanProjection
from sciextract_trainer.network.training_step import MAX_ANTECEDENTS, marginal_link_loss

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

SEEDS, FOLDS = (1, 2, 3), 5
MAX_WIDTH = 10
EPOCHS, BATCH, RATE, WIDTH, DROPOUT = 12, 16, 2e-3, 64, 0.3
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
GOLD, PREDICTED, BOTH = "gold", "predicted", "both"


@dataclass(frozen=True)
class Item:
    """The mentions of one abstract, as a head gets them.

    Attributes:
        spans: Mentions in words.
        inputs: States of first and last words, widths, types.
        links: Mention and antecedent.
        distance: Buckets of the links.
        features: All lexical features of the links.
        right: Whether the ends of a link are in one gold cluster.
        clusters: The gold clusters, in words.
    """

    spans: Ints
    inputs: tuple[Tensor, Tensor, Tensor, Tensor]
    links: Tensor
    distance: Tensor
    features: Tensor
    right: Tensor
    clusters: list[frozenset[tuple[int, int]]]


class Head(nn.Module):
    """The antecedent scorer of the joint network with some of the features."""

    def __init__(self, hidden: int, types: int, max_width: int, columns: Sequence[int]) -> None:
        super().__init__()
        self.columns = torch.tensor(list(columns), dtype=torch.int64)
        self.span = SpanProjection(hidden, WIDTH, max_width, types, DROPOUT)
        self.link = PairScorer(WIDTH, candidates.DISTANCE_BUCKETS, 1, DROPOUT)
        self.lexical = nn.Linear(len(columns), WIDTH, bias=False)
        nn.init.zeros_(self.lexical.weight)

    def forward(self, items: Sequence[Item]) -> list[Tensor]:
        """The scores of the links of each abstract."""
        inputs = [torch.cat(parts) for parts in zip(*(item.inputs for item in items), strict=True)]
        offsets = np.cumsum([0] + [len(item.spans) for item in items]).tolist()
        links = torch.cat([item.links + at for item, at in zip(items, offsets, strict=False)])
        features = torch.cat([item.features for item in items])[:, self.columns]
        distance = torch.cat([item.distance for item in items])
        scores = self.link(self.span(*inputs), links, distance, self.lexical(features))[:, 0]
        return list(scores.split([len(item.links) for item in items]))


def main(words: Sequence[str] | None = None) -> int:
    """Trains and scores every set, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train and dev")
    parser.add_argument(
        "--folder", type=Path, required=True, help="where states and scores are kept"
    )
    parser.add_argument("--model", default="sci")
    parser.add_argument("--sets", default="none;all")
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    documents = [_read(options.data, part) for part in ("train", "dev")]
    dev = np.repeat([False, True], [len(part) for part in documents])
    items = prepared(documents[0] + documents[1], options.model, options.folder)
    print(
        "| features | "
        + " | ".join(f"{place}, {kind}" for place in ("all", "dev") for kind in (GOLD, PREDICTED))
        + " | thresholds |"
    )
    print("|---|---|---|---|---|---|")
    for name in options.sets.split(";"):
        _row(name, items, dev)
    return 0


def _row(name: str, items: dict[str, list[Item]], dev: NDArray[np.bool_]) -> None:
    cells = []
    runs = [out_of_fold(items, columns_of(name), seed) for seed in SEEDS]
    best = {}
    for kind in (GOLD, PREDICTED):
        pooled = [
            statistics.mean(conll(items[kind], run[kind], each) for run in runs)
            for each in THRESHOLDS
        ]
        best[kind] = THRESHOLDS[int(np.argmax(pooled))]
    for chosen in (np.ones_like(dev), dev):
        rows = np.flatnonzero(chosen).tolist()
        for kind in (GOLD, PREDICTED):
            values = [
                conll(
                    [items[kind][row] for row in rows], [run[kind][row] for row in rows], best[kind]
                )
                for run in runs
            ]
            cells.append(f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}")
    print(f"| {name} | {' | '.join(cells)} | {best[GOLD]}, {best[PREDICTED]} |", flush=True)


def columns_of(name: str) -> list[int]:
    """The columns of a set of features."""
    names = list(FEATURES)
    if name in ("all", "none"):
        return list(range(len(names))) if name == "all" else []
    named = name[1:].split("-") if name.startswith("-") else name.split("+")
    if unknown := set(named) - set(names):
        raise SystemExit(f"no feature is called {min(unknown)!r}; there are: {', '.join(names)}")
    columns = [names.index(each) for each in named]
    if name.startswith("-"):
        return [column for column in range(len(names)) if column not in columns]
    return columns


def out_of_fold(
    items: dict[str, list[Item]], columns: list[int], seed: int
) -> dict[str, list[Floats]]:
    """Link scores of every abstract by a head that has not learned from it."""
    count = len(items[GOLD])
    fold = np.random.default_rng(0).permutation(count) % FOLDS
    scores: dict[str, list[Any]] = {kind: [None] * count for kind in (GOLD, PREDICTED)}
    for number in range(FOLDS):
        known, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        head = trained([items[BOTH][row] for row in known], columns, seed)
        for kind in (GOLD, PREDICTED):
            with torch.inference_mode():
                for row in held:
                    scores[kind][row] = head([items[kind][row]])[0].numpy()
    return scores


def trained(items: Sequence[Item], columns: Sequence[int], seed: int, epochs: int = EPOCHS) -> Head:
    """A head that has learned from all items."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    first, _, _, types = items[0].inputs
    head = Head(first.shape[1], types.shape[1], MAX_WIDTH, columns)
    optimiser = torch.optim.AdamW(head.parameters(), RATE, weight_decay=0.0)
    useful = [item for item in items if len(item.links)]
    steps = epochs * -(-len(useful) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, step / (0.1 * steps)) * (1 - step / steps)
    )
    for _ in range(epochs):
        order = random.permutation(len(useful))
        for start in range(0, len(order), BATCH):
            batch = [useful[row] for row in order[start : start + BATCH]]
            losses = [
                marginal_link_loss(scores, item.links, item.right, len(item.spans))
                for scores, item in zip(head(batch), batch, strict=True)
            ]
            optimiser.zero_grad(set_to_none=True)
            (torch.stack(losses).sum() / len(batch)).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(head.parameters(), 5.0)
            optimiser.step()
            schedule.step()
    return head.eval()


def conll(items: Sequence[Item], scores: Sequence[Floats], threshold: float) -> float:
    """Mean F1 of MUC, B3 and CEAFe over abstracts, 0 to 100."""
    totals = dict.fromkeys((muc, b_cubed, ceaf_e), NOTHING)
    for item, each in zip(items, scores, strict=True):
        count = len(item.spans)
        found = predict_clusters(
            antecedent_probabilities(item.links.numpy(), each, count, 1.0), count, threshold
        )
        places = [tuple(span) for span in item.spans.tolist()]
        clusters = [frozenset(places[mention] for mention in cluster.mentions) for cluster in found]
        overlap = Overlap.of(partition(item.clusters), partition(clusters))
        totals = {metric: total.plus(metric(overlap)) for metric, total in totals.items()}
    return statistics.mean(total.f1 for total in totals.values())


def prepared(
    documents: Sequence[AnnotatedDocument], model: str, folder: Path
) -> dict[str, list[Item]]:
    """Gold, predicted, and gold and predicted mentions of each abstract; states are computed only once."""
    states = _states(documents, model, folder)
    items: dict[str, list[Item]] = {GOLD: [], PREDICTED: [], BOTH: []}
    for row, item in enumerate(documents):
        tokens = item.document.tokens
        place = {
            entity.id: (words.token_start, words.token_end - 1)
            for entity in item.annotations.entities
            if (words := tokens.aligned(entity.span))
        }
        clusters = [
            frozenset(place[each] for each in cluster.mentions if each in place)
            for cluster in item.annotations.clusters
        ]
        gold = sorted(set(place.values()))
        predicted = [(int(a), int(b)) for a, b in states["spans"][row]]
        own = {name: values[row] for name, values in states.items()}
        both = sorted({*gold, *predicted})
        for kind, spans in ((GOLD, gold), (PREDICTED, predicted), (BOTH, both)):
            items[kind].append(example(item.document, spans, clusters, own))
    return items


def _read(folder: Path, part: str) -> list[AnnotatedDocument]:
    found = formats.read([folder / f"{part}.jsonl"])
    return [item for item in found if not isinstance(item, BadRecord)]


def example(
    document: Document,
    mentions: Sequence[tuple[int, int]],
    clusters: list[frozenset[tuple[int, int]]],
    states: Mapping[str, Any],
) -> Item:
    """Mentions of an abstract, first and last word, in text order, with what a head gets of them.

    Args:
        document: The abstract.
        mentions: First and last word of each, in text order.
        clusters: Gold clusters of mentions.
        states: ``first`` and ``last`` (words, hidden), ``logits`` (words, max width, 1 + labels) of the encoder.
    """
    spans = np.array(mentions, dtype=np.int64).reshape(-1, 2)
    width = np.minimum(spans[:, 1] - spans[:, 0], MAX_WIDTH - 1)
    types = softmax(states["logits"][spans[:, 0], width].astype(np.float32))
    links = candidates.antecedent_pairs(len(spans), MAX_ANTECEDENTS)
    tokens = document.tokens
    ends = candidates.sentence_ends(tokens.sentences, len(tokens))
    words = MentionWords.of(tokens.slices(document.text), spans, ends)
    home = {mention: number for number, cluster in enumerate(clusters) for mention in cluster}
    cluster = np.array([home.get(span, -1 - row) for row, span in enumerate(mentions)])
    first = states["first"][spans[:, 0]].astype(np.float32)
    last = states["last"][spans[:, 1]].astype(np.float32)
    return Item(
        spans,
        (
            torch.from_numpy(first),
            torch.from_numpy(last),
            torch.from_numpy(width),
            torch.from_numpy(types),
        ),
        torch.from_numpy(links),
        torch.from_numpy(candidates.antecedent_distances(spans, links)),
        torch.from_numpy(words.features(links)),
        torch.from_numpy(cluster[links[:, 0]] == cluster[links[:, 1]]),
        clusters,
    )


def _states(documents: Sequence[AnnotatedDocument], model: str, folder: Path) -> dict[str, Any]:
    """States, span logits and predicted mentions of each abstract, computed once."""
    path = folder / f"states-{Path(model).name}.npz"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        extractor = Extractor.load(model)
        found: dict[str, list[Any]] = {"first": [], "last": [], "logits": [], "spans": []}
        pipeline, settings = extractor._pipeline, extractor.settings
        for item in documents:
            [plan] = pipeline._plan(0, item.document)
            [states] = pipeline.network.encode([plan.frame])
            raw = pipeline.predict(item.document, settings)
            found["first"].append(states.first.astype(np.float16))
            found["last"].append(states.last.astype(np.float16))
            found["logits"].append(states.span_logits.astype(np.float16))
            found["spans"].append(raw.mentions.spans[raw.mentions.predicted])
        joined = {name: np.concatenate(parts) for name, parts in found.items()}
        counts = {
            f"{name}_count": np.array([len(part) for part in parts])
            for name, parts in found.items()
        }
        np.savez(path, **joined, **counts)  # type: ignore[arg-type]
    with np.load(path) as file:
        return {
            name: np.split(file[name], np.cumsum(file[f"{name}_count"])[:-1])
            for name in ("first", "last", "logits", "spans")
        }


if __name__ == "__main__":
    sys.exit(main())
