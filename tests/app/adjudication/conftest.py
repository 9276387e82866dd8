"""The merged project, open as its owner has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.store import Project, open_project
from sciextract_app.adjudication.presenter import Adjudication
from tests.app.adjudication.desks import against
from tests.app.adjudication.merged import BEN, merged_project


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return merged_project(tmp_path)


@pytest.fixture
def project(path: Path) -> Iterator[Project]:
    with open_project(path, "ann") as opened:
        yield opened


@pytest.fixture
def desk(project: Project) -> Adjudication:
    return against(project, BEN)
