"""What a person has answered is no longer asked, in every layer and state."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import Layer, Span
from sciextract.store import Completeness, EntityRef, LinkRef, Project, RelationRef
from sciextract.workflows.active.ranking import Decision, find_open
from tests.unit.store.projects import (
    guess,
    guess_cluster,
    guess_relation,
    new_project,
    place,
    predict,
    put,
)

GRAPH, NET, PARTS = place("graph"), place("net", 1), place("parts")
ASKED = [
    *(Decision(Layer.ENTITIES, (span,), (0.5, 0.5)) for span in (GRAPH, NET, PARTS)),
    Decision(Layer.RELATIONS, (GRAPH, NET), (0.5, 0.5)),
    Decision(Layer.RELATIONS, (NET, PARTS), (0.5, 0.5)),
    Decision(Layer.COREFERENCE, (PARTS,), (0.5, 0.5)),
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path)
    put(project)
    predict(
        project,
        *(guess("g", GRAPH), guess("n", NET, "Task"), guess("p", PARTS)),
        *(guess_relation("gn", "g", "n"), guess_relation("pn", "p", "n")),
        guess_cluster("c", "g", "p"),
    )
    return project


def left(project: Project) -> list[tuple[Layer, tuple[Span, ...]]]:
    return [
        (decision.layer, decision.place) for decision in find_open(project.document_state(1), ASKED)
    ]


def test_nothing_is_settled_at_first(project: Project) -> None:
    assert len(left(project)) == len(ASKED)


def test_decided_items_are(project: Project) -> None:
    project.actions.accept(1, RelationRef("pn"))  # accepts its two mentions, too
    assert left(project) == [
        *(
            (Layer.ENTITIES, (GRAPH,)),
            (Layer.RELATIONS, (GRAPH, NET)),
            (Layer.COREFERENCE, (PARTS,)),
        )
    ]
    project.actions.accept(1, LinkRef("c", "p"))
    assert (Layer.COREFERENCE, (PARTS,)) not in left(project)


def test_nothing_about_a_rejected_mention_is_open(project: Project) -> None:
    project.actions.reject(1, EntityRef("n"))
    assert left(project) == [
        *((Layer.ENTITIES, (GRAPH,)), (Layer.ENTITIES, (PARTS,)), (Layer.COREFERENCE, (PARTS,)))
    ]


def test_a_layer_that_is_done_is(project: Project) -> None:
    project.actions.set_completeness(1, Completeness.DONE, [Layer.ENTITIES])
    assert {task for task, _ in left(project)} == {Layer.RELATIONS, Layer.COREFERENCE}
