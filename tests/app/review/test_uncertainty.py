"""The orders by entropy, margin and least confidence: all that the model held possible counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.documents.annotations import (
    Annotations,
    Candidates,
    LabelScore,
    LinkCandidate,
    PairCandidate,
    SpanCandidate,
)
from sciextract.documents.document import AnnotatedDocument, ModelId
from sciextract.store import EntityRef, LinkRef, Project, RelationRef
from sciextract.store.ingest import ModelRun
from sciextract_app.review.desk import Desk
from sciextract_app.review.queue import Order
from tests.app.review.abstracts import document, gold, place, press, project_with

DOUBTS = (Order.ENTROPY, Order.MARGIN, Order.LEAST_CONFIDENCE)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Every score is 0.9; the candidates know better of three places."""
    project = project_with(tmp_path, None)
    said = gold().annotations
    task = SpanCandidate(
        place("noun chunking"), (LabelScore("Task", 0.5), LabelScore("Method", 0.5))
    )
    pair = PairCandidate(
        place("lattice encoder"), place("tagger", 1), (LabelScore("PART-OF", 0.6),)
    )
    link = LinkCandidate(place("tagger", 1), place("graph tagger"), 0.7)
    considered = Candidates((task,), (pair,), (link,))
    told = Annotations(said.entities, said.relations, said.clusters, considered)
    model = ModelId("new", "a" * 64)
    ModelRun(project, model, {}).add([(1, AnnotatedDocument(document(doc_key="d1"), told, model))])
    return project


@pytest.mark.parametrize("order", DOUBTS)
def test_what_was_in_doubt_comes_first(project: Project, order: Order) -> None:
    desk = Desk(project, 1, order=order)
    assert desk.state.open_queue.undecided[:3] == [
        *(EntityRef("task"), RelationRef("encoder tagger2"), LinkRef("of tagger1", "tagger2"))
    ]
    assert len(desk.state.open_queue.undecided) == 29


@pytest.mark.parametrize("order", DOUBTS)
def test_deciding_goes_down_the_order(project: Project, order: Order) -> None:
    desk = Desk(project, 1, order=order)
    wanted = list(desk.state.open_queue.undecided)
    press(desk, "enter")
    assert desk.state.open_queue.undecided[0] == wanted[1] == desk.focus


@pytest.mark.parametrize("order", DOUBTS)
def test_without_a_run_the_text_decides(tmp_path: Path, order: Order) -> None:
    project = project_with(tmp_path, gold())
    by_text = list(Desk(project, 1).state.open_queue.undecided)
    assert list(Desk(project, 1, order=order).state.open_queue.undecided) == by_text
