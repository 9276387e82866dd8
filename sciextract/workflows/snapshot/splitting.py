"""Which split a text belongs to: a matter of its hash alone, so that nothing ever moves."""

from __future__ import annotations

from sciextract.workflows.snapshot.types import Split

DEV_SHARE = 0.1
GATE_SHARE = 0.2
_DIGITS = 13
"""Hexadecimal digits of the hash that decide: 52 bits, which a float holds exactly."""
_PLACES = float(1 << 4 * _DIGITS)


def place_of(text_sha256: str) -> float:
    """The place of a text on the line from 0 to 1 (exclusive) along which the splits lie."""
    return int(text_sha256[:_DIGITS], 16) / _PLACES


def split_of(text_sha256: str) -> Split:
    """The split of a project's text: 10 % dev, 20 % gate, the rest train.

    >>> split_of("0" * 64), split_of("2" * 64), split_of("f" * 64)
    (<Split.DEV: 'dev'>, <Split.GATE: 'gate'>, <Split.TRAIN: 'train'>)
    """
    place = place_of(text_sha256)
    if place < DEV_SHARE:
        return Split.DEV
    return Split.GATE if place < DEV_SHARE + GATE_SHARE else Split.TRAIN
