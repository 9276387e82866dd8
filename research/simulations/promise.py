"""How often a promised precision is broken, and what it gives: 200 projects of one field, drawn from labelled abstracts.

``python -m research.simulations.promise --data FOLDER [--splits 200] [--by-label] [--cache FOLDER]``. An adapter learns from 40
abstracts (of STM from 20) and predicts the others, which stand for the field; a project draws those that its promise is chosen
on, with replacement, and its precision is that of all of them: a finite rest would break promises by chance. Five adapters per
data set. With ``--other-kind`` the promise of ``sci``, chosen on SciERC dev, is held against texts of other fields instead.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from random import Random

from benchmarks.learning import SETS, DataSet, documents
from sciextract import Extractor, atomic
from sciextract.codec import decode, plain
from sciextract.documents.annotations import Layer
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.formats import read
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.held_out import HeldOut, HeldOutItem, held_out
from sciextract.inference.promise import ANY, Promise, make_promise
from sciextract.inference.settings import PROMISED, TASKS
from sciextract.learning.adapter import learn
from sciextract.snapshot.documents import TrainingDocument

OTHER_KIND = ("genia/dev.jsonl", "ncbi-disease/dev.jsonl", "stm/train.jsonl")
ADAPTERS, TAUGHT, MOST = 5, 40, 300
CHOSEN_ON = (20, 50, 100)
FIELDS = (
    *(replace(dataset, sentences=0) for dataset in SETS if not dataset.known),
    DataSet("STM types", "stm/train.jsonl", frozenset({Layer.ENTITIES})),
)
WANTED = ({"entity": 0.7}, {"entity": 0.8}, {"entity": 0.9}, {"entity": 0.7, "relation": 0.6})
CONFIDENCE = 0.9
LOWEST = dict.fromkeys(TASKS, 0.05)


def main() -> None:
    """Print one line for each data set, number of abstracts and promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--by-label", action="store_true")
    parser.add_argument("--cache", type=Path, default=Path("build/promise"), help="predictions")
    parser.add_argument("--other-kind", action="store_true")
    options = parser.parse_args()
    if options.other_kind:
        _show_other_kind(options.data)
        return
    options.cache.mkdir(parents=True, exist_ok=True)
    print(
        "| data | chosen on | promised | made | broken, of those made | broken, of all | recall | best |"
    )
    for data in FIELDS:
        predicted = _predictions(data, options.data, options.cache)
        for count in (size for size in CHOSEN_ON if size <= len(predicted[0])):
            for wanted in WANTED:
                if "relation" not in wanted or Layer.RELATIONS in data.layers:
                    _report(data.name, predicted, count, wanted, options)


def _report(
    name: str,
    predicted: Sequence[Sequence[HeldOut]],
    count: int,
    wanted: dict[str, float],
    options: argparse.Namespace,
) -> None:
    *_, task = wanted
    made = broken = possible = 0
    recalls: list[float] = []
    fields = [_together(parts) for parts in predicted]
    for split in range(options.splits):
        parts, field = predicted[split % len(predicted)], fields[split % len(predicted)]
        drawn = Random(1000 + split).choices(parts, k=count)
        promise = make_promise(_together(drawn), wanted, CONFIDENCE, options.by_label)
        for label in (label for label in promise.labels if label.task == task):
            right, written = _right(field, task, label.label, promise)
            possible += 1
            made += label.threshold is not None
            broken += written > 0 and right / written < wanted[task]
            recalls.append(right / max(1, _gold(field, task, label.label)))
    words = ", ".join(f"{task} {value}" for task, value in wanted.items())
    best = sum(_best(field, task, wanted[task]) for field in fields) / len(fields)
    print(
        f"| {name} | {count} | {words} | {100 * made / possible:.0f} % | {100 * broken / max(1, made):.0f} % "
        f"| {100 * broken / possible:.1f} % | {sum(recalls) / possible:.2f} | {best:.2f} |",
        flush=True,
    )


def _best(field: HeldOut, task: str, wanted: float) -> float:
    """The recall of the lowest threshold that keeps a promise for all labels together in hindsight; ends aside."""
    right, found = 0, 0.0
    for place, item in enumerate(sorted(field.items[task], key=lambda held: -held.score), 1):
        right += item.right
        found = right if right >= wanted * place else found
    return found / _gold(field, task, ANY)


