"""What is read of an encoder, from a folder or a hub id; never code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sciextract.errors import ModelNotFoundError


def load_pretrained(kind: Any, source: str, **words: Any) -> Any:
    """What a class of transformers makes of a folder or hub id.

    Left to itself, transformers asks on the terminal whether it may run Python code that lies there. So no
    other place of the product calls ``from_pretrained`` (tests/contracts/test_remote_code.py).

    Args:
        kind: ``AutoConfig``, ``AutoModel``, ``AutoTokenizer`` or another class with ``from_pretrained``.
        source: Folder or hub id.
        words: What else the class takes.

    Raises:
        ModelNotFoundError: It cannot be used without code of its own.
        OSError: It is not there; other errors are the class's.
    """
    try:
        return kind.from_pretrained(source, trust_remote_code=False, **words)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise ModelNotFoundError(
            f"the encoder {source!r} needs Python code of its own, and code from elsewhere never runs",
            "use an encoder of a family that transformers knows: docs/encoders.md lists those tested",
        ) from error


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
