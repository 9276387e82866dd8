"""What all tests of the desk share: no project that a test made stays open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sciextract_app.review.keys import key_dispatch
from sciextract_app.shared.actions import use_keys
from tests.app.review.abstracts import MADE


@pytest.fixture(autouse=True)
def default_keys() -> Iterator[None]:
    """Give the keys back that a test has changed."""
    yield
    use_keys({})


@pytest.fixture(autouse=True)
def quick_fingers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second ``D`` of a script is meant, however soon it comes."""
    monkeypatch.setattr(key_dispatch, "DOUBLE_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def closed_projects(tmp_path: Path) -> Iterator[None]:
    """Close what the test made, so that a session of tests does not run out of file descriptors."""
    yield
    for project in list(MADE):
        project.close()
        MADE.discard(project)
