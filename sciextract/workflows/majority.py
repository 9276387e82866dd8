"""What most annotators say where the projects of three or more differ: a proposal to whoever adjudicates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import product
from typing import Literal

from sciextract.documents.annotations import Layer
from sciextract.metrics.differences import AnnotatedItem, Difference, value_at
from sciextract.store import Project
from sciextract.store.finished import document_before
from sciextract.store.project_settings import read_covered
from sciextract.workflows.disagreements import DocumentComparison, Majority, types_of

_SAID = """SELECT event_id, body FROM annotation_set
    WHERE document_id = ? AND source_id IN (SELECT value FROM json_each(?)) ORDER BY id"""


def propose(
    project: Project, number: int, compared: Mapping[int, DocumentComparison]
) -> dict[str, Majority]:
    """By the keys of differences; half of the annotators or fewer, and one alone, propose nothing.

    Args:
        project: The open project; one annotator more where somebody had looked before the others came.
        number: The abstract.
        compared: It against the merged projects, by their numbers.
    """
    disputes = [dispute for both in compared.values() for dispute in both.disputes]
    if len(compared) < 2 or not disputes:
        return {}
    own = _looked_for_before(project, number, compared)
    found, symmetric = {}, project.schema.symmetric_labels
    for dispute in disputes:
        one = dispute.difference
        types = types_of(one)
        votes = Counter(
            _side_of(one, both, symmetric)
            for both in compared.values()
            if both.covered is None or types <= both.covered
        )
        votes["mine"] += types <= own
        side, count = votes.most_common(1)[0]
        if side and 1 < count > votes.total() / 2:
            found[dispute.key] = Majority(side, count, votes.total())
    return found


def _looked_for_before(project: Project, number: int, sources: Collection[int]) -> frozenset[str]:
    """What somebody had looked for here before anything was taken over from those who had."""
    rows = project.connection.execute(_SAID, (number, json.dumps([*sources])))
    for event_id, body in rows.fetchall():
        if read_covered(project.connection, body) != frozenset():
            return document_before(project, number, event_id)[1]
    return frozenset()


def _side_of(
    one: Difference, both: DocumentComparison, symmetric: frozenset[str]
) -> Literal["mine", "theirs"] | None:
    """Whom an annotator agrees with; ``None`` for something else at that place."""
    if one.layer is Layer.COREFERENCE:
        [link] = one.items
        side = both.theirs.annotations
        clusters = ([side.entity(id_).fragments for id_ in c.mentions] for c in side.clusters)
        is_joined = any({*link.fragments} <= {*cluster} for cluster in clusters)
        return "theirs" if is_joined == (one.first is None) else "mine"
    if one.is_attribute:
        has_item, value = value_at(both.theirs, one.items[0], symmetric)
        mine, theirs = (item.value if item else None for item in (one.first, one.second))
        if not has_item or value not in (mine, theirs):
            return None
        return "mine" if value == mine else "theirs"
    there = (dispute.difference for dispute in both.disputes)
    alike = [other for other in there if other.layer is one.layer and not other.is_attribute]
    near = [other for other in alike if _meet(other, one)]
    said = _form(one.first, symmetric), _form(one.second, symmetric)
    if said in [(_form(other.first, symmetric), _form(other.second, symmetric)) for other in near]:
        return "theirs"
    return None if near else "mine"


def _form(item: AnnotatedItem | None, symmetric: frozenset[str]) -> object:
    if item is None:
        return None
    return item.label, sorted(item.fragments) if item.label in symmetric else [*item.fragments]


def _meet(one: Difference, other: Difference) -> bool:
    """Whether both are about one place: mentions that overlap, or relations of such mentions."""
    return any(
        all(
            any(span.overlaps(place) for span, place in product(*ends))
            for ends in zip(item.fragments, turned, strict=True)
        )
        for item, against in product(one.items, other.items)
        for turned in (against.fragments, against.fragments[::-1])
    )
