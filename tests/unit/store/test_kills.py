"""``kill -9`` at a random moment of each kind of work; ``benchmarks/store_kills.py`` does it hundreds of times."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.store_kills import Tally, kill_once, make_base

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that every killed process starts from."""
    return make_base(tmp_path_factory.mktemp("kills"))


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("import", 1),
        ("bulk actions", 2),
        ("undo and redo", 3),
        ("model run", 4),
        ("new project", 5),
    ],
)
def test_kill(base: Path, kind: str, seed: int) -> None:
    found = Tally()
    kill_once(kind, base, seed, found)
    assert found.kills == 1
    assert (found.lost, found.broken) == (0, [])
