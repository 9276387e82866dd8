"""Weights of one label set for another: classes both know are carried over, new ones begin fresh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sciextract.inference.layout import RelationLayout
from sciextract.inference.pipeline import Labels
from sciextract_trainer.warm_start.graph_weights import Array

ENTITY_ROWS = ("spans.out.4.weight", "spans.out.4.bias")
ENTITY_COLUMNS = ("pairs.relation_span.types.weight", "pairs.link_span.types.weight")
RELATION_ROWS = ("pairs.relation.out.2.weight", "pairs.relation.out.2.bias")


def carried(
    stored: Mapping[str, Array], fresh: Mapping[str, Array], old: Labels, new: Labels
) -> dict[str, Array]:
    """All weights of a network for the labels ``new``.

    Args:
        stored: Weights of a network for the labels ``old``.
        fresh: Weights of a network for ``new`` before any training.
        old: Labels that were trained.
        new: Labels that are wanted.
    """
    weights = {**fresh, **{name: each for name, each in stored.items() if name in fresh}}
    entities = [(0, 0), *_entity_classes(old, new)]
    relations = [(0, 0), *_relation_classes(old.relations, new.relations)]
    for names, pairs in ((ENTITY_ROWS, entities), (RELATION_ROWS, relations)):
        for name in names:
            weights[name] = fresh[name].copy()
            for before, after in pairs:
                weights[name][after] = stored[name][before]
    for name in ENTITY_COLUMNS:
        weights[name] = np.zeros_like(fresh[name])  # a new type's probability changes no pair yet
        for before, after in entities:
            weights[name][:, after] = stored[name][:, before]
    return weights


def kept_groups(old: Labels, new: Labels) -> tuple[tuple[str, ...], ...]:
    """The groups of ``old`` for the labels of ``new``; new labels are a group of their own.

    >>> from sciextract.inference.layout import RelationLayout
    >>> none = RelationLayout((), frozenset())
    >>> old = Labels(("A", "B", "C"), none, False, 5, (("A",), ("B", "C")))
    >>> kept_groups(old, Labels(("C", "A", "D"), none, False, 5))
    (('A',), ('C',), ('D',))
    """
    if not old.groups:
        return ()
    added = tuple(label for label in new.entities if label not in old.entities)
    groups = [tuple(each for each in group if each in new.entities) for group in old.groups]
    return tuple(group for group in (*groups, added) if group)


def new_labels(old: Labels, new: Labels) -> tuple[str, ...]:
    """Entity and relation labels of ``new`` that ``old`` lacks."""
    return (
        *(label for label in new.entities if label not in old.entities),
        *(label for label in new.relations.labels if label not in old.relations.labels),
    )


def _entity_classes(old: Labels, new: Labels) -> Iterator[tuple[int, int]]:
    for label in new.entities:
        if label in old.entities:
            yield 1 + old.entities.index(label), 1 + new.entities.index(label)


def _relation_classes(old: RelationLayout, new: RelationLayout) -> Iterator[tuple[int, int]]:
    """Classes of both directions; a label that became directed learns its inverse from the forward one."""
    for label in new.labels:
        if label in old.labels:
            before, after = old.forward_class(label), new.forward_class(label)
            yield before, after
            if new.mirror()[after] != after:
                yield int(old.mirror()[before]), int(new.mirror()[after])
