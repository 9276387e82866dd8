"""Names in a folder of parts, as a long run leaves it: which files are results, and which are about them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

JOURNAL = "journal.log"
"""What makes a folder a folder of parts."""

MANIFEST = "manifest.json"
QUARANTINE = "quarantine.jsonl"
_NO_RESULTS = {MANIFEST, QUARANTINE}


def results_in(names: Collection[str]) -> list[str]:
    """The names of a folder without those of files that are no data, sorted.

    >>> results_in(["part-00000-000000.jsonl", "journal.log", "manifest.json"])
    ['journal.log', 'part-00000-000000.jsonl']
    """
    return sorted(set(names) - _NO_RESULTS if JOURNAL in names else names)


def is_aside(path: Path) -> bool:
    """Whether a file lies in a folder of parts and is none of its results."""
    return path.name in _NO_RESULTS and (path.parent / JOURNAL).exists()
