"""The two tiers of the tests: `make test` is fast, `make test-full` runs everything."""

from __future__ import annotations

from hypothesis import settings

FAST_TIER = settings.get_current_profile_name() == "fast"


def examples(count: int) -> int:
    """How many examples a property that sets its own number takes: no more than the profile in the fast tier."""
    return min(count, settings().max_examples) if FAST_TIER else count
