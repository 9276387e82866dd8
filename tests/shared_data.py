"""Where the published data sets lie, for tests that skip when they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_path(relative: str) -> Path:
    """A file of the shared data folder; skips the test that asks when it is absent."""
    folder = Path(os.environ.get("SCIEXTRACT_SHARED", ROOT.parent / "shared" / "data"))
    path = folder / relative
    if not path.exists():
        pytest.skip(f"data set absent: {relative}")
    return path
