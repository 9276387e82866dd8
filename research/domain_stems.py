"""Learns the stems by which ``--model auto`` tells biomedicine from computer science.

``python -m research.domain_stems --data DATA --output stems.json``; half of the abstracts are held out, and the
share of those that is recognised is printed.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from sciextract.inference.domain.auto import LEAST_SCORE, score_of, stems_of
from sciextract_trainer.data.unlabelled import unlabelled_texts

BIOMEDICAL, COMPUTING = ("pubmed", "pubmed-lower"), "cs"
MOST_STEMS = 1500
LEAST_TEXTS = 30
NUMBER = "<dig>"
"""What one source has instead of numbers."""

Texts = list[frozenset[str]]


def learned(
    positive: Sequence[frozenset[str]], negative: Sequence[frozenset[str]]
) -> dict[str, float]:
    """The stems that tell most, with the log-odds that a text of the first kind has them (add-one smoothed).

    Args:
        positive: Stems of the texts of one kind.
        negative: Stems of the texts of the other.
    """
    with_it, without = _counts(positive), _counts(negative)
    common = {s for s in with_it.keys() | without.keys() if with_it[s] + without[s] >= LEAST_TEXTS}
    odds = {
        stem: math.log((with_it[stem] + 1) / (len(positive) + 2))
        - math.log((without[stem] + 1) / (len(negative) + 2))
        for stem in common
    }
    telling = {
        stem: abs(odds[stem]) * (with_it[stem] / len(positive) + without[stem] / len(negative))
        for stem in common
    }
    best = sorted(common, key=lambda stem: (-telling[stem], stem))[:MOST_STEMS]
    return {stem: round(odds[stem], 2) for stem in sorted(best)}


def accuracy(texts: Iterable[frozenset[str]], known: dict[str, float], *, positive: bool) -> float:
    """Share (0 to 1) of the texts that are taken for what they are."""
    right = [(score_of(stems, known) > LEAST_SCORE) == positive for stems in texts]
    return sum(right) / len(right)


def _counts(texts: Iterable[frozenset[str]]) -> Counter[str]:
    return Counter(stem for stems in texts for stem in stems)


def _halves(shard: Path, most: int) -> tuple[Texts, Texts]:
    """Half of a shard to learn from, half held out; of two in a row one has its title, so pairs stay together."""
    texts = unlabelled_texts([shard], most)
    found = [stems_of(text.replace(NUMBER, " ")) for text in texts]
    return [*found[::4], *found[1::4]], [*found[2::4], *found[3::4]]


def main(words: Sequence[str] | None = None) -> None:
    """Learns, writes and says how often it is right on texts that were not learned from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with unlabelled/")
    parser.add_argument("--output", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--most", type=int, default=24_000, help="abstracts of each kind")
    arguments = parser.parse_args(words)
    folder = arguments.data / "unlabelled"
    halves = {
        name: _halves(folder / f"{name}-000.jsonl.gz", arguments.most)
        for name in (*BIOMEDICAL, COMPUTING)
    }
    known = learned([each for name in BIOMEDICAL for each in halves[name][0]], halves[COMPUTING][0])
    arguments.output.write_text(json.dumps(known, indent=0) + "\n", encoding="utf-8")
    told = {
        name: {
            "held out": len(held),
            "right": round(accuracy(held, known, positive=name in BIOMEDICAL), 4),
        }
        for name, (_, held) in halves.items()
    }
    print(json.dumps({"stems": len(known), **told}, indent=2))


if __name__ == "__main__":
    main()
