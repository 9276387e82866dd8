"""Random keys, clicks and sizes on the whole app: it never fails, and the project stays sound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.app.random_pilot import Session
from tests.app.review.random_keys import original_project
from tests.tiers import seeds

SESSIONS = int(os.environ.get("SCIEXTRACT_PILOT_SESSIONS", "8"))
PRESSES = int(os.environ.get("SCIEXTRACT_PILOT_KEYS", "250"))


@pytest.mark.asyncio
@pytest.mark.parametrize("seed", seeds(SESSIONS, fast=1))
async def test_anything_is_pressed(seed: int, tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    (tmp_path / "work").mkdir()
    session = Session(seed, PRESSES)
    await session.run(original_project(tmp_path / "original"), tmp_path / "work")
    assert not session.failure, f"{session.failure}\nlast: {' '.join(session.pressed[-60:])}"
