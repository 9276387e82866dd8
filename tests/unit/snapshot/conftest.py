"""An empty project of the small schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract.store import Project
from tests.unit.store.projects import new_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as opened:
        yield opened
