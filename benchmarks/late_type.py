"""A type that comes late: what an adapter learns of it from abstracts finished before and after.

``python benchmarks/late_type.py [--data FOLDER] [--results FILE] [--seeds N] [--early N] [--late N] [--test N]``. Of each
seed and type one line in the results file: F1 of the late type and of the others, by what the early abstracts say of it:
nothing (``masked``), that it is absent (``absent``), what they would say if they were finished again (``complete``), and by the
late abstracts alone (``late only``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

from benchmarks.draws import ENTITIES, Draw, Row, measure, print_table
from sciextract.documents.annotations import Annotations, Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.snapshot.documents import TrainingDocument

METHODS = ("masked", "absent", "late only", "complete")


def without(item: AnnotatedDocument, label: str) -> AnnotatedDocument:
    """The abstract as somebody finished it who had no such type."""
    kept = tuple(entity for entity in item.annotations.entities if entity.label != label)
    return replace(item, annotations=Annotations(kept))


def measured(draw: Draw, options: argparse.Namespace) -> Row:
    """F1 of the late type, and of the others together, by method."""
    labels = sorted(draw.schema.entity_labels)
    late_type = labels[draw.seed % len(labels)]
    early, late = draw.rest[: options.early], draw.rest[options.early :][: options.late]
    after = [TrainingDocument(item, ENTITIES) for item in late]
    blind = [TrainingDocument(without(item, late_type), ENTITIES) for item in early]
    uncovered = frozenset({(Layer.ENTITIES, late_type)})
    finished = {
        "masked": [*(replace(item, uncovered=uncovered) for item in blind), *after],
        "absent": [*blind, *after],
        "late only": after,
        "complete": [*(TrainingDocument(item, ENTITIES) for item in early), *after],
    }
    row: Row = {"type": late_type}
    for method in METHODS:
        found = draw.predict(finished[method])
        by_label = draw.report(found).ner.labels
        others = draw.report(found, lambda item: without(item, late_type)).ner.all.f1
        of_late = by_label[late_type].f1 if late_type in by_label else 0.0
        row[method] = [round(of_late, 2), round(others, 2)]
    return row


def _cells(place: int) -> list[Callable[[Row], float]]:
    def cell(method: str) -> Callable[[Row], float]:
        return lambda row: row[method][place]

    return [cell(method) for method in METHODS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--early", type=int, default=20)
    parser.add_argument("--late", type=int, default=5)
    rows = measure(parser, "late-type.jsonl", measured)
    lines = [("the late type", _cells(0)), ("the others", _cells(1))]
    print_table(("labels", "F1 of", *METHODS), rows, lines)


if __name__ == "__main__":
    main()
