"""How often a promised precision is broken: 200 random splits of abstracts into those it is chosen on and those it meets.

``python -m research.simulations.promise --data FOLDER [--splits 200]``. An adapter learns from 40 abstracts and predicts the
others; a split draws those that the promise is chosen on, the rest is the test. Five adapters per data set.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from sciextract import Extractor
from sciextract.documents.annotations import State
from sciextract.documents.document import AnnotatedDocument
from sciextract.documents.schema import EntityType, LabelSchema, RelationType
from sciextract.formats import BadRecord, read
from sciextract.inference.adapter.states import EncoderStates
from sciextract.inference.promise import HeldOut, held_out, keep_promise, make_promise
from sciextract.inference.settings import TASKS
from sciextract.learning.adapter import learn
from sciextract.snapshot.documents import TrainingDocument

SETS = {
    "SciREX": "scirex/abstracts.jsonl",
    "SciER": "scier/train.jsonl",
    "GENIA": "genia/dev.jsonl",
}
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
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    options = parser.parse_args()
    print("set     chosen on  promise                       labels promised  broken  mean recall")
    for name in options.sets:
        documents = list(_documents(options.data / SETS[name]))
        predicted = [_predicted(documents, Random(seed)) for seed in range(ADAPTERS)]
        for count in CHOSEN_ON:
            for wanted in WANTED:
                if "relation" in wanted and not any(d.annotations.relations for d in documents):
                    continue
                _report(name, predicted, count, wanted, options.splits)


def _report(
    name: str,
    predicted: Sequence[tuple[list[AnnotatedDocument], list[AnnotatedDocument]]],
    count: int,
    wanted: dict[str, float],
    splits: int,
) -> None:
    made = broken = possible = 0
    recalls: list[float] = []
    for split in range(splits):
        gold, found = predicted[split % len(predicted)]
        if count > len(gold) / 2:
            return
        order = Random(1000 + split).sample(range(len(gold)), len(gold))
        known, new = order[:count], order[count:]
        held = held_out(name, [gold[at] for at in known], [found[at] for at in known])
        promise = make_promise(held, wanted, CONFIDENCE)
        written = [keep_promise(found[at], promise.thresholds) for at in new]
        test = held_out("test", [gold[at] for at in new], written)
        possible += len(promise.labels)
        for each in promise.labels:
            if each.threshold is not None:
                right, count_of = _right(test, each.task, each.label)
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


def _right(held: HeldOut, task: str, label: str) -> tuple[int, int]:
    items = [each for each in held.items[task] if each.label == label]
    return sum(each.right for each in items), len(items)


def _predicted(
    documents: Sequence[AnnotatedDocument], random: Random
) -> tuple[list[AnnotatedDocument], list[AnnotatedDocument]]:
    """Gold and predictions of an adapter for abstracts that it has not learned from."""
    chosen = random.sample(list(documents), min(MOST + TAUGHT, len(documents)))
    taught, others = chosen[:TAUGHT], chosen[TAUGHT:]
    states = EncoderStates(Extractor.load("sci"))
    adapter = learn([TrainingDocument(each) for each in taught], _schema(documents), states)
    low = adapter.with_settings(LOWEST)
    return others, list(low.stream([each.document for each in others]))


def _documents(path: Path) -> Iterator[AnnotatedDocument]:
    """The abstracts of a file, added by a person, with labels that the bundled model does not know."""
    for each in read([path]):
        if isinstance(each, BadRecord):
            continue
        own = each.annotations
        entities = tuple(
            replace(e, label=f"my {e.label}", state=State.ADDED) for e in own.entities if e.label
        )
        ids = {e.id for e in entities}
        relations = tuple(
            replace(r, label=f"my {r.label}", state=State.ADDED)
            for r in own.relations
            if {r.head, r.tail} <= ids
        )
        yield replace(
            each, annotations=replace(own, entities=entities, relations=relations, clusters=())
        )


def _schema(documents: Sequence[AnnotatedDocument]) -> LabelSchema:
    entities = sorted({e.label for each in documents for e in each.annotations.entities})
    relations = sorted({r.label for each in documents for r in each.annotations.relations})
    keys = "abcdefghijklmnopqrstuvwxyz"
    return LabelSchema(
        "own",
        "",
        "1",
        False,
        tuple(
            EntityType(label, key, "#808080") for label, key in zip(entities, keys, strict=False)
        ),
        tuple(
            RelationType(label, key, "#808080") for label, key in zip(relations, keys, strict=False)
        ),
    )


if __name__ == "__main__":
    main()
