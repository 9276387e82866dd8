"""The list of differences: what is paired with what, in which order, and what is left alone."""

from __future__ import annotations

from sciextract.documents.annotations import Layer, Span, State
from sciextract.documents.document import AnnotatedDocument
from sciextract.metrics.differences import AnnotatedItem, Difference, differences
from tests.unit.metrics.builders import annotated

TEXT = "tree kernels rank large proteins quickly"
SYMMETRIC = frozenset({"Compare"})


def said(side: AnnotatedItem | None) -> str:
    if side is None:
        return "-"
    mentions = " ".join(
        ["+".join([fragment.of(TEXT) for fragment in fragments]) for fragments in side.fragments]
    )
    return f"{mentions}/{side.label}" if side.label else mentions


def shown(found: list[Difference]) -> list[tuple[str, str, str, str]]:
    return [
        (difference.layer.item, difference.kind, said(difference.first), said(difference.second))
        for difference in found
    ]


def compared(
    first: AnnotatedDocument, second: AnnotatedDocument
) -> list[tuple[str, str, str, str]]:
    return shown([*differences(first, second, SYMMETRIC)])


def test_entities() -> None:
    first = annotated(
        TEXT, [("quickly", "A"), ("large proteins", "A"), ("rank", "A"), ("tree", "A")]
    )
    second = annotated(TEXT, [("proteins", "B"), ("kernels", "A"), ("rank", "B"), ("quickly", "A")])
    assert compared(first, second) == [
        ("entity", "only_first", "tree/A", "-"),
        ("entity", "only_second", "-", "kernels/A"),
        ("entity", "other_label", "rank/A", "rank/B"),
        ("entity", "other_boundaries", "large proteins/A", "proteins/B"),
    ]


def test_equal_mentions_are_paired_before_overlapping_ones() -> None:
    first = annotated(TEXT, [("tree kernels", "A"), ("kernels", "B")])
    second = annotated(TEXT, [("kernels", "A")])
    assert compared(first, second) == [
        ("entity", "only_first", "tree kernels/A", "-"),
        ("entity", "other_label", "kernels/B", "kernels/A"),
    ]


def test_equal_labels_are_paired_before_greater_overlap() -> None:
    first = annotated(TEXT, [("tree kernels rank", "A")])
    second = annotated(TEXT, [("tree kernels", "B"), ("rank large", "A")])
    assert compared(first, second) == [
        ("entity", "only_second", "-", "tree kernels/B"),
        ("entity", "other_boundaries", "tree kernels rank/A", "rank large/A"),
    ]


def test_each_item_is_paired_once() -> None:
    first = annotated(TEXT, [("tree kernels rank", "A")])
    second = annotated(TEXT, [("tree", "A"), ("kernels rank", "A")])
    kinds = [kind for _, kind, _, _ in compared(first, second)]
    assert sorted(kinds) == ["only_second", "other_boundaries"]


def test_what_a_difference_says() -> None:
    first = annotated(TEXT, [("tree", "A"), ("rank", "B")], [("rank", "tree", "r")], doc_key="k")
    second = annotated(TEXT, [("tree", "A"), ("rank", "B")])
    (found,) = differences(first, second, SYMMETRIC)
    assert (found.doc_key, found.layer) == ("k", Layer.RELATIONS)
    assert found.second is None and found.first is not None
    assert found.first.id == "rank->tree->r" and found.first.label == "r"
    assert found.first.entities == ("rank", "tree")
    assert found.first.fragments == ((Span(13, 17),), (Span(0, 4),))
    assert found.first.entity_labels == ("B", "A")


def test_relations() -> None:
    same = [("tree", "A"), ("rank", "A"), ("quickly", "A")]
    first = annotated(
        TEXT,
        [*same, ("proteins", "A")],
        [
            *(("tree", "rank", "r"), ("rank", "quickly", "r"), ("tree", "quickly", "Compare")),
            ("tree", "proteins", "r"),
        ],
    )
    second = annotated(
        TEXT,
        [*same, ("large proteins", "A")],
        [
            *(("tree", "rank", "s"), ("quickly", "rank", "r"), ("quickly", "tree", "Compare")),
            ("tree", "large proteins", "r"),
        ],
    )
    found = [row for row in compared(first, second) if row[0] == "relation"]
    assert found == [
        ("relation", "other_label", "tree rank/r", "tree rank/s"),
        ("relation", "other_boundaries", "tree proteins/r", "tree large proteins/r"),
        ("relation", "other_label", "rank quickly/r", "quickly rank/r"),
    ]


def test_symmetric_relations_overlap_in_either_direction() -> None:
    first = annotated(TEXT, [("tree", "A"), ("proteins", "A")], [("tree", "proteins", "Compare")])
    second = annotated(
        TEXT, [("tree", "A"), ("large proteins", "A")], [("large proteins", "tree", "Compare")]
    )
    kinds = [row[:2] for row in compared(first, second)]
    assert kinds == [("relation", "other_boundaries"), ("entity", "other_boundaries")]


def test_links() -> None:
    entities = [(word, "") for word in TEXT.split()]
    first = annotated(TEXT, entities, [], [("rank", "tree", "kernels"), ("large", "proteins")])
    second = annotated(TEXT, entities, [], [("tree", "rank"), ("proteins", "large", "quickly")])
    assert compared(first, second) == [
        ("link", "only_first", "tree kernels", "-"),
        ("link", "only_first", "kernels rank", "-"),
        ("link", "only_second", "-", "proteins quickly"),
    ]
    (link, *_) = differences(first, second, SYMMETRIC)
    assert link.first is not None and link.first.id == "rank=tree=kernels"


def test_nothing_differs_where_all_is_equal_or_rejected() -> None:
    document = annotated(
        TEXT,
        [("tree", "A"), ("rank", "A"), ("quickly", "")],
        [("tree", "rank", "r")],
        [("tree", "quickly")],
    )
    assert compared(document, document) == []
    rejected = annotated(TEXT, [("large", "A")], state=State.REJECTED)
    assert compared(rejected, annotated(TEXT)) == []
