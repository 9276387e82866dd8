"""Extractions of abstracts that nobody wrote, with names as unevenly used as in real ones.

New names come in as in a Pitman-Yor process (J. Pitman and M. Yor, The Annals of Probability 25, 1997): after n mentions
the next one is new with probability (concentration + discount * names) / (concentration + n), else it repeats
an earlier mention, whichever, so that frequent names become more frequent.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sciextract.documents.bibliography import Bibliography
from sciextract.graph.database import packed
from sciextract.graph.extraction import Evidence, Extraction, Naming

LABELS = ("Method", "Task", "Material", "Metric", "OtherScientificTerm")
RELATIONS = (
    "USED-FOR",
    "CONJUNCTION",
    "EVALUATE-FOR",
    "HYPONYM-OF",
    "PART-OF",
    "FEATURE-OF",
    "COMPARE",
)
_SPELLINGS = ("thing {}", "Thing {}", "thing-{}", "the thing {}")
_WORDS = tuple([f"w{number}" for number in range(3_000)])


@dataclass(frozen=True)
class Shape:
    """How abstracts look; the defaults are those of 6,000 real ones that the bundled model annotated."""

    names: float = 16.8
    repeats: float = 3.2
    relations: float = 8.4
    words: int = 166
    concentration: float = 3_000.0
    discount: float = 0.87


def synthetic(count: int, shape: Shape | None = None, seed: int = 7) -> Iterator[Extraction]:
    """So many abstracts, always the same ones."""
    return _Writer(shape or Shape(), random.Random(seed)).abstracts(count)


class _Writer:
    def __init__(self, shape: Shape, chance: random.Random) -> None:
        self._shape = shape
        self._chance = chance
        self._said: list[int] = []
        self._names = 0

    def abstracts(self, count: int) -> Iterator[Extraction]:
        for number in range(count):
            yield self._abstract(number)

    def _abstract(self, number: int) -> Extraction:
        chance, shape = self._chance, self._shape
        text = " ".join(chance.choices(_WORDS, k=shape.words))
        keys = list({self._name() for _ in range(_about(chance, shape.names))})
        namings = Counter(
            [self._naming(chance.choice(keys)) for _ in range(_about(chance, shape.repeats))]
            + [self._naming(key) for key in keys]
        )
        evidence = tuple(
            [self._evidence(keys, len(text)) for _ in range(_about(chance, shape.relations))]
            if len(keys) > 1 else []
        )  # fmt: skip
        digest = hashlib.sha256(text.encode()).hexdigest()
        spaced = {naming.surface: naming.surface.casefold().replace("-", " ") for naming in namings}
        return Extraction(
            f"synthetic:{number}", packed(text), ((0, len(text)),), digest,
            Bibliography(title=text[:60], year=1990 + number % 35),
            namings, (), evidence, (), spaced, 2, 0, 0, 0, (), digest[:16].encode(),
        )  # fmt: skip

    def _name(self) -> int:
        shape, said = self._shape, len(self._said)
        new = (shape.concentration + shape.discount * self._names) / (shape.concentration + said)
        if self._chance.random() < new:
            self._names += 1
            self._said.append(self._names)
        else:
            self._said.append(self._said[self._chance.randrange(said)])
        return self._said[-1]

    def _naming(self, name: int) -> Naming:
        surface = self._chance.choices(_SPELLINGS, (8, 2, 1, 1))[0].format(name)
        label = LABELS[(name + (self._chance.random() < 0.1)) % len(LABELS)]
        return Naming(f"thing{name}", surface, label, 0)

    def _evidence(self, keys: list[int], length: int) -> Evidence:
        head, tail = self._chance.sample(keys, 2)
        start = self._chance.randrange(length // 2)
        places = (start, min(start + 150, length), start, start + 20, start + 40, start + 60)
        label = self._chance.choices(RELATIONS, (19, 5, 4, 3, 2, 2, 2))[0]
        score = round(self._chance.random(), 4)
        return Evidence(f"thing{head}", f"thing{tail}", label, score, *places)


def _about(chance: random.Random, mean: float) -> int:
    return max(1, round(chance.gauss(mean, mean / 3)))
