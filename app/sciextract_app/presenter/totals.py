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


MANY = 5_000
"""Abstracts from which on the decisions are counted beside the keys: a quarter of a second at 100,000."""


def totals(connection: sqlite3.Connection, before: Totals | None = None) -> Totals:
    """Count the abstracts, and in small projects the decisions, too.

    Args:
        connection: The project's.
        before: What was counted last; its acceptance stands until it is counted anew.
    """
    documents, done = connection.execute(
        f"SELECT count(*), coalesce(sum({_DONE}), 0) FROM progress"
    ).fetchone()
    if documents >= MANY:
        return Totals(documents, done, before.acceptance if before else None)
    return Totals(documents, done, acceptance(connection))


def acceptance(connection: sqlite3.Connection) -> float | None:
    """Share of decided items of the model that were right as they stood, ``None`` without any."""
    states = dict(
        connection.execute(
            """SELECT state, sum(number) FROM tally
            WHERE state IN ('accepted', 'edited', 'rejected') GROUP BY state"""
        ).fetchall()
    )
    decided = sum(states.values())
    return states.get("accepted", 0) / decided if decided else None
