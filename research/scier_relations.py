"""How well models agree with the relations of SciER papers, and how sure the differences to the first model are.

Usage: ``python -m research.scier_relations sci ./other ... --data scier/train.jsonl scier/dev.jsonl``. Relations of the types that
SciER shares with SciERC, between predicted entities: boundaries and label, micro F1 without and with direction. Neither the models nor
their teachers have seen these annotations; no threshold is fitted. Whole papers are resampled for the intervals (Efron 1979).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from research.scirex_entities import Counts, print_scores, read_all, read_options
from sciextract import Extractor
from sciextract.documents.document import AnnotatedDocument

SHARED = {
    "Used-For": "USED-FOR",
    "Part-Of": "PART-OF",
    "SubClass-Of": "HYPONYM-OF",
    "Compare-With": "COMPARE",
}
"""SciERC's label for each type of SciER that means the same."""

Key = tuple[tuple[tuple[int, int], ...], str]


def main(words: Sequence[str] | None = None) -> int:
    """Measures every model and prints scores and differences."""
    options = read_options(words, __doc__)
    gold = read_all(options.data)
    extractors = [Extractor.load(model, threads=1) for model in options.models]
    found = [[extractor.annotate(item.document) for item in gold] for extractor in extractors]
    for ordered in (False, True):
        print("with direction" if ordered else "without direction")
        print_scores(
            options.models, [_counts(predicted, gold, ordered=ordered) for predicted in found]
        )
    return 0


def _counts(
    found: Sequence[AnnotatedDocument], gold: Sequence[AnnotatedDocument], *, ordered: bool
) -> Counts:
    """Right, predicted and gold relations of each paper. Shape: (papers, 3)."""
    rows = []
    for one, other in zip(found, gold, strict=True):
        keys, wanted = _relations(one, ordered=ordered), _relations(other, ordered=ordered)
        rows.append([len(keys & wanted), len(keys), len(wanted)])
    return np.array(rows)


def _relations(item: AnnotatedDocument, *, ordered: bool) -> set[Key]:
    spans = {
        entity.id: (entity.span.char_start, entity.span.char_end)
        for entity in item.annotations.entities
    }
    keys = set()
    for relation in item.annotations.relations:
        label = SHARED.get(relation.label, relation.label)
        if label in SHARED.values():
            ends = (spans[relation.head], spans[relation.tail])
            keep = ordered and label != "COMPARE"
            keys.add((ends if keep else tuple(sorted(ends)), label))
    return keys


if __name__ == "__main__":
    sys.exit(main())
