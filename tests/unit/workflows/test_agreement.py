"""Statistics of a project with a few decisions, and how far its sources agree with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciextract.store import EntityRef, Project, open_project
from sciextract.store.statistics import label_states, stats_of
from sciextract.workflows.agreement import Cancelled, agree_with, sides
from sciextract.workflows.divide import merge_projects
from tests.app.screens_support import made_project


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The first abstract is done: one entity accepted, one of another label, one rejected, 12 seconds in all."""
    path = made_project(tmp_path)
    with open_project(path, "ann") as project:
        first, second, third = [
            EntityRef(entity.id) for entity in project.document_state(1).entities[:3]
        ]
        project.actions.accept(1, first, seconds=2)
        project.actions.set_label(1, second, "Task", seconds=4)
        project.actions.reject(1, third, seconds=6)
        project.actions.mark_done(1, undecided="reject")
    return path


@pytest.fixture
def project(path: Path) -> Project:
    return open_project(path, read=True)


def test_items_of_a_label_by_state(project: Project) -> None:
    found = label_states(project)
    assert found["entity", "Task"] == {"edited": 1}
    assert found["entity", "Method"]["accepted"] == 1


def test_acceptance_counts_for_the_label_that_the_model_gave(project: Project) -> None:
    method = next(row for row in stats_of(project).labels if row.label == "Method")
    assert (method.accepted, method.edited, method.rejected) == (1, 1, method.rejected)
    assert not any(row.label == "Task" for row in stats_of(project).labels)


def test_a_model_is_compared_on_what_is_done(project: Project) -> None:
    (side,) = sides(project)
    assert side.name.startswith("model:fake@")
    assert side.numbers == (1,)
    seen: list[tuple[int, int]] = []

    def tell(done: int, of: int) -> bool:
        seen.append((done, of))
        return True

    found = agree_with(project, side, tell)
    assert found is not None
    assert found.documents == 1
    assert 0 < (found.spans.exact.f1 or 0) < 100
    assert seen == [(0, 1)]


def test_it_can_be_cancelled(project: Project) -> None:
    with pytest.raises(Cancelled):
        agree_with(project, sides(project)[0], lambda done, of: False)


def test_a_file_does_not_agree_with_itself(tmp_path: Path, path: Path) -> None:
    other = made_project(tmp_path, predicted=False, name="other")
    with open_project(other, "ben") as theirs:
        merge_projects(theirs, path)
        theirs.actions.mark_done(1, undecided="reject")
        for side in sides(theirs):
            assert agree_with(theirs, side) is None
