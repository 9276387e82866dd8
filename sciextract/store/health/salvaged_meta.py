"""What a damaged project carries beside its documents: saved queues, and which model it had chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sciextract.store.content import model_choices
from sciextract.store.health.damaged import DamagedFile
from sciextract.store.looking.queues import carried, understood
from sciextract.store.project import Project

_KEYS = (
    "SELECT key, value FROM meta ORDER BY key",
    "SELECT key, value FROM meta ORDER BY key DESC",
)
_ORIGIN = "salvaged"


def bring_belongings(
    project: Project, damaged: DamagedFile, moved: Mapping[int, int]
) -> tuple[int, int]:
    """Bring what can be read of them into a new project.

    Args:
        project: The new project, open for writing.
        damaged: The damaged one.
        moved: New number of each document that could be saved, by its old one.

    Returns:
        How many queues and how many choices (and rollbacks) of a model are in the new project.

    Raises:
        ProjectError: The new project cannot be written.
    """
    rows = {key: value for query in _KEYS for key, value in damaged.rows(query)}
    queues = [each for key, value in rows.items() if (each := understood(str(key), value))]
    kept = 0
    for queue in queues:
        numbers = tuple(moved[each] for each in queue.numbers if each in moved)
        kept += bool(carried(project, replace(queue, numbers=numbers), _ORIGIN))
    choices = _choices(rows.get(model_choices.KEY))
    for entry in choices:
        model_choices.append(project, entry)
    return kept, len(choices)


def _choices(value: object) -> list[dict[str, Any]]:
    """All of them or none: half of them would say that another model was chosen."""
    try:
        entries = json.loads(value) if isinstance(value, str) else []
    except ValueError:
        return []
    known = isinstance(entries, list) and all(map(model_choices.is_entry, entries))
    return entries if known else []
