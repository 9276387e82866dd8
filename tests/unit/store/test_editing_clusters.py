"""Deciding about coreference: links, joining, leaving, merging, splitting."""

from __future__ import annotations

import json

import pytest

from sciextract.documents.annotations import State
from sciextract.errors import ActionRefusedError
from sciextract.store import EntityRef, LinkRef, Project
from tests.unit.store.projects import (
    cluster,
    entity,
    guess,
    guess_cluster,
    new_project,
    place,
    predict,
    put,
    states,
)

WORDS = ("graph", "net", "learns", "reads", "network")
FIVE = tuple(entity(f"E{n}", place(word)) for n, word in enumerate(WORDS, start=1))
GUESSED = tuple(guess(f"E{n}", place(word)) for n, word in enumerate(WORDS, start=1))


def clusters(project: Project) -> list[tuple[str, ...]]:
    """The clusters of the current view."""
    return [group.mentions for group in project.document(1).annotations.clusters]


def guessed(project: Project, *mentions: str) -> None:
    put(project)
    predict(project, *GUESSED, guess_cluster("C1", *mentions))


def test_accepting_a_link_accepts_its_mention_and_the_anchor(project: Project) -> None:
    guessed(project, "E1", "E2", "E3")
    project.actions.accept(1, LinkRef("C1", "E3"))
    found = states(project.document_state(1))
    accepted = {item for item, state in found.items() if state is State.ACCEPTED}
    assert accepted == {"E1", "E3", "C1 E1", "C1 E3"}
    assert clusters(project) == [("E1", "E3")]


def test_an_accepted_anchor_keeps_a_companion_to_decide(project: Project) -> None:
    guessed(project, "E1", "E2")
    project.actions.accept(1, LinkRef("C1", "E1"))
    assert clusters(project) == []
    predict(project, GUESSED[0], GUESSED[1])
    assert states(project.document_state(1))["C1 E2"] is State.UNDECIDED