def _gold(field: HeldOut, task: str, label: str) -> int:
    counts = field.gold[task]
    return sum(counts.values()) if label == ANY else counts.get(label, 0)


def _together(parts: Sequence[HeldOut]) -> HeldOut:
    """Some abstracts, each held out by itself, as one."""
    items: dict[str, list[HeldOutItem]] = {task: [] for task in PROMISED}
    gold = {task: Counter[str]() for task in PROMISED}
    for number, part in enumerate(parts):
        for task in PROMISED:
            items[task] += [HeldOutItem(number, *held[1:]) for held in part.items[task]]
            gold[task].update(part.gold[task])
    return HeldOut("", len(parts), {task: tuple(listed) for task, listed in items.items()}, gold)


def _right(test: HeldOut, task: str, label: str, promise: Promise) -> tuple[int, int]:
    """How many items of a label are right of those that the promise writes, and how many it writes."""
    least = {(name, of): score for name, of, score in promise.thresholds}
    lowest = inf if "entity" in promise.wanted else 0.0
    items = [
        item
        for item in test.items[task]
        if label in (ANY, item.label)
        and item.score >= least[task, label]
        and all(
            score >= least.get(("entity", of), least.get(("entity", ANY), lowest))
            for of, score in item.ends
        )
    ]
    return sum(item.right for item in items), len(items)


def _predictions(data: DataSet, folder: Path, cache: Path) -> list[list[HeldOut]]:
    """What adapters predict for each abstract that they have not learned from, with its gold; computed once."""
    states: EncoderStates | None = None
    found = []
    for seed in range(ADAPTERS):
        path = cache / f"{data.path.partition('/')[0]}-{seed}.json"
        if not path.exists():
            # The unit is what the file has: of SciER whole papers.
            items, schema = documents(data, folder, Path())
            states = states or EncoderStates(Extractor.load("sci"), limit_mib=4096)
            parts = _predicted(data, items, schema, states, Random(seed))
            atomic.write(path, json.dumps(plain(parts)))
        found.append(decode(path.read_bytes(), list[HeldOut], path))
    return found


def _predicted(
    data: DataSet,
    items: Sequence[AnnotatedDocument],
    schema: LabelSchema,
    states: EncoderStates,
    random: Random,
) -> list[HeldOut]:
    count = min(TAUGHT, len(items) * 2 // 7)
    chosen = random.sample(items, min(MOST + count, len(items)))
    taught, others = chosen[:count], chosen[count:]
    adapter = learn(
        [TrainingDocument(document, data.layers) for document in taught], schema, states
    )
    low = adapter.with_settings(LOWEST).stream([annotated.document for annotated in others])
    return [held_out("", [gold], [found]) for gold, found in zip(others, low, strict=True)]


def _show_other_kind(data: Path) -> None:
    """What ``sci`` writes about biomedical texts under the promise of its own held-out abstracts.

    No biomedical set has its labels: a mention counts as right where any gold mention has its span, which is generous.
    """
    extractor, promise = Extractor.load("sci").promising({"entity": 0.8}, CONFIDENCE, by_label=True)
    print(
        f"\nentity 0.8, chosen on {promise.source}: held-out precision and, with those spans, the share right"
    )
    for path in OTHER_KIND:
        gold = [record for record in read([data / path]) if isinstance(record, AnnotatedDocument)]
        counts, right = Counter[str](), Counter[str]()
        for true, found in zip(
            gold, extractor.stream([annotated.document for annotated in gold]), strict=True
        ):
            spans = {entity.fragments for entity in true.annotations.entities}
            counts.update(entity.label for entity in found.annotations.entities)
            right.update(e.label for e in found.annotations.entities if e.fragments in spans)
        for label in promise.labels:
            if counts[label.label]:
                share = right[label.label] / counts[label.label]
                print(
                    f"{path} {label.label}: {label.precision:.2f}, {share:.2f} of {counts[label.label]}"
                )


if __name__ == "__main__":
    main()
