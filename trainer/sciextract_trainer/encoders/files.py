"""Single files of an encoder, from a folder or a hub id."""

from __future__ import annotations

from pathlib import Path


def encoder_file(source: str, name: str) -> Path | None:
    """A file of an encoder on this machine; ``None`` when it has none of that name, or the hub is away."""
    from transformers.utils.hub import cached_file

    path = cached_file(
        source,
        name,
        _raise_exceptions_for_gated_repo=False,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return Path(path) if path else None