def test_rejecting_a_link_leaves_the_others(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"))
    project.actions.reject(1, LinkRef("C1", "E2"))
    assert clusters(project) == [("E1", "E3")]
    assert states(project.document_state(1))["E2"] is State.IMPORTED


def test_a_cluster_of_two_that_was_taken_apart_can_be_accepted_again(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2"))
    project.actions.reject(1, LinkRef("C1", "E2"))
    assert clusters(project) == []
    project.actions.accept(1, LinkRef("C1", "E2"))
    assert clusters(project) == [("E1", "E2")]


def test_nothing_is_accepted_into_a_cluster_whose_mentions_went_elsewhere(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2"))
    project.actions.reject(1, LinkRef("C1", "E2"))
    project.actions.new_cluster(1, ["E1", "E3"])
    with pytest.raises(ActionRefusedError, match="'net' would be the only mention of its cluster"):
        project.actions.accept(1, LinkRef("C1", "E2"))


def test_accepting_a_rejected_link_takes_the_mention_out_of_its_new_cluster(
    project: Project,
) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"))
    project.actions.reject(1, LinkRef("C1", "E3"))
    project.actions.new_cluster(1, ["E3", "E4", "E5"])
    project.actions.accept(1, LinkRef("C1", "E3"))
    assert clusters(project) == [("E1", "E2", "E3"), ("E4", "E5")]


def test_joining_moves_a_mention_and_remembers_where_it_was(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"), cluster("C2", "E4", "E5"))
    project.actions.join(1, "E3", "C2")
    assert clusters(project) == [("E1", "E2"), ("E3", "E4", "E5")]
    link = project.document_state(1).link("C2", "E3")
    assert link is not None
    assert (link.state, json.loads(link.was or "")) == (State.EDITED, {"cluster": "C1"})


def test_joining_a_proposed_cluster_settles_its_anchor(project: Project) -> None:
    guessed(project, "E1", "E2")
    project.actions.join(1, "E5", "C1")
    assert clusters(project) == [("E1", "E5")]
    assert states(project.document_state(1))["C1 E2"] is State.UNDECIDED


def test_joining_a_cluster_that_was_taken_apart_is_refused(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2"))
    project.actions.leave(1, "E1")
    with pytest.raises(ActionRefusedError, match="cluster C1 is not in this abstract"):
        project.actions.join(1, "E3", "C1")
    with pytest.raises(ActionRefusedError, match="cluster C9 is not in this abstract"):
        project.actions.join(1, "E3", "C9")


def test_joining_again_does_not_forget_an_edit(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"), cluster("C2", "E4", "E5"))
    project.actions.join(1, "E3", "C2")
    project.actions.join(1, "E3", "C2")
    assert states(project.document_state(1))["C2 E3"] is State.EDITED


def test_a_new_cluster_takes_its_mentions_out_of_others(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"))
    project.actions.new_cluster(1, ["E3", "E4"])
    assert clusters(project) == [("E1", "E2"), ("E3", "E4")]


@pytest.mark.parametrize("mentions", [[], ["E1"], ["E1", "E1"]])
def test_a_new_cluster_needs_two_mentions(project: Project, mentions: list[str]) -> None:
    put(project, *FIVE)
    with pytest.raises(ActionRefusedError, match="needs at least two mentions"):
        project.actions.new_cluster(1, mentions)


def test_leaving_a_cluster_of_two_takes_it_apart(project: Project) -> None:
    put(project, *FIVE)
    project.actions.new_cluster(1, ["E1", "E2"])
    project.actions.leave(1, "E2")
    assert project.document_state(1).clusters == []
    with pytest.raises(ActionRefusedError, match="'net' is in no cluster"):
        project.actions.leave(1, "E2")


def test_merging_moves_all_mentions(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E3"), cluster("C2", "E2", "E4", "E5"))
    project.actions.merge(1, "C1", "C2")
    assert clusters(project) == [("E1", "E2", "E3", "E4", "E5")]
    assert [group.id for group in project.document_state(1).clusters] == ["C1"]


def test_merging_refuses_itself_and_what_is_gone(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E3"), cluster("C2", "E2", "E4"))
    with pytest.raises(ActionRefusedError, match="merged with itself"):
        project.actions.merge(1, "C1", "C1")
    project.actions.leave(1, "E4")
    with pytest.raises(ActionRefusedError, match="cluster C2 is not in this abstract"):
        project.actions.merge(1, "C1", "C2")


def test_splitting_takes_this_and_the_later_mentions(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3", "E4"))
    project.actions.split(1, "C1", "E3")
    assert clusters(project) == [("E1", "E2"), ("E3", "E4")]


def test_splitting_off_the_last_mention_leaves_it_alone(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"))
    project.actions.split(1, "C1", "E3")
    assert clusters(project) == [("E1", "E2")]


def test_splitting_after_the_first_mention_takes_the_old_cluster_apart(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"))
    project.actions.split(1, "C1", "E2")
    assert clusters(project) == [("E2", "E3")]
    assert states(project.document_state(1))["C1 E1"] is State.REJECTED


def test_splitting_decides_nothing_about_later_mentions(project: Project) -> None:
    guessed(project, "E1", "E2", "E3", "E4")
    project.actions.split(1, "C1", "E2")
    found = states(project.document_state(1))
    assert [item for item, state in found.items() if state is State.ACCEPTED] == ["E2"]
    assert found["E3"] is found["E4"] is State.UNDECIDED
    open_links = [link for link in project.document_state(1).links if link.state is State.UNDECIDED]
    assert [link.entity_id for link in open_links] == ["E3", "E4"]
    predict(project, *GUESSED, guess_cluster("C1", "E1", "E2", "E3", "E4"))
    again = states(project.document_state(1))
    assert again["C1 E3"] is State.REJECTED, "a prediction must not bring back what was split"


def test_merging_decides_nothing_about_the_other_mentions(project: Project) -> None:
    put(project)
    clusters_of_two = guess_cluster("C1", "E1", "E2"), guess_cluster("C2", "E3", "E4")
    predict(project, *GUESSED, *clusters_of_two)
    project.actions.merge(1, "C1", "C2")
    found = states(project.document_state(1))
    assert {"E3", "E4"} <= {item for item, state in found.items() if state is State.UNDECIDED}
    assert {link.entity_id for link in project.document_state(1).links} == {"E1", "E2", "E3", "E4"}
    assert {link.cluster_id for link in project.document_state(1).links} == {"C1"}


@pytest.mark.parametrize("mention", ["E1", "E5", "E9"])
def test_splitting_before_the_first_or_a_foreign_mention_is_refused(
    project: Project, mention: str
) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"))
    with pytest.raises(ActionRefusedError, match="split before one of its mentions"):
        project.actions.split(1, "C1", mention)


def test_imported_clusters_may_share_a_mention_and_keep_it_when_accepted(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2"), cluster("C2", "E2", "E3"), cluster("C3", "E4"))
    project.actions.accept(1, LinkRef("C2", "E2"))
    assert clusters(project) == [("E1", "E2"), ("E2", "E3"), ("E4",)]


def test_rejecting_a_mention_takes_it_out_of_all_clusters(project: Project) -> None:
    put(project, *FIVE, cluster("C1", "E1", "E2", "E3"), cluster("C2", "E2", "E4", "E5"))
    project.actions.reject(1, EntityRef("E2"))
    assert clusters(project) == [("E1", "E3"), ("E4", "E5")]


def test_without_coreference_in_the_schema_nothing_is_joined(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with new_project(tmp_path_factory.mktemp("plain"), coreference=False) as plain:
        put(plain, *FIVE, cluster("C1", "E1", "E2"))
        with pytest.raises(ActionRefusedError, match="schema 'small' has no coreference"):
            plain.actions.new_cluster(1, ["E3", "E4"])
        with pytest.raises(ActionRefusedError, match="schema 'small' has no coreference"):
            plain.actions.join(1, "E3", "C1")
