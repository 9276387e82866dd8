"""Scores of a biomedical model on the dev part of every data set, beside what was published.

    python -m research.partial_labels.dev_scores --data DATA [--model bio] [--all-types] [--most 200] [--json FILE]
    python -m research.partial_labels.dev_scores --data DATA --model FOLDER --against bio [--most 200] [--json FILE]

Only the types that a set was annotated for are decoded; with ``--all-types`` all nine compete for each span, as they do in
``annotate``, and what a set does not know is left out of the count. With ``--against`` the table shows the difference
from another model and its 90 % interval instead.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from research.distillation.teachers import load_pipeline
from research.partial_labels.datasets import (
    SetDocument,
    TaughtSet,
    documents_of,
    load_sets,
    read_records,
)
from research.partial_labels.make_bio import PLAN
from research.partial_labels.scores import SetScores, difference, score_set
from sciextract.documents.schema_file import load_schema
from sciextract.inference.model_folder import GRAPHS, locate_model, open_folder


def main(words: Sequence[str] | None = None) -> None:
    """Scores every set and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with genia/, chemprot/...")
    parser.add_argument("--model", default="bio", help="bundled name or model folder")
    parser.add_argument("--most", type=int, help="documents of each set (default: all)")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--all-types", action="store_true", help="let all types compete")
    either.add_argument("--against", help="model to compare with: bundled name or model folder")
    parser.add_argument("--json", type=Path, help="also write all numbers here")
    arguments = parser.parse_args(words)
    kept = _compared(arguments) if arguments.against else _scored(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def _scored(arguments: argparse.Namespace) -> dict[str, object]:
    """Prints what a model scores on every set."""
    folder = open_folder(locate_model(arguments.model))
    pipeline, settings = load_pipeline(folder), folder.config.settings
    kept: dict[str, object] = {}
    print("| set | documents | P | R | F1 | relations | given entities | given, macro |")
    print("|---|---|---|---|---|---|---|---|")
    for taught, documents in _sets(arguments):
        scores = score_set(pipeline, settings, documents, taught, competing=arguments.all_types)
        kept[taught.name] = scores.to_json()
        print(_row(taught.name, scores), flush=True)
    graph = next(name for name, file in GRAPHS.items() if (folder.path / file).is_file())
    print(f"\n{folder.config.name}@{folder.hash[:8]}, {graph}, thresholds {settings.thresholds}")
    return kept


def _compared(arguments: argparse.Namespace) -> dict[str, object]:
    """Prints the difference between two models on every set."""
    folders = [open_folder(locate_model(folder)) for folder in (arguments.against, arguments.model)]
    before, after = ((load_pipeline(folder), folder.config.settings) for folder in folders)
    kept: dict[str, object] = {}
    print("| set | task | before | after | difference | 90 % interval |")
    print("|---|---|---|---|---|---|")
    for taught, documents in _sets(arguments):
        found = difference(before, after, documents, taught)
        kept[taught.name] = {task: score.to_json() for task, score in found.items()}
        for task, score in found.items():
            shown = f"{score.before:.1f} | {score.after:.1f} | {score.difference:+.1f}"
            print(f"| {taught.name} | {task} | {shown} | {score.low:+.1f} to {score.high:+.1f} |")
    return kept


def _sets(arguments: argparse.Namespace) -> Iterator[tuple[TaughtSet, list[SetDocument]]]:
    for taught in load_sets(PLAN, load_schema("bio")).sets:
        yield taught, _documents(arguments.data, taught)[: arguments.most]


def _documents(data: Path, taught: TaughtSet) -> list[SetDocument]:
    path = data / taught.name / "dev.jsonl"
    return list(documents_of(read_records(path), taught, path))


def _row(name: str, scores: SetScores) -> str:
    entity = scores.entity
    relations = (
        [scores.relation.f1, scores.given.f1, scores.given_macro]
        if scores.relation and scores.given
        else [None, None, None]
    )
    shown = [f"{share:.1f}" for share in (entity.precision, entity.recall, entity.f1)]
    shown += ["" if relation is None else f"{relation:.1f}" for relation in relations]
    return f"| {name} | {scores.documents} | {' | '.join(shown)} |"


if __name__ == "__main__":
    main()
