"""Numbers of the whole project for the line above everything."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

_DONE = "entities = 'done' AND relations = 'done' AND coreference = 'done'"


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of a project.

    Attributes:
        documents: Abstracts.
        done: Those that are done in every layer.
        acceptance: Share of decided items of the model that were right as they stood, ``None`` without any.
    """

    documents: int
    done: int
    acceptance: float | None


def totals(connection: sqlite3.Connection) -> Totals:
    """Count; takes time with the number of decisions, so large projects count in a worker's connection."""
    documents, done = connection.execute(
        f"SELECT count(*), coalesce(sum({_DONE}), 0) FROM progress"
    ).fetchone()
    states = dict(
        connection.execute(
            """SELECT state, sum(number) FROM tally
            WHERE state IN ('accepted', 'edited', 'rejected') GROUP BY state"""
        ).fetchall()
    )
    decided = sum(states.values())
    return Totals(documents, done, states.get("accepted", 0) / decided if decided else None)
