"""Desks on an invented abstract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.store import Project
from sciextract_app.review.keys.desk import Desk
from tests.app.review.abstracts import AGAIN, TEXT, gold, project_with


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """The gold as predictions, two more abstracts without any."""
    with project_with(tmp_path, gold(), (TEXT, AGAIN, "")) as found:
        yield found


@pytest.fixture
def desk(project: Project) -> Desk:
    return Desk(project)
