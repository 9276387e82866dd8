"""The two tiers of the tests: `make test` is fast, `make test-full` runs everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

FAST_TIER = settings.get_current_profile_name() == "fast"


def examples(count: int) -> int:
    """How many examples a property that sets its own number takes: no more than the profile in the fast tier."""
    return min(count, settings().max_examples) if FAST_TIER else count


def seeds(count: int, fast: int) -> Iterator[Any]:
    """The seeds of random runs, as parameters; the fast tier takes only the first ones."""
    for seed in range(count):
        yield pytest.param(seed, marks=pytest.mark.full if seed >= fast else ())
