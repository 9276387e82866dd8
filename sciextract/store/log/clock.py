"""Times in the log: UTC with microseconds, as text that sorts."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The time by the machine's clock. Order in the log comes from event numbers, never from it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
