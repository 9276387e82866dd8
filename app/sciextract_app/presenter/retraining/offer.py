"""The offer to retrain: once for every twenty more abstracts that are done."""

from __future__ import annotations

EVERY = 20
"""Abstracts."""


def is_due(done: int, offered: int) -> bool:
    """Whether to offer it.

    Args:
        done: Abstracts that are done now.
        offered: How many were done at the last offer or training; 0 for none so far.

    >>> is_due(19, 0), is_due(20, 0), is_due(39, 20), is_due(41, 20)
    (False, True, False, True)
    """
    return done - offered >= EVERY


def offer(done: int) -> str:
    """The offer, in a line that nobody has to answer."""
    return f"Retrain on your {done:,} abstracts? F8 says how; or just go on"
