"""Keys of the first abstracts of one's own types, with and without suggestions of the strings that were decided already.

``python -m research.simulations.alike --data FOLDER [--seeds 4] [--finished 10]``. An annotator goes through each abstract from
its start, beside what an adapter suggests that learned from those before: a right suggestion takes one key, as does a wrong one,
other edges take two, a missing mention four; **a**, where it saves keys, decides all equal strings at once.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev

from benchmarks.learning import SETS, DataSet, Simulation
from sciextract import Extractor
from sciextract.documents.annotations import Annotations, Layer, Span
from sciextract.documents.document import AnnotatedDocument
from sciextract.inference.adapter.states import EncoderStates
from sciextract.learning.adapter import learn
from sciextract.snapshot.documents import TrainingDocument
from sciextract.workflows.learn import MEASURABLE, _best_of

Place = tuple[int, int]
_SCIENCEIE = DataSet("ScienceIE", "scienceie/train.jsonl", frozenset({Layer.ENTITIES}))
DATA = (SETS[0], SETS[1], _SCIENCEIE)


def places(found: Annotations) -> dict[Place, str]:
    """Mentions of one part with their types."""
    whole = (entity for entity in found.entities if len(entity.fragments) == 1)
    return {(e.fragments[0].char_start, e.fragments[0].char_end): e.label for e in whole}


def occurrences(document: AnnotatedDocument, string: str) -> Iterator[Place]:
    text, tokens = document.document.text, document.document.tokens
    start = text.find(string)
    while start >= 0:
        if tokens.aligned(Span(start, start + len(string))):
            yield start, start + len(string)
        start = text.find(string, start + 1)


def touch(place: Place, others: Iterable[Place]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in others)


@dataclass
class Annotator:
    """Goes through abstracts and remembers which strings were right.

    Attributes:
        alike: Whether equal strings are suggested.
        bulk: Whether the annotator uses **a**.
    """

    alike: bool
    bulk: bool
    keys: int = 0
    shown: Counter[bool] = field(default_factory=Counter)
    balance: Counter[tuple[str, str]] = field(default_factory=Counter)
    decided: set[tuple[str, str]] = field(default_factory=set)

    def work(self, document: AnnotatedDocument, suggested: dict[Place, str]) -> None:
        """One abstract, from the suggestions of an adapter to what is right."""
        text, gold = document.document.text, places(document.annotations)
        waiting, missing = dict(suggested), set(gold)
        here, mine = set[Place](), set[Place]()

        def propose(strings: Iterable[tuple[str, str]]) -> None:
            for string, label in sorted(strings, key=lambda pair: -len(pair[0])):
                if not self.alike or self.balance[string, label] < 0:
                    continue
                for place in occurrences(document, string):
                    if place not in refused and not touch(place, (*waiting, *here)):
                        waiting[place] = label
                        mine.add(place)

        def settle(place: Place, right: bool) -> None:
            if place in mine:
                self.shown[right] += 1
            waiting.pop(place, None)
            if not right:
                refused.add(place)

        def decide(place: Place) -> None:
            missing.discard(place)
            here.add(place)
            self.decided.add((text[slice(*place)], gold[place]))
            self.balance[text[slice(*place)], gold[place]] += 1

        refused = set[Place]()
        propose(pair for pair in self.decided if pair[0] in text)
        self.keys += 1
        while todo := sorted({*waiting, *missing}):
            place = todo[0]
            label = waiting.get(place)
            wanted = place
            if place in gold:
                other = next((end for end in waiting if touch(place, [end])), None)
                self.keys += 1 if label else 2 if other else 4
                settle(place if label or not other else other, bool(label))
            else:
                near = next((end for end in sorted(missing) if touch(place, [end])), None)
                settle(place, right=False)
                if near is None or near in waiting:
                    self.keys += 1
                    self.balance[text[slice(*place)], label or ""] -= 1
                    continue
                self.keys, wanted = self.keys + 2, near
            decide(wanted)
            string = text[slice(*wanted)]
            equal = [e for e in occurrences(document, string) if not touch(e, here | refused)]
            good = [e for e in equal if e in missing and gold[e] == gold[wanted]]
            bad = [e for e in equal if e not in good]
            saved = sum(1 if e in waiting else 4 for e in good) - 1
            if self.bulk and saved > sum(e not in waiting for e in bad):
                self.keys += 1 + len(bad)
                for e in good:
                    settle(e, right=True)
                    decide(e)
                for e in bad:
                    settle(e, right=False)
                    self.balance[string, gold[wanted]] -= 1
            else:
                propose([(string, gold[wanted])])


def main() -> None:
    """Print one line for each data set and annotator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--finished", type=int, default=10)
    parser.set_defaults(test=0, written=False, results=Path("build/alike"))
    options = parser.parse_args()
    states = EncoderStates(Extractor.load("sci", threads=1), limit_mib=512)
    for data in DATA:
        shares, shown = (
            defaultdict[str, list[float]](list),
            defaultdict[str, Counter[bool]](Counter),
        )
        for seed in range(options.seeds):
            simulation = Simulation(data, seed, states, options)
            finished = simulation.pool[: options.finished]
            done = [TrainingDocument(document, data.layers) for document in finished]
            suggested: list[dict[Place, str]] = [{}]
            for number in range(1, len(done)):
                adapter = learn(done[:number], simulation.schema, states)
                found = adapter.annotate(finished[number].document).annotations
                suggested.append(places(_best_of(found) if number < MEASURABLE else found))
            for bulk in (False, True):
                for learned in (False, True):
                    keys = []
                    for alike in (False, True):
                        annotator = Annotator(alike, bulk)
                        for document, proposals in zip(finished, suggested, strict=True):
                            annotator.work(document, proposals if learned else {})
                        keys.append(annotator.keys)
                    name = f"{'with' if bulk else 'without'} a, {'adapter' if learned else 'nothing else'}"
                    shares[name].append(100 * keys[1] / keys[0])
                    shown[name] += annotator.shown
        for name, values in shares.items():
            right, all_of_it = shown[name][True], shown[name].total()
            spread = f"{mean(values):5.1f} ± {stdev(values):.1f} % of the keys"
            print(f"{data.name:14} {name:24} {spread}, {right} of {all_of_it} right", flush=True)


if __name__ == "__main__":
    main()
