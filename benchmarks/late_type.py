"""A type that comes late: what an adapter learns of it from abstracts finished before and after.

``python benchmarks/late_type.py [--data FOLDER] [--results FILE] [--seeds N] [--early N] [--late N] [--test N]``. Of each
seed and type one line in the results file: F1 of the late type and of the others, by what the early abstracts say of it:
nothing (``masked``), that it is absent (``absent``), what they would say if they were finished again (``complete``), and by the
late abstracts alone (``late only``).
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import Any

from benchmarks.learning import SETS, DataSet, documents
from sciextract import Extractor
from sciextract.documents.annotations import Annotations, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.adapter.states import EncoderStates
from sciextract.learning.adapter import WRITTEN, learn
from sciextract.metrics.counts import scorable
from sciextract.metrics.scorer import score
from sciextract.snapshot.documents import TrainingDocument

ENTITIES = frozenset({Layer.ENTITIES})
FIELDS = (*SETS[:2], DataSet("STM types", "stm/train.jsonl", ENTITIES))
Row = dict[str, Any]
METHODS = ("masked", "absent", "late only", "complete")


def without(item: AnnotatedDocument, label: str) -> AnnotatedDocument:
    """The abstract as somebody finished it who had no such type."""
    kept = tuple(entity for entity in item.annotations.entities if entity.label != label)
    return replace(item, annotations=Annotations(kept))


def measured(data: DataSet, seed: int, states: EncoderStates, options: argparse.Namespace) -> Row:
    """F1 of the late type, and of the others together, by method."""
    items, schema = documents(data, options.data, options.results.parent)
    random = Random(seed)
    random.shuffle(items)
    late_type = sorted(schema.entity_labels)[seed % len(schema.entity_labels)]
    test, rest = items[: options.test], items[options.test :]
    early, late = rest[: options.early], rest[options.early :][: options.late]
    after = [TrainingDocument(item, ENTITIES) for item in late]
    blind = [TrainingDocument(without(item, late_type), ENTITIES) for item in early]
    uncovered = frozenset({(Layer.ENTITIES, late_type)})
    finished = {
        "masked": [*(replace(item, uncovered=uncovered) for item in blind), *after],
        "absent": [*blind, *after],
        "late only": after,
        "complete": [*(TrainingDocument(item, ENTITIES) for item in early), *after],
    }
    row = {"data": data.name, "seed": seed, "type": late_type}
    for method in METHODS:
        adapter = learn(finished[method], schema, states, WRITTEN)
        found = [adapter.annotate(item.document) for item in test]
        report = score([*map(scorable, test)], [*map(scorable, found)], frozenset())
        labels = report.ner.labels
        others = score(
            [scorable(without(item, late_type)) for item in test],
            [scorable(without(item, late_type)) for item in found],
            frozenset(),
        )
        of_late = labels[late_type].f1 if late_type in labels else 0.0
        row[method] = [round(of_late, 2), round(others.ner.all.f1, 2)]
    return row


def table(rows: list[Row]) -> str:
    """Means and standard deviations over seeds, F1 of the late type and of the others."""
    lines = ["| labels | F1 of | " + " | ".join(METHODS) + " |", "|---" * (2 + len(METHODS)) + "|"]
    for name in dict.fromkeys(row["data"] for row in rows):
        mine = [row for row in rows if row["data"] == name]
        for place, of in enumerate(("the late type", "the others")):
            cells = []
            for method in METHODS:
                values = [row[method][place] for row in mine]
                spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
                cells.append(f"{mean(values):.1f}{spread}")
            lines.append(f"| {name} | {of} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("SCIEXTRACT_SHARED", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(shared))
    parser.add_argument("--results", type=Path, default=Path("build/late-type.jsonl"))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--early", type=int, default=20)
    parser.add_argument("--late", type=int, default=5)
    parser.add_argument("--test", type=int, default=25)
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    states = EncoderStates(Extractor.load("sci", threads=1), limit_mib=512)
    kept = options.results.read_text("utf-8") if options.results.exists() else ""
    rows = [json.loads(line) for line in kept.splitlines()]
    with options.results.open("a", encoding="utf-8") as stream:
        for seed in range(options.seeds):
            for data in FIELDS:
                if not any((row["data"], row["seed"]) == (data.name, seed) for row in rows):
                    rows.append(measured(data, seed, states, options))
                    print(json.dumps(rows[-1]), file=stream, flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
