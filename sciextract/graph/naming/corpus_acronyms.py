"""What acronyms stand for in the whole corpus, and which ones stand for several things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

_ALIKE = 0.75
_SHORTEST = 3
"""Letters that a shortened word has: "net" for "network"."""


@dataclass(frozen=True, slots=True)
class CorpusAcronym:
    """An acronym with all expansions that a corpus gives it.

    Attributes:
        expansions: What it stands for and in how many abstracts, the most frequent first; wordings of the same
            thing, such as "convolution" beside "convolutional neural network", are counted together.
    """

    expansions: tuple[tuple[int, int], ...]

    def meaning(self, least_share: float) -> int | None:
        """The expansion that an abstract without one means too, ``None`` where that is open.

        Args:
            least_share: How large a share of the abstracts must give it; 1 allows no second expansion.
        """
        name, abstracts = self.expansions[0]
        return (
            name if abstracts >= least_share * sum(count for _, count in self.expansions) else None
        )


def corpus_acronym(counts: Mapping[int, int], spaced: Mapping[int, str]) -> CorpusAcronym:
    """Counts wordings of the same expansion together.

    Args:
        counts: Abstracts by the number of the expansion.
        spaced: The expansions in normal form with spaces.
    """
    groups: list[list[int]] = []
    for each in sorted(counts, key=lambda name: (-counts[name], spaced[name])):
        alike = next(
            (group for group in groups if same_thing(spaced[group[0]], spaced[each])), None
        )
        if alike is None:
            groups.append([each])
        else:
            alike.append(each)
    merged = [(group[0], sum(counts[each] for each in group)) for group in groups]
    return CorpusAcronym(tuple(sorted(merged, key=lambda pair: -pair[1])))


def same_thing(first: str, second: str) -> bool:
    """Whether two expansions of one acronym are wordings of one thing: their words begin alike.

    >>> same_thing("convolutional neural network", "convolution neural network")
    True
    >>> same_thing("gated recurrent unit", "gated recursive unit")
    False
    """
    pairs = list(zip(first.split(), second.split(), strict=False))
    if len(first.split()) != len(second.split()):
        return first.replace(" ", "") == second.replace(" ", "")
    return all(_alike(pair) for pair in pairs)


def _alike(words: Sequence[str]) -> bool:
    same = [first == second for first, second in zip(*words, strict=False)]
    common = len(list(takewhile(bool, same)))
    shortened = common == len(same) >= _SHORTEST
    return shortened or common >= _ALIKE * max(map(len, words))
