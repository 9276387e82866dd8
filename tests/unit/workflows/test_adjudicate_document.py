"""One document decided as one action; which sides there are; what the log says of decisions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer
from sciextract.errors import ActionRefusedError
from sciextract.store import Project, open_project
from sciextract.workflows import adjudicate
from sciextract.workflows.adjudicate import decide_document, disputes
from sciextract.workflows.disagreements import (
    Decisions,
    Dispute,
    compare_with_source,
    other_sources,
)
from tests.app.adjudication.merged import BEN, merged_project
from tests.app.review.abstracts import TEXT, document, gold, predict


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with open_project(merged_project(tmp_path), "ann") as opened:
        yield opened


def first(project: Project) -> list[Dispute]:
    return [dispute for dispute in disputes(project) if dispute.number == 1]


def noted(project: Project) -> list[int]:
    rows = project.connection.execute("SELECT disagreements FROM summary ORDER BY document_id")
    return [row[0] for row in rows]


@pytest.mark.parametrize("verdict", ["mine", "theirs"])
def test_one_event_decides_a_document(project: Project, verdict: adjudicate.Verdict) -> None:
    before, events, keys = project.document(1).annotations, len(project.log()), first(project)
    found = decide_document(project, 1, project.source_id(BEN), verdict)
    assert found.refused == {}
    assert found.decided == (len(keys) if verdict == "mine" else 10)  # others went with these
    assert first(project) == []
    assert len(project.log()) == events + 1
    assert noted(project) == [0, 2, 0]
    project.undo()
    assert project.document(1).annotations == before
    assert [dispute.key for dispute in first(project)] == [dispute.key for dispute in keys]


def test_nothing_to_decide_is_no_event(project: Project) -> None:
    events = len(project.log())
    assert decide_document(project, 3, project.source_id(BEN), "theirs").decided == 0
    assert len(project.log()) == events


def test_taking_everything_makes_both_equal(project: Project) -> None:
    decide_document(project, 1, project.source_id(BEN), "theirs")
    sides = {source.name: source for source in other_sources(project, Decisions(project))}
    both = compare_with_source(project, project.document_state(1), sides[BEN].source_ids[0])
    assert both is not None and both.disputes == ()


def test_a_mention_goes_to_the_cluster_that_is_more_like_theirs(project: Project) -> None:
    [link] = [
        dispute
        for dispute in first(project)
        if dispute.difference.layer is Layer.COREFERENCE and dispute.difference.first is None
    ]
    assert len(link.cluster_mentions) == 3
    adjudicate.decide(project, link, "theirs")
    doc = project.document_state(1)
    assert [member.entity_id for member in doc.members("of window")] == [
        "it",
        "window",
        "baseline2",
    ]


class TestDecisions:
    def test_they_follow_the_log(self, project: Project) -> None:
        decisions, [one, *_] = Decisions(project), first(project)
        assert decisions.keys(1) == frozenset()
        adjudicate.decide(project, one, "mine", decisions)
        assert decisions.keys(1) == {one.key}
        project.undo()
        assert decisions.keys(1) == frozenset()
        project.redo()
        assert decisions.keys(1) == Decisions(project).keys(1) == {one.key}

    def test_merges_follow_the_log(self, project: Project) -> None:
        decisions = Decisions(project)
        assert list(decisions.merged()) == [BEN]
        project.undo()
        assert decisions.merged() == {} and decisions.was_merged(BEN)
        project.redo()
        assert list(decisions.merged()) == [BEN]

    def test_what_is_refused_is_not_decided(self, project: Project) -> None:
        decisions = Decisions(project)
        relation = next(
            dispute
            for dispute in first(project)
            if dispute.difference.layer is Layer.RELATIONS and dispute.difference.first is None
        )
        with pytest.raises(ActionRefusedError, match="is not an entity here"):
            adjudicate.decide(project, relation, "theirs", decisions)
        assert decisions.keys(1) == frozenset()
        assert noted(project) == [13, 2, 0]


def test_runs_of_one_model_are_one_side(project: Project) -> None:
    predict(project, gold(), document(TEXT, "d1"))
    predict(project, gold(), document(TEXT, "d1"))
    names = [source.name for source in other_sources(project, Decisions(project))]
    assert names == [BEN, "model:first@aaaaaaaa"]
    model = other_sources(project, Decisions(project))[1]
    assert model.source_in(project, 1) == model.source_ids[-1]
    assert model.source_in(project, 2) is None
