"""Words of messages."""

from __future__ import annotations

from sciextract_app.presenter.shown import Feedback

NOTHING_LEFT = "Nothing is undecided here. D: done, next abstract"


def problem(message: str) -> Feedback:
    """Why a key did nothing."""
    return Feedback(message, problem=True)


def named(text: str, limit: int = 40) -> str:
    """A mention's string in a message."""
    flat = " ".join(text.split())
    return f"‹{flat if len(flat) <= limit else flat[: limit - 1] + '…'}›"


def counted(count: int, word: str) -> str:
    """A number with its word."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def counted_many(count: int, word: str) -> str:
    """The same for numbers of any size, with commas.

    >>> counted_many(1, "abstract"), counted_many(12_000, "abstract")
    ('1 abstract', '12,000 abstracts')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
