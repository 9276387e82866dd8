"""What statistics are drawn from: time of each abstract, items of each label in each state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sciextract.store.file.failures import translated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sciextract.store.project import Project

_DONE = "p.entities = 'done' AND p.relations = 'done' AND p.coreference = 'done'"


@dataclass(frozen=True, slots=True)
class LabelStates:
    """Items of one label.

    Attributes:
        kind: ``entity``, ``relation`` or ``link``.
        label: Their label; empty for links.
        states: How many are in each state.
    """

    kind: str
    label: str
    states: Mapping[str, int]


def seconds_of_done(project: Project) -> list[float]:
    """Recorded seconds of every abstract that is done in all layers, shortest first; without time left out."""
    with translated(project.path):
        rows = project.connection.execute(
            f"""SELECT sum(t.seconds) AS spent FROM (
                SELECT e.seconds, min(c.document_id) AS document_id
                  FROM event e JOIN change c ON c.event_id = e.id
                 WHERE e.seconds IS NOT NULL GROUP BY e.id) t
            JOIN progress p ON p.document_id = t.document_id AND {_DONE}
            GROUP BY t.document_id ORDER BY spent"""
        )
        return [row[0] for row in rows]


def label_states(project: Project) -> list[LabelStates]:
    """How many items of each label are in each state, by kind and label."""
    with translated(project.path):
        rows = project.connection.execute(
            "SELECT kind, label, state, sum(number) FROM tally GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        ).fetchall()
    found: dict[tuple[str, str], dict[str, int]] = {}
    for kind, label, state, number in rows:
        found.setdefault((kind, label), {})[state] = number
    return [LabelStates(*names, states) for names, states in found.items()]
