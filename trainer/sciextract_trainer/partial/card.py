"""The part of a model card that states scores set by set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def set_lines(scores: dict[str, Any]) -> list[str]:
    """Markdown of the scores of a model of several sets."""
    return [
        "## Scores on the dev parts, set by set",
        "",
        "Documents as distributed (for bc5cdr, ncbi-disease, bc2gm and linnaeus a sentence each). Only the types that a",
        "set was annotated for are decoded; entities by exact boundaries and type, micro average; thresholds are fitted",
        "on some of the same documents. int8.",
        "",
        "| set | documents | entities P | R | F1 | 95 % interval | trained on |",
        "|---|---|---|---|---|---|---|",
        *(_row(name, each) for name, each in scores["sets"].items()),
        "",
        *_by_type(scores["sets"]),
        *_relations(scores["sets"]),
        f"Largest logit difference, torch to ONNX Runtime, fp32: {scores.get('parity', 0.0):.1e}.",
        *_quantisation(scores["sets"]),
        "",
    ]


def _row(name: str, scores: dict[str, Any]) -> str:
    entity = scores["entity"]
    numbers = " | ".join(f"{entity[key]:.1f}" for key in ("precision", "recall", "f1"))
    bounds, trained = scores["interval"], "yes" if scores["trained"] else "no"
    interval = f"{bounds['low']:.1f} to {bounds['high']:.1f}"
    return f"| {name} | {scores['documents']} | {numbers} | {interval} | {trained} |"


def _by_type(sets: dict[str, Any]) -> Iterator[str]:
    for name, scores in sets.items():
        if len(scores["labels"]) > 1:
            parts = (f"{label} {f1:.1f}" for label, f1 in scores["labels"].items())
            yield f"F1 by type, {name}: {', '.join(parts)}."
    yield ""


def _relations(sets: dict[str, Any]) -> Iterator[str]:
    for name, scores in sets.items():
        if "relation" not in scores:
            continue
        yield (
            f"Relations of {name}, boundaries and direction, micro F1: {scores['relation']['f1']:.1f} between "
            f"predicted entities, {scores['given']['f1']:.1f} between the given ones (macro F1 "
            f"{scores['given_macro']:.1f})."
        )
        yield ""


def _quantisation(sets: dict[str, Any]) -> Iterator[str]:
    parts = (
        f"{name} {each['sample']['fp32'] - each['sample']['int8']:+.1f}"
        for name, each in sets.items()
    )
    yield f"F1 lost by int8 at the same thresholds, on some documents of each set: {', '.join(parts)}."
