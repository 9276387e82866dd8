"""Desks on an invented abstract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.store import Project
from sciextract_app.presenters.desk import Desk
from tests.app.presenter.abstracts import AGAIN, MADE, TEXT, gold, project_with


@pytest.fixture(autouse=True)
def closed_projects(tmp_path: Path) -> Iterator[None]:
    """Close what the test made, so that a session of tests does not run out of file descriptors."""
    yield
    for project in list(MADE):
        project.close()
        MADE.discard(project)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """The gold as predictions, two more abstracts without any."""
    with project_with(tmp_path, gold(), (TEXT, AGAIN, "")) as found:
        yield found


@pytest.fixture
def desk(project: Project) -> Desk:
    return Desk(project)
