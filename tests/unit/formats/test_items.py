"""Items of imported documents: ids, mentions, memberships."""

from __future__ import annotations

from sciextract.documents.annotations import Cluster, Span, State
from sciextract.formats.base import Place
from sciextract.formats.items import CorpusItems


def test_ids_are_stable_and_unique() -> None:
    def made() -> list[str]:
        items = CorpusItems(Place("f", None, "d"), "import:x")
        first, second = (items.entity([Span(0, 2)], "Task") for _ in range(2))
        items.relation(first, second, "Same", None)
        items.relation(first, second, "Same", None)
        items.cluster([second, first, second], None)
        found = items.annotations()
        assert (len(found.relations), len(found.clusters[0].mentions)) == (1, 2)
        return [entity.id for entity in found.entities]

    assert made() == made()
    assert len(set(made())) == 2


def test_a_mention_prefers_the_label_and_is_made_once() -> None:
    items = CorpusItems(Place("f", None, "d"), "import:x")
    task = items.entity([Span(0, 2)], "Task")
    method = items.entity([Span(0, 2)], "Method")
    assert items.mention(Span(0, 2), "Method") is method
    assert items.mention(Span(0, 2), "") is task
    assert items.mention(Span(3, 4), "Task") is items.mention(Span(3, 4), "")


def test_mentions_whose_membership_was_rejected_are_not_written() -> None:
    states = (State.ACCEPTED, State.REJECTED)
    assert Cluster("C", ("a", "b"), mention_states=states).live_mentions == ["a"]
    assert Cluster("C", ("a", "b")).live_mentions == ["a", "b"]
    assert Cluster("C", ("a",), state=State.REJECTED).live_mentions == []
