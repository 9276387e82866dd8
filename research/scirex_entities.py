"""How well models agree with the entities of SciREX abstracts, and how sure the differences to the first model are.

Usage: ``python -m research.scirex_entities sci ./other ... --data scirex/abstracts.jsonl``. Entities of the types that SciREX
shares with SciERC, exact boundaries, micro F1; abstracts are resampled for the intervals (Efron 1979). No threshold is fitted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sciextract import Extractor, formats
from sciextract.documents.document import AnnotatedDocument
from sciextract.formats.base import BadRecord

TYPES = frozenset({"Task", "Method", "Metric", "Material"})
SAMPLES = 1000

Counts = NDArray[np.int64]


def main(words: Sequence[str] | None = None) -> int:
    """Measures every model and prints scores and differences."""
    options = read_options(words, __doc__)
    gold = read_all(options.data)
    counts = [counts_of(Extractor.load(model, threads=1), gold) for model in options.models]
    print_scores(options.models, counts)
    for model, count in zip(options.models, counts, strict=True):
        print(f"{model}: boundaries alone {f1(count[:, 3:]):.1f}")
    return 0


def read_options(words: Sequence[str] | None, description: str | None) -> argparse.Namespace:
    """Models to compare, and files of gold."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    return parser.parse_args(words)


def read_all(files: Sequence[Path]) -> list[AnnotatedDocument]:
    """The gold of all files."""
    return [item for item in formats.read(files) if not isinstance(item, BadRecord)]


def print_scores(models: Sequence[str], counts: Sequence[Counts]) -> None:
    """F1, precision and recall of every model, and its difference to the first one with a 90 % interval."""
    for model, count in zip(models, counts, strict=True):
        right, predicted, wanted = count.sum(axis=0)[:3]
        print(
            f"{model}: F1 {f1(count):.1f}, precision {100 * right / max(1, predicted):.1f}, "
            f"recall {100 * right / max(1, wanted):.1f}"
        )
    size = len(counts[0])
    rows = np.random.default_rng(0).integers(0, size, (SAMPLES, size))
    for model, count in zip(models[1:], counts[1:], strict=True):
        differences = [f1(count[row]) - f1(counts[0][row]) for row in rows]
        low, high = np.quantile(differences, [0.05, 0.95])
        difference = f1(count) - f1(counts[0])
        print(f"{model} less {models[0]}: {difference:+.1f} ({low:+.1f} to {high:+.1f})")


def counts_of(extractor: Extractor, gold: Sequence[AnnotatedDocument]) -> Counts:
    """Right, predicted and gold entities of each abstract, then the same without types. Shape: (abstracts, 6)."""
    rows = []
    for item in gold:
        found, wanted = _entities(extractor.annotate(item.document)), _entities(item)
        spans, gold_spans = ({entity[:2] for entity in entities} for entities in (found, wanted))
        rows.append(
            [
                len(found & wanted), len(found), len(wanted),
                len(spans & gold_spans), len(spans), len(gold_spans),
            ]
        )  # fmt: skip
    return np.array(rows)


def f1(counts: Counts) -> float:
    """Micro F1, 0 to 100, of right, predicted and gold counts in the first three columns."""
    right, predicted, wanted = counts.sum(axis=0)[:3]
    return float(200 * right / max(1, predicted + wanted))


def _entities(item: AnnotatedDocument) -> set[tuple[int, int, str]]:
    return {
        (entity.span.char_start, entity.span.char_end, entity.label)
        for entity in item.annotations.entities
        if entity.label in TYPES
    }


if __name__ == "__main__":
    sys.exit(main())
