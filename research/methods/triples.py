"""Triples of a graph injected into texts as K-BERT does (Liu et al. 2020, arXiv 1909.07606, section 3), for any encoder like BERT.

Behind a name of the graph its triples branch off: "hyponym of neural network". A branch is numbered on from the end of
its name (soft positions), as the text is, and only the name sees it, as it sees only the name (visible matrix); so the
order in the input says nothing, and branches can stand behind the text. The states of the text alone are handed on.
``python -m research.simulations.retraining --ways retrain k-bert "k-bert, all visible" --graph FILE`` compares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sciextract.graph.database import open_graph
from sciextract_trainer.build import SubwordRules

MOST = 2
"""Triples of a name: those that most abstracts state."""

Ids = tuple[int, ...]

_EDGES = """SELECT form.surface, label.name, tail.name FROM edge
JOIN node head ON head.id = edge.head JOIN node tail ON tail.id = edge.tail
JOIN label ON label.id = edge.label JOIN alias ON alias.node = head.id JOIN form ON form.id = alias.form
WHERE NOT head.generic AND NOT tail.generic ORDER BY edge.documents DESC, edge.mentions DESC, edge.id"""


def read_branches(
    graph: Path, rules: SubwordRules, relations: Sequence[str]
) -> dict[Ids, list[Ids]]:
    """Subwords of names, and of up to ``MOST`` triples of each."""

    def split(text: str) -> Ids:
        return tuple(rules.encoder().split(text.split()).ids.tolist())

    found: dict[Ids, list[Ids]] = defaultdict(list)
    with open_graph(graph) as connection:
        for name, relation, tail in connection.execute(_EDGES):
            branches = found[split(name)] if relation in relations else []
            branch = split(f"{relation.replace('-', ' ').lower()} {tail}")
            if relation in relations and len(branches) < MOST and branch not in branches:
                branches.append(branch)
    return dict(found)


class Injected(nn.Module):
    """An encoder that reads branches beside a text.

    Args:
        encoder: An encoder like BERT, with learned positions.
        branches: By the subwords of a name.
        inner: Subwords that do not begin a word; a name ends before a word begins.
        visible: Whether all subwords see each other; else the visible matrix says what sees what.
    """

    def __init__(
        self,
        encoder: nn.Module,
        branches: Mapping[Ids, Sequence[Ids]],
        inner: frozenset[int],
        visible: bool,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.config: Any = encoder.config
        self._branches, self._inner, self._all_visible = branches, inner, visible
        self._longest = max(map(len, branches), default=0)

    def names_in(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Where names begin and end, the longest first in each place; none overlaps another."""
        start = 0
        while start < len(ids):
            ends = range(min(len(ids), start + self._longest), start, -1)
            whole = (end for end in ends if tuple(ids[start:end]) in self._branches)
            end = next(
                (end for end in whole if end == len(ids) or ids[end] not in self._inner), None
            )
            if end is not None and ids[start] not in self._inner:
                yield start, end
            start = end or start + 1

    def injected(self, ids: Sequence[int]) -> tuple[list[int], list[int], Tensor]:
        """Subwords with their branches, soft positions, and which sees which: bool (subwords, subwords)."""
        found, places = list(ids), list(range(len(ids)))
        sees: list[tuple[range, range]] = [(range(len(ids)), range(len(ids)))]
        for start, end in self.names_in(ids):
            for branch in self._branches[tuple(ids[start:end])]:
                here = range(len(found), len(found) + len(branch))
                found += branch
                places += range(end, end + len(branch))
                sees += [(here, here), (here, range(start, end)), (range(start, end), here)]
        matrix = torch.full((len(found), len(found)), self._all_visible)
        for rows, columns in sees:
            matrix[rows.start : rows.stop, columns.start : columns.stop] = True
        most = int(self.config.max_position_embeddings) - 1
        return found, [min(place, most) for place in places], matrix

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor]:
        """States of the text. Shapes: both (texts, subwords); states (texts, subwords, hidden)."""
        counts = attention_mask.sum(dim=1).tolist()
        rows = [self.injected(i[:n].tolist()) for i, n in zip(input_ids, counts, strict=True)]
        length = max(input_ids.shape[1], *(len(ids) for ids, _, _ in rows))
        ids, places = input_ids.new_zeros(2, len(rows), length)
        # Padding sees itself alone: a row that sees nothing would have no softmax.
        matrix = torch.eye(length, dtype=torch.bool, device=ids.device).repeat(len(rows), 1, 1)
        for row, (own, soft, sees) in enumerate(rows):
            ids[row, : len(own)], places[row, : len(own)] = torch.tensor(own), torch.tensor(soft)
            matrix[row, : len(own), : len(own)] = sees
        states = self.encoder(
            input_ids=ids, attention_mask=matrix[:, None], position_ids=places
        ).last_hidden_state
        return (states[:, : input_ids.shape[1]],)
