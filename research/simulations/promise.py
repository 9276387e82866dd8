"""How often a promised precision is broken: 200 random splits of abstracts into those it is chosen on and those it meets.

``python -m research.simulations.promise --data FOLDER [--splits 200]``. An adapter learns from 40 abstracts and predicts the
others; a split draws those that the promise is chosen on, the rest is the test. Five adapters per data set. With ``--other-kind``
the promise of ``sci``, chosen on SciERC dev, is held against texts of other fields instead.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from random import Random

from benchmarks.learning import SETS, documents
from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import LabelSchema
from sciextract.formats import read
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.promise import (
    HeldOut,
    HeldOutItem,
    Promise,
    held_out,
    make_promise,
)
from sciextract.inference.settings import PROMISED, TASKS
from sciextract.learning.adapter import learn
from sciextract.snapshot.documents import TrainingDocument

OTHER_KIND = ("genia/dev.jsonl", "ncbi-disease/dev.jsonl", "stm/train.jsonl")
ADAPTERS, TAUGHT, MOST = 5, 40, 300
CHOSEN_ON = (20, 50, 100)
WANTED = ({"entity": 0.7}, {"entity": 0.8}, {"entity": 0.9}, {"entity": 0.7, "relation": 0.6})
CONFIDENCE = 0.9
LOWEST = dict.fromkeys(TASKS, 0.05)


def main() -> None:
    """Print one line for each data set, number of abstracts and promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--other-kind", action="store_true")
    options = parser.parse_args()
    if options.other_kind:
        _show_other_kind(options.data)
        return
    print("set     chosen on  promise                       labels promised  broken  mean recall")
    for data in (each for each in SETS if not each.known):
        # The unit is what the file has: of SciER whole papers.
        items, schema = documents(replace(data, sentences=0), options.data, Path())
        states = EncoderStates(Extractor.load("sci"), limit_mib=4096)
        predicted = [_predicted(items, schema, states, Random(seed)) for seed in range(ADAPTERS)]
        for count in CHOSEN_ON:
            for wanted in WANTED:
                if count <= len(predicted[0]) / 2 and (
                    "relation" not in wanted or schema.relations
                ):
                    _report(data.name, predicted, count, wanted, options.splits)


def _report(
    name: str,
    predicted: Sequence[Sequence[HeldOut]],
    count: int,
    wanted: dict[str, float],
    splits: int,
) -> None:
    made = broken = possible = 0
    recalls: list[float] = []
    for split in range(splits):
        parts = predicted[split % len(predicted)]
        drawn = Random(1000 + split).sample(parts, len(parts))
        promise = make_promise(_together(drawn[:count]), wanted, CONFIDENCE)
        test = _together(drawn[count:])
        possible += len(promise.labels)
        for each in promise.labels:
            if each.threshold is not None:
                right, count_of = _right(test, each.task, each.label, promise)
                made += 1
                broken += count_of > 0 and right / count_of < wanted[each.task]
                recalls.append(right / max(1, test.gold[each.task].get(each.label, 0)))
    share = f"{made / splits:.1f} of {possible / splits:.1f}"
    words = ", ".join(f"{task} {value}" for task, value in wanted.items())
    recall = sum(recalls) / len(recalls) if recalls else 0.0
    print(
        f"{name:8}{count:9}  {words:29} {share:15} {100 * broken / max(1, made):5.1f} %  {recall:.2f}",
        flush=True,
    )


def _together(parts: Sequence[HeldOut]) -> HeldOut:
    """Some abstracts, each held out by itself, as one."""
    items: dict[str, list[HeldOutItem]] = {task: [] for task in PROMISED}
    gold = {task: Counter[str]() for task in PROMISED}
    for number, part in enumerate(parts):
        for task in PROMISED:
            items[task] += [each._replace(document=number) for each in part.items[task]]
            gold[task].update(part.gold[task])
    return HeldOut("", len(parts), {task: tuple(each) for task, each in items.items()}, gold)


def _right(test: HeldOut, task: str, label: str, promise: Promise) -> tuple[int, int]:
    """How many items of a label are right of those that the promise writes, and how many it writes."""
    least = {(name, of): score for name, of, score in promise.thresholds}
    items = [
        each
        for each in test.items[task]
        if each.label == label
        and each.score >= least[task, label]
        and all(score >= least.get(("entity", of), inf) for of, score in each.ends)
    ]
    return sum(each.right for each in items), len(items)


def _predicted(
    items: Sequence[AnnotatedDocument], schema: LabelSchema, states: EncoderStates, random: Random
) -> list[HeldOut]:
    """What an adapter predicts for each abstract that it has not learned from, with its gold."""
    chosen = random.sample(items, min(MOST + TAUGHT, len(items)))
    taught, others = chosen[:TAUGHT], chosen[TAUGHT:]
    adapter = learn([TrainingDocument(each) for each in taught], schema, states)
    low = adapter.with_settings(LOWEST).stream([each.document for each in others])
    return [held_out("", [gold], [found]) for gold, found in zip(others, low, strict=True)]


def _show_other_kind(data: Path) -> None:
    """What ``sci`` writes about biomedical texts under the promise of its own held-out abstracts.

    No biomedical set has its labels: a mention counts as right where any gold mention has its span, which is generous.
    """
    extractor, promise = Extractor.load("sci").promising({"entity": 0.8}, CONFIDENCE)
    print(
        f"\nentity 0.8, chosen on {promise.source}: held-out precision and, with those spans, the share right"
    )
    for path in OTHER_KIND:
        gold = [each for each in read([data / path]) if isinstance(each, AnnotatedDocument)]
        counts, right = Counter[str](), Counter[str]()
        for true, found in zip(
            gold, extractor.stream([each.document for each in gold]), strict=True
        ):
            spans = {each.fragments for each in true.annotations.entities}
            counts.update(each.label for each in found.annotations.entities)
            right.update(e.label for e in found.annotations.entities if e.fragments in spans)
        for each in promise.labels:
            if counts[each.label]:
                share = right[each.label] / counts[each.label]
                print(
                    f"{path} {each.label}: {each.precision:.2f}, {share:.2f} of {counts[each.label]}"
                )


if __name__ == "__main__":
    main()
